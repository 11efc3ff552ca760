// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What convert-host-to-llvm consists of.

#ifndef ATTUNE_LIB_CONVERSION_HOSTTOLLVM_HOSTOPS_H
#define ATTUNE_LIB_CONVERSION_HOSTTOLLVM_HOSTOPS_H

#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/PatternMatch.h"

namespace attune {

/// The global AttuneImage of each kernel that is launched, by the symbol that
/// launches name.
using KernelImages = llvm::DenseMap<mlir::SymbolRefAttr, mlir::LLVM::GlobalOp>;

/// That every op of the host side has a lowering that never touches memory of
/// the device; errors are located at the op.
mlir::LogicalResult checkHostCode(mlir::ModuleOp module);

/// Makes constants of the kernels that are launched. The gpu.binary ops stay.
mlir::FailureOr<KernelImages> makeKernelImages(mlir::ModuleOp module);

/// Makes a branch of an assertion, in a function whose ops have no regions.
mlir::LogicalResult lowerAssert(mlir::RewriterBase &rewriter,
                                mlir::cf::AssertOp op);

/// Patterns for the ops that become calls of attune-c/Host.h, and the types
/// that only these have. `images` lives longer.
void populateHostCallPatterns(mlir::LLVMTypeConverter &converter,
                              const KernelImages &images,
                              mlir::RewritePatternSet &patterns);

} // namespace attune

#endif // ATTUNE_LIB_CONVERSION_HOSTTOLLVM_HOSTOPS_H
