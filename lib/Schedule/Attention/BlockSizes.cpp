// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "BlockSizes.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attune;

/// What a query is taken to see where that is not known.
static constexpr int64_t kLikelyKeys = 2048;

/// Keys of the blocks that a tile visits in the mean; 0 without a mask where
/// lengths are not known.
static int64_t getVisitedKeys(const AttentionProblem &problem, int64_t blockM,
                              int64_t blockN) {
  if (!problem.isMasked)
    return llvm::alignTo(problem.seqK, blockN);
  // Half a tile beyond what its queries see, and half a block where tiles do
  // not end with one.
  int64_t seen = problem.meanKeys ? problem.meanKeys : kLikelyKeys;
  // Ends that are computed leave no registers for blocks that pay with more.
  if (problem.hasDynamicLength)
    seen = std::min(seen, kLikelyKeys);
  return seen + blockM / 2 + (blockM % blockN == 0 ? 0 : blockN / 2);
}

int64_t attune::trimBlock(const AttentionProblem &problem, int64_t blockM,
                          int64_t blockN) {
  // What MMAs of warpgroups have as depth.
  constexpr unsigned kDepthBits = 256;
  auto step = static_cast<int64_t>(
      kDepthBits / std::min(problem.elementType.getIntOrFloatBitWidth(),
                            problem.getWeightType().getIntOrFloatBitWidth()));
  for (int64_t smaller = blockN - step; smaller >= 64; smaller -= step) {
    double wide = getVisitedKeys(problem, blockM, blockN),
           narrow = getVisitedKeys(problem, blockM, smaller);
    if (narrow * (1 + kSmallerBlockPercent / 100) >= wide)
      break;
    blockN = smaller;
  }
  return blockN;
}

bool attune::hasWholeBlocks(const AttentionProblem &problem, int64_t blockN) {
  return !problem.hasDynamicLength && problem.seqK % blockN == 0;
}

bool attune::endsWithBlock(const AttentionProblem &problem, int64_t blockN) {
  constexpr int64_t kMostPercent = 5;
  auto visited = static_cast<int64_t>(llvm::alignTo(problem.seqK, blockN));
  return visited * 100 <= problem.seqK * (100 + kMostPercent);
}
