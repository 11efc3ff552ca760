// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The points of a script, by numbers that were worked out by hand.

#include "attune/Tuning/ScriptSpace.h"
#include "attune/InitAllDialects.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace attune;
using namespace attune::tuning;

namespace {
struct ScriptSpaceTest : testing::Test {
  ScriptSpaceTest() {
    DialectRegistry registry;
    attune::registerAllDialects(registry);
    context.appendDialectRegistry(registry);
  }

  /// A script with `body` in its sequence.
  void read(llvm::StringRef body) {
    std::string text =
        "module attributes {transform.with_named_sequence} {\n"
        "transform.named_sequence @__transform_main(%root: !transform.any_op "
        "{transform.readonly}) {\n" +
        body.str() + "\ntransform.yield\n}\n}\n";
    module = parseSourceString<ModuleOp>(text, ParserConfig(&context));
    ASSERT_TRUE(bool(module));
    FailureOr<ScriptSpace> created = ScriptSpace::create(*module);
    ASSERT_TRUE(succeeded(created));
    space = std::move(*created);
  }

  /// Values of x and y from -3 to 3 at which an assertion about them holds.
  std::vector<Point> findSolutions(llvm::StringRef condition) {
    read(R"(
      %a = transform.tune.knob<"x"> options = [-3, -2, -1, 0, 1, 2, 3]
        -> !transform.param<i64>
      %b = transform.tune.knob<"y"> options = [-3, -2, -1, 0, 1, 2, 3]
        -> !transform.param<i64>
      transform.smt.constrain_params(%a, %b)
        : (!transform.param<i64>, !transform.param<i64>) -> () {
      ^bb0(%x: !smt.int, %y: !smt.int):
        %zero = smt.int.constant 0
        %two = smt.int.constant 2
    )" + condition.str() +
         "\nsmt.assert %holds\n}");
    return findLegal(space->getSpace(), space->makeLegality()).points;
  }

