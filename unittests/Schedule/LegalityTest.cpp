// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every rule of legality on both sides of its limit.

#include "attune/Schedule/Attention/Legality.h"
#include "ToyTarget.h"
#include "attune/Target/TargetRegistry.h"
#include "mlir/IR/Diagnostics.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace attune;
using schedule::AttentionAttr;
using tile::TargetAttr;

namespace {
class LegalityTest : public testing::Test {
protected:
  LegalityTest() {
    context.loadDialect<attn::AttnDialect, tile::TileDialect>();
    problem = {Float16Type::get(&context), 16, 16, /*rowDivisor=*/16};
  }

  TargetAttr toy(const Limits &limits) {
    return makeToyTarget(&context, limits);
  }

  /// Four warps that multiply together, and what else is set.
  AttentionAttr
  groups(std::initializer_list<std::pair<StringRef, int64_t>> settings) {
    SmallVector<std::pair<StringRef, int64_t>> all{{"block-m", 64},
                                                   {"block-n", 32},
                                                   {"num-warps", 4},
                                                   {"mma-warps", 4},
                                                   {"q-in-registers", 0}};
    all.append(settings.begin(), settings.end());
    return schedule(all);
  }

  /// The default schedule with some knobs set.
  AttentionAttr schedule(ArrayRef<std::pair<StringRef, int64_t>> settings) {
    SmallVector<int64_t> values = AttentionAttr::getSet().getDefaults();
    for (auto [name, value] : settings)
      values[*AttentionAttr::getSet().findKnob(name)] = value;
    return AttentionAttr::get(&context, values);
  }

  std::string refusal(AttentionAttr schedule, TargetAttr target) {
    std::optional<Refusal> reason = checkLegal(problem, schedule, target);
    return reason ? reason->id.str() : "legal";
  }

  std::string skip(AttentionAttr schedule) {
    std::optional<Refusal> reason =
        checkWorthTrying(problem, schedule, chip("sm_90a"));
    return reason ? reason->id.str() : "worth trying";
  }

  TargetAttr chip(StringRef name) {
    FailureOr<TargetAttr> target = getTarget(
        &context, name, [&] { return emitError(UnknownLoc::get(&context)); });
    EXPECT_TRUE(succeeded(target)) << name.str();
    return *target;
  }

  MLIRContext context;
  AttentionProblem problem;
};
} // namespace

TEST_F(LegalityTest, DynamicHeadSize) {
  AttentionAttr base = schedule({{"block-m", 16}, {"num-warps", 1}});
  EXPECT_EQ(refusal(base, toy({})), "legal");
  problem.headDimV = ShapedType::kDynamic;
  EXPECT_EQ(refusal(base, toy({})), "dynamic-head-size");
  problem = {problem.elementType, ShapedType::kDynamic, 16};
  EXPECT_EQ(refusal(base, toy({})), "dynamic-head-size");
}

TEST_F(LegalityTest, NoMatrixInstruction) {
  AttentionAttr base = schedule({{"block-m", 16}, {"num-warps", 1}});
  EXPECT_EQ(refusal(base, toy({})), "legal");
  problem.elementType = BFloat16Type::get(&context);
  EXPECT_EQ(refusal(base, toy({})), "no-matrix-instruction");
}

TEST_F(LegalityTest, RowsPerWarp) {
  Limits limits;
  limits.rows = 16;
  EXPECT_EQ(refusal(schedule({{"block-m", 32}, {"num-warps", 2}}), toy(limits)),
            "legal");
  EXPECT_EQ(refusal(schedule({{"block-m", 16}, {"num-warps", 2}}), toy(limits)),
            "rows-per-warp");
  EXPECT_EQ(refusal(schedule({{"block-m", 96}, {"num-warps", 4}}), toy(limits)),
            "rows-per-warp");
}

TEST_F(LegalityTest, BlockNMultiple) {
  for (int64_t Limits::*side : {&Limits::columns, &Limits::depth}) {
    Limits limits;
    limits.*side = 32;
    EXPECT_EQ(refusal(schedule({{"block-n", 32}}), toy(limits)), "legal");
    EXPECT_EQ(refusal(schedule({{"block-n", 16}}), toy(limits)),
              "block-n-multiple");
    EXPECT_EQ(refusal(schedule({{"block-n", 48}}), toy(limits)),
              "block-n-multiple");
  }
}

