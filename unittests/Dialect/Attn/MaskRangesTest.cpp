// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The analysis of masks along keys and along queries, held against a look at
// every element: it never says too much, and of common masks all there is.

#include "attune/Dialect/Attn/Analysis/MaskRanges.h"
#include "attune/Dialect/Attn/Analysis/VisibleKeys.h"
#include "attune/Dialect/Attn/IR/Attn.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include "gtest/gtest.h"
#include <random>

using namespace mlir;
using namespace attune;

static constexpr int64_t seqQ = 13, seqK = 19, captured = 6;
static constexpr int64_t documents[] = {0, 0, 0, 0, 0, 1, 1, 1, 1, 2,
                                        2, 2, 2, 2, 2, 2, 3, 3, 3};

namespace {
/// The body of a mask region, and what it says.
struct Mask {
  std::string body;
  std::function<bool(int64_t m, int64_t n)> sees;
};

/// How much of what could be said was said, over all blocks of a mask.
struct Counts {
  int64_t empty = 0, skipped = 0, full = 0, unmasked = 0;
};

class MaskRangesTest : public testing::Test {
protected:
  MaskRangesTest() {
    context.loadDialect<attn::AttnDialect, arith::ArithDialect,
                        func::FuncDialect, math::MathDialect,
                        memref::MemRefDialect, tensor::TensorDialect>();
  }

  /// Fails where the ranges of any block along the other dimension hide what is
  /// seen, or let through what is hidden.
  Counts check(const Mask &mask, MaskDim dim, int64_t blockSize);

private:
  static constexpr StringRef function = R"(
    func.func @f(%q: tensor<1x1x{0}x16xf16>, %k: tensor<1x1x{1}x16xf16>,
                 %captured: index, %doc: tensor<{1}xi32>) {{
      %o = attn.attention %q, %k, %k mask (%b, %h, %m, %n) {{
        {2}
      } : tensor<1x1x{0}x16xf16>, tensor<1x1x{1}x16xf16>, tensor<1x1x{1}x16xf16>
      return
    })";

  MLIRContext context;
};
} // namespace

/// What an index is that is computed from constants.
static Attribute evaluate(Value value) {
  Attribute constant;
  if (matchPattern(value, m_Constant(&constant)))
    return constant;
  Operation *op = value.getDefiningOp();
  auto operands = llvm::map_to_vector(op->getOperands(), evaluate);
  SmallVector<OpFoldResult> folded;
  EXPECT_TRUE(succeeded(op->fold(operands, folded)) && folded.size() == 1);
  return folded.empty() ? Attribute() : cast<Attribute>(folded.front());
}

/// The bounds of an interval among `length` positions.
static KeyRange evaluate(const MaskInterval &interval, int64_t length) {
  auto get = [](Value value, int64_t otherwise) {
    return value ? cast<IntegerAttr>(evaluate(value)).getInt() : otherwise;
  };
  return {std::max<int64_t>(get(interval.begin, 0), 0),
          std::min(get(interval.end, length), length)};
}

/// Without what is captured, the bounds in numbers are the same; with it they
/// say no more.
static void compareNumbers(attn::AttentionOp op, int64_t first, int64_t last,
                           const SeenKeys &known) {
  SeenKeys keys = VisibleKeys(op, seqQ, seqK).get(first, last);
  int64_t count = keys.countKeys(), exact = known.countKeys();
  EXPECT_GE(count, exact);
  EXPECT_LE(keys.countBlocks(1).unmasked, count);
  if (op.getCaptures().empty()) {
    EXPECT_EQ(count, exact);
    EXPECT_EQ(keys.countBlocks(1).unmasked, known.countBlocks(1).unmasked);
  }
}

Counts MaskRangesTest::check(const Mask &mask, MaskDim dim, int64_t blockSize) {
  Counts counts;
  bool isOfQueries = dim == MaskDim::Query;
  int64_t length = isOfQueries ? seqQ : seqK, other = isOfQueries ? seqK : seqQ;
  for (int64_t first = 0; first < length; first += blockSize) {
    int64_t last = std::min(first + blockSize, length) - 1;
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(
        llvm::formatv(function.data(), seqQ, seqK, mask.body).str(), &context);
    if (!module) {
      ADD_FAILURE() << mask.body;
      return counts;
    }
    attn::AttentionOp op;
    module->walk([&](attn::AttentionOp found) { op = found; });
    OpBuilder builder(op);
    auto constant = [&](int64_t value) -> Value {
      return arith::ConstantIndexOp::create(builder, op.getLoc(), value);
    };
    IRMapping mapping;
    mapping.map(op.getMask().getArgument(0), constant(0));
    mapping.map(op.getMask().getArgument(1), constant(0));
    mapping.map(op->getParentOfType<func::FuncOp>().getArgument(2),
                constant(captured));
    MaskRanges ranges = analyzeMaskRanges(
        builder, op.getLoc(), op.getMask(),
        {dim, constant(first), constant(last), length}, other, mapping,
        [](OpBuilder &to, Operation &from, IRMapping &map) {
          to.clone(from, map);
        });

    KeyRange visible = evaluate(ranges.visible, other), full{0, 0}, hole{0, 0};
    if (ranges.full)
      full = evaluate(*ranges.full, other);
    if (ranges.hole)
      hole = evaluate(*ranges.hole, other);
    if (isOfQueries)
      compareNumbers(op, first, last, {visible, full, hole});
    for (int64_t position = 0; position < other; ++position) {
      int64_t seen = 0;
      for (int64_t own = first; own <= last; ++own)
        seen +=
            isOfQueries ? mask.sees(own, position) : mask.sees(position, own);
      auto isIn = [&](KeyRange range) {
        return position >= range.begin && position < range.end;
      };
      bool isVisible = isIn(visible) && !isIn(hole), isFull = isIn(full);
      EXPECT_TRUE(isVisible || seen == 0)
          << "hides " << position << " of block " << first << ":\n"
          << mask.body;
      EXPECT_TRUE(!isVisible || !isFull || seen == last - first + 1)
          << "shows " << position << " of block " << first << ":\n"
          << mask.body;
      counts.empty += seen == 0;
      counts.skipped += !isVisible;
      counts.full += seen == last - first + 1;
      counts.unmasked += isVisible && isFull;
    }
  }
  return counts;
}

static Mask causal(int64_t offset) {
  return {llvm::formatv(R"(%o = arith.constant {0} : index
                           %d = arith.addi %m, %o : index
                           %r = arith.cmpi sle, %n, %d : index
                           attn.yield %r : i1)",
                        offset),
          [=](int64_t m, int64_t n) { return n <= m + offset; }};
}

