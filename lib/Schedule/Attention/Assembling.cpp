// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Assembling.h"
#include "Warpgroups.h"

using namespace mlir;
using namespace attune;
using namespace attune::schedule;

/// Of queries and keys of 16 bits. On an H200 `plain` is 1 to 6 percent faster
/// than `thorough` for 64 columns without a mask, and 2 to 12 where lengths are
/// known at run time; 2 to 4 for tiles of 192 queries and 128 columns; 1 for
/// 256 columns without a mask and, under one, for 128 of known lengths.
/// `sparing` is 1 to 7 for 128 of unknown lengths without a mask, and 1 for 256
/// under one (docs/measurements/Forward.md).
static Assembler choose(const AttentionProblem &problem,
                        AttentionAttr schedule) {
  constexpr int64_t kSmall = 64, kMedium = 128, kLarge = 256, kTall = 192;
  bool isUnknown = problem.hasDynamicLength, isMasked = problem.isMasked;
  if (problem.headDimV == kSmall)
    return isMasked && !isUnknown ? Assembler::Thorough : Assembler::Plain;
  if (problem.headDimV == kMedium && isUnknown)
    return isMasked ? Assembler::Thorough : Assembler::Sparing;
  if (problem.headDimV == kMedium)
    return isMasked || schedule.getBlockM() == kTall ? Assembler::Plain
                                                     : Assembler::Thorough;
  if (problem.headDimV == kLarge)
    return isMasked && !isUnknown ? Assembler::Sparing : Assembler::Plain;
  return Assembler::Thorough;
}

/// Of those of 8 bits. `sparing` is 1 to 4 percent faster where lengths are
/// known at run time, and 2 to 6 with 256 columns; of known lengths 1 percent
/// with 256 columns under a mask or of few keys, and with fewer without a mask,
/// but 9 where `thorough` spills (docs/measurements/EightBits.md).
static Assembler chooseOfBytes(const AttentionProblem &problem) {
  constexpr int64_t kLarge = 256;
  bool isFaster = problem.headDimV == kLarge
                      ? problem.isMasked || problem.seqK <= kFewKeys
                      : !problem.isMasked;
  return problem.hasDynamicLength || isFaster ? Assembler::Sparing
                                              : Assembler::Thorough;
}

AttentionAttr attune::chooseAssembler(const AttentionProblem &problem,
                                      AttentionAttr schedule) {
  // Of others it was not timed.
  constexpr int64_t kManyRows = 128;
  if (!schedule || schedule.getMmaWarps() == 1 ||
      schedule.getProducerWarps() == 0 || schedule.getBlockM() < kManyRows ||
      problem.headDimQK != problem.headDimV || problem.hasScore ||
      problem.hasWindow || problem.pageSize > 0 ||
      problem.getKeyType() != problem.elementType || problem.listedKeys > 0)
    return schedule;
  SmallVector<int64_t> values(schedule.getValues());
  bool isOfBytes = problem.elementType.getIntOrFloatBitWidth() == 8;
  values[AttentionAttr::assembler] = static_cast<int64_t>(
      isOfBytes ? chooseOfBytes(problem) : choose(problem, schedule));
  return AttentionAttr::get(schedule.getContext(), values);
}
