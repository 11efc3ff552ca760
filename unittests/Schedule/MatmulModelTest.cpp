// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a matmul answers as an op that can be tuned.

#include "MatmulText.h"
#include "attune/InitAllDialects.h"
#include "attune/Schedule/Matmul/Legality.h"
#include "attune/Target/TargetRegistry.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"
#include <cmath>
#include <random>
#include <set>

using namespace mlir;
using namespace attune;
using matmul::Dim;
using schedule::MatmulAttr;

namespace {
class MatmulModelTest : public testing::Test {
protected:
  MatmulModelTest() {
    DialectRegistry registry;
    registerAllDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  OwningOpRef<ModuleOp> parse(const std::string &text) {
    OwningOpRef<ModuleOp> module =
        parseSourceString<ModuleOp>(text, ParserConfig(&context));
    EXPECT_TRUE(module) << text;
    return module;
  }
  /// The one op of the module that can be tuned.
  static TunableOpInterface findOp(ModuleOp module) {
    TunableOpInterface op;
    module.walk([&](TunableOpInterface found) { op = found; });
    return op;
  }
  std::string describe(const MatmulText &text) {
    OwningOpRef<ModuleOp> module = parse(text.print());
    return findOp(*module).describeKind();
  }
  static std::string print(ModuleOp module) {
    std::string text;
    llvm::raw_string_ostream(text) << module;
    return text;
  }
  tile::TargetAttr chip(StringRef name) {
    return *getTarget(&context, name,
                      [&] { return emitError(UnknownLoc::get(&context)); });
  }

  /// Blocks of 64 x 32 x 32, by a warpgroup.
  static MatmulSchedule makeSchedule() {
    MatmulSchedule schedule;
    schedule.blockM = 64;
    schedule.blockN = 32;
    schedule.blockK = 32;
    schedule.numWarps = schedule.mmaWarps = schedule.producerWarps = 4;
    schedule.stages = 3;
    return schedule;
  }
  /// Shrinks the isolated problem of a text; gives its sizes.
  SmallVector<int64_t> shrink(const std::string &text,
                              const MatmulSchedule &schedule,
                              const ProblemSizes &given = ProblemSizes(),
                              ProblemSizes *reduced = nullptr) {
    OwningOpRef<ModuleOp> module = parse(text),
                          alone = findOp(*module).isolate();
    TunableOpInterface op = getIsolatedOp(*alone);
    op.setSchedule(schedule.getAttr(&context));
    ProblemSizes sizes = op.shrink(given);
    if (reduced)
      *reduced = sizes;
    EXPECT_TRUE(succeeded(verify(*alone)));
    op = getIsolatedOp(*alone);
    // The schedule stays, and is as legal as it was.
    EXPECT_EQ(op.getSchedule(), schedule.getAttr(&context));
    auto groups = matmul::findContractionGroups(alone->getOperation());
    EXPECT_EQ(groups.size(), 1u);
    std::optional<Refusal> reason =
        checkLegal(MatmulProblem::get(groups.front()),
                   schedule.getAttr(&context), chip("sm_90a"));
    EXPECT_FALSE(reason) << reason->getMessage();
    return op.getSizes();
  }

  MLIRContext context;
};

/// The columns are heads, each with a size.
const char *heads = R"(
  func.func @f(%a: tensor<1000x1000xf16>, %b: tensor<1000x20x24xf16>)
      -> tensor<1000x20x24xf32> {
    %zero = arith.constant 0.0 : f32
    %empty = tensor.empty() : tensor<1000x20x24xf32>
    %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<1000x20x24xf32>)
        -> tensor<1000x20x24xf32>
    %x = linalg.contract indexing_maps = [
           affine_map<(m, h, d, k) -> (m, k)>,
           affine_map<(m, h, d, k) -> (k, h, d)>,
           affine_map<(m, h, d, k) -> (m, h, d)>]
         ins(%a, %b : tensor<1000x1000xf16>, tensor<1000x20x24xf16>)
         outs(%init : tensor<1000x20x24xf32>) -> tensor<1000x20x24xf32>
    return %x : tensor<1000x20x24xf32>
  })";
} // namespace