static Mask window(int64_t left, int64_t right) {
  return {
      llvm::formatv(R"(%l = arith.constant {0} : index
                           %w = arith.constant {1} : index
                           %first = arith.subi %m, %l : index
                           %last = arith.addi %m, %w : index
                           %x = arith.cmpi sge, %n, %first : index
                           %y = arith.cmpi sle, %n, %last : index
                           %r = arith.andi %x, %y : i1
                           attn.yield %r : i1)",
                    left, right),
      [=](int64_t m, int64_t n) { return n >= m - left && n <= m + right; }};
}

/// Keys at a distance of at most `reach`.
static Mask distance(int64_t reach) {
  return {llvm::formatv(R"(%w = arith.constant {0} : index
                           %d = arith.subi %m, %n : index
                           %far = math.absi %d : index
                           %r = arith.cmpi sle, %far, %w : index
                           attn.yield %r : i1)",
                        reach),
          [=](int64_t m, int64_t n) { return std::abs(m - n) <= reach; }};
}

/// The last `width` keys, in one comparison.
static Mask unsignedWindow(int64_t width) {
  return {llvm::formatv(R"(%w = arith.constant {0} : index
                           %d = arith.subi %m, %n : index
                           %r = arith.cmpi ult, %d, %w : index
                           attn.yield %r : i1)",
                        width),
          [=](int64_t m, int64_t n) { return n <= m && m - n < width; }};
}

/// Keys of the query's own chunk.
static Mask chunks(int64_t size) {
  return {llvm::formatv(R"(%s = arith.constant {0} : index
                           %x = arith.divui %m, %s : index
                           %y = arith.floordivsi %n, %s : index
                           %r = arith.cmpi eq, %x, %y : index
                           attn.yield %r : i1)",
                        size),
          [=](int64_t m, int64_t n) { return m / size == n / size; }};
}

/// Three keys for each query, or three queries for each key.
static Mask thirds() {
  return {R"(%s = arith.constant 3 : index
             %x = arith.muli %m, %s : index
             %r = arith.cmpi sle, %n, %x : index
             attn.yield %r : i1)",
          [](int64_t m, int64_t n) { return n <= 3 * m; }};
}

/// The first keys and those nearby.
static Mask globalAndNear() {
  return {R"(%g = arith.constant 2 : index
             %w = arith.constant 3 : index
             %d = arith.subi %m, %n : index
             %far = math.absi %d : index
             %x = arith.cmpi slt, %n, %g : index
             %y = arith.cmpi sle, %far, %w : index
             %r = arith.ori %x, %y : i1
             attn.yield %r : i1)",
          [](int64_t m, int64_t n) { return n < 2 || std::abs(m - n) <= 3; }};
}

