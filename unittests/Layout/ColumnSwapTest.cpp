// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where partners' columns are, against the definition, in the accumulators of
// all matrix instructions.

#include "attune/Dialect/Tile/IR/ColumnSwap.h"
#include "gtest/gtest.h"
#include <map>

using namespace mlir;
using namespace attune::tile;

namespace {
class ColumnSwapTest : public testing::Test {
protected:
  ColumnSwapTest() { context.loadDialect<TileDialect>(); }

  LayoutAttr make(ArrayRef<Mode> registers, ArrayRef<Mode> lanes,
                  ArrayRef<Mode> warps = {}) {
    return LayoutAttr::getNormal(&context, registers, lanes, warps);
  }
  // Of so many columns in all.
  LayoutAttr mmaSync(int64_t columns, ArrayRef<Mode> warps = {}) {
    return make({{2, 1, 1}, {2, 0, 8}, {columns / 8, 1, 8}},
                {{4, 1, 2}, {8, 0, 1}}, warps);
  }
  LayoutAttr mfma(int64_t columns) {
    return make({{4, 1, 1}, {4, 1, 8}, {columns / 32, 1, 32}},
                {{32, 0, 1}, {2, 1, 4}});
  }
  LayoutAttr wmma(int64_t columns) {
    return make({{8, 1, 2}, {columns / 16, 1, 16}}, {{16, 0, 1}, {2, 1, 1}});
  }
  // Whose halves of a wave have eight neighbours each, as AMD's atoms do.
  LayoutAttr eights(int64_t columns) {
    return make({{8, 1, 1}, {columns / 16, 1, 16}}, {{32, 0, 1}, {2, 1, 8}});
  }

  /// "registers" where all partners are in the same thread, "lanes" where some
  /// are not, "" where they are not found. Fails where one is not the partner.
  std::string find(LayoutAttr layout, int64_t stride) {
    std::optional<SmallVector<ColumnSource>> sources =
        findSwappedColumns(layout, stride);
    if (!sources)
      return "";
    EXPECT_EQ(static_cast<int64_t>(sources->size()), layout.getNumRegisters());
    LayoutAttr lanes = LayoutAttr::get(&context, layout.getLanes(),
                                       ArrayRef<Mode>(), ArrayRef<Mode>());
    auto locate = [&](int64_t reg, int64_t lane) {
      auto place = layout.getRegisterCoordinates(reg, 2),
           more = lanes.getRegisterCoordinates(lane, 2);
      return std::pair(place[0] + more[0], place[1] + more[1]);
    };
    bool isOfLanes = false;
    for (auto [reg, source] : llvm::enumerate(*sources)) {
      isOfLanes |= source.laneMask != 0;
      for (int64_t lane = 0; lane < layout.getNumLanes(); ++lane) {
        auto [row, column] = locate(static_cast<int64_t>(reg), lane);
        int64_t partner =
            column / stride % 2 == 0 ? column + stride : column - stride;
        int64_t from = (lane & source.laneMask) ? source.upperReg : source.reg;
        EXPECT_EQ(locate(from, lane ^ source.laneMask), std::pair(row, partner))
            << "stride " << stride << ", register " << reg << ", lane " << lane;
      }
    }
    return isOfLanes ? "lanes" : "registers";
  }

  MLIRContext context;
};
} // namespace

TEST_F(ColumnSwapTest, Neighbours) {
  EXPECT_EQ(find(mmaSync(32), 1), "registers");
  EXPECT_EQ(find(mfma(32), 1), "registers");
  EXPECT_EQ(find(wmma(32), 1), "lanes");
}

TEST_F(ColumnSwapTest, PowersOfTwo) {
  for (int64_t stride : {2, 4})
    EXPECT_EQ(find(mmaSync(64), stride), "lanes");
  for (int64_t stride : {8, 16, 32})
    EXPECT_EQ(find(mmaSync(64), stride), "registers");
  EXPECT_EQ(find(mfma(64), 4), "lanes");
  for (int64_t stride : {2, 8, 16, 32})
    EXPECT_EQ(find(mfma(64), stride), "registers");
  for (int64_t stride : {2, 4, 8, 16, 32})
    EXPECT_EQ(find(wmma(64), stride), "registers");
}

// Which lanes have the partner depends on what is carried.
TEST_F(ColumnSwapTest, OtherStrides) {
  for (int64_t stride : {24, 40, 48}) {
    EXPECT_EQ(find(mmaSync(4 * stride), stride), "registers");
    EXPECT_EQ(find(wmma(4 * stride), stride), "registers");
  }
  EXPECT_EQ(find(mfma(96), 48), "registers");
  EXPECT_EQ(find(mfma(160), 40), "registers");
  EXPECT_EQ(find(wmma(96), 6), "registers");
  EXPECT_EQ(find(mmaSync(48), 6), "");
  EXPECT_EQ(find(mmaSync(24), 3), "");
}

// Lanes whose digit is set find their partners in other registers.
TEST_F(ColumnSwapTest, RegistersThatADigitTells) {
  EXPECT_EQ(find(mmaSync(24), 12), "lanes");
  EXPECT_EQ(find(mfma(96), 12), "lanes");
  EXPECT_EQ(find(wmma(48), 3), "lanes");
  for (int64_t stride : {24, 40, 56, 72})
    EXPECT_EQ(find(eights(2 * stride), stride), "lanes") << stride;
}

TEST_F(ColumnSwapTest, PartnersThatNobodyHolds) {
  EXPECT_EQ(find(mmaSync(32), 16), "registers");
  EXPECT_EQ(find(mmaSync(32), 32), "");
  EXPECT_EQ(find(mmaSync(24), 8), "");
}

TEST_F(ColumnSwapTest, Warps) {
  // Those that share rows hold the same columns.
  EXPECT_EQ(find(mmaSync(32, {{4, 0, 16}}), 16), "registers");
  EXPECT_EQ(find(mmaSync(32, {{2, 0, 16}, {2, 1, 32}}), 16), "registers");
  // All of its partners, but of the first warp alone.
  EXPECT_EQ(find(mmaSync(32, {{2, 1, 40}}), 8), "");
  EXPECT_EQ(find(mmaSync(16, {{2, 1, 16}}), 16), "");
}
