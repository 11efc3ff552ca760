// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef ATTUNE_DIALECT_ATTN_ATTRS_TD
#define ATTUNE_DIALECT_ATTN_ATTRS_TD

include "attune/Dialect/Attn/IR/AttnDialect.td"
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
    `bottom_right` is what FlashAttention calls causal since version 2.1, and so
    does attune-gen; `top_left` is `is_causal` of PyTorch.

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

#endif // ATTUNE_DIALECT_ATTN_ATTRS_TD
