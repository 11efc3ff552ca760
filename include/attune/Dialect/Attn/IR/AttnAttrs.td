// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef ATTUNE_DIALECT_ATTN_ATTRS_TD
#define ATTUNE_DIALECT_ATTN_ATTRS_TD

include "attune/Dialect/Attn/IR/AttnDialect.td"
include "attune/Schedule/Knobs.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/TensorEncoding.td"

class Attn_Attr<string name, string attrMnemonic, list<Trait> traits = []>
    : AttrDef<Attn_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

def Attn_Alignment : I32EnumAttr<"Alignment",
    "where the diagonal of a causal or windowed mask ends", [
      I32EnumAttrCase<"TopLeft", 0, "top_left">,
      I32EnumAttrCase<"BottomRight", 1, "bottom_right">]> {
  let cppNamespace = "::attune::attn";
  let genSpecializedAttr = 0;
}

def Attn_CausalAttr : Attn_Attr<"Causal", "causal"> {
  let summary = "Query m sees key n where n <= m + offset";
  let description = [{
    The offset is 0 for `top_left` and `seq_k - seq_q` for `bottom_right`, where
    the last query sees the last key (what a decoder with a cache means).
  }];
  let parameters = (ins EnumParameter<Attn_Alignment>:$alignment);
  let assemblyFormat = "`<` $alignment `>`";
}

def Attn_WindowAttr : Attn_Attr<"Window", "window"> {
  let summary = "Query m sees key n where m + offset - left <= n <= m + offset + right";
  let description = [{
    A side of -1 is unbounded. The offset is that of `#attn.causal`.
  }];
  let parameters = (ins "int64_t":$left, "int64_t":$right, EnumParameter<Attn_Alignment>:$alignment);
  let assemblyFormat = "`<` `left` `=` $left `,` `right` `=` $right `,` $alignment `>`";
  let genVerifyDecl = 1;
}

def Attn_StridedAttr : Attn_Attr<"Strided", "strided",
    [DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let summary = "Strides, in elements, of the buffer behind a tensor";
  let description = [{
    A tensor encoding. `strides` has one entry per dimension of the tensor, each
    positive; `?` is a stride known at run time only. `divisor` divides every unknown stride
    (1 if nothing is known); kernels use it to choose the width of their loads.

    ```mlir
    tensor<2x8x?x64xbf16, #attn.strided<[?, 64, 512, 1], divisor = 8>>
    ```
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$strides, DefaultValuedParameter<"int64_t", "1">:$divisor);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

class KnobParameter<Knob k> : AttrParameter<"int64_t", k.doc> {
  let defaultValue = "" # k.init;
}

def Attn_ScheduleAttr : Attn_Attr<"Schedule", "schedule"> {
  let summary = "The tunables of one attention kernel";
  let description = [{
    One field per record of `Knobs.td`, each with a default. The verifier admits
    the values of the record's domain; whether the values fit each other, the
    problem and the chip is the business of `attn-check-schedule`.
  }];
  let parameters = !dag(ins, !foreach(k, allKnobs, KnobParameter<k>), !foreach(k, allKnobs, k.cpp));
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// One record of Knobs.td.
    struct Knob {
      ::llvm::StringRef name;
      int64_t init;
      ::llvm::ArrayRef<int64_t> domain;
      ::llvm::StringRef doc;
    };
    /// All records, in the order of Knobs.td.
    static ::llvm::ArrayRef<Knob> getKnobs();
    /// The value of each knob, in the order of getKnobs().
    ::llvm::SmallVector<int64_t> getValues() const;
    /// The schedule with the given values, one per knob; null and a diagnostic
    /// where a value is outside its domain.
    static ScheduleAttr fromValues(::llvm::function_ref<::mlir::InFlightDiagnostic()> emitError,
                                   ::mlir::MLIRContext *context, ::llvm::ArrayRef<int64_t> values);
    /// The schedule with every knob at its default.
    static ScheduleAttr getDefault(::mlir::MLIRContext *context);

    /// The pass options that KnobOption makes, as a list for getKnobs()'s order.
    #define ATTUNE_KNOB_MEMBERS }] # !interleave(!foreach(k, allKnobs, k.cpp), ", ") # "\n";
  // The tables behind the declarations, one entry per record of Knobs.td.
  let extraClassDefinition =
    !foldl("", allKnobs, acc, k, acc # "static constexpr int64_t " # k.cpp # "Domain[] = {" # !interleave(k.domain, ", ") # "};\n")
    # "static const $cppClass::Knob allKnobs[] = {\n"
    # !foldl("", allKnobs, acc, k, acc # "  {\"" # k.arg # "\", " # k.init # ", " # k.cpp # "Domain, \"" # k.doc # "\"},\n")
    # "};\n"
    # "::llvm::ArrayRef<$cppClass::Knob> $cppClass::getKnobs() { return allKnobs; }\n"
    # "::llvm::SmallVector<int64_t> $cppClass::getValues() const {\n  return {"
    # !interleave(!foreach(k, allKnobs, "getImpl()->" # k.cpp), ", ") # "};\n}\n"
    # "$cppClass $cppClass::fromValues(::llvm::function_ref<::mlir::InFlightDiagnostic()> emitError, "
    # "::mlir::MLIRContext *context, ::llvm::ArrayRef<int64_t> values) {\n"
    # "  assert(values.size() == getKnobs().size() && \"one value per knob\");\n"
    # "  const int64_t *next = values.begin();\n"
    # !foldl("", allKnobs, acc, k, acc # "  int64_t " # k.cpp # " = *next++;\n")
    # "  return getChecked(emitError, context, " # !interleave(!foreach(k, allKnobs, k.cpp), ", ") # ");\n}\n"
    # "$cppClass $cppClass::getDefault(::mlir::MLIRContext *context) {\n  return get(context, "
    # !interleave(!foreach(k, allKnobs, k.init), ", ") # ");\n}\n"
    # "::llvm::LogicalResult $cppClass::verify(::llvm::function_ref<::mlir::InFlightDiagnostic()> emitError, "
    # !interleave(!foreach(k, allKnobs, "int64_t " # k.cpp), ", ") # ") {\n"
    # "  const int64_t values[] = {" # !interleave(!foreach(k, allKnobs, k.cpp), ", ") # "};\n"
    # "  for (auto [knob, value] : ::llvm::zip_equal(getKnobs(), values))\n"
    # "    if (!::llvm::is_contained(knob.domain, value)) {\n"
    # "      ::mlir::InFlightDiagnostic diag = emitError();\n"
    # "      diag << \"expects knob '\" << knob.name << \"' to be one of \";\n"
    # "      ::llvm::interleaveComma(knob.domain, diag);\n"
    # "      return diag << \", but got \" << value;\n"
    # "    }\n"
    # "  return ::mlir::success();\n}\n";
}

#endif // ATTUNE_DIALECT_ATTN_ATTRS_TD
