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

    **Preconditions**
    - None: a query may be left with no key, and then has the result 0.

    **Postconditions**
    - With equal lengths, both alignments hide the same keys.

    **Example**
    ```mlir
    %o = attn.attention %q, %k, %v causal(bottom_right) : ...
    ```

    **Errors**
    - `expects alignment top_left or bottom_right, but got 'middle'`.
  }];
  let parameters = (ins EnumParameter<Attn_Alignment>:$alignment);
  let assemblyFormat = "`<` $alignment `>`";
}

def Attn_WindowAttr : Attn_Attr<"Window", "window"> {
  let summary = "Query m sees key n where m + offset - left <= n <= m + offset + right";
  let description = [{
    A side of -1, written `?` in the op, is unbounded. The offset is that of
    `#attn.causal`.

    **Preconditions**
    - Sides are from -1 to 2147483647.

    **Postconditions**
    - `right` of 0 hides what `causal` of the same alignment hides.

    **Example**
    ```mlir
    %o = attn.attention %q, %k, %v window(1023, 0, bottom_right) : ...
    ```

    **Errors**
    - `expects window sides of at least -1 (unbounded), but got -7 and 0`.
  }];
  let parameters = (ins "int64_t":$left, "int64_t":$right, EnumParameter<Attn_Alignment>:$alignment);
  let assemblyFormat = "`<` `left` `=` $left `,` `right` `=` $right `,` $alignment `>`";
  let genVerifyDecl = 1;
}

def Attn_StridedAttr : Attn_Attr<"Strided", "strided",
    [DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let summary = "Strides, in elements, of the buffer behind a tensor";
  let description = [{
    A tensor encoding: element (i, j, ...) lies `i * strides[0] + j * strides[1]
    + ...` elements behind the first. `?` is a stride known at run time only.
    `divisor` divides every unknown stride, 1 if nothing is known; kernels choose
    the width of their loads by it.

    **Preconditions**
    - One stride per dimension of the tensor; each is positive or `?`.
    - `divisor` is positive.

    **Postconditions**
    - The encoding changes where elements lie, never what a value is.

    **Example**
    ```mlir
    tensor<2x8x?x64xbf16, #attn.strided<[?, 64, 512, 1], divisor = 8>>
    ```

    **Errors**
    - `expects one stride per dimension of the tensor, but got 2 strides for 3 dimensions`.
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

    **Preconditions**
    - Every value is in the domain of its knob.

    **Postconditions**
    - A field at its default is not printed.

    **Example**
    ```mlir
    #attn.schedule<blockM = 64, numWarps = 8>
    ```

    **Errors**
    - `expects knob 'block-m' to be one of 16, 32, ..., but got 17`.
  }];
  let parameters = !dag(ins, !foreach(k, allKnobs, KnobParameter<k>), !foreach(k, allKnobs, k.cpp));
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// One record of Knobs.td.
    struct Knob {
      ::llvm::StringRef name;
      int64_t init;
      /// All values, and those of them that the search tries unasked.
      ::llvm::ArrayRef<int64_t> domain, searched;
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
    #define ATTUNE_KNOB_MEMBERS }] # !interleave(!foreach(k, allKnobs, k.cpp), ", ") # [{
    /// X(name of the accessor, name of the field) for each, in that order.
    #define ATTUNE_FOR_EACH_KNOB(X) }]
    # !foldl("", allKnobs, acc, k, acc # " X(get" # !toupper(!substr(k.cpp, 0, 1)) # !substr(k.cpp, 1) # ", " # k.cpp # ")") # "\n";
  // The tables behind the declarations, one entry per record of Knobs.td.
  let extraClassDefinition =
    !foldl("", allKnobs, acc, k, acc # "static constexpr int64_t " # k.cpp # "Domain[] = {" # !interleave(k.domain, ", ") # "}, "
      # k.cpp # "Searched[] = {" # !interleave(k.searched, ", ") # "};\n")
    # "static const $cppClass::Knob allKnobs[] = {\n"
    # !foldl("", allKnobs, acc, k, acc # "  {\"" # k.arg # "\", " # k.init # ", " # k.cpp # "Domain, " # k.cpp # "Searched, \"" # k.doc # "\"},\n")
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