/// Rows of four, three of which are seen, moved inward at the ends.
static Mask neighbourhood() {
  return {R"(%width = arith.constant 4 : index
             %one = arith.constant 1 : index
             %last = arith.constant 2 : index
             %x = arith.divui %m, %width : index
             %y = arith.divui %n, %width : index
             %low = arith.maxsi %x, %one : index
             %centre = arith.minsi %low, %last : index
             %d = arith.subi %centre, %y : index
             %far = math.absi %d : index
             %r = arith.cmpi sle, %far, %one : index
             attn.yield %r : i1)",
          [](int64_t m, int64_t n) {
            return std::abs(std::clamp<int64_t>(m / 4, 1, 2) - n / 4) <= 1;
          }};
}

/// Every query sees the first keys, as many as a captured value says.
static Mask prefix() {
  return {R"(%x = arith.cmpi slt, %n, %captured : index
             %y = arith.cmpi sle, %n, %m : index
             %r = arith.ori %x, %y : i1
             attn.yield %r : i1)",
          [](int64_t m, int64_t n) { return n < captured || n <= m; }};
}

/// Keys of the query's own document, up to it.
static Mask document() {
  return {R"(%x = tensor.extract %doc[%m] : tensor<19xi32>
             %y = tensor.extract %doc[%n] : tensor<19xi32>
             %same = arith.cmpi eq, %x, %y : i32
             %below = arith.cmpi sle, %n, %m : index
             %r = arith.andi %same, %below : i1
             attn.yield %r : i1)",
          [](int64_t m, int64_t n) {
            return n <= m && documents[m] == documents[n];
          }};
}

static constexpr MaskDim dims[] = {MaskDim::Query, MaskDim::Key};
static constexpr int64_t blockSizes[] = {1, 4, 16};

TEST_F(MaskRangesTest, BandsAreExactAlongBothDimensions) {
  for (const Mask &mask :
       {causal(0), causal(seqK - seqQ), causal(-3), window(3, 0), window(2, 2),
        window(0, 5), prefix(), distance(3), unsignedWindow(4), chunks(5),
        thirds(), neighbourhood()})
    for (MaskDim dim : dims)
      for (int64_t blockSize : blockSizes) {
        Counts counts = check(mask, dim, blockSize);
        EXPECT_EQ(counts.skipped, counts.empty) << mask.body;
        EXPECT_EQ(counts.unmasked, counts.full) << mask.body;
      }
}

TEST_F(MaskRangesTest, WhatLiesBetweenIsLeftOut) {
  for (int64_t blockSize : blockSizes) {
    Counts counts = check(globalAndNear(), MaskDim::Query, blockSize);
    EXPECT_EQ(counts.skipped, counts.empty);
  }
}

TEST_F(MaskRangesTest, WhatATensorSaysLeavesTheRest) {
  for (MaskDim dim : dims)
    for (int64_t blockSize : blockSizes) {
      Counts counts = check(document(), dim, blockSize);
      // As many as the diagonal hides.
      Counts diagonal = check(causal(0), dim, blockSize);
      EXPECT_EQ(counts.skipped, diagonal.skipped);
      EXPECT_EQ(counts.unmasked, 0);
    }
}

namespace {
/// Conditions on sums of positions, joined at random.
class RandomMask {
public:
  explicit RandomMask(unsigned seed) : random(seed) {}

  Mask make() {
    auto [name, sees] = condition(3);
    body += llvm::formatv("attn.yield {0} : i1", name);
    return {body, sees};
  }

private:
  using Truth = std::function<bool(int64_t, int64_t)>;
  using Sum = std::function<int64_t(int64_t, int64_t)>;

  int64_t choose(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  }
  std::string emit(const std::string &text) {
    std::string name = llvm::formatv("%v{0}", count++);
    body += name + " = " + text + "\n";
    return name;
  }

  std::pair<std::string, Sum> sum() {
    int64_t m = choose(-2, 2), n = choose(-2, 2), c = choose(-20, 20);
    auto scaled = [&](StringRef position, int64_t factor) {
      std::string scale =
          emit(llvm::formatv("arith.constant {0} : index", factor));
      return emit(
          llvm::formatv("arith.muli {0}, {1} : index", position, scale));
    };
    std::string both = emit(llvm::formatv("arith.addi {0}, {1} : index",
                                          scaled("%m", m), scaled("%n", n)));
    std::string rest =
        choose(0, 2) == 0
            ? "%captured"
            : emit(llvm::formatv("arith.constant {0} : index", c));
    if (rest == "%captured")
      c = captured;
    return {emit(llvm::formatv("arith.addi {0}, {1} : index", both, rest)),
            [=](int64_t i, int64_t j) { return m * i + n * j + c; }};
  }

