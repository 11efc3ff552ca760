// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is in an operation, as Python's own objects. They know nothing of MLIR's
// memory, so that they outlive the module, and any thread may read them.

#include "Bindings.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include <unordered_map>

namespace nb = nanobind;
using namespace attune::python;

namespace {
/// Writes operations. Values and blocks go by numbers in the order in which
/// they are first seen.
class Describer {
public:
  nb::object describe(MlirOperation op);

private:
  nb::object describe(MlirRegion region);
  nb::object describe(MlirBlock block);
  /// The number of a value that is defined here, and its type.
  nb::object define(MlirValue value);
  size_t getNumber(const void *pointer) {
    return numbers.try_emplace(pointer, numbers.size()).first->second;
  }

  std::unordered_map<const void *, size_t> numbers;
};
} // namespace

template <typename Handle>
static std::string print(void (*printTo)(Handle, MlirStringCallback, void *),
                         Handle handle) {
  std::string text;
  printTo(handle, append, &text);
  return text;
}

static nb::object toObject(const std::string &text) {
  return nb::str(text.data(), text.size());
}

static nb::object describeInteger(MlirAttribute attribute) {
  MlirType type = mlirAttributeGetType(attribute);
  if (mlirTypeIsAInteger(type) && mlirIntegerTypeGetWidth(type) > 64)
    return toObject(print(mlirAttributePrint, attribute));
  if (mlirTypeIsAInteger(type) && mlirIntegerTypeIsUnsigned(type))
    return nb::int_(mlirIntegerAttrGetValueUInt(attribute));
  if (mlirTypeIsAInteger(type) && mlirIntegerTypeIsSigned(type))
    return nb::int_(mlirIntegerAttrGetValueSInt(attribute));
  return nb::int_(mlirIntegerAttrGetValueInt(attribute));
}

static nb::object describeAttribute(MlirAttribute attribute);

static nb::object describeArray(MlirAttribute attribute) {
  nb::list elements;
  for (intptr_t i = 0; i < mlirArrayAttrGetNumElements(attribute); ++i)
    elements.append(describeAttribute(mlirArrayAttrGetElement(attribute, i)));
  return nb::tuple(elements);
}

static nb::object describeDictionary(MlirAttribute attribute) {
  nb::dict elements;
  for (intptr_t i = 0; i < mlirDictionaryAttrGetNumElements(attribute); ++i) {
    MlirNamedAttribute named = mlirDictionaryAttrGetElement(attribute, i);
    elements[toObject(toString(mlirIdentifierStr(named.name)))] =
        describeAttribute(named.attribute);
  }
  return elements;
}

template <typename Element>
static nb::object describeDense(MlirAttribute attribute,
                                Element (*get)(MlirAttribute, intptr_t)) {
  nb::list elements;
  for (intptr_t i = 0; i < mlirDenseArrayGetNumElements(attribute); ++i)
    elements.append(get(attribute, i));
  return nb::tuple(elements);
}

/// Numbers, strings and collections of them; the text of anything else.
static nb::object describeAttribute(MlirAttribute attribute) {
  if (mlirAttributeIsAUnit(attribute))
    return nb::bool_(true);
  if (mlirAttributeIsABool(attribute))
    return nb::bool_(mlirBoolAttrGetValue(attribute));
  if (mlirAttributeIsAInteger(attribute))
    return describeInteger(attribute);
  if (mlirAttributeIsAFloat(attribute))
    return nb::float_(mlirFloatAttrGetValueDouble(attribute));
  if (mlirAttributeIsAString(attribute))
    return toObject(toString(mlirStringAttrGetValue(attribute)));
  if (mlirAttributeIsAArray(attribute))
    return describeArray(attribute);
  if (mlirAttributeIsADictionary(attribute))
    return describeDictionary(attribute);
  if (mlirAttributeIsADenseI64Array(attribute))
    return describeDense(attribute, mlirDenseI64ArrayGetElement);
  if (mlirAttributeIsADenseI32Array(attribute))
    return describeDense(attribute, mlirDenseI32ArrayGetElement);
  return toObject(print(mlirAttributePrint, attribute));
}

/// The text, and file, line and column where it has them.
static nb::object describeLocation(MlirLocation location) {
  std::string text = print(mlirLocationPrint, location);
  if (!mlirLocationIsAFileLineColRange(location))
    return nb::make_tuple(toObject(text), nb::none(), nb::none(), nb::none());
  std::string file = toString(
      mlirIdentifierStr(mlirLocationFileLineColRangeGetFilename(location)));
  return nb::make_tuple(toObject(text), toObject(file),
                        mlirLocationFileLineColRangeGetStartLine(location),
                        mlirLocationFileLineColRangeGetStartColumn(location));
}

nb::object Describer::define(MlirValue value) {
  return nb::make_tuple(
      getNumber(value.ptr),
      toObject(print(mlirTypePrint, mlirValueGetType(value))));
}

nb::object Describer::describe(MlirBlock block) {
  nb::list arguments, operations;
  for (intptr_t i = 0; i < mlirBlockGetNumArguments(block); ++i)
    arguments.append(define(mlirBlockGetArgument(block, i)));
  for (MlirOperation op = mlirBlockGetFirstOperation(block);
       !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op))
    operations.append(describe(op));
  return nb::make_tuple(getNumber(block.ptr), arguments, operations);
}

nb::object Describer::describe(MlirRegion region) {
  nb::list blocks;
  for (MlirBlock block = mlirRegionGetFirstBlock(region);
       !mlirBlockIsNull(block); block = mlirBlockGetNextInRegion(block))
    blocks.append(describe(block));
  return blocks;
}

nb::object Describer::describe(MlirOperation op) {
  nb::dict attributes;
  for (intptr_t i = 0; i < mlirOperationGetNumAttributes(op); ++i) {
    MlirNamedAttribute named = mlirOperationGetAttribute(op, i);
    attributes[toObject(toString(mlirIdentifierStr(named.name)))] =
        describeAttribute(named.attribute);
  }
  nb::list operands, results, regions, successors;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
    operands.append(getNumber(mlirOperationGetOperand(op, i).ptr));
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i)
    results.append(define(mlirOperationGetResult(op, i)));
  for (intptr_t i = 0; i < mlirOperationGetNumRegions(op); ++i)
    regions.append(describe(mlirOperationGetRegion(op, i)));
  for (intptr_t i = 0; i < mlirOperationGetNumSuccessors(op); ++i)
    successors.append(getNumber(mlirOperationGetSuccessor(op, i).ptr));
  return nb::make_tuple(
      toObject(toString(mlirIdentifierStr(mlirOperationGetName(op)))),
      describeLocation(mlirOperationGetLocation(op)), attributes, operands,
      results, regions, successors);
}

nb::object attune::python::describeOperation(MlirOperation op) {
  return Describer().describe(op);
}
