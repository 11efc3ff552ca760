// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is read from assembly, what bounds a loop that issues so much, and how
// far from published figures the model is for the loops of others.

#include "AMD/Common/LoopModel.h"
#include "attune/Target/TargetRegistry.h"
#include "mlir/IR/Diagnostics.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace attune;

namespace {
struct LoopModelTest : testing::Test {
  LoopModelTest() { context.loadDialect<tile::TileDialect>(); }

  tile::TargetAttr get(llvm::StringRef chip) {
    return *getTarget(&context, chip,
                      [&] { return emitError(UnknownLoc::get(&context)); });
  }

  MLIRContext context;
};
} // namespace

static std::string repeat(llvm::StringRef line, int64_t count) {
  std::string text;
  for (int64_t i = 0; i < count; ++i)
    text += "\t" + line.str() + "\n";
  return text;
}

TEST_F(LoopModelTest, ReadsTheInnermostLoopThatMultipliesMost) {
  std::string masked = ".LBB0_2:        ; =>This Inner Loop Header\n" +
                       repeat("v_mfma_f32_32x32x8bf16_1k a[0:15], v[0:1], "
                              "v[2:3], a[0:15]",
                              2) +
                       repeat("v_cndmask_b32_e32 v0, v1, v2, vcc", 30) +
                       repeat("s_cbranch_scc1 .LBB0_2", 1);
  std::string plain = ".LBB0_3:\n" +
                      repeat("v_mfma_f32_32x32x8_bf16_1k a[0:15], v[0:1], "
                             "v[2:3], a[0:15]",
                             2) +
                      ";APP\n" + repeat("v_exp_f32_e32 v0, v1", 3) +
                      repeat("v_add_f32_e32 v0, v1, v2", 4) +
                      repeat("ds_read_b128 v[0:3], v4 offset:16", 1) +
                      repeat("ds_write2_b64 v4, v[0:1], v[2:3] offset1:1", 1) +
                      repeat("ds_read_u16 v0, v1", 1) +
                      repeat("buffer_load_dwordx4 v[0:3], v4, s[0:3], 0", 1) +
                      repeat("global_load_dword v0, v[2:3], off", 1) +
                      repeat("scratch_load_dwordx2 v[0:1], off, s32", 1) +
                      repeat("s_waitcnt vmcnt(0) lgkmcnt(0)", 1) +
                      repeat("s_waitcnt vmcnt(1)", 1) +
                      repeat("s_cbranch_vccnz .LBB0_3", 1);
  // Around both, as in a kernel that goes from tile to tile; and one that does
  // not multiply.
  std::string text = ".LBB0_1:\n" + masked + plain +
                     repeat("s_cbranch_scc0 .LBB0_1", 1) + ".LBB0_4:\n" +
                     repeat("v_exp_f32_e32 v0, v1", 99) +
                     repeat("s_cbranch_scc0 .LBB0_4", 1);
  std::optional<amd::Loop> loop = amd::readMainLoop(text, /*lanes=*/64);
  ASSERT_TRUE(loop);
  EXPECT_EQ(loop->matrix, 2);
  EXPECT_EQ(loop->matrixFlops, 2 * 2 * 32 * 32 * 8);
  EXPECT_EQ(loop->vector, 7);
  EXPECT_EQ(loop->transcendental, 3);
  EXPECT_EQ(loop->sharedBytes, 64 * (16 + 16 + 2));
  // What is spilled passes through the cache as well.
  EXPECT_EQ(loop->loadedBytes, 64 * (16 + 4 + 8));
  EXPECT_FALSE(amd::readMainLoop(".LBB0_1:\n s_cbranch_scc0 .LBB0_1\n", 64));
  EXPECT_FALSE(amd::readMainLoop("", 64));
}

TEST_F(LoopModelTest, ReadsWavesOf32) {
  std::string text =
      ".LBB0_1:\n" +
      repeat("v_wmma_f32_16x16x16_f16 v[0:7], v[8:15], v[16:23], v[0:7]", 1) +
      repeat("v_dual_add_f32 v0, v1, v2 :: v_dual_mov_b32 v3, v4", 1) +
      repeat("ds_store_2addr_b64 v4, v[0:1], v[2:3] offset1:1", 1) +
      repeat("buffer_load_b128 v[0:3], v4, s[0:3], null offen", 1) +
      repeat("s_wait_loadcnt 0x0", 1) + repeat("s_wait_loadcnt 0x1", 1) +
      repeat("s_wait_dscnt 0x2", 1) + repeat("s_cbranch_vccnz .LBB0_1", 1);
  std::optional<amd::Loop> loop = amd::readMainLoop(text, /*lanes=*/32);
  ASSERT_TRUE(loop);
  EXPECT_EQ(loop->matrixFlops, 2 * 16 * 16 * 16);
  EXPECT_EQ(loop->vector, 1);
  EXPECT_EQ(loop->sharedBytes, 32 * 16);
  EXPECT_EQ(loop->loadedBytes, 32 * 16);
}

