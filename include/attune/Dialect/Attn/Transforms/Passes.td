// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef ATTUNE_DIALECT_ATTN_TRANSFORMS_PASSES_TD
#define ATTUNE_DIALECT_ATTN_TRANSFORMS_PASSES_TD

include "attune/Schedule/Knobs.td"
include "mlir/Pass/PassBase.td"

class KnobOption<Knob k> : Option<k.cpp, k.arg, "int64_t", "" # k.init, k.doc>;

def AttnSetSchedulePass : Pass<"attn-set-schedule", "::mlir::ModuleOp"> {
  let summary = "Sets the schedule of every attention op";
  let description = [{
    Sets `schedule` on each `attn.attention`, also where there is one already, to
    the values of the options; an option that is not given has its default. The
    only pass with options for the tunables: all others read the attribute.

    A value outside its knob's domain is an error.
  }];
  let options = !foreach(k, allKnobs, KnobOption<k>);
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

def AttnToLoopsPass : Pass<"attn-to-loops", "::mlir::ModuleOp"> {
  let summary = "Lowers attention to plain loops: the reference";
  let description = [{
    One `scf.parallel` over batch, head and query; in it three sequential sweeps
    over the keys: the largest score, the sum of exponentials, the weighted sum
    of values. Each sweep computes the score anew, all in f32, and skips keys
    that the mask hides. What lies along the head size is a vector. Operands
    become read-only buffers, results are allocated. Slow and obvious: every kernel is checked against it.

    `precision=operand` rounds where an eager framework rounds that computes in
    the element type of the operands: the scaled product, the score, the
    normalized weight, and the result. Its distance from `precision=f32` is the
    error that a kernel may be expected to have.

    With `output=f32`, results that are not f32 become f32 before any rounding,
    and so do the results of the function, which must return them directly and
    must have no callers.
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
                           "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

def AttnKeepSourcePass : Pass<"attn-keep-source", "::mlir::ModuleOp"> {
  let summary = "Keeps a copy of the functions for those who verify";
  let description = [{
    Copies the functions that hold an `attn.attention` into a nested module with
    the attribute `attune.source`. Passes of this project leave nested modules alone, so
    that what a kernel was compiled from travels with it. Does nothing where there is a copy already.
  }];
}

def AttnApplyTuningSpecPass : Pass<"attn-apply-tuning-spec", "::mlir::ModuleOp"> {
  let summary = "Gives attention ops the schedules that a search found for ops like them";
  let description = [{
    A tuning spec is a module as `attune-tune -o` writes it: attention ops with schedules, and the chip they were
    tuned for in `attn.tuned_for`. An op without a schedule gets that of the spec's op that is equal to it; failing
    that, of one that differs in batch, heads and lengths alone, the closest of them by the ratios of
    lengths and, among equals, of the number of heads in all batches. Sizes that are not known count as equal. Ops that
    have a schedule keep it, and ops that no spec knows stay without one. Among equals the first wins; specs for
    another chip than that in `tile.target` are passed over.

    **Errors**: a spec that cannot be read, or that does not say what chip it is for.
  }];
  let options = [
    ListOption<"specs", "specs", "std::string", "Files, the most important one first.">
  ];
  let dependentDialects = ["::mlir::func::FuncDialect"];
}

def AttnSelectSchedulePass : Pass<"attn-select-schedule", "::mlir::ModuleOp"> {
  let summary = "Gives attention ops without a schedule one that is legal";
  let description = [{
    A start, not a tuned choice: the first of a short list of shapes that fits the registers
    of the chip in `tile.target`. Ops that have a schedule keep it. An op for
    which no schedule is legal is an error that says why the default is refused.
  }];
}

def AttnCheckSchedulePass : Pass<"attn-check-schedule", "::mlir::ModuleOp"> {
  let summary = "Refuses schedules that are illegal on the target";
  let description = [{
    Every `attn.attention` with a schedule is held against the rules of the chip
    in `tile.target`. A refusal names the rule and both numbers.
  }];
}

#endif // ATTUNE_DIALECT_ATTN_TRANSFORMS_PASSES_TD
