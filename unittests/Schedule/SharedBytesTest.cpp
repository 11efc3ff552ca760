// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What legality counts is what compiled kernels have.

#include "attune/Dialect/Tile/Transforms/Passes.h"
#include "attune/InitAllDialects.h"
#include "attune/Pipelines/Pipelines.h"
#include "attune/Schedule/Attention/Legality.h"
#include "attune/Target/TargetRegistry.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"
#include <random>

using namespace mlir;
using namespace attune;
using schedule::AttentionAttr;

namespace {
class SharedBytesTest : public testing::TestWithParam<const char *> {
protected:
  SharedBytesTest() {
    DialectRegistry registry;
    registerAllDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  template <typename T> T pick(ArrayRef<T> values) {
    return values[generator() % values.size()];
  }

  /// More keys than a block has: what is loaded once has one slot, however many
  /// the schedule says.
  static constexpr int64_t kKeys = 1024;

  OwningOpRef<ModuleOp> makeProblem() {
    int64_t heads = pick<int64_t>({1, 4}),
            dim = pick<int64_t>({16, 40, 64, 128}),
            dimV = pick<int64_t>({dim, 64});
    StringRef element = pick<StringRef>({"f16", "bf16", "f8E4M3FN"});
    bool isNarrow = element.starts_with("f8");
    auto tensor = [&](int64_t batchHeads, int64_t length, int64_t columns,
                      bool isResult = false) {
      return "tensor<1x" + std::to_string(batchHeads) + "x" +
             std::to_string(length) + "x" + std::to_string(columns) + "x" +
             (isResult && isNarrow ? "bf16" : element).str() + ">";
    };
    int64_t rows = pick<int64_t>({1, 200});
    // Two columns in a byte.
    bool packs = !isNarrow && dim % 32 == 0 && dimV % 32 == 0 &&
                 pick<bool>({false, true});
    auto keys = [&](int64_t columns) {
      return packs ? "tensor<1x1x" + std::to_string(kKeys) + "x" +
                         std::to_string(columns / 2) + "xi8>"
                   : tensor(1, kKeys, columns);
    };
    std::string q = tensor(heads, rows, dim), k = keys(dim), v = keys(dimV),
                o = tensor(heads, rows, dimV, /*isResult=*/true),
                text = "func.func @f(%q: " + q + ", %k: " + k + ", %v: " + v +
                       ") -> " + o + " {\n%o = attn.attention %q, %k, %v " +
                       pick<const char *>({"", "causal(bottom_right)"}) +
                       (isNarrow ? " weights(f8E4M3FN)" : "") +
                       (packs ? " packed(key, value)" : "") + " : " + q + ", " +
                       k + ", " + v + "\nreturn %o : " + o + "\n}";
    return parseSourceString<ModuleOp>(text, ParserConfig(&context));
  }

  /// Values that tend to go together, so that enough are legal.
  AttentionAttr makeSchedule() {
    SmallVector<int64_t> values;
    bool hasGroups = generator() % 2;
    int64_t groups = pick<int64_t>({1, 2, 3});
    for (const KnobInfo &knob : AttentionAttr::getSet().knobs) {
      int64_t value = pick(knob.searched.empty() ? knob.domain : knob.searched);
      if (knob.name == "block-m")
        value = hasGroups ? 64 * groups : pick<int64_t>({16, 32, 64, 128});
      if (knob.name == "num-warps")
        value = hasGroups ? 4 * groups : pick<int64_t>({1, 2, 4});
      if (knob.name == "mma-warps")
        value = hasGroups ? 4 : 1;
      bool isRefined =
          llvm::is_contained({"producer-warps", "p-in-registers", "o-in-shared",
                              "overlap", "rescale-late", "late-keys", "unroll",
                              "persistent", "cluster", "q-stages"},
                             knob.name.str());
      if (isRefined && (!hasGroups || generator() % 2))
        value = knob.init;
      values.push_back(value);
    }
    return AttentionAttr::get(&context, values);
  }

  MLIRContext context;
  std::mt19937 generator{1};
};
} // namespace

TEST_P(SharedBytesTest, LegalityCountsWhatKernelsHave) {
  constexpr int kWanted = 60, kMost = 20000;
  tile::TargetAttr target = *getTarget(&context, GetParam(), [&] {
    return emitError(UnknownLoc::get(&context));
  });
  int checked = 0;
  std::set<int64_t> sizes;
  for (int tried = 0; tried < kMost && checked < kWanted; ++tried) {
    OwningOpRef<ModuleOp> module = makeProblem();
    ASSERT_TRUE(module);
    attn::AttentionOp op;
    module->walk([&](attn::AttentionOp found) { op = found; });
    AttentionAttr schedule = makeSchedule();
    ASSERT_TRUE(schedule);
    auto problem = AttentionProblem::get(op);
    if (checkLegal(problem, schedule, target))
      continue;
    op.setScheduleAttr(schedule);
    PassManager manager(&context);
    CompileOptions options;
    options.chip = GetParam();
    buildTensorsToTilePipeline(manager, options);
    buildTilePipeline(manager);
    manager.nest<gpu::GPUModuleOp>().addNestedPass<gpu::GPUFuncOp>(
        tile::createTileAllocateSharedPass());
    int64_t counted = getSharedBytes(problem, schedule, target);
    ASSERT_TRUE(succeeded(manager.run(*module)));
    // A kernel that merges splits has none.
    int64_t most = 0;
    module->walk([&](gpu::GPUFuncOp kernel) {
      auto bytes = kernel->getAttrOfType<IntegerAttr>(
          tile::TileDialect::kSharedBytesAttrName);
      ASSERT_TRUE(bytes);
      most = std::max(most, bytes.getInt());
    });
    std::string text;
    llvm::raw_string_ostream(text) << schedule;
    EXPECT_EQ(most, counted) << GetParam() << ": " << text;
    sizes.insert(counted);
    ++checked;
  }
  EXPECT_EQ(checked, kWanted);
  EXPECT_GT(sizes.size(), 10u);
}

INSTANTIATE_TEST_SUITE_P(Chips, SharedBytesTest,
                         testing::Values("sm_80", "sm_90a", "gfx942",
                                         "gfx1100"));
