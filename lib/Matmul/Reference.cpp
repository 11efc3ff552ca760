// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The reference: each element by itself, slow and obvious. Beside each one its
// bound, for a rule of the whole result would let a lost block of K pass: sums
// of long rows are large where what is lost is small.

#include "attune/Matmul/Reference.h"
#include "attune/Dialect/Attn/IR/Attn.h"
#include "attune/Matmul/ContractionGroup.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace attune::matmul;

namespace {
/// A sum over k, and that of the absolute values, in f64; and whether additions
/// in any order give it exactly.
struct Sum {
  Value value, magnitude, isExact;
};

class ReferenceEmitter {
public:
  ReferenceEmitter(OpBuilder &builder, const ContractionGroup &group,
                   ReferenceOutput output)
      : b(group.getRoot()->getLoc(), builder), group(group), output(output) {}

  SmallVector<Value> emit();

private:
  Value f32(double value) {
    return arith::ConstantOp::create(b, b.getF32FloatAttr(value));
  }
  Value f64(double value) {
    return arith::ConstantOp::create(b, b.getF64FloatAttr(value));
  }
  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(b, value);
  }
  Value getBuffer(const TensorAccess &access);
  Value getDim(Value buffer, unsigned dim) {
    return b.createOrFold<memref::DimOp>(buffer, dim);
  }
  Value getLoopSize(Dim dim, unsigned loop);
  Value getSize(Dim dim);
  Value allocate(const TensorAccess &result);
  Value load(const TensorAccess &access, ValueRange indices);
  Value emitIsInteger(Value element);
  Sum emitSum(const Accumulator &accumulator, ArrayRef<Value> indices);
  Value emitError(const Sum &sum);
  SmallVector<Value> evaluate(ArrayRef<Value> indices,
                              ArrayRef<Value> accumulators,
                              ArrayRef<Value> elements, unsigned pattern);
  Value flushQuotient(arith::DivFOp quotient);
  Value widenSpread(Value spread, Value center, Value moved);
  Value emitHalfUnit(Value magnitude, Type type);
  SmallVector<Value> emitBounds(ArrayRef<Value> indices,
                                ArrayRef<Value> accumulators,
                                ArrayRef<Value> errors,
                                ArrayRef<Value> elements,
                                ArrayRef<Value> center);
  void emitElement(ArrayRef<Value> indices, ArrayRef<Value> targets);

  ImplicitLocOpBuilder b;
  const ContractionGroup &group;
  ReferenceOutput output;
  llvm::MapVector<Value, Value> buffers;
};
} // namespace

/// How many ways to move the operations of the epilogue are tried: all up, two
/// patterns of up and down, and quotients by large numbers that are 0.
static constexpr unsigned kPatterns = 4;
/// Beyond this, approximations of quotients are 0 where they flush what is no
/// normal number (PTX ISA, div.approx).
static constexpr double kLargeDivisor = 0x1p126;

Value ReferenceEmitter::getBuffer(const TensorAccess &access) {
  Value &buffer = buffers[access.tensor];
  if (buffer)
    return buffer;
  auto type = cast<RankedTensorType>(access.tensor.getType());
  MemRefLayoutAttrInterface layout;
  if (auto strided =
          dyn_cast_or_null<attune::attn::StridedAttr>(type.getEncoding()))
    layout = StridedLayoutAttr::get(type.getContext(), /*offset=*/0,
                                    strided.getStrides());
  buffer = bufferization::ToBufferOp::create(
      b, MemRefType::get(type.getShape(), type.getElementType(), layout),
      access.tensor, /*read_only=*/true);
  return buffer;
}

/// The operands of the first contraction have every loop, each a dimension.
Value ReferenceEmitter::getLoopSize(Dim dim, unsigned loop) {
  const Contraction &first = group.contractions[0];
  for (const TensorAccess *access : {&first.lhs, &first.rhs})
    if (std::optional<unsigned> run = access->findRun(dim))
      return getDim(getBuffer(*access), access->runs[*run].first + loop);
  llvm_unreachable("a loop is in one operand at least");
}

