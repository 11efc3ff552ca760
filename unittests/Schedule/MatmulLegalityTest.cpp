// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every rule of legality of matmuls on both sides of its limit.

#include "ToyTarget.h"
#include "attune/Schedule/Matmul/Legality.h"
#include "attune/Target/TargetRegistry.h"
#include "mlir/IR/Diagnostics.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace attune;
using matmul::Dim;
using schedule::ClusterAlong;
using schedule::Consumers;
using schedule::MatmulAttr;
using schedule::Persistent;
using schedule::ResultPath;
using tile::TargetAttr;

namespace {
class MatmulLegalityTest : public testing::Test {
protected:
  MatmulLegalityTest() {
    context.loadDialect<schedule::ScheduleDialect, tile::TileDialect>();
    Type half = Float16Type::get(&context);
    problem.lhs = {half, /*isInnerLast=*/true, /*rowDivisor=*/64};
    problem.rhs = {{half, /*isInnerLast=*/false, /*rowDivisor=*/64}};
    problem.results = {{half, /*isInnerLast=*/true, /*rowDivisor=*/64}};
    problem.sizes = {{1, 256, 256, 256}};
  }

  TargetAttr toy(const Limits &limits = {}) {
    return makeToyTarget(&context, limits);
  }
  TargetAttr chip(StringRef name) {
    FailureOr<TargetAttr> target = getTarget(
        &context, name, [&] { return emitError(UnknownLoc::get(&context)); });
    EXPECT_TRUE(succeeded(target)) << name.str();
    return *target;
  }

  /// Warps that multiply alone.
  static MatmulSchedule warps(int64_t blockM = 64, int64_t blockN = 32,
                              int64_t count = 4) {
    MatmulSchedule schedule;
    schedule.blockM = blockM;
    schedule.blockN = blockN;
    schedule.numWarps = count;
    return schedule;
  }
  /// Four warps that multiply together, and what else is set.
  static MatmulSchedule groups(int64_t blockM = 64, int64_t blockN = 64,
                               int64_t count = 1) {
    MatmulSchedule schedule = warps(blockM, blockN, 4 * count);
    schedule.mmaWarps = 4;
    return schedule;
  }
  static MatmulSchedule producer(int64_t warps = 4) {
    MatmulSchedule schedule = groups();
    schedule.producerWarps = warps;
    return schedule;
  }

  std::string refusal(const MatmulSchedule &schedule, TargetAttr target) {
    std::optional<Refusal> reason =
        checkLegal(problem, schedule.getAttr(&context), target);
    return reason ? reason->id.str() : "legal";
  }
  std::string message(const MatmulSchedule &schedule, TargetAttr target) {
    std::optional<Refusal> reason =
        checkLegal(problem, schedule.getAttr(&context), target);
    return reason ? reason->getMessage() : "";
  }
  std::string skip(const MatmulSchedule &schedule, TargetAttr target) {
    std::optional<Refusal> reason =
        checkWorthTrying(problem, schedule.getAttr(&context), target);
    return reason ? reason->id.str() : "worth trying";
  }

  MLIRContext context;
  MatmulProblem problem;
};
} // namespace

TEST_F(MatmulLegalityTest, NoKernel) {
  EXPECT_EQ(refusal(warps(), toy()), "legal");
  problem.obstacle = "expects a tensor";
  EXPECT_EQ(refusal(warps(), toy()), "no-kernel");
  EXPECT_EQ(message(warps(), toy()),
            "expects a tensor, of which a kernel can be made");
}

TEST_F(MatmulLegalityTest, NoMatrixInstruction) {
  EXPECT_EQ(refusal(warps(), toy()), "legal");
  EXPECT_EQ(refusal(groups(), toy()), "no-matrix-instruction");
  EXPECT_EQ(refusal(groups(), toy(withGroups())), "legal");
  problem.lhs.elementType = BFloat16Type::get(&context);
  problem.rhs[0].elementType = problem.lhs.elementType;
  EXPECT_EQ(refusal(warps(), toy()), "no-matrix-instruction");
  EXPECT_EQ(message(groups(), toy()),
            "expects an element type that 'toy' has a matrix instruction of 4 "
            "warps for, but got bf16");
}

