// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef ATTUNE_MATMUL_PASSES_TD
#define ATTUNE_MATMUL_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertMatmulToLoopsPass : Pass<"convert-matmul-to-loops", "::mlir::func::FuncOp"> {
  let summary = "Lowers a matmul to plain loops: the reference";
  let description = [{
    Of a function that is one matmul with what is fused into it: one
    `scf.parallel` over rows, batch and columns, in which each sum of products is
    computed in f64. Operands become read-only buffers, results are allocated.
    Slow and obvious: every kernel is checked against it.

    The results of the function become tensors of f32: with `output=values` what
    they should be, before their last rounding; with `output=bounds` how far from
    it each of them may be, given that additions inside of matrix instructions
    truncate and that chips approximate functions. Of integers whose sums f32 has
    the bound is 0 where the epilogue computes no functions or quotients.

    **Errors**
    - `expects one group of contractions to lower to a reference, but got 2`.
    - `expects to return results of a contraction's group, or their reshapes, to
      lower to a reference`.
  }];
  let options = [
    Option<"output", "output", "::attune::matmul::ReferenceOutput",
           "::attune::matmul::ReferenceOutput::Values", "What is made of each result.",
           [{::llvm::cl::values(
             clEnumValN(::attune::matmul::ReferenceOutput::Values, "values", "its values"),
             clEnumValN(::attune::matmul::ReferenceOutput::Bounds, "bounds", "how far off they may be"))}]>];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
                           "::mlir::bufferization::BufferizationDialect", "::mlir::math::MathDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"];
}

def LinalgWidenSumsPass : Pass<"linalg-widen-sums", "::mlir::func::FuncOp"> {
  let summary = "Adds products of 16 bits in f32";
  let description = [{
    A matmul of f16 or bf16 that adds in that type, as StableHLO's and TOSA's
    lowerings write it, becomes a `linalg.contract` that adds in f32, and an
    elementwise op that rounds the sum: once, where the loop has rounded after
    every addition. What the sum began with, if not with 0, is added before.

    ```mlir
    %r = linalg.matmul ins(%a, %b : tensor<32x64xf16>, tensor<64x16xf16>) outs(%zero : tensor<32x16xf16>) -> tensor<32x16xf16>

    %s = linalg.contract indexing_maps = [...] ins(%a, %b : tensor<32x64xf16>, tensor<64x16xf16>) outs(%zeros : tensor<32x16xf32>) -> tensor<32x16xf32>
    %r = linalg.generic {...} ins(%s : tensor<32x16xf32>) outs(%empty : tensor<32x16xf16>) {
    ^bb0(%sum: f32, %out: f16):
      %rounded = arith.truncf %sum : f32 to f16
      linalg.yield %rounded : f16
    } -> tensor<32x16xf16>
    ```

    It makes no errors: all else stays as it is.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

#endif // ATTUNE_MATMUL_PASSES_TD
