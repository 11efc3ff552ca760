// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Verifier of attention ops: sizes, types and scalars. Each check carries the
// id that the op's documentation and the errors test use.

#include "attune/Dialect/Attn/IR/Attn.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attune::attn;

namespace {
/// A size of one operand, and how a message calls it.
struct NamedSize {
  StringRef name;
  int64_t size;
};
} // namespace

static LogicalResult verifyEqual(AttentionOpInterface op, StringRef what,
                                 NamedSize lhs, NamedSize rhs) {
  if (ShapedType::isDynamic(lhs.size) || ShapedType::isDynamic(rhs.size) ||
      lhs.size == rhs.size)
    return success();
  return op->emitOpError("expects ")
         << lhs.name << " and " << rhs.name << " to have one " << what
         << ", but got " << lhs.size << " and " << rhs.size;
}

static LogicalResult verifySharedSizes(AttentionOpInterface op,
                                       RankedTensorType query,
                                       RankedTensorType key,
                                       RankedTensorType value) {
  auto sizesAt = [&](int64_t position) {
    return std::array<NamedSize, 3>{
        NamedSize{"query", query.getDimSize(position)},
        NamedSize{"key", key.getDimSize(position)},
        NamedSize{"value", value.getDimSize(position)}};
  };
  auto batch = sizesAt(op.getBatchPos()), heads = sizesAt(op.getHeadPos()),
       length = sizesAt(op.getSeqPos()), headSize = sizesAt(op.getHeadDimPos());
  if (packsKey(op) && ShapedType::isStatic(headSize[1].size))
    headSize[1].size *= 2;
  bool hasPages = op.getPages() != nullptr;
  bool comparesBatches =
      !hasPages && !op.getQueryStarts() && !op.getKeyStarts();
  if (comparesBatches &&
      (failed(verifyEqual(op, "batch size", batch[0],
                          batch[1])) || // attention_c3
       failed(verifyEqual(op, "batch size", batch[0], batch[2]))))
    return failure();
  if (failed(verifyEqual(op, hasPages ? "number of pages" : "batch size",
                         batch[1], batch[2])) ||
      failed(verifyEqual(op, "number of heads", heads[1],
                         heads[2])) ||                           // attention_c4
      failed(verifyEqual(op, "length", length[1], length[2])) || // attention_c5
      failed(verifyEqual(op, "head size", headSize[0],
                         headSize[1]))) // attention_c6
    return failure();
  int64_t headsQ = op.getHeadsQ(), headsKV = op.getHeadsKV();
  if (ShapedType::isStatic(headsQ) && ShapedType::isStatic(headsKV) &&
      (headsKV == 0 ? headsQ != 0 : headsQ % headsKV != 0)) // attention_c7
    return op->emitOpError("expects the heads of query to be a multiple of "
                           "those of key, but got ")
           << headsQ << " and " << headsKV;
  for (NamedSize size : headSize) // attention_c8
    if (ShapedType::isDynamic(size.size))
      return op->emitOpError("expects the head size of ")
             << size.name << " to be static, but got `?`";
    else if (size.size < 1)
      return op->emitOpError("expects the head size of ")
             << size.name << " to be at least 1, but got " << size.size;
  return success();
}

static LogicalResult verifyPerHead(AttentionOpInterface op, StringRef name,
                                   TypedValue<RankedTensorType> tensor) {
  if (!tensor)
    return success();
  int64_t size = tensor.getType().getDimSize(0);
  int64_t heads = op.getQuery().getType().getDimSize(op.getHeadPos());
  if (ShapedType::isDynamic(size) || ShapedType::isDynamic(heads) ||
      size == heads)
    return success();
  return op->emitOpError("expects ")
         << name << " to have one element per head of query, but got " << size
         << " for " << heads << " heads";
}

