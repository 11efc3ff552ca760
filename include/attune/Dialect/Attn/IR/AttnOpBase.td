// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What definitions of ops share.

#ifndef ATTUNE_DIALECT_ATTN_OPBASE_TD
#define ATTUNE_DIALECT_ATTN_OPBASE_TD

include "attune/Dialect/Attn/IR/AttnAttrs.td"
include "attune/Dialect/Attn/IR/AttnInterfaces.td"
include "attune/Schedule/IR/ScheduleAttrs.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Attn_Op<string mnemonic, list<Trait> traits = []> : Op<Attn_Dialect, mnemonic, traits>;

defvar Attn_Operand = 4DTensorOf<[F16, BF16, F32]>;
// What attention reads, and what it leaves, of 8 bits too.
defvar Attn_Input = 4DTensorOf<[F16, BF16, F32, F8E4M3FN, F8E5M2, F8E4M3FNUZ, F8E5M2FNUZ]>;
// What it stores, of integers as well.
defvar Attn_Stored = 4DTensorOf<[F16, BF16, F32, F8E4M3FN, F8E5M2, F8E4M3FNUZ, F8E5M2FNUZ, I8]>;

#endif // ATTUNE_DIALECT_ATTN_OPBASE_TD
