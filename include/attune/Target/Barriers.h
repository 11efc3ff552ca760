// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the compiler may ask of a chip whose threads wait at barriers in shared
// memory, which copies arrive at too, and at numbered barriers of some warps.

#ifndef ATTUNE_TARGET_BARRIERS_H
#define ATTUNE_TARGET_BARRIERS_H

#include "mlir/IR/Builders.h"

namespace attune {

/// One of a row of barriers in workgroup memory. Phases are numbered from 0,
/// and their parity alternates.
struct SharedBarrier {
  /// 1-D buffer of i64.
  mlir::Value barriers;
  /// Which one, an index.
  mlir::Value number;
};

class Barriers {
public:
  virtual ~Barriers() = default;

  /// Makes a barrier whose phases end after `arrivals` arrivals. One thread
  /// does it for all, before a publish() and a barrier of the workgroup.
  virtual void init(mlir::OpBuilder &builder, mlir::Location loc,
                    const SharedBarrier &barrier, int64_t arrivals) const = 0;
  virtual void publish(mlir::OpBuilder &builder, mlir::Location loc) const = 0;
  virtual void arrive(mlir::OpBuilder &builder, mlir::Location loc,
                      const SharedBarrier &barrier) const = 0;
  /// Arrives at that barrier of workgroup `rank` of the cluster, an index.
  virtual void arriveAt(mlir::OpBuilder &builder, mlir::Location loc,
                        const SharedBarrier &barrier,
                        mlir::Value rank) const = 0;
  /// Arrives, and lets the phase end only when `bytes` have been copied.
  virtual void arriveExpecting(mlir::OpBuilder &builder, mlir::Location loc,
                               const SharedBarrier &barrier,
                               int64_t bytes) const = 0;
  /// Waits for the end of the phase of `parity`, an index.
  virtual void wait(mlir::OpBuilder &builder, mlir::Location loc,
                    const SharedBarrier &barrier, mlir::Value parity) const = 0;

  /// Comes to the barrier of the cluster; `isFirst` where barriers alone have
  /// been made and published. All threads do so once before each of them waits.
  virtual void arriveAtCluster(mlir::OpBuilder &builder, mlir::Location loc,
                               bool isFirst) const = 0;
  /// Waits until all threads of the cluster have come.
  virtual void waitForCluster(mlir::OpBuilder &builder,
                              mlir::Location loc) const = 0;

  /// Waits for all lanes of the warp.
  virtual void syncWarp(mlir::OpBuilder &builder, mlir::Location loc) const = 0;
  /// Arrives at the workgroup's barrier of the given number (an index, from 1),
  /// which waits for `threads` threads, and waits there too if `wait`.
  virtual void syncThreads(mlir::OpBuilder &builder, mlir::Location loc,
                           mlir::Value number, int64_t threads,
                           bool wait) const = 0;
};

} // namespace attune

#endif // ATTUNE_TARGET_BARRIERS_H
