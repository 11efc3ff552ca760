// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attributes of the attn dialect.

#include "attune/Dialect/Attn/IR/Attn.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attune::attn;

#include "attune/Dialect/Attn/IR/AttnEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "attune/Dialect/Attn/IR/AttnAttrs.cpp.inc"

void AttnDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "attune/Dialect/Attn/IR/AttnAttrs.cpp.inc"
      >();
}

LogicalResult WindowAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 int64_t left, int64_t right, Alignment) {
  if (left < -1 || right < -1)
    return emitError()
           << "expects window sides of at least -1 (unbounded), but got "
           << left << " and " << right;
  constexpr int64_t limit = std::numeric_limits<int32_t>::max();
  if (left > limit || right > limit)
    return emitError() << "expects window sides of at most " << limit
                       << ", but got " << left << " and " << right;
  return success();
}

LogicalResult StridedAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                  ArrayRef<int64_t> strides, int64_t divisor) {
  if (divisor < 1)
    return emitError() << "expects a positive divisor, but got " << divisor;
  for (int64_t stride : strides)
    if (!ShapedType::isDynamic(stride) && stride < 1)
      return emitError() << "expects positive strides or `?`, but got "
                         << stride;
  return success();
}

LogicalResult StridedAttr::verifyEncoding(
    ArrayRef<int64_t> shape, Type,
    function_ref<InFlightDiagnostic()> emitError) const {
  if (shape.size() != getStrides().size())
    return emitError()
           << "expects one stride per dimension of the tensor, but got "
           << getStrides().size() << " strides for " << shape.size()
           << " dimensions";
  return success();
}

Attribute StridedAttr::parse(AsmParser &parser, Type) {
  SmallVector<int64_t> strides;
  int64_t divisor = 1;
  auto parseStride = [&]() -> ParseResult {
    if (succeeded(parser.parseOptionalQuestion())) {
      strides.push_back(ShapedType::kDynamic);
      return success();
    }
    return parser.parseInteger(strides.emplace_back());
  };
  if (parser.parseLess() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseStride))
    return {};
  if (succeeded(parser.parseOptionalComma()) &&
      (parser.parseKeyword("divisor") || parser.parseEqual() ||
       parser.parseInteger(divisor)))
    return {};
  if (parser.parseGreater())
    return {};
  return parser.getChecked<StridedAttr>(parser.getContext(), strides, divisor);
}

void StridedAttr::print(AsmPrinter &printer) const {
  printer << "<[";
  llvm::interleaveComma(getStrides(), printer, [&](int64_t stride) {
    if (ShapedType::isDynamic(stride))
      printer << "?";
    else
      printer << stride;
  });
  printer << "]";
  if (getDivisor() != 1)
    printer << ", divisor = " << getDivisor();
  printer << ">";
}
