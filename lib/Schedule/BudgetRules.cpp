// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A new rule needs a test on both sides of its limit.

#include "attune/Schedule/BudgetRules.h"
#include "llvm/Support/MathExtras.h"

using namespace attune;
using tile::MmaAtomAttr;
using tile::TargetAttr;

uint64_t attune::getRowBytes(mlir::Type elementType, int64_t elements) {
  constexpr uint64_t kByteBits = 8;
  return llvm::SaturatingMultiply<uint64_t>(
             elements, elementType.getIntOrFloatBitWidth()) /
         kByteBits;
}

std::optional<Refusal> attune::checkRowsPerWarp(llvm::StringRef knob,
                                                int64_t rows, int64_t groups,
                                                MmaAtomAttr atom) {
  int64_t multiple = groups * atom.getM();
  if (rows % multiple == 0)
    return std::nullopt;
  return refuse("rows-per-warp",
                "expects {0} to be a multiple of {1} rows ({2} {3} of {4}), "
                "but got {5}",
                knob, multiple, groups,
                atom.getWarps() == 1 ? "warps" : "warpgroups", atom.getM(),
                rows);
}

std::optional<Refusal>
attune::checkSharing(const WarpBudget &budget,
                     llvm::function_ref<int64_t()> sharedBytes,
                     TargetAttr target) {
  int64_t threads = budget.getThreads(target);
  if (threads > target.getMaxThreads())
    return refuse(
        "threads-overflow",
        "expects at most {0} threads in a workgroup on '{1}', but got {2}",
        target.getMaxThreads(), target.getChip(), threads);
  int64_t workgroups = budget.workgroups;
  if (workgroups * threads > target.getMaxThreadsPerSm())
    return refuse("threads-per-sm",
                  "expects at most {0} threads on an SM of '{1}', but got {2} "
                  "({3} workgroups of {4})",
                  target.getMaxThreadsPerSm(), target.getChip(),
                  workgroups * threads, workgroups, threads);
  int64_t shared = sharedBytes();
  if (shared > target.getShared())
    return refuse(
        "shared-overflow",
        "expects at most {0} bytes of shared memory on '{1}', but got {2}",
        target.getShared(), target.getChip(), shared);
  if (workgroups * shared > target.getSharedPerSm())
    return refuse("shared-per-sm",
                  "expects at most {0} bytes of shared memory on an SM of "
                  "'{1}', but got {2} ({3} workgroups of {4})",
                  target.getSharedPerSm(), target.getChip(),
                  workgroups * shared, workgroups, shared);
  return std::nullopt;
}

std::optional<Refusal>
attune::checkRegisters(const WarpBudget &budget, int64_t accumulators,
                       llvm::function_ref<int64_t()> columns, MmaAtomAttr atom,
                       TargetAttr target) {
  int64_t limit = budget.getRegisterLimit(target);
  if (accumulators > limit)
    return refuse("register-overflow",
                  "expects accumulators of at most {0} registers a thread on "
                  "'{1}', but got {2}",
                  limit, target.getChip(), accumulators);
  if (atom.getWarps() == 1)
    return std::nullopt;
  tile::WarpgroupsAttr warpgroups = target.getWarpgroups();
  if (!warpgroups)
    return refuse("no-warpgroup-limits",
                  "expects '{0}' to say in 'warpgroups' what an MMA by {1} "
                  "warps may take",
                  target.getChip(), atom.getWarps());
  if (limit < warpgroups.getFewestRegisters())
    return refuse("registers-per-thread",
                  "expects at least {0} registers a thread for an MMA by {1} "
                  "warps on '{2}', but got {3}",
                  warpgroups.getFewestRegisters(), atom.getWarps(),
                  target.getChip(), limit);
  int64_t atEntry = budget.getRegistersAtEntry(target);
  int64_t widest = std::min(warpgroups.getMostColumns(), columns());
  int64_t needed =
      atom.getM() * widest / (atom.getWarps() * target.getLanes()) +
      warpgroups.getBesideMultiply();
  if (needed > atEntry)
    return refuse("registers-at-entry",
                  "expects an MMA of at most {0} registers a thread, what "
                  "{1} threads start with on '{2}', but got {3}",
                  atEntry, budget.workgroups * budget.getThreads(target),
                  target.getChip(), needed);
  return std::nullopt;
}
