// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The reference as a program for a device: what can be seen of it without one.

#include "attune/Execution/Reference.h"
#include "attune/InitAllDialects.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace attune;

// Elements along the head size are neighbours in the first function, and are
// not in the second.
static constexpr StringLiteral kFunctions = R"(
  !near = tensor<1x2x64x32xbf16>
  func.func @near(%q: !near, %k: !near) -> !near {
    %o = attn.attention %q, %k, %k causal(top_left) : !near, !near, !near
    return %o : !near
  }
  !far = tensor<1x2x32x64xbf16>
  func.func @far(%q: !far, %k: !far) -> !far {
    %o = attn.attention %q, %k, %k order(bhds) : !far, !far, !far
    return %o : !far
  })";

TEST(ReferenceTest, TakesOnlyWhatALaunchCanPass) {
  DialectRegistry registry;
  registerAllDialects(registry);
  MLIRContext context(registry);
  OwningOpRef<ModuleOp> module =
      parseSourceString<ModuleOp>(kFunctions, &context);
  ASSERT_TRUE(module);
  for (auto function : module->getOps<func::FuncOp>())
    for (StringRef chip : {"sm_90a", "gfx942"}) {
      auto compiled = compileReference(function, chip, ReferenceRun::Bound);
      ASSERT_TRUE(succeeded(compiled)) << chip.str();
      unsigned kernels = 0;
      for (auto binary : (*compiled)->getOps<gpu::BinaryOp>())
        for (gpu::KernelMetadataAttr kernel :
             cast<gpu::ObjectAttr>(binary.getObjects()[0]).getKernels()) {
          ++kernels;
          auto type = cast<LLVM::LLVMFunctionType>(kernel.getFunctionType());
          for (Type parameter : type.getParams())
            EXPECT_TRUE(
                (isa<LLVM::LLVMPointerType, IntegerType, FloatType>(parameter)))
                << chip.str();
        }
      EXPECT_EQ(kernels, 1u);
    }
}

TEST(ReferenceTest, RowsAreAlignedAsStridesSay) {
  DialectRegistry registry;
  registerAllDialects(registry);
  MLIRContext context(registry);
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(
      R"(
  func.func @f(%a: memref<2x4x32xbf16>, %b: memref<2x4x12xbf16>,
               %c: memref<2x4x32xbf16, strided<[?, 32, 1]>>, %i: index) {
    %c0 = arith.constant 0 : index
    %x = vector.load %a[%i, %i, %c0] : memref<2x4x32xbf16>, vector<32xbf16>
    %y = vector.load %b[%i, %i, %c0] : memref<2x4x12xbf16>, vector<12xbf16>
    %z = vector.load %c[%i, %i, %c0]
        : memref<2x4x32xbf16, strided<[?, 32, 1]>>, vector<32xbf16>
    return
  })",
      &context);
  ASSERT_TRUE(module);
  alignRows(*module);
  std::vector<int64_t> alignments;
  module->walk([&](vector::LoadOp load) {
    alignments.push_back(load.getAlignment().value_or(0));
  });
  EXPECT_EQ(alignments, (std::vector<int64_t>{16, 8, 0}));
}