TEST_F(MatmulLegalityTest, OneWarpMultiply) {
  MatmulSchedule wanted = warps();
  wanted.producerWarps = 4;
  EXPECT_EQ(message(wanted, toy()), "expects producer-warps to have its "
                                    "default where mma-warps is 1");
  wanted = warps();
  wanted.persistent = Persistent::Dynamic;
  EXPECT_EQ(refusal(wanted, toy()), "one-warp-mma");
  wanted.persistent = Persistent::Static;
  EXPECT_EQ(refusal(wanted, toy()), "legal");
  wanted.resultPath = ResultPath::Shared;
  EXPECT_EQ(refusal(wanted, toy()), "one-warp-mma");
  wanted.resultPath = ResultPath::Registers;
  wanted.cluster = 2;
  EXPECT_EQ(refusal(wanted, toy()), "one-warp-mma");
  wanted.cluster = 1;
  wanted.clusterAlong = ClusterAlong::N;
  wanted.stages = 1;
  EXPECT_EQ(refusal(wanted, toy()), "legal");
}

TEST_F(MatmulLegalityTest, PingPong) {
  MatmulSchedule wanted = groups(64, 64, 2);
  wanted.consumers = Consumers::PingPong;
  wanted.producerWarps = 4;
  wanted.persistent = Persistent::Static;
  EXPECT_EQ(refusal(wanted, toy(withGroups())), "legal");
  wanted.numWarps = 4;
  EXPECT_EQ(refusal(wanted, toy(withGroups())), "ping-pong-of-one-group");
}

TEST_F(MatmulLegalityTest, WarpsPerMultiply) {
  EXPECT_EQ(refusal(groups(128, 64, 2), toy(withGroups())), "legal");
  MatmulSchedule wanted = groups();
  wanted.numWarps = 2;
  EXPECT_EQ(refusal(wanted, toy(withGroups())), "warps-per-mma");
}

TEST_F(MatmulLegalityTest, OneStage) {
  MatmulSchedule wanted = groups();
  wanted.stages = 2;
  EXPECT_EQ(refusal(wanted, toy(withGroups())), "legal");
  wanted.stages = 1;
  EXPECT_EQ(refusal(wanted, toy(withGroups())), "one-stage");
}

TEST_F(MatmulLegalityTest, RowsOfOperandsThatACopyEngineTakes) {
  TargetAttr target = toy(withGroups());
  for (MatmulProblem::Matrix *matrix : {&problem.lhs, problem.rhs.data()}) {
    // Rows of 8 elements of 2 bytes start at multiples of 16 bytes.
    matrix->rowDivisor = 8;
    EXPECT_EQ(refusal(groups(), target), "legal");
    for (int64_t divisor : {4, 12}) {
      matrix->rowDivisor = divisor;
      EXPECT_EQ(refusal(groups(), target), "row-alignment");
    }
    matrix->rowDivisor = 0;
    EXPECT_EQ(refusal(groups(), target), "row-not-contiguous");
    // A warp of its own copies any rows.
    EXPECT_EQ(refusal(warps(), target), "legal");
    matrix->rowDivisor = 64;
  }
  // Of a gate as well.
  problem.rhs.push_back(problem.rhs[0]);
  EXPECT_EQ(refusal(groups(), target), "legal");
  problem.rhs[1].rowDivisor = 4;
  EXPECT_EQ(message(groups(), target),
            "expects rows of the right operand to start at multiples of 16 "
            "bytes for an MMA by 4 warps, but got 8");
}

