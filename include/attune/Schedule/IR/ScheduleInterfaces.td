// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef ATTUNE_SCHEDULE_IR_INTERFACES_TD
#define ATTUNE_SCHEDULE_IR_INTERFACES_TD

include "mlir/IR/OpBase.td"

def ScheduleAttrInterface : AttrInterface<"ScheduleAttrInterface"> {
  let cppNamespace = "::attune";
  let description = [{
    A value for each tunable of a set. What every such attribute has, whatever
    its tunables are.
  }];
  let methods = [
    InterfaceMethod<"The tunables that it has values of.",
      "const ::attune::KnobSet &", "getKnobSet">,
    InterfaceMethod<"The value of each, in the order of the set. Of one whose values have names it is the name's number.",
      "::llvm::ArrayRef<int64_t>", "getValues">
  ];
}

#endif // ATTUNE_SCHEDULE_IR_INTERFACES_TD