TEST_F(LegalityTest, ThreadsOverflow) {
  Limits limits;
  limits.maxThreads = 16;
  EXPECT_EQ(refusal(schedule({{"num-warps", 4}}), toy(limits)), "legal");
  limits.maxThreads = 15;
  EXPECT_EQ(refusal(schedule({{"num-warps", 4}}), toy(limits)),
            "threads-overflow");
}

TEST_F(LegalityTest, ThreadsPerSm) {
  Limits limits;
  limits.maxThreadsPerSm = 48;
  auto wanted = schedule({{"num-warps", 4}, {"workgroups-per-sm", 3}});
  EXPECT_EQ(refusal(wanted, toy(limits)), "legal");
  limits.maxThreadsPerSm = 47;
  EXPECT_EQ(refusal(wanted, toy(limits)), "threads-per-sm");
}

TEST_F(LegalityTest, SharedOverflow) {
  auto wanted = schedule({{"block-m", 64}, {"block-n", 32}});
  Limits limits;
  int64_t bytes = getSharedBytes(problem, wanted, toy(limits));
  // Keys (2 * 32 * 17 * 2, in whole KiB) and values, padded and transposed.
  EXPECT_EQ(bytes, 3072 + 2 * 16 * (32 + 1) * 2);
  limits.shared = bytes;
  EXPECT_EQ(refusal(wanted, toy(limits)), "legal");
  limits.shared = bytes - 1;
  EXPECT_EQ(refusal(wanted, toy(limits)), "shared-overflow");
}

TEST_F(LegalityTest, SharedPerSm) {
  auto wanted =
      schedule({{"block-m", 64}, {"block-n", 32}, {"workgroups-per-sm", 2}});
  Limits limits;
  int64_t bytes = getSharedBytes(problem, wanted, toy(limits));
  limits.sharedPerSm = 2 * bytes;
  EXPECT_EQ(refusal(wanted, toy(limits)), "legal");
  limits.sharedPerSm = 2 * bytes - 1;
  EXPECT_EQ(refusal(wanted, toy(limits)), "shared-per-sm");
}

TEST_F(LegalityTest, RegisterOverflow) {
  auto wanted = schedule({{"block-m", 64}, {"block-n", 32}, {"num-warps", 4}});
  Limits limits;
  int64_t registers = getAccumulatorRegisters(problem, wanted, toy(limits));
  EXPECT_EQ(registers, 64 * (16 + 32) / 16);
  limits.registers = registers;
  EXPECT_EQ(refusal(wanted, toy(limits)), "legal");
  limits.registers = registers - 1;
  EXPECT_EQ(refusal(wanted, toy(limits)), "register-overflow");
  // The share of a thread shrinks with the workgroups on an SM.
  limits.registers = 1 << 16;
  limits.registersPerSm = registers * 16 * 2;
  auto two =
      schedule({{"block-m", 64}, {"block-n", 32}, {"workgroups-per-sm", 2}});
  EXPECT_EQ(refusal(two, toy(limits)), "legal");
  limits.registersPerSm -= 1;
  EXPECT_EQ(refusal(two, toy(limits)), "register-overflow");
}

TEST_F(LegalityTest, OneWarpMultiply) {
  EXPECT_EQ(refusal(schedule({{"mma-warps", 1}}), toy({})), "legal");
  EXPECT_EQ(refusal(schedule({{"producer-warps", 4}}), toy({})),
            "one-warp-mma");
  EXPECT_EQ(refusal(schedule({{"overlap", 2}}), toy({})), "ping-pong-of-warps");
  EXPECT_EQ(refusal(schedule({{"persistent", 2}}), toy({})), "one-warp-mma");
  EXPECT_EQ(refusal(groups({{"exp-on-fma", 2}}), toy(withGroups())), "legal");
  for (auto [knob, value] : {std::pair<StringRef, int64_t>{"p-in-registers", 0},
                             {"o-in-shared", 1},
                             {"cluster", 2}})
    EXPECT_EQ(refusal(schedule({{knob, value}}), toy({})), "one-warp-mma")
        << knob.str();
  // The compiler can do the others, and no kernel gains by them.
  for (auto [knob, value] : {std::pair<StringRef, int64_t>{"unroll", 2},
                             {"overlap", 1},
                             {"exp-on-fma", 2},
                             {"persistent", 1},
                             {"q-stages", 2},
                             {"rescale-late", 1}}) {
    EXPECT_EQ(refusal(schedule({{knob, value}}), toy({})), "legal")
        << knob.str();
    EXPECT_EQ(skip(schedule({{knob, value}})), "no-gain-of-one-warp")
        << knob.str();
  }
  EXPECT_EQ(skip(schedule({{"rescale", 8}})), "worth trying");
  EXPECT_EQ(refusal(groups({{"unroll", 4}}), toy(withGroups())), "legal");
  EXPECT_EQ(refusal(schedule({{"rescale", 8}}), toy({})), "legal");
}

