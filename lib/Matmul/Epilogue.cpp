// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The epilogue as it is made and as it is used: a block of scalar ops.

#include "GroupBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace attune::matmul;

/// Arguments before the accumulators: batch, m and n.
static constexpr unsigned kNumIndices = 3;

static Value widen(OpBuilder &builder, Location loc, Value value) {
  if (value.getType().getIntOrFloatBitWidth() >= 32)
    return value;
  return arith::ExtFOp::create(builder, loc, builder.getF32Type(), value);
}

std::string attune::matmul::checkScalarBody(Block &body) {
  for (Operation &op : body.without_terminator()) {
    auto isScalar = [](Type type) { return type.isIntOrIndexOrFloat(); };
    if (op.getNumRegions() || !isMemoryEffectFree(&op) ||
        !llvm::all_of(op.getOperandTypes(), isScalar) ||
        !llvm::all_of(op.getResultTypes(), isScalar))
      return ("expects scalar ops without regions or side effects in its "
              "body, but got " +
              op.getName().getStringRef())
          .str();
  }
  return {};
}

static bool isNarrow(Type type) {
  return isa<FloatType>(type) && type.getIntOrFloatBitWidth() < 32;
}

void attune::matmul::cloneScalarOp(OpBuilder &builder, Operation &op,
                                   IRMapping &mapping) {
  bool isArithmetic =
      isa<arith::ArithDialect, math::MathDialect>(op.getDialect()) &&
      !isa<arith::SelectOp, CastOpInterface>(op) &&
      !op.hasTrait<OpTrait::ConstantLike>();
  if (!isArithmetic || (!llvm::any_of(op.getOperandTypes(), isNarrow) &&
                        !llvm::any_of(op.getResultTypes(), isNarrow))) {
    builder.clone(op, mapping);
    return;
  }
  Location loc = op.getLoc();
  IRMapping wide;
  for (Value operand : op.getOperands()) {
    Value value = mapping.lookupOrDefault(operand);
    wide.map(operand,
             isNarrow(operand.getType()) ? widen(builder, loc, value) : value);
  }
  Operation *clone = builder.clone(op, wide);
  for (auto [result, old] :
       llvm::zip_equal(clone->getResults(), op.getResults())) {
    if (!isNarrow(old.getType())) {
      mapping.map(old, result);
      continue;
    }
    result.setType(builder.getF32Type());
    mapping.map(old,
                arith::TruncFOp::create(builder, loc, old.getType(), result));
  }
}

GroupBuilder::GroupBuilder(Contraction contraction, Operations &taken)
    : taken(taken), builder(contraction.op.getContext()) {
  group.contractions.push_back(std::move(contraction));
  const Contraction &first = group.contractions[0];
  Location loc = getFirst()->getLoc();
  group.epilogue = std::make_unique<Block>();
  for (unsigned index = 0; index < kNumIndices; ++index)
    group.epilogue->addArgument(builder.getIndexType(), loc);
  builder.setInsertionPointToEnd(group.epilogue.get());
  mlir::Value element = getAccumulator(0, /*ofPartner=*/false);
  for (const TensorAccess &scale : first.scales)
    element = arith::MulFOp::create(
        builder, loc, element,
        widen(builder, loc, getElement(scale, /*ofPartner=*/false)));
  if (first.init)
    element = arith::AddFOp::create(
        builder, loc, element, getElement(*first.init, /*ofPartner=*/false));
  value = first.op->getResult(0);
  made[value] = {first.resultCoordinates, element};
  group.ops.insert_range(first.producers);
  group.ops.insert(getFirst());
}

mlir::Value GroupBuilder::getAccumulator(unsigned contraction, bool ofPartner) {
  for (auto [number, known] : llvm::enumerate(group.accumulators))
    if (known.contraction == contraction && known.ofPartner == ofPartner)
      return group.epilogue->getArgument(kNumIndices + number);
  unsigned position = kNumIndices + group.accumulators.size();
  group.accumulators.push_back({contraction, ofPartner});
  return group.epilogue->insertArgument(position, builder.getF32Type(),
                                        builder.getUnknownLoc());
}

mlir::Value GroupBuilder::getElement(const TensorAccess &access,
                                     bool ofPartner) {
  // A vector of rows has the same element in all columns.
  ofPartner &= access.reads(Dim::N);
  unsigned first = kNumIndices + group.accumulators.size();
  for (auto [number, known] : llvm::enumerate(group.operands))
    if (known.access == access && known.ofPartner == ofPartner)
      return group.epilogue->getArgument(first + number);
  group.operands.push_back({access, ofPartner});
  return group.epilogue->addArgument(access.getElementType(),
                                     access.tensor.getLoc());
}

mlir::Value GroupBuilder::emitLoopIndex(const Coordinate &coordinate) {
  Location loc = builder.getUnknownLoc();
  if (coordinate.isZero)
    return arith::ConstantIndexOp::create(builder, loc, 0);
  TensorAccess access = *makeAccess(value, getSpace(), ArrayRef(coordinate));
  return emitIndex(builder, loc, access.runs[0].index,
                   group.epilogue->getArguments().take_front(kNumIndices));
}

