// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention problems as modules.

#include "attune/Dialect/Attn/IR/AttentionProblem.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Verifier.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;
using namespace attune::attn;

Type attune::attn::getType(Builder &builder, Element element) {
  switch (element) {
  case Element::F16:
    return builder.getF16Type();
  case Element::BF16:
    return builder.getBF16Type();
  case Element::F32:
    return builder.getF32Type();
  case Element::F8E4M3FN:
    return builder.getType<Float8E4M3FNType>();
  case Element::F8E5M2:
    return builder.getType<Float8E5M2Type>();
  case Element::F8E4M3FNUZ:
    return builder.getType<Float8E4M3FNUZType>();
  case Element::F8E5M2FNUZ:
    return builder.getType<Float8E5M2FNUZType>();
  case Element::I8:
    return builder.getI8Type();
  case Element::I4:
    return builder.getIntegerType(4);
  }
  llvm_unreachable("all elements have a type");
}

Attribute attune::attn::getEncoding(MLIRContext *context, bool strided,
                                    size_t rank, int64_t rowSize) {
  if (!strided)
    return {};
  SmallVector<int64_t> strides(rank, ShapedType::kDynamic);
  strides.back() = 1;
  // Rows of a known length start where reads of 16 bytes may, if it allows.
  constexpr int64_t widestRead = 8;
  int64_t divisor =
      ShapedType::isDynamic(rowSize) ? 1 : std::gcd(rowSize, widestRead);
  return StridedAttr::get(context, strides, divisor);
}

/// The tensor of a batch of heads: sizes in the order that the problem asks
/// for, and an encoding if its strides are not known.
static RankedTensorType getOperandType(const AttentionProblem &problem,
                                       Builder &builder, int64_t heads,
                                       int64_t length, int64_t headDim) {
  SmallVector<int64_t> shape;
  for (char letter : problem.order)
    shape.push_back(letter == 'b'   ? problem.batch
                    : letter == 'h' ? heads
                    : letter == 's' ? length
                                    : headDim);
  // Of other orders the innermost size is not that of a head.
  Attribute encoding =
      getEncoding(builder.getContext(), problem.strided, shape.size(),
                  problem.order.back() == 'd' ? headDim : int64_t(1));
  return RankedTensorType::get(shape, getType(builder, problem.element),
                               encoding);
}

static int64_t countBlocks(int64_t length, int64_t size) {
  return ShapedType::isDynamic(length)
             ? length
             : static_cast<int64_t>(llvm::divideCeil(length, size));
}

/// How many neighbours share a scale, in the order of the problem; all of them
/// are one block where that is 0.
static SmallVector<int64_t, 4> getScaleBlocks(const AttentionProblem &problem,
                                              const ScaleBlocks &blocks) {
  SmallVector<int64_t, 4> sizes;
  for (char letter : problem.order)
    sizes.push_back(letter == 'b'   ? blocks.batch
                    : letter == 'h' ? blocks.head
                    : letter == 's' ? blocks.sequence
                                    : blocks.headDim);
  return sizes;
}

static RankedTensorType getScaleType(const AttentionProblem &problem,
                                     Builder &builder, Type operand,
                                     const ScaleBlocks &blocks) {
  SmallVector<int64_t> shape;
  for (auto [size, block] :
       llvm::zip_equal(cast<RankedTensorType>(operand).getShape(),
                       getScaleBlocks(problem, blocks)))
    shape.push_back(block == 0 ? 1 : countBlocks(size, block));
  return RankedTensorType::get(shape, builder.getF32Type());
}

/// Blocks, unless each element that is not shared by all has a scale.
static DenseI64ArrayAttr getScaleBlocksAttr(const AttentionProblem &problem,
                                            Builder &builder,
                                            const ScaleBlocks &blocks) {
  SmallVector<int64_t, 4> sizes = getScaleBlocks(problem, blocks);
  for (int64_t &size : sizes)
    size = std::max<int64_t>(size, 1);
  if (llvm::all_equal(ArrayRef(sizes)) && sizes.front() == 1)
    return {};
  return builder.getDenseI64ArrayAttr(sizes);
}

