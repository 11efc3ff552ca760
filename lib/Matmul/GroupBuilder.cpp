// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a group takes in. Every op is planned first, so that one that does not
// fit leaves nothing behind.

#include "GroupBuilder.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace attune::matmul;

static LogicalResult fail(std::string &why, const Twine &reason) {
  why = reason.str();
  return failure();
}

/// Whether no dimension is read in more than one run, as tiles and vectors are.
static bool hasOneRunEach(const TensorAccess &access) {
  for (unsigned dim = 0; dim < kNumDims; ++dim)
    if (llvm::count_if(access.runs, [&](const Run &run) {
          return run.index.isFunctionOfDim(dim);
        }) > 1)
      return false;
  return true;
}

void GroupBuilder::append(Operation *op) {
  group.ops.insert(op);
  chain.push_back(op);
  taken.insert(op);
}

bool GroupBuilder::isReadBy(Operation *op) const {
  return llvm::all_of(value.getUsers(), [&](Operation *user) {
    return user == op || isa<tensor::DimOp>(user);
  });
}

/// Finds the dimensions of the group that the loops of `op` are, by the first
/// tensor of the group that it reads.
LogicalResult GroupBuilder::planLoops(linalg::LinalgOp op, Plan &plan,
                                      std::string &why) {
  for (OpOperand &operand : op->getOpOperands()) {
    auto found = made.find(operand.get());
    AffineMap map = op.getMatchingIndexingMap(&operand);
    if (found == made.end() || !op.payloadUsesValueFromOperand(&operand) ||
        !map.isPermutation())
      continue;
    plan.loops.resize(op.getNumLoops());
    for (auto [dim, coordinate] : llvm::enumerate(found->second.coordinates))
      plan.loops[map.getDimPosition(dim)] = coordinate;
    return success();
  }
  return fail(why, "expects it to read the group's value by a permutation of "
                   "its loops");
}

/// Reads the group's value at 1 - d instead of d for one loop.
LogicalResult GroupBuilder::planPartner(linalg::LinalgOp op, OpOperand &operand,
                                        Plan &plan, std::string &why) {
  const Coordinates &coordinates = made.find(operand.get())->second.coordinates;
  AffineMap map = op.getMatchingIndexingMap(&operand);
  std::optional<Coordinate> flipped;
  for (auto [coordinate, index] :
       llvm::zip_equal(coordinates, map.getResults())) {
    std::optional<unsigned> loop;
    bool isFlip = false;
    if (auto dim = dyn_cast<AffineDimExpr>(index)) {
      loop = dim.getPosition();
    } else if (auto rest = dyn_cast<AffineDimExpr>(simplifyAffineExpr(
                   1 - index, map.getNumDims(), map.getNumSymbols()))) {
      loop = rest.getPosition();
      isFlip = true;
    }
    if (!loop || !plan.loops[*loop].matches(coordinate) ||
        (isFlip && (flipped || coordinate.dim != Dim::N ||
                    coordinate.size != 2 || coordinate.isZero)))
      return fail(why, "expects it to read the group's value where it is, or "
                       "at 1 - d for one loop of 2 columns");
    if (isFlip)
      flipped = coordinate;
  }
  if (!flipped)
    return success();
  int64_t stride = flipped->stride;
  for (int64_t size : getSpace()[Dim::N].drop_front(flipped->loop + 1)) {
    if (ShapedType::isDynamic(size))
      return fail(why, "expects the columns between partners to be known");
    stride *= size;
  }
  if (group.partnerStride || plan.partnerStride.value_or(stride) != stride)
    return fail(why, "expects columns to be rotated once");
  plan.partnerStride = stride;
  return success();
}

