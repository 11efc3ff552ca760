// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Equal shares of the steps of all batches, whatever their lengths: what is
// known as stream-K of matrix products (Osama et al., 2023).

#ifndef ATTUNE_LIB_CONVERSION_ATTNTOTILE_STEPSHARE_H
#define ATTUNE_LIB_CONVERSION_ATTNTOTILE_STEPSHARE_H

#include "KernelBody.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace attune {

/// The steps of all tiles of all batches in a row, of which sharers have an
/// equal number each, one after the other, but for the last ones: they have
/// less or none. Where the longest tile is little longer than a fair share,
/// that is the number. A tile stands for `sizes.members` of a batch's, of as
/// many workgroups that go side by side: what they read lies together, or is
/// the same. It counts as some steps more than it has, for what it costs
/// besides. Results of a part of a tile have a slot of their own: that of the
/// batch's number plus the sharer's, which no other part of the head has, for
/// from one part to the next either grows and none falls.
struct StepShare {
  /// Emits the share of one of `sizes.sharers`. `inputs` has what says how many
  /// steps there are: keys, pages, lengths and what the mask captures.
  StepShare(mlir::ImplicitLocOpBuilder &b, attn::AttentionOp op,
            const KernelInputs &inputs, const KernelSizes &sizes,
            mlir::Value batches, mlir::Value sharer);

  /// Index values: the tiles [firstTile, afterTile), of the first one the steps
  /// from number `firstStep` on, and of the last one those before `afterStep`.
  /// Each tile's first part is in one share, also that of one without steps.
  mlir::Value firstTile, afterTile, firstStep, afterStep;
  /// What afterStep is where all steps are before it.
  static constexpr int64_t kAll = std::numeric_limits<int32_t>::max();
  /// Steps of a share, and of what its tiles cost besides.
  mlir::Value length;
};

/// How many of a batch's tiles go side by side where so many workgroups run at
/// once: all that can, so that none is left over.
inline int64_t countMembers(int64_t tiles, int64_t workgroups) {
  int64_t members = std::min(tiles, workgroups);
  while (tiles % members != 0)
    --members;
  return members;
}

} // namespace attune

#endif // ATTUNE_LIB_CONVERSION_ATTNTOTILE_STEPSHARE_H
