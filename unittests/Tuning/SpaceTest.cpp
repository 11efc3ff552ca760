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

TEST(Space, SpellsValuesThatAreNotNumbers) {
  Space space({{"a", 2, {1, 2}}, {"b", 0, {0, 1, 2}, {"for", "forall", "1"}}});
  EXPECT_EQ(space.toString({1, 2}), "a=1 b=1");
  EXPECT_EQ(space.toString(space.getDefault()), "a=2 b=for");
  llvm::json::Object object = space.toJSON({2, 1});
  EXPECT_EQ(object.getString("b"), "forall");
  EXPECT_EQ(space.fromJSON(object), (Point{2, 1}));
  EXPECT_EQ(space.fromJSON(llvm::json::Object{{"a", 3}, {"b", "for"}}),
            std::nullopt);
  EXPECT_EQ(space.fromJSON(llvm::json::Object{{"a", 1}, {"b", 1}}),
            std::nullopt);
  EXPECT_EQ(space.fromJSON(llvm::json::Object{{"a", 1}}), std::nullopt);

  llvm::Expected<Space> limited = space.limit({{"b", {"forall"}}});
  ASSERT_TRUE(bool(limited)) << llvm::toString(limited.takeError());
  EXPECT_EQ(limited->size(), 2u);
  EXPECT_EQ(limited->toString(limited->at(0)), "a=1 b=forall");
  EXPECT_EQ(llvm::toString(space.limit({{"b", {"while"}}}).takeError()),
            "expects b to be one of for, forall, 1, but got while");
}

TEST(Space, WalksFurtherValuesWhereItIsAskedForThem) {
  Space space({{"a", 2, {1, 2}}, {"b", 1, {1}, /*labels=*/{}, {2, 4}}});
  EXPECT_EQ(space.size(), 2u);
  EXPECT_TRUE(space.getKnobs()[1].admits(1));
  EXPECT_TRUE(space.getKnobs()[1].admits(4));
  EXPECT_FALSE(space.getKnobs()[1].admits(3));
  llvm::Expected<Space> asked = space.limit({{"b", {"4", "1"}}});
  ASSERT_TRUE(bool(asked));
  EXPECT_EQ(asked->size(), 4u);
  EXPECT_EQ(asked->at(1), (Point{1, 4}));
  EXPECT_EQ(space.fromJSON(llvm::json::Object{{"a", 1}, {"b", 4}}),
            (Point{1, 4}));
  // A knob that is not named keeps its domain.
  llvm::Expected<Space> other = space.limit({{"a", {"1"}}});
  ASSERT_TRUE(bool(other));
  EXPECT_EQ(other->size(), 1u);
  llvm::Expected<Space> none = space.limit({{"b", {"3"}}});
  ASSERT_FALSE(bool(none));
  EXPECT_EQ(llvm::toString(none.takeError()),
            "expects b to be one of 1, 2, 4, but got 3");
}

TEST(Space, CountsRefusalsById) {
  LegalSpace legal =
      findLegal(makeSpace(), [](const Probe &point) -> std::optional<Refusal> {
        if (point[1] == 10)
          return Refusal{"b-small", [] { return "b is 10"; }};
        if (point[0] == 2 && point[1] == 30)
          return Refusal{"both-large", [] { return "too much"; }};
        return std::nullopt;
      });
  EXPECT_EQ(legal.points, (std::vector<Point>{{1, 20}, {1, 30}, {2, 20}}));
  ASSERT_EQ(legal.refused.size(), 2u);
  EXPECT_EQ(legal.refused["b-small"].count, 2u);
  EXPECT_EQ(legal.refused["b-small"].message, "b is 10");
  EXPECT_EQ(legal.refused["b-small"].example, (Point{1, 10}));
  EXPECT_EQ(legal.refused["both-large"].count, 1u);
}

// A space of which nobody could ask for each point.
TEST(Space, AsksOnceWhereTheAnswerIsTheSame) {
  Space space(std::vector<Knob>(31, {"", 0, {0, 1, 2, 3}}));
  size_t asked = 0;
  LegalSpace legal =
      findLegal(space, [&](const Probe &point) -> std::optional<Refusal> {
        ++asked;
        if (point[30] != 1)
          return Refusal{"last", [] { return "not 1"; }};
        int64_t sum = 0;
        for (size_t knob = 0; knob < 29; ++knob)
          if ((sum += point[knob]) > 0)
            return Refusal{"sum", [] { return "not 0"; }};
        return std::nullopt;
      });
  // One for each wrong value of a knob, and one for all that is legal.
  EXPECT_EQ(asked, 3u + 29 * 3 + 1);
  ASSERT_EQ(legal.points.size(), 4u);
  for (auto [value, point] : llvm::enumerate(legal.points)) {
    Point expected(31, 0);
    expected[29] = static_cast<int64_t>(value);
    expected[30] = 1;
    EXPECT_EQ(point, expected);
  }
  EXPECT_EQ(legal.refused["last"].count, space.size() / 4 * 3);
  EXPECT_EQ(legal.refused["sum"].count, space.size() / 4 - 4);
}

TEST(Space, CountsAreThoseOfAskingForEachPoint) {
  // Reads knobs in another order than theirs, and in one that depends on them.
  auto legality = [](const Probe &point) -> std::optional<Refusal> {
    if (point[2] + point[0] > 5)
      return Refusal{"a", [] { return ""; }};
    if (point[2] % 2 == 0 && point[3] == 1)
      return Refusal{"b", [] { return ""; }};
    if (point[2] % 2 == 1 && point[1] * point[0] < 3)
      return Refusal{"c", [] { return ""; }};
    return std::nullopt;
  };
  Space space({{"", 0, {4, 1, 0}},
               {"", 0, {2, 3, 1}},
               {"", 0, {3, 4, 1, 2, 0}},
               {"", 0, {0, 1}},
               {"", 0, {7}},
               {"", 0, {0, 1}}});
  std::vector<Point> points;
  std::map<std::string, uint64_t> refused;
  for (uint64_t index = 0; index != space.size(); ++index) {
    Point point = space.at(index);
    if (std::optional<Refusal> refusal = legality(Probe(point)))
      ++refused[refusal->id];
    else
      points.push_back(point);
  }
  LegalSpace legal = findLegal(space, legality);
  EXPECT_EQ(legal.points, points);
  ASSERT_EQ(refused.size(), 3u);
  ASSERT_EQ(legal.refused.size(), 3u);
  for (const auto &[id, count] : refused)
    EXPECT_EQ(legal.refused[id].count, count) << id;
}

TEST(Space, MayHaveNoLegalPoint) {
  LegalSpace legal = findLegal(makeSpace(), [](const Probe &) {
    return Refusal{"no", [] { return "never"; }};
  });
  EXPECT_TRUE(legal.points.empty());
  EXPECT_EQ(legal.refused["no"].count, 6u);
}