/// Finds how an element of a tensor of others is read: where it comes from, if
/// what is between only moves, repeats or casts it.
LogicalResult GroupBuilder::planRead(linalg::LinalgOp op, Read &read,
                                     const Plan &plan, std::string &why) {
  OpOperand &operand = *read.operand;
  std::optional<Coordinates> coordinates =
      getOperandCoordinates(op, operand, plan.loops);
  if (!coordinates)
    return fail(why, "expects other operands to be indexed by loops");
  mlir::Value source = operand.get();
  while (std::optional<Forward> forward = matchForward(source)) {
    std::optional<Coordinates> moved =
        getInputCoordinates(forward->op, *forward->input, *coordinates);
    if (taken.contains(forward->op) || !moved ||
        forward->op->getBlock() != op->getBlock() ||
        (read.cast && forward->cast))
      break;
    if (forward->cast)
      read.cast = forward->cast;
    read.passed.push_back(forward->op);
    source = forward->input->get();
    coordinates = moved;
  }
  std::optional<TensorAccess> access =
      makeAccess(source, getSpace(), *coordinates);
  if (!access || !hasOneRunEach(*access))
    return fail(why, "expects other operands to be matrices, vectors or "
                     "scalars of the group's rows and columns");
  read.what = Read::Other;
  read.access = std::move(*access);
  return success();
}

LogicalResult GroupBuilder::checkBody(linalg::LinalgOp op, const Plan &plan,
                                      std::string &why) {
  why = checkScalarBody(*op.getBlock());
  if (!why.empty())
    return failure();
  // The index of a loop is an expression of that of the whole dimension.
  for (auto index : op.getBlock()->getOps<linalg::IndexOp>()) {
    const Coordinate &coordinate = plan.loops[index.getDim()];
    if (!coordinate.isZero &&
        !makeAccess(value, getSpace(), ArrayRef(coordinate)))
      return fail(why, "expects the sizes of loops inside of one with a "
                       "linalg.index to be known");
  }
  return success();
}

LogicalResult GroupBuilder::plan(linalg::LinalgOp op, Plan &plan,
                                 std::string &why) {
  if (!op.hasPureTensorSemantics() ||
      op.getNumParallelLoops() != op.getNumLoops())
    return fail(why, "expects an op on tensors with parallel loops alone");
  if (failed(planLoops(op, plan, why)))
    return failure();
  for (OpOperand &operand : op->getOpOperands()) {
    Read &read = plan.reads.emplace_back();
    read.operand = &operand;
    if (!op.payloadUsesValueFromOperand(&operand))
      continue;
    if (!made.contains(operand.get())) {
      if (failed(planRead(op, read, plan, why)))
        return failure();
      continue;
    }
    std::optional<int64_t> before = plan.partnerStride;
    plan.partnerStride.reset();
    if (failed(planPartner(op, operand, plan, why)))
      return failure();
    read.what = plan.partnerStride ? Read::Partner : Read::Value;
    if (!plan.partnerStride)
      plan.partnerStride = before;
    else if (before && *before != *plan.partnerStride)
      return fail(why, "expects columns to be rotated once");
  }
  for (OpResult result : op->getResults()) {
    AffineMap map = op.getIndexingMapMatchingResult(result);
    if (!isa<FloatType>(getElementTypeOrSelf(result.getType())) ||
        !map.isPermutation())
      return fail(why, "expects results of floats, indexed by a permutation of "
                       "its loops");
    Coordinates coordinates;
    for (unsigned dim = 0; dim < map.getNumResults(); ++dim)
      coordinates.push_back(plan.loops[map.getDimPosition(dim)]);
    std::optional<TensorAccess> access =
        makeAccess(result, getSpace(), coordinates);
    if (!access || !access->isPlain() || !hasOneRunEach(*access))
      return fail(why, "expects rows and columns of the result to stay "
                       "together");
  }
  return checkBody(op, plan, why);
}

