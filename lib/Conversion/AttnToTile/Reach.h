// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How far tiles of scores reach beyond the ends of sequences.

#ifndef ATTUNE_LIB_CONVERSION_ATTNTOTILE_REACH_H
#define ATTUNE_LIB_CONVERSION_ATTNTOTILE_REACH_H

#include "OnlineSoftmax.h"

namespace attune {

/// Positions of a tile along one of its dimensions, `count` from `first` on,
/// of which those from `length` on do not exist.
struct Reach {
  mlir::Value first;
  int64_t count;
  mlir::Value length;
  unsigned dim;
};

/// Whether blocks are known to end where a sequence does.
bool endsWithBlock(mlir::Value length, int64_t block);

/// Scores, those of positions that do not exist as -inf. Tiles that reach
/// nowhere beyond are not looked at.
mlir::Value hideBeyond(TileBuilder &builder, mlir::Value scores,
                       llvm::ArrayRef<Reach> reaches);

} // namespace attune

#endif // ATTUNE_LIB_CONVERSION_ATTNTOTILE_REACH_H
