// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// TMA: of chips from Hopper on.

#ifndef ATTUNE_LIB_TARGET_NVIDIA_COMMON_TENSORCOPYENGINE_H
#define ATTUNE_LIB_TARGET_NVIDIA_COMMON_TENSORCOPYENGINE_H

#include "attune/Target/CopyEngine.h"

namespace attune::nvidia {

class TensorCopyEngine : public CopyEngine {
public:
  mlir::Type getMapType(mlir::MemRefType box,
                        tile::SwizzleAttr swizzle) const override;
  mlir::Value createMap(mlir::OpBuilder &builder, mlir::Location loc,
                        mlir::Type type, mlir::Value buffer) const override;
  void load(mlir::OpBuilder &builder, mlir::Location loc,
            const TMABoxCopy &copy) const override;
  void store(mlir::OpBuilder &builder, mlir::Location loc, const TMABox &box,
             bool accumulate, tile::Eviction eviction) const override;
  void waitStores(mlir::OpBuilder &builder, mlir::Location loc,
                  bool complete = false) const override;
  void followGlobal(mlir::OpBuilder &builder,
                    mlir::Location loc) const override;
  void writeMatrices(mlir::OpBuilder &builder, mlir::Location loc,
                     mlir::Value buffer, mlir::Value offset,
                     mlir::ValueRange words) const override;
  llvm::SmallVector<mlir::Value, 4>
  readTransposed(mlir::OpBuilder &builder, mlir::Location loc,
                 mlir::Value buffer, mlir::Value offset) const override;
  void publishWrites(mlir::OpBuilder &builder,
                     mlir::Location loc) const override;
};

} // namespace attune::nvidia

#endif // ATTUNE_LIB_TARGET_NVIDIA_COMMON_TENSORCOPYENGINE_H