TEST_F(LegalityTest, NoMatrixInstructionOfSeveralWarps) {
  Limits limits;
  EXPECT_EQ(refusal(groups({}), toy(limits)), "no-matrix-instruction");
  EXPECT_EQ(checkLegal(problem, groups({}), toy(limits))->getMessage(),
            "expects an element type that 'toy' has a matrix instruction of 4 "
            "warps for, but got f16");
  limits.groups = true;
  EXPECT_EQ(refusal(groups({}), toy(limits)), "legal");
  limits.groupLimits = false;
  EXPECT_EQ(refusal(groups({}), toy(limits)), "no-warpgroup-limits");
}

TEST_F(LegalityTest, WarpsPerMultiply) {
  TargetAttr target = toy(withGroups());
  EXPECT_EQ(refusal(groups({{"block-m", 128}, {"num-warps", 8}}), target),
            "legal");
  EXPECT_EQ(refusal(groups({{"num-warps", 2}}), target), "warps-per-mma");
}

TEST_F(LegalityTest, RowsPerGroup) {
  TargetAttr target = toy(withGroups());
  EXPECT_EQ(refusal(groups({{"block-m", 192}, {"num-warps", 12}}), target),
            "legal");
  auto wanted = groups({{"block-m", 64}, {"num-warps", 8}});
  EXPECT_EQ(refusal(wanted, target), "rows-per-warp");
  EXPECT_EQ(checkLegal(problem, wanted, target)->getMessage(),
            "expects block-m to be a multiple of 128 rows (2 warpgroups "
            "of 64), but got 64");
}

TEST_F(LegalityTest, RowsThatACopyEngineTakes) {
  TargetAttr target = toy(withGroups());
  // Rows of 8 elements of 2 bytes start at multiples of 16 bytes.
  problem.rowDivisor = 8;
  EXPECT_EQ(refusal(groups({}), target), "legal");
  problem.rowDivisor = 4;
  EXPECT_EQ(refusal(groups({}), target), "row-alignment");
  problem.rowDivisor = 12;
  EXPECT_EQ(refusal(groups({}), target), "row-alignment");
  problem.rowDivisor = 0;
  EXPECT_EQ(refusal(groups({}), target), "row-not-contiguous");
  // A warp of its own copies any rows.
  EXPECT_EQ(refusal(schedule({}), target), "legal");
}

TEST_F(LegalityTest, QueryInRegisters) {
  TargetAttr target = toy(withGroups());
  EXPECT_EQ(refusal(groups({{"q-in-registers", 0}}), target), "legal");
  EXPECT_EQ(refusal(groups({{"q-in-registers", 1}}), target),
            "query-in-registers");
}

TEST_F(LegalityTest, OverlapWithAndWithoutProducer) {
  TargetAttr target = toy(withGroups());
  for (int64_t producers : {0, 4})
    EXPECT_EQ(refusal(groups({{"overlap", 1}, {"producer-warps", producers}}),
                      target),
              "legal");
}

TEST_F(LegalityTest, RescaleWithoutOverlap) {
  TargetAttr target = toy(withGroups());
  EXPECT_EQ(
      refusal(
          groups({{"rescale-late", 1}, {"overlap", 1}, {"producer-warps", 4}}),
          target),
      "legal");
  auto wanted = groups({{"rescale-late", 1}, {"producer-warps", 4}});
  EXPECT_EQ(refusal(wanted, target), "legal");
  EXPECT_EQ(skip(wanted), "rescale-without-overlap");
  EXPECT_EQ(skip(groups({{"rescale-late", 1}, {"overlap", 1}})),
            "worth trying");
}

