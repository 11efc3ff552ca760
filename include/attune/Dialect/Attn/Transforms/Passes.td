// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef ATTUNE_DIALECT_ATTN_TRANSFORMS_PASSES_TD
#define ATTUNE_DIALECT_ATTN_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def AttnDifferentiatePass : Pass<"attn-differentiate", "::mlir::ModuleOp"> {
  let summary = "Makes functions that compute gradients of attention";
  let description = [{
    For each function `@f` that holds an `attn.attention` and returns its
    results, makes `@f_grad` behind it, and lets `@f` return what that needs:

    ```
    @f(arguments) -> (output, lse)
    @f_grad(arguments, output, lse, output_grad[, lse_grad]) -> gradients
    ```

    `lse_grad` is there where `@f` returned `lse` before the pass. The gradients
    are those of the arguments `wrt`, in the order in which they are named; by
    default those of the arguments that are query, key or value, in the order of
    the arguments. An argument that is several of these has the sum. Gradients
    of other tensors are f32 (see `attn.attention_grad`).

    What `@f` computes for its attention to capture, `@f_grad` computes as well.
    A schedule of attention is none of its gradients.

    Refused are functions with callers, with several attentions, or with results
    that are not those of attention, and score regions with operations whose
    derivatives are not known.
  }];
  let options = [
    ListOption<"wrt", "wrt", "unsigned", "Numbers of the arguments whose gradients are wanted.">,
    Option<"deterministic", "deterministic", "bool", "false", "Let gradients have equal bits in each launch.">,
    Option<"keepForward", "keep-forward", "bool", "true",
           "Leave `@f` beside `@f_grad`. Without it, only what computes gradients is compiled.">];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def AttnExpandShortFormsPass : Pass<"attn-expand-short-forms"> {
  let summary = "Writes short spellings into the score and mask regions";
  let description = [{
    Replaces `causal`, `window`, `softcap` and `alibi` by what they mean in the
    regions of the op: softcap first, then ALiBi, then what the score region
    said; a key is visible where causal, window and mask region all say so.

    Constants stay inside the regions. With dynamic lengths, the offset of a
    bottom-right diagonal is computed before the op and captured.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
                           "::mlir::tensor::TensorDialect"];
}

def ConvertAttnToLoopsPass : Pass<"convert-attn-to-loops", "::mlir::ModuleOp"> {
  let summary = "Lowers attention to plain loops: the reference";
  let description = [{
    One `scf.parallel` over batch, head and query; in it three sequential sweeps
    over the keys: the largest score, the sum of exponentials, the weighted sum
    of values. Each sweep computes the score anew, all in f32, and skips keys
    that the mask hides. What lies along the head size is a vector. Operands
    become read-only buffers, results are allocated. Slow and obvious: every kernel is checked against it.
    A merge is one such loop, in it the largest of the logarithms and the sum of
    weighted parts.

    `precision=operand` rounds where an eager framework rounds that computes in
    the element type of the operands: the scaled product, the score, the
    normalized weight, and the result. Its distance from `precision=f32` is the
    error that a kernel may be expected to have.

    With `output=f32`, results that are not f32 become f32 before any rounding,
    and so do the results of the function, which must return or merge them,
    reshaped or transposed at most, and must have no callers.
  }];
  let options = [
    Option<"output", "output", "::attune::attn::ReferencePrecision",
           "::attune::attn::ReferencePrecision::Operand", "Element type of the results.",
           [{::llvm::cl::values(
             clEnumValN(::attune::attn::ReferencePrecision::F32, "f32", "f32"),
             clEnumValN(::attune::attn::ReferencePrecision::Operand, "operand", "that of the operands"))}]>,
    Option<"precision", "precision", "::attune::attn::ReferencePrecision",
           "::attune::attn::ReferencePrecision::F32", "Where intermediate values are rounded to.",
           [{::llvm::cl::values(
             clEnumValN(::attune::attn::ReferencePrecision::F32, "f32", "nowhere: all is f32"),
             clEnumValN(::attune::attn::ReferencePrecision::Operand, "operand",
                        "scores, weights and results to the element type of the operands"))}]>];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::bufferization::BufferizationDialect",
                           "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect",
                           "::mlir::vector::VectorDialect"];
}

#endif // ATTUNE_DIALECT_ATTN_TRANSFORMS_PASSES_TD
