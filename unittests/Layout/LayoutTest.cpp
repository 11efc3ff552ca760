// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Layouts and swizzles against their definitions: which element a register, a
// lane and a warp name, and which bank an element falls on.

#include "attune/Dialect/Tile/IR/Tile.h"
#include "gtest/gtest.h"
#include <set>

using namespace mlir;
using namespace attune::tile;

namespace {
class LayoutTest : public testing::Test {
protected:
  LayoutTest() { context.loadDialect<TileDialect>(); }

  LayoutAttr make(ArrayRef<Mode> registers, ArrayRef<Mode> lanes,
                  ArrayRef<Mode> warps = {}) {
    return LayoutAttr::getNormal(&context, registers, lanes, warps);
  }

  /// The accumulator of the 16x8 instruction in the attribute's description.
  LayoutAttr accumulator() {
    return make({{2, 1, 1}, {2, 0, 8}}, {{4, 1, 2}, {8, 0, 1}});
  }

  /// Coordinates of an element by the definition.
  static std::pair<int64_t, int64_t> locate(LayoutAttr layout, int64_t reg,
                                            int64_t lane, int64_t warp) {
    int64_t sums[2] = {0, 0};
    auto add = [&](ArrayRef<Mode> modes, int64_t index) {
      for (const Mode &mode : modes) {
        sums[mode.dim] += index % mode.extent * mode.stride;
        index /= mode.extent;
      }
    };
    add(layout.getRegisters(), reg);
    add(layout.getLanes(), lane);
    add(layout.getWarps(), warp);
    return {sums[0], sums[1]};
  }

  /// How many registers of how many lanes and warps hold each element.
  static std::map<std::pair<int64_t, int64_t>, int64_t>
  count(LayoutAttr layout) {
    std::map<std::pair<int64_t, int64_t>, int64_t> counts;
    for (int64_t warp = 0; warp < layout.getNumWarps(); ++warp)
      for (int64_t lane = 0; lane < layout.getNumLanes(); ++lane)
        for (int64_t reg = 0; reg < layout.getNumRegisters(); ++reg)
          ++counts[locate(layout, reg, lane, warp)];
    return counts;
  }

  MLIRContext context;
};
} // namespace

TEST_F(LayoutTest, TheTableInTheDescriptionHolds) {
  LayoutAttr layout = accumulator();
  EXPECT_EQ(locate(layout, 0, 0, 0), std::pair(int64_t(0), int64_t(0)));
  EXPECT_EQ(locate(layout, 3, 0, 0), std::pair(int64_t(8), int64_t(1)));
  EXPECT_EQ(locate(layout, 1, 1, 0), std::pair(int64_t(0), int64_t(3)));
  EXPECT_EQ(locate(layout, 2, 4, 0), std::pair(int64_t(9), int64_t(0)));
  EXPECT_EQ(layout.getNumRegisters(), 4);
  EXPECT_EQ(layout.getNumLanes(), 32);
  EXPECT_EQ(layout.getNumWarps(), 1);
}

TEST_F(LayoutTest, EveryElementIsHeldOnce) {
  std::map<std::pair<int64_t, int64_t>, int64_t> counts = count(accumulator());
  EXPECT_EQ(counts.size(), size_t(16 * 8));
  for (auto [element, times] : counts)
    EXPECT_EQ(times, 1) << element.first << ", " << element.second;
}

TEST_F(LayoutTest, RegisterCoordinatesAreTheRegistersPart) {
  LayoutAttr layout = accumulator();
  for (int64_t reg = 0; reg < layout.getNumRegisters(); ++reg) {
    SmallVector<int64_t, 2> coordinates = layout.getRegisterCoordinates(reg, 2);
    EXPECT_EQ(std::pair(coordinates[0], coordinates[1]),
              locate(layout, reg, 0, 0));
  }
}

TEST_F(LayoutTest, NormalFormDropsAndMerges) {
  EXPECT_EQ(make({{2, 1, 1}, {1, 0, 5}, {4, 1, 2}}, {}), make({{8, 1, 1}}, {}));
  EXPECT_EQ(make({}, {{2, 1, 0}, {4, 0, 0}}), make({}, {{8, 0, 0}}));
  EXPECT_NE(make({{2, 1, 1}, {4, 1, 4}}, {}), make({{8, 1, 1}}, {}));
  EXPECT_NE(make({{2, 1, 1}, {4, 0, 2}}, {}), make({{8, 1, 1}}, {}));
}