TEST_F(LegalityTest, OutputRowsThatACopyEngineTakes) {
  TargetAttr target = toy(withGroups());
  auto wanted = groups({{"o-in-shared", 2}});
  problem.outputDivisor = 8;
  EXPECT_EQ(refusal(wanted, target), "legal");
  problem.outputDivisor = 12;
  EXPECT_EQ(refusal(wanted, target), "output-row-alignment");
  EXPECT_EQ(checkLegal(problem, wanted, target)->getMessage(),
            "expects rows of the output to start at multiples of 16 bytes "
            "where o-in-shared is buffer, but got 24");
  problem.outputDivisor = 0;
  EXPECT_EQ(refusal(wanted, target), "output-row-not-contiguous");
  // Threads store any rows.
  EXPECT_EQ(refusal(groups({}), target), "legal");
}

TEST_F(LegalityTest, OutputInQuerySlot) {
  TargetAttr target = toy(withGroups());
  problem.outputDivisor = 16;
  EXPECT_EQ(refusal(groups({{"o-in-shared", 1}}), target), "legal");
  problem.headDimV = 32;
  auto wanted = groups({{"o-in-shared", 1}});
  EXPECT_EQ(refusal(wanted, target), "output-in-query-slot");
  EXPECT_EQ(checkLegal(problem, wanted, target)->getMessage(),
            "expects rows of the output to be as long as the 16 elements of a "
            "query's where o-in-shared is query-slot, but got 32");
  EXPECT_EQ(refusal(groups({{"o-in-shared", 2}}), target), "legal");
}

TEST_F(LegalityTest, ComputedTilesTakeSharedMemory) {
  TargetAttr target = toy(withGroups());
  problem.headDimV = 32;
  int64_t bytes = getSharedBytes(problem, groups({}), target);
  auto grows = [&](StringRef knob, int64_t value) {
    return getSharedBytes(problem, groups({{knob, value}}), target) - bytes;
  };
  // Weights of 64 queries and 32 keys, and an output of 64 rows of 32.
  EXPECT_EQ(grows("p-in-registers", 0), 64 * 32 * 2);
  EXPECT_EQ(grows("o-in-shared", 2), 64 * 32 * 2);
  EXPECT_EQ(grows("o-in-shared", 1), 0);
}

TEST_F(LegalityTest, PingPongOfOne) {
  TargetAttr target = toy(withGroups());
  EXPECT_EQ(refusal(groups({{"overlap", 2},
                            {"producer-warps", 4},
                            {"block-m", 128},
                            {"num-warps", 8}}),
                    target),
            "legal");
  EXPECT_EQ(refusal(groups({{"overlap", 2}, {"producer-warps", 4}}), target),
            "ping-pong-of-one");
}

TEST_F(LegalityTest, ProducersCountAsThreads) {
  Limits limits = withGroups();
  auto wanted = groups({{"producer-warps", 4}});
  EXPECT_EQ(getThreads(wanted, toy(limits)), (4 + 4) * 4);
  limits.maxThreads = 32;
  EXPECT_EQ(refusal(wanted, toy(limits)), "legal");
  limits.maxThreads = 31;
  EXPECT_EQ(refusal(wanted, toy(limits)), "threads-overflow");
}

TEST_F(LegalityTest, BarriersCountAsSharedMemory) {
  Limits limits = withGroups();
  auto wanted = groups({{"k-stages", 3}});
  // Query, three slots of keys, two of values, and two barriers of 8 bytes for
  // each of these slots.
  int64_t bytes = (64 + 3 * 32 + 2 * 32) * 16 * 2 + (1 + 3 + 2) * 16;
  EXPECT_EQ(getSharedBytes(problem, wanted, toy(limits)), bytes);
  limits.shared = bytes;
  EXPECT_EQ(refusal(wanted, toy(limits)), "legal");
  limits.shared = bytes - 1;
  EXPECT_EQ(refusal(wanted, toy(limits)), "shared-overflow");
}

