// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops of upstream's transform dialect on ops that can be tuned.

#ifndef ATTUNE_SCHEDULE_TRANSFORMOPS_TD
#define ATTUNE_SCHEDULE_TRANSFORMOPS_TD

include "mlir/Dialect/Transform/IR/TransformDialect.td"
include "mlir/Dialect/Transform/Interfaces/TransformInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/IR/OpBase.td"

def Attune_SetScheduleOp : Op<Transform_Dialect, "attune.set_schedule", [
  DeclareOpInterfaceMethods<TransformOpInterface>,
  DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
]> {
  let summary = "Sets tunables of ops";
  let description = [{
    Sets tunables in the schedule of each op of the handle, by
    their names (see [the list](Knobs.md)). A tunable that is not named stays as it
    is, or has its default where the op has no schedule yet.

    ```mlir
    %m = transform.tune.knob<"block-m"> options = [64, 128] -> !transform.param<i64>
    transform.attune.set_schedule %attention {"block-m" = %m} : !transform.any_op, !transform.param<i64>
    ```

    Values are integers, or strings where the tunable's values have names. An op that cannot be tuned, or has no such
    tunable, is a silenceable failure, a value that the tunable
    cannot have a definite one. Whether a chip can run the schedule is asked
    later, by `attune-check-schedule`.
  }];
  let cppNamespace = "::attune";
  let arguments = (ins TransformHandleTypeInterface:$target,
                       Variadic<TransformParamTypeInterface>:$values,
                       StrArrayAttr:$knobs);
  let assemblyFormat = "$target custom<KnobValues>($knobs, $values) attr-dict `:` type($target) (`,` type($values)^)?";
  let hasVerifier = 1;
}

#endif // ATTUNE_SCHEDULE_TRANSFORMOPS_TD
