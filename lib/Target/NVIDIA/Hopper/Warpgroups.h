// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// wgmma, TMA, mbarriers and setmaxnreg.

#ifndef ATTUNE_LIB_TARGET_NVIDIA_HOPPER_WARPGROUPS_H
#define ATTUNE_LIB_TARGET_NVIDIA_HOPPER_WARPGROUPS_H

#include "attune/Target/WarpgroupModel.h"

namespace attune {

class HopperWarpgroups : public WarpgroupModel {
public:
  mlir::Value startMultiply(mlir::OpBuilder &builder, mlir::Location loc,
                            const GroupMultiply &multiply) const override;
  mlir::Value awaitMultiply(mlir::OpBuilder &builder, mlir::Location loc,
                            mlir::Value result, int64_t running) const override;
  void awaitReads(mlir::OpBuilder &builder, mlir::Location loc,
                  int64_t running) const override;
  void initBarrier(mlir::OpBuilder &builder, mlir::Location loc,
                   const SharedBarrier &barrier,
                   int64_t arrivals) const override;
  void publishBarriers(mlir::OpBuilder &builder,
                       mlir::Location loc) const override;
  void arrive(mlir::OpBuilder &builder, mlir::Location loc,
              const SharedBarrier &barrier) const override;
  void arriveAt(mlir::OpBuilder &builder, mlir::Location loc,
                const SharedBarrier &barrier, mlir::Value rank) const override;
  void arriveAtCluster(mlir::OpBuilder &builder, mlir::Location loc,
                       bool isFirst) const override;
  void waitForCluster(mlir::OpBuilder &builder,
                      mlir::Location loc) const override;
  void arriveExpecting(mlir::OpBuilder &builder, mlir::Location loc,
                       const SharedBarrier &barrier,
                       int64_t bytes) const override;
  void waitBarrier(mlir::OpBuilder &builder, mlir::Location loc,
                   const SharedBarrier &barrier,
                   mlir::Value parity) const override;
  mlir::Type getMapType(mlir::MemRefType box,
                        tile::SwizzleAttr swizzle) const override;
  mlir::Value createMap(mlir::OpBuilder &builder, mlir::Location loc,
                        mlir::Type type, mlir::Value buffer) const override;
  void copyBox(mlir::OpBuilder &builder, mlir::Location loc,
               const BoxCopy &copy) const override;
  void storeBox(mlir::OpBuilder &builder, mlir::Location loc,
                const Box &box) const override;
  void awaitStores(mlir::OpBuilder &builder, mlir::Location loc) const override;
  void storeMatrices(mlir::OpBuilder &builder, mlir::Location loc,
                     mlir::Value buffer, mlir::Value offset,
                     mlir::ValueRange words) const override;
  void publishWrites(mlir::OpBuilder &builder,
                     mlir::Location loc) const override;
  void meetInWarp(mlir::OpBuilder &builder, mlir::Location loc) const override;
  mlir::Value electLane(mlir::OpBuilder &builder,
                        mlir::Location loc) const override;
  void setRegisters(mlir::OpBuilder &builder, mlir::Location loc, int64_t count,
                    bool more) const override;
  void meet(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value number,
            int64_t threads, bool wait) const override;
  mlir::Value makeUniform(mlir::OpBuilder &builder, mlir::Location loc,
                          mlir::Value value) const override;
};

} // namespace attune

#endif // ATTUNE_LIB_TARGET_NVIDIA_HOPPER_WARPGROUPS_H