TEST_F(MatmulModelTest, IsolatedProblemsAreStable) {
  MatmulText text;
  text.gate = text.transposeB = true;
  OwningOpRef<ModuleOp> module = parse(text.print());
  TunableOpInterface op = findOp(*module);
  OwningOpRef<ModuleOp> first = op.isolate();
  // A schedule is no part of the problem.
  op.setSchedule(MatmulSchedule().getAttr(&context));
  EXPECT_TRUE(op.getSchedule());
  OwningOpRef<ModuleOp> second = op.isolate();
  EXPECT_EQ(print(*first), print(*second));
  EXPECT_FALSE(getIsolatedOp(*second).getSchedule());
  // Nor is where it stands.
  OwningOpRef<ModuleOp> again = getIsolatedOp(*first).isolate();
  EXPECT_EQ(print(*first), print(*again));
  text.gate = false;
  OwningOpRef<ModuleOp> other = parse(text.print());
  EXPECT_NE(print(*first), print(*findOp(*other).isolate()));
}

TEST_F(MatmulModelTest, KindsLeaveSizesOut) {
  MatmulText text;
  std::string kind = describe(text);
  text.m = "1";
  EXPECT_EQ(describe(text), kind);
  text.m = "129";
  EXPECT_EQ(describe(text), kind);
  text.n = "4096";
  text.k = "72";
  EXPECT_EQ(describe(text), kind);
  text.batch = "2";
  std::string batched = describe(text);
  EXPECT_NE(batched, kind);
  text.batch = "70";
  EXPECT_EQ(describe(text), batched);
}

TEST_F(MatmulModelTest, KindsTellHowRowsAreAligned) {
  MatmulText text;
  std::string kind = describe(text);
  for (std::string MatmulText::*size : {&MatmulText::n, &MatmulText::k}) {
    MatmulText other;
    std::set<std::string> kinds{kind};
    for (const char *length : {"132", "130", "129"}) {
      other.*size = length;
      EXPECT_TRUE(kinds.insert(describe(other)).second) << length;
    }
    // Beyond that lengths say nothing.
    for (const char *length : {"196", "4098", "77"}) {
      other.*size = length;
      EXPECT_FALSE(kinds.insert(describe(other)).second) << length;
    }
  }
  // Rows of a transposed left operand are as long as m.
  text.transposeA = true;
  kind = describe(text);
  text.m = "264";
  EXPECT_EQ(describe(text), kind);
  text.m = "260";
  EXPECT_NE(describe(text), kind);
}

TEST_F(MatmulModelTest, KindsTellWhatIsComputed) {
  std::set<std::string> kinds;
  auto expectNew = [&](const std::function<void(MatmulText &)> &change) {
    MatmulText text;
    change(text);
    EXPECT_TRUE(kinds.insert(describe(text)).second) << text.print();
  };
  expectNew([](MatmulText &) {});
  expectNew([](MatmulText &text) { text.transposeA = true; });
  expectNew([](MatmulText &text) { text.transposeB = true; });
  expectNew([](MatmulText &text) { text.gate = true; });
  expectNew([](MatmulText &text) { text.element = "bf16"; });
  expectNew([](MatmulText &text) { text.result = "bf16"; });
  expectNew([](MatmulText &text) { text.result = "f32"; });
}

TEST_F(MatmulModelTest, UnknownLengthsAreAlignedToOneElement) {
  // Of m nobody asks.
  MatmulText text, dynamic;
  text.result = dynamic.result = "f32";
  dynamic.m = "?";
  std::string kind = describe(text);
  EXPECT_EQ(describe(dynamic), kind);
  dynamic.n = "?";
  EXPECT_NE(describe(dynamic), kind);
  text.n = "129";
  EXPECT_EQ(describe(dynamic), describe(text));
}

TEST_F(MatmulModelTest, DistancesAreThoseOfSizes) {
  auto measure = [&](const MatmulText &left, const MatmulText &right) {
    OwningOpRef<ModuleOp> a = parse(left.print()), b = parse(right.print());
    return findOp(*a).getDistance(findOp(*b));
  };
  MatmulText text, other;
  text.batch = other.batch = "2";
  EXPECT_EQ(measure(text, other), SmallVector<double>({0, 0}));
  other.batch = "4";
  EXPECT_EQ(measure(text, other)[0], 0);
  EXPECT_GT(measure(text, other)[1], 0);
  for (std::string MatmulText::*size :
       {&MatmulText::m, &MatmulText::n, &MatmulText::k}) {
    MatmulText near = text, far = text;
    near.*size = "512";
    far.*size = "64";
    EXPECT_LT(measure(text, near)[0], measure(text, far)[0]);
    EXPECT_EQ(measure(text, far), measure(far, text));
  }
  other = text;
  other.m = "?";
  EXPECT_EQ(measure(text, other)[0], 0);
}

