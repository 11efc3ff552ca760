// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The search space of an op: no schedule is lost where many are judged at once,
// and enough of them are legal on real chips.

#include "../SmallSpace.h"
#include "attune/Schedule/Attention/Legality.h"
#include "attune/Schedule/Attention/Register.h"
#include "attune/Target/TargetRegistry.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace attune;
using namespace attune::tuning;

namespace {
class TunableTaskTest : public testing::Test {
protected:
  TunableTaskTest() {
    DialectRegistry registry;
    registerAttentionTunable(registry);
    context.appendDialectRegistry(registry);
    context
        .loadDialect<attn::AttnDialect, tile::TileDialect, func::FuncDialect>();
    module = parseSourceString<ModuleOp>(R"mlir(
      func.func @f(%q: tensor<1x1x256x128xbf16>) -> tensor<1x1x256x128xbf16> {
        %o = attn.attention %q, %q, %q causal(top_left)
          : tensor<1x1x256x128xbf16>, tensor<1x1x256x128xbf16>,
            tensor<1x1x256x128xbf16>
        return %o : tensor<1x1x256x128xbf16>
      })mlir",
                                         ParserConfig(&context));
    module->walk([&](TunableOpInterface found) { op = found; });
  }

  tile::TargetAttr chip(StringRef name) {
    FailureOr<tile::TargetAttr> target = getTarget(
        &context, name, [&] { return emitError(UnknownLoc::get(&context)); });
    EXPECT_TRUE(succeeded(target)) << name.str();
    return *target;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  TunableOpInterface op;
};

} // namespace

TEST_F(TunableTaskTest, CountsAreThoseOfAskingForEachSchedule) {
  for (auto [number, name] : llvm::enumerate(getChipNames())) {
    Space space = makeSmallSpace(schedule::AttentionAttr::getSet(), number);
    tile::TargetAttr target = chip(name);
    std::vector<Point> points;
    std::map<std::string, uint64_t> refused;
    for (uint64_t index = 0; index != space.size(); ++index) {
      Point point = space.at(index);
      if (auto refusal = op.getRules(target).checkLegal(readFrom(point)))
        ++refused[refusal->id.str()];
      else
        points.push_back(std::move(point));
    }
    LegalSpace legal =
        findLegal(space, makeLegality(op.getRules(target).checkLegal));
    EXPECT_EQ(legal.points, points) << name.str();
    EXPECT_EQ(legal.refused.size(), refused.size()) << name.str();
    for (const auto &[id, count] : refused)
      EXPECT_EQ(legal.refused[id].count, count) << name.str() << ", " << id;
  }
}

TEST_F(TunableTaskTest, AnExampleBreaksItsRule) {
  for (auto [number, name] : llvm::enumerate(getChipNames())) {
    Space space = makeSmallSpace(schedule::AttentionAttr::getSet(), number);
    Legality legality = makeLegality(op.getRules(chip(name)).checkLegal);
    for (const auto &[id, refused] : findLegal(space, legality).refused) {
      std::optional<tuning::Refusal> refusal = legality(Probe(refused.example));
      ASSERT_TRUE(refusal) << id;
      EXPECT_EQ(refusal->id, id);
      EXPECT_EQ(refusal->getMessage(), refused.message);
    }
  }
}

TEST_F(TunableTaskTest, EnoughOfTheSpaceIsLegal) {
  // Of knobs that no rule of this chip reads, or that multiply what is legal,
  // one value.
  llvm::Expected<Space> limited = makeSpace(schedule::AttentionAttr::getSet())
                                      .limit({{"unroll", {"1"}},
                                              {"rescale", {"0"}},
                                              {"split-masked", {"1"}},
                                              {"exp-on-fma", {"0"}},
                                              {"tile-order", {"descending"}},
                                              {"split-k", {"1"}},
                                              {"warps-n", {"1"}}});
  ASSERT_TRUE(static_cast<bool>(limited));
  const Space &space = *limited;
  LegalSpace legal =
      findLegal(space, makeLegality(op.getRules(chip("sm_90")).checkLegal));
  EXPECT_GE(legal.points.size(), 450u);
  uint64_t sum = legal.points.size();
  for (const auto &[id, refused] : legal.refused)
    sum += refused.count;
  EXPECT_EQ(sum, space.size());
  // These limits bind on this chip.
  for (const char *id : {"rows-per-warp", "shared-overflow", "shared-per-sm",
                         "register-overflow"})
    EXPECT_EQ(legal.refused.count(id), 1u) << id;
}

