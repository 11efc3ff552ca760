// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// wgmma.

#ifndef ATTUNE_LIB_TARGET_NVIDIA_HOPPER_WARPGROUPMATRIXUNIT_H
#define ATTUNE_LIB_TARGET_NVIDIA_HOPPER_WARPGROUPMATRIXUNIT_H

#include "attune/Target/MatrixUnit.h"

namespace attune {

class WarpgroupMatrixUnit : public MatrixUnit {
public:
  mlir::Value issue(mlir::OpBuilder &builder, mlir::Location loc,
                    const WarpgroupMma &mma) const override;
  mlir::Value wait(mlir::OpBuilder &builder, mlir::Location loc,
                   mlir::Value result, int64_t later) const override;
  void waitReads(mlir::OpBuilder &builder, mlir::Location loc,
                 int64_t later) const override;
  void transpose(mlir::OpBuilder &builder, mlir::Location loc,
                 const SharedTranspose &request) const override;
};

} // namespace attune

#endif // ATTUNE_LIB_TARGET_NVIDIA_HOPPER_WARPGROUPMATRIXUNIT_H
