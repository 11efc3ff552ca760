// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What legality of matmuls counts is what compiled kernels have.

#include "MatmulText.h"
#include "attune/Dialect/Tile/Transforms/Passes.h"
#include "attune/InitAllDialects.h"
#include "attune/Pipelines/Pipelines.h"
#include "attune/Schedule/Matmul/Legality.h"
#include "attune/Target/TargetRegistry.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"
#include <random>
#include <set>

using namespace mlir;
using namespace attune;
using schedule::MatmulAttr;

namespace {
class MatmulSharedBytesTest : public testing::TestWithParam<const char *> {
protected:
  MatmulSharedBytesTest() {
    DialectRegistry registry;
    registerAllDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  template <typename T> T pick(ArrayRef<T> values) {
    return values[generator() % values.size()];
  }

  OwningOpRef<ModuleOp> makeProblem() {
    MatmulText text;
    text.batch = pick<const char *>({"", "", "3"});
    text.m = pick<const char *>({"200", "256", "?"});
    text.n = pick<const char *>({"136", "256", "97"});
    text.k = pick<const char *>({"1024", "1000"});
    text.element = pick<const char *>({"f16", "bf16"});
    text.result = pick<const char *>({"f32", "f16", "bf16"});
    text.transposeA = generator() % 2;
    text.transposeB = generator() % 2;
    text.gate = generator() % 3 == 0;
    return parseSourceString<ModuleOp>(text.print(), ParserConfig(&context));
  }

  /// Values that tend to go together, so that enough are legal.
  MatmulAttr makeSchedule() {
    SmallVector<int64_t> values;
    bool hasGroups = generator() % 2;
    int64_t groups = pick<int64_t>({1, 2, 3});
    for (const KnobInfo &knob : MatmulAttr::getSet().knobs) {
      int64_t value = pick(knob.domain);
      if (knob.name == "block-m")
        value = hasGroups ? 64 * groups : pick<int64_t>({16, 32, 64, 128});
      if (knob.name == "num-warps")
        value = hasGroups ? 4 * groups : pick<int64_t>({1, 2, 4});
      if (knob.name == "mma-warps")
        value = hasGroups ? 4 : 1;
      bool isRefined = llvm::is_contained(
          {"producer-warps", "result-path", "persistent", "cluster", "warps-n"},
          knob.name.str());
      if (isRefined && !hasGroups && knob.name != "warps-n")
        value = knob.init;
      if (isRefined && generator() % 2)
        value = knob.init;
      values.push_back(value);
    }
    return MatmulAttr::get(&context, values);
  }

  MLIRContext context;
  std::mt19937 generator{1};
};
} // namespace

TEST_P(MatmulSharedBytesTest, LegalityCountsWhatKernelsHave) {
  constexpr int kWanted = 40, kMost = 20000;
  tile::TargetAttr target = *getTarget(&context, GetParam(), [&] {
    return emitError(UnknownLoc::get(&context));
  });
  int checked = 0;
  std::set<int64_t> sizes;
  for (int tried = 0; tried < kMost && checked < kWanted; ++tried) {
    OwningOpRef<ModuleOp> module = makeProblem();
    ASSERT_TRUE(module);
    auto groups = matmul::findContractionGroups(module->getOperation());
    ASSERT_EQ(groups.size(), 1u);
    auto problem = MatmulProblem::get(groups.front());
    MatmulAttr schedule = makeSchedule();
    if (checkLegal(problem, schedule, target))
      continue;
    groups.front().contractions.front().op->setAttr(kMatmulScheduleName,
                                                    schedule);
    groups.clear();
    PassManager manager(&context);
    CompileOptions options;
    options.chip = GetParam();
    buildTensorsToTilePipeline(manager, options);
    buildTilePipeline(manager);
    manager.nest<gpu::GPUModuleOp>().addNestedPass<gpu::GPUFuncOp>(
        tile::createTileAllocateSharedPass());
    int64_t counted = getSharedBytes(problem, schedule, target);
    ASSERT_TRUE(succeeded(manager.run(*module)));
    int kernels = 0;
    module->walk([&](gpu::GPUFuncOp kernel) {
      ++kernels;
      auto bytes = kernel->getAttrOfType<IntegerAttr>(
          tile::TileDialect::kSharedBytesAttrName);
      ASSERT_TRUE(bytes);
      std::string text;
      llvm::raw_string_ostream(text) << schedule;
      EXPECT_EQ(bytes.getInt(), counted) << GetParam() << ": " << text;
    });
    EXPECT_EQ(kernels, 1);
    sizes.insert(counted);
    ++checked;
  }
  EXPECT_EQ(checked, kWanted);
  EXPECT_GT(sizes.size(), 10u);
}

INSTANTIATE_TEST_SUITE_P(Chips, MatmulSharedBytesTest,
                         testing::Values("sm_80", "sm_90a", "gfx942",
                                         "gfx1100"));
