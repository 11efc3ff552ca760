// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How predictions move with the problem and with each knob, in directions that
// do not depend on what the constants are fitted to.

#include "attune/Schedule/Attention/AttentionModel.h"
#include "../Tuning/SmallSpace.h"
#include "attune/Schedule/Attention/Register.h"
#include "attune/Target/TargetRegistry.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace attune;

namespace {
/// Knobs that differ from a schedule of the kind that is fast.
using Changes = std::map<std::string, int64_t>;

struct AttentionModelTest : testing::Test {
  AttentionModelTest() {
    DialectRegistry registry;
    registerAttentionTunable(registry);
    context.appendDialectRegistry(registry);
    context
        .loadDialect<attn::AttnDialect, tile::TileDialect, func::FuncDialect>();
    target = *getTarget(&context, "sm_90a",
                        [&] { return emitError(UnknownLoc::get(&context)); });
  }

  AttentionWork read(llvm::StringRef shape, llvm::StringRef clauses = "",
                     const SizeMap &sizes = {}) {
    std::string type = "tensor<" + shape.str() + "xbf16>";
    std::string text = "func.func @f(%q: " + type + ") -> " + type + " {\n" +
                       "%o = attn.attention %q, %q, %q " + clauses.str() +
                       " : " + type + ", " + type + ", " + type + "\n" +
                       "return %o : " + type + "\n}";
    module = parseSourceString<ModuleOp>(text, ParserConfig(&context));
    EXPECT_TRUE(module) << text;
    AttentionWork work;
    module->walk(
        [&](attn::AttentionOp op) { work = AttentionWork::get(op, sizes); });
    return work;
  }