TEST_F(MatmulLegalityTest, ResultsThatACopyEngineTakes) {
  TargetAttr target = toy(withGroups());
  MatmulSchedule wanted = groups(), other = wanted;
  wanted.resultPath = ResultPath::Shared;
  EXPECT_EQ(refusal(wanted, target), "legal");
  // Threads store what this cannot.
  auto expectRefused = [&](StringRef id) {
    EXPECT_EQ(refusal(wanted, target), id.str());
    EXPECT_EQ(refusal(other, target), "legal");
  };
  MatmulProblem::Matrix &result = problem.results[0];
  const MatmulProblem::Matrix plain = result;
  result.elementType = BFloat16Type::get(&context);
  EXPECT_EQ(refusal(wanted, target), "legal");
  result.elementType = Float32Type::get(&context);
  expectRefused("result-element");
  result = plain;
  result.isInnerLast = false;
  expectRefused("result-row-not-contiguous");
  result = plain;
  result.rowDivisor = 0;
  expectRefused("result-row-not-contiguous");
  result.rowDivisor = 8;
  EXPECT_EQ(refusal(wanted, target), "legal");
  result.rowDivisor = 4;
  expectRefused("result-row-alignment");
  // Of each result.
  problem.results = {plain, plain};
  EXPECT_EQ(refusal(wanted, target), "legal");
  problem.results[1].rowDivisor = 4;
  expectRefused("result-row-alignment");
}

TEST_F(MatmulLegalityTest, ResultOfColumns) {
  TargetAttr target = toy(withGroups());
  MatmulSchedule wanted = groups(128, 128, 2);
  wanted.resultPath = ResultPath::Shared;
  EXPECT_EQ(refusal(wanted, target), "legal");
  wanted.warpsN = 2;
  EXPECT_EQ(refusal(wanted, target), "result-of-columns");
  wanted.resultPath = ResultPath::Registers;
  EXPECT_EQ(refusal(wanted, target), "legal");
}

TEST_F(MatmulLegalityTest, ClusterWithProducer) {
  TargetAttr target = toy(withGroups());
  MatmulSchedule wanted = producer();
  for (ClusterAlong along : {ClusterAlong::M, ClusterAlong::N}) {
    wanted.cluster = 2;
    wanted.clusterAlong = along;
    wanted.producerWarps = 4;
    wanted.persistent = Persistent::Static;
    EXPECT_EQ(refusal(wanted, target), "legal");
    wanted.persistent = Persistent::Dynamic;
    EXPECT_EQ(message(wanted, target),
              "expects persistent to be none or static where cluster is 2, but "
              "got dynamic");
    EXPECT_EQ(refusal(wanted, target), "cluster-of-dynamic-tiles");
    wanted.persistent = Persistent::None;
    EXPECT_EQ(refusal(wanted, target), "legal");
    wanted.producerWarps = 0;
    EXPECT_EQ(refusal(wanted, target), "cluster-without-producer");
  }
}

TEST_F(MatmulLegalityTest, AllChipsGoFromTileToTile) {
  MatmulSchedule wanted = warps(/*blockM=*/128);
  wanted.persistent = Persistent::Static;
  EXPECT_EQ(refusal(wanted, chip("sm_80")), "legal");
  EXPECT_EQ(refusal(wanted, chip("gfx942")), "legal");
}

TEST_F(MatmulLegalityTest, SplitsGoWithTilesThatAreKnownBefore) {
  TargetAttr target = toy(withGroups());
  MatmulSchedule wanted = producer();
  for (int64_t splits : {2, 16}) {
    wanted.splitK = splits;
    wanted.cluster = 1;
    wanted.persistent = Persistent::Dynamic;
    EXPECT_EQ(refusal(wanted, target), "split-of-dynamic-tiles");
    wanted.cluster = 2;
    wanted.persistent = Persistent::None;
    EXPECT_EQ(refusal(wanted, target), "legal");
    wanted.persistent = Persistent::Static;
    EXPECT_EQ(refusal(wanted, target), "legal");
  }
}

