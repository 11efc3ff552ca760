// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which schedules a problem admits on a chip. The one place that knows: the
// check pass, the default and the search all ask here.

#ifndef ATTUNE_SCHEDULE_LEGALITY_H
#define ATTUNE_SCHEDULE_LEGALITY_H

#include "attune/Dialect/Tile/IR/Tile.h"
#include "attune/Schedule/Schedule.h"
#include <functional>
#include <optional>
#include <string>

namespace attune {

/// The part of an attention op that decides what is legal. Lengths, batch and
/// heads do not: every kernel takes any of them.
struct ScheduleProblem {
  mlir::Type elementType;
  /// ShapedType::kDynamic where not known.
  int64_t headDimQK, headDimV;
  /// The largest known divisor of the distances between the rows of query, key
  /// and value, in elements; 0 where the elements of a row are not neighbours.
  int64_t rowDivisor;
  /// Whether query tiles may see different keys.
  bool isMasked = false;
  /// As rowDivisor, of the output.
  int64_t outputDivisor = 0;

  static ScheduleProblem get(attn::AttentionOp op);
};

/// Why a schedule is refused. `id` is stable and names the rule; `getMessage`
/// says what was expected and what came, with units. The search is refused
/// often and wants few of the messages.
struct Refusal {
  llvm::StringRef id;
  std::function<std::string()> getMessage;
};

/// Sizes that tiles have along the head dimensions, for whole matrix
/// instructions.
struct PaddedHeadDims {
  int64_t qk, v;
};
PaddedHeadDims getPaddedHeadDims(const ScheduleProblem &problem,
                                 tile::MmaAtomAttr atom);

/// The matrix instruction of a schedule; null if the chip has none.
tile::MmaAtomAttr findAtom(const ScheduleProblem &problem,
                           const Schedule &schedule, tile::TargetAttr target);

/// Threads of a workgroup.
int64_t getThreads(const Schedule &schedule, tile::TargetAttr target);

/// Registers of a lane where producers have warps of their own. They can be
/// dealt anew where these are as many as multiply together; nothing otherwise.
struct RoleRegisters {
  int64_t producer, consumer;
};
std::optional<RoleRegisters> getRoleRegisters(const Schedule &schedule,
                                              tile::TargetAttr target);

/// Bytes of shared memory that a workgroup uses.
int64_t getSharedBytes(const ScheduleProblem &problem, const Schedule &schedule,
                       tile::TargetAttr target);

/// Registers of each lane when the kernel starts, before roles exchange them,
/// in words of 32 bits.
int64_t getRegistersAtEntry(const Schedule &schedule, tile::TargetAttr target);

/// Most registers that a lane that computes can have with the wanted number of
/// workgroups on a core, in words of 32 bits.
int64_t getRegisterLimit(const Schedule &schedule, tile::TargetAttr target);

/// The registers of a lane that the accumulators alone take, in words of 32
/// bits.
int64_t getAccumulatorRegisters(const ScheduleProblem &problem,
                                const Schedule &schedule,
                                tile::TargetAttr target);

/// An estimate of the registers of a lane, in words of 32 bits: more than the
/// chip has where the kernel will spill.
int64_t estimateRegisters(const ScheduleProblem &problem,
                          const Schedule &schedule, tile::TargetAttr target);

/// The first rule that the schedule breaks; nothing if it is legal. Exact: what
/// is legal compiles and runs, though it may be slow. The answer depends on the
/// knobs that were read and on no others, by which the search skips schedules.
/// It skips the more, the fewer knobs a rule reads and the earlier it stands.
std::optional<Refusal> checkSchedule(const ScheduleProblem &problem,
                                     const Schedule &schedule,
                                     tile::TargetAttr target);

/// A legal schedule that is a reasonable start: the first of a short list of
/// shapes that is estimated to fit the registers, or the one closest to that.
/// Nothing if no schedule is legal.
std::optional<attn::ScheduleAttr> selectSchedule(const ScheduleProblem &problem,
                                                 tile::TargetAttr target);

} // namespace attune

#endif // ATTUNE_SCHEDULE_LEGALITY_H