/// Counts and indices of a list of blocks that all heads share.
static std::array<Type, 2> getListTypes(const AttentionProblem &problem,
                                        Builder &builder) {
  int64_t queries = countBlocks(problem.seqQ, problem.blockLists->first);
  int64_t keys = countBlocks(problem.seqK, problem.blockLists->second);
  if (keys == 0)
    keys = 1;
  Type number = builder.getI32Type();
  return {RankedTensorType::get({problem.batch, 1, queries}, number),
          RankedTensorType::get({problem.batch, 1, queries, keys}, number)};
}

/// The operand becomes the first of `rest`, which loses it.
static void assignFirst(MutableOperandRange operand, ValueRange &rest) {
  operand.assign(rest.front());
  rest = rest.drop_front();
}

/// Takes lengths and starts of batches from the front of `rest`.
template <typename OpT>
static void assignLengths(OpT op, const AttentionProblem &problem,
                          ValueRange &rest) {
  if (problem.queryLengths)
    assignFirst(op.getQueryLengthsMutable(), rest);
  if (problem.keyLengths)
    assignFirst(op.getKeyLengthsMutable(), rest);
  if (problem.packedQueries)
    assignFirst(op.getQueryStartsMutable(), rest);
  if (problem.packedKeys)
    assignFirst(op.getKeyStartsMutable(), rest);
}

static Alignment getWindowAlignment(const AttentionProblem &problem) {
  return problem.windowAlignment.value_or(
      problem.causal.value_or(Alignment::BottomRight));
}

/// Takes the operands of clauses from the front of `rest`, and sets the
/// clauses.
template <typename OpT>
static void setClauses(OpT op, const AttentionProblem &problem,
                       ValueRange &rest) {
  Builder builder(op.getContext());
  auto assign = [&](MutableOperandRange operand) {
    assignFirst(operand, rest);
  };
  if (problem.alibi)
    assign(op.getAlibiSlopesMutable());
  if (problem.sinks)
    assign(op.getSinksMutable());
  if (problem.blockLists) {
    assign(op.getBlockCountsMutable());
    assign(op.getBlockIndicesMutable());
    assign(op.getFullBlockCountsMutable());
    assign(op.getFullBlockIndicesMutable());
    op.setBlockSizes({{problem.blockLists->first, problem.blockLists->second}});
  }
  if (problem.dropout) {
    assign(op.getDropoutMutable());
    op.setDropoutProbabilityAttr(builder.getF32FloatAttr(*problem.dropout));
  }
  if (problem.causal)
    op.setCausalAttr(CausalAttr::get(op.getContext(), *problem.causal));
  if (problem.window)
    op.setWindowAttr(WindowAttr::get(op.getContext(), problem.window->first,
                                     problem.window->second,
                                     getWindowAlignment(problem)));
  if (problem.softcap)
    op.setSoftcapAttr(builder.getF32FloatAttr(*problem.softcap));
  if (problem.scale)
    op.setScaleAttr(builder.getF32FloatAttr(*problem.scale));
  if (!problem.schedule.empty())
    op.setScheduleAttr(
        decltype(op.getScheduleAttr())::get(op.getContext(), problem.schedule));
}

static bool isPacked(const AttentionProblem &problem) {
  return problem.elementKV == Element::I4;
}

/// Sets the types of the results, which depend on clauses as well.
static void inferResults(AttentionOp op) {
  SmallVector<Type> types;
  if (failed(AttentionOp::inferReturnTypes(
          op->getContext(), op.getLoc(), op->getOperands(),
          op->getAttrDictionary(), op->getPropertiesStorage(), op->getRegions(),
          types)))
    return;
  for (auto [result, type] : llvm::zip_equal(op->getResults(), types))
    result.setType(type);
}