TEST_F(LegalityTest, ProducersLeaveRegistersToTheOthers) {
  Limits limits = withGroups();
  auto wanted = groups({{"producer-warps", 4},
                        {"num-warps", 16},
                        {"block-m", 256},
                        {"block-n", 16}});
  int64_t registers = getAccumulatorRegisters(problem, wanted, toy(limits));
  EXPECT_EQ(registers, 64 * (16 + 16) / 16);
  // All 80 start with the same multiple of 8. The 16 that copy keep 24 each,
  // and the others get a multiple of 8 of what is left.
  limits.registersPerSm = 112 * 80;
  EXPECT_EQ(getRoleRegisters(wanted, toy(limits))->consumer, registers);
  EXPECT_EQ(refusal(wanted, toy(limits)), "legal");
  limits.registersPerSm -= 1;
  EXPECT_EQ(getRoleRegisters(wanted, toy(limits))->consumer, registers - 8);
  EXPECT_EQ(refusal(wanted, toy(limits)), "register-overflow");
  // As many as there are do not help beyond what a thread can have; those that
  // the others cannot take are the producer's.
  limits.registersPerSm = 1 << 20;
  EXPECT_EQ(getRoleRegisters(wanted, toy(limits))->producer, 256);
  EXPECT_EQ(getRoleRegisters(wanted, toy(limits))->consumer, 256);
  limits.registers = registers - 1;
  EXPECT_EQ(refusal(wanted, toy(limits)), "register-overflow");
}

TEST_F(LegalityTest, RolesShareWhatTheirWorkgroupStartedWith) {
  Limits limits = withGroups();
  limits.registers = 255;
  auto wanted = groups({{"producer-warps", 4}, {"workgroups-per-sm", 3}});
  // A third of the SM is 20 registers for each of 32 threads, and they start
  // with 16. The SM has enough for roles of 24 and 16, and the workgroup has
  // not.
  limits.registersPerSm = 3 * 32 * 23;
  RoleRegisters roles = *getRoleRegisters(wanted, toy(limits));
  EXPECT_LE(roles.producer * 16 + roles.consumer * 16, 16 * 32);
}

TEST_F(LegalityTest, OneProducerWarpHandsNoRegistersOver) {
  Limits limits = withGroups();
  auto wanted = groups({{"producer-warps", 1}});
  EXPECT_FALSE(getRoleRegisters(wanted, toy(limits)));
  int64_t threads = 5 * 4;
  EXPECT_EQ(getThreads(wanted, toy(limits)), threads);
  limits.registers = 1 << 20;
  // Two of the five warps share one of four schedulers, and all have what is
  // left to a thread there.
  limits.registersPerSm = 8 * 4 * 160;
  EXPECT_EQ(getRegisterLimit(wanted, toy(limits)), 160);
}

TEST_F(LegalityTest, PersistenceNeedsAProducer) {
  TargetAttr target = toy(withGroups());
  EXPECT_EQ(refusal(groups({{"persistent", 2}}), target),
            "dynamic-without-producer");
  EXPECT_EQ(refusal(groups({{"persistent", 1}}), target), "legal");
  EXPECT_EQ(skip(groups({{"persistent", 1}})), "persistent-without-producer");
  EXPECT_EQ(skip(groups({{"persistent", 1}, {"producer-warps", 4}})),
            "worth trying");
  auto stages = groups({{"producer-warps", 4}, {"q-stages", 2}});
  EXPECT_EQ(refusal(stages, target), "legal");
  EXPECT_EQ(skip(stages), "query-stages");
  int64_t one = getSharedBytes(
      problem, groups({{"producer-warps", 4}, {"persistent", 1}}), target);
  auto two =
      groups({{"producer-warps", 4}, {"persistent", 1}, {"q-stages", 2}});
  EXPECT_EQ(getSharedBytes(problem, two, target), one + 64 * 16 * 2 + 16);
}

TEST_F(LegalityTest, PartsOfTheOutputAreStoredFromRegisters) {
  TargetAttr target = chip("sm_90a");
  auto of = [&](int64_t path) {
    return groups(
        {{"producer-warps", 4}, {"split-k", 4}, {"o-in-shared", path}});
  };
  problem.outputDivisor = 16;
  EXPECT_EQ(refusal(of(0), target), "legal");
  EXPECT_EQ(refusal(of(2), target), "output-of-split-keys");
}

