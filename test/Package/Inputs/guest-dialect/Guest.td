// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An op as a compiler with a dialect of its own has it.

include "mlir/IR/OpBase.td"
include "attune/Dialect/Attn/IR/AttnAttrs.td"

def Guest_Dialect : Dialect {
  let name = "guest";
  let cppNamespace = "::guest";
}

def Guest_SdpaOp : Op<Guest_Dialect, "sdpa"> {
  let arguments = (ins AnyRankedTensor:$query, AnyRankedTensor:$key, AnyRankedTensor:$value, OptionalAttr<Attn_CausalAttr>:$causal);
  let results = (outs AnyRankedTensor:$result);
}
