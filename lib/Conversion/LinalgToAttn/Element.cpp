// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the element of a tensor is followed through the ops that compute it.

#include "Element.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attune::raising;

static Type normalizeType(Type type) {
  auto floating = dyn_cast<FloatType>(type);
  if (floating && floating.getWidth() <= 32)
    return Float32Type::get(type.getContext());
  return type;
}

unsigned ElementBuilder::getVariable(Operation *op, unsigned loop) {
  return variables.try_emplace({op, loop}, variables.size()).first->second;
}

const Element *ElementBuilder::get(Value tensor, ArrayRef<IndexSum> indices) {
  const Element *load = makeLoad(tensor, indices);
  if (const Element *found = expanded.lookup(load))
    return found;
  const Element *element = expand(tensor, indices);
  if (!element)
    element = load;
  expanded[load] = element;
  return element;
}

const Element *ElementBuilder::getOneLevel(Value tensor,
                                           ArrayRef<IndexSum> indices) {
  isOneLevel = true;
  const Element *element = expand(tensor, indices);
  isOneLevel = false;
  return element ? element : makeLoad(tensor, indices);
}

const Element *ElementBuilder::read(Value value, ArrayRef<IndexSum> indices) {
  if (!isa<RankedTensorType>(value.getType())) {
    auto none = [](BlockArgument) -> const Element * { return nullptr; };
    return getScalar(value, /*body=*/nullptr, {}, none);
  }
  return isOneLevel ? makeLoad(value, indices) : get(value, indices);
}

const Element *ElementBuilder::readOperand(linalg::LinalgOp op,
                                           OpOperand &operand,
                                           ArrayRef<IndexSum> loops) {
  SmallVector<IndexSum> indices;
  for (AffineExpr expression : op.getMatchingIndexingMap(&operand).getResults())
    if (std::optional<IndexSum> index = evaluate(expression, loops))
      indices.push_back(*index);
    else
      return nullptr;
  return read(operand.get(), indices);
}

const Element *ElementBuilder::getScalarOp(Operation *op,
                                           ArrayRef<const Element *> operands) {
  auto isNarrow = [](Type type) {
    return isa<FloatType>(type) && type.getIntOrFloatBitWidth() < 32;
  };
  bool usesBits =
      isa<arith::BitcastOp>(op) && (isNarrow(op->getResult(0).getType()) ||
                                    isNarrow(op->getOperand(0).getType()));
  if (op->getNumResults() != 1 || op->getNumRegions() != 0 || usesBits ||
      !isa<arith::ArithDialect, math::MathDialect>(op->getDialect()) ||
      !isMemoryEffectFree(op) || llvm::is_contained(operands, nullptr))
    return nullptr;
  Type type = getElementTypeOrSelf(op->getResult(0).getType());
  if (!type.isIntOrIndexOrFloat())
    return nullptr;
  return makeOp(op->getName(), op->getAttrDictionary(), normalizeType(type),
                operands);
}

const Element *ElementBuilder::getScalar(
    Value value, Block *body, ArrayRef<IndexSum> loops,
    function_ref<const Element *(BlockArgument)> getArgument) {
  Attribute constant;
  if (!value.getType().isIntOrIndexOrFloat())
    return nullptr;
  if (matchPattern(value, m_Constant(&constant)))
    return makeConstant(constant, value.getType());
  auto argument = dyn_cast<BlockArgument>(value);
  if (argument && argument.getOwner() == body)
    return getArgument(argument);
  Operation *op = value.getDefiningOp();
  if (op && body && body->findAncestorOpInBlock(*op)) {
    if (auto index = dyn_cast<linalg::IndexOp>(op))
      return makeIndex(loops[index.getDim()], index.getType());
    // What is concatenated may be written so: an element is of one part.
    if (auto choice = dyn_cast<scf::IfOp>(op)) {
      const Element *condition =
          getScalar(choice.getCondition(), body, loops, getArgument);
      std::optional<bool> isTrue =
          condition ? condition->getBool() : std::nullopt;
      if (!isTrue)
        return nullptr;
      Block *taken = *isTrue ? choice.thenBlock() : choice.elseBlock();
      unsigned number = cast<OpResult>(value).getResultNumber();
      return getScalar(taken->getTerminator()->getOperand(number), body, loops,
                       getArgument);
    }
    SmallVector<const Element *> operands;
    auto extract = dyn_cast<tensor::ExtractOp>(op);
    ValueRange inputs = extract ? extract.getIndices() : op->getOperands();
    for (Value input : inputs)
      if (const Element *element = getScalar(input, body, loops, getArgument))
        operands.push_back(element);
      else
        return nullptr;
    if (!extract)
      return getScalarOp(op, operands);
    Element load{{}, Element::Kind::Load, normalizeType(value.getType())};
    load.value = extract.getTensor();
    load.operands.assign(operands.begin(), operands.end());
    std::optional<SmallVector<IndexSum>> indices = load.getIndices();
    if (!indices)
      return unique(std::move(load));
    // A loop may end before a size that is not known does.
    return extract.getTensor().getType().hasStaticShape()
               ? read(extract.getTensor(), *indices)
               : nullptr;
  }
  // A scalar of outside, unless it is a constant that nobody has folded.
  if (op && op->getNumOperands() != 0 &&
      llvm::all_of(op->getOperandTypes(),
                   [](Type type) { return type.isIntOrIndexOrFloat(); })) {
    SmallVector<const Element *> operands;
    for (Value operand : op->getOperands())
      operands.push_back(getScalar(operand, body, loops, getArgument));
    const Element *folded = getScalarOp(op, operands);
    if (folded &&
        (folded->kind == Element::Kind::Constant ||
         (folded->kind == Element::Kind::Index && folded->index.isConstant())))
      return folded;
  }
  Element scalar{{}, Element::Kind::Scalar, normalizeType(value.getType())};
  scalar.value = value;
  return unique(std::move(scalar));
}