TEST_F(LegalityTest, IsOpenToSearchesWhereNothingWasSeen) {
  TargetAttr amd = chip("gfx942"), nvidia = chip("sm_80");
  auto isTried = [&](schedule::AttentionAttr wanted, TargetAttr target) {
    EXPECT_EQ(refusal(wanted, target), "legal");
    return !checkWorthTrying(problem, wanted, target);
  };
  for (auto [knob, value] :
       {std::pair<llvm::StringRef, int64_t>{"persistent", 1},
        {"unroll", 2},
        {"rescale", 8}}) {
    auto wanted = schedule({{"block-m", 128}, {knob, value}});
    EXPECT_TRUE(isTried(wanted, amd)) << knob.str();
    EXPECT_EQ(isTried(wanted, nvidia), knob == "rescale") << knob.str();
  }
}

TEST_F(LegalityTest, ChipsAreToldHowMMAsAreIssued) {
  for (int64_t how : {1, 2}) {
    auto wanted = schedule({{"block-m", 128}, {"mma-schedule", how}});
    EXPECT_EQ(refusal(wanted, chip("gfx942")), "legal");
    EXPECT_EQ(refusal(wanted, chip("gfx1201")), "legal");
    EXPECT_EQ(refusal(wanted, chip("sm_80")), "mma-schedule");
  }
}

TEST_F(LegalityTest, ClustersShareWhatAllOfThemSee) {
  TargetAttr target = toy(withGroups());
  auto of = [&](int64_t producers, int64_t persistent) {
    return groups({{"producer-warps", producers},
                   {"persistent", persistent},
                   {"cluster", 2}});
  };
  EXPECT_EQ(refusal(of(4, 0), target), "legal");
  EXPECT_EQ(refusal(of(4, 1), target), "legal");
  EXPECT_EQ(refusal(of(4, 2), target), "cluster-of-dynamic-tiles");
  EXPECT_EQ(checkLegal(problem, of(4, 2), target)->getMessage(),
            "expects persistent to be none or static where cluster is 2, but "
            "got dynamic");
  EXPECT_EQ(refusal(of(0, 0), target), "cluster-without-producer");
  EXPECT_EQ(checkLegal(problem, of(0, 0), target)->getMessage(),
            "expects producer-warps where cluster is 2, but got 0");
  EXPECT_EQ(refusal(schedule({{"cluster", 2}}), target), "one-warp-mma");
  problem.isMasked = true;
  EXPECT_EQ(refusal(of(4, 0), target), "cluster-of-masked");
  EXPECT_EQ(checkLegal(problem, of(4, 0), target)->getMessage(),
            "expects cluster to be 1 where a mask may show query tiles "
            "different keys, but got 2");
  // Tiles behind the last query of a batch see nothing.
  problem.isMasked = false;
  problem.hasQueryLengths = true;
  EXPECT_EQ(refusal(of(4, 0), target), "cluster-of-masked");
  EXPECT_EQ(refusal(groups({{"producer-warps", 4}}), target), "legal");
}

TEST_F(LegalityTest, TilesDivideListedBlocks) {
  AttentionAttr base =
      schedule({{"block-m", 32}, {"block-n", 32}, {"num-warps", 1}});
  EXPECT_EQ(refusal(base, toy({})), "legal");
  problem.listedKeys = 64;
  problem.listedQueries = 96;
  EXPECT_EQ(refusal(base, toy({})), "legal");
  problem.listedKeys = 48;
  EXPECT_EQ(refusal(base, toy({})), "listed-keys");
  EXPECT_EQ(checkLegal(problem, base, toy({}))->getMessage(),
            "expects block-n to divide the 48 keys of a listed block, but got "
            "32");
  problem.listedKeys = 32;
  problem.listedQueries = 80;
  EXPECT_EQ(refusal(base, toy({})), "listed-queries");
  EXPECT_EQ(checkLegal(problem, base, toy({}))->getMessage(),
            "expects block-m to divide the 80 queries of a listed block, but "
            "got 32");
  Limits large;
  large.rows = 32;
  EXPECT_EQ(refusal(base, toy(large)), "listed-blocks");
  problem.listedQueries = 0;
  EXPECT_EQ(refusal(base, toy({})), "legal");
}

TEST_F(LegalityTest, OnlyMasksAreListed) {
  AttentionAttr base =
      schedule({{"block-m", 32}, {"num-warps", 1}, {"list-blocks", 1}});
  EXPECT_EQ(refusal(base, toy({})), "nothing-to-list");
  problem.isListable = true;
  EXPECT_EQ(refusal(base, toy({})), "legal");
}

