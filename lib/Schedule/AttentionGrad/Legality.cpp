// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rules of legality. A new rule needs a test on both sides of its limit.

#include "attune/Schedule/AttentionGrad/Legality.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace attune;
using tile::MmaAtomAttr;
using tile::TargetAttr;

AttentionGradProblem AttentionGradProblem::get(attn::AttentionGradOp op) {
  return {op.getElementType(), op.getHeadDimQK(), op.getHeadDimV(),
          getRowDivisor(
              {op.getQuery(), op.getKey(), op.getValue(), op.getOutputGrad()},
              op.getHeadDimPos())};
}

template <typename... Parts>
static Refusal refuse(StringRef id, const char *format, Parts... parts) {
  return Refusal{id, [=] { return llvm::formatv(format, parts...).str(); }};
}

/// How the knobs of a kernel begin.
static StringRef getPrefix(const GradientKernel &kernel) {
  return kernel.owns == MaskDim::Key ? "kv" : "q";
}
/// The knob of the rows that it owns, and of those that it visits.
static StringRef getOwnedKnob(const GradientKernel &kernel) {
  return kernel.owns == MaskDim::Key ? "kv-block-n" : "q-block-m";
}
static StringRef getVisitedKnob(const GradientKernel &kernel) {
  return kernel.owns == MaskDim::Key ? "kv-block-m" : "q-block-n";
}

/// The rules of MMAs by several warps, and of what comes with them.
static std::optional<Refusal> checkRoles(const AttentionGradProblem &problem,
                                         const AttentionGradKnobs &schedule,
                                         const GradientKernel &kernel,
                                         TargetAttr target) {
  int64_t together = schedule.getMmaWarps();
  if (together == 1) {
    if (schedule.getProducerWarps())
      return refuse("one-warp-mma",
                    "expects producer-warps to be 0 where mma-warps is 1, but "
                    "got {0}",
                    schedule.getProducerWarps());
    return std::nullopt;
  }
  if (kernel.warps % together != 0)
    return refuse("warps-per-mma",
                  "expects {0}-warps to be a multiple of {1}, the warps of an "
                  "MMA, but got {2}",
                  getPrefix(kernel), together, kernel.warps);
  if (problem.rowDivisor == 0)
    return refuse("row-not-contiguous",
                  "expects the elements of a row to be neighbours for an "
                  "MMA by {0} warps",
                  together);
  int64_t rowBytes =
      problem.rowDivisor * problem.elementType.getIntOrFloatBitWidth() / 8;
  if (rowBytes % target.getTmaBoxAlignment() != 0)
    return refuse("row-alignment",
                  "expects rows of query, key, value and output_grad to start "
                  "at multiples of {0} bytes for an MMA by {1} warps, but got "
                  "{2}",
                  target.getTmaBoxAlignment(), together, rowBytes);
  if (kernel.inRegisters)
    return refuse("rows-in-registers",
                  "expects {0}-in-registers to be 0 where mma-warps is {1}, "
                  "but got 1",
                  getPrefix(kernel), together);
  return std::nullopt;
}

/// The rules of blocks: whole matrix instructions for each warp.
static std::optional<Refusal> checkBlocks(const GradientKernel &kernel,
                                          MmaAtomAttr atom) {
  int64_t groups = kernel.warps / atom.getWarps();
  int64_t rows = groups * atom.getM();
  if (kernel.owned % rows != 0)
    return refuse("rows-per-warp",
                  "expects {0} to be a multiple of {1} rows ({2} {5} of {3}), "
                  "but got {4}",
                  getOwnedKnob(kernel), rows, groups, atom.getM(), kernel.owned,
                  atom.getWarps() == 1 ? "warps" : "warpgroups");
  for (auto [what, multiple] :
       {std::pair<StringRef, int64_t>{"columns", atom.getN()},
        {"depth", atom.getK()}})
    if (kernel.visited % multiple != 0)
      return refuse("visited-rows",
                    "expects {0} to be a multiple of {1} ({2} of '{3}'), but "
                    "got {4}",
                    getVisitedKnob(kernel), multiple, what, atom.getName(),
                    kernel.visited);
  return std::nullopt;
}

