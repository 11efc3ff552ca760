// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sizes of a group. To change them, the dimensions of all tensors that must be
// equal are put into classes: those that a loop indexes, and those that a
// reshape leaves as they are.

#include "attune/Matmul/Problem.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/EquivalenceClasses.h"

using namespace mlir;
using namespace attune::matmul;

static constexpr Dim allDims[] = {Dim::Batch, Dim::M, Dim::N, Dim::K};

Sizes attune::matmul::getSizes(const ContractionGroup &group) {
  Sizes sizes;
  for (Dim dim : allDims)
    sizes[dim] = group.getSize(dim);
  return sizes;
}

std::optional<double> attune::matmul::countFlops(const ContractionGroup &group,
                                                 const Sizes &sizes) {
  double flops = 2.0 * static_cast<double>(group.contractions.size());
  for (int64_t size : sizes.sizes) {
    if (ShapedType::isDynamic(size))
      return std::nullopt;
    flops *= static_cast<double>(size);
  }
  return flops;
}

std::optional<double> attune::matmul::countBytes(const ContractionGroup &group,
                                                 const Sizes &sizes) {
  SmallVector<TensorAccess> accesses(group.results);
  accesses.push_back(group.contractions[0].lhs);
  for (const Contraction &contraction : group.contractions)
    accesses.push_back(contraction.rhs);
  for (const EpilogueOperand &operand : group.operands)
    if (!operand.ofPartner)
      accesses.push_back(operand.access);
  double bytes = 0;
  for (const TensorAccess &access : accesses) {
    double elements = access.getElementType().getIntOrFloatBitWidth() / 8.0;
    for (auto [run, known] :
         llvm::zip_equal(access.runs, access.getRunSizes())) {
      int64_t size = run.getDim() ? sizes[*run.getDim()] : known;
      if (ShapedType::isDynamic(size))
        return std::nullopt;
      elements *= static_cast<double>(size);
    }
    bytes += elements;
  }
  return bytes;
}

namespace {
/// A dimension of a tensor, or a loop of an op.
using Place = std::pair<void *, int64_t>;

class Resizer {
public:
  Resizer(func::FuncOp function, std::string &why)
      : function(function), why(why) {}

  LogicalResult run(const Sizes &sizes);

private:
  static Place at(Value value, int64_t dim) {
    return {value.getAsOpaquePointer(), dim};
  }
  LogicalResult fail(const Twine &reason) {
    why = reason.str();
    return failure();
  }
  void join();
  LogicalResult setSize(Dim dim, int64_t size);
  LogicalResult setOutermost(ArrayRef<Place> places, ArrayRef<int64_t> old,
                             int64_t size, StringRef name);
  LogicalResult setReshaped();
  LogicalResult checkConstants();
  void setTypes();
  void rebuild(Operation &op);
  std::optional<int64_t> lookUp(Value value, int64_t dim);

  func::FuncOp function;
  std::string &why;
  ContractionGroup group;
  llvm::EquivalenceClasses<Place> classes;
  std::map<Place, int64_t> sizes;
};
} // namespace

void Resizer::join() {
  function.walk([&](linalg::LinalgOp op) {
    for (OpOperand &operand : op->getOpOperands()) {
      AffineMap map = op.getMatchingIndexingMap(&operand);
      for (auto [dim, index] : llvm::enumerate(map.getResults())) {
        // A flipped loop has the same size.
        for (unsigned loop = 0; loop < map.getNumDims(); ++loop)
          if (index.isFunctionOfDim(loop))
            classes.unionSets(at(operand.get(), dim),
                              Place(op.getOperation(), loop));
        if (op.isDpsInit(&operand))
          classes.unionSets(at(operand.get(), dim),
                            at(op.getTiedOpResult(&operand), dim));
      }
    }
  });
}

std::optional<int64_t> Resizer::lookUp(Value value, int64_t dim) {
  auto member = classes.findLeader(at(value, dim));
  Place leader =
      member == classes.member_end() ? at(value, dim) : Place(*member);
  auto found = sizes.find(leader);
  if (found == sizes.end())
    return std::nullopt;
  return found->second;
}

/// Gives the first of `places` the size that makes `size` of all.
LogicalResult Resizer::setOutermost(ArrayRef<Place> places,
                                    ArrayRef<int64_t> old, int64_t size,
                                    StringRef name) {
  int64_t inner = 1;
  for (int64_t known : old.drop_front()) {
    if (ShapedType::isDynamic(known))
      return fail("expects the inner loops of " + name + " to be known");
    inner *= known;
  }
  if (size % inner)
    return fail("expects a multiple of " + Twine(inner) + " for " + name +
                ", but got " + Twine(size));
  sizes[classes.getOrInsertLeaderValue(places[0])] = size / inner;
  return success();
}

LogicalResult Resizer::setSize(Dim dim, int64_t size) {
  ArrayRef<int64_t> loops = group.contractions[0].space[dim];
  if (loops.empty())
    return size == 1 ? success()
                     : fail("expects a batch of 1, for there is none");
  for (const Contraction &contraction : group.contractions)
    for (const TensorAccess *access : {&contraction.lhs, &contraction.rhs}) {
      std::optional<unsigned> run = access->findRun(dim);
      if (!run)
        continue;
      SmallVector<Place> places;
      for (unsigned loop = 0; loop < loops.size(); ++loop)
        places.push_back(at(access->tensor, access->runs[*run].first + loop));
      if (failed(setOutermost(places, loops, size, toString(dim))))
        return failure();
    }
  return success();
}

