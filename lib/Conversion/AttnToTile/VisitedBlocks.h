// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which blocks of keys a tile of queries visits: the source that the loop of a
// kernel takes them from. The rest of the kernel knows no other.

#ifndef ATTUNE_LIB_CONVERSION_ATTNTOTILE_KEYBLOCKS_H
#define ATTUNE_LIB_CONVERSION_ATTNTOTILE_KEYBLOCKS_H

#include "KernelBody.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include <memory>

namespace attune {

/// A tile of queries of one head, whose numbers are index values.
struct QueryRows {
  mlir::Value batch, head;
  /// Both included.
  mlir::Value first, last;
  /// The number of keys.
  mlir::Value seqK;
};

/// The steps of a tile, each of which visits `blockN` keys, in order of their
/// numbers.
class KeyBlocks {
public:
  virtual ~KeyBlocks() = default;

  /// Emits the first key of a step, which may be one beyond the last: what is
  /// read for it is in bounds all the same.
  virtual mlir::Value getFirstKey(mlir::ImplicitLocOpBuilder &b,
                                  mlir::Value step) = 0;

  /// Steps [begin, end) are there.
  mlir::Value begin, end;
  /// Of these, [fullBegin, fullEnd) do not ask the mask. A null fullBegin says
  /// that none is known to be such, unless `allFull`.
  mlir::Value fullBegin, fullEnd;
  bool allFull = false;
  /// No step has keys beyond the last one.
  bool wholeBlocks = false;
  /// Those that do not ask the mask may have such keys.
  bool fullReachBeyond = false;
};

/// Emits what is known of all steps: from lists, or without them from the op's
/// mask.
std::unique_ptr<KeyBlocks> makeKeyBlocks(mlir::ImplicitLocOpBuilder &b,
                                         attn::AttentionOp op,
                                         const KernelOperands &operands,
                                         const KernelSizes &sizes,
                                         const QueryRows &rows);

} // namespace attune

#endif // ATTUNE_LIB_CONVERSION_ATTNTOTILE_KEYBLOCKS_H
