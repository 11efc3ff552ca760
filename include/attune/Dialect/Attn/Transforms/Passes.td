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

#endif // ATTUNE_DIALECT_ATTN_TRANSFORMS_PASSES_TD
