// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "attune/Runtime/Random.h"
#include "gtest/gtest.h"
#include <algorithm>
#include <cmath>
#include <set>

using namespace attune;

TEST(Random, NormalHasMeanZeroAndVarianceOne) {
  Tensor tensor(TensorShape::contiguous(DataType::F32, {100, 1000}));
  fillNormal(tensor, 1);
  double sum = 0, squares = 0;
  for (float value : tensor.toFloats()) {
    sum += value;
    squares += value * value;
    EXPECT_LE(std::fabs(value), 6);
  }
  EXPECT_NEAR(sum / 1e5, 0, 0.02);
  EXPECT_NEAR(squares / 1e5, 1, 0.02);
}

TEST(Random, TheSeedDecidesTheBits) {
  Tensor tensor(TensorShape::contiguous(DataType::F32, {3}));
  fillNormal(tensor, 42);
  // Stored results name seeds, so these values may never change.
  EXPECT_EQ(tensor.toFloats(),
            (std::vector<float>{-24808.f / 65536, -66029.f / 65536,
                                -83117.f / 65536}));
  Tensor other = tensor;
  fillNormal(other, 43);
  EXPECT_NE(tensor.bytes, other.bytes);
}

TEST(Random, ValuesComeInRowMajorOrderWhateverTheShape) {
  Tensor row(TensorShape::contiguous(DataType::F32, {7 * 100 * 3}));
  fillNormal(row, 42);
  TensorShape transposed, overlapping;
  transposed.sizes = {7, 100, 3};
  transposed.strides = {3, 21, 1};
  for (const TensorShape &shape :
       {TensorShape::contiguous(DataType::F32, {7, 100, 3}),
        TensorShape::contiguous(DataType::F32, {1, 1, 700, 3}), transposed}) {
    Tensor tensor(shape);
    fillNormal(tensor, 42);
    EXPECT_EQ(tensor.toFloats(), row.toFloats());
  }
  // Of elements in one place, the last remains.
  overlapping.sizes = {700, 3};
  overlapping.strides = {0, 1};
  Tensor last(overlapping);
  fillNormal(last, 42);
  EXPECT_EQ(last.toFloats()[0], row.toFloats()[699 * 3]);
  TensorShape scalar;
  Tensor one(scalar);
  fillNormal(one, 42);
  EXPECT_EQ(one.load(0), row.load(0));
}

TEST(Random, UniformStaysInItsRange) {
  Tensor tensor(TensorShape::contiguous(DataType::I32, {1000}));
  fillUniform(tensor, 5, 3, 7);
  bool seen[4] = {};
  for (float value : tensor.toFloats()) {
    ASSERT_GE(value, 3);
    ASSERT_LT(value, 7);
    seen[static_cast<int>(value) - 3] = true;
  }
  EXPECT_TRUE(seen[0] && seen[1] && seen[2] && seen[3]);
}

TEST(Random, SegmentsAscendFromZeroInEachRow) {
  constexpr int rows = 4, columns = 256;
  Tensor tensor(TensorShape::contiguous(DataType::I32, {rows, columns}));
  fillSegments(tensor, 9, 4);
  std::vector<float> values = tensor.toFloats();
  float last = 0;
  for (int row = 0; row < rows; ++row) {
    EXPECT_EQ(values[row * columns], 0);
    for (int at = row * columns + 1; at < (row + 1) * columns; ++at) {
      float step = values[at] - values[at - 1];
      EXPECT_TRUE(step == 0 || step == 1);
    }
    last = std::max(last, values[(row + 1) * columns - 1]);
  }
  EXPECT_GE(last, 1);
}

TEST(Random, PermutationsHaveEachNumberOnce) {
  constexpr int rows = 8, columns = 5;
  Tensor tensor(TensorShape::contiguous(DataType::I32, {rows, columns}));
  fillPermutations(tensor, 9, columns, 1, 2);
  std::vector<float> values = tensor.toFloats();
  std::set<std::vector<float>> orders;
  for (int row = 0; row < rows; ++row) {
    std::vector<float> order(values.begin() + row * columns,
                             values.begin() + (row + 1) * columns);
    orders.insert(order);
    std::sort(order.begin(), order.end());
    EXPECT_EQ(order, (std::vector<float>{1, 3, 5, 7, 9}));
  }
  EXPECT_GT(orders.size(), 1u);
}

TEST(Random, PermutationsMayBeLongerOrShorterThanTheRow) {
  Tensor tensor(TensorShape::contiguous(DataType::I32, {1, 4}));
  fillPermutations(tensor, 9, 2, 0, 1);
  std::vector<float> values = tensor.toFloats();
  for (float value : values)
    EXPECT_TRUE(value == 0 || value == 1);
  EXPECT_NE(values[0], values[1]);
  fillPermutations(tensor, 9, 0, 1, 2);
  EXPECT_EQ(tensor.toFloats(), (std::vector<float>{0, 0, 0, 0}));
}

TEST(Random, StartsRiseToTheEnd) {
  Tensor tensor(TensorShape::contiguous(DataType::I32, {4, 9}));
  fillStarts(tensor, 5, 100);
  std::vector<float> values = tensor.toFloats();
  std::set<float> lengths;
  for (size_t row = 0; row < values.size(); row += 9) {
    EXPECT_EQ(values[row], 0);
    EXPECT_EQ(values[row + 8], 100);
    for (size_t i = row; i < row + 8; ++i) {
      EXPECT_LE(values[i], values[i + 1]);
      lengths.insert(values[i + 1] - values[i]);
    }
  }
  // Lengths that go wrong are among them.
  EXPECT_TRUE(lengths.count(0) && lengths.count(1));
  Tensor one(TensorShape::contiguous(DataType::I32, {2}));
  fillStarts(one, 5, 7);
  EXPECT_EQ(one.toFloats(), (std::vector<float>{0, 7}));
}

TEST(Random, DistinctNumbersAreThereOnce) {
  Tensor tensor(TensorShape::contiguous(DataType::I32, {3, 4}));
  fillDistinct(tensor, 9, 14);
  std::vector<float> values = tensor.toFloats();
  EXPECT_EQ(std::set<float>(values.begin(), values.end()).size(), 12u);
  for (float value : values)
    EXPECT_TRUE(value >= 0 && value < 14);
  fillDistinct(tensor, 9, 5);
  values = tensor.toFloats();
  EXPECT_EQ(std::set<float>(values.begin(), values.end()),
            (std::set<float>{0, 1, 2, 3, 4}));
}