static LogicalResult verifyLengths(AttentionOpInterface op, StringRef name,
                                   TypedValue<RankedTensorType> lengths) {
  int64_t batch = op.getBatch();
  if (!lengths || lengths.getType().isDynamicDim(0) ||
      ShapedType::isDynamic(batch) || lengths.getType().getDimSize(0) == batch)
    return success();
  return op->emitOpError("expects ")
         << name << " to have one element per batch, but got "
         << lengths.getType().getDimSize(0) << " for " << batch << " batches";
}

/// What is packed has no batches of its own, and as many sequences as there are
/// batches elsewhere.
static LogicalResult verifyStarts(AttentionOpInterface op) {
  if (op.getKeyStarts() && op.getPages())
    return op->emitOpError("expects pages or key starts, but got both");
  int64_t batch = op.getBatch(), position = op.getBatchPos();
  auto verifyPacked = [&](StringRef starts, StringRef name,
                          TypedValue<RankedTensorType> tensor) {
    int64_t size = tensor.getType().getDimSize(position);
    if (size == 1)
      return LogicalResult(success());
    InFlightDiagnostic diagnostic = op->emitOpError("expects ")
                                    << name << " to have 1 batch beside "
                                    << starts << ", but got ";
    return ShapedType::isDynamic(size) ? LogicalResult(diagnostic << "`?`")
                                       : LogicalResult(diagnostic << size);
  };
  auto verifyBatched = [&](StringRef name,
                           TypedValue<RankedTensorType> tensor) {
    return verifyEqual(op, "batch size",
                       {name, tensor.getType().getDimSize(position)},
                       {"starts", batch});
  };
  for (auto [name, starts] :
       {std::pair<StringRef, TypedValue<RankedTensorType>>{"query starts",
                                                           op.getQueryStarts()},
        {"key starts", op.getKeyStarts()}}) {
    if (!starts)
      continue;
    if (op.hasBlockLists())
      return op->emitOpError("expects ")
             << name << " or lists of blocks, but got both";
    int64_t size = starts.getType().getDimSize(0);
    if (ShapedType::isDynamic(size))
      continue;
    if (size < 2)
      return op->emitOpError("expects ")
             << name << " to have at least 2 elements, but got " << size;
    if (ShapedType::isStatic(batch) && size != batch + 1)
      return op->emitOpError("expects ")
             << name << " to have one element more than batches, but got "
             << size << " for " << batch << " batches";
  }
  if (op.getQueryStarts()) {
    if (failed(verifyPacked("query starts", "query", op.getQuery())))
      return failure();
  } else if (op.getKeyStarts() &&
             failed(verifyBatched("query", op.getQuery()))) {
    return failure();
  }
  for (auto [name, tensor] :
       {std::pair<StringRef, TypedValue<RankedTensorType>>{"key", op.getKey()},
        {"value", op.getValue()}}) {
    if (op.getKeyStarts()) {
      if (failed(verifyPacked("key starts", name, tensor)))
        return failure();
    } else if (op.getQueryStarts() && !op.getPages() &&
               failed(verifyBatched(name, tensor))) {
      return failure();
    }
  }
  return success();
}

/// Pages of one batch have a number of keys that is known, and can be counted.
static LogicalResult verifyPages(AttentionOpInterface op) {
  auto pages = op.getPages();
  if (!pages)
    return success();
  int64_t rows = pages.getType().getDimSize(0), batch = op.getBatch();
  if (ShapedType::isStatic(rows) && ShapedType::isStatic(batch) &&
      rows != batch)
    return op->emitOpError("expects pages to have one row per batch, but got ")
           << rows << " for " << batch << " batches";
  for (auto [name, tensor] :
       {std::pair<StringRef, TypedValue<RankedTensorType>>{"key", op.getKey()},
        {"value", op.getValue()}}) {
    int64_t keys = tensor.getType().getDimSize(op.getSeqPos());
    if (ShapedType::isDynamic(keys))
      return op->emitOpError("expects the keys of a page of ")
             << name << " to be of a static number, but got `?`";
    if (keys < 1)
      return op->emitOpError("expects the pages of ")
             << name << " to have at least 1 key, but got " << keys;
  }
  constexpr int64_t most = std::numeric_limits<int32_t>::max();
  if (ShapedType::isStatic(op.getSeqK()) && op.getSeqK() > most)
    return op->emitOpError("expects the pages of a batch to have at most ")
           << most << " keys, but got " << op.getSeqK();
  return success();
}

