// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef ATTUNE_DIALECT_WGMMA_OPS_TD
#define ATTUNE_DIALECT_WGMMA_OPS_TD

include "mlir/Dialect/LLVMIR/NVVMOps.td"
include "mlir/Interfaces/InferTypeOpInterface.td"

def WGMMA_Dialect : Dialect {
  let name = "wgmma";
  let cppNamespace = "::attune::wgmma";
  let summary = "What NVVM lacks of the asynchronous MMAs of a warpgroup";
  let description = [{
    `nvvm.wgmma.mma_async` takes both operands from shared memory, and its wait
    names no value. The ops here have the left operand in registers, and a wait
    that returns what it guards. They stand next to those of NVVM, whose fence
    and commit they need, and become inline assembly.
  }];
  let dependentDialects = ["::mlir::NVVM::NVVMDialect"];
}

class WGMMA_Op<string mnemonic, list<Trait> traits = []> : Op<WGMMA_Dialect, mnemonic, traits>;

def WGMMA_MmaAsyncOp : WGMMA_Op<"mma_async", [DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "Issues an MMA whose left operand is in registers";
  let description = [{
    `result = a * b + inouts`, or `a * b` where `scaleD` is `zero`; `inouts` is
    not read then. All 128 threads of a warpgroup execute it together. `a` is 64 x
    k, `b` is k x n, and the result 64 x n in f32, with a k of 16 for elements of 16
    bits, and of 32 for those of 8.

    - `a`: lane l of warp w holds, as the e elements of its four
      registers, rows `16 w + l / 4` and 8 below it, columns `e (l % 4)` and the
      next ones: first both rows, then both rows k / 2 columns further.
    - `descriptorB`: where b lies in shared memory, in the form of the PTX ISA.
      `layoutB = col` means that the elements of a column follow each other
      (K-major), and `row` those of a row (transposed, MN-major), of 16 bits alone.
    - `inouts` and the result: n / 2 elements. Element i of lane l of warp w is row
      `16 w + l / 4 + 8 (i % 4 / 2)`, column `8 (i / 4) + 2 (l % 4) + i % 2`.

    The result may be read after a `wgmma.wait_group` that the op's group has
    come through, or be accumulated into by an MMA of the same shape. Before
    the first MMA whose registers other instructions wrote stands
    `nvvm.wgmma.fence.aligned`.

    **Example**
    ```mlir
    %d = wgmma.mma_async [%a0, %a1, %a2, %a3], %b, %c, <m = 64, n = 8, k = 16>, <bf16>, D [<one>], B [<row>]
        : !llvm.struct<(f32, f32, f32, f32)>
    ```

    **Errors**: the shape is not m64 n(8..256, a multiple of 8) and the k of its type; the type is
    not bf16, f16, e4m3 or e5m2; `layoutB` is `row` for one of 8 bits; `a` is not four registers; `inouts` is not n / 2 f32.

    **Source**: PTX ISA, wgmma.mma_async.
  }];
  let arguments = (ins Variadic<I32>:$a, I64:$descriptorB, LLVM_AnyStruct:$inouts, NVVM_MMAShapeAttr:$shape,
                       WGMMATypesAttr:$type, WGMMAScaleOutAttr:$scaleD, MMALayoutAttr:$layoutB);
  let results = (outs LLVM_AnyStruct:$result);
  let assemblyFormat = [{
    `[` $a `]` `,` $descriptorB `,` $inouts `,` $shape `,` $type `,` `D` `[` $scaleD `]` `,` `B` `[` $layoutB `]`
    attr-dict `:` type($inouts)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    bool isOf8Bits() {
      return getType() == ::mlir::NVVM::WGMMATypes::e4m3 || getType() == ::mlir::NVVM::WGMMATypes::e5m2;
    }
  }];
}

def WGMMA_WaitGroupOp : WGMMA_Op<"wait_group", [DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "Waits for MMAs";
  let description = [{
    Waits until at most `group` of the most recent committed groups of MMAs
    are under way. The operands are returned, and only the results may be read:
    so nothing that reads them moves above the wait. Operands of MMAs that
    are still under way may be among them; these are not to be read yet.

    **Example**
    ```mlir
    %ready = wgmma.wait_group 1, %product : !llvm.struct<(f32, f32, f32, f32)>
    ```

    **Errors**: `group` is not 0 to 7; an operand is not a struct of f32.

    **Source**: PTX ISA, wgmma.wait_group.
  }];
  let arguments = (ins I32Attr:$group, Variadic<LLVM_AnyStruct>:$inouts);
  let results = (outs Variadic<LLVM_AnyStruct>:$outputs);
  let assemblyFormat = "$group (`,` $inouts^ `:` type($inouts))? attr-dict";
  let hasVerifier = 1;
}

#endif // ATTUNE_DIALECT_WGMMA_OPS_TD
