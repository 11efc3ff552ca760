// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Only integer arithmetic and exact floating-point operations are used: the
// mathematical library of another machine may round differently.

#include "attune/Runtime/Random.h"
#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

using namespace attune;

namespace {
/// SplitMix64 (Steele, Lea, Flood 2014).
class Generator {
public:
  /// With `skipped` calls of next() behind it.
  explicit Generator(uint64_t seed, uint64_t skipped = 0)
      : state(seed + skipped * kStep) {}

  uint64_t next() {
    uint64_t z = (state += kStep);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

  /// The sum of twelve uniform numbers, which has variance 1, less its mean.
  static constexpr int kNormalWords = 3;
  double nextNormal() {
    int64_t sum = 0;
    for (int word = 0; word < kNormalWords; ++word)
      for (uint64_t bits = next(), part = 0; part < 4; ++part, bits >>= 16)
        sum += static_cast<int64_t>(bits & 0xffff);
    constexpr double mean = 6 * 65535.0;
    return (static_cast<double>(sum) - mean) / 65536.0;
  }

private:
  static constexpr uint64_t kStep = 0x9e3779b97f4a7c15;
  uint64_t state;
};
} // namespace

void attune::fillNormal(Tensor &tensor, uint64_t seed) {
  tensor.shape.forEachPiece(
      [&](const TensorShape &piece, int64_t start, int64_t before) {
        Generator generator(seed, before * Generator::kNormalWords);
        piece.forEachOffset([&](int64_t offset) {
          tensor.store(start + offset, generator.nextNormal());
        });
      });
}

void attune::fillUniform(Tensor &tensor, uint64_t seed, int64_t low,
                         int64_t high) {
  Generator generator(seed);
  auto range = static_cast<uint64_t>(std::max<int64_t>(high - low, 1));
  tensor.shape.forEachOffset([&](int64_t offset) {
    auto value = low + static_cast<int64_t>(generator.next() % range);
    tensor.store(offset, static_cast<double>(value));
  });
}

void attune::fillSegments(Tensor &tensor, uint64_t seed, int64_t segments) {
  Generator generator(seed);
  int64_t length = tensor.shape.sizes.empty() ? 1 : tensor.shape.sizes.back();
  int64_t column = 0, segment = 0;
  tensor.shape.forEachOffset([&](int64_t offset) {
    if (column == length)
      column = segment = 0;
    // Each element starts a segment with the same probability.
    else if (column > 0 &&
             static_cast<int64_t>(generator.next() % length) < segments - 1)
      ++segment;
    ++column;
    tensor.store(offset, static_cast<double>(segment));
  });
}

/// See fillPermutations(): of rows of so many elements.
static void fillRows(Tensor &tensor, uint64_t seed, int64_t length,
                     int64_t count, int64_t first, int64_t step) {
  Generator generator(seed);
  std::vector<int64_t> order(std::max<int64_t>(count, 0));
  std::iota(order.begin(), order.end(), 0);
  int64_t column = 0;
  tensor.shape.forEachOffset([&](int64_t offset) {
    if (column == length)
      column = 0;
    if (order.empty())
      return tensor.store(offset, 0.0);
    // Fisher and Yates, one place at a time.
    size_t place = column++ % order.size();
    std::swap(order[place],
              order[place + generator.next() % (order.size() - place)]);
    tensor.store(offset, static_cast<double>(first + step * order[place]));
  });
}

void attune::fillPermutations(Tensor &tensor, uint64_t seed, int64_t count,
                              int64_t first, int64_t step) {
  int64_t length = tensor.shape.sizes.empty() ? 1 : tensor.shape.sizes.back();
  fillRows(tensor, seed, length, count, first, step);
}

void attune::fillStarts(Tensor &tensor, uint64_t seed, int64_t size) {
  Generator generator(seed);
  int64_t length = tensor.shape.sizes.empty() ? 1 : tensor.shape.sizes.back();
  std::vector<int64_t> starts;
  size_t column = 0;
  tensor.shape.forEachOffset([&](int64_t offset) {
    if (column == starts.size()) {
      // Cuts at random places, some of them at or right behind another.
      column = 0;
      starts.assign(length, 0);
      for (int64_t i = 1; i + 1 < length; ++i) {
        uint64_t number = generator.next();
        starts[i] =
            number % 4 == 0
                ? std::min<int64_t>(starts[i - 1] + (number / 4) % 2, size)
                : static_cast<int64_t>(generator.next() % (size + 1));
      }
      if (length > 1)
        starts.back() = size;
      std::sort(starts.begin(), starts.end());
    }
    tensor.store(offset, static_cast<double>(starts[column++]));
  });
}

void attune::fillDistinct(Tensor &tensor, uint64_t seed, int64_t count) {
  fillRows(tensor, seed, std::numeric_limits<int64_t>::max(), count, 0, 1);
}
