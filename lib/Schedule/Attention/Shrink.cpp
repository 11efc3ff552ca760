// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sizes of the op's own operands and results are replaced; its regions see
// smaller positions and are otherwise as they were.

#include "AttentionTunable.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attune;
using attn::AttentionOpInterface;

namespace {
/// The sizes of a problem, static or asked for.
struct Extents {
  int64_t batch, headsQ, headsKV, seqQ, seqK;
};
} // namespace

/// `blocks` blocks, and what the length leaves over.
static int64_t shorten(int64_t length, int64_t block, int64_t blocks) {
  return std::min(length, blocks * block + length % block);
}

static Extents reduce(Extents full, const ShrunkBlocks &blocks) {
  Extents small = full;
  small.batch = std::min<int64_t>(full.batch, 1);
  if (full.headsKV > 0) {
    small.headsKV = 1;
    small.headsQ = full.headsQ / full.headsKV;
  }
  small.seqQ = shorten(full.seqQ, blocks.queries, blocks.queryBlocks);
  small.seqK = shorten(full.seqK, blocks.keys, blocks.keyBlocks);
  return small;
}

/// The type with the sizes named by `dims`, which has a letter a dimension;
/// what is dynamic stays so.
static RankedTensorType resize(RankedTensorType type, StringRef dims,
                               const Extents &extents, bool isQuery) {
  SmallVector<int64_t> shape(type.getShape());
  for (auto [dim, size] : llvm::zip_equal(dims, shape)) {
    if (ShapedType::isDynamic(size))
      continue;
    if (dim == 'b')
      size = extents.batch;
    else if (dim == 'h')
      size = isQuery ? extents.headsQ : extents.headsKV;
    else if (dim == 's')
      size = isQuery ? extents.seqQ : extents.seqK;
  }
  return RankedTensorType::get(shape, type.getElementType(),
                               type.getEncoding());
}

/// The type of a list of blocks; what all heads or batches share stays so.
static RankedTensorType resizeList(AttentionOpInterface op, Value list,
                                   const Extents &extents) {
  auto type = cast<RankedTensorType>(list.getType());
  SmallVector<int64_t> shape(type.getShape());
  int64_t blocks = llvm::divideCeilSigned(extents.seqQ, op.getListedQueries());
  const int64_t most[] = {extents.batch, extents.headsQ, blocks};
  for (auto [size, small] : llvm::zip(shape, most))
    if (ShapedType::isStatic(size))
      size = std::min(size, small);
  return RankedTensorType::get(shape, type.getElementType(),
                               type.getEncoding());
}

/// The type of scales, or of zero points, as many as the resized operand has
/// blocks. Zero points come first, for the type of the scales says which
/// dimensions share one.
static RankedTensorType resizeScales(const attn::Scales &scales,
                                     Value numbers) {
  auto type = cast<RankedTensorType>(numbers.getType()),
       operand = cast<RankedTensorType>(scales.operand.getType());
  SmallVector<int64_t> shape(type.getShape());
  for (auto [dim, size] : llvm::enumerate(shape)) {
    auto number = static_cast<int64_t>(dim);
    if (ShapedType::isStatic(size) && !scales.isShared(number) &&
        !operand.isDynamicDim(dim))
      size = llvm::divideCeilSigned(operand.getDimSize(dim),
                                    scales.getBlock(number));
  }
  return RankedTensorType::get(shape, type.getElementType(),
                               type.getEncoding());
}

static std::string getSizeName(AttentionSize place) {
  return schedule::AttentionAttr::getSet().sizes[place].name.str();
}

ProblemSizes attune::shrinkAttention(AttentionOpInterface op,
                                     const ShrunkBlocks &blocks,
                                     const ProblemSizes &sizes) {
  auto function = op->getParentOfType<func::FuncOp>();
  // What nobody knows is taken as large: only the reduced size counts.
  constexpr int64_t unknown = int64_t(1) << 20;
  auto known = [&](int64_t size, AttentionSize place, int64_t other) {
    return ShapedType::isStatic(size)
               ? size
               : sizes.get(getSizeName(place)).value_or(other);
  };
  int64_t headsKV = known(op.getHeadsKV(), kKVHeads, 1);
  Extents small = reduce({known(op.getBatch(), kBatch, 1),
                          known(op.getHeadsQ(), kHeads, headsKV), headsKV,
                          known(op.getSeqQ(), kSeqQ, unknown),
                          known(op.getSeqK(), kSeqK, unknown)},
                         blocks);
  if (llvm::is_contained({op.getKey(), op.getValue()}, op.getQuery()))
    small.seqQ = small.seqK;
  // Pages are as they are: there are fewer of them.
  Extents ofPages = small;
  if (int64_t page = op.getPageSize()) {
    ofPages.seqK = llvm::divideCeilSigned(small.seqK, page);
    small.seqK = ofPages.seqK * page;
    ofPages.batch = small.batch * ofPages.seqK;
  }

  auto setTo = [&](Value value, StringRef dims, const Extents &extents,
                   bool isQuery) {
    if (value)
      value.setType(resize(cast<RankedTensorType>(value.getType()), dims,
                           extents, isQuery));
  };
  auto set = [&](Value value, StringRef dims, bool isQuery) {
    setTo(value, dims, small, isQuery);
  };
  attn::TensorRoles roles = op.getTensorRoles();
  for (Value tensor : roles.ofQueries)
    set(tensor, op.getOrder(), true);
  std::string ofKeys = op.getOrder().str();
  if (op.getPages())
    ofKeys[op.getSeqPos()] = 'd';
  for (Value tensor : roles.ofKeys)
    setTo(tensor, ofKeys, op.getPages() ? ofPages : small, false);
  for (Value tensor : roles.perQuery)
    set(tensor, "bhs", true);
  set(op.getAlibiSlopes(), "h", true);
  set(op.getSinks(), "h", true);
  set(op.getQueryLengths(), "b", true);
  set(op.getKeyLengths(), "b", true);
  set(op.getPages(), "b-", true);
  setTo(op.getPages(), "-s", ofPages, false);
  // One more than there are batches, of which packed tensors have one as well.
  Extents ofStarts = small;
  ++ofStarts.batch;
  setTo(op.getQueryStarts(), "b", ofStarts, true);
  setTo(op.getKeyStarts(), "b", ofStarts, true);
  for (attn::BlockList list : attn::getBlockLists(op))
    list.tensor.setType(resizeList(op, list.tensor, small));
  if (auto forward = dyn_cast<attn::AttentionOp>(*op))
    for (attn::Scales scales : attn::getScales(forward))
      for (Value numbers : {scales.zeros, scales.scales})
        if (numbers)
          numbers.setType(resizeScales(scales, numbers));
  function.setFunctionType(FunctionType::get(
      function.getContext(), function.front().getArgumentTypes(),
      op->getResultTypes()));
  // A size that is in the types is not asked for as well: captured tensors,
  // which stay as large as they were, would contradict it.
  ProblemSizes reduced = sizes;
  auto ask = [&](AttentionSize place, int64_t inTypes, int64_t size) {
    if (ShapedType::isDynamic(inTypes))
      reduced.named[getSizeName(place)] = size;
    else
      reduced.named.erase(getSizeName(place));
  };
  ask(kBatch, op.getBatch(), small.batch);
  ask(kHeads, op.getHeadsQ(), small.headsQ);
  ask(kKVHeads, op.getHeadsKV(), small.headsKV);
  ask(kSeqQ, op.getSeqQ(), small.seqQ);
  ask(kSeqK, op.getSeqK(), small.seqK);
  return reduced;
}
