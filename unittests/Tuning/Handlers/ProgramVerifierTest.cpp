// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "attune/Tuning/ProgramVerifier.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace attune;
using namespace attune::tuning;

static Tensor makeTensor(DataType type, llvm::ArrayRef<double> values) {
  Tensor tensor(
      TensorShape::contiguous(type, {static_cast<int64_t>(values.size())}));
  for (auto [i, value] : llvm::enumerate(values))
    tensor.store(static_cast<int64_t>(i), value);
  return tensor;
}

TEST(ProgramVerifier, ExpectsEqualIntegers) {
  ProgramVerifier verifier({makeTensor(DataType::I32, {1, 2, 3})},
                           ProgramInputs::Normal, 64);
  EXPECT_EQ(verifier.findError(makeTensor(DataType::I32, {1, 2, 3})), "");
  EXPECT_EQ(verifier.findError(makeTensor(DataType::I32, {1, 2, 4})),
            "result 0: expects 3 at element 2 within 0, but got 4; 1 of 3 "
            "elements are wrong");
  EXPECT_NE(verifier.findError({}), "");
}

// Numbers that are one as doubles.
TEST(ProgramVerifier, ComparesAllBitsOfIntegers) {
  Tensor expected = makeTensor(DataType::I64, {0}), got = expected;
  expected.bytes[7] = got.bytes[7] = 1;
  got.bytes[0] = 1;
  ProgramVerifier verifier({expected}, ProgramInputs::Normal, 1);
  EXPECT_EQ(verifier.findError(expected), "");
  EXPECT_NE(verifier.findError(got), "");
}

TEST(ProgramVerifier, AllowsMoreForLongerSums) {
  for (auto [type, eps] : {std::pair(DataType::F32, std::ldexp(1.0, -23)),
                           std::pair(DataType::F16, std::ldexp(1.0, -10)),
                           std::pair(DataType::BF16, std::ldexp(1.0, -7)),
                           std::pair(DataType::F64, std::ldexp(1.0, -52))}) {
    Tensor reference = makeTensor(type, {0.5, -2});
    ProgramVerifier one({reference}, ProgramInputs::Normal, 1),
        many({reference}, ProgramInputs::Normal, 64);
    EXPECT_DOUBLE_EQ(one.getTolerance(0), 4 * eps * 2);
    EXPECT_DOUBLE_EQ(many.getTolerance(0), 4 * eps * 8 * 2);
    EXPECT_EQ(many.findError(makeTensor(type, {0.5 + 32 * eps, -2})), "");
    EXPECT_NE(many.findError(makeTensor(type, {0.5 + 128 * eps, -2})), "");
  }
}

TEST(ProgramVerifier, ExpectsEqualSumsOfSmallIntegers) {
  Tensor whole = makeTensor(DataType::BF16, {3, -60}),
         half = makeTensor(DataType::BF16, {0.5, 60}),
         large = makeTensor(DataType::BF16, {3, 70});
  auto getTolerance = [](const Tensor &tensor, ProgramInputs inputs) {
    return ProgramVerifier({tensor}, inputs, 4).getTolerance(0);
  };
  EXPECT_EQ(getTolerance(whole, ProgramInputs::Exact), 0);
  EXPECT_GT(getTolerance(whole, ProgramInputs::Normal), 0);
  EXPECT_GT(getTolerance(half, ProgramInputs::Exact), 0);
  EXPECT_GT(getTolerance(large, ProgramInputs::Exact), 0);
}

TEST(ProgramVerifier, KnowsWhatIsNoNumber) {
  double nan = std::nan(""), inf = INFINITY;
  ProgramVerifier verifier({makeTensor(DataType::F32, {nan, inf, 1})},
                           ProgramInputs::Normal, 1);
  EXPECT_EQ(verifier.findError(makeTensor(DataType::F32, {nan, inf, 1})), "");
  EXPECT_NE(verifier.findError(makeTensor(DataType::F32, {0, inf, 1})), "");
  EXPECT_NE(verifier.findError(makeTensor(DataType::F32, {nan, -inf, 1})), "");
  EXPECT_NE(verifier.findError(makeTensor(DataType::F32, {nan, inf, nan})), "");
}

TEST(ProgramVerifier, MakesTheSameInputs) {
  HostSignature signature;
  signature.arguments.push_back(
      {HostValue::Kind::Tensor,
       TensorShape::contiguous(DataType::F16, {1000})});
  signature.arguments.push_back({HostValue::Kind::MemRef,
                                 TensorShape::contiguous(DataType::I64, {1000}),
                                 /*isIndex=*/true});
  auto exact = makeInputs(signature, ProgramInputs::Exact, 1600);
  EXPECT_EQ(exact[0].bytes,
            makeInputs(signature, ProgramInputs::Exact, 1600)[0].bytes);
  size_t zeros = 0;
  for (int64_t i = 0; i < 1000; ++i) {
    double value = exact[0].load(i);
    EXPECT_TRUE(value == 0 || value == 1 || value == -1);
    zeros += value == 0;
    EXPECT_GE(exact[1].load(i), 0);
  }
  // One of ten is none.
  EXPECT_GT(zeros, 850u);
  EXPECT_LT(zeros, 950u);
}
