// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An attribute for each set of tunables. All of them are stored, parsed, printed
// and verified in one way, by the set's table (Schedule.cpp); what is generated
// here is that table, and what C++ calls the tunables.

#ifndef ATTUNE_SCHEDULE_IR_ATTRS_TD
#define ATTUNE_SCHEDULE_IR_ATTRS_TD

include "attune/Schedule/IR/ScheduleDialect.td"
include "attune/Schedule/IR/ScheduleInterfaces.td"
include "attune/Schedule/Knobs.td"
include "mlir/IR/AttrTypeBase.td"

// What C++ says for a knob.
class KnobCode<KnobBase k> {
  string init = "static_cast<" # k.valueType # ">(" # k.init # ")";
  string member = "      " # k.valueType # " " # k.cpp # " = " # init # ";\n";
  string accessor = "    " # k.valueType # " get" # !toupper(!substr(k.cpp, 0, 1)) # !substr(k.cpp, 1)
    # "() const { return static_cast<" # k.valueType # ">(read(" # k.cpp # ")); }\n";
  string names = !if(!empty(k.names), "", "  static constexpr ::llvm::StringLiteral " # k.cpp # "Names[] = {\""
    # !interleave(k.names, "\", \"") # "\"};\n");
  string table = "  static constexpr int64_t " # k.cpp # "Domain[] = {" # !interleave(k.domain, ", ") # "}, "
    # k.cpp # "Searched[] = {" # !interleave(k.searched, ", ") # "};\n" # names;
  string entry = "    {\"" # k.arg # "\", \"" # k.cpp # "\", " # k.init # ", " # k.cpp # "Domain, " # k.cpp # "Searched, "
    # !if(!empty(k.names), "{}", k.cpp # "Names") # ", \"" # k.doc # "\"},\n";
}

class Schedule_SetAttr<KnobSet set> : AttrDef<Schedule_Dialect, set.cpp, [DeclareAttrInterfaceMethods<ScheduleAttrInterface, ["getKnobSet"]>]> {
  let mnemonic = set.name;
  let summary = "The tunables of " # set.doc;
  let description = [{
    One field for each tunable of the set (see [the list](Knobs.md)), each with a
    default. The verifier admits the values of the tunable's domain; whether
    values fit each other, the problem and the chip is the business of
    `attune-check-schedule`.

    **Preconditions**
    - Every value is in the domain of its tunable.

    **Postconditions**
    - A field at its default is not printed.

    **Errors**
    - `expects knob 'num-warps' to be one of 1, 2, ..., but got 17`.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$values);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Where each tunable stands in getValues() and in the set.
    enum Place : size_t { }] # !interleave(!foreach(k, set.knobs, k.cpp), ", ") # [{ };
    /// The table of the set.
    static const ::attune::KnobSet &getSet();
    /// The schedule with every tunable at its default.
    static }] # set.cpp # [{Attr getDefault(::mlir::MLIRContext *context) { return Builder().getAttr(context); }

    }] # !foldl("", set.knobs, acc, k, acc # KnobCode<k>.accessor) # [{

    /// Values that are read where they are kept and when they are asked for.
    class View {
    public:
      View(}] # set.cpp # [{Attr schedule)
          : reader([values = schedule.getValues()](size_t place) { return values[place]; }) {}
      /// `reader` gives the value of a tunable by its place.
      explicit View(std::function<int64_t(size_t)> reader) : reader(std::move(reader)) {}

    }] # !foldl("", set.knobs, acc, k, acc # KnobCode<k>.accessor) # [{
      int64_t read(size_t place) const { return reader(place); }

    private:
      std::function<int64_t(size_t)> reader;
    };

    /// Makes a schedule of what differs from the defaults.
    struct Builder {
}] # !foldl("", set.knobs, acc, k, acc # KnobCode<k>.member) # [{
      }] # set.cpp # [{Attr getAttr(::mlir::MLIRContext *context) const {
        return get(context, {}] # !interleave(!foreach(k, set.knobs, "static_cast<int64_t>(" # k.cpp # ")"), ", ") # [{});
      }
    };

  private:
    int64_t read(size_t place) const { return getValues()[place]; }

  public:
  }];
  let extraClassDefinition =
    "const ::attune::KnobSet &$cppClass::getSet() {\n" # !foldl("", set.knobs, acc, k, acc # KnobCode<k>.table)
    # "  static const ::attune::KnobInfo knobs[] = {\n" # !foldl("", set.knobs, acc, k, acc # KnobCode<k>.entry) # "  };\n"
    # "  static const ::attune::SizeInfo sizes[] = {" # !interleave(!foreach(s, set.sizes, "{\"" # s.name # "\", \"" # s.doc # "\"}"), ", ") # "};\n"
    # "  static const ::attune::KnobSet set = {\"" # set.name # "\", knobs, sizes,\n"
    # "    [](::llvm::function_ref<::mlir::InFlightDiagnostic()> emitError, ::mlir::MLIRContext *context, ::llvm::ArrayRef<int64_t> values)\n"
    # "        -> ::attune::ScheduleAttrInterface { return getChecked(emitError, context, values); }};\n"
    # "  return set;\n}\n"
    # "const ::attune::KnobSet &$cppClass::getKnobSet() const { return getSet(); }\n"
    # "::mlir::Attribute $cppClass::parse(::mlir::AsmParser &parser, ::mlir::Type) { return ::parse<$cppClass>(parser); }\n"
    # "void $cppClass::print(::mlir::AsmPrinter &printer) const { ::print(printer, *this); }\n"
    # "::llvm::LogicalResult $cppClass::verify(::llvm::function_ref<::mlir::InFlightDiagnostic()> emitError, ::llvm::ArrayRef<int64_t> values) {\n"
    # "  return getSet().verify(emitError, values);\n}\n";
}

foreach set = allKnobSets in
  def Schedule_#set.cpp#Attr : Schedule_SetAttr<set>;

#endif // ATTUNE_SCHEDULE_IR_ATTRS_TD