static AttentionOp createAttention(OpBuilder &builder, Location loc,
                                   const AttentionProblem &problem,
                                   ValueRange arguments) {
  Value query = arguments[0], key = arguments[1];
  ValueRange rest = arguments.drop_front(2);
  Value value = key;
  if (!problem.latent) {
    value = rest.front();
    rest = rest.drop_front();
  }
  auto op = AttentionOp::create(builder, loc, query, key, value, problem.order,
                                problem.lse);
  if (isPacked(problem)) {
    op.setPackedKey(true);
    op.setPackedValue(true);
  }
  if (problem.latent)
    op.setLatent(problem.headDimV);
  if (problem.elementWeights) {
    Builder types(op.getContext());
    op.setWeights(getType(types, *problem.elementWeights));
  }
  op.setBatchInvariant(problem.batchInvariant);
  setClauses(op, problem, rest);
  assignLengths(op, problem, rest);
  if (problem.pageSize)
    assignFirst(op.getPagesMutable(), rest);
  if (problem.queryScales) {
    assignFirst(op.getQueryScalesMutable(), rest);
    op.setQueryScaleBlocksAttr(
        getScaleBlocksAttr(problem, builder, *problem.queryScales));
  }
  if (problem.keyScales) {
    assignFirst(op.getKeyScalesMutable(), rest);
    op.setKeyScaleBlocksAttr(
        getScaleBlocksAttr(problem, builder, *problem.keyScales));
  }
  if (problem.valueScales) {
    assignFirst(op.getValueScalesMutable(), rest);
    op.setValueScaleBlocksAttr(
        getScaleBlocksAttr(problem, builder, *problem.valueScales));
  }
  if (problem.keyZeros)
    assignFirst(op.getKeyZerosMutable(), rest);
  if (problem.valueZeros)
    assignFirst(op.getValueZerosMutable(), rest);
  if (problem.resultScales)
    assignFirst(op.getResultScalesMutable(), rest);
  inferResults(op);
  if (problem.elementResult)
    op.getResult().setType(op.getResult().getType().clone(
        getType(builder, *problem.elementResult)));
  return op;
}

static AttentionGradOp createGradients(OpBuilder &builder, Location loc,
                                       const AttentionProblem &problem,
                                       ValueRange arguments) {
  auto op = AttentionGradOp::create(builder, loc, arguments[0], arguments[1],
                                    arguments[2], arguments[3], arguments[4],
                                    arguments[5], problem.order);
  op.setDeterministic(problem.deterministic);
  ValueRange rest = arguments.drop_front(6);
  if (problem.lse) {
    op.getLseGradMutable().assign(rest.front());
    rest = rest.drop_front();
  }
  setClauses(op, problem, rest);
  assignLengths(op, problem, rest);
  return op;
}

/// Gives a problem the types and sizes of its keys and values as they are
/// stored. An odd column would be left over, which the verifier tells.
static void storeKeys(AttentionProblem &problem) {
  bool packs = isPacked(problem);
  problem.element =
      packs ? Element::I8 : problem.elementKV.value_or(problem.element);
  problem.headDimQK /= packs ? 2 : 1;
  problem.headDimV /= packs ? 2 : 1;
}

/// Behind query, key and value, those of their scales and zero points, and of
/// the scales of the result, which has the dimensions of query.
static void appendScaleTypes(const AttentionProblem &problem, Builder &builder,
                             SmallVectorImpl<Type> &inputs) {
  Type query = inputs[0], key = inputs[1],
       value = problem.latent ? key : inputs[2];
  for (auto [operand, scales] : {std::pair(query, problem.queryScales),
                                 {key, problem.keyScales},
                                 {value, problem.valueScales}})
    if (scales)
      inputs.push_back(getScaleType(problem, builder, operand, *scales));
  if (problem.keyZeros)
    inputs.push_back(getScaleType(problem, builder, key, *problem.keyScales));
  if (problem.valueZeros)
    inputs.push_back(
        getScaleType(problem, builder, value, *problem.valueScales));
  if (problem.resultScales)
    inputs.push_back(
        getScaleType(problem, builder, query, *problem.resultScales));
}

