// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef ATTUNE_DIALECT_ATTN_OPS_TD
#define ATTUNE_DIALECT_ATTN_OPS_TD

include "attune/Dialect/Attn/IR/AttnAttrs.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Attn_Op<string mnemonic, list<Trait> traits = []> : Op<Attn_Dialect, mnemonic, traits>;

def Attn_AttentionOp : Attn_Op<"attention", [
    Pure, AttrSizedOperandSegments, SingleBlock,
    DeclareOpInterfaceMethods<InferTypeOpInterface>,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface>]> {
  let summary = "Softmax attention";
  let arguments = (ins
    4DTensorOf<[F16, BF16, F32]>:$query,
    4DTensorOf<[F16, BF16, F32]>:$key,
    4DTensorOf<[F16, BF16, F32]>:$value,
    Optional<1DTensorOf<[F32]>>:$alibiSlopes,
    Optional<1DTensorOf<[F32]>>:$sinks,
    OptionalAttr<F32Attr>:$scale,
    DefaultValuedStrAttr<StrAttr, "bhsd">:$order,
    OptionalAttr<Attn_CausalAttr>:$causal,
    OptionalAttr<Attn_WindowAttr>:$window,
    OptionalAttr<F32Attr>:$softcap,
    UnitAttr:$returnLse,
    OptionalAttr<Attn_ScheduleAttr>:$schedule);
  let results = (outs 4DTensorOf<[F16, BF16, F32]>:$result, Optional<3DTensorOf<[F32]>>:$lse);
  let regions = (region MaxSizedRegion<1>:$score, MaxSizedRegion<1>:$mask);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Attn_YieldOp : Attn_Op<"yield", [Pure, ReturnLike, Terminator, HasParent<"AttentionOp">]> {
  let summary = "Value of a score or mask region";
  let arguments = (ins AnyTypeOf<[F32, I1]>:$value);
  let assemblyFormat = "$value attr-dict `:` type($value)";
}

#endif // ATTUNE_DIALECT_ATTN_OPS_TD
