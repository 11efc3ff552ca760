// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The wgmma dialect: what NVVM lacks of the asynchronous MMAs of a
// warpgroup.

#ifndef ATTUNE_DIALECT_WGMMA_IR_WGMMA_H
#define ATTUNE_DIALECT_WGMMA_IR_WGMMA_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"

#include "attune/Dialect/WGMMA/IR/WGMMADialect.h.inc"

#define GET_OP_CLASSES
#include "attune/Dialect/WGMMA/IR/WGMMAOps.h.inc"

#endif // ATTUNE_DIALECT_WGMMA_IR_WGMMA_H
