// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The attn dialect: attention on tensors, its attributes and its schedule.

#ifndef ATTUNE_DIALECT_ATTN_IR_ATTN_H
#define ATTUNE_DIALECT_ATTN_IR_ATTN_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "attune/Dialect/Attn/IR/AttnDialect.h.inc"
#include "attune/Dialect/Attn/IR/AttnEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "attune/Dialect/Attn/IR/AttnAttrs.h.inc"

#define GET_OP_CLASSES
#include "attune/Dialect/Attn/IR/AttnOps.h.inc"

#endif // ATTUNE_DIALECT_ATTN_IR_ATTN_H
