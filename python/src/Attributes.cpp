// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What attributes and locations hold, as Python's own values.

#include "IR.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"

namespace nb = nanobind;
using namespace attune::python;

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

nb::object attune::python::describeAttribute(MlirAttribute attribute) {
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
  if (mlirAttributeIsAFlatSymbolRef(attribute))
    return toObject(toString(mlirFlatSymbolRefAttrGetValue(attribute)));
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

nb::object attune::python::describeLocation(MlirLocation location) {
  std::string text = print(mlirLocationPrint, location);
  if (!mlirLocationIsAFileLineColRange(location))
    return nb::make_tuple(toObject(text), nb::none(), nb::none(), nb::none());
  std::string file = toString(
      mlirIdentifierStr(mlirLocationFileLineColRangeGetFilename(location)));
  return nb::make_tuple(toObject(text), toObject(file),
                        mlirLocationFileLineColRangeGetStartLine(location),
                        mlirLocationFileLineColRangeGetStartColumn(location));
}
