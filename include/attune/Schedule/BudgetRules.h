// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rules of legality that hold for the kernels of any op: what an SM has for
// their threads, memory and registers.

#ifndef ATTUNE_SCHEDULE_BUDGETRULES_H
#define ATTUNE_SCHEDULE_BUDGETRULES_H

#include "attune/Schedule/TunableOpInterface.h"
#include "attune/Schedule/WarpBudget.h"
#include "llvm/Support/FormatVariadic.h"

namespace attune {

/// A refusal whose message is made of `parts`, by formatv, when it is wanted.
template <typename... Parts>
Refusal refuse(llvm::StringRef id, const char *format, Parts... parts) {
  return Refusal{id, [=] { return llvm::formatv(format, parts...).str(); }};
}

/// Bytes of so many elements, by which the distances between rows can be
/// divided; as many as no memory has where they are more than that.
uint64_t getRowBytes(mlir::Type elementType, int64_t elements);

/// The value of `knob`, the `rows` of a block that `groups` warps or warpgroups
/// share, is made of whole instructions of each.
std::optional<Refusal> checkRowsPerWarp(llvm::StringRef knob, int64_t rows,
                                        int64_t groups, tile::MmaAtomAttr atom);

/// The threads of a workgroup, and of all that share an SM, and the bytes of
/// shared memory of each, which are asked for last.
std::optional<Refusal> checkSharing(const WarpBudget &budget,
                                    llvm::function_ref<int64_t()> sharedBytes,
                                    tile::TargetAttr target);

/// The registers of a thread. Roles exchange them while a kernel runs, but the
/// assembler wants each MMA to fit those that all threads start with: its
/// accumulators, which are those of the widest instruction, and some more for
/// its operands and what lives across it. `accumulators` are all registers of
/// accumulators, `columns` those of the widest result, which are asked for
/// last.
std::optional<Refusal> checkRegisters(const WarpBudget &budget,
                                      int64_t accumulators,
                                      llvm::function_ref<int64_t()> columns,
                                      tile::MmaAtomAttr atom,
                                      tile::TargetAttr target);

} // namespace attune

#endif // ATTUNE_SCHEDULE_BUDGETRULES_H
