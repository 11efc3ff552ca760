// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Warps that multiply with mma.sync, read operands with ldmatrix and copy with
// cp.async: what all chips here can do, whatever they can do beside it.

#ifndef ATTUNE_LIB_TARGET_NVIDIA_COMMON_BASELINE_H
#define ATTUNE_LIB_TARGET_NVIDIA_COMMON_BASELINE_H

#include "NVIDIA.h"
#include "attune/Target/TargetModel.h"

namespace attune::nvidia {

class BaselineTarget : public TargetModel {
public:
  mlir::Value emitMma(mlir::OpBuilder &builder, mlir::Location loc,
                      tile::MmaAtomAttr atom, mlir::Value lhs, mlir::Value rhs,
                      mlir::Value acc) const override;
  mlir::Value emitNaturals(mlir::OpBuilder &builder, mlir::Location loc,
                           mlir::Value bytes, bool upper, int64_t exponent,
                           mlir::Type type) const override;
  mlir::Value emitSharedRead(mlir::OpBuilder &builder, mlir::Location loc,
                             const SharedRead &read) const override;
  mlir::Value emitAny(mlir::OpBuilder &builder, mlir::Location loc,
                      tile::TargetAttr target,
                      mlir::Value condition) const override;
  mlir::Value emitFirstLane(mlir::OpBuilder &builder, mlir::Location loc,
                            tile::TargetAttr target,
                            mlir::Value value) const override;
  mlir::Value emitSigns(mlir::OpBuilder &builder, mlir::Location loc,
                        mlir::Value low, unsigned lowByte, mlir::Value high,
                        unsigned highByte) const override;
  void emitAsyncCopy(mlir::OpBuilder &builder, mlir::Location loc,
                     const AsyncCopy &copy) const override;
  void emitAsyncCommit(mlir::OpBuilder &builder,
                       mlir::Location loc) const override;
  void emitAsyncWait(mlir::OpBuilder &builder, mlir::Location loc,
                     int64_t pending) const override;
  bool narrowsIndices() const override;
  bool hasTanh() const override;
  llvm::StringRef getDeviceScope() const override { return "device"; }
  mlir::LogicalResult populateGPUToLLVM(
      mlir::LLVMTypeConverter &converter, mlir::RewritePatternSet &patterns,
      mlir::ConversionTarget &conversionTarget, tile::TargetAttr target,
      llvm::function_ref<mlir::InFlightDiagnostic()> emitError) const override;
  void configureKernel(mlir::LLVM::LLVMFuncOp kernel, tile::TargetAttr target,
                       int64_t threads, int64_t workgroupsPerSm) const override;
  void configureParameter(mlir::LLVM::LLVMFuncOp kernel, unsigned parameter,
                          mlir::Type argument) const override;
  mlir::FailureOr<Binary>
  serialize(mlir::gpu::GPUModuleOp module, tile::TargetAttr target,
            const BinaryOptions &options) const override;
  std::string getToolchain(const BinaryOptions &options) const override;
};

} // namespace attune::nvidia

#endif // ATTUNE_LIB_TARGET_NVIDIA_COMMON_BASELINE_H