Value ReferenceEmitter::getSize(Dim dim) {
  Value size = index(1);
  for (unsigned loop = 0; loop < group.contractions[0].space[dim].size();
       ++loop)
    size = b.createOrFold<arith::MulIOp>(size, getLoopSize(dim, loop));
  return size;
}

Value ReferenceEmitter::allocate(const TensorAccess &result) {
  auto type = cast<RankedTensorType>(result.tensor.getType());
  SmallVector<Value> sizes(type.getRank());
  for (const Run &run : result.runs) {
    Dim dim = *run.getDim();
    bool isLoops = run.count == group.contractions[0].space[dim].size();
    // Of a dimension that was split, the one whose size is not known.
    int64_t others = 1;
    for (unsigned i = run.first; i < run.first + run.count; ++i)
      if (!type.isDynamicDim(i))
        others *= type.getDimSize(i);
    for (unsigned i = 0; i < run.count; ++i)
      if (type.isDynamicDim(run.first + i))
        sizes[run.first + i] =
            isLoops
                ? getLoopSize(dim, i)
                : b.createOrFold<arith::DivUIOp>(getSize(dim), index(others));
  }
  llvm::erase(sizes, Value());
  return memref::AllocOp::create(
      b, MemRefType::get(type.getShape(), b.getF32Type()), sizes);
}

Value ReferenceEmitter::load(const TensorAccess &access, ValueRange indices) {
  if (!isa<RankedTensorType>(access.tensor.getType()))
    return access.tensor;
  Value buffer = getBuffer(access);
  return memref::LoadOp::create(
      b, buffer, access.getIndices(b, b.getLoc(), indices, [&](unsigned dim) {
        return getDim(buffer, dim);
      }));
}

Value ReferenceEmitter::emitIsInteger(Value element) {
  if (!element.getType().isF32())
    element = arith::ExtFOp::create(b, b.getF32Type(), element);
  return arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, element,
                               math::TruncOp::create(b, element));
}

/// The column of `indices` is the partner's where the accumulator is.
Sum ReferenceEmitter::emitSum(const Accumulator &accumulator,
                              ArrayRef<Value> indices) {
  const Contraction &contraction = group.contractions[accumulator.contraction];
  Value yes = arith::ConstantIntOp::create(b, b.getI1Type(), 1);
  auto loop = scf::ForOp::create(b, index(0), getSize(Dim::K), index(1),
                                 ValueRange{f64(0), f64(0), yes});
  Value value, magnitude, isInteger;
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    SmallVector<Value> inside(indices);
    inside.push_back(loop.getInductionVar());
    isInteger = loop.getRegionIterArg(2);
    auto loadExact = [&](const TensorAccess &access) -> Value {
      Value narrow = load(access, inside);
      isInteger = arith::AndIOp::create(b, isInteger, emitIsInteger(narrow));
      // In two steps: bf16 to f64 is no conversion that every back end has.
      Value single = arith::ExtFOp::create(b, b.getF32Type(), narrow);
      return arith::ExtFOp::create(b, b.getF64Type(), single);
    };
    Value product = arith::MulFOp::create(b, loadExact(contraction.lhs),
                                          loadExact(contraction.rhs));
    value = arith::AddFOp::create(b, loop.getRegionIterArg(0), product);
    magnitude = arith::AddFOp::create(b, loop.getRegionIterArg(1),
                                      math::AbsFOp::create(b, product));
    scf::YieldOp::create(b, ValueRange{value, magnitude, isInteger});
  }
  // Integers that f32 has, as all partial sums then are.
  Value isSmall = arith::CmpFOp::create(b, arith::CmpFPredicate::OLT,
                                        loop.getResult(1), f64(0x1p24));
  return {loop.getResult(0), loop.getResult(1),
          arith::AndIOp::create(b, loop.getResult(2), isSmall)};
}

/// d = (K / 16 + 18) * 2^-23 * S
Value ReferenceEmitter::emitError(const Sum &sum) {
  Value k = arith::SIToFPOp::create(
      b, b.getF64Type(),
      arith::IndexCastOp::create(b, b.getI64Type(), getSize(Dim::K)));
  Value units = arith::AddFOp::create(
      b, arith::MulFOp::create(b, k, f64(1.0 / 16)), f64(18));
  Value error = arith::MulFOp::create(
      b, arith::MulFOp::create(b, units, f64(0x1p-23)), sum.magnitude);
  return arith::SelectOp::create(
      b, sum.isExact, f32(0),
      arith::TruncFOp::create(b, b.getF32Type(), error));
}