TEST_F(MatmulLegalityTest, DynamicPersistenceNeedsAProducer) {
  TargetAttr target = toy(withGroups());
  MatmulSchedule wanted = producer(1);
  wanted.persistent = Persistent::Dynamic;
  EXPECT_EQ(refusal(wanted, target), "legal");
  wanted.producerWarps = 0;
  EXPECT_EQ(refusal(wanted, target), "dynamic-without-producer");
  wanted.persistent = Persistent::Static;
  EXPECT_EQ(refusal(wanted, target), "legal");
  EXPECT_EQ(skip(wanted, target), "persistent-without-producer");
  wanted.producerWarps = 4;
  EXPECT_EQ(skip(wanted, target), "worth trying");
}

TEST_F(MatmulLegalityTest, WarpsThatShareColumns) {
  MatmulSchedule wanted = warps();
  wanted.warpsN = 4;
  EXPECT_EQ(refusal(wanted, toy()), "legal");
  wanted.numWarps = 2;
  EXPECT_EQ(refusal(wanted, toy()), "warps-n");
  EXPECT_EQ(message(wanted, toy()),
            "expects warps-n to divide the 2 warps, but got 4");
  wanted = groups(128, 128, 3);
  wanted.warpsN = 2;
  EXPECT_EQ(refusal(wanted, toy(withGroups())), "warps-n");
  wanted.numWarps = 8;
  EXPECT_EQ(refusal(wanted, toy(withGroups())), "legal");
}

TEST_F(MatmulLegalityTest, RowsPerWarp) {
  Limits limits;
  limits.rows = 16;
  EXPECT_EQ(refusal(warps(32, 32, 2), toy(limits)), "legal");
  EXPECT_EQ(refusal(warps(16, 32, 2), toy(limits)), "rows-per-warp");
  EXPECT_EQ(refusal(warps(192, 32, 4), toy(limits)), "legal");
  limits.rows = 32;
  EXPECT_EQ(refusal(warps(192, 32, 4), toy(limits)), "rows-per-warp");
  // Warps that share columns need no rows of their own.
  MatmulSchedule wanted = warps(16, 32, 2);
  limits.rows = 16;
  wanted.warpsN = 2;
  EXPECT_EQ(refusal(wanted, toy(limits)), "legal");
  EXPECT_EQ(message(groups(64, 64, 2), toy(withGroups())),
            "expects block-m to be a multiple of 128 rows (2 warpgroups of "
            "64), but got 64");
}

TEST_F(MatmulLegalityTest, ColumnsPerWarp) {
  Limits limits;
  limits.columns = 16;
  MatmulSchedule wanted = warps(64, 64, 4);
  wanted.warpsN = 4;
  EXPECT_EQ(refusal(wanted, toy(limits)), "legal");
  for (int64_t blockN : {32, 48, 96}) {
    wanted.blockN = blockN;
    EXPECT_EQ(refusal(wanted, toy(limits)), "columns-per-warp") << blockN;
  }
}

TEST_F(MatmulLegalityTest, ColumnsPerPanel) {
  TargetAttr target = toy(withGroups());
  MatmulSchedule wanted = groups(64, 128, 2);
  wanted.warpsN = 2;
  // Rows of 128 bytes are swizzle atoms of 64 columns; of 96 columns of 32.
  EXPECT_EQ(refusal(wanted, target), "legal");
  for (int64_t blockN : {64, 96}) {
    wanted.blockN = blockN;
    problem.rhs[0].isInnerLast = false;
    EXPECT_EQ(refusal(wanted, target), "columns-per-swizzle-atom");
    // Rows of another matrix's swizzle atoms are terms of its sums.
    problem.rhs[0].isInnerLast = true;
    EXPECT_EQ(refusal(wanted, target), "legal");
  }
}

