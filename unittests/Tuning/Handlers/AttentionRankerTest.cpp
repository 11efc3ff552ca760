// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The one thing that may be relied on: what spills comes last.

#include "attune/Tuning/AttentionRanker.h"
#include "attune/Target/TargetRegistry.h"
#include "attune/Tuning/AttentionProblem.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace attune;
using namespace attune::tuning;

static constexpr llvm::StringLiteral kProblem = R"mlir(
func.func @f(%q: tensor<1x1x256x128xf16>) -> tensor<1x1x256x128xf16> {
  %o = attn.attention %q, %q, %q causal(top_left)
    : tensor<1x1x256x128xf16>, tensor<1x1x256x128xf16>, tensor<1x1x256x128xf16>
  return %o : tensor<1x1x256x128xf16>
})mlir";

TEST(AttentionRanker, SpillsCostWhatTheyMove) {
  MLIRContext context;
  context
      .loadDialect<attn::AttnDialect, tile::TileDialect, func::FuncDialect>();
  OwningOpRef<ModuleOp> module =
      parseSourceString<ModuleOp>(kProblem, ParserConfig(&context));
  ASSERT_TRUE(module);
  attn::AttentionOp op;
  module->walk([&](attn::AttentionOp found) { op = found; });
  for (StringRef chip : getChipNames()) {
    FailureOr<tile::TargetAttr> target =
        getTarget(&context, chip, [&] { return emitError(module->getLoc()); });
    ASSERT_TRUE(succeeded(target));
    std::unique_ptr<Ranker> ranker = createAttentionRanker(op, *target);
    LegalSpace legal =
        findLegal(makeScheduleSpace(), makeLegality(op, *target));
    ASSERT_FALSE(legal.points.empty()) << chip.str();
    for (const Point &point : legal.points) {
      Result result;
      result.point = point;
      result.resources.registers = 64;
      result.resources.spillBytes = 0;
      double kept = ranker->score(result);
      // A few bytes of spills were seen in the fastest kernels; a thousand
      // never.
      result.resources.spillBytes = 8;
      double few = ranker->score(result);
      result.resources.spillBytes = 1000;
      double many = ranker->score(result);
      ASSERT_LT(kept, few) << chip.str();
      ASSERT_LT(few, 1.05 * kept) << chip.str();
      ASSERT_GT(many, 1.1 * kept) << chip.str();
    }
  }
}