/// Whether an op rounds, as chips do in their own ways.
static bool isRounding(Operation &op) {
  return op.getNumResults() == 1 && op.getResult(0).getType().isF32() &&
         !op.hasTrait<OpTrait::ConstantLike>() &&
         !isa<arith::SelectOp, CastOpInterface, arith::NegFOp>(op);
}

/// The quotient as approximations have it, 0 of a divisor that is large.
Value ReferenceEmitter::flushQuotient(arith::DivFOp quotient) {
  Value isLarge = arith::CmpFOp::create(
      b, arith::CmpFPredicate::OGT, math::AbsFOp::create(b, quotient.getRhs()),
      f32(kLargeDivisor));
  return arith::SelectOp::create(b, isLarge, f32(0), quotient);
}

/// The epilogue in f32, before the last rounding. With a pattern other than 0,
/// each of its operations is off by 2^-22, up or down, or with the last one
/// quotients are what chips make of them where they cannot do better.
SmallVector<Value> ReferenceEmitter::evaluate(ArrayRef<Value> indices,
                                              ArrayRef<Value> accumulators,
                                              ArrayRef<Value> elements,
                                              unsigned pattern) {
  IRMapping mapping;
  group.mapArguments(mapping, indices, accumulators, elements);
  unsigned number = 0;
  for (Operation &op : group.getEpilogue().without_terminator()) {
    Operation *clone = b.clone(op, mapping);
    if (pattern == 0 || !isRounding(op))
      continue;
    if (pattern == kPatterns) {
      if (auto quotient = dyn_cast<arith::DivFOp>(clone))
        mapping.map(op.getResult(0), flushQuotient(quotient));
      continue;
    }
    bool isUp = pattern == 1 || ((number >> (pattern - 2)) & 1);
    ++number;
    b.setInsertionPoint(clone);
    Value factor = f32(isUp ? 1 + 0x1p-22 : 1 - 0x1p-22);
    // Chips take powers of 2, of an argument that they multiply first: that is
    // rounded as well.
    if (isa<math::ExpOp>(clone))
      clone->setOperand(0,
                        arith::MulFOp::create(b, clone->getOperand(0), factor));
    b.setInsertionPointAfter(clone);
    mapping.map(
        op.getResult(0),
        arith::MulFOp::create(b, clone->getResult(0), factor).getResult());
  }
  SmallVector<Value> results;
  for (Value result : group.getEpilogue().getTerminator()->getOperands()) {
    auto rounding = result.getDefiningOp<arith::TruncFOp>();
    if (rounding && rounding.getIn().getType().isF32())
      result = rounding.getIn();
    result = mapping.lookup(result);
    if (!result.getType().isF32())
      result = arith::ExtFOp::create(b, b.getF32Type(), result);
    results.push_back(result);
  }
  return results;
}

/// The larger of the spread and the distance of two values, where that is a
/// number.
Value ReferenceEmitter::widenSpread(Value spread, Value center, Value moved) {
  Value distance =
      math::AbsFOp::create(b, arith::SubFOp::create(b, moved, center));
  Value isLarger =
      arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, distance, spread);
  return arith::SelectOp::create(b, isLarger, distance, spread);
}

/// Half a unit in the last place of `type` at a value of this magnitude.
Value ReferenceEmitter::emitHalfUnit(Value magnitude, Type type) {
  Value bits = arith::BitcastOp::create(b, b.getI32Type(), magnitude);
  Value exponent = arith::AndIOp::create(
      b, bits, arith::ConstantOp::create(b, b.getI32IntegerAttr(0x7f800000)));
  Value power = arith::BitcastOp::create(b, b.getF32Type(), exponent);
  unsigned precision = cast<FloatType>(type).getFPMantissaWidth();
  Value half =
      arith::MulFOp::create(b, power, f32(std::ldexp(1.0, -int(precision))));
  const llvm::fltSemantics &semantics =
      cast<FloatType>(type).getFloatSemantics();
  double smallest = llvm::APFloat::getSmallest(semantics).convertToDouble() / 2;
  // Chips may take what is smaller than any normal number of f32 for 0.
  return arith::MaximumFOp::create(b, half, f32(std::max(smallest, 0x1p-126)));
}

