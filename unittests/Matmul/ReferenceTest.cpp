// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The reference of a matmul against the formula, written once more, and the
// bound against faults that kernels have had.

#include "attune/Execution/Reference.h"
#include "attune/Execution/HostReference.h"
#include "attune/InitAllDialects.h"
#include "attune/Runtime/Random.h"
#include "attune/Runtime/Verify.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace mlir;
using namespace attune;

namespace {
/// One function, its inputs, and its reference on the CPU.
class Case {
public:
  Case(StringRef text, bool integers) {
    DialectRegistry registry;
    registerAllDialects(registry);
    context.appendDialectRegistry(registry);
    module = parseSourceString<ModuleOp>(text, &context);
    function = *module->getOps<func::FuncOp>().begin();
    uint64_t seed = 1;
    for (Type argument : function.getArgumentTypes()) {
      auto type = cast<RankedTensorType>(argument);
      SmallVector<int64_t> sizes(type.getShape());
      // Sizes that are not known are all the same.
      llvm::replace(sizes, ShapedType::kDynamic, int64_t(5));
      std::string name;
      llvm::raw_string_ostream(name) << type.getElementType();
      Tensor &input = inputs.emplace_back(
          TensorShape::contiguous(*parseDataType(name), sizes));
      if (type.getEncoding()) {
        input.shape.strides[0] += 3;
        input = Tensor(input.shape);
      }
      if (integers)
        fillUniform(input, ++seed, -2, 3);
      else
        fillNormal(input, ++seed);
    }
    std::string name;
    auto result = cast<RankedTensorType>(function.getResultTypes()[0]);
    llvm::raw_string_ostream(name) << result.getElementType();
    type = *parseDataType(name);
    auto values = runReferenceOnHost(function, inputs, ReferenceRun::Exact),
         bounds = runReferenceOnHost(function, inputs, ReferenceRun::Bound);
    EXPECT_TRUE(succeeded(values) && succeeded(bounds));
    reference = makeBoundedReference((*values)[0], (*bounds)[0]);
  }

