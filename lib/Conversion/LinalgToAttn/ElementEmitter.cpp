// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One op for each node of an expression.

#include "ElementEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace attune::raising;

Value ElementEmitter::constant(int64_t value) {
  return arith::ConstantIndexOp::create(builder, loc, value);
}

/// Floats are computed in f32.
Value ElementEmitter::widen(Value value) {
  auto type = dyn_cast<FloatType>(value.getType());
  if (!type || type.getWidth() >= 32)
    return value;
  return arith::ExtFOp::create(builder, loc, builder.getF32Type(), value);
}

Value ElementEmitter::emitDigit(const Digit &digit) {
  unsigned position = 0;
  while (layout.getVariable(static_cast<Position>(position)) != digit.variable)
    ++position;
  Value value = indices[position];
  if (digit.stride != 1)
    value = builder.createOrFold<arith::DivUIOp>(loc, value,
                                                 constant(digit.stride));
  int64_t size = layout.getSize(static_cast<Position>(position));
  bool isOutermost =
      ShapedType::isDynamic(digit.size) ||
      (ShapedType::isStatic(size) && digit.stride * digit.size >= size);
  if (isOutermost)
    return value;
  return builder.createOrFold<arith::RemUIOp>(loc, value, constant(digit.size));
}

Value ElementEmitter::emitIndex(const IndexSum &index) {
  Value sum;
  auto add = [&](const IndexSum::Term &term) {
    Value value = emitDigit(term.digit);
    int64_t factor = sum ? std::abs(term.factor) : term.factor;
    if (factor != 1)
      value = builder.createOrFold<arith::MulIOp>(loc, value, constant(factor));
    if (!sum)
      sum = value;
    else if (term.factor < 0)
      sum = builder.createOrFold<arith::SubIOp>(loc, sum, value);
    else
      sum = builder.createOrFold<arith::AddIOp>(loc, sum, value);
  };
  // What is subtracted comes behind what it is subtracted from.
  for (bool isNegative : {false, true})
    for (const IndexSum::Term &term : index.getTerms())
      if ((term.factor < 0) == isNegative)
        add(term);
  if (!sum)
    return constant(index.getConstant());
  if (index.getConstant() == 0)
    return sum;
  return builder.createOrFold<arith::AddIOp>(loc, sum,
                                             constant(index.getConstant()));
}

Value ElementEmitter::create(const Element *element) {
  switch (element->kind) {
  case Element::Kind::Constant:
    return arith::ConstantOp::create(builder, loc,
                                     cast<TypedAttr>(element->constant));
  case Element::Kind::Index: {
    if (element->index.isConstant() && !element->type.isIndex())
      return arith::ConstantIntOp::create(builder, loc, element->type,
                                          element->index.getConstant());
    Value index = emitIndex(element->index);
    return element->type.isIndex()
               ? index
               : arith::IndexCastOp::create(builder, loc, element->type, index)
                     .getResult();
  }
  case Element::Kind::Scalar:
    return widen(element->value);
  case Element::Kind::Load: {
    SmallVector<Value> places;
    for (const Element *operand : element->operands)
      places.push_back(emit(operand));
    return widen(
        tensor::ExtractOp::create(builder, loc, element->value, places));
  }
  case Element::Kind::Op: {
    OperationState state(loc, *element->name);
    // Indices are compared as such, however wide the ints were.
    bool comparesIndices =
        element->isOp("arith.cmpi") &&
        llvm::all_of(element->operands, [](const Element *operand) {
          return operand->kind == Element::Kind::Index;
        });
    for (const Element *operand : element->operands)
      state.operands.push_back(comparesIndices ? emitIndex(operand->index)
                                               : emit(operand));
    state.addTypes(element->type);
    state.addAttributes(element->attributes.getValue());
    return builder.create(state)->getResult(0);
  }
  }
  llvm_unreachable("a kind of element");
}

Value ElementEmitter::emit(const Element *element) {
  if (Value known = values.lookup(element))
    return known;
  Value made = create(element);
  values[element] = made;
  return made;
}