/// How far the values may be off, before their last rounding.
SmallVector<Value> ReferenceEmitter::emitBounds(ArrayRef<Value> indices,
                                                ArrayRef<Value> accumulators,
                                                ArrayRef<Value> errors,
                                                ArrayRef<Value> elements,
                                                ArrayRef<Value> center) {
  SmallVector<Value> bounds(center.size(), f32(0));
  auto widen = [&](ArrayRef<SmallVector<Value>> evaluations) {
    for (size_t number = 0; number < center.size(); ++number) {
      Value spread = f32(0);
      for (const SmallVector<Value> &moved : evaluations)
        spread = widenSpread(spread, center[number], moved[number]);
      bounds[number] = arith::AddFOp::create(b, bounds[number], spread);
    }
  };
  for (size_t moved = 0; moved < accumulators.size(); ++moved) {
    SmallVector<Value> up(accumulators), down(accumulators);
    up[moved] = arith::AddFOp::create(b, up[moved], errors[moved]);
    down[moved] = arith::SubFOp::create(b, down[moved], errors[moved]);
    widen({evaluate(indices, up, elements, 0),
           evaluate(indices, down, elements, 0)});
  }
  if (!group.isEpilogueTrivial()) {
    SmallVector<SmallVector<Value>> evaluations;
    for (unsigned pattern = 1; pattern <= kPatterns; ++pattern)
      evaluations.push_back(evaluate(indices, accumulators, elements, pattern));
    widen(evaluations);
  }
  return bounds;
}

void ReferenceEmitter::emitElement(ArrayRef<Value> indices,
                                   ArrayRef<Value> targets) {
  SmallVector<Value> partner(indices);
  if (group.partnerStride)
    partner[2] = emitPartner(b, b.getLoc(), indices[2], *group.partnerStride);
  SmallVector<Value> accumulators, errors, elements;
  Value isExact =
      arith::ConstantIntOp::create(b, b.getI1Type(), group.isEpilogueExact());
  for (const Accumulator &accumulator : group.accumulators) {
    Sum sum = emitSum(accumulator, accumulator.ofPartner ? partner : indices);
    accumulators.push_back(
        arith::TruncFOp::create(b, b.getF32Type(), sum.value));
    errors.push_back(emitError(sum));
    isExact = arith::AndIOp::create(b, isExact, sum.isExact);
  }
  for (const EpilogueOperand &operand : group.operands) {
    Value element = load(operand.access, operand.ofPartner ? partner : indices);
    elements.push_back(element);
    if (isa<FloatType>(element.getType()))
      isExact = arith::AndIOp::create(b, isExact, emitIsInteger(element));
  }

  SmallVector<Value> center = evaluate(indices, accumulators, elements, 0);
  SmallVector<Value> bounds;
  if (output == ReferenceOutput::Bounds)
    bounds = emitBounds(indices, accumulators, errors, elements, center);
  for (auto [number, result] : llvm::enumerate(group.results)) {
    Type type = result.getElementType();
    Value made = center[number];
    if (output == ReferenceOutput::Bounds) {
      Value magnitude = arith::AddFOp::create(b, math::AbsFOp::create(b, made),
                                              bounds[number]);
      Value bound = arith::AddFOp::create(b, bounds[number],
                                          emitHalfUnit(magnitude, type));
      made = arith::SelectOp::create(b, isExact, f32(0), bound);
    } else if (!type.isF32()) {
      Value narrow = arith::TruncFOp::create(b, type, made);
      Value rounded = arith::ExtFOp::create(b, b.getF32Type(), narrow);
      made = arith::SelectOp::create(b, isExact, rounded, made);
    }
    Value target = targets[number];
    SmallVector<Value> position =
        result.getIndices(b, b.getLoc(), indices,
                          [&](unsigned dim) { return getDim(target, dim); });
    memref::StoreOp::create(b, made, target, position);
  }
}