/// What is there of the lists of blocks belongs together.
static LogicalResult verifyListOperands(AttentionOpInterface op) {
  std::optional<ArrayRef<int64_t>> sizes = op.getBlockSizes();
  bool hasCounts = op.getBlockCounts() != nullptr,
       hasIndices = op.getBlockIndices() != nullptr,
       hasFullCounts = op.getFullBlockCounts() != nullptr,
       hasFullIndices = op.getFullBlockIndices() != nullptr;
  if (hasCounts != hasIndices || hasCounts != sizes.has_value())
    return op->emitOpError(
        "expects counts, indices and sizes of blocks together, but got only "
        "some of them");
  if (hasFullCounts != hasFullIndices || (hasFullCounts && !hasCounts))
    return op->emitOpError(
        "expects counts and indices of full blocks together, "
        "beside those of other blocks");
  if (!sizes)
    return success();
  if (sizes->size() != 2)
    return op->emitOpError("expects two sizes of blocks, of queries and of "
                           "keys, but got ")
           << sizes->size();
  for (int64_t size : *sizes)
    if (size < 1 || size > std::numeric_limits<int32_t>::max())
      return op->emitOpError("expects sizes of blocks from 1 to ")
             << std::numeric_limits<int32_t>::max() << ", but got " << size;
  return success();
}

/// Lists of blocks have a place for each block of queries.
static LogicalResult verifyBlockLists(AttentionOpInterface op) {
  if (failed(verifyListOperands(op))) // attention_c21
    return failure();
  int64_t length = op.getSeqQ();
  for (const BlockList &list : getBlockLists(op)) {
    auto type = cast<RankedTensorType>(list.tensor.getType());
    auto verifyShared = [&](int64_t dim, StringRef what, int64_t all) {
      int64_t size = type.getDimSize(dim);
      if (size == 1 || ShapedType::isDynamic(size) ||
          ShapedType::isDynamic(all) || size == all)
        return success();
      return LogicalResult(op->emitOpError("expects ")
                           << list.name << " to have 1 or " << all << " "
                           << what << ", but got " << size);
    };
    if (failed(verifyShared(0, "batches", op.getBatch())) || // attention_c22
        failed(verifyShared(1, "heads", op.getHeadsQ())))
      return failure();
    int64_t blocks = type.getDimSize(2);
    if (ShapedType::isStatic(blocks) && ShapedType::isStatic(length)) {
      auto needed =
          static_cast<int64_t>(llvm::divideCeil(length, op.getListedQueries()));
      if (blocks != needed)
        return op->emitOpError("expects ")
               << list.name << " to have " << needed << " blocks of "
               << op.getListedQueries() << " queries, but got " << blocks;
    }
    if (type.getRank() == 4 && type.getDimSize(3) == 0)
      return op->emitOpError("expects ")
             << list.name << " to have room for at least 1 block, but got 0";
  }
  return success();
}

static LogicalResult verifyScalars(AttentionOpInterface op) {
  if (FloatAttr scale = op.getScaleAttr();
      scale && !scale.getValue().isFinite()) // attention_c12
    return op->emitOpError("expects scale to be finite, but got ")
           << op.getScaleAttr();
  FloatAttr softcap = op.getSoftcapAttr();
  if (softcap &&
      !(softcap.getValue().isFinite() && !softcap.getValue().isNegative() &&
        !softcap.getValue().isZero())) // attention_c13
    return op->emitOpError(
               "expects softcap to be finite and positive, but got ")
           << op.getSoftcapAttr();
  return success();
}

