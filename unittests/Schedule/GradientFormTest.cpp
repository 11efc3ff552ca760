// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What follows from the form in which gradients are computed, and which
// schedules of them a search tries.

#include "attune/Dialect/Attn/IR/Attn.h"
#include "attune/Schedule/AttentionGrad/Legality.h"
#include "attune/Schedule/AttentionGrad/Register.h"
#include "attune/Schedule/TunableOpInterface.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace attune;

/// Whether gradients with these clauses have equal bits in each launch.
static bool haveEqualBits(llvm::StringRef clauses) {
  DialectRegistry registry;
  registry.insert<attn::AttnDialect, func::FuncDialect>();
  registerAttentionGradTunable(registry);
  MLIRContext context(registry);
  std::string t = "tensor<1x1x64x64xf16>", lse = "tensor<1x1x64xf32>",
              text = "func.func @f(%q: " + t + ", %lse: " + lse + ") -> " + t +
                     " {\n%g = attn.attention_grad %q, %q, %q, %q, %lse, %q "
                     "wrt(query) " +
                     clauses.str() + " : " + t + ", " + t + ", " + t + ", " +
                     t + ", " + lse + ", " + t + "\nreturn %g : " + t + "\n}";
  auto module = parseSourceString<ModuleOp>(text, ParserConfig(&context));
  EXPECT_TRUE(module) << text;
  bool equal = false;
  module->walk([&](TunableOpInterface op) { equal = op.givesEqualBits(); });
  return equal;
}

TEST(GradientFormTest, TheFusedOneAddsInNoOrder) {
  EXPECT_TRUE(haveEqualBits(""));
  EXPECT_TRUE(haveEqualBits("schedule(<form = split>)"));
  EXPECT_TRUE(haveEqualBits("schedule(<form = apart>)"));
  EXPECT_TRUE(haveEqualBits("schedule(<form = ordered>)"));
  EXPECT_FALSE(haveEqualBits("schedule(<form = fused>)"));
}

TEST(GradientFormTest, ListsAreTriedWhereDataSaysWhatIsShown) {
  DialectRegistry registry;
  registry.insert<schedule::ScheduleDialect>();
  MLIRContext context(registry);
  context.loadAllAvailableDialects();
  AttentionGradProblem problem{
      Float16Type::get(&context), 64, 64, 64, false, false};
  AttentionGradSchedule wanted;
  wanted.listBlocks = 1;
  std::optional<Refusal> reason =
      checkWorthTrying(problem, wanted.getAttr(&context));
  ASSERT_TRUE(reason);
  EXPECT_EQ(reason->id, "lists-for-nothing");
  EXPECT_EQ(reason->getMessage(),
            "expects list-blocks to be 0 where comparisons of positions say "
            "what the mask shows, but got 1");
  problem.asksData = true;
  EXPECT_FALSE(checkWorthTrying(problem, wanted.getAttr(&context)));
}