const Element *ElementBuilder::expandLinalg(linalg::LinalgOp op,
                                            OpResult result,
                                            ArrayRef<IndexSum> indices) {
  AffineMap map = op.getIndexingMapMatchingResult(result);
  if (!op.hasPureTensorSemantics() ||
      op.getNumParallelLoops() != op.getNumLoops() || !map.isPermutation())
    return nullptr;
  SmallVector<IndexSum> loops(op.getNumLoops());
  for (auto [dim, index] : llvm::enumerate(indices))
    loops[map.getDimPosition(dim)] = index;
  Block *body = op.getBlock();
  Value yielded = body->getTerminator()->getOperand(result.getResultNumber());
  return getScalar(yielded, body, loops, [&](BlockArgument argument) {
    return readOperand(op, *op.getMatchingOpOperand(argument), loops);
  });
}

/// Of arith and math on tensors.
const Element *ElementBuilder::expandElementwise(Operation *op,
                                                 ArrayRef<IndexSum> indices) {
  SmallVector<const Element *> operands;
  for (Value operand : op->getOperands())
    operands.push_back(read(operand, indices));
  return getScalarOp(op, operands);
}

/// Whether it is known how much of a dimension a slice has: all of it, or so
/// many elements of so many.
static bool isKnownPart(tensor::ExtractSliceOp op, unsigned dim) {
  OpFoldResult size = op.getMixedSizes()[dim];
  if (isa<Attribute>(size))
    return !op.getSourceType().isDynamicDim(dim);
  auto whole = cast<Value>(size).getDefiningOp<tensor::DimOp>();
  return whole && whole.getSource() == op.getSource() &&
         whole.getConstantIndex() == int64_t(dim) &&
         op.getStaticOffset(dim) == 0 && op.getStaticStride(dim) == 1;
}

static std::optional<SmallVector<IndexSum>>
sliceIndices(tensor::ExtractSliceOp op, ArrayRef<IndexSum> indices) {
  llvm::SmallBitVector dropped = op.getDroppedDims();
  SmallVector<IndexSum> source;
  const IndexSum *next = indices.begin();
  for (auto [dim, offset, stride] :
       llvm::enumerate(op.getStaticOffsets(), op.getStaticStrides())) {
    if (ShapedType::isDynamic(offset) || ShapedType::isDynamic(stride) ||
        !isKnownPart(op, dim))
      return std::nullopt;
    IndexSum index(offset);
    if (!dropped.test(dim))
      index = index.plus(*next++, stride);
    source.push_back(index);
  }
  return source;
}

