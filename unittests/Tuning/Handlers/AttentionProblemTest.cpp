// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The search space of an op: no schedule is lost where many are judged at once,
// and enough of them are legal on real chips.

#include "attune/Tuning/AttentionProblem.h"
#include "attune/Schedule/Legality.h"
#include "attune/Target/TargetRegistry.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace attune;
using namespace attune::tuning;

namespace {
class AttentionProblemTest : public testing::Test {
protected:
  AttentionProblemTest() {
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
    module->walk([&](attn::AttentionOp found) { op = found; });
  }

  tile::TargetAttr chip(StringRef name) {
    FailureOr<tile::TargetAttr> target = getTarget(
        &context, name, [&] { return emitError(UnknownLoc::get(&context)); });
    EXPECT_TRUE(succeeded(target)) << name.str();
    return *target;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  attn::AttentionOp op;
};

/// The space with fewer values: in each domain every third, with the first and
/// the last.
Space makeSmallSpace() {
  std::vector<Knob> knobs = makeScheduleSpace().getKnobs();
  for (Knob &knob : knobs) {
    std::vector<int64_t> fewer;
    for (size_t i = 0; i < knob.domain.size(); i += 3)
      fewer.push_back(knob.domain[i]);
    if (fewer.back() != knob.domain.back())
      fewer.push_back(knob.domain.back());
    knob.domain = std::move(fewer);
  }
  return Space(std::move(knobs));
}
} // namespace

TEST_F(AttentionProblemTest, CountsAreThoseOfAskingForEachSchedule) {
  ScheduleProblem problem = ScheduleProblem::get(op);
  Space space = makeSmallSpace();
  for (StringRef name : getChipNames()) {
    tile::TargetAttr target = chip(name);
    std::vector<Point> points;
    std::map<std::string, uint64_t> refused;
    for (uint64_t index = 0; index != space.size(); ++index) {
      Point point = space.at(index);
      Schedule schedule([&](size_t place) { return point[place]; });
      if (auto refusal = checkSchedule(problem, schedule, target))
        ++refused[refusal->id.str()];
      else
        points.push_back(std::move(point));
    }
    LegalSpace legal = findLegal(space, makeLegality(op, target));
    EXPECT_EQ(legal.points, points) << name.str();
    EXPECT_EQ(legal.refused.size(), refused.size()) << name.str();
    for (const auto &[id, count] : refused)
      EXPECT_EQ(legal.refused[id].count, count) << name.str() << ", " << id;
  }
}

TEST_F(AttentionProblemTest, AnExampleBreaksItsRule) {
  Space space = makeScheduleSpace();
  for (StringRef name : getChipNames()) {
    Legality legality = makeLegality(op, chip(name));
    for (const auto &[id, refused] : findLegal(space, legality).refused) {
      std::optional<tuning::Refusal> refusal = legality(Probe(refused.example));
      ASSERT_TRUE(refusal) << id;
      EXPECT_EQ(refusal->id, id);
      EXPECT_EQ(refusal->getMessage(), refused.message);
    }
  }
}

TEST_F(AttentionProblemTest, EnoughOfTheSpaceIsLegal) {
  Space space = makeScheduleSpace();
  LegalSpace legal = findLegal(space, makeLegality(op, chip("sm_90")));
  EXPECT_GE(legal.points.size(), 450u);
  uint64_t sum = legal.points.size();
  for (const auto &[id, refused] : legal.refused)
    sum += refused.count;
  EXPECT_EQ(sum, space.size());
  // These limits bind on this chip.
  for (const char *id : {"rows-per-warp", "shared-overflow", "shared-per-core",
                         "register-overflow"})
    EXPECT_EQ(legal.refused.count(id), 1u) << id;
}
