// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mbarriers, barriers of clusters, and numbered barriers: of chips from Hopper
// on.

#ifndef ATTUNE_LIB_TARGET_NVIDIA_COMMON_MBARRIERS_H
#define ATTUNE_LIB_TARGET_NVIDIA_COMMON_MBARRIERS_H

#include "attune/Target/Barriers.h"

namespace attune::nvidia {

class MBarriers : public Barriers {
public:
  void init(mlir::OpBuilder &builder, mlir::Location loc,
            const SharedBarrier &barrier, int64_t arrivals) const override;
  void publish(mlir::OpBuilder &builder, mlir::Location loc) const override;
  void arrive(mlir::OpBuilder &builder, mlir::Location loc,
              const SharedBarrier &barrier) const override;
  void arriveAt(mlir::OpBuilder &builder, mlir::Location loc,
                const SharedBarrier &barrier, mlir::Value rank) const override;
  void arriveExpecting(mlir::OpBuilder &builder, mlir::Location loc,
                       const SharedBarrier &barrier,
                       int64_t bytes) const override;
  void wait(mlir::OpBuilder &builder, mlir::Location loc,
            const SharedBarrier &barrier, mlir::Value parity) const override;
  void arriveAtCluster(mlir::OpBuilder &builder, mlir::Location loc,
                       bool isFirst) const override;
  void waitForCluster(mlir::OpBuilder &builder,
                      mlir::Location loc) const override;
  void syncWarp(mlir::OpBuilder &builder, mlir::Location loc) const override;
  void syncThreads(mlir::OpBuilder &builder, mlir::Location loc,
                   mlir::Value number, int64_t threads,
                   bool wait) const override;
};

} // namespace attune::nvidia

#endif // ATTUNE_LIB_TARGET_NVIDIA_COMMON_MBARRIERS_H
