// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Values that become columns: what is legal then.

#include "attune/Schedule/Attention/Legality.h"
#include "attune/Target/TargetRegistry.h"
#include "mlir/IR/Diagnostics.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace attune;
using schedule::AttentionAttr;

namespace {
class TransposingTest : public testing::Test {
protected:
  TransposingTest() {
    context.loadDialect<attn::AttnDialect, tile::TileDialect>();
    target = *getTarget(&context, "sm_90a",
                        [&] { return emitError(UnknownLoc::get(&context)); });
    problem = {Float8E4M3FNType::get(&context), 64, 64, /*rowDivisor=*/64};
  }

  /// Two warpgroups beside a producer, and what else is set.
  AttentionAttr
  schedule(std::initializer_list<std::pair<StringRef, int64_t>> settings) {
    SmallVector<std::pair<StringRef, int64_t>> all{
        {"block-m", 128},      {"block-n", 64},  {"num-warps", 8},
        {"producer-warps", 4}, {"mma-warps", 4}, {"q-in-registers", 0}};
    all.append(settings.begin(), settings.end());
    SmallVector<int64_t> values = AttentionAttr::getSet().getDefaults();
    for (auto [name, value] : all)
      values[*AttentionAttr::getSet().findKnob(name)] = value;
    return AttentionAttr::get(&context, values);
  }

  std::string
  refusal(std::initializer_list<std::pair<StringRef, int64_t>> settings) {
    std::optional<Refusal> reason =
        checkLegal(problem, schedule(settings), target);
    return reason ? reason->id.str() : "legal";
  }

  MLIRContext context;
  tile::TargetAttr target;
  AttentionProblem problem;
};
} // namespace

TEST_F(TransposingTest, ColumnsComeInTheOrderOfWeightsInRegisters) {
  EXPECT_EQ(refusal({{"p-in-registers", 1}}), "legal");
  EXPECT_EQ(refusal({{"p-in-registers", 0}}), "weights-of-columns");
  problem.elementType = Float16Type::get(&context);
  EXPECT_EQ(refusal({{"p-in-registers", 0}}), "legal");
}
