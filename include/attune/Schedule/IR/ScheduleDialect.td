// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef ATTUNE_SCHEDULE_IR_DIALECT_TD
#define ATTUNE_SCHEDULE_IR_DIALECT_TD

include "mlir/IR/OpBase.td"

def Schedule_Dialect : Dialect {
  let name = "schedule";
  let cppNamespace = "::attune::schedule";
  let summary = "How an op is computed: its tunables";
  let description = [{
    One attribute for each set of tunables in `Knobs.td`. An op that can be
    tuned has the attribute of its set; the search sets it, and the lowering of
    the op reads it. The dialect has no ops, and it knows neither chips nor the
    ops that have its attributes.
  }];
  let useDefaultAttributePrinterParser = 1;
  let extraClassDeclaration = "void registerAttributes();";
}

#endif // ATTUNE_SCHEDULE_IR_DIALECT_TD