TEST_F(MatmulModelTest, SmallProblemsHaveTheSameRemainders) {
  MatmulText text;
  text.batch = "7";
  text.m = "1000";
  text.n = "1000";
  text.k = "1000";
  MatmulSchedule schedule = makeSchedule();
  // Two blocks each way, and of k two for each of three slots.
  SmallVector<int64_t> small{2, 2 * 64 + 1000 % 64, 2 * 32 + 1000 % 32,
                             6 * 32 + 1000 % 32};
  EXPECT_EQ(shrink(text.print(), schedule), small);
  // Two clusters along m, or along n.
  schedule.cluster = 2;
  small[1] = 4 * 64 + 1000 % 64;
  EXPECT_EQ(shrink(text.print(), schedule), small);
  schedule.clusterAlong = schedule::ClusterAlong::N;
  small[1] = 2 * 64 + 1000 % 64;
  small[2] = 4 * 32 + 1000 % 32;
  EXPECT_EQ(shrink(text.print(), schedule), small);
  // Each split uses its slots, and one of them again.
  schedule.splitK = 4;
  small[3] = 4 * 4 * 32 + 1000 % 32;
  EXPECT_EQ(shrink(text.print(), schedule), small);
  schedule.splitK = 1;
  // What is small stays.
  text.m = "70";
  text.n = "40";
  text.k = "8";
  text.batch = "1";
  EXPECT_EQ(shrink(text.print(), schedule),
            SmallVector<int64_t>({1, 70, 40, 8}));
}

TEST_F(MatmulModelTest, UnknownSizesShrinkToo) {
  MatmulText text;
  text.m = "?";
  ProblemSizes given, reduced;
  given.named["m"] = 1000;
  SmallVector<int64_t> sizes =
      shrink(text.print(), makeSchedule(), given, &reduced);
  EXPECT_EQ(sizes[1], ShapedType::kDynamic);
  EXPECT_EQ(sizes[2], 2 * 32);
  EXPECT_EQ(reduced.get("m"), 2 * 64 + 1000 % 64);
  given.named["m"] = 5;
  shrink(text.print(), makeSchedule(), given, &reduced);
  EXPECT_EQ(reduced.get("m"), 5);
}

TEST_F(MatmulModelTest, ColumnsOfHeadsShrinkByHeads) {
  SmallVector<int64_t> sizes = shrink(heads, makeSchedule());
  EXPECT_EQ(sizes[1], 2 * 64 + 1000 % 64);
  // 20 heads of 24 columns are 15 blocks; 64 columns begin a third head.
  EXPECT_EQ(sizes[2], 3 * 24);
}

// What moves them afterwards is followed by those who ask.
TEST_F(MatmulModelTest, ItsResultsAreChecked) {
  OwningOpRef<ModuleOp> module = parse(R"(
    func.func @f(%a: tensor<32x16xf16>, %b: tensor<16x64xf16>)
        -> (tensor<32x64xf32>, tensor<32x8x8xf32>) {
      %zero = arith.constant 0.0 : f32
      %empty = tensor.empty() : tensor<32x64xf32>
      %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<32x64xf32>)
          -> tensor<32x64xf32>
      %x = linalg.matmul ins(%a, %b : tensor<32x16xf16>, tensor<16x64xf16>)
          outs(%init : tensor<32x64xf32>) -> tensor<32x64xf32>
      %y = tensor.expand_shape %x [[0], [1, 2]] output_shape [32, 8, 8]
          : tensor<32x64xf32> into tensor<32x8x8xf32>
      return %init, %y : tensor<32x64xf32>, tensor<32x8x8xf32>
    })");
  TunableOpInterface op = findOp(*module);
  func::ReturnOp returned;
  module->walk([&](func::ReturnOp found) { returned = found; });
  EXPECT_FALSE(op.getCheckRule(returned.getOperand(0)));
  EXPECT_FALSE(op.getCheckRule(op->getOperand(0)));
  EXPECT_FALSE(op.getCheckRule(returned.getOperand(1)));
  EXPECT_TRUE(op.getCheckRule(op->getResult(0)));
}

