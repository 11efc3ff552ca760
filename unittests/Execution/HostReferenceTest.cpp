// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The reference on the CPU against the formula, written once more.

#include "attune/Execution/HostReference.h"
#include "attune/Execution/Problem.h"
#include "attune/InitAllDialects.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace mlir;
using namespace attune;

// A strided key, a captured tensor, a captured scalar, and a query that sees
// nothing where %first is 0.
static constexpr StringLiteral kText = R"(
  !query = tensor<1x1x5x4xbf16>
  !key = tensor<1x1x6x4xbf16, #attn.strided<[?, ?, ?, 1], divisor = 8>>
  func.func @f(%q: !query, %k: !key, %v: !key, %bias: tensor<6xf32>, %first: index)
      -> (!query, tensor<1x1x5xf32>) {
    %o, %lse = attn.attention %q, %k, %v lse score (%s, %b, %h, %m, %n) {
      %addend = tensor.extract %bias[%n] : tensor<6xf32>
      %y = arith.addf %s, %addend : f32
      attn.yield %y : f32
    } mask (%b, %h, %m, %n) {
      %y = arith.cmpi slt, %n, %first : index
      attn.yield %y : i1
    } : !query, !key, !key
    return %o, %lse : !query, tensor<1x1x5xf32>
  })";

namespace {
struct Expected {
  std::vector<float> output, lse;
};
} // namespace

static Expected compute(ArrayRef<Tensor> inputs, int64_t visible) {
  std::vector<float> q = inputs[0].toFloats(), k = inputs[1].toFloats(),
                     v = inputs[2].toFloats(), bias = inputs[3].toFloats();
  Expected expected;
  for (int64_t m = 0; m < 5; ++m) {
    std::vector<double> weights;
    double sum = 0;
    for (int64_t n = 0; n < visible; ++n) {
      double dot = 0;
      for (int64_t d = 0; d < 4; ++d)
        dot += static_cast<double>(q[m * 4 + d]) * k[n * 4 + d];
      weights.push_back(std::exp(dot / 2 + bias[n]));
      sum += weights.back();
    }
    for (int64_t e = 0; e < 4; ++e) {
      // A query that sees nothing has result 0.
      double value = 0;
      for (int64_t n = 0; n < visible; ++n)
        value += weights[n] / sum * v[n * 4 + e];
      expected.output.push_back(static_cast<float>(value));
    }
    expected.lse.push_back(static_cast<float>(std::log(sum)));
  }
  return expected;
}

class HostReferenceTest : public testing::TestWithParam<int64_t> {};

TEST_P(HostReferenceTest, IsTheFormula) {
  DialectRegistry registry;
  registerAllDialects(registry);
  MLIRContext context(registry);
  auto module = parseSourceString<ModuleOp>(kText, &context);
  ASSERT_TRUE(module);
  func::FuncOp function = *module->getOps<func::FuncOp>().begin();
  FailureOr<Problem> problem = analyzeProblem(function, ProblemSizes());
  ASSERT_TRUE(succeeded(problem));
  std::vector<Tensor> inputs;
  for (auto [index, argument] : llvm::enumerate(problem->arguments)) {
    if (!argument.isTensor)
      argument.shape = TensorShape::contiguous(DataType::I64, {});
    inputs.push_back(makeInput(argument, index, /*seed=*/3));
  }
  ASSERT_FALSE(inputs[1].shape.isContiguous());
  inputs.back().store(0, static_cast<double>(GetParam()));
  Expected expected = compute(inputs, GetParam());

  for (auto precision : {ReferenceRun::Exact, ReferenceRun::Bound}) {
    auto results = runReferenceOnHost(function, inputs, precision);
    ASSERT_TRUE(succeeded(results));
    ASSERT_EQ(results->size(), 2u);
    bool isF32 = precision == ReferenceRun::Exact;
    double tolerance = isF32 ? 1e-5 : 3e-2;
    double largest = 0;
    for (auto [got, want] : llvm::zip_equal((*results)[0], expected.output)) {
      EXPECT_NEAR(got, want, tolerance);
      largest = std::max<double>(largest, std::fabs(got - want));
    }
    // Rounding to bf16 shows, but for a lone key, whose weight is 1.
    if (!isF32 && GetParam() > 1) {
      EXPECT_GT(largest, 1e-4);
    }
    for (auto [got, want] : llvm::zip_equal((*results)[1], expected.lse)) {
      if (std::isinf(want))
        EXPECT_EQ(got, want);
      else
        EXPECT_NEAR(got, want, tolerance);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(VisibleKeys, HostReferenceTest,
                         testing::Values(0, 1, 6));