TEST_F(LayoutTest, NormalFormKeepsTheMeaning) {
  SmallVector<Mode> modes{
      {2, 1, 1}, {1, 0, 3}, {2, 1, 2}, {3, 0, 1}, {2, 0, 3}};
  auto plain = LayoutAttr::get(&context, modes, {}, {});
  LayoutAttr normal = make(modes, {});
  ASSERT_EQ(plain.getNumRegisters(), normal.getNumRegisters());
  for (int64_t reg = 0; reg < plain.getNumRegisters(); ++reg)
    EXPECT_EQ(locate(plain, reg, 0, 0), locate(normal, reg, 0, 0));
}

TEST_F(LayoutTest, ShapeIsTheSmallestRectangle) {
  EXPECT_EQ(accumulator().getShape(2), (SmallVector<int64_t, 2>{16, 8}));
  LayoutAttr tiled =
      accumulator().withRegisterModes({{4, 1, 8}}).withWarpModes({{4, 0, 16}});
  EXPECT_EQ(tiled.getShape(2), (SmallVector<int64_t, 2>{64, 32}));
  EXPECT_EQ(tiled.getNumRegisters(), 16);
  EXPECT_EQ(tiled.getNumWarps(), 4);
  EXPECT_EQ(count(tiled).size(), size_t(64 * 32));
}

TEST_F(LayoutTest, DroppingColumnsLeavesEachRowWithItsLanes) {
  LayoutAttr layout = accumulator().withRegisterModes({{4, 1, 8}});
  LayoutAttr rows = layout.dropDim(1);
  EXPECT_EQ(rows.getShape(1), (SmallVector<int64_t, 2>{16}));
  EXPECT_EQ(rows.getNumLanes(), layout.getNumLanes());
  EXPECT_EQ(rows.getNumRegisters(), 2);
  // A lane holds the rows of which it holds elements, and no others.
  for (int64_t lane = 0; lane < layout.getNumLanes(); ++lane) {
    std::set<int64_t> held, kept;
    for (int64_t reg = 0; reg < layout.getNumRegisters(); ++reg)
      held.insert(locate(layout, reg, lane, 0).first);
    for (int64_t reg = 0; reg < rows.getNumRegisters(); ++reg)
      kept.insert(locate(rows, reg, lane, 0).first);
    EXPECT_EQ(held, kept) << "lane " << lane;
  }
}

TEST_F(LayoutTest, DroppingRowsMovesTheColumnsDown) {
  LayoutAttr columns = accumulator().dropDim(0);
  EXPECT_EQ(columns.getShape(1), (SmallVector<int64_t, 2>{8}));
}

TEST_F(LayoutTest, PartialColumnsGiveALaneAColumnOfItsOwn) {
  LayoutAttr partial =
      accumulator().withRegisterModes({{4, 1, 8}}).getPartialColumns();
  EXPECT_EQ(partial.getShape(2), (SmallVector<int64_t, 2>{16, 4}));
  EXPECT_EQ(partial.getNumRegisters(), 2);
  for (auto [element, times] : count(partial))
    EXPECT_EQ(times, 1) << element.first << ", " << element.second;
  // Without lanes along a row there is one column.
  LayoutAttr alone = make({{8, 1, 1}}, {{16, 0, 1}}).getPartialColumns();
  EXPECT_EQ(alone.getShape(2), (SmallVector<int64_t, 2>{16, 1}));
}

TEST_F(LayoutTest, TransposingTwiceIsNothing) {
  LayoutAttr layout = accumulator();
  LayoutAttr transposed = layout.transpose();
  EXPECT_EQ(transposed.getShape(2), (SmallVector<int64_t, 2>{8, 16}));
  EXPECT_EQ(transposed.transpose(), layout);
  for (int64_t lane = 0; lane < 32; ++lane) {
    auto [row, column] = locate(layout, 3, lane, 0);
    EXPECT_EQ(locate(transposed, 3, lane, 0), std::pair(column, row));
  }
}

/// Where the chunk of an element is stored.
static int64_t storedChunk(SwizzleAttr swizzle, int64_t row, int64_t chunk) {
  int64_t mask = (int64_t(1) << swizzle.getBits()) - 1;
  return chunk ^ ((row >> swizzle.getShift()) & mask);
}

/// The accumulator of 16 rows and 64 columns a warp, with so many warps along
/// the columns.
static LayoutAttr widen(LayoutAttr accumulator, int64_t warps) {
  return accumulator.withRegisterModes({{8, 1, 8}})
      .withWarpModes({{2, 0, 16}, {warps, 1, 64}});
}

