// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How many heads share a tile, and what keeps them from it.

#include "attune/Schedule/Attention/Legality.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace attune;
using schedule::AttentionAttr;

namespace {
struct HeadPackingTest : testing::Test {
  HeadPackingTest() {
    context.loadDialect<attn::AttnDialect, arith::ArithDialect,
                        func::FuncDialect>();
  }

  /// Heads of a tile of `rows` rows of an op with these shapes of queries and
  /// keys, in order bhsd if `clauses` say no other.
  int64_t count(llvm::StringRef query, llvm::StringRef key, int64_t rows,
                llvm::StringRef clauses = "", int64_t mmaWarps = 1,
                llvm::StringRef encoding = "") {
    auto type = [](llvm::StringRef shape, llvm::StringRef encoding) {
      return "tensor<" + shape.str() + "xf16" + encoding.str() + ">";
    };
    std::string q = type(query, encoding), k = type(key, ""),
                o = type(query, ""),
                text = "func.func @f(%q: " + q + ", %k: " + k +
                       ", %s: tensor<3xi32>) -> " + o +
                       " {\n%o = attn.attention %q, %k, %k " + clauses.str() +
                       " : " + q + ", " + k + ", " + k + "\nreturn %o : " + o +
                       "\n}";
    module = parseSourceString<ModuleOp>(text, ParserConfig(&context));
    EXPECT_TRUE(module) << text;
    module->walk([&](attn::AttentionOp op) { packing = HeadPacking::get(op); });
    return packing.count(makeKnobs(rows, mmaWarps));
  }
  /// Queries of each in a tile of the last op.
  int64_t countQueries(int64_t rows) {
    return packing.countQueries(makeKnobs(rows, /*mmaWarps=*/1));
  }
  AttentionKnobs makeKnobs(int64_t rows, int64_t mmaWarps) {
    values = AttentionAttr::getSet().getDefaults();
    for (auto [knob, value] :
         llvm::zip_equal(AttentionAttr::getSet().knobs, values)) {
      if (knob.name == "block-m")
        value = rows;
      if (knob.name == "mma-warps")
        value = mmaWarps;
    }
    return AttentionKnobs([this](size_t place) { return values[place]; });
  }

  HeadPacking packing;
  SmallVector<int64_t> values;
  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};
} // namespace

TEST_F(HeadPackingTest, AsManyAsFitAndDivideTheGroup) {
  EXPECT_EQ(count("2x8x1x64", "2x2x96x64", 16), 4);
  EXPECT_EQ(count("2x8x4x64", "2x2x96x64", 16), 4);
  EXPECT_EQ(count("2x8x5x64", "2x2x96x64", 16), 2);
  EXPECT_EQ(count("2x8x9x64", "2x2x96x64", 16), 1);
  EXPECT_EQ(count("2x8x17x64", "2x2x96x64", 16), 1);
  EXPECT_EQ(count("1x14x1x64", "1x2x96x64", 16), 7);
  EXPECT_EQ(count("1x14x4x64", "1x2x96x64", 16), 1);
  EXPECT_EQ(count("1x64x1x64", "1x1x96x64", 16), 16);
  EXPECT_EQ(count("2x8x1x64", "2x8x96x64", 16), 1);
}

TEST_F(HeadPackingTest, SizesAreKnown) {
  EXPECT_EQ(count("?x8x1x64", "?x2x96x64", 16), 4);
  EXPECT_EQ(count("2x?x1x64", "2x2x96x64", 16), 1);
  EXPECT_EQ(count("2x8x?x64", "2x2x96x64", 16), 1);
  EXPECT_EQ(count("2x8x1x64", "2x?x96x64", 16), 1);
}

TEST_F(HeadPackingTest, RowsAreThoseOfOneMatrixOrOfTwoDimensions) {
  EXPECT_EQ(count("2x1x8x64", "2x96x2x64", 16, "order(bshd)"), 4);
  EXPECT_EQ(count("2x2x8x64", "2x96x2x64", 16, "order(bshd)"), 4);
  EXPECT_EQ(count("2x5x8x64", "2x96x2x64", 16, "order(bshd)"), 2);
  llvm::StringRef strided = ", #attn.strided<[4096, 512, 64, 1]>";
  EXPECT_EQ(count("2x8x1x64", "2x2x96x64", 16, "", 1, strided), 4);
  EXPECT_EQ(count("2x8x2x64", "2x2x96x64", 16, "", 1, strided), 4);
}

TEST_F(HeadPackingTest, PackedQueriesComeBeforeHeads) {
  llvm::StringRef starts = "%s : tensor<3xi32>";
  auto packed = [&](llvm::StringRef query, llvm::StringRef key, int64_t rows,
                    llvm::StringRef order) {
    return count(
        query, key, rows,
        (order + " query_starts(" + starts + ") key_starts(" + starts + ")")
            .str());
  };
  EXPECT_EQ(packed("1x70x8x64", "1x96x2x64", 16, "order(bshd)"), 4);
  EXPECT_EQ(countQueries(16), 4);
  EXPECT_EQ(packed("1x70x14x64", "1x96x2x64", 64, "order(bshd)"), 7);
  EXPECT_EQ(countQueries(64), 9);
  EXPECT_EQ(packed("1x8x70x64", "1x2x96x64", 16, ""), 1);
  EXPECT_EQ(countQueries(16), 16);
}

TEST_F(HeadPackingTest, BoxesHaveHeadsAndQueries) {
  EXPECT_EQ(count("2x8x1x64", "2x2x96x64", 64, "", 4), 4);
  EXPECT_EQ(count("2x8x2x64", "2x2x96x64", 64, "", 4), 4);
  EXPECT_EQ(count("2x8x32x64", "2x2x96x64", 64, "", 4), 2);
  EXPECT_EQ(count("2x8x33x64", "2x2x96x64", 64, "", 4), 1);
  EXPECT_EQ(count("2x2x8x64", "2x96x2x64", 64, "order(bshd)", 4), 4);
  llvm::StringRef strided = ", #attn.strided<[4096, 512, 64, 1]>";
  EXPECT_EQ(count("2x8x2x64", "2x2x96x64", 64, "", 4, strided), 4);
}

TEST_F(HeadPackingTest, MasksAreThoseOfAllHeads) {
  EXPECT_EQ(count("2x8x1x64", "2x2x96x64", 16, "causal(bottom_right)"), 4);
  EXPECT_EQ(count("2x8x1x64", "2x2x96x64", 16,
                  "mask (%b, %h, %m, %n) {\n"
                  "  %0 = arith.cmpi sge, %n, %b : index\n"
                  "  attn.yield %0 : i1\n}"),
            4);
  EXPECT_EQ(count("2x8x1x64", "2x2x96x64", 16,
                  "mask (%b, %h, %m, %n) {\n"
                  "  %0 = arith.cmpi sge, %n, %h : index\n"
                  "  attn.yield %0 : i1\n}"),
            1);
}
