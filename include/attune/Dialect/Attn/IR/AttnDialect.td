// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef ATTUNE_DIALECT_ATTN_DIALECT_TD
#define ATTUNE_DIALECT_ATTN_DIALECT_TD

include "mlir/IR/OpBase.td"

def Attn_Dialect : Dialect {
  let name = "attn";
  let cppNamespace = "::attune::attn";
  let summary = "What attention means, on tensors";
  let description = [{
    The dialect says *what* is computed: queries, keys, values, how a score is
    changed, which scores count, and how heads are grouped. It names no chip,
    no thread, no layout in registers and no shared memory; those begin in the
    `tile` dialect, which `convert-attn-to-tile` leads to. *How* to compute is one
    attribute, `#schedule.attention`, that the search sets and the lowering reads.
  }];
  let useDefaultAttributePrinterParser = 1;
  let extraClassDeclaration = [{
    void registerAttributes();
    /// Attached, as upstream's declaration cannot stand in other namespaces.
    void attachRuntimeVerification();
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect",
                           "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect", "::attune::schedule::ScheduleDialect"];
}

#endif // ATTUNE_DIALECT_ATTN_DIALECT_TD