TEST_F(MatmulModelTest, SplitsPayWhereTilesAreFewAndSumsLong) {
  tile::TargetAttr target = chip("sm_90a");
  MatmulProblem problem;
  Type half = Float16Type::get(&context);
  problem.lhs = {half, true, 64};
  problem.rhs = {{half, true, 64}};
  problem.results = {{half, true, 64}};
  auto predict = [&](int64_t n, int64_t k, int64_t splits) {
    problem.sizes = {{1, 64, n, k}};
    MatmulSchedule schedule = makeSchedule();
    schedule.splitK = splits;
    return predictTime(problem, schedule.getAttr(&context), target, nullptr);
  };
  EXPECT_LT(predict(1024, 8192, 4), predict(1024, 8192, 1));
  EXPECT_GT(predict(1024, 256, 4), predict(1024, 256, 1));
  EXPECT_GT(predict(8192, 8192, 4), predict(8192, 8192, 1));
}

TEST_F(MatmulModelTest, AnyLegalScheduleHasATime) {
  std::mt19937 generator(1);
  ArrayRef<KnobInfo> knobs = MatmulAttr::getSet().knobs;
  for (StringRef name : getChipNames()) {
    tile::TargetAttr target = chip(name);
    int found = 0;
    for (int tried = 0; tried < 20000 && found < 50; ++tried) {
      SmallVector<int64_t> values;
      for (const KnobInfo &knob : knobs)
        values.push_back(generator() % 2
                             ? knob.init
                             : knob.domain[generator() % knob.domain.size()]);
      MatmulAttr schedule = MatmulAttr::get(&context, values);
      MatmulProblem problem;
      Type half = Float16Type::get(&context);
      problem.lhs = {half, true, 64};
      problem.rhs = {{half, generator() % 2 == 0, 64}};
      problem.results = {{half, true, 64}};
      problem.sizes = {{1, 1, 512, 512}};
      if (generator() % 2)
        problem.rhs.push_back(problem.rhs[0]);
      if (checkLegal(problem, schedule, target))
        continue;
      ++found;
      // More rows never take less time.
      double before = 0;
      for (int64_t m : {0, 1, 64, 1000, 4096, 100000}) {
        problem.sizes[Dim::M] = m;
        double time = predictTime(problem, schedule, target, nullptr);
        ASSERT_TRUE(std::isfinite(time) && time > 0) << name.str();
        EXPECT_GE(time, before) << name.str() << " " << m;
        before = time;
      }
      // Sizes that are not known are large.
      problem.sizes = {{ShapedType::kDynamic, ShapedType::kDynamic,
                        ShapedType::kDynamic, ShapedType::kDynamic}};
      EXPECT_GT(predictTime(problem, schedule, target, nullptr), 0);
    }
    EXPECT_EQ(found, 50) << name.str();
  }
}

TEST_F(MatmulModelTest, WhatTheEpilogueReadsTakesTime) {
  MatmulText text;
  text.m = text.n = "8192";
  text.k = "64";
  OwningOpRef<ModuleOp> module = parse(text.print());
  auto groups = matmul::findContractionGroups(module->getOperation());
  MatmulProblem problem = MatmulProblem::get(groups.front());
  tile::TargetAttr target = chip("sm_90a");
  MatmulAttr schedule = makeSchedule().getAttr(&context);
  auto predict = [&] {
    return predictTime(problem, schedule, target, nullptr);
  };
  double time = predict();
  // By itself, or as tiles of a matrix that the memory has to deliver.
  problem.epilogueLoads = 2;
  EXPECT_GT(predict(), time);
  problem.epilogueLoads = 0;
  problem.epilogueBits = 512;
  EXPECT_GT(predict(), time);
  problem.epilogueBits = 0;
  problem.epilogueFunctions += 2;
  EXPECT_GT(predict(), time);
}