TEST_F(TunableTaskTest, WhatIsNotWorthTryingIsLegalAndCountedApart) {
  for (auto [number, name] : llvm::enumerate(getChipNames())) {
    Space space = makeSmallSpace(schedule::AttentionAttr::getSet(), number);
    ScheduleRules rules = op.getRules(chip(name));
    Legality legality = makeLegality(rules.checkLegal);
    LegalSpace all = findLegal(space, legality);
    LegalSpace some =
        findLegal(space, legality, makeLegality(rules.checkWorthTrying));
    EXPECT_TRUE(all.skipped.empty()) << name.str();
    EXPECT_LT(some.points.size(), all.points.size()) << name.str();
    size_t worth = llvm::count_if(all.points, [&](const Point &point) {
      return !rules.checkWorthTrying(readFrom(point));
    });
    EXPECT_EQ(some.points.size(), worth) << name.str();
    uint64_t sum = some.points.size();
    for (const auto &[id, refused] : some.refused)
      sum += refused.count;
    for (const auto &[id, skipped] : some.skipped)
      sum += skipped.count;
    EXPECT_EQ(sum, space.size()) << name.str();
  }
}

namespace {
/// What the key of a problem is made of.
struct KeyTest : TunableTaskTest {
  std::string getKey(const Twine &text, const SizeMap &sizes = {}) {
    OwningOpRef<ModuleOp> parsed =
        parseSourceString<ModuleOp>(text.str(), ParserConfig(&context));
    if (!parsed) {
      ADD_FAILURE() << text.str();
      return "";
    }
    TunableOpInterface found;
    parsed->walk([&](TunableOpInterface inside) { found = inside; });
    return makeTask(found, chip("sm_90a"), sizes).key;
  }

  /// A function with attention of these types.
  static std::string makeText(StringRef q, StringRef k, StringRef v,
                              StringRef o, StringRef options = "") {
    return ("func.func @f(%q: " + q + ", %k: " + k + ", %v: " + v + ") -> " +
            o + " { %o = attn.attention %q, %k, %v " + options + " : " + q +
            ", " + k + ", " + v + " return %o : " + o + " }")
        .str();
  }
  static std::string makeText(StringRef type, StringRef options = "") {
    return makeText(type, type, type, type, options);
  }
};
} // namespace

TEST_F(KeyTest, EveryPropertyOfAProblemCounts) {
  StringRef type = "tensor<2x8x256x64xbf16>";
  std::set<std::string> keys;
  size_t count = 0;
  auto add = [&](const std::string &text, const SizeMap &sizes = {}) {
    keys.insert(getKey(text, sizes));
    EXPECT_EQ(keys.size(), ++count) << text;
  };
  add(makeText(type));
  for (StringRef other :
       {"tensor<2x8x256x64xf16>", "tensor<3x8x256x64xbf16>",
        "tensor<2x4x256x64xbf16>", "tensor<2x8x512x64xbf16>",
        "tensor<2x8x256x128xbf16>", "tensor<?x8x256x64xbf16>"})
    add(makeText(other));
  for (StringRef strides : {"#attn.strided<[?, ?, ?, 1], divisor = 8>",
                            "#attn.strided<[?, ?, ?, 1], divisor = 16>"}) {
    std::string strided = ("tensor<2x8x256x64xbf16, " + strides + ">").str();
    add(makeText(strided, strided, strided, type));
  }
  // Keys and values of other heads, lengths and sizes.
  add(makeText(type, "tensor<2x2x256x64xbf16>", "tensor<2x2x256x64xbf16>",
               type));
  add(makeText(type, "tensor<2x8x128x64xbf16>", "tensor<2x8x128x64xbf16>",
               type));
  add(makeText(type, type, "tensor<2x8x256x32xbf16>",
               "tensor<2x8x256x32xbf16>"));
  for (StringRef options :
       {"causal(top_left)", "causal(bottom_right)", "window(16, ?, top_left)",
        "window(32, ?, top_left)", "order(bshd)", "softcap(20.0)",
        "softcap(30.0)", "scale(0.5)", "scale(0.25)"})
    add(makeText(type, options));
  std::string dynamic = makeText("tensor<2x8x?x64xbf16>");
  add(dynamic);
  for (int64_t length : {128, 256})
    add(dynamic, {{"seq-q", length}, {"seq-k", length}});
}

TEST_F(KeyTest, WhereAProblemStandsDoesNotCount) {
  StringRef type = "tensor<2x8x256x64xbf16>";
  std::string key = getKey(makeText(type));
  // Permuted and aliased arguments, other names and places, a schedule.
  for (StringRef body :
       {"func.func @g(%v: !t, %q: !t, %k: !t) -> !t { %o = attn.attention %q, "
        "%k, %v : !t, !t, !t return %o : !t }",
        "func.func @f(%q: !t) -> !t { %o = attn.attention %q, %q, %q : !t, !t, "
        "!t return %o : !t }",
        "func.func @f(%n: index, %a: !t, %b: !t) -> (!t, !t) { %o = "
        "attn.attention %a, %b, %b : !t, !t, !t return %b, %o : !t, !t }"})
    EXPECT_EQ(getKey("!t = " + type + "\n" + body), key) << body.str();
  OwningOpRef<ModuleOp> parsed =
      parseSourceString<ModuleOp>(makeText(type), ParserConfig(&context));
  parsed->walk([&](TunableOpInterface found) {
    setSchedule(found,
                makeSpace(schedule::AttentionAttr::getSet()).getDefault());
    EXPECT_EQ(makeTask(found, chip("sm_90a"), {}).key, key);
  });
}
