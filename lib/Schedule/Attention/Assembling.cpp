// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Assembling.h"

using namespace mlir;
using namespace attune;
using namespace attune::schedule;

/// Of queries and keys of 16 bits. On an H200 `plain` is 3 to 6 percent faster
/// than `thorough` for 64 columns without a mask, and 2 to 12 where lengths are
/// known at run time; 1 percent for 256 columns and, under a mask, for 128 of
/// known lengths. `sparing` is 1 to 4 for 128 of unknown lengths without a mask
/// (docs/measurements/Forward.md).
static Assembler choose(const AttentionProblem &problem) {
  constexpr int64_t kSmall = 64, kMedium = 128, kLarge = 256;
  bool isUnknown = problem.hasDynamicLength, isMasked = problem.isMasked;
  if (problem.headDimV == kSmall)
    return isMasked && !isUnknown ? Assembler::Thorough : Assembler::Plain;
  if (problem.headDimV == kMedium && isUnknown)
    return isMasked ? Assembler::Thorough : Assembler::Sparing;
  if (problem.headDimV == kMedium)
    return isMasked ? Assembler::Plain : Assembler::Thorough;
  return problem.headDimV == kLarge ? Assembler::Plain : Assembler::Thorough;
}

/// Of those of 8 bits. `sparing` is 3 to 7 percent faster for rows of 256
/// columns of unknown lengths, from 4096 keys on, up to 3 under a mask of known
/// ones, and 1 percent for others without a mask, but 8 where `thorough` spills
/// (docs/measurements/EightBits.md).
static Assembler chooseOfBytes(const AttentionProblem &problem) {
  constexpr int64_t kLarge = 256, kLong = 4096;
  bool isUnknown = problem.hasDynamicLength, isMasked = problem.isMasked;
  bool isFaster = !isUnknown && !isMasked;
  if (problem.headDimV == kLarge)
    isFaster = isUnknown ? problem.seqK >= kLong : isMasked;
  return isFaster ? Assembler::Sparing : Assembler::Thorough;
}

AttentionAttr attune::chooseAssembler(const AttentionProblem &problem,
                                      AttentionAttr schedule) {
  // Of others it was not timed.
  constexpr int64_t kManyRows = 128;
  if (!schedule || schedule.getMmaWarps() == 1 ||
      schedule.getProducerWarps() == 0 || schedule.getBlockM() < kManyRows ||
      problem.headDimQK != problem.headDimV || problem.hasScore ||
      problem.hasWindow || problem.pageSize > 0 || problem.storedKeyType ||
      problem.listedKeys > 0)
    return schedule;
  SmallVector<int64_t> values(schedule.getValues());
  bool isOfBytes = problem.elementType.getIntOrFloatBitWidth() == 8;
  values[AttentionAttr::assembler] = static_cast<int64_t>(
      isOfBytes ? chooseOfBytes(problem) : choose(problem));
  return AttentionAttr::get(schedule.getContext(), values);
}