/// Follows sizes through reshapes, in the order of the ops.
LogicalResult Resizer::setReshaped() {
  auto follow = [&](Value joined, Value split,
                    ArrayRef<ReassociationIndices> reassociation,
                    bool isExpand) -> LogicalResult {
    auto type = cast<RankedTensorType>(split.getType());
    for (auto [dim, parts] : llvm::enumerate(reassociation)) {
      SmallVector<Place> places;
      SmallVector<int64_t> old;
      bool isResized = false;
      for (int64_t part : parts) {
        places.push_back(at(split, part));
        std::optional<int64_t> size = lookUp(split, part);
        isResized |= size.has_value();
        old.push_back(size.value_or(type.getDimSize(part)));
      }
      if (isExpand) {
        std::optional<int64_t> size = lookUp(joined, dim);
        if (size && failed(setOutermost(places, old, *size, "a reshape")))
          return failure();
      } else if (isResized) {
        int64_t product = 1;
        for (int64_t size : old) {
          if (ShapedType::isDynamic(size))
            return fail("expects sizes that a reshape joins to be known");
          product *= size;
        }
        sizes[classes.getOrInsertLeaderValue(at(joined, dim))] = product;
      }
    }
    return success();
  };
  for (Operation &op : function.getBody().front()) {
    if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op))
      if (failed(follow(expand.getSrc(), expand.getResult(),
                        expand.getReassociationIndices(), true)))
        return failure();
    if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op))
      if (failed(follow(collapse.getResult(), collapse.getSrc(),
                        collapse.getReassociationIndices(), false)))
        return failure();
  }
  return success();
}

/// Elements of a constant are not made up where it becomes larger.
LogicalResult Resizer::checkConstants() {
  for (auto constant : function.getBody().front().getOps<arith::ConstantOp>())
    if (auto elements = dyn_cast<DenseElementsAttr>(constant.getValue());
        elements && !elements.isSplat())
      return fail("expects constant tensors of one value alone");
  return success();
}

/// Makes an op anew whose own attributes or operands are sizes.
void Resizer::rebuild(Operation &op) {
  OpBuilder builder(&op);
  Value result = op.getResult(0), made;
  auto type = dyn_cast<RankedTensorType>(result.getType());
  if (!type)
    return;
  auto getSizes = [&](ArrayRef<OpFoldResult> old) {
    SmallVector<OpFoldResult> mixed(old);
    for (auto [dim, size] : llvm::enumerate(type.getShape()))
      if (ShapedType::isStatic(size))
        mixed[dim] = builder.getIndexAttr(size);
    return mixed;
  };
  if (auto empty = dyn_cast<tensor::EmptyOp>(op)) {
    made = tensor::EmptyOp::create(builder, op.getLoc(),
                                   getSizes(empty.getMixedSizes()),
                                   type.getElementType(), type.getEncoding());
  } else if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op)) {
    made = tensor::ExpandShapeOp::create(
        builder, op.getLoc(), type, expand.getSrc(),
        expand.getReassociationIndices(),
        getSizes(expand.getMixedOutputShape()));
  } else if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto splat = cast<SplatElementsAttr>(constant.getValue());
    made = arith::ConstantOp::create(
        builder, op.getLoc(),
        DenseElementsAttr::get(type, splat.getSplatValue<Attribute>()));
  } else {
    return;
  }
  result.replaceAllUsesWith(made);
  op.erase();
}

void Resizer::setTypes() {
  auto setType = [&](Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type)
      return;
    SmallVector<int64_t> shape(type.getShape());
    for (auto [dim, size] : llvm::enumerate(shape))
      size = lookUp(value, dim).value_or(size);
    value.setType(type.clone(shape));
  };
  Block &body = function.getBody().front();
  for (BlockArgument argument : body.getArguments())
    setType(argument);
  for (Operation &op : body)
    for (Value result : op.getResults())
      setType(result);
  for (Operation &op : llvm::make_early_inc_range(body.without_terminator()))
    rebuild(op);
  function.setType(FunctionType::get(function.getContext(),
                                     body.getArgumentTypes(),
                                     body.getTerminator()->getOperandTypes()));
}

LogicalResult Resizer::run(const Sizes &wanted) {
  group = std::move(findContractionGroups(function.getBody().front())[0]);
  join();
  for (Dim dim : allDims)
    if (ShapedType::isStatic(wanted[dim]) && failed(setSize(dim, wanted[dim])))
      return failure();
  if (failed(setReshaped()) || failed(checkConstants()))
    return failure();
  setTypes();
  return success();
}

FailureOr<OwningOpRef<ModuleOp>>
attune::matmul::resize(const ContractionGroup &group, const Sizes &sizes,
                       std::string &why) {
  OwningOpRef<ModuleOp> module = isolate(group);
  auto function = cast<func::FuncOp>(module->getBody()->front());
  if (failed(resize(function, sizes, why)))
    return failure();
  return module;
}

LogicalResult attune::matmul::resize(func::FuncOp isolated, const Sizes &sizes,
                                     std::string &why) {
  return Resizer(isolated, why).run(sizes);
}