/// Warpgroups multiply by both right operands of a gate at once where the copy
/// engine can write them so: whole swizzle atoms, of 64 columns or of 8 rows.
TEST_F(MatmulModelTest, RightOperandsThatAlternate) {
  auto getColumns = [&](bool isGate, bool isTransposed,
                        const MatmulSchedule &schedule) {
    MatmulText text;
    text.gate = isGate;
    text.transposeB = isTransposed;
    OwningOpRef<ModuleOp> module = parse(text.print());
    auto groups = matmul::findContractionGroups(module->getOperation());
    return getInterleavedColumns(MatmulProblem::get(groups.front()),
                                 schedule.getAttr(&context), chip("sm_90a"));
  };
  MatmulSchedule schedule;
  schedule.blockN = 128;
  EXPECT_EQ(getColumns(true, true, schedule), 0) << "by single warps";
  schedule.mmaWarps = 4;
  EXPECT_EQ(getColumns(false, true, schedule), 0) << "of one operand";
  EXPECT_EQ(getColumns(true, true, schedule), 128);
  EXPECT_EQ(getColumns(true, false, schedule), 128);
  schedule.blockN = 96;
  EXPECT_EQ(getColumns(true, true, schedule), 96);
  EXPECT_EQ(getColumns(true, false, schedule), 0);
  schedule.warpsN = schedule.cluster = 2;
  EXPECT_EQ(getColumns(true, true, schedule), 48);
  schedule.blockN = 48;
  EXPECT_EQ(getColumns(true, true, schedule), 0) << "for two workgroups";
}

/// Heads whose halves are rotated together, by angles of rows and columns, and
/// which have a factor each.
static std::string printRotated(int64_t heads, int64_t half) {
  std::string h = std::to_string(heads), d = std::to_string(half),
              n = std::to_string(heads * 2 * half),
              flat = "tensor<256x" + n + "xf32>",
              split = "tensor<256x" + h + "x2x" + d + "xf32>",
              angles = "tensor<256x" + d + "xf32>",
              factors = "tensor<" + h + "xf32>";
  return "#id = affine_map<(m, h, s, d) -> (m, h, s, d)>\n"
         "#flip = affine_map<(m, h, s, d) -> (m, h, 1 - s, d)>\n"
         "func.func @f(%a: tensor<256x256xf16>, %b: tensor<256x" +
         n + "xf16>, %angles: " + angles + ", %factors: " + factors + ") -> " +
         split +
         " {\n%zero = arith.constant 0.0 : f32\n%empty = tensor.empty() : " +
         flat + "\n%init = linalg.fill ins(%zero : f32) outs(%empty : " + flat +
         ") -> " + flat +
         "\n%x = linalg.matmul ins(%a, %b : tensor<256x256xf16>, tensor<256x" +
         n + "xf16>) outs(%init : " + flat + ") -> " + flat +
         "\n%s = tensor.expand_shape %x [[0], [1, 2, 3]] output_shape [256, " +
         h + ", 2, " + d + "] : " + flat + " into " + split +
         "\n%out = tensor.empty() : " + split +
         "\n%y = linalg.generic {indexing_maps = [#id, #flip, "
         "affine_map<(m, h, s, d) -> (m, d)>, affine_map<(m, h, s, d) -> (h)>, "
         "#id], iterator_types = [\"parallel\", \"parallel\", \"parallel\", "
         "\"parallel\"]} ins(%s, %s, %angles, %factors : " +
         split + ", " + split + ", " + angles + ", " + factors +
         ") outs(%out : " + split +
         ") {\n^bb0(%p: f32, %q: f32, %w: f32, %v: f32, %o: f32):\n"
         "%r = arith.mulf %q, %w : f32\n%t = arith.addf %p, %r : f32\n"
         "%u = arith.mulf %t, %v : f32\nlinalg.yield %u : f32\n} -> " +
         split + "\nreturn %y : " + split + "\n}";
}

TEST_F(MatmulModelTest, RotatedHeadsAreOneKind) {
  auto describeRotated = [&](int64_t heads, int64_t half) {
    OwningOpRef<ModuleOp> module = parse(printRotated(heads, half));
    return findOp(*module).describeKind();
  };
  std::string kind = describeRotated(8, 32);
  EXPECT_EQ(describeRotated(7, 32), kind);
  EXPECT_EQ(describeRotated(32, 32), kind);
  EXPECT_NE(describeRotated(8, 64), kind);
}

TEST_F(MatmulModelTest, ShrinkingKeepsWholeHeads) {
  MatmulSchedule schedule = makeSchedule();
  schedule.blockN = 64;
  // Of 64 columns, of which two blocks are enough.
  SmallVector<int64_t> sizes = shrink(printRotated(64, 32), schedule);
  EXPECT_EQ(sizes[2], 128);
  // Of 128, which a block has as a whole.
  schedule.blockN = 128;
  EXPECT_EQ(shrink(printRotated(63, 64), schedule)[2], 256);
}
