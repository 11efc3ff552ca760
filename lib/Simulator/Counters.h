// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What accesses cost on a chip. Threads run one after another here, so the
// accesses of a warp are collected and put together: those that its threads do
// at one op the same number of times since the warp was together last are one
// request.

#ifndef ATTUNE_LIB_SIMULATOR_COUNTERS_H
#define ATTUNE_LIB_SIMULATOR_COUNTERS_H

#include "HostTensorMap.h"
#include "attune/Simulator/HostDevice.h"
#include "attune/Target/TargetModel.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

namespace attune {

class Counters {
public:
  /// Counts where the model of a chip is given.
  Counters(size_t numSites, const TargetModel *model) : model(model) {
    if (model)
      counts.sites.resize(numSites);
  }

  bool isEnabled() const { return model; }
  void access(uint32_t warp, uint32_t thread, uint32_t site, uintptr_t address,
              uint32_t bytes, bool isShared, bool isWrite);
  /// A bulk copy.
  void copy(uint32_t site, llvm::ArrayRef<BoxPiece> pieces);
  /// Four warps have read that many bytes of workgroup memory as matrices.
  void readMatrices(uint32_t site, int64_t bytes);
  /// A thread has waited for that many bytes.
  void wait(uint32_t site, bool isFirst, int64_t bytes);
  /// The lanes of the warp are together; with ~0u, those of all warps.
  void converge(uint32_t warp);
  void matrix(double flops);
  void exponentials(int64_t count) { counts.exponentials += count; }

  HostCounts counts;

private:
  struct Request {
    uint32_t site, bytes;
    bool isShared, isWrite;
    llvm::SmallVector<uint64_t, 32> addresses;
    /// Of each address.
    llvm::SmallVector<uint32_t, 32> lanes;
  };
  struct Warp {
    std::vector<Request> requests;
    /// By site and the number of its execution.
    llvm::DenseMap<std::pair<uint32_t, uint32_t>, size_t> found;
    /// Executions by site and thread.
    llvm::DenseMap<std::pair<uint32_t, uint32_t>, uint32_t> executions;
  };

  void sharedRequest(const Request &request);
  void globalRequest(const Request &request);

  const TargetModel *model;
  std::vector<Warp> warps;
};

} // namespace attune

#endif // ATTUNE_LIB_SIMULATOR_COUNTERS_H
