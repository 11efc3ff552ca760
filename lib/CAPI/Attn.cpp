// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attributes of attn from C.

#include "attune-c/Attn.h"
#include "attune/Dialect/Attn/IR/Attn.h"
#include "mlir/CAPI/IR.h"

using namespace mlir;
using namespace attune::attn;

static_assert(static_cast<int>(AttuneAlignmentTopLeft) ==
                      static_cast<int>(Alignment::TopLeft) &&
                  static_cast<int>(AttuneAlignmentBottomRight) ==
                      static_cast<int>(Alignment::BottomRight),
              "alignments have the same numbers in C");

/// The attribute, or null and a diagnostic.
template <typename AttrT, typename... Args>
static MlirAttribute getChecked(MlirContext context, Args... args) {
  MLIRContext *ctx = unwrap(context);
  return wrap(AttrT::getChecked([&] { return emitError(UnknownLoc::get(ctx)); },
                                ctx, args...));
}

bool attuneAttributeIsACausal(MlirAttribute attr) {
  return isa<CausalAttr>(unwrap(attr));
}

MlirAttribute attuneCausalAttrGet(MlirContext context,
                                  AttuneAlignment alignment) {
  return wrap(Attribute(
      CausalAttr::get(unwrap(context), static_cast<Alignment>(alignment))));
}

AttuneAlignment attuneCausalAttrGetAlignment(MlirAttribute causal) {
  return static_cast<AttuneAlignment>(
      cast<CausalAttr>(unwrap(causal)).getAlignment());
}

bool attuneAttributeIsAWindow(MlirAttribute attr) {
  return isa<WindowAttr>(unwrap(attr));
}

MlirAttribute attuneWindowAttrGet(MlirContext context, int64_t left,
                                  int64_t right, AttuneAlignment alignment) {
  return getChecked<WindowAttr>(context, left, right,
                                static_cast<Alignment>(alignment));
}

int64_t attuneWindowAttrGetLeft(MlirAttribute window) {
  return cast<WindowAttr>(unwrap(window)).getLeft();
}

int64_t attuneWindowAttrGetRight(MlirAttribute window) {
  return cast<WindowAttr>(unwrap(window)).getRight();
}

AttuneAlignment attuneWindowAttrGetAlignment(MlirAttribute window) {
  return static_cast<AttuneAlignment>(
      cast<WindowAttr>(unwrap(window)).getAlignment());
}

bool attuneAttributeIsAStrided(MlirAttribute attr) {
  return isa<StridedAttr>(unwrap(attr));
}

MlirAttribute attuneStridedAttrGet(MlirContext context, intptr_t numStrides,
                                   const int64_t *strides, int64_t divisor) {
  return getChecked<StridedAttr>(
      context, ArrayRef<int64_t>(strides, static_cast<size_t>(numStrides)),
      divisor);
}

intptr_t attuneStridedAttrGetNumStrides(MlirAttribute attr) {
  return cast<StridedAttr>(unwrap(attr)).getStrides().size();
}

int64_t attuneStridedAttrGetStride(MlirAttribute attr, intptr_t pos) {
  return cast<StridedAttr>(unwrap(attr)).getStrides()[pos];
}

int64_t attuneStridedAttrGetDivisor(MlirAttribute attr) {
  return cast<StridedAttr>(unwrap(attr)).getDivisor();
}