TEST_F(LoopModelTest, CountsRoundsOfConflicts) {
  // Two accesses of 8 bytes, each of half of the lanes' 16.
  std::string text = ".LBB0_1:\n" +
                     repeat("v_mfma_f32_32x32x8_bf16_1k a, v, v, a", 1) +
                     repeat("ds_read_b128 v[0:3], v4", 1) +
                     repeat("ds_read2_b64 v[0:3], v4 offset1:1", 1) +
                     repeat("ds_write_b128 v4, v[0:3]", 1) +
                     repeat("s_cbranch_scc0 .LBB0_1", 1);
  std::optional<amd::Loop> loop = amd::readMainLoop(
      text, /*lanes=*/64,
      {{{false, 16}, 2.0}, {{false, 8}, 1.5}, {{true, 8}, 4.0}});
  ASSERT_TRUE(loop);
  EXPECT_EQ(loop->sharedBytes, 64 * 3 * 16);
  EXPECT_DOUBLE_EQ(loop->conflictBytes, 64 * 16 * (1 + 0.5));
  tile::TargetAttr target = get("gfx942");
  amd::LoopFacts facts = {false, 8};
  LoopCost cost = amd::predictLoop(*loop, target, facts, 8);
  EXPECT_DOUBLE_EQ(cost.conflicts, cost.shared / 3);
  // Lanes 0 to 3 and 20 to 23 of a CDNA chip read together.
  const TargetModel *model = getTargetModel(target.getFamily());
  llvm::SmallVector<uint64_t> rows, far;
  for (uint64_t lane = 0; lane < 64; ++lane) {
    rows.push_back(lane * 272);
    far.push_back(lane * 256);
  }
  EXPECT_EQ(model->countSharedRounds(rows, 16, /*isWrite=*/false).taken, 8);
  EXPECT_EQ(model->countSharedRounds(far, 16, /*isWrite=*/false).taken, 64);
  EXPECT_EQ(model->countSharedRounds(far, 16, /*isWrite=*/false).fewest, 8);
}

TEST_F(LoopModelTest, CountsWavesByWhatRunsOut) {
  amd::LoopFacts facts = {false, 8};
  tile::TargetAttr target = get("gfx942");
  // Four SIMDs with 512 registers of a lane each, and 64 KiB.
  EXPECT_EQ(amd::countWaves(target, facts, 128, 256, 0), 16);
  EXPECT_EQ(amd::countWaves(target, facts, 129, 256, 0), 12);
  EXPECT_EQ(amd::countWaves(target, facts, 128, 256, 20000), 12);
  EXPECT_EQ(amd::countWaves(target, facts, 8, 1024, 0), 32);
  EXPECT_EQ(amd::countWaves(target, facts, 512, 512, 0), 8);
}

TEST_F(LoopModelTest, NamesWhatBoundsALoop) {
  tile::TargetAttr target = get("gfx942");
  amd::LoopFacts beside = {false, 8}, among = {true, 8};
  amd::Loop loop;
  loop.matrix = 32;
  loop.matrixFlops = 32 * 2 * 32 * 32 * 8;
  loop.vector = 100;
  LoopCost cost = amd::predictLoop(loop, target, beside, 8);
  // Of two waves of a SIMD: 32 clocks an MFMA, 4 a vector instruction.
  EXPECT_DOUBLE_EQ(cost.matrix, 2 * 32 * 32);
  EXPECT_DOUBLE_EQ(cost.vector, 2 * 4 * (100 + 32));
  EXPECT_DOUBLE_EQ(cost.getClocks(), cost.matrix);
  // Where a multiply keeps the vector unit, the times add.
  EXPECT_DOUBLE_EQ(amd::predictLoop(loop, target, among, 8).vector,
                   2 * (4 * 100 + 32 * 32));
  loop.transcendental = 100;
  EXPECT_DOUBLE_EQ(amd::predictLoop(loop, target, beside, 8).exponentials,
                   2 * 16 * 100);
  loop.sharedBytes = 1 << 20;
  cost = amd::predictLoop(loop, target, beside, 8);
  EXPECT_DOUBLE_EQ(cost.getClocks(), cost.shared);
  // Waves that wait hide each other.
  loop = {};
  loop.matrix = 1;
  loop.matrixFlops = 2 * 32 * 32 * 8;
  loop.lines = {"v_mfma_f32_32x32x8bf16_1k a[0:15], v[0:1], v[2:3], a[0:15]",
                "buffer_load_dwordx4 v[0:3], v4, s[0:3], 0 offen",
                "s_waitcnt vmcnt(0)"};
  EXPECT_GT(amd::predictLoop(loop, target, beside, 16).flopsPerClock,
            1.9 * amd::predictLoop(loop, target, beside, 8).flopsPerClock);
}