static LogicalResult verifyDropout(AttentionOpInterface op) {
  auto dropout = op.getDropout();
  FloatAttr probability = op.getDropoutProbabilityAttr();
  if (!dropout && !probability)
    return success();
  if (!dropout || !probability)
    return op->emitOpError("expects dropout to have a probability beside a "
                           "seed and an offset, but got only one of them");
  double value = probability.getValueAsDouble();
  if (!(value >= 0 && value < 1))
    return op->emitOpError("expects the probability of dropout to be at least "
                           "0 and less than 1, but got ")
           << probability;
  if (dropout.getType().getDimSize(0) != 2)
    return op->emitOpError("expects a seed and an offset of dropout in "
                           "'tensor<2xi64>', but got ")
           << dropout.getType();
  return success();
}

/// Whether the bytes of the static sizes can be counted in 63 bits.
static bool fitsAddressSpace(RankedTensorType type) {
  int64_t bytes = llvm::divideCeil(type.getElementTypeBitWidth(), 8);
  for (int64_t size : type.getShape())
    if (ShapedType::isStatic(size) && llvm::MulOverflow(bytes, size, bytes))
      return false;
  return true;
}

/// A kernel allocates its results, so it must know where their elements are.
static LogicalResult verifyPlaces(Operation *op, RankedTensorType type) {
  auto strided = dyn_cast_or_null<StridedAttr>(type.getEncoding());
  if (!strided)
    return success();
  SmallVector<std::pair<int64_t, int64_t>> dims; // stride, size
  for (auto [stride, size] :
       llvm::zip_equal(strided.getStrides(), type.getShape())) {
    if (ShapedType::isDynamic(stride)) // attention_c19
      return op->emitOpError("expects results with known strides, but got ")
             << type;
    // What is known at run time only is its user's responsibility.
    if (ShapedType::isDynamic(size) || size == 0)
      return success();
    dims.push_back({stride, size});
  }
  llvm::sort(dims);
  int64_t span = 1;
  for (auto [stride, size] : dims) {
    if (size > 1 && stride < span) // attention_c19
      return op->emitOpError("expects results whose elements do not overlap, "
                             "but got ")
             << type;
    int64_t extent;
    if (llvm::MulOverflow(stride, size - 1, extent) ||
        llvm::AddOverflow(span, extent, span))
      return op->emitOpError("expects strides of results within 63 bits, but "
                             "got ")
             << type;
  }
  return success();
}

LogicalResult attune::attn::detail::verifyEncodings(Operation *op) {
  for (Type type :
       llvm::concat<const Type>(op->getOperandTypes(), op->getResultTypes())) {
    if (!fitsAddressSpace(cast<RankedTensorType>(type))) // attention_c9
      return op->emitOpError("expects tensors of at most ")
             << std::numeric_limits<int64_t>::max() << " bytes, but got "
             << type;
    // attention_c18
    Attribute encoding = cast<RankedTensorType>(type).getEncoding();
    if (encoding && !isa<StridedAttr>(encoding))
      return op->emitOpError("expects tensors without an encoding or with "
                             "#attn.strided, but got ")
             << encoding;
  }
  return success();
}

LogicalResult attune::attn::detail::verifyTensors(Operation *op) {
  if (failed(verifyEncodings(op)))
    return failure();
  for (Value result : op->getResults())
    if (failed(verifyPlaces(op, cast<RankedTensorType>(result.getType()))))
      return failure();
  return success();
}

