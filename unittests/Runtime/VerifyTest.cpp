// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rule must let right results pass, and nothing else.

#include "attune/Runtime/Verify.h"
#include "attune/Runtime/DeviceTensor.h"
#include "gtest/gtest.h"
#include <cmath>
#include <cstring>
#include <vector>

using namespace attune;

static constexpr float kNaN = NAN, kInf = INFINITY;
using Values = std::vector<float>;

static Tensor makeTensor(const Values &values) {
  Tensor tensor(TensorShape::contiguous(DataType::F32,
                                        {static_cast<int64_t>(values.size())}));
  for (auto [offset, value] : llvm::enumerate(values))
    tensor.store(offset, value);
  return tensor;
}

static Comparison compareToReference(const Values &result,
                                     const Values &reference, const Values &low,
                                     DataType type) {
  return compare(makeTensor(result), makeReference(reference, low, type));
}

static Comparison compareLogSumExp(const Values &result,
                                   const Values &reference) {
  return compare(makeTensor(result), makeLogSumExpReference(reference));
}

TEST(Verify, AcceptsTwiceTheErrorOfLowPrecision) {
  Values reference{1.0f, 2.0f}, low{1.01f, 2.0f};
  Comparison none =
      compareToReference(reference, reference, low, DataType::F32);
  EXPECT_TRUE(none.passed);
  EXPECT_EQ(none.maxError, 0);
  EXPECT_NEAR(none.tolerance, 0.02, 1e-4);
  Values near{1.0f, 2.0199f}, far{1.0f, 2.0202f};
  EXPECT_TRUE(compareToReference(near, reference, low, DataType::F32).passed);
  Comparison wrong = compareToReference(far, reference, low, DataType::F32);
  EXPECT_FALSE(wrong.passed);
  EXPECT_EQ(wrong.worst, 1);
  EXPECT_NE(wrong.reason.find("at element 1"), std::string::npos);
}

TEST(Verify, SlackIsThatOfTheOperandType) {
  // 0.3 + 0.011 in bf16 loses the last bits of 0.011.
  Values reference{0.011f};
  Comparison bf16 =
      compareToReference(Values{0.0115f}, reference, reference, DataType::BF16);
  EXPECT_TRUE(bf16.passed);
  EXPECT_GT(bf16.tolerance, 1e-4);
  EXPECT_LT(bf16.tolerance, 4e-3);
  Comparison f32 =
      compareToReference(Values{0.0115f}, reference, reference, DataType::F32);
  EXPECT_FALSE(f32.passed);
  EXPECT_LT(f32.tolerance, 1e-6);
}

TEST(Verify, NaNNeverPasses) {
  Values nan{kNaN}, one{1.0f};
  EXPECT_FALSE(compareToReference(nan, one, one, DataType::BF16).passed);
  Comparison both = compareToReference(nan, nan, nan, DataType::BF16);
  EXPECT_FALSE(both.passed);
  EXPECT_EQ(
      both.reason,
      "expects a reference to compare with at element 0, but that is nan");
  EXPECT_FALSE(compareToReference(one, nan, one, DataType::BF16).passed);
  Comparison last =
      compareToReference(Values{1, 3, kNaN}, {1, 1, 1}, {}, DataType::BF16);
  EXPECT_FALSE(last.passed);
  EXPECT_EQ(last.worst, 2);
  EXPECT_EQ(last.maxError, 2);
  EXPECT_FALSE(compareLogSumExp(nan, one).passed);
}

TEST(Verify, InfinitiesMustAgree) {
  Values masked{-kInf, 1.0f}, lowest{-1e30f, 1.0f};
  EXPECT_TRUE(compareLogSumExp(masked, masked).passed);
  Comparison finite = compareLogSumExp(lowest, masked);
  EXPECT_FALSE(finite.passed);
  EXPECT_EQ(finite.worst, 0);
  EXPECT_FALSE(compareLogSumExp(masked, lowest).passed);
  EXPECT_FALSE(compareLogSumExp(Values{kInf}, Values{-kInf}).passed);
}

TEST(Verify, LogSumExpIsWithinOneThousandth) {
  Values seven{7.0f};
  EXPECT_TRUE(compareLogSumExp(Values{7.0009f}, seven).passed);
  EXPECT_FALSE(compareLogSumExp(Values{7.0011f}, seven).passed);
}

TEST(Verify, LogSumExpHasTheResolutionOfItsScores) {
  Values reference{100.0f, 7.0f};
  auto passes = [&](float value, double resolution) {
    return compare(makeTensor(Values{100.0f, value}),
                   makeLogSumExpReference(reference, resolution))
        .passed;
  };
  EXPECT_TRUE(passes(7.09f, 1e-3));
  EXPECT_FALSE(passes(7.11f, 1e-3));
  EXPECT_FALSE(passes(7.0011f, 1e-6));
}