  /// Of sums, what else is understood.
  std::pair<std::string, Sum> number(int depth) {
    int64_t which = depth ? choose(0, 7) : 0;
    if (which <= 3)
      return sum();
    auto [a, x] = number(depth - 1);
    if (which == 4)
      return {emit(llvm::formatv("math.absi {0} : index", a)),
              [=, x = x](int64_t m, int64_t n) { return std::abs(x(m, n)); }};
    if (which == 5) {
      auto [b, y] = number(depth - 1);
      bool isLargest = choose(0, 1) == 0;
      return {emit(llvm::formatv("arith.{0} {1}, {2} : index",
                                 isLargest ? "maxsi" : "minsi", a, b)),
              [=, x = x, y = y](int64_t m, int64_t n) {
                return isLargest ? std::max(x(m, n), y(m, n))
                                 : std::min(x(m, n), y(m, n));
              }};
    }
    int64_t divisor = choose(1, 7);
    std::string by = emit(llvm::formatv("arith.constant {0} : index", divisor));
    bool isTruncated = which == 6;
    return {emit(llvm::formatv("arith.{0} {1}, {2} : index",
                               isTruncated ? "divsi" : "floordivsi", a, by)),
            [=, x = x](int64_t m, int64_t n) {
              int64_t value = x(m, n);
              return isTruncated ? value / divisor
                                 : llvm::divideFloorSigned(value, divisor);
            }};
  }

  std::pair<std::string, Truth> comparison() {
    auto [left, x] = number(2);
    auto [right, y] = number(2);
    StringRef names[] = {"slt", "sle", "sgt", "sge", "eq",
                         "ne",  "ult", "ule", "ugt", "uge"};
    int64_t which = choose(0, 9);
    auto holds = [=](int64_t a, int64_t b) {
      uint64_t c = a, d = b;
      bool results[] = {a<b, a <= b, a> b, a >= b, a == b, a != b,
                        c<d, c <= d, c> d, c >= d};
      return results[which];
    };
    return {emit(llvm::formatv("arith.cmpi {0}, {1}, {2} : index", names[which],
                               left, right)),
            [=, x = x, y = y](int64_t m, int64_t n) {
              return holds(x(m, n), y(m, n));
            }};
  }

  std::pair<std::string, Truth> condition(int depth) {
    if (depth == 0 || choose(0, 3) == 0)
      return comparison();
    auto [a, x] = condition(depth - 1);
    auto [b, y] = condition(depth - 1);
    auto combine = [&, a = a, b = b, x = x, y = y](StringRef op, auto join) {
      return std::pair<std::string, Truth>(
          emit(llvm::formatv("arith.{0} {1}, {2} : i1", op, a, b)),
          [=](int64_t m, int64_t n) { return join(x(m, n), y(m, n)); });
    };
    switch (choose(0, 2)) {
    case 0:
      return combine("andi", std::logical_and<bool>());
    case 1:
      return combine("ori", std::logical_or<bool>());
    default: {
      auto [c, z] = condition(depth - 1);
      return {emit(llvm::formatv("arith.select {0}, {1}, {2} : i1", c, a, b)),
              [=, x = x, y = y, z = z](int64_t m, int64_t n) {
                return z(m, n) ? x(m, n) : y(m, n);
              }};
    }
    }
  }

  std::mt19937 random;
  std::string body;
  int64_t count = 0;
};
} // namespace

TEST_F(MaskRangesTest, NothingIsEverSaidThatIsNotSo) {
  Counts along[2];
  for (unsigned seed = 0; seed < 150; ++seed) {
    Mask mask = RandomMask(seed).make();
    for (auto [dim, sum] : llvm::zip_equal(dims, along)) {
      Counts counts = check(mask, dim, 4);
      sum.empty += counts.empty;
      sum.skipped += counts.skipped;
      sum.full += counts.full;
      sum.unmasked += counts.unmasked;
    }
  }
  // What is never wrong because it never says anything is not right either.
  for (const Counts &counts : along) {
    EXPECT_GT(counts.skipped * 10, counts.empty * 3);
    EXPECT_GT(counts.unmasked * 10, counts.full * 1);
  }
}
