// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Types of the tile dialect and its attribute of a chip
// (docs/generated/TileDialect.md). A function that makes a type returns null
// where the values contradict the dialect, and emits a diagnostic that says
// why.

#ifndef ATTUNE_C_TILE_H
#define ATTUNE_C_TILE_H

#include "mlir-c/IR.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum AttuneMemorySpace {
  AttuneMemorySpaceRegisters = 0,
  AttuneMemorySpaceShared = 1
} AttuneMemorySpace;

/// !tile.tile. `layout` may be null.
MLIR_CAPI_EXPORTED bool attuneTypeIsATile(MlirType type);
MLIR_CAPI_EXPORTED MlirType attuneTileTypeGet(intptr_t rank,
                                              const int64_t *shape,
                                              MlirType elementType,
                                              AttuneMemorySpace space,
                                              MlirAttribute layout);
MLIR_CAPI_EXPORTED intptr_t attuneTileTypeGetRank(MlirType tile);
MLIR_CAPI_EXPORTED int64_t attuneTileTypeGetDimSize(MlirType tile,
                                                    intptr_t dim);
MLIR_CAPI_EXPORTED MlirType attuneTileTypeGetElementType(MlirType tile);
MLIR_CAPI_EXPORTED AttuneMemorySpace attuneTileTypeGetSpace(MlirType tile);
MLIR_CAPI_EXPORTED MlirAttribute attuneTileTypeGetLayout(MlirType tile);

/// !tile.channel, of tiles of two dimensions. `swizzleAtom` is 0 and `cluster`
/// 1 where there is none.
MLIR_CAPI_EXPORTED bool attuneTypeIsAChannel(MlirType type);
MLIR_CAPI_EXPORTED MlirType attuneChannelTypeGet(const int64_t shape[2],
                                                 MlirType elementType,
                                                 int64_t stages,
                                                 int64_t swizzleAtom,
                                                 int64_t cluster);
MLIR_CAPI_EXPORTED MlirType attuneChannelTypeGetTile(MlirType channel);
MLIR_CAPI_EXPORTED int64_t attuneChannelTypeGetStages(MlirType channel);
MLIR_CAPI_EXPORTED int64_t attuneChannelTypeGetSwizzleAtom(MlirType channel);
MLIR_CAPI_EXPORTED int64_t attuneChannelTypeGetCluster(MlirType channel);

/// !tile.pending
MLIR_CAPI_EXPORTED bool attuneTypeIsAPending(MlirType type);
MLIR_CAPI_EXPORTED MlirType attunePendingTypeGet(MlirType tile);
MLIR_CAPI_EXPORTED MlirType attunePendingTypeGetTile(MlirType pending);

/// !tile.token
MLIR_CAPI_EXPORTED bool attuneTypeIsAToken(MlirType type);
MLIR_CAPI_EXPORTED MlirType attuneTokenTypeGet(MlirContext context);

/// !tile.scheduler
MLIR_CAPI_EXPORTED bool attuneTypeIsAScheduler(MlirType type);
MLIR_CAPI_EXPORTED MlirType attuneSchedulerTypeGet(MlirContext context);

/// #tile.target, the facts about a chip: that of a chip which this library
/// knows, by the name that its vendor's tools use. Null, and a diagnostic with
/// those that there are, where it knows none of the name.
MLIR_CAPI_EXPORTED bool attuneAttributeIsATarget(MlirAttribute attr);
MLIR_CAPI_EXPORTED MlirAttribute attuneTargetAttrGet(MlirContext context,
                                                     MlirStringRef chip);
MLIR_CAPI_EXPORTED MlirStringRef attuneTargetAttrGetChip(MlirAttribute target);

#ifdef __cplusplus
}
#endif

#endif // ATTUNE_C_TILE_H