  /// Compares what a kernel would store of `values`.
  Comparison check(ArrayRef<double> values) {
    Tensor tensor(TensorShape::contiguous(type, values.size()));
    for (auto [offset, value] : llvm::enumerate(values))
      tensor.store(offset, value);
    return compare(tensor, reference);
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  func::FuncOp function;
  std::vector<Tensor> inputs;
  DataType type;
  Reference reference;
};
} // namespace

/// In f32, where it is 0 sooner than in f64.
static double silu(double x) {
  auto single = static_cast<float>(x);
  return single / (1 + std::exp(-single));
}

// Both operands transposed, and a sum that does not begin with 0.
static constexpr StringLiteral kTransposed = R"(
  #a = affine_map<(m, n, k) -> (k, m)>
  #b = affine_map<(m, n, k) -> (n, k)>
  #c = affine_map<(m, n, k) -> (m, n)>
  func.func @f(%a: tensor<97x?xf16>, %b: tensor<7x97xf16>, %c: tensor<?x7xf32>) -> tensor<?x7xf32> {
    %r = linalg.matmul indexing_maps = [#a, #b, #c]
      ins(%a, %b : tensor<97x?xf16>, tensor<7x97xf16>) outs(%c : tensor<?x7xf32>) -> tensor<?x7xf32>
    return %r : tensor<?x7xf32>
  })";

TEST(MatmulReferenceTest, AddsToWhatIsThere) {
  Case test(kTransposed, /*integers=*/false);
  std::vector<float> a = test.inputs[0].toFloats(),
                     b = test.inputs[1].toFloats(),
                     c = test.inputs[2].toFloats();
  constexpr int64_t kRows = 5, kColumns = 7, kTerms = 97;
  for (int64_t m = 0; m < kRows; ++m)
    for (int64_t n = 0; n < kColumns; ++n) {
      double sum = 0, magnitude = 0;
      for (int64_t k = 0; k < kTerms; ++k) {
        double product = double(a[k * kRows + m]) * b[n * kTerms + k];
        sum += product;
        magnitude += std::fabs(product);
      }
      int64_t element = m * kColumns + n;
      double value = sum + c[element];
      EXPECT_NEAR(test.reference.values[element], value,
                  1e-6 * (magnitude + std::fabs(c[element])));
      double error = (kTerms / 16. + 18) * 0x1p-23 * magnitude;
      EXPECT_GE(test.reference.bounds[element], 0.9 * error);
      EXPECT_LE(test.reference.bounds[element],
                1.1 * error + 0x1p-20 * std::fabs(value));
    }
}

// silu(A B1 + bias) * (A B2), the batch sharing B1 and B2 through a broadcast.
static constexpr StringLiteral kGate = R"(
  #a = affine_map<(b, m, n, k) -> (b, m, k)>
  #b = affine_map<(b, m, n, k) -> (k, n)>
  #c = affine_map<(b, m, n, k) -> (b, m, n)>
  #id = affine_map<(b, m, n) -> (b, m, n)>
  #col = affine_map<(b, m, n) -> (n)>
  !c = tensor<2x3x64xf32>
  func.func @f(%a: tensor<2x3x4096xbf16>, %b1: tensor<4096x64xbf16>, %b2: tensor<4096x64xbf16>,
               %bias: tensor<64xbf16>) -> tensor<2x3x64xbf16> {
    %zero = arith.constant 0.0 : f32
    %one = arith.constant 1.0 : f32
    %e = tensor.empty() : !c
    %z = linalg.fill ins(%zero : f32) outs(%e : !c) -> !c
    %x = linalg.contract indexing_maps = [#a, #b, #c]
      ins(%a, %b1 : tensor<2x3x4096xbf16>, tensor<4096x64xbf16>) outs(%z : !c) -> !c
    %y = linalg.contract indexing_maps = [#a, #b, #c]
      ins(%a, %b2 : tensor<2x3x4096xbf16>, tensor<4096x64xbf16>) outs(%z : !c) -> !c
    %o = tensor.empty() : tensor<2x3x64xbf16>
    %r = linalg.generic {indexing_maps = [#id, #id, #col, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x, %y, %bias : !c, !c, tensor<64xbf16>) outs(%o : tensor<2x3x64xbf16>) {
    ^bb0(%p: f32, %q: f32, %s: bf16, %out: bf16):
      %s1 = arith.extf %s : bf16 to f32
      %1 = arith.addf %p, %s1 : f32
      %2 = arith.negf %1 : f32
      %3 = math.exp %2 : f32
      %4 = arith.addf %3, %one : f32
      %5 = arith.divf %1, %4 : f32
      %6 = arith.mulf %5, %q : f32
      %7 = arith.truncf %6 : f32 to bf16
      linalg.yield %7 : bf16
    } -> tensor<2x3x64xbf16>
    return %r : tensor<2x3x64xbf16>
  })";

namespace {
enum class Fault {
  None,
  LostBlock,
  OtherColumn,
  RoundedTwice,
  SinglePrecision
};
} // namespace

/// The gate as a kernel computes it, right or wrong.
static std::vector<double> computeGate(ArrayRef<Tensor> inputs, Fault fault) {
  constexpr int64_t kRows = 6, kColumns = 64, kTerms = 4096;
  std::vector<float> a = inputs[0].toFloats(), bias = inputs[3].toFloats();
  std::vector<float> b[] = {inputs[1].toFloats(), inputs[2].toFloats()};
  std::vector<double> results;
  for (int64_t m = 0; m < kRows; ++m)
    for (int64_t n = 0; n < kColumns; ++n) {
      double sums[2] = {0, 0};
      for (int64_t side : {0, 1})
        for (int64_t k = 0; k < kTerms; ++k) {
          if (fault == Fault::LostBlock && side == 1 && k / 64 == 17)
            continue;
          double product =
              double(a[m * kTerms + k]) * b[side][k * kColumns + n];
          sums[side] += product;
          if (fault == Fault::SinglePrecision)
            sums[side] = static_cast<float>(sums[side]);
        }
      double addend =
          bias[fault == Fault::OtherColumn ? (n + 1) % kColumns : n];
      double value = silu(sums[0] + addend) * sums[1];
      if (fault == Fault::RoundedTwice)
        value = silu(roundTo(DataType::BF16, sums[0] + addend)) * sums[1];
      results.push_back(value);
    }
  return results;
}

TEST(MatmulReferenceTest, FaultsAreFound) {
  Case test(kGate, /*integers=*/false);
  auto check = [&](Fault fault) {
    return test.check(computeGate(test.inputs, fault));
  };
  EXPECT_TRUE(check(Fault::None).passed) << check(Fault::None).reason;
  EXPECT_TRUE(check(Fault::SinglePrecision).passed)
      << check(Fault::SinglePrecision).reason;
  for (Fault fault :
       {Fault::LostBlock, Fault::OtherColumn, Fault::RoundedTwice})
    EXPECT_FALSE(check(fault).passed) << static_cast<int>(fault);
}

TEST(MatmulReferenceTest, SmallIntegersAreExactUpToTheEpilogue) {
  // What the epilogue makes of exact sums is rounded by chips as they can.
  Case gate(kGate, /*integers=*/true);
  EXPECT_TRUE(gate.check(computeGate(gate.inputs, Fault::None)).passed);
  EXPECT_FALSE(gate.check(computeGate(gate.inputs, Fault::LostBlock)).passed);
  // Without functions in it every bit is known.
  Case test(kTransposed, /*integers=*/true);
  std::vector<double> values(test.reference.values.begin(),
                             test.reference.values.end());
  for (auto [value, bound] : llvm::zip_equal(values, test.reference.bounds)) {
    EXPECT_EQ(value, std::round(value));
    EXPECT_EQ(bound, 0);
  }
  EXPECT_TRUE(test.check(values).passed);
  values[3] = std::nextafter(static_cast<float>(values[3]), 1e9f);
  EXPECT_EQ(test.check(values).worst, 3);
}

// Halves of heads of 8 columns, behind a bias: partners are 4 columns apart.
static constexpr StringLiteral kRotated = R"(
  #id = affine_map<(m, n) -> (m, n)>
  #col = affine_map<(m, n) -> (n)>
  #at = affine_map<(m, h, p, j) -> (m, h, p, j)>
  #other = affine_map<(m, h, p, j) -> (m, h, 1 - p, j)>
  #angle = affine_map<(m, h, p, j) -> (m, j)>
  !c = tensor<5x16xf32>
  !s = tensor<5x2x2x4xf32>
  func.func @f(%a: tensor<5x6xf16>, %b: tensor<6x16xf16>, %bias: tensor<16xf32>,
               %cos: tensor<5x4xf32>, %sin: tensor<5x4xf32>) -> !c {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : !c
    %z = linalg.fill ins(%zero : f32) outs(%e : !c) -> !c
    %x = linalg.matmul ins(%a, %b : tensor<5x6xf16>, tensor<6x16xf16>) outs(%z : !c) -> !c
    %y = linalg.generic {indexing_maps = [#col, #id], iterator_types = ["parallel", "parallel"]}
      ins(%bias : tensor<16xf32>) outs(%x : !c) {
    ^bb0(%p: f32, %q: f32):
      %1 = arith.addf %p, %q : f32
      linalg.yield %1 : f32
    } -> !c
    %h = tensor.expand_shape %y [[0], [1, 2, 3]] output_shape [5, 2, 2, 4] : !c into !s
    %o = tensor.empty() : !s
    %r = linalg.generic {indexing_maps = [#at, #other, #angle, #angle, #at],
                         iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%h, %h, %cos, %sin : !s, !s, tensor<5x4xf32>, tensor<5x4xf32>) outs(%o : !s) {
    ^bb0(%p: f32, %q: f32, %u: f32, %v: f32, %out: f32):
      %side = linalg.index 2 : index
      %c0 = arith.constant 0 : index
      %second = arith.cmpi ne, %side, %c0 : index
      %n = arith.negf %v : f32
      %w = arith.select %second, %v, %n : f32
      %1 = arith.mulf %p, %u : f32
      %2 = arith.mulf %q, %w : f32
      %3 = arith.addf %1, %2 : f32
      linalg.yield %3 : f32
    } -> !s
    %f = tensor.collapse_shape %r [[0], [1, 2, 3]] : !s into !c
    return %f : !c
  })";

TEST(MatmulReferenceTest, PartnersAreRotatedTogether) {
  Case test(kRotated, /*integers=*/false);
  std::vector<float> in[5];
  for (auto [values, input] : llvm::zip_equal(in, test.inputs))
    values = input.toFloats();
  auto sum = [&](int64_t m, int64_t n) {
    double value = in[2][n];
    for (int64_t k = 0; k < 6; ++k)
      value += double(in[0][m * 6 + k]) * in[1][k * 16 + n];
    return value;
  };
  std::vector<double> expected;
  for (int64_t m = 0; m < 5; ++m)
    for (int64_t n = 0; n < 16; ++n) {
      bool isSecond = n / 4 % 2;
      double angle = in[4][m * 4 + n % 4];
      expected.push_back(sum(m, n) * in[3][m * 4 + n % 4] +
                         sum(m, isSecond ? n - 4 : n + 4) *
                             (isSecond ? angle : -angle));
    }
  Comparison right = test.check(expected);
  EXPECT_TRUE(right.passed) << right.reason;
  expected[9] += 1e-4;
  EXPECT_EQ(test.check(expected).worst, 9);
}

// Rows of a left operand that lie 11 elements apart, and no terms at all.
static constexpr StringLiteral kStrided = R"(
  func.func @f(%a: tensor<3x8xbf16, #attn.strided<[?, 1]>>, %b: tensor<8x2xbf16>, %c: tensor<3x2xf32>) -> tensor<3x2xf32> {
    %r = linalg.matmul ins(%a, %b : tensor<3x8xbf16, #attn.strided<[?, 1]>>, tensor<8x2xbf16>)
      outs(%c : tensor<3x2xf32>) -> tensor<3x2xf32>
    return %r : tensor<3x2xf32>
  })";
static constexpr StringLiteral kNoTerms = R"(
  func.func @f(%a: tensor<3x0xbf16>, %b: tensor<0x2xbf16>, %c: tensor<3x2xf32>) -> tensor<3x2xf32> {
    %r = linalg.matmul ins(%a, %b : tensor<3x0xbf16>, tensor<0x2xbf16>) outs(%c : tensor<3x2xf32>) -> tensor<3x2xf32>
    return %r : tensor<3x2xf32>
  })";

TEST(MatmulReferenceTest, StridesAndEmptySums) {
  Case strided(kStrided, /*integers=*/true), none(kNoTerms, /*integers=*/true);
  std::vector<float> a = strided.inputs[0].toFloats(),
                     b = strided.inputs[1].toFloats(),
                     c = strided.inputs[2].toFloats();
  for (int64_t element = 0; element < 6; ++element) {
    float sum = c[element];
    for (int64_t k = 0; k < 8; ++k)
      sum += a[element / 2 * 8 + k] * b[k * 2 + element % 2];
    EXPECT_EQ(strided.reference.values[element], sum);
  }
  EXPECT_EQ(none.reference.values, none.inputs[2].toFloats());
}

TEST(MatmulReferenceTest, BecomesOneKernelOfEachChip) {
  for (StringRef text : {kTransposed, kGate, kRotated, kStrided}) {
    Case test(text, /*integers=*/false);
    for (StringRef chip : {"sm_80", "sm_90a", "gfx942", "gfx1100"}) {
      auto compiled =
          compileReference(test.function, chip, ReferenceRun::Exact);
      ASSERT_TRUE(succeeded(compiled)) << chip.str();
      unsigned kernels = 0;
      for (auto binary : (*compiled)->getOps<gpu::BinaryOp>())
        for (gpu::KernelMetadataAttr kernel :
             cast<gpu::ObjectAttr>(binary.getObjects()[0]).getKernels())
          kernels += kernel != nullptr;
      EXPECT_EQ(kernels, 1u) << chip.str();
    }
  }
}