/// An element of what is put together of parts, if it is of one part wherever
/// the indices count.
const Element *ElementBuilder::expandParts(Operation *op,
                                           ArrayRef<IndexSum> indices) {
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(op)) {
    llvm::SmallBitVector dropped = insert.getDroppedDims();
    SmallVector<IndexSum> source;
    bool isInside = true;
    for (auto [dim, offset, size, stride] :
         llvm::enumerate(insert.getStaticOffsets(), insert.getStaticSizes(),
                         insert.getStaticStrides())) {
      if (ShapedType::isDynamic(offset) || ShapedType::isDynamic(size) ||
          stride != 1)
        return nullptr;
      std::optional<bool> isBefore = isBelow(indices[dim], offset),
                          isNotBehind = isBelow(indices[dim], offset + size);
      if (isBefore == true || isNotBehind == false)
        return read(insert.getDest(), indices);
      isInside &= isBefore == false && isNotBehind == true;
      if (!dropped.test(dim))
        source.push_back(indices[dim].plus(IndexSum(-offset)));
    }
    return isInside ? read(insert.getSource(), source) : nullptr;
  }
  auto concat = cast<tensor::ConcatOp>(op);
  SmallVector<IndexSum> place(indices);
  IndexSum &index = place[concat.getDim()];
  for (Value input : concat.getInputs()) {
    int64_t size =
        cast<RankedTensorType>(input.getType()).getDimSize(concat.getDim());
    std::optional<bool> isHere =
        ShapedType::isDynamic(size) ? std::nullopt : isBelow(index, size);
    if (!isHere)
      return nullptr;
    if (*isHere)
      return read(input, place);
    index = index.plus(IndexSum(-size));
  }
  return nullptr;
}

/// The element at `indices` as a sum of them, where all elements of a constant
/// are such sums, as those of a folded iota.
static std::optional<IndexSum> getProgression(DenseIntElementsAttr constant,
                                              ArrayRef<IndexSum> indices) {
  if (constant.empty())
    return std::nullopt;
  auto elements =
      llvm::map_range(constant.getValues<APInt>(),
                      [](const APInt &value) { return value.getSExtValue(); });
  ArrayRef<int64_t> shape = constant.getType().getShape();
  SmallVector<int64_t> strides = computeStrides(shape);
  int64_t first = *elements.begin();
  IndexSum sum(first);
  SmallVector<int64_t> steps;
  for (auto [index, size, stride] : llvm::zip_equal(indices, shape, strides)) {
    steps.push_back(size > 1 ? *(elements.begin() + stride) - first : 0);
    sum = sum.plus(index, steps.back());
  }
  for (auto [place, element] : llvm::enumerate(elements)) {
    int64_t expected = first;
    for (auto [at, step] : llvm::zip_equal(delinearize(place, strides), steps))
      expected += at * step;
    if (element != expected || !llvm::isInt<32>(element))
      return std::nullopt;
  }
  return sum;
}

const Element *ElementBuilder::expandConstant(DenseElementsAttr constant,
                                              ArrayRef<IndexSum> indices) {
  Type type = constant.getElementType();
  if (constant.isSplat())
    return makeConstant(constant.getSplatValue<Attribute>(), type);
  if (!isCounting(type) ||
      (type.isInteger() && type.getIntOrFloatBitWidth() > 64))
    return nullptr;
  std::optional<IndexSum> sum =
      getProgression(cast<DenseIntElementsAttr>(constant), indices);
  return sum ? makeIndex(*sum, type) : nullptr;
}

const Element *ElementBuilder::expand(Value tensor,
                                      ArrayRef<IndexSum> indices) {
  Operation *op = tensor.getDefiningOp();
  if (!op)
    return nullptr;
  DenseElementsAttr dense;
  if (matchPattern(tensor, m_Constant(&dense)))
    return expandConstant(dense, indices);
  std::optional<SmallVector<IndexSum>> moved;
  Value source;
  if (auto reshape = dyn_cast<tensor::ExpandShapeOp>(op)) {
    source = reshape.getSrc();
    moved = collapseIndices(indices, reshape.getResultType().getShape(),
                            reshape.getReassociationIndices());
  } else if (auto reshape = dyn_cast<tensor::CollapseShapeOp>(op)) {
    source = reshape.getSrc();
    moved = expandIndices(indices, reshape.getSrcType().getShape(),
                          reshape.getReassociationIndices());
  } else if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
    source = slice.getSource();
    moved = sliceIndices(slice, indices);
  } else if (isa<tensor::InsertSliceOp, tensor::ConcatOp>(op)) {
    return expandParts(op, indices);
  } else if (auto retyped = dyn_cast<tensor::CastOp>(op)) {
    source = retyped.getSource();
    moved = SmallVector<IndexSum>(indices);
  } else if (auto splat = dyn_cast<tensor::SplatOp>(op)) {
    return read(splat.getInput(), {});
  } else if (auto generate = dyn_cast<tensor::GenerateOp>(op)) {
    Block *body = &generate.getBody().front();
    return getScalar(body->getTerminator()->getOperand(0), body, {},
                     [&](BlockArgument argument) {
                       return makeIndex(indices[argument.getArgNumber()],
                                        argument.getType());
                     });
  } else if (auto structured = dyn_cast<linalg::LinalgOp>(op)) {
    return expandLinalg(structured, cast<OpResult>(tensor), indices);
  } else if (OpTrait::hasElementwiseMappableTraits(op)) {
    return expandElementwise(op, indices);
  }
  if (!moved || !isa<RankedTensorType>(source.getType()))
    return nullptr;
  return read(source, *moved);
}

