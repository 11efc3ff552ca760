// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Types of tile, and chips, from C.

#include "attune-c/Tile.h"
#include "attune/Dialect/Tile/IR/Tile.h"
#include "attune/Target/TargetRegistry.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"

using namespace mlir;
using namespace attune::tile;

static_assert(static_cast<int>(AttuneMemorySpaceRegisters) ==
                      static_cast<int>(MemorySpace::Registers) &&
                  static_cast<int>(AttuneMemorySpaceShared) ==
                      static_cast<int>(MemorySpace::Shared),
              "memory spaces have the same numbers in C");

/// The type, or null and a diagnostic.
template <typename TypeT, typename... Args>
static MlirType getChecked(MLIRContext *context, Args... args) {
  context->loadDialect<TileDialect>();
  return wrap(TypeT::getChecked(
      [&] { return emitError(UnknownLoc::get(context)); }, context, args...));
}

bool attuneTypeIsATile(MlirType type) { return isa<TileType>(unwrap(type)); }

MlirType attuneTileTypeGet(intptr_t rank, const int64_t *shape,
                           MlirType elementType, AttuneMemorySpace space,
                           MlirAttribute layout) {
  Type element = unwrap(elementType);
  MLIRContext *context = element.getContext();
  auto known = symbolizeMemorySpace(static_cast<uint32_t>(space));
  if (!known) {
    emitError(UnknownLoc::get(context))
        << "expects a memory space, but got the number "
        << static_cast<int>(space);
    return {nullptr};
  }
  return getChecked<TileType>(
      context, ArrayRef<int64_t>(shape, static_cast<size_t>(rank)), element,
      *known, unwrap(layout));
}

intptr_t attuneTileTypeGetRank(MlirType tile) {
  return cast<TileType>(unwrap(tile)).getRank();
}

int64_t attuneTileTypeGetDimSize(MlirType tile, intptr_t dim) {
  return cast<TileType>(unwrap(tile)).getShape()[dim];
}

MlirType attuneTileTypeGetElementType(MlirType tile) {
  return wrap(cast<TileType>(unwrap(tile)).getElementType());
}

AttuneMemorySpace attuneTileTypeGetSpace(MlirType tile) {
  return static_cast<AttuneMemorySpace>(
      cast<TileType>(unwrap(tile)).getSpace());
}

MlirAttribute attuneTileTypeGetLayout(MlirType tile) {
  return wrap(cast<TileType>(unwrap(tile)).getLayout());
}

bool attuneTypeIsAChannel(MlirType type) {
  return isa<ChannelType>(unwrap(type));
}

MlirType attuneChannelTypeGet(const int64_t shape[2], MlirType elementType,
                              int64_t stages, int64_t swizzleAtom,
                              int64_t cluster) {
  Type element = unwrap(elementType);
  return getChecked<ChannelType>(
      element.getContext(), ArrayRef<int64_t>(shape, 2), element, stages,
      swizzleAtom, cluster, /*padding=*/int64_t(0),
      /*transposed=*/false, /*paired=*/false, /*chunk=*/int64_t(0));
}

MlirType attuneChannelTypeGetTile(MlirType channel) {
  return wrap(Type(cast<ChannelType>(unwrap(channel)).getTileType()));
}

int64_t attuneChannelTypeGetStages(MlirType channel) {
  return cast<ChannelType>(unwrap(channel)).getStages();
}

int64_t attuneChannelTypeGetSwizzleAtom(MlirType channel) {
  return cast<ChannelType>(unwrap(channel)).getSwizzleAtom();
}

int64_t attuneChannelTypeGetCluster(MlirType channel) {
  return cast<ChannelType>(unwrap(channel)).getCluster();
}

bool attuneTypeIsAPending(MlirType type) {
  return isa<PendingType>(unwrap(type));
}

MlirType attunePendingTypeGet(MlirType tile) {
  auto type = cast<TileType>(unwrap(tile));
  return wrap(Type(PendingType::get(type.getContext(), type)));
}

MlirType attunePendingTypeGetTile(MlirType pending) {
  return wrap(Type(cast<PendingType>(unwrap(pending)).getTile()));
}

bool attuneTypeIsAToken(MlirType type) { return isa<TokenType>(unwrap(type)); }

MlirType attuneTokenTypeGet(MlirContext context) {
  unwrap(context)->loadDialect<TileDialect>();
  return wrap(Type(TokenType::get(unwrap(context))));
}

bool attuneTypeIsAScheduler(MlirType type) {
  return isa<SchedulerType>(unwrap(type));
}

MlirType attuneSchedulerTypeGet(MlirContext context) {
  unwrap(context)->loadDialect<TileDialect>();
  return wrap(Type(SchedulerType::get(unwrap(context))));
}

bool attuneAttributeIsATarget(MlirAttribute attr) {
  return isa<TargetAttr>(unwrap(attr));
}

MlirAttribute attuneTargetAttrGet(MlirContext context, MlirStringRef chip) {
  MLIRContext *ctx = unwrap(context);
  FailureOr<TargetAttr> target = attune::getTarget(
      ctx, unwrap(chip), [&] { return emitError(UnknownLoc::get(ctx)); });
  return wrap(succeeded(target) ? Attribute(*target) : Attribute());
}

MlirStringRef attuneTargetAttrGetChip(MlirAttribute target) {
  return wrap(cast<TargetAttr>(unwrap(target)).getChip());
}