TEST_F(MatmulLegalityTest, ColumnsOfPartners) {
  MatmulSchedule wanted = warps(64, 64);
  problem.partnerStride = 32;
  EXPECT_EQ(refusal(wanted, toy()), "legal");
  problem.partnerStride = 16;
  EXPECT_EQ(refusal(wanted, toy()), "legal");
  // Each warp has partners of its own.
  wanted.warpsN = 2;
  EXPECT_EQ(refusal(wanted, toy()), "legal");
  problem.partnerStride = 32;
  EXPECT_EQ(message(wanted, toy()),
            "expects the columns of a warp to be a multiple of 64, for it "
            "rotates columns with those 32 apart, but got 32");
  problem.partnerStride = 64;
  EXPECT_EQ(refusal(wanted, toy()), "partner-columns");
  // Of heads of 96 columns.
  problem.partnerStride = 48;
  for (auto [blockN, warpsN] : {std::pair(96, 1), {192, 1}, {192, 2}}) {
    wanted.blockN = blockN;
    wanted.warpsN = warpsN;
    EXPECT_EQ(refusal(wanted, toy()), "legal") << blockN;
    wanted.blockN = 128;
    EXPECT_EQ(refusal(wanted, toy()), "partner-columns");
  }
  // A warpgroup's are shared by none of its warps.
  MatmulSchedule together = groups(64, 96);
  EXPECT_EQ(refusal(together, toy(withGroups())), "legal");
  together.blockN = 64;
  EXPECT_EQ(refusal(together, toy(withGroups())), "partner-columns");
}

TEST_F(MatmulLegalityTest, PartnersThatAShuffleReaches) {
  // Even and odd columns are in different lanes, all others in registers.
  MatmulSchedule wanted = warps(64, 96);
  for (int64_t stride : {1, 2, 3, 4, 6, 12}) {
    problem.partnerStride = stride;
    EXPECT_EQ(refusal(wanted, toy()), "legal") << stride;
  }
  // Here pairs of columns are, so that three lanes lie between.
  TargetAttr ampere = chip("sm_80");
  problem.partnerStride = 6;
  EXPECT_EQ(refusal(wanted, ampere), "partner-lanes");
  EXPECT_EQ(message(wanted, ampere),
            "expects columns that are rotated together to be where a shuffle "
            "of 'sm_80' reaches, but got some 6 apart in the lanes and "
            "registers of 'mma.sync.m16n8k16'");
  // What is not rotated is where it likes.
  problem.partnerStride.reset();
  EXPECT_EQ(refusal(wanted, ampere), "legal");
}

TEST_F(MatmulLegalityTest, RotatedColumnsHaveAScheduleOnEveryChip) {
  for (StringRef name : {"sm_80", "sm_90a", "gfx942", "gfx1100"})
    for (int64_t stride : {1, 16, 32, 40, 48, 64, 80, 96, 128})
      for (int64_t rowDivisor : {64, 1}) {
        problem.partnerStride = stride;
        // Rows of which no box can be copied are left to single warps.
        problem.lhs.rowDivisor = rowDivisor;
        EXPECT_TRUE(selectSchedule(problem, chip(name)))
            << name.str() << ", columns " << stride << " apart, rows of "
            << rowDivisor;
      }
}

TEST_F(MatmulLegalityTest, BlockKMultiple) {
  Limits limits;
  limits.depth = 64;
  MatmulSchedule wanted = warps();
  wanted.blockK = 64;
  EXPECT_EQ(refusal(wanted, toy(limits)), "legal");
  wanted.blockK = 32;
  EXPECT_EQ(refusal(wanted, toy(limits)), "block-k-multiple");
}

TEST_F(MatmulLegalityTest, Threads) {
  Limits limits;
  limits.maxThreads = 16;
  EXPECT_EQ(refusal(warps(), toy(limits)), "legal");
  limits.maxThreads = 15;
  EXPECT_EQ(refusal(warps(), toy(limits)), "threads-overflow");
  // Those that copy count.
  Limits both = withGroups();
  both.maxThreads = 32;
  EXPECT_EQ(refusal(producer(), toy(both)), "legal");
  both.maxThreads = 31;
  EXPECT_EQ(refusal(producer(), toy(both)), "threads-overflow");

  limits = {};
  MatmulSchedule three = warps();
  three.workgroupsPerSm = 3;
  limits.maxThreadsPerSm = 48;
  EXPECT_EQ(refusal(three, toy(limits)), "legal");
  limits.maxThreadsPerSm = 47;
  EXPECT_EQ(refusal(three, toy(limits)), "threads-per-sm");
}

