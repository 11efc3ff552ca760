// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "attune/Tuning/Space.h"
#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"
#include <set>

using namespace attune::tuning;

static Space makeSpace() {
  return Space({{"a", 2, {1, 2}}, {"b", 30, {10, 20, 30}}});
}

TEST(Space, NumbersPointsWithTheLastKnobFastest) {
  Space space = makeSpace();
  ASSERT_EQ(space.size(), 6u);
  EXPECT_EQ(space.at(0), (Point{1, 10}));
  EXPECT_EQ(space.at(1), (Point{1, 20}));
  EXPECT_EQ(space.at(5), (Point{2, 30}));
  std::set<Point> all;
  for (uint64_t i = 0; i < space.size(); ++i)
    all.insert(space.at(i));
  EXPECT_EQ(all.size(), 6u);
}

TEST(Space, SpellsEveryKnobOut) {
  Space space = makeSpace();
  EXPECT_EQ(space.getDefault(), (Point{2, 30}));
  EXPECT_EQ(space.toString(space.getDefault()), "a=2 b=30");
  EXPECT_EQ(
      llvm::formatv("{0}", llvm::json::Value(space.toJSON(space.getDefault())))
          .str(),
      R"({"a":2,"b":30})");
}

TEST(Space, CountsRefusalsById) {
  LegalSpace legal = findLegal(
      makeSpace(), [](llvm::ArrayRef<int64_t> point) -> std::optional<Refusal> {
        if (point[1] == 10)
          return Refusal{"b-small", "b is " + std::to_string(point[1])};
        if (point[0] == 2 && point[1] == 30)
          return Refusal{"both-large", "too much"};
        return std::nullopt;
      });
  EXPECT_EQ(legal.points, (std::vector<Point>{{1, 20}, {1, 30}, {2, 20}}));
  ASSERT_EQ(legal.refused.size(), 2u);
  EXPECT_EQ(legal.refused["b-small"].count, 2u);
  EXPECT_EQ(legal.refused["b-small"].message, "b is 10");
  EXPECT_EQ(legal.refused["b-small"].example, (Point{1, 10}));
  EXPECT_EQ(legal.refused["both-large"].count, 1u);
}

TEST(Space, MayHaveNoLegalPoint) {
  LegalSpace legal = findLegal(makeSpace(), [](llvm::ArrayRef<int64_t>) {
    return Refusal{"no", "never"};
  });
  EXPECT_TRUE(legal.points.empty());
  EXPECT_EQ(legal.refused["no"].count, 6u);
}