/// The rules of what an SM has.
static std::optional<Refusal> checkMemory(const AttentionGradProblem &problem,
                                          const AttentionGradKnobs &schedule,
                                          const GradientKernel &kernel,
                                          TargetAttr target) {
  int64_t threads = getBudget(schedule, kernel).getThreads(target);
  if (threads > target.getMaxThreads())
    return refuse(
        "threads-overflow",
        "expects at most {0} threads in a workgroup on '{1}', but got {2}",
        target.getMaxThreads(), target.getChip(), threads);
  int64_t workgroups = kernel.workgroupsPerSm;
  if (workgroups * threads > target.getMaxThreadsPerSm())
    return refuse("threads-per-sm",
                  "expects at most {0} threads on an SM of '{1}', but got {2} "
                  "({3} workgroups of {4})",
                  target.getMaxThreadsPerSm(), target.getChip(),
                  workgroups * threads, workgroups, threads);
  int64_t shared = getSharedBytes(problem, schedule, kernel, target);
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

/// The rules of registers, as those of attention.
static std::optional<Refusal>
checkRegisters(const AttentionGradProblem &problem,
               const AttentionGradKnobs &schedule, const GradientKernel &kernel,
               TargetAttr target, MmaAtomAttr atom) {
  WarpBudget budget = getBudget(schedule, kernel);
  int64_t limit = budget.getRegisterLimit(target);
  int64_t registers =
      getAccumulatorRegisters(problem, schedule, kernel, target);
  if (registers > limit)
    return refuse("register-overflow",
                  "expects accumulators of at most {0} registers a thread on "
                  "'{1}', but got {2}",
                  limit, target.getChip(), registers);
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
  auto [dQK, dV] = getPaddedHeadDims(problem, atom);
  int64_t atEntry = budget.getRegistersAtEntry(target);
  int64_t widest = std::min(warpgroups.getMostColumns(),
                            std::max({kernel.visited, dQK, dV}));
  int64_t needed =
      atom.getM() * widest / (atom.getWarps() * target.getLanes()) +
      warpgroups.getBesideMultiply();
  if (needed > atEntry)
    return refuse("registers-at-entry",
                  "expects an MMA of at most {0} registers a thread, what "
                  "{1} threads start with on '{2}', but got {3}",
                  atEntry, kernel.workgroupsPerSm * budget.getThreads(target),
                  target.getChip(), needed);
  return std::nullopt;
}

std::optional<Refusal> attune::checkLegal(const AttentionGradProblem &problem,
                                          const AttentionGradKnobs &schedule,
                                          TargetAttr target) {
  MmaAtomAttr atom = findAtom(problem, schedule, target);
  if (!atom)
    return refuse("no-matrix-instruction",
                  "expects an element type that '{0}' has a matrix instruction "
                  "of {1} warps for, but got {2}",
                  target.getChip(), schedule.getMmaWarps(),
                  problem.elementType);
  for (MaskDim owns : {MaskDim::Key, MaskDim::Query}) {
    GradientKernel kernel = GradientKernel::get(schedule, owns);
    if (std::optional<Refusal> refusal =
            checkRoles(problem, schedule, kernel, target))
      return refusal;
    if (std::optional<Refusal> refusal = checkBlocks(kernel, atom))
      return refusal;
    if (std::optional<Refusal> refusal =
            checkMemory(problem, schedule, kernel, target))
      return refusal;
    if (std::optional<Refusal> refusal =
            checkRegisters(problem, schedule, kernel, target, atom))
      return refusal;
  }
  return std::nullopt;
}

std::optional<Refusal>
attune::checkWorthTrying(const AttentionGradKnobs &schedule) {
  if (schedule.getMmaWarps() > 1 && !schedule.getProducerWarps())
    return refuse("no-producer",
                  "expects producer-warps where mma-warps is {0}, for nothing "
                  "was gained without",
                  schedule.getMmaWarps());
  return std::nullopt;
}
