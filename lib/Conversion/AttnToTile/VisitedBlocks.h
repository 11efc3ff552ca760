// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which blocks of keys a tile of queries visits, or the other way round: the
// source that the loop of a kernel takes them from. The rest of the kernel
// knows no other.

#ifndef ATTUNE_LIB_CONVERSION_ATTNTOTILE_VISITEDBLOCKS_H
#define ATTUNE_LIB_CONVERSION_ATTNTOTILE_VISITEDBLOCKS_H

#include "KernelBody.h"
#include "attune/Dialect/Attn/Analysis/MaskRanges.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include <memory>

namespace attune {

/// A tile of queries, or of keys, of one head, whose numbers are index values.
struct OwnedRows {
  MaskDim dim;
  mlir::Value batch, head;
  /// Both included.
  mlir::Value first, last;
  /// How many keys there are, or queries for a tile of keys.
  mlir::Value visitedLength;
};

/// The steps of a tile, each of which visits a block of keys, or of queries for
/// a tile of keys, in order of their numbers but where they are reversed.
class VisitedBlocks {
public:
  virtual ~VisitedBlocks() = default;

  /// Emits the first position of a step, which may be one beyond the last: what
  /// is read for it is in bounds all the same.
  mlir::Value getFirst(mlir::ImplicitLocOpBuilder &b, mlir::Value step);

  /// Emits the scores of a step, of which all that do not need it are as they
  /// are. `mask` emits them without what is hidden: what lies beyond the last
  /// position, and where it asks the region what that hides.
  mlir::Value
  maskStep(mlir::ImplicitLocOpBuilder &b, mlir::Value step, mlir::Value scores,
           llvm::function_ref<mlir::Value(bool asksRegion)> mask) const;

  /// Leaves of the steps part `number` of `count`, in order and of one length
  /// but for one step; none where there are fewer steps than parts.
  void takePart(mlir::ImplicitLocOpBuilder &b, mlir::Value number,
                int64_t count);
  /// Leaves those from number `first` on and before number `after`.
  void take(mlir::ImplicitLocOpBuilder &b, mlir::Value first,
            mlir::Value after);
  /// Lets the last step be the first one. None may be asked for that is not
  /// there.
  void reverse(mlir::ImplicitLocOpBuilder &b);

  /// Steps [begin, end) are there.
  mlir::Value begin, end;
  /// Of these, [fullBegin, fullEnd) do not ask the mask. A null fullBegin says
  /// that none is known to be such, unless `allFull`.
  mlir::Value fullBegin, fullEnd;
  bool allFull = false;
  /// No step has positions beyond the last one.
  bool wholeBlocks = false;
  /// Those that do not ask the mask may have such positions.
  bool fullReachBeyond = false;

protected:
  /// The same for a step of those that are in order.
  virtual mlir::Value locate(mlir::ImplicitLocOpBuilder &b,
                             mlir::Value step) = 0;

private:
  void setSteps(mlir::Value first, mlir::Value after);

  /// The numbers of the first and the last step together, where these are
  /// reversed.
  mlir::Value ends;
};

/// Emits what is known of all steps of `blockSize` positions: from lists, which
/// then are those of tiles as these rows, or without them from the op's mask.
std::unique_ptr<VisitedBlocks> makeVisitedBlocks(mlir::ImplicitLocOpBuilder &b,
                                                 attn::AttentionOpInterface op,
                                                 const KernelInputs &inputs,
                                                 int64_t blockSize,
                                                 const OwnedRows &rows);

} // namespace attune

#endif // ATTUNE_LIB_CONVERSION_ATTNTOTILE_VISITEDBLOCKS_H