std::optional<ReductionOfElements>
ElementBuilder::getReduction(const Element *load, StringRef combiner,
                             bool inlined) {
  std::optional<SmallVector<IndexSum>> indices =
      load->isLoad() ? load->getIndices() : std::nullopt;
  auto op = load->isLoad() ? load->value.getDefiningOp<linalg::LinalgOp>()
                           : linalg::LinalgOp();
  if (!op || !indices || !op.hasPureTensorSemantics() ||
      op.getNumReductionLoops() == 0)
    return std::nullopt;
  auto result = cast<OpResult>(load->value);
  // A dimension that is kept with size 1 is indexed by 0.
  AffineMap map = op.getIndexingMapMatchingResult(result);
  if (!map.isProjectedPermutation(/*allowZeroInResults=*/true) ||
      llvm::count_if(map.getResults(), llvm::IsaPred<AffineDimExpr>) +
              op.getNumReductionLoops() !=
          op.getNumLoops())
    return std::nullopt;
  ReductionOfElements reduction{op, {}, {}, nullptr, nullptr};
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  if (llvm::is_contained(ranges, 0))
    return std::nullopt;
  SmallVector<IndexSum> loops(op.getNumLoops());
  for (auto [loop, kind] : llvm::enumerate(op.getIteratorTypesArray())) {
    if (kind != utils::IteratorType::reduction || ranges[loop] == 1)
      continue;
    unsigned variable = getVariable(op, loop);
    reduction.variables.push_back(variable);
    reduction.sizes.push_back(ranges[loop]);
    loops[loop] = IndexSum::get(variable, ranges[loop]);
  }
  for (auto [index, expression] : llvm::zip_equal(*indices, map.getResults()))
    if (auto dim = dyn_cast<AffineDimExpr>(expression))
      loops[dim.getPosition()] = index;
  Block *body = op.getBlock();
  OpOperand *init = op.getDpsInitOperand(result.getResultNumber());
  BlockArgument accumulator = op.getMatchingBlockArgument(init);
  Operation *combine = body->getTerminator()
                           ->getOperand(result.getResultNumber())
                           .getDefiningOp();
  if (!combine || combine->getName().getStringRef() != combiner ||
      !llvm::is_contained(combine->getOperands(), accumulator))
    return std::nullopt;
  Value term = combine->getOperand(combine->getOperand(0) == accumulator);
  isOneLevel = !inlined;
  reduction.term = getScalar(
      term, body, loops, [&](BlockArgument argument) -> const Element * {
        OpOperand *operand = op.getMatchingOpOperand(argument);
        return op.isDpsInit(operand) ? nullptr
                                     : readOperand(op, *operand, loops);
      });
  isOneLevel = false;
  reduction.init = get(init->get(), *indices);
  if (!reduction.term)
    return std::nullopt;
  return reduction;
}

const Element *
ElementBuilder::rebuild(const Element *root,
                        function_ref<const Element *(const Element *)> leaf) {
  DenseMap<const Element *, const Element *> done;
  std::function<const Element *(const Element *)> visit =
      [&](const Element *old) -> const Element * {
    if (auto found = done.find(old); found != done.end())
      return found->second;
    const Element *made = leaf(old);
    if (made == old && !old->operands.empty()) {
      Element copy = *old;
      copy.operands.clear();
      for (const Element *operand : old->operands)
        if (const Element *visited = visit(operand))
          copy.operands.push_back(visited);
        else
          return done[old] = nullptr;
      made = copy.kind == Element::Kind::Op
                 ? makeOp(*copy.name, copy.attributes, copy.type, copy.operands)
                 : unique(std::move(copy));
      std::optional<SmallVector<IndexSum>> indices =
          made->isLoad() && made != old ? made->getIndices() : std::nullopt;
      if (indices)
        made = get(made->value, *indices);
    }
    return done[old] = made;
  };
  return visit(root);
}

const Element *
ElementBuilder::substitute(const Element *element,
                           function_ref<const IndexSum *(unsigned)> get) {
  return rebuild(element, [&](const Element *old) -> const Element * {
    if (old->kind != Element::Kind::Index)
      return old;
    std::optional<IndexSum> index = old->index.substitute(get);
    return index ? makeIndex(*index, old->type) : nullptr;
  });
}

const Element *ElementBuilder::replace(const Element *element,
                                       const Element *old,
                                       const Element *made) {
  return rebuild(element, [&](const Element *other) {
    return other == old ? made : other;
  });
}