  double predict(const AttentionWork &work, const Changes &changes = {},
                 std::optional<int64_t> spills = std::nullopt,
                 std::optional<int64_t> loopFlopsPerClock = std::nullopt) {
    Changes values = {{"block-m", 128},      {"block-n", 128},
                      {"num-warps", 8},      {"mma-warps", 4},
                      {"producer-warps", 4}, {"q-in-registers", 0}};
    for (const auto &[knob, value] : changes)
      values[knob] = value;
    tuning::Point point;
    tuning::Space space = tuning::makeSpace(schedule::AttentionAttr::getSet());
    for (const tuning::Knob &knob : space.getKnobs()) {
      auto it = values.find(knob.name);
      point.push_back(it == values.end() ? knob.init : it->second);
    }
    ReportedUsage reported;
    if (spills) {
      reported.registers = 168;
      reported.spillBytes = *spills;
      reported.loopFlopsPerClock = loopFlopsPerClock;
    }
    return AttentionModel(work, target)
        .predict(AttentionKnobs([&](size_t place) { return point[place]; }),
                 spills ? &reported : nullptr);
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  tile::TargetAttr target;
};
} // namespace

TEST_F(AttentionModelTest, TimeIsThatOfTheWork) {
  double once = predict(read("4x16x4096x128"));
  // 4 * 64 * 4096 * 4096 * 128 operations; the chip does 4096 in a clock and
  // SM, and a good kernel half of that at least.
  double least = 4.0 * 64 * 4096 * 4096 * 128 / 4096 / 132 / 1.98;
  EXPECT_GT(once, least);
  EXPECT_LT(once, 2 * least);
  EXPECT_NEAR(predict(read("8x16x4096x128")) / once, 2, 0.1);
  EXPECT_NEAR(predict(read("4x16x8192x128")) / once, 4, 0.2);
}

TEST_F(AttentionModelTest, LoopsTakeWhatTheirMachineCodeSays) {
  AttentionWork work = read("4x16x16384x128");
  double fast = predict(work, {}, 0, 2000), slow = predict(work, {}, 0, 1000);
  EXPECT_NEAR(slow / fast, 2, 0.05);
  // 4 * 64 * 16384 * 16384 * 128 operations.
  EXPECT_NEAR(fast, 4.0 * 64 * 16384 * 16384 * 128 / 2000 / 132 / 1.98,
              0.1 * fast);
}

TEST_F(AttentionModelTest, MasksSaveWhatTheyHide) {
  double full = predict(read("4x16x4096x128"));
  EXPECT_NEAR(predict(read("4x16x4096x128", "causal(top_left)")) / full, 0.55,
              0.06);
  // 1024 of 4096 keys, and the blocks at both ends.
  double window = predict(read("4x16x4096x128", "window(1023, 0, top_left)"));
  EXPECT_GT(window / full, 0.22);
  EXPECT_LT(window / full, 0.4);
  // Of a mask that is not known nothing can be left out.
  EXPECT_GE(
      predict(read("4x16x4096x128", "mask (%b, %h, %m, %n) {\n"
                                    "  %0 = arith.cmpi ne, %m, %n : index\n"
                                    "  attn.yield %0 : i1\n}")),
      full);
}

TEST_F(AttentionModelTest, RegionsSaveWhatIsKnownToBeHidden) {
  // A clause and the region that says the same are one problem.
  llvm::StringRef shape = "4x16x4096x128";
  AttentionWork clause = read(shape, "window(1023, 0, top_left)");
  AttentionWork region = read(shape, "mask (%b, %h, %m, %n) {\n"
                                     "  %w = arith.constant 1024 : index\n"
                                     "  %d = arith.subi %m, %n : index\n"
                                     "  %0 = arith.cmpi ult, %d, %w : index\n"
                                     "  attn.yield %0 : i1\n}");
  EXPECT_EQ(predict(region), predict(clause));
  EXPECT_NEAR(region.getShare(), 0.25 * (1 - 0.125), 0.001);
  EXPECT_EQ(region.getShare(), clause.getShare());
  // One eighth of the keys, in blocks that need no mask.
  AttentionWork chunks = read(shape, "mask (%b, %h, %m, %n) {\n"
                                     "  %c = arith.constant 512 : index\n"
                                     "  %x = arith.divui %m, %c : index\n"
                                     "  %y = arith.divui %n, %c : index\n"
                                     "  %0 = arith.cmpi eq, %x, %y : index\n"
                                     "  attn.yield %0 : i1\n}");
  EXPECT_EQ(chunks.getShare(), 0.125);
  EXPECT_LT(predict(chunks), predict(region));
  EXPECT_EQ(read(shape).getShare(), 1);
}

TEST_F(AttentionModelTest, SizesMayBeDynamic) {
  AttentionWork known = read("4x16x2048x64");
  AttentionWork sized = read("?x?x?x64", "",
                             {{"batch", 4},
                              {"heads", 16},
                              {"kv-heads", 16},
                              {"seq-q", 2048},
                              {"seq-k", 2048}});
  EXPECT_EQ(predict(known), predict(sized));
  EXPECT_GT(predict(read("?x?x?x64")), 0);
}

TEST_F(AttentionModelTest, KnobsHelpWhereTheyShould) {
  AttentionWork work = read("4x16x8192x128", "causal(top_left)");
  double base = predict(work);
  EXPECT_LT(predict(work, {{"overlap", 1}}), base);
  EXPECT_GT(predict(work, {{"k-stages", 1}}), base);
  EXPECT_GT(predict(work, {{"producer-warps", 0}}), base);
  EXPECT_GT(predict(work, {{"split-masked", 0}}), base);
  // Tiles differ in length, and nobody assigns them while the kernel runs.
  EXPECT_GT(predict(work, {{"persistent", 1}, {"tile-order", 0}}), base);
  EXPECT_GT(predict(work, {{"block-m", 64}, {"num-warps", 4}}), base);
  // Warps multiply at a fraction of the speed of groups.
  EXPECT_GT(predict(work, {{"mma-warps", 1}, {"producer-warps", 0}}),
            1.3 * base);
}

TEST_F(AttentionModelTest, RescalingSeldomHelpsWithoutMasks) {
  Changes seldom = {{"rescale", 8}};
  AttentionWork full = read("4x16x4096x128");
  EXPECT_LT(predict(full, seldom), predict(full));
  AttentionWork causal = read("4x16x4096x128", "causal(top_left)");
  EXPECT_EQ(predict(causal, seldom), predict(causal));
}

TEST_F(AttentionModelTest, PolynomialsMoveWorkToVectors) {
  // That costs more where the softmax is a larger part.
  auto cost = [&](llvm::StringRef shape) {
    AttentionWork work = read(shape);
    return predict(work, {{"exp-on-fma", 2}}) / predict(work);
  };
  EXPECT_GT(cost("4x16x4096x128"), 1);
  EXPECT_GT(cost("4x32x4096x64"), cost("4x16x4096x128"));
}

TEST_F(AttentionModelTest, QueriesAreFetchedAhead) {
  Changes one = {{"persistent", 2}}, inAdvance = {{"persistent", 1}};
  Changes two = {{"persistent", 2}, {"q-stages", 2}};
  AttentionWork work = read("4x16x4096x128");
  EXPECT_LT(predict(work, two), predict(work, one));
  EXPECT_LT(predict(work, one), predict(work, inAdvance));
  EXPECT_LT(predict(work), predict(work, one));
  // A tile of few steps stands still for it longer.
  AttentionWork brief = read("32x16x512x128");
  EXPECT_GT(predict(brief, one) / predict(brief, two),
            predict(work, one) / predict(work, two));
}

TEST_F(AttentionModelTest, SlotsAreCounted) {
  AttentionWork work = read("4x16x4096x128");
  EXPECT_LT(predict(work), predict(work, {{"k-stages", 3}}));
  EXPECT_EQ(predict(work), predict(work, {{"k-stages", 4}}));
  // Four workgroups of 56 KiB do not fit beside what the system takes.
  Changes small = {{"block-m", 64},   {"block-n", 64},
                   {"num-warps", 4},  {"q-stages", 2},
                   {"persistent", 2}, {"workgroups-per-sm", 4}};
  Changes large = small;
  large["k-stages"] = 3;
  AttentionWork narrow = read("32x32x512x64");
  EXPECT_LT(1.1 * predict(narrow, small), predict(narrow, large));
}

TEST_F(AttentionModelTest, HeadsInTurnReadKeysAtOnce) {
  Changes inTurn = {{"tile-order", 2}}, oneByOne = {{"tile-order", 0}};
  AttentionWork brief = read("32x16x512x128"), work = read("4x16x4096x128");
  EXPECT_GT(predict(brief, inTurn), 1.02 * predict(brief, oneByOne));
  EXPECT_LT(predict(work, inTurn), 1.02 * predict(work, oneByOne));
}

TEST_F(AttentionModelTest, HeadsThatShareTilesCostOneOfThem) {
  // Eight heads share keys, or have their own; and lengths that are not known
  // keep heads apart.
  auto decode = [&](llvm::StringRef heads, llvm::StringRef length) {
    std::string query = "tensor<256x32x" + length.str() + "x128xbf16>",
                key = "tensor<256x" + heads.str() + "x512x128xbf16>";
    module = parseSourceString<ModuleOp>(
        "func.func @f(%q: " + query + ", %k: " + key + ") -> " + query +
            " {\n%o = attn.attention %q, %k, %k : " + query + ", " + key +
            ", " + key + "\nreturn %o : " + query + "\n}",
        ParserConfig(&context));
    AttentionWork work;
    module->walk([&](attn::AttentionOp op) {
      work = AttentionWork::get(op, {{"seq-q", 1}});
    });
    return predict(work, {{"block-m", 64}, {"num-warps", 4}});
  };
  EXPECT_GT(decode("32", "1"), 4 * decode("4", "1"));
  EXPECT_GT(decode("4", "?"), 4 * decode("4", "1"));
}

TEST_F(AttentionModelTest, ClustersFetchOnce) {
  // Several workgroups with few queries each are bound by the way from the
  // cache.
  Changes alone = {{"block-m", 64},
                   {"num-warps", 4},
                   {"k-stages", 1},
                   {"v-stages", 1},
                   {"workgroups-per-sm", 2}};
  Changes shared = alone;
  shared["cluster"] = 2;
  AttentionWork even = read("4x16x4096x128");
  EXPECT_LT(predict(even, shared), predict(even, alone));
  // Of three tiles the last cluster computes one too many.
  AttentionWork odd = read("64x32x192x128");
  EXPECT_GT(predict(odd, shared), predict(odd, alone));
}

TEST_F(AttentionModelTest, ShortTilesWantCompany) {
  Changes small = {{"block-m", 64}, {"block-n", 64}, {"num-warps", 4}};
  Changes shared = small;
  shared["workgroups-per-sm"] = 3;
  AttentionWork work = read("32x32x512x64", "causal(top_left)");
  EXPECT_LT(predict(work, shared), predict(work, small));
  EXPECT_LT(predict(work, shared), predict(work));
}

TEST_F(AttentionModelTest, SpillsCost) {
  AttentionWork work = read("4x16x4096x128");
  EXPECT_LT(predict(work, {}, 0), predict(work, {}, 100));
  EXPECT_GT(predict(work, {}, 1000), 1.3 * predict(work, {}, 0));
  // Persistent kernels spill outside of their loops first.
  EXPECT_EQ(predict(work, {{"persistent", 1}}, 0),
            predict(work, {{"persistent", 1}}, 100));
}

TEST_F(AttentionModelTest, AnyLegalScheduleHasATime) {
  for (const char *shape : {"1x1x1x64", "1x1x77x128", "2x3x0x64"}) {
    AttentionWork work = read(shape, "causal(bottom_right)");
    size_t number = 0;
    for (StringRef chip : getChipNames()) {
      target = *getTarget(&context, chip,
                          [&] { return emitError(UnknownLoc::get(&context)); });
      TunableOpInterface op;
      module->walk([&](TunableOpInterface found) { op = found; });
      AttentionModel model(work, target);
      tuning::Space space =
          tuning::makeSmallSpace(schedule::AttentionAttr::getSet(), number++);
      tuning::LegalSpace legal = findLegal(
          space, tuning::makeLegality(op.getRules(target).checkLegal));
      auto check = [&](const tuning::Point &point) {
        double time = model.predict(
            AttentionKnobs([&](size_t place) { return point[place]; }),
            nullptr);
        ASSERT_TRUE(std::isfinite(time) && time > 0)
            << chip.str() << " " << shape << " " << space.toString(point);
      };
      ASSERT_FALSE(legal.points.empty()) << chip.str();
      for (const tuning::Point &point : legal.points)
        check(point);
    }
  }
}