TEST_F(LoopModelTest, ReplaysWhatAWaveWaitsFor) {
  tile::TargetAttr target = get("gfx942");
  amd::IssueClocks clocks(target);
  EXPECT_DOUBLE_EQ(clocks.issue, 4);
  EXPECT_DOUBLE_EQ(clocks.exponential, 16);
  constexpr llvm::StringRef kLoad = "buffer_load_dwordx4 v[0:3], v9, s[0:3], 0",
                            kMultiply = "v_mfma_f32_32x32x8bf16_1k a[0:15], "
                                        "v[0:1], v[2:3], a[0:15]",
                            kAdd = "v_add_f32_e32 v5, v6, v7";
  auto replay = [&](std::vector<llvm::StringRef> lines, bool among = false) {
    amd::Loop loop;
    loop.lines.assign(lines.begin(), lines.end());
    return amd::replayLoop(loop, clocks, {among, 8});
  };
  // A wait takes until the load is there; a counted one leaves those under way
  // that were issued last, also from one iteration to the next.
  EXPECT_DOUBLE_EQ(replay({kLoad, "s_waitcnt vmcnt(0)"}).clocks, 4 + 700);
  EXPECT_DOUBLE_EQ(replay({kLoad, "s_waitcnt vmcnt(0)"}).waits, 700);
  EXPECT_DOUBLE_EQ(replay({kLoad, "s_waitcnt vmcnt(1)"}).clocks, 352);
  EXPECT_DOUBLE_EQ(replay({kLoad, "s_wait_loadcnt 0x0"}).waits, 700);
  // Nothing is under way where the first of these stands.
  EXPECT_DOUBLE_EQ(
      replay({"s_waitcnt vmcnt(0)", kLoad, "s_waitcnt vmcnt(0)"}).waits, 700);
  EXPECT_DOUBLE_EQ(replay({kLoad, kMultiply, kMultiply, "v_nop",
                           "s_wait_loadcnt_dscnt 0x3f"})
                       .waits,
                   700 - 32 - 8);
  EXPECT_DOUBLE_EQ(
      replay({"ds_read_b64 v[0:1], v4", "s_waitcnt lgkmcnt(0)"}).waits, 64);
  // Others are issued beside a matrix instruction, but for those that take what
  // it computes, and for the next one.
  EXPECT_DOUBLE_EQ(replay({kMultiply, kMultiply}).clocks, 2 * 32);
  EXPECT_DOUBLE_EQ(replay({kMultiply, kAdd, kAdd}).clocks, 32);
  EXPECT_DOUBLE_EQ(
      replay({kMultiply, "v_accvgpr_read_b32 v5, a15", kAdd}).clocks,
      32 + 2 * 4);
  EXPECT_DOUBLE_EQ(replay({kMultiply, kAdd, kAdd}, /*among=*/true).clocks,
                   32 + 2 * 4);
}

// AITER's forward kernels on an MI300X: bf16, head size 128, no mask, 16384
// keys; eight waves of 32 rows by 32 keys. Vector instructions are counted from
// ROCm/aiter:hsa/gfx942/fmha_v3_fwd, a slot each and an exponential four;
// TFLOP/s are published by AMD.
TEST_F(LoopModelTest, IsCloseToPublishedFigures) {
  struct Published {
    int64_t slots;
    double teraflops;
  };
  tile::TargetAttr target = get("gfx942");
  for (auto [slots, published] :
       {Published{192, 544}, {240, 501}, {264, 480}}) {
    constexpr int64_t kExponentials = 17;
    Binary binary;
    binary.resources.registers = 256;
    binary.assembly =
        ".LBB0_1:\n" + repeat("v_mfma_f32_32x32x8_bf16_1k a, v, v, a", 32) +
        repeat("v_exp_f32_e32 v0, v1", kExponentials) +
        repeat("v_add_f32_e32 v0, v1, v2", slots - 4 * kExponentials) +
        repeat("ds_read_b128 v[0:3], v4", 8) +
        repeat("ds_read_b64 v[0:1], v4", 16) +
        repeat("global_load_dwordx4 v[0:3], v[4:5], off", 4) +
        repeat("s_cbranch_scc0 .LBB0_1", 1);
    std::optional<LoopCost> cost =
        getTargetModel(target.getFamily())
            ->predictLoop(binary, target, /*threads=*/512,
                          /*sharedBytes=*/65536);
    ASSERT_TRUE(cost);
    EXPECT_NEAR(cost->teraflops / published, 1, 0.06) << slots << " slots";
  }
}