  void expectSolutions(llvm::StringRef condition,
                       llvm::function_ref<bool(int64_t, int64_t)> holds) {
    std::vector<Point> expected;
    for (int64_t x = -3; x <= 3; ++x)
      for (int64_t y = -3; y <= 3; ++y)
        if (holds(x, y))
          expected.push_back({x, y});
    EXPECT_EQ(findSolutions(condition), expected) << condition.str();
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  std::optional<ScriptSpace> space;
};
} // namespace

TEST_F(ScriptSpaceTest, EvaluatesIntegers) {
  expectSolutions("%s = smt.int.add %x, %y, %two\n"
                  "%holds = smt.int.cmp gt %s, %zero",
                  [](int64_t x, int64_t y) { return x + y + 2 > 0; });
  expectSolutions("%s = smt.int.mul %x, %y\n"
                  "%d = smt.int.sub %s, %two\n"
                  "%holds = smt.eq %d, %zero : !smt.int",
                  [](int64_t x, int64_t y) { return x * y == 2; });
  expectSolutions("%s = smt.int.abs %x\n"
                  "%holds = smt.int.cmp le %s, %y",
                  [](int64_t x, int64_t y) { return std::abs(x) <= y; });
  expectSolutions(
      "%holds = smt.distinct %x, %y, %zero : !smt.int",
      [](int64_t x, int64_t y) { return x != y && x != 0 && y != 0; });
}

// The remainder is never negative, and x = y * quotient + remainder.
TEST_F(ScriptSpaceTest, DividesAsSMTLIBDoes) {
  auto remainder = [](int64_t x, int64_t y) {
    int64_t rest = x % y;
    return rest < 0 ? rest + std::abs(y) : rest;
  };
  expectSolutions(
      "%r = smt.int.mod %x, %y\n"
      "%q = smt.int.div %x, %y\n"
      "%p = smt.int.mul %q, %y\n"
      "%s = smt.int.add %p, %r\n"
      "%same = smt.eq %s, %x : !smt.int\n"
      "%one = smt.int.constant 1\n"
      "%isOne = smt.eq %r, %one : !smt.int\n"
      "%holds = smt.and %same, %isOne",
      [&](int64_t x, int64_t y) { return y != 0 && remainder(x, y) == 1; });
}

TEST_F(ScriptSpaceTest, EvaluatesTruthValues) {
  llvm::StringRef both = "%a0 = smt.int.cmp lt %x, %zero\n"
                         "%b0 = smt.int.cmp ge %y, %two\n";
  auto check = [&](llvm::StringRef text, auto holds) {
    expectSolutions((both + text).str(),
                    [&](int64_t x, int64_t y) { return holds(x < 0, y >= 2); });
  };
  check("%holds = smt.and %a0, %b0", [](bool a, bool b) { return a && b; });
  check("%holds = smt.or %a0, %b0", [](bool a, bool b) { return a || b; });
  check("%holds = smt.xor %a0, %b0", [](bool a, bool b) { return a != b; });
  check("%holds = smt.implies %a0, %b0",
        [](bool a, bool b) { return !a || b; });
  check("%holds = smt.not %a0", [](bool a, bool) { return !a; });
  check("%true = smt.constant true\n"
        "%holds = smt.ite %a0, %b0, %true : !smt.bool",
        [](bool a, bool b) { return a ? b : true; });
}

TEST_F(ScriptSpaceTest, EvaluatesWhatMatters) {
  auto holds = [](int64_t x, int64_t y) { return y == 0 || x % y == 0; };
  llvm::StringRef rest = "%any = smt.distinct %y, %zero : !smt.int\n"
                         "%r = smt.int.mod %x, %y\n"
                         "%none = smt.eq %r, %zero : !smt.int\n"
                         "%not = smt.not %any\n";
  for (llvm::StringRef text :
       {"%holds = smt.implies %any, %none", "%holds = smt.or %not, %none",
        "%holds = smt.ite %any, %none, %not : !smt.bool"})
    expectSolutions((rest + text).str(), holds);
}

TEST_F(ScriptSpaceTest, RefusesWhatHasNoValue) {
  EXPECT_EQ(findSolutions("%q = smt.int.div %x, %y\n"
                          "%holds = smt.eq %q, %q : !smt.int")
                .size(),
            42u);
  findSolutions("%big = smt.int.constant 9223372036854775807\n"
                "%s = smt.int.add %big, %x\n"
                "%holds = smt.eq %s, %s : !smt.int");
  LegalSpace legal = findLegal(space->getSpace(), space->makeLegality());
  EXPECT_EQ(legal.points.size(), 28u);
  ASSERT_EQ(legal.refused.size(), 1u);
  EXPECT_TRUE(llvm::StringRef(legal.refused.begin()->second.message)
                  .ends_with("where 'smt.int.add' needs more than 64 bits"));
}

TEST_F(ScriptSpaceTest, FollowsParams) {
  read(R"(
    %flag = transform.tune.knob<"flag"> options = [false, true]
      -> !transform.param<i1>
    %k = transform.tune.knob<"k"> options = [1, 2, 3] -> !transform.param<i64>
    %c = transform.param.constant 2 : i64 -> !transform.param<i64>
    %twice = transform.smt.constrain_params(%k, %c)
      : (!transform.param<i64>, !transform.param<i64>)
      -> !transform.param<i64> {
    ^bb0(%x: !smt.int, %y: !smt.int):
      %product = smt.int.mul %x, %y
      smt.yield %product : !smt.int
    }
    %region = transform.tune.knob<"region"> options = [0, 1]
      -> !transform.param<i64>
    %either = transform.tune.alternatives<"either"> selected_region = %region
      : !transform.param<i64> -> !transform.param<i64> {
      transform.yield %twice : !transform.param<i64>
    }, {
      transform.yield %k : !transform.param<i64>
    }
    transform.smt.constrain_params(%either, %flag)
      : (!transform.param<i64>, !transform.param<i1>) -> () {
    ^bb0(%x: !smt.int, %f: !smt.bool):
      %three = smt.int.constant 3
      %least = smt.int.cmp ge %x, %three
      %holds = smt.and %least, %f
      smt.assert %holds {reason = "least"}
    }
  )");
  LegalSpace legal = findLegal(space->getSpace(), space->makeLegality());
  // flag, k, region
  EXPECT_EQ(legal.points,
            (std::vector<Point>{{1, 2, 0}, {1, 3, 0}, {1, 3, 1}}));
  EXPECT_EQ(legal.refused["least"].count, 9u);
  EXPECT_EQ(space->getSpace().toString({1, 3, 1}), "flag=true k=3 region=1");

  space->select({1, 2, 0});
  EXPECT_TRUE(succeeded(verify(*module)));
  std::string text;
  llvm::raw_string_ostream os(text);
  module->print(os);
  EXPECT_NE(text.find("transform.param.constant 4 : i64"), std::string::npos);
  EXPECT_EQ(text.find("constrain_params"), std::string::npos);
  EXPECT_NE(text.find("<\"flag\"> = true from"), std::string::npos);
  ScriptSpace::unselect(*module);
  EXPECT_FALSE(module
                   ->walk([](transform::tune::KnobOp op) {
                     return op.getSelectedAttr() ? WalkResult::interrupt()
                                                 : WalkResult::advance();
                   })
                   .wasInterrupted());
}

TEST_F(ScriptSpaceTest, TakesWhatIsSelectedAsDefault) {
  read(R"(
    %k = transform.tune.knob<"k"> = 8 : i64 from options = [4, 8]
      -> !transform.param<i64>
    %l = transform.tune.knob<"k"> = 8 : i64 from options = [4, 8]
      -> !transform.param<i64>
    transform.tune.alternatives<"a"> selected_region = 1 {
      transform.yield
    }, {
      transform.yield
    }
  )");
  EXPECT_EQ(space->getSpace().size(), 4u);
  EXPECT_EQ(space->getSpace().getDefault(), (Point{8, 1}));
}