LogicalResult attune::attn::detail::verify(AttentionOpInterface op) {
  if (!AttentionOp::isValidOrder(op.getOrder())) // attention_c1
    return op->emitOpError(
               "expects order to be a permutation of the letters b, h, "
               "s and d, but got '")
           << op.getOrder() << "'";
  RankedTensorType query = op.getQuery().getType(), key = op.getKey().getType(),
                   value = op.getValue().getType();
  StringRef names[] = {"query", "key", "value"};
  RankedTensorType operands[] = {query, key, value};
  for (auto [name, type] : llvm::zip_equal(names, operands)) {
    for (int64_t size : type.getShape()) // attention_c9
      if (ShapedType::isStatic(size) &&
          size > std::numeric_limits<int32_t>::max())
        return op->emitOpError("expects sizes of ")
               << name << " of at most " << std::numeric_limits<int32_t>::max()
               << ", but got " << size;
  }
  if (failed(verifySharedSizes(op, query, key, value)))
    return failure();
  if (failed(verifyPerHead(op, "alibi slopes",
                           op.getAlibiSlopes())) ||      // attention_c10
      failed(verifyPerHead(op, "sinks", op.getSinks()))) // attention_c11
    return failure();
  if (failed(verifyLengths(op, "query lengths",
                           op.getQueryLengths())) || // attention_c23
      failed(verifyLengths(op, "key lengths", op.getKeyLengths())))
    return failure();
  if (failed(verifyPages(op)) || // attention_c24
      failed(verifyStarts(op)))  // attention_c25
    return failure();
  if (failed(verifyTensors(op)))
    return failure();
  if (failed(verifyBlockLists(op)) ||
      failed(verifyDropout(op))) // attention_c30
    return failure();
  return verifyScalars(op);
}

/// That what is said to be packed is, and that kernels can take it apart.
static LogicalResult verifyPacking(AttentionOp op) { // attention_c31
  constexpr unsigned kLeastBits = 16;
  auto verifyOne = [&](StringRef name, RankedTensorType type,
                       const std::optional<Scales> &scales) -> LogicalResult {
    if (!type.getElementType().isInteger(8))
      return op.emitOpError("expects a packed ")
             << name << " of i8, but got " << type.getElementType();
    int64_t columns = 2 * type.getDimSize(op.getHeadDimPos());
    if (columns % kPackedColumns != 0)
      return op.emitOpError("expects a packed ")
             << name << " of a multiple of " << kPackedColumns
             << " columns, but got one of " << columns
             << "; leave it unpacked, or add columns of 0";
    if (variesAlong(op, scales, 'd'))
      return op.emitOpError("expects scales of a packed ")
             << name << " that its columns share, but got some along dimension "
             << op.getHeadDimPos();
    return success();
  };
  if (op.getLatent())
    return op.emitOpError("expects unpacked keys where values are a part of "
                          "them, but got packed ones");
  for (auto [name, type] :
       {std::pair<StringRef, Type>{"queries",
                                   op.getQuery().getType().getElementType()},
        {"weights", getWeightType(op)}})
    if (type.getIntOrFloatBitWidth() < kLeastBits)
      return op.emitOpError("expects ")
             << name << " of at least " << kLeastBits
             << " bits beside packed operands, but got " << type;
  if (op.getPackedKey() &&
      failed(verifyOne("key", op.getKey().getType(), getKeyScales(op))))
    return failure();
  if (op.getPackedValue())
    return verifyOne("value", op.getValue().getType(), getValueScales(op));
  return success();
}

LogicalResult AttentionOp::verify() {
  if (failed(attune::attn::detail::verify(*this)))
    return failure();
  if ((getPackedKey() || getPackedValue()) && failed(verifyPacking(*this)))
    return failure();
  std::optional<int64_t> latent = getLatent();
  if (!latent) // attention_c26
    return detail::verifyScales(*this);
  if (getKey() != getValue())
    return emitOpError("expects key and value to be one operand where values "
                       "are a part of the keys, but got two");
  if (*latent < 1 || *latent > getHeadDimQK())
    return emitOpError("expects values of 1 to ")
           << getHeadDimQK() << " columns of the keys, but got " << *latent;
  return detail::verifyScales(*this);
}