TEST_F(MatmulLegalityTest, SharedMemory) {
  MatmulSchedule wanted = warps(64, 32);
  Limits limits;
  int64_t bytes =
      getSharedBytes(problem, wanted.getAttr(&context), toy(limits));
  // Two slots of both operands, padded: 2 * 64 * 33 * 2, in whole KiB, and rhs.
  EXPECT_EQ(bytes, 9216 + 2 * 32 * (32 + 1) * 2);
  limits.shared = bytes;
  EXPECT_EQ(refusal(wanted, toy(limits)), "legal");
  limits.shared = bytes - 1;
  EXPECT_EQ(refusal(wanted, toy(limits)), "shared-overflow");
  wanted.workgroupsPerSm = 2;
  limits.shared = bytes;
  limits.sharedPerSm = 2 * bytes;
  EXPECT_EQ(refusal(wanted, toy(limits)), "legal");
  limits.sharedPerSm = 2 * bytes - 1;
  EXPECT_EQ(refusal(wanted, toy(limits)), "shared-per-sm");
}

TEST_F(MatmulLegalityTest, Accumulators) {
  Limits limits;
  int64_t registers =
      getAccumulatorRegisters(problem, warps().getAttr(&context), toy(limits));
  EXPECT_EQ(registers, 64 * 32 / 16);
  limits.registers = registers;
  EXPECT_EQ(refusal(warps(), toy(limits)), "legal");
  limits.registers = registers - 1;
  EXPECT_EQ(refusal(warps(), toy(limits)), "register-overflow");
  // A gate has its own.
  problem.rhs.push_back(problem.rhs[0]);
  limits.registers = 2 * registers;
  EXPECT_EQ(refusal(warps(), toy(limits)), "legal");
  limits.registers = 2 * registers - 1;
  EXPECT_EQ(refusal(warps(), toy(limits)), "register-overflow");
  // The share of a thread shrinks with the workgroups on an SM.
  problem.rhs.pop_back();
  MatmulSchedule two = warps();
  two.workgroupsPerSm = 2;
  limits.registers = 1 << 16;
  limits.registersPerSm = registers * 16 * 2;
  EXPECT_EQ(refusal(two, toy(limits)), "legal");
  limits.registersPerSm -= 1;
  EXPECT_EQ(refusal(two, toy(limits)), "register-overflow");
}

TEST_F(MatmulLegalityTest, Warpgroups) {
  Limits limits = withGroups();
  limits.groupLimits = false;
  EXPECT_EQ(refusal(groups(), toy(limits)), "no-warpgroup-limits");
  limits.groupLimits = true;
  EXPECT_EQ(refusal(groups(), toy(limits)), "legal");

  MatmulSchedule wanted = groups(64, 16);
  limits.registers = 80;
  EXPECT_EQ(refusal(wanted, toy(limits)), "registers-at-entry");
  limits.registers = 64 * 16 / 16 + 32;
  EXPECT_EQ(refusal(wanted, toy(limits)), "legal");
  limits.registers -= 1;
  EXPECT_EQ(refusal(wanted, toy(limits)), "registers-at-entry");
  limits.registers = 79;
  EXPECT_EQ(refusal(wanted, toy(limits)), "registers-per-thread");
}

TEST_F(MatmulLegalityTest, MultipliesFitTheRegistersAtEntry) {
  Limits limits = withGroups();
  limits.registers = 255;
  MatmulSchedule wanted = producer();
  wanted.blockN = 32;
  // 64x32 accumulators in 16 threads, and 32 beside them, for each of 32.
  limits.registersPerSm = (64 * 32 / 16 + 32) * 32;
  EXPECT_EQ(refusal(wanted, toy(limits)), "legal");
  limits.registersPerSm -= 1;
  EXPECT_EQ(refusal(wanted, toy(limits)), "registers-at-entry");
  // Warpgroups that share columns have less of them each.
  MatmulSchedule shared = groups(64, 64, 2);
  shared.warpsN = 2;
  problem.rhs[0].isInnerLast = true;
  limits.registersPerSm = (64 * 32 / 16 + 32) * 32;
  EXPECT_EQ(refusal(shared, toy(limits)), "legal");
}

