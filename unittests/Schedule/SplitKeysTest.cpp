// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where parts of the keys are worth trying.

#include "attune/Schedule/Attention/Legality.h"
#include "attune/Target/TargetRegistry.h"
#include "mlir/IR/Diagnostics.h"
#include "gtest/gtest.h"
#include <map>

using namespace mlir;
using namespace attune;
using schedule::AttentionAttr;
using schedule::Persistent;

namespace {
class SplitKeysTest : public testing::Test {
protected:
  SplitKeysTest() {
    context.loadDialect<attn::AttnDialect, tile::TileDialect>();
    problem = {Float16Type::get(&context), 16, 16, /*rowDivisor=*/16};
    problem.seqQ = 1;
    problem.seqK = 512;
    problem.heads = 8;
    wanted.blockM = 64;
    wanted.blockN = 32;
    wanted.numWarps = wanted.mmaWarps = 4;
    wanted.producerWarps = 1;
    wanted.qInRegisters = 0;
  }

  /// The rule that makes so many parts not worth trying.
  std::string skip(int64_t parts) {
    wanted.splitK = parts;
    auto target = getTarget(&context, "sm_90a", [&] {
      return emitError(UnknownLoc::get(&context));
    });
    reads.clear();
    AttentionKnobs noting(
        [&, values = wanted.getAttr(&context).getValues()](size_t place) {
          reads[place] = true;
          return values[place];
        });
    std::optional<Refusal> reason = checkWorthTrying(problem, noting, *target);
    return reason ? reason->id.str() : "worth trying";
  }

  MLIRContext context;
  AttentionProblem problem;
  AttentionSchedule wanted;
  /// Places of the tunables that rules have read.
  std::map<size_t, bool> reads;
};
} // namespace

TEST_F(SplitKeysTest, PartsOfTilesThatAreFew) {
  EXPECT_EQ(problem.countTiles(wanted.getAttr(&context)), 8);
  EXPECT_EQ(skip(4), "worth trying");
  // Sixteen blocks of 32 keys.
  EXPECT_EQ(skip(5), "split-of-few-blocks");
  problem.seqK = 1 << 20;
  problem.heads = 131;
  EXPECT_EQ(skip(4), "worth trying");
  EXPECT_EQ(skip(5), "split-of-many-tiles");
  // An unknown number of them.
  problem.heads = 0;
  EXPECT_EQ(skip(2), "split-of-many-tiles");
}

TEST_F(SplitKeysTest, TilesThatAreTooManyInAnyCaseAreRefusedByFewTunables) {
  problem.seqK = 1 << 20;
  wanted.blockM = 16;
  wanted.numWarps = wanted.mmaWarps = 1;
  wanted.producerWarps = 0;
  // Eight workgroups of one warp for each of 132 SMs.
  problem.heads = 8 * 132;
  EXPECT_EQ(skip(2), "split-of-many-tiles");
  EXPECT_FALSE(reads[AttentionAttr::kStages]);
  problem.heads = 132;
  EXPECT_EQ(skip(2), "worth trying");
  EXPECT_TRUE(reads[AttentionAttr::kStages]);
}

TEST_F(SplitKeysTest, PartsOfLengthsThatAreUnlikeAreHandedOut) {
  problem.seqK = 1 << 20;
  problem.heads = 1024;
  wanted.persistent = Persistent::Dynamic;
  EXPECT_EQ(skip(5), "split-of-many-tiles");
  problem.hasKeyLengths = true;
  EXPECT_EQ(skip(5), "worth trying");
  wanted.persistent = Persistent::Static;
  EXPECT_EQ(skip(5), "split-of-many-tiles");
}
