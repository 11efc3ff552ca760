// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The host executor: a device whose kernels are those of any chip in LLVM
// dialect, run on the CPU thread by thread, with every access to memory
// checked.

#ifndef ATTUNE_SIMULATOR_HOSTDEVICE_H
#define ATTUNE_SIMULATOR_HOSTDEVICE_H

#include "attune/Dialect/Tile/IR/Tile.h"
#include "attune/Runtime/Device.h"
#include "llvm/Support/JSON.h"
#include <map>

namespace attune {

/// What is looked for while a kernel runs; bits of HostOptions::checks.
enum class HostCheck : unsigned {
  None = 0,
  /// Two threads access the same bytes of workgroup memory, one of them writes,
  /// and no barrier stands between; or an op reads through the asynchronous
  /// proxy what a thread wrote, and no fence of the proxies stands between; or
  /// a barrier in workgroup memory is used by a thread that need not see its
  /// initialisation, or by a copy without a fence behind that; or one workgroup
  /// of a cluster uses the memory of another, which need not know of that when
  /// it ends. What threads read or wrote may be overwritten through the
  /// asynchronous proxy without a fence.
  Races = 1,
  /// Accesses outside of the kernel's arguments and of workgroup memory.
  Bounds = 2,
  /// Reads of workgroup memory that nobody has written.
  Uninitialized = 4,
  /// Addresses that are not multiples of what the access requires.
  Alignment = 8,
  /// Accesses to what an asynchronous copy is still writing, and copies that
  /// are never waited for; results of asynchronous MMAs that are read
  /// before the wait, and MMAs without a fence of their registers.
  Waits = 16,
  /// Lanes of a warp at different barriers, and operands that the threads of a
  /// warp must agree on.
  Convergence = 32,
};

struct HostOptions {
  static constexpr unsigned kAllChecks = 63;
  /// Sum of HostCheck.
  unsigned checks = kAllChecks;
  /// Count what accesses cost and matrix instructions do.
  bool counts = false;
  /// Decides the order in which threads run and the moment at which
  /// asynchronous copies land. With 0 the threads take turns, and a copy lands
  /// when it is waited for.
  uint64_t seed = 0;
  /// Whether it decides the order of workgroups as well, which run in that of
  /// their numbers otherwise. One that waits for those before it may then wait
  /// for ever.
  bool anyOrder = false;
  /// Most threads of a launch, all workgroups together.
  int64_t maxThreads = int64_t(1) << 18;
  /// Most times that a thread may start a loop over; one that stands for a
  /// whole workgroup, as after convert-tile-to-loops, does so for each product
  /// of a matrix.
  int64_t maxSteps = int64_t(1) << 28;
  /// Most diagnostics of a launch; the others are counted.
  unsigned maxReports = 10;
};

/// What a launch counted, over all workgroups.
struct HostCounts {
  /// One op of the kernel.
  struct Site {
    std::string op;
    std::string location;
    /// Executions by a warp, or by a part of it; one of an MMA of four warps
    /// and of a bulk copy.
    int64_t requests = 0;
    /// Moved by them; of a wait, those that came by it: a wait that never has
    /// any is superfluous.
    int64_t bytes = 0;
    /// Rounds that the banks of workgroup memory need, and the least possible
    /// number for that many bytes.
    int64_t wavefronts = 0, leastWavefronts = 0;
    /// 32-byte pieces of global memory.
    int64_t sectors = 0;
  };
  std::vector<Site> sites;
  int64_t matrixOps = 0;
  double matrixFlops = 0;
  int64_t exponentials = 0;

  bool empty() const;
  void printTable(llvm::raw_ostream &stream) const;
  llvm::json::Value toJSON() const;
};

/// Allocates ordinary memory. A kernel is the MLIR bytecode or text of a
/// gpu.module in LLVM dialect with `tile.target` on it; launches happen at
/// once, and what the checks find are diagnostics at the ops of the kernel.
/// Locations and diagnostics are those of `context`.
class HostDevice : public Device {
public:
  HostDevice(mlir::MLIRContext &context, tile::TargetAttr target,
             const HostOptions &options);
  ~HostDevice() override;

  const DeviceInfo &getInfo() const override { return info; }
  KernelFormat getKernelFormat() const override { return KernelFormat::IR; }

  llvm::Expected<DeviceAddress> allocate(int64_t bytes) override;
  llvm::Error release(DeviceAddress address) override;
  llvm::Error copyToDevice(DeviceAddress target, const void *source,
                           int64_t bytes) override;
  llvm::Error copyToHost(void *target, DeviceAddress source,
                         int64_t bytes) override;
  llvm::Error fill(DeviceAddress target, uint8_t byte, int64_t bytes,
                   void *stream) override;
  llvm::Expected<std::unique_ptr<Kernel>>
  loadKernel(llvm::StringRef image, llvm::StringRef name,
             int64_t sharedBytes) override;
  /// Fails where a check found an error.
  llvm::Error launch(Kernel &kernel, const LaunchShape &shape,
                     llvm::ArrayRef<void *> arguments) override;
  llvm::Error synchronize() override;
  /// A map of this device alone. Fails where cuTensorMapEncodeTiled does.
  llvm::Expected<TensorMap>
  encodeTensorMap(const TensorMapRequest &request) override;

  // Nothing is timed on a model of a chip: these fail.
  llvm::Expected<std::unique_ptr<Event>> createEvent() override;
  llvm::Error record(Event &event) override;
  llvm::Expected<double> getElapsed(Event &start, Event &stop) override;

  /// Of later launches; see HostOptions.
  void setSeed(uint64_t seed) { options.seed = seed; }

  /// What the checks found in all launches, and kernels that crashed.
  int64_t getNumFaults() const { return faults; }
  /// Of the last launch.
  const HostCounts &getCounts() const { return counts; }

private:
  mlir::MLIRContext &context;
  HostOptions options;
  DeviceInfo info;
  /// By address.
  std::map<DeviceAddress, int64_t> allocations;
  HostCounts counts;
  int64_t faults = 0;
};

} // namespace attune

#endif // ATTUNE_SIMULATOR_HOSTDEVICE_H