TEST_F(MatmulLegalityTest, BlocksBeyondSizes) {
  MatmulSchedule wanted = warps(128, 128);
  wanted.blockK = 128;
  EXPECT_EQ(skip(wanted, toy()), "worth trying");
  for (Dim dim : {Dim::M, Dim::N, Dim::K}) {
    problem.sizes[dim] = 65;
    EXPECT_EQ(skip(wanted, toy()), "worth trying");
    problem.sizes[dim] = 64;
    EXPECT_EQ(skip(wanted, toy()), "block-beyond-size");
    problem.sizes[dim] = ShapedType::kDynamic;
    EXPECT_EQ(skip(wanted, toy()), "worth trying");
  }
  // There is little to be lost with a small block.
  problem.sizes = {{1, 1, 1, 1}};
  MatmulSchedule small = warps(64, 64);
  EXPECT_EQ(skip(small, toy()), "worth trying");
}

TEST_F(MatmulLegalityTest, SplitsOfFewBlocks) {
  TargetAttr target = chip("sm_90a");
  MatmulSchedule wanted = warps();
  wanted.splitK = 4;
  // Four blocks for each, the last one of which may be small.
  problem.sizes[Dim::K] = 15 * wanted.blockK + 1;
  EXPECT_EQ(skip(wanted, target), "worth trying");
  problem.sizes[Dim::K] -= 1;
  EXPECT_EQ(skip(wanted, target), "split-of-few-blocks");
  EXPECT_EQ(refusal(wanted, target), "legal");
  wanted.splitK = 1;
  EXPECT_EQ(skip(wanted, target), "worth trying");
  wanted.splitK = 16;
  problem.sizes[Dim::K] = ShapedType::kDynamic;
  EXPECT_EQ(skip(wanted, target), "worth trying");
}

TEST_F(MatmulLegalityTest, SplitsOfManyTiles) {
  TargetAttr target = chip("sm_90a");
  MatmulSchedule wanted = warps();
  wanted.splitK = 4;
  problem.sizes[Dim::K] = 4096;
  problem.sizes[Dim::N] = wanted.blockN;
  for (Dim dim : {Dim::Batch, Dim::M}) {
    int64_t block = dim == Dim::M ? wanted.blockM : 1;
    problem.sizes[Dim::Batch] = 1;
    problem.sizes[Dim::M] = wanted.blockM;
    problem.sizes[dim] = target.getSms() * block;
    EXPECT_EQ(skip(wanted, target), "worth trying");
    problem.sizes[dim] += 1;
    EXPECT_EQ(skip(wanted, target), "split-of-many-tiles");
    EXPECT_EQ(refusal(wanted, target), "legal");
    problem.sizes[dim] = ShapedType::kDynamic;
    EXPECT_EQ(skip(wanted, target), "worth trying");
  }
}

TEST_F(MatmulLegalityTest, DirectionOfNoCluster) {
  TargetAttr target = toy(withGroups());
  MatmulSchedule wanted = producer();
  wanted.clusterAlong = ClusterAlong::N;
  EXPECT_EQ(refusal(wanted, target), "legal");
  EXPECT_EQ(skip(wanted, target), "no-cluster");
  wanted.cluster = 2;
  EXPECT_EQ(skip(wanted, target), "worth trying");
}

TEST_F(MatmulLegalityTest, Spills) {
  MatmulSchedule wanted = warps();
  Limits limits;
  int64_t estimate =
      estimateRegisters(problem, wanted.getAttr(&context), toy(limits));
  EXPECT_GT(estimate, getAccumulatorRegisters(problem, wanted.getAttr(&context),
                                              toy(limits)));
  // A few spilled registers may be worth it.
  limits.registers = estimate - 32;
  EXPECT_EQ(skip(wanted, toy(limits)), "worth trying");
  limits.registers -= 1;
  EXPECT_EQ(skip(wanted, toy(limits)), "spills");
}