TEST_F(LegalityTest, MultipliesFitTheRegistersAtEntry) {
  Limits limits = withGroups();
  limits.registers = 255;
  auto wanted = groups({{"producer-warps", 4}});
  // 64x32 accumulators in 16 lanes, and 32 beside them, for each of 32 threads.
  limits.registersPerSm = (64 * 32 / 16 + 32) * 32;
  EXPECT_EQ(refusal(wanted, toy(limits)), "legal");
  limits.registersPerSm -= 1;
  EXPECT_EQ(refusal(wanted, toy(limits)), "registers-at-entry");
}

TEST_F(LegalityTest, MultipliesOfGroupsNeedSomeRegisters) {
  TargetAttr target = chip("sm_90a");
  problem.headDimQK = problem.headDimV = problem.rowDivisor = 64;
  auto of = [&](int64_t blocks) {
    return groups({{"block-m", 192},
                   {"block-n", 64},
                   {"num-warps", 12},
                   {"producer-warps", 4},
                   {"workgroups-per-sm", blocks}});
  };
  EXPECT_EQ(getRegisterLimit(of(1), target), 160);
  EXPECT_EQ(refusal(of(1), target), "legal");
  EXPECT_EQ(getRegisterLimit(of(2), target), 72);
  EXPECT_EQ(refusal(of(2), target), "registers-per-thread");
}

TEST_F(LegalityTest, TileSchedulersTakeSharedMemory) {
  TargetAttr target = toy(withGroups());
  auto bytes = [&](int64_t persistent) {
    return getSharedBytes(
        problem, groups({{"producer-warps", 4}, {"persistent", persistent}}),
        target);
  };
  EXPECT_EQ(bytes(1), bytes(0));
  EXPECT_EQ(bytes(2), bytes(0) + 48);
}

TEST_F(LegalityTest, SwizzleAtomsDivideRows) {
  Type type = Float16Type::get(&context);
  TargetAttr target = toy(withGroups());
  EXPECT_EQ(target.getSwizzleAtom(128, type), 64);
  EXPECT_EQ(target.getSwizzleAtom(64, type), 64);
  EXPECT_EQ(target.getSwizzleAtom(96, type), 32);
  EXPECT_EQ(target.getSwizzleAtom(80, type), 16);
  EXPECT_EQ(target.getSwizzleAtom(64, Float32Type::get(&context)), 32);
  EXPECT_EQ(toy({}).getSwizzleAtom(64, type), 0);
}

TEST_F(LegalityTest, HeadSizesAreRoundedUpToTheInstruction) {
  Limits limits;
  limits.depth = 16;
  limits.columns = 16;
  auto wanted = schedule({{"block-m", 64}, {"block-n", 32}});
  int64_t whole = getSharedBytes(problem, wanted, toy(limits));
  problem.headDimQK = 9;
  problem.headDimV = 1;
  EXPECT_EQ(getSharedBytes(problem, wanted, toy(limits)), whole);
  problem.headDimV = 17;
  EXPECT_GT(getSharedBytes(problem, wanted, toy(limits)), whole);
}

TEST_F(LegalityTest, RefusalsSayBothNumbers) {
  Limits limits;
  limits.maxThreads = 15;
  std::optional<Refusal> reason =
      checkLegal(problem, schedule({{"num-warps", 4}}), toy(limits));
  ASSERT_TRUE(reason);
  EXPECT_EQ(reason->getMessage(),
            "expects at most 15 threads in a workgroup on 'toy', but got 16");
}

TEST_F(LegalityTest, ThePickedScheduleIsLegal) {
  for (StringRef name : getChipNames())
    for (Type type :
         {Type(Float16Type::get(&context)), Type(BFloat16Type::get(&context))})
      for (int64_t size : {16, 40, 64, 80, 96, 128, 192, 256})
        for (int64_t rowDivisor : {size, int64_t(1), int64_t(0)}) {
          problem = {type, size, size, rowDivisor};
          TargetAttr target = chip(name);
          AttentionAttr picked = selectSchedule(problem, target);
          ASSERT_TRUE(picked) << name.str() << ", head size " << size;
          EXPECT_EQ(refusal(picked, target), "legal") << name.str();
        }
}