TEST(Verify, OneWrongElementAmongManyIsFound) {
  Values reference(100000, 0.5f), result = reference;
  result[77777] = 0.6f;
  Comparison comparison =
      compareToReference(result, reference, reference, DataType::BF16);
  EXPECT_FALSE(comparison.passed);
  EXPECT_EQ(comparison.worst, 77777);
}

TEST(Verify, StridedResultsAreComparedInRowMajorOrder) {
  TensorShape shape;
  shape.type = DataType::BF16;
  shape.sizes = {2, 2};
  shape.strides = {1, 3};
  Tensor tensor(shape);
  for (auto [offset, value] : {std::pair(0, 1.0), {3, 2.0}, {1, 3.0}, {4, 4.0}})
    tensor.store(offset, value);
  EXPECT_TRUE(compare(tensor, {{1, 2, 3, 4}, 0}).passed);
  EXPECT_EQ(compare(tensor, {{1, 3, 2, 4}, 0}).worst, 1);
}

static Comparison compareBounded(const Values &result, Values expected,
                                 Values bounds, DataType type = DataType::F32) {
  Tensor tensor(TensorShape::contiguous(type, result.size()));
  for (auto [offset, value] : llvm::enumerate(result))
    tensor.store(offset, value);
  return compare(tensor, makeBoundedReference(expected, bounds));
}

TEST(Verify, BytesAreUnpackedByHalves) {
  // Two rows of two bytes, which begin three bytes apart.
  Tensor tensor(TensorShape{DataType::I8, {2, 2}, {3, 1}});
  for (auto [offset, byte] :
       {std::pair(0, 0x1f), {1, -0x80 + 0x07}, {3, 0x00}, {4, 0x78}})
    tensor.store(offset, byte);
  EXPECT_EQ(tensor.unpack(1).toFloats(), (Values{-1, 7, 1, -8, 0, -8, 0, 7}));
  EXPECT_EQ(tensor.unpack(0).toFloats(), (Values{-1, 7, 0, -8, 1, -8, 0, 7}));
}

TEST(Verify, EachElementHasItsBound) {
  EXPECT_TRUE(compareBounded({1.5f, 2}, {1, 2}, {0.5f, 0}).passed);
  Comparison far = compareBounded({1.5f, 100}, {1, 90}, {0.4f, 10});
  EXPECT_FALSE(far.passed);
  EXPECT_EQ(far.worst, 0);
  EXPECT_EQ(far.maxError, 0.5);
  EXPECT_EQ(far.tolerance, 0.4f);
  // Exact: one bit is too much.
  EXPECT_FALSE(compareBounded({std::nextafter(3.0f, 4.0f)}, {3}, {0}).passed);
  for (float got : {1.f, 1.5f, kNaN}) {
    Comparison unbounded = compareBounded({got}, {1.5f}, {kNaN});
    EXPECT_FALSE(unbounded.passed);
    EXPECT_EQ(unbounded.reason, "expects a reference that says how far off "
                                "element 0 may be, but got nan");
  }
  Values many(100000, 1), bounds(100000, 0.5f), result = many;
  result[77777] = 1.75f;
  result[99999] = 1.6f;
  EXPECT_EQ(compareBounded(result, many, bounds).worst, 77777);
  EXPECT_TRUE(compareBounded({}, {}, {}).passed);
}

TEST(Verify, BoundsReachBeyondWhatATypeHolds) {
  EXPECT_TRUE(compareBounded({kInf}, {65519.f}, {32}, DataType::F16).passed);
  EXPECT_FALSE(compareBounded({kInf}, {65000.f}, {32}, DataType::F16).passed);
  EXPECT_FALSE(compareBounded({-kInf}, {65519.f}, {32}, DataType::F16).passed);
  EXPECT_FALSE(compareBounded({7}, {kInf}, {kInf}).passed);
  EXPECT_TRUE(compareBounded({kNaN}, {kNaN}, {kInf}).passed);
  EXPECT_FALSE(compareBounded({kNaN}, {kNaN}, {kNaN}).passed);
  EXPECT_FALSE(compareBounded({kNaN}, {1}, {kInf}).passed);
  EXPECT_FALSE(compareBounded({1}, {kNaN}, {kInf}).passed);
}

TEST(Verify, WhatNobodyWroteIsNoReference) {
  float unwritten;
  std::memset(&unwritten, DeviceTensor::kPoison, sizeof(unwritten));
  EXPECT_FALSE(compareBounded({unwritten}, {unwritten}, {1}).passed);
  EXPECT_FALSE(compareBounded({unwritten}, {kNaN}, {kNaN}).passed);
  EXPECT_TRUE(compareBounded({unwritten}, {kNaN}, {1}).passed);
}

TEST(Verify, SizesMustAgree) {
  Values one{1.0f}, two{1.0f, 2.0f};
  EXPECT_FALSE(compareToReference(one, two, two, DataType::F32).passed);
}

TEST(Verify, NothingIsRight) {
  EXPECT_TRUE(compareToReference({}, {}, {}, DataType::BF16).passed);
}