SmallVector<Value> ReferenceEmitter::emit() {
  // Buffers first: they are not to be made in the loop.
  for (const Contraction &contraction : group.contractions) {
    getBuffer(contraction.lhs);
    getBuffer(contraction.rhs);
  }
  for (const EpilogueOperand &operand : group.operands)
    if (isa<RankedTensorType>(operand.access.tensor.getType()))
      getBuffer(operand.access);
  SmallVector<Value> results;
  for (const TensorAccess &result : group.results)
    results.push_back(allocate(result));
  // Rows first: of the dimensions of a grid the first is the one that may be
  // large.
  SmallVector<Value> sizes = {getSize(Dim::M), getSize(Dim::Batch),
                              getSize(Dim::N)};
  auto loop = scf::ParallelOp::create(b, SmallVector<Value>(3, index(0)), sizes,
                                      SmallVector<Value>(3, index(1)));
  b.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> at(loop.getInductionVars());
  emitElement({at[1], at[0], at[2]}, results);
  b.setInsertionPointAfter(loop);
  for (Value &result : results)
    result = bufferization::ToTensorOp::create(
        b, memref::getTensorTypeFromMemRefType(result.getType()), result,
        /*restrict=*/true, /*writable=*/true);
  return results;
}

/// The reshapes from a result of the group to `value`, the last one first.
static FailureOr<unsigned> traceResult(const ContractionGroup &group,
                                       Value value,
                                       SmallVectorImpl<Operation *> &reshapes) {
  while (Operation *definition = value.getDefiningOp()) {
    for (auto [number, result] : llvm::enumerate(group.results))
      if (result.tensor == value)
        return number;
    if (!isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(definition))
      break;
    reshapes.push_back(definition);
    value = definition->getOperand(0);
  }
  return failure();
}

/// `value` through clones of the reshapes.
static Value reshape(OpBuilder &builder, Value value,
                     ArrayRef<Operation *> reshapes) {
  for (Operation *op : llvm::reverse(reshapes)) {
    IRMapping mapping;
    mapping.map(op->getOperand(0), value);
    Operation *clone = builder.clone(*op, mapping);
    Value result = clone->getResult(0);
    result.setType(cast<RankedTensorType>(result.getType())
                       .clone(getElementTypeOrSelf(value.getType())));
    value = result;
  }
  return value;
}

LogicalResult attune::matmul::lowerToReference(func::FuncOp function,
                                               ReferenceOutput output) {
  if (!function.getBody().hasOneBlock())
    return function.emitOpError("expects one block to lower to a reference");
  Block &body = function.getBody().front();
  std::vector<ContractionGroup> groups = findContractionGroups(body);
  if (groups.size() != 1)
    return function.emitOpError("expects one group of contractions to lower to "
                                "a reference, but got ")
           << groups.size();
  ContractionGroup group = std::move(groups[0]);
  Operation *terminator = body.getTerminator();
  OpBuilder builder(terminator);
  SmallVector<std::pair<unsigned, SmallVector<Operation *>>> returned;
  for (Value value : terminator->getOperands()) {
    SmallVector<Operation *> reshapes;
    FailureOr<unsigned> number = traceResult(group, value, reshapes);
    if (failed(number)) {
      InFlightDiagnostic diagnostic = function.emitOpError(
          "expects to return results of a contraction's group, or their "
          "reshapes, to lower to a reference");
      diagnostic.attachNote(group.getRoot()->getLoc())
          << "the group ends here"
          << (group.stop.empty() ? "" : ": " + group.stop);
      return diagnostic;
    }
    returned.emplace_back(*number, reshapes);
  }
  SmallVector<Value> results = ReferenceEmitter(builder, group, output).emit();
  SmallVector<Value> values;
  for (auto &[number, reshapes] : returned)
    values.push_back(reshape(builder, results[number], reshapes));
  func::ReturnOp::create(builder, terminator->getLoc(), values);
  terminator->erase();
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
    if (isOpTriviallyDead(&op))
      op.erase();
  function.setType(FunctionType::get(function.getContext(),
                                     function.getArgumentTypes(),
                                     ValueRange(values).getTypes()));
  return success();
}
