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

#endif // ATTUNE_MATMUL_PASSES_TD