mlir::Value attune::matmul::emitPartner(OpBuilder &builder, Location loc,
                                        mlir::Value n, int64_t partnerStride) {
  // With strides that are powers of two this is n ^ stride.
  auto constant = [&](int64_t number) {
    return arith::ConstantIndexOp::create(builder, loc, number);
  };
  Value pairs =
      arith::DivUIOp::create(builder, loc, n, constant(partnerStride));
  Value parity = arith::RemUIOp::create(builder, loc, pairs, constant(2));
  Value isOdd = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne,
                                      parity, constant(0));
  return arith::SelectOp::create(
      builder, loc, isOdd,
      arith::SubIOp::create(builder, loc, n, constant(partnerStride)),
      arith::AddIOp::create(builder, loc, n, constant(partnerStride)));
}

mlir::Value GroupBuilder::emitOfPartner(mlir::Value element,
                                        IRMapping &mapping) {
  if (mlir::Value known = mapping.lookupOrNull(element))
    return known;
  mlir::Value partner = element;
  if (auto argument = dyn_cast<BlockArgument>(element)) {
    unsigned number = argument.getArgNumber();
    unsigned first = kNumIndices + group.accumulators.size();
    if (number == static_cast<unsigned>(Dim::N)) {
      partner =
          emitPartner(builder, element.getLoc(), element, *group.partnerStride);
    } else if (number >= first) {
      TensorAccess access = group.operands[number - first].access;
      partner = getElement(access, /*ofPartner=*/true);
    } else if (number >= kNumIndices) {
      unsigned contraction =
          group.accumulators[number - kNumIndices].contraction;
      partner = getAccumulator(contraction, /*ofPartner=*/true);
    }
  } else {
    Operation *definition = element.getDefiningOp();
    bool differs = false;
    for (mlir::Value operand : definition->getOperands())
      differs |= emitOfPartner(operand, mapping) != operand;
    if (differs)
      partner = builder.clone(*definition, mapping)->getResult(0);
  }
  mapping.map(element, partner);
  return partner;
}

void GroupBuilder::emit(linalg::LinalgOp op, const Plan &plan) {
  IRMapping mapping, ofPartner;
  if (plan.partnerStride)
    group.partnerStride = plan.partnerStride;
  for (const Read &read : plan.reads) {
    mlir::Value element;
    switch (read.what) {
    case Read::Unread:
      continue;
    case Read::Value:
      element = made.find(read.operand->get())->second.element;
      break;
    case Read::Partner:
      element = emitOfPartner(made.find(read.operand->get())->second.element,
                              ofPartner);
      break;
    case Read::Other:
      element = getElement(read.access, /*ofPartner=*/false);
      if (read.cast) {
        IRMapping ofCast;
        ofCast.map(read.cast->getOperand(0), element);
        element = builder.clone(*read.cast, ofCast)->getResult(0);
      }
      break;
    }
    mapping.map(op.getMatchingBlockArgument(read.operand), element);
  }
  Block &body = *op.getBlock();
  auto capture = [&](mlir::Value used) {
    if (mapping.contains(used))
      return;
    Operation *definition = used.getDefiningOp();
    mapping.map(used, definition && matchPattern(definition, m_Constant())
                          ? builder.clone(*definition)->getResult(0)
                          : getElement({used, {}}, /*ofPartner=*/false));
  };
  for (Operation &inner : body) {
    if (auto index = dyn_cast<linalg::IndexOp>(inner)) {
      mapping.map(index.getResult(), emitLoopIndex(plan.loops[index.getDim()]));
      continue;
    }
    for (mlir::Value operand : inner.getOperands())
      capture(operand);
    if (!inner.hasTrait<OpTrait::IsTerminator>())
      cloneScalarOp(builder, inner, mapping);
  }
  for (OpResult result : op->getResults()) {
    AffineMap map = op.getIndexingMapMatchingResult(result);
    Coordinates coordinates;
    for (unsigned dim = 0; dim < map.getNumResults(); ++dim)
      coordinates.push_back(plan.loops[map.getDimPosition(dim)]);
    mlir::Value yielded =
        body.getTerminator()->getOperand(result.getResultNumber());
    made[result] = {coordinates, mapping.lookup(yielded)};
  }
}

SmallVector<mlir::Value>
ContractionGroup::inlineEpilogue(OpBuilder &builder, ValueRange indices,
                                 ValueRange accumulators,
                                 ValueRange operands) const {
  IRMapping mapping;
  mapArguments(mapping, indices, accumulators, operands);
  for (Operation &op : epilogue->without_terminator())
    builder.clone(op, mapping);
  SmallVector<mlir::Value> results;
  for (mlir::Value yielded : epilogue->getTerminator()->getOperands())
    results.push_back(mapping.lookup(yielded));
  return results;
}

void ContractionGroup::mapArguments(IRMapping &mapping, ValueRange indices,
                                    ValueRange accumulators,
                                    ValueRange operands) const {
  assert(indices.size() == kNumIndices &&
         accumulators.size() == this->accumulators.size() &&
         operands.size() == this->operands.size() &&
         "one value for each argument of the epilogue");
  SmallVector<mlir::Value> values(indices);
  llvm::append_range(values, accumulators);
  llvm::append_range(values, operands);
  mapping.map(epilogue->getArguments(), values);
}

bool ContractionGroup::isEpilogueTrivial() const {
  return llvm::all_of(epilogue->without_terminator(),
                      [](Operation &op) { return isa<arith::TruncFOp>(op); });
}

bool ContractionGroup::isEpilogueExact() const {
  return llvm::all_of(epilogue->without_terminator(), [](Operation &op) {
    if (isa<arith::DivFOp, arith::RemFOp>(op))
      return false;
    return !isa<math::MathDialect>(op.getDialect()) ||
           isa<math::AbsFOp, math::FmaOp, math::CeilOp, math::FloorOp>(op);
  });
}
