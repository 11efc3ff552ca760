// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef ATTUNE_CONVERSION_PASSES_TD
#define ATTUNE_CONVERSION_PASSES_TD

include "mlir/Pass/PassBase.td"

#endif // ATTUNE_CONVERSION_PASSES_TD
