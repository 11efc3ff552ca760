// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes on all ops that can be tuned (TunableOpInterface).

#ifndef ATTUNE_SCHEDULE_TRANSFORMS_PASSES_TD
#define ATTUNE_SCHEDULE_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def AttuneSetSchedulePass : Pass<"attune-set-schedule", "::mlir::ModuleOp"> {
  let summary = "Sets the schedule of every op that can be tuned";
  let description = [{
    Sets the schedule of each op that can be tuned, also where there is one already, to
    the values of those options that its kind has; a tunable that is not named has its default. There is an
    option for each tunable (see [the list](Knobs.md)), and no other pass has any: all others read the attribute.

    ```
    attune-opt --attune-set-schedule="block-m=64 overlap=softmax"
    ```

    **Errors**: a value outside its tunable's domain, and an option that no op of the module has.
  }];
}

def AttuneKeepSourcePass : Pass<"attune-keep-source", "::mlir::ModuleOp"> {
  let summary = "Keeps a copy of the functions for those who verify";
  let description = [{
    Copies the functions that hold an op that can be tuned into a nested module with
    the attribute `attune.source`. Passes of this project leave nested modules alone, so
    that what a kernel was compiled from travels with it. Does nothing where there is a copy already.
  }];
}

def AttuneApplyTuningSpecPass : Pass<"attune-apply-tuning-spec", "::mlir::ModuleOp"> {
  let summary = "Gives ops the schedules that a search found for ops like them";
  let description = [{
    A tuning spec is a module as `attune-tune -o` writes it: ops with schedules, and the chip they were
    tuned for in `attune.tuned_for`. An op without a schedule gets that of the spec's op that is equal to it; failing
    that, of one of the same kind, which differs in sizes alone that legality does not look at, the one with the closest sizes.
    (Of attention: by the ratios of lengths and, among equals, of the number of heads in all batches.) Sizes that are not known count as equal. Ops that
    have a schedule keep it, and ops that no spec knows stay without one. Among equals the first wins; specs for
    another chip than that in `tile.target` are passed over.

    **Errors**: a spec that cannot be read, or that does not say what chip it is for.
  }];
  let options = [
    ListOption<"specs", "specs", "std::string", "Files, the most important one first.">
  ];
  let dependentDialects = ["::mlir::func::FuncDialect"];
}

def AttuneSelectSchedulePass : Pass<"attune-select-schedule", "::mlir::ModuleOp"> {
  let summary = "Gives ops without a schedule one that is legal";
  let description = [{
    A start, not a tuned choice: the first of a short list of shapes that fits the registers
    of the chip in `tile.target`. Ops that have a schedule keep it.

    What is chosen depends on sizes. Those that are dynamic may be given as `sizes`, as they are likely to be; they
    decide what is chosen and nothing else, for the kernel still takes any:

    ```
    attune-opt --attune-attach-target=chip=<name> --attune-select-schedule="sizes=seq-q=4096,seq-k=4096"
    ```

    **Errors**: an op for which no schedule is legal, which says why the default is refused, and a size that no problem has.
  }];
  let options = [
    ListOption<"sizes", "sizes", "std::string",
               "Likely sizes of dynamic dimensions: batch, heads, kv-heads, seq-q, seq-k, m, n or k, as name=n.">
  ];
}

def AttuneCheckSchedulePass : Pass<"attune-check-schedule", "::mlir::ModuleOp"> {
  let summary = "Refuses schedules that are illegal on the target";
  let description = [{
    Every op with a schedule is held against the rules of the chip
    in `tile.target`. A schedule on an op that is not one to tune is an error. A refusal names the rule and both numbers.
    What is legal may be slow: the search knows what is not worth trying.
  }];
}

#endif // ATTUNE_SCHEDULE_TRANSFORMS_PASSES_TD