TEST_F(LayoutTest, PartsAreWhereTheirBlocksAre) {
  for (auto [block, parts, warps] :
       {std::array<int64_t, 3>{32, 2, 1}, {16, 2, 1}, {8, 4, 1}, {32, 2, 2}}) {
    LayoutAttr whole = widen(accumulator(), warps);
    auto found = whole.deinterleave(1, block, parts);
    ASSERT_TRUE(found) << block;
    auto [part, apart] = *found;
    ASSERT_EQ(part.getNumRegisters() * parts, whole.getNumRegisters());
    for (int64_t warp = 0; warp < whole.getNumWarps(); ++warp)
      for (int64_t lane = 0; lane < whole.getNumLanes(); ++lane)
        for (int64_t reg = 0; reg < part.getNumRegisters(); ++reg)
          for (int64_t s = 0; s < parts; ++s) {
            auto [row, column] = locate(part, reg, lane, warp);
            EXPECT_EQ(locate(whole,
                             (reg / apart * parts + s) * apart + reg % apart,
                             lane, warp),
                      std::pair(row, (column / block * parts + s) * block +
                                         column % block));
          }
    std::optional<LayoutAttr> again = part.interleave(1, block, parts);
    ASSERT_TRUE(again);
    auto back = again->deinterleave(1, block, parts);
    ASSERT_TRUE(back);
    EXPECT_EQ(back->first, part);
  }
}

TEST_F(LayoutTest, PartsOfRowsToo) {
  auto found = accumulator().deinterleave(0, 8, 2);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->first, make({{2, 1, 1}}, {{4, 1, 2}, {8, 0, 1}}));
  EXPECT_EQ(found->second, 2);
}

TEST_F(LayoutTest, PartsOfOtherThreadsAreNone) {
  // Of other lanes, of other warps, and in the middle of what a lane has.
  EXPECT_FALSE(accumulator().deinterleave(1, 2, 4));
  EXPECT_FALSE(widen(accumulator(), 2).deinterleave(1, 64, 2));
  EXPECT_FALSE(widen(accumulator(), 1).deinterleave(1, 12, 2));
  EXPECT_FALSE(accumulator().interleave(1, 3, 2));
}

TEST_F(LayoutTest, SwizzleSpreadsEightRowsOverTheBanks) {
  constexpr int64_t kBankRowBytes = 128, kChunkBytes = 16;
  for (int64_t elementBytes : {2, 4})
    for (int64_t columns : {16, 32, 64, 128, 192, 256, 512}) {
      auto swizzle = SwizzleAttr::getForRow(&context, columns, elementBytes);
      ASSERT_EQ(swizzle.getVector() * elementBytes, kChunkBytes);
      int64_t chunks = columns / swizzle.getVector();
      for (int64_t chunk = 0; chunk < chunks; ++chunk) {
        std::set<int64_t> places;
        for (int64_t row = 0; row < 8; ++row) {
          int64_t stored = storedChunk(swizzle, row, chunk);
          ASSERT_LT(stored, chunks);
          places.insert((row * chunks + stored) * kChunkBytes % kBankRowBytes);
        }
        EXPECT_EQ(places.size(), 8u)
            << columns << " columns of " << elementBytes << " bytes, chunk "
            << chunk;
      }
    }
}

TEST_F(LayoutTest, ChunksSpreadRowsOverTheBanks) {
  constexpr int64_t kBankRowBytes = 256, kElementBytes = 2;
  for (int64_t chunkBytes : {16, 64})
    for (int64_t columns : {32, 64, 96, 128, 192, 256, 512}) {
      auto swizzle = SwizzleAttr::getForChunks(&context, columns, kElementBytes,
                                               chunkBytes / kElementBytes);
      int64_t chunks = columns / swizzle.getVector(),
              rows = kBankRowBytes / chunkBytes;
      for (int64_t chunk = 0; chunk < chunks; ++chunk) {
        std::set<int64_t> places;
        for (int64_t row = 0; row < rows; ++row)
          places.insert((row * chunks + storedChunk(swizzle, row, chunk)) *
                        chunkBytes % kBankRowBytes);
        EXPECT_EQ(static_cast<int64_t>(places.size()), rows)
            << columns << " columns in chunks of " << chunkBytes
            << " bytes, chunk " << chunk;
      }
    }
}

TEST_F(LayoutTest, SwizzlePermutesWithinARow) {
  auto swizzle = SwizzleAttr::getForRow(&context, 64, 2);
  for (int64_t row = 0; row < 32; ++row) {
    std::set<int64_t> places;
    for (int64_t chunk = 0; chunk < 8; ++chunk)
      places.insert(storedChunk(swizzle, row, chunk));
    EXPECT_EQ(places.size(), 8u);
    EXPECT_EQ(*places.rbegin(), 7);
  }
}

TEST_F(LayoutTest, RowsThatAreNoMultipleOfAChunkHaveNarrowerChunks) {
  EXPECT_EQ(SwizzleAttr::getForRow(&context, 20, 2).getVector(), 4);
  EXPECT_EQ(SwizzleAttr::getForRow(&context, 7, 2).getVector(), 1);
  EXPECT_EQ(SwizzleAttr::getForRow(&context, 7, 2).getBits(), 0);
}
