// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The program that docs/Embedding.md links with compiled host code.

#define FUNCTION _mlir_ciface_attention
#include "call_host_code.c"
