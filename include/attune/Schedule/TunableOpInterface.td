// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef ATTUNE_SCHEDULE_TUNABLEOPINTERFACE_TD
#define ATTUNE_SCHEDULE_TUNABLEOPINTERFACE_TD

include "mlir/IR/OpBase.td"

def TunableOpInterface : OpInterface<"TunableOpInterface"> {
  let cppNamespace = "::attune";
  let description = [{
    An op of which a kernel can be made in more than one way. It says which set
    of tunables it has, and answers for itself what all tools would otherwise
    have to know of it by its name: the search, stores, tuning specs, `attune-run`
    and `attune-bisect` are clients of this interface.

    Dialects need not know of it: models are attached from outside
    (`lib/Schedule/<Set>`).
  }];
  // An op of which isTunable() is false does not implement the interface.
  let extraClassOf = "return $_op.isTunable();";
  let methods = [
    InterfaceMethod<[{
        Whether this very op can be tuned, where a model is attached to a class
        that has others, too.
      }], "bool", "isTunable", (ins), "", "return true;">,

    // The schedule.
    InterfaceMethod<"The tunables that it has.", "const ::attune::KnobSet &", "getKnobSet">,
    InterfaceMethod<"The schedule; null if it has none yet.", "::attune::ScheduleAttrInterface", "getSchedule">,
    InterfaceMethod<"Sets the schedule, which is one of getKnobSet(); null removes it.",
      "void", "setSchedule", (ins "::attune::ScheduleAttrInterface":$schedule)>,
    InterfaceMethod<[{
        Refuses, with a diagnostic, a schedule on an op that cannot have it. Asked
        where isTunable() is false, too (attune::verifySchedule).
      }], "::llvm::LogicalResult", "verifySchedule", (ins), "", "return ::mlir::success();">,
    InterfaceMethod<[{
        Which schedules the op can have on a chip, and which of these are worth
        trying. To be asked often: what depends on the op alone is computed here.
      }], "::attune::ScheduleRules", "getRules", (ins "::attune::tile::TargetAttr":$target)>,
    InterfaceMethod<[{
        A legal schedule that is a reasonable start; null if none is legal.
        `sizes` are what dynamic dimensions are likely to have: they decide what
        is chosen, not what is legal.
      }], "::attune::ScheduleAttrInterface", "selectSchedule",
      (ins "::attune::tile::TargetAttr":$target, "const ::attune::SizeMap &":$sizes)>,
    InterfaceMethod<[{
        Predicts times; null if there is no model of the op. `sizes` are those of
        dynamic dimensions.
      }], "std::unique_ptr<::attune::CostModel>", "createCostModel",
      (ins "::attune::tile::TargetAttr":$target, "const ::attune::SizeMap &":$sizes),
      "", "return nullptr;">,

    // The problem.
    InterfaceMethod<[{
        The op, with what belongs to its problem, alone and without its schedule:
        a module with one function that takes what the problem uses and returns
        what it gives. Equal problems give equal modules, wherever they stand; the
        text of the module is what results are stored under.
      }], "::mlir::OwningOpRef<::mlir::ModuleOp>", "isolate", (ins),
      "", "return ::attune::isolateOp($_op.getOperation());">,
    InterfaceMethod<[{
        What schedules are chosen for, sizes aside that legality does not look
        at: a schedule of one op is legal for each op with an equal text.
      }], "std::string", "describeKind">,
    InterfaceMethod<[{
        How far an op of the same kind is, by the sizes that the kind leaves out:
        the first number decides, the next ones among equals. Sizes that are not
        known count as equal.
      }], "::llvm::SmallVector<double>", "getDistance", (ins "::attune::TunableOpInterface":$other)>,
    InterfaceMethod<"The sizes of the set, in its order; ShapedType::kDynamic where the op does not know them.",
      "::llvm::SmallVector<int64_t>", "getSizes">,
    InterfaceMethod<[{
        Makes the problem of an isolated op that has a schedule small, without
        changing what the schedule makes of it: a few blocks in each dimension,
        with a remainder where the problem has one. `sizes` are what dynamic
        dimensions are wanted to be; returns what they are to be now.
      }], "::attune::ProblemSizes", "shrink", (ins "const ::attune::ProblemSizes &":$sizes)>,
    InterfaceMethod<"What one run of the op does, for sizes in the order of the set.",
      "::attune::Work", "getWork", (ins "::llvm::ArrayRef<int64_t>":$sizes)>,

    // Running and checking it.
    InterfaceMethod<[{
        Tells what the tensors and scalars mean that the op takes: which sizes
        their dimensions are, what integers are used for, and how inputs of each
        class are made.
      }], "void", "describeInputs", (ins "::attune::InputNotes &":$notes)>,
    InterfaceMethod<[{
        Builds what operands are that the others determine, such as the result
        of a forward op among the operands of its gradients: each such operand
        with its value. Where it is an argument of the function, its input is
        made so; random numbers would be inputs of no problem.
      }], "::llvm::SmallVector<std::pair<::mlir::Value, ::mlir::Value>>", "deriveOperands",
      (ins "::mlir::OpBuilder &":$builder), "", "return {};">,
    InterfaceMethod<[{
        Whether each launch with equal inputs gives equal bits: not where the
        schedule adds to memory in no order.
      }], "bool", "givesEqualBits", (ins), "", "return true;">,
    InterfaceMethod<[{
        Kinds of inputs that the op is checked with, the most telling ones first.
        `normal`, with which times are taken, is the first of all.
      }], "::llvm::ArrayRef<::attune::InputClass>", "getInputClasses">,
    InterfaceMethod<[{
        Adds passes for modules that make plain loops on buffers of a function
        with such ops, whose floating-point results are f32 then: an
        `scf.parallel` of three dimensions that writes the results.
      }], "void", "buildReference", (ins "::mlir::OpPassManager &":$pm, "::attune::ReferenceRun":$run)>,
    InterfaceMethod<[{
        How a value is compared with the reference; nothing if it is no result of
        the problem.
      }], "std::optional<::attune::ResultCheckRule>", "getCheckRule", (ins "::mlir::Value":$value)>
  ];
}

#endif // ATTUNE_SCHEDULE_TUNABLEOPINTERFACE_TD
