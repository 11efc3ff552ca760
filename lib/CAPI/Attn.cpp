// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attributes of attn, and problems, from C.

#include "attune-c/Attn.h"
#include "attune/Dialect/Attn/IR/AttentionProblem.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"

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

/// The dialect is there, and the number, of which C takes any, is one of it.
static LogicalResult prepare(MLIRContext *context, AttuneAlignment alignment) {
  context->loadDialect<AttnDialect>();
  if (symbolizeAlignment(static_cast<uint32_t>(alignment)))
    return success();
  return emitError(UnknownLoc::get(context))
         << "expects an alignment, but got the number "
         << static_cast<int>(alignment);
}

bool attuneAttributeIsACausal(MlirAttribute attr) {
  return isa<CausalAttr>(unwrap(attr));
}

MlirAttribute attuneCausalAttrGet(MlirContext context,
                                  AttuneAlignment alignment) {
  if (failed(prepare(unwrap(context), alignment)))
    return {nullptr};
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
  if (failed(prepare(unwrap(context), alignment)))
    return {nullptr};
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
  unwrap(context)->loadDialect<AttnDialect>();
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

/// What ODS cannot be asked before there are types.
static LogicalResult check(const AttuneAttentionProblem &given,
                           function_ref<InFlightDiagnostic()> emitError) {
  std::pair<StringRef, int64_t> sizes[] = {
      {"the batch", given.batch},
      {"heads of query", given.headsQ},
      {"heads of key", given.headsKV},
      {"the length of query", given.seqQ},
      {"the length of key", given.seqK},
      {"the head dimension", given.headDimQK},
      {"the head dimension of value", given.headDimV}};
  for (auto [name, size] : sizes)
    if (size < 1 && !ShapedType::isDynamic(size))
      return emitError() << "expects " << name
                         << " to be at least 1 or dynamic, but got " << size;
  if (ShapedType::isDynamic(given.headDimQK) ||
      ShapedType::isDynamic(given.headDimV))
    return emitError() << "expects static head dimensions, but got a dynamic "
                          "one";
  if (!AttentionOp::isValidOrder(unwrap(given.order)))
    return emitError() << "expects the order to be a permutation of the "
                          "letters b, h, s and d, but got '"
                       << unwrap(given.order) << "'";
  if (given.element != AttuneDataTypeF16 && given.element != AttuneDataTypeBF16)
    return emitError() << "expects elements of f16 or bf16, but got the data "
                          "type "
                       << static_cast<int>(given.element);
  return success();
}

MlirModule attuneAttentionCreateModule(MlirContext context,
                                       const AttuneAttentionProblem *problem) {
  const AttuneAttentionProblem &given = *problem;
  MLIRContext *ctx = unwrap(context);
  if (failed(check(given, [&] { return emitError(UnknownLoc::get(ctx)); })) ||
      failed(prepare(ctx, given.alignment)))
    return {nullptr};
  AttentionProblem made{};
  made.batch = given.batch;
  made.headsQ = given.headsQ;
  made.headsKV = given.headsKV;
  made.seqQ = given.seqQ;
  made.seqK = given.seqK;
  made.headDimQK = given.headDimQK;
  made.headDimV = given.headDimV;
  made.element =
      given.element == AttuneDataTypeF16 ? Element::F16 : Element::BF16;
  made.order = unwrap(given.order).str();
  if (given.isCausal)
    made.causal = static_cast<Alignment>(given.alignment);
  if (given.hasWindow)
    made.window = {given.windowLeft, given.windowRight};
  made.windowAlignment = static_cast<Alignment>(given.alignment);
  if (given.hasSoftcap)
    made.softcap = given.softcap;
  if (given.hasScale)
    made.scale = given.scale;
  if (given.hasDropout)
    made.dropout = given.dropout;
  made.alibi = given.hasAlibi;
  made.sinks = given.hasSinks;
  made.lse = given.hasLse;
  made.strided = given.isStrided;
  return wrap(buildModule(made, ctx).release());
}