LogicalResult GroupBuilder::fuse(linalg::LinalgOp op, std::string &why) {
  Plan plan;
  if (failed(this->plan(op, plan, why)))
    return failure();
  emit(op, plan);
  for (const Read &read : plan.reads)
    group.ops.insert_range(read.passed);
  append(op);
  value = op->getNumResults() == 1 ? op->getResult(0) : mlir::Value();
  return success();
}

LogicalResult GroupBuilder::fuseReshape(Operation *op, std::string &why) {
  const Made &source = made.find(value)->second;
  std::optional<Coordinates> coordinates;
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op))
    coordinates = expandCoordinates(source.coordinates, expand.getResultType(),
                                    expand.getReassociationIndices());
  else
    coordinates = collapseCoordinates(
        source.coordinates,
        cast<tensor::CollapseShapeOp>(op).getReassociationIndices());
  if (!coordinates)
    return fail(why, "expects a reshape that splits or joins rows or columns "
                     "of known sizes");
  Made result{*coordinates, source.element};
  value = op->getResult(0);
  made[value] = result;
  append(op);
  return success();
}

LogicalResult GroupBuilder::canMerge(const GroupBuilder &other,
                                     std::string &why) {
  const Contraction &a = group.contractions[0],
                    &b = other.group.contractions[0];
  if (group.contractions.size() != 1 || other.group.contractions.size() != 1)
    return fail(why, "expects two contractions at most");
  if (!(a.lhs == b.lhs))
    return fail(why, "expects both contractions to have the same left operand");
  if (a.space.loops != b.space.loops)
    return fail(why, "expects both contractions to have the same sizes");
  if (group.partnerStride || other.group.partnerStride)
    return fail(why, "expects no rotation of columns before a gate");
  return success();
}

void GroupBuilder::merge(GroupBuilder &other) {
  ContractionGroup &from = other.group;
  group.contractions.push_back(std::move(from.contractions[0]));
  IRMapping mapping;
  Block &source = from.getEpilogue(), &target = group.getEpilogue();
  for (unsigned index = 0; index < 3; ++index)
    mapping.map(source.getArgument(index), target.getArgument(index));
  unsigned position = 3;
  for (const Accumulator &accumulator : from.accumulators)
    mapping.map(source.getArgument(position++),
                getAccumulator(1, accumulator.ofPartner));
  for (const EpilogueOperand &operand : from.operands)
    mapping.map(source.getArgument(position++),
                getElement(operand.access, operand.ofPartner));
  for (Operation &op : source)
    builder.clone(op, mapping);
  for (auto &[tensor, element] : other.made)
    made[tensor] = {element.coordinates, mapping.lookup(element.element)};
  group.ops.insert_range(from.ops);
  llvm::append_range(chain, other.chain);
  other.value = {};
  other.merged = true;
}

LogicalResult GroupBuilder::fuseGate(GroupBuilder &other, linalg::LinalgOp op,
                                     std::string &why) {
  if (failed(canMerge(other, why)))
    return failure();
  // Planned with what both have made: nothing is merged that is not joined.
  made.insert({other.value, other.made.find(other.value)->second});
  Plan joined;
  if (failed(plan(op, joined, why))) {
    made.erase(other.value);
    return failure();
  }
  merge(other);
  return fuse(op, why);
}

ContractionGroup GroupBuilder::finish() {
  auto isReshape = [](Operation *op) {
    return isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op);
  };
  Operation *root = getLast();
  while (!chain.empty() && isReshape(chain.back())) {
    group.ops.remove(chain.back());
    taken.erase(chain.back());
    chain.pop_back();
  }
  if (!chain.empty())
    root = chain.back();
  SmallVector<mlir::Value> yielded;
  for (OpResult result : root->getResults()) {
    const Made &element = made.find(result)->second;
    yielded.push_back(element.element);
    group.results.push_back(
        *makeAccess(result, getSpace(), element.coordinates));
  }
  linalg::YieldOp::create(builder, root->getLoc(), yielded);
  sortByPosition(group.ops);
  return std::move(group);
}
