// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How far tiles of scores reach beyond the ends of sequences, and where the
// copy engine, which does not know these, reads instead.

#ifndef ATTUNE_LIB_CONVERSION_ATTNTOTILE_REACH_H
#define ATTUNE_LIB_CONVERSION_ATTNTOTILE_REACH_H

#include "OnlineSoftmax.h"

namespace attune {

/// Rows that the copy engine reads by boxes, of which the last one ends with
/// the last row: it starts with rows of the one before, or with none.
class LastBox {
public:
  LastBox(mlir::ImplicitLocOpBuilder &b, mlir::Value length, int64_t size);

  /// How far the box that would start at `place` starts before that.
  mlir::Value getBack(mlir::OpBuilder &b, mlir::Location loc,
                      mlir::Value place) const {
    return selectInLast(b, loc, place, moved);
  }
  /// `other` for what is in the last box, else 0.
  mlir::Value selectInLast(mlir::OpBuilder &b, mlir::Location loc,
                           mlir::Value place, mlir::Value other) const;

  /// Where it would start.
  mlir::Value first;

private:
  /// How many rows it would reach beyond the last one.
  mlir::Value moved;
};

/// Positions of a tile along one of its dimensions, `count` from `first` on,
/// of which those from `length` on do not exist, or are not meant before
/// `least`. Either may be null.
struct Reach {
  mlir::Value first;
  int64_t count;
  mlir::Value length;
  unsigned dim;
  mlir::Value least = {};
};

/// Whether blocks are known to end where a sequence does.
bool endsWithBlock(mlir::Value length, int64_t block);

/// Scores, those of positions that do not exist as -inf. Tiles that reach
/// nowhere beyond are not looked at.
mlir::Value hideBeyond(TileBuilder &builder, mlir::Value scores,
                       llvm::ArrayRef<Reach> reaches);

} // namespace attune

#endif // ATTUNE_LIB_CONVERSION_ATTNTOTILE_REACH_H