OwningOpRef<ModuleOp> attune::attn::buildModule(const AttentionProblem &problem,
                                                MLIRContext *context) {
  context->loadDialect<AttnDialect, func::FuncDialect>();
  OpBuilder builder(context);
  Location loc = builder.getUnknownLoc();
  if (problem.window &&
      failed(WindowAttr::verify([&] { return emitError(loc); },
                                problem.window->first, problem.window->second,
                                getWindowAlignment(problem))))
    return nullptr;
  AttentionProblem ofQueries = problem, ofKeys = problem;
  if (problem.packedQueries)
    ofQueries.batch = 1;
  if (problem.packedKeys)
    ofKeys.batch = 1;
  storeKeys(ofKeys);
  int64_t mostPages = 0;
  if (problem.pageSize) {
    mostPages = ShapedType::isDynamic(problem.seqK)
                    ? problem.seqK
                    : llvm::divideCeilSigned(problem.seqK, problem.pageSize);
    // As many pages as all batches may need.
    bool isKnown =
        ShapedType::isStatic(problem.batch) && ShapedType::isStatic(mostPages);
    ofKeys.batch = isKnown ? problem.batch * mostPages : ShapedType::kDynamic;
    ofKeys.seqK = problem.pageSize;
  }
  SmallVector<Type> inputs = {getOperandType(ofQueries, builder, problem.headsQ,
                                             problem.seqQ, problem.headDimQK),
                              getOperandType(ofKeys, builder, problem.headsKV,
                                             ofKeys.seqK, ofKeys.headDimQK)};
  if (!problem.latent)
    inputs.push_back(getOperandType(ofKeys, builder, problem.headsKV,
                                    ofKeys.seqK, ofKeys.headDimV));
  if (problem.grad) {
    Type output = getOperandType(ofQueries, builder, problem.headsQ,
                                 problem.seqQ, problem.headDimV);
    auto perQuery = RankedTensorType::get(
        {ofQueries.batch, problem.headsQ, problem.seqQ}, builder.getF32Type());
    inputs.append({output, perQuery, output});
    inputs.append(problem.lse, perQuery);
  }
  auto perHead = RankedTensorType::get({problem.headsQ}, builder.getF32Type());
  inputs.append(problem.alibi + problem.sinks, perHead);
  if (problem.blockLists)
    for (int list = 0; list < 2; ++list)
      llvm::append_range(inputs, getListTypes(problem, builder));
  if (problem.dropout)
    inputs.push_back(RankedTensorType::get({2}, builder.getI64Type()));
  inputs.append(problem.queryLengths + problem.keyLengths,
                RankedTensorType::get({problem.batch}, builder.getI32Type()));
  auto perStart = RankedTensorType::get({ShapedType::isDynamic(problem.batch)
                                             ? problem.batch
                                             : problem.batch + 1},
                                        builder.getI32Type());
  inputs.append(problem.packedQueries + problem.packedKeys, perStart);
  if (problem.pageSize)
    inputs.push_back(RankedTensorType::get({problem.batch, mostPages},
                                           builder.getI32Type()));
  appendScaleTypes(problem, builder, inputs);

  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  builder.setInsertionPointToEnd(module->getBody());
  auto func = func::FuncOp::create(
      builder, loc, problem.grad ? "attention_grad" : "attention",
      builder.getFunctionType(inputs, {}));
  Block *body = func.addEntryBlock();
  builder.setInsertionPointToStart(body);
  ValueRange arguments = body->getArguments();
  Operation *op =
      problem.grad
          ? createGradients(builder, loc, problem, arguments).getOperation()
          : createAttention(builder, loc, problem, arguments).getOperation();
  func::ReturnOp::create(builder, loc, op->getResults());
  func.setType(builder.getFunctionType(inputs, op->getResultTypes()));
  if (failed(verify(*module)))
    return nullptr;
  return module;
}
