// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One workgroup in execution: its threads as fibers, its memory, and the points
// at which threads wait for each other. Workgroups of a cluster use each
// other's memory, so they are executed together: threads, offsets in workgroup
// memory and the clocks of the checks are those of all of them.

#ifndef ATTUNE_LIB_SIMULATOR_WORKGROUP_H
#define ATTUNE_LIB_SIMULATOR_WORKGROUP_H

#include "Counters.h"
#include "Fiber.h"
#include "GlobalShadow.h"
#include "HostTensorMap.h"
#include "MBarriers.h"
#include "Reports.h"
#include "SharedShadow.h"
#include "Warpgroups.h"
#include "attune/Runtime/Device.h"
#include "llvm/ADT/MapVector.h"
#include <cstring>
#include <deque>
#include <random>

namespace attune {

class Workgroup;

/// What a buffer resource of AMD's chips describes: memory without a stride.
struct RawBuffer {
  char *base;
  uint64_t bytes;
};

/// One copy from global to workgroup memory that was not waited for yet.
struct PendingCopy {
  char *target;
  const char *source;
  /// Bytes to write; those behind `valid` become 0.
  uint32_t bytes, valid;
  uint32_t site;
  /// Whether the data has arrived, which only a wait may rely on.
  bool landed;
};

/// One copy of a box from workgroup to global memory that was not waited for
/// yet.
struct PendingStore {
  uint32_t site = 0;
  llvm::SmallVector<BoxPiece> pieces;
  /// Adds f32 to what is there, each atomically.
  bool adds = false;
  /// Whether it has happened, which only a wait may rely on.
  bool landed = false;
};

struct Thread : HostThread {
  enum class State { Ready, Waiting, Done };

  Workgroup *group = nullptr;
  Fiber fiber;
  State state = State::Done;
  /// In the cluster.
  uint32_t number = 0;
  /// Phase of the cluster's barrier that it has arrived in and not waited for.
  std::optional<uint64_t> clusterPhase;
  /// Where the thread waits, and how to call that.
  uint32_t waitSite = 0;
  std::string waitsFor;
  int64_t steps = 0;
  llvm::SmallVector<PendingCopy> openCopies;
  std::deque<llvm::SmallVector<PendingCopy>> committedCopies;
  llvm::SmallVector<PendingStore, 1> openStores;
  std::deque<llvm::SmallVector<PendingStore, 1>> committedStores;
  /// Those that the thread has made; their addresses stay.
  std::deque<RawBuffer> buffers;

  /// Takes the operands of the op at hand, one after another.
  template <typename T> T takeOperand() {
    T value;
    std::memcpy(&value, operands + operandOffset, sizeof(T));
    operandOffset += (sizeof(T) + 3) / 4 * 4;
    return value;
  }
  /// An operand of any type.
  const char *takeBytes(uint32_t bytes) {
    const char *first = operands + operandOffset;
    operandOffset += (bytes + 3) / 4 * 4;
    return first;
  }
  template <typename T> void setResult(const T &value) {
    std::memcpy(results, &value, sizeof(T));
  }
  void beginOperands() { operandOffset = 0; }

private:
  uint32_t operandOffset = 0;
};

/// What a launch is, for all of its workgroups.
struct Launch {
  void (*kernel)(HostThread *) = nullptr;
  LaunchShape shape;
  llvm::ArrayRef<void *> arguments;
  uint32_t warpSize = 0;
  uint32_t staticSharedBytes = 0;
  /// Workgroups of a cluster, along x.
  uint32_t clusterSize = 1;
  bool flushDenormals = false;
  std::vector<GlobalRegion> regions;
  /// Where the parameters are that are tensor maps.
  llvm::SmallVector<const char *> tensorMaps;
  const HostOptions *options = nullptr;
};

/// Executes the workgroups of a launch, one cluster after another.
class Workgroup {
public:
  Workgroup(const Launch &launch, Reports &reports, Counters &counters);
  ~Workgroup();

  llvm::Error prepare();
  /// The thread that runs, or ran last.
  const Thread *getRunning() const { return running; }
  /// Executes the workgroup (x, y, z) and the others of its cluster, of which
  /// it is the first. False if the launch cannot go on.
  bool run(uint32_t x, uint32_t y, uint32_t z);

  // For the functions that kernels call, within a thread's fiber.

  using Compute = llvm::function_ref<void(llvm::ArrayRef<Thread *> warp)>;
  /// Waits for all lanes of the warp in `mask`, whose last one computes for
  /// all. `warp` is indexed by lane number; threads outside of `mask` are null.
  void collective(Thread &thread, uint32_t site, uint64_t mask,
                  const char *name, Compute compute);
  /// Ends the launch where the warp does not have `size` threads.
  void requireWarp(Thread &thread, uint32_t site, uint32_t size);
  /// All lanes of the warp of `thread` that the workgroup has.
  uint64_t getWarpMask(const Thread &thread) const;
  /// Comes to barrier `id`, at which `count` threads meet (0 means all of
  /// them), and waits for the others unless it only says so.
  void barrier(Thread &thread, uint32_t site, uint32_t id, uint32_t count,
               bool waits);
  /// Comes to the barrier of the cluster. What the thread has done is ordered
  /// before what others do that have waited; if `relaxed`, the initialisations
  /// of barriers alone that it has fenced.
  void arriveAtCluster(Thread &thread, uint32_t site, bool relaxed);
  void waitForCluster(Thread &thread, uint32_t site);
  /// Where `address` of the own workgroup memory is in that of another
  /// workgroup.
  char *mapShared(Thread &thread, uint32_t site, char *address, uint32_t rank);
  /// Waits for the threads in `mask`, and orders what they did before it.
  void syncWarp(Thread &thread, uint32_t site, uint64_t mask);
  /// Lets other threads run.
  void yield(Thread &thread);
  void step(Thread &thread, uint32_t site);
  /// The kernel says that it cannot go on.
  void trap(Thread &thread, uint32_t site);

  /// The address at which an access may happen: `address`, unless it was found
  /// out of bounds.
  char *access(Thread &thread, uint32_t site, char *address, uint32_t bytes,
               uint32_t alignment, uint32_t flags);
  void copyAsync(Thread &thread, PendingCopy copy);
  void commitCopies(Thread &thread);
  void waitCopies(Thread &thread, uint32_t site, uint32_t pending);
  /// Starts the copy of a box of a tensor into workgroup memory, of which
  /// `barrier` is told; into that of all workgroups in `mask` where it is
  /// there.
  void loadBox(Thread &thread, uint32_t site, char *target, const char *map,
               llvm::ArrayRef<int32_t> coordinates, char *barrier,
               std::optional<uint16_t> mask);
  /// Starts the copy of a box of a tensor from workgroup memory.
  void storeBox(Thread &thread, uint32_t site, const char *map,
                const char *source, llvm::ArrayRef<int32_t> coordinates,
                bool adds);
  void commitStores(Thread &thread);
  void waitStores(Thread &thread, uint32_t site, uint32_t pending);
  /// Lets the asynchronous proxy see what the thread knows of.
  void fenceProxy(Thread &thread);
  /// Orders what the thread does for those of other workgroups.
  void fenceDevice(Thread &thread) { global.fence(thread.number); }

  Reports &getReports() { return reports; }
  Counters &getCounters() { return counters; }
  MBarriers &getMBarriers() { return mbarriers; }
  Warpgroups &getWarpgroups() { return warpgroups; }
  const Launch &getLaunch() const { return launch; }
  bool chance();
  /// A number below `count`: 0, unless the seed says otherwise.
  size_t choose(size_t count);
  /// Ends the launch from within a thread.
  void stop(Thread &thread);

private:
  friend class MBarriers;
  friend class Warpgroups;
  struct Collective {
    uint32_t site;
    uint64_t mask, arrived;
  };
  struct Barrier {
    uint32_t count = 0, arrived = 0;
    llvm::SmallVector<uint32_t> waiting;
    /// What those that have come know.
    Clocks::Snapshot known;
  };

  /// A use of a workgroup's memory by another one.
  struct RemoteUse {
    uint32_t thread, site;
    Moment moment;
  };
  /// What threads of one workgroup have in common.
  struct Member {
    uint32_t numDone = 0;
    std::vector<RemoteUse> uses;
  };
  /// The barrier at which the threads of the cluster meet.
  struct ClusterBarrier {
    uint64_t phase = 0;
    uint32_t arrived = 0;
    llvm::SmallVector<Thread *> waiting;
    Clocks::Snapshot known, knownBefore;
  };

  void startThread(uint32_t number);
  Thread *takeReady();
  void release(Thread &thread);
  void wait(Thread &thread, uint32_t site, std::string what);
  void finish(Thread &thread);
  void checkConvergence(llvm::ArrayRef<uint32_t> waiting);
  void reportDeadlock();
  /// Offset in the memory of all workgroups, each of which starts at a multiple
  /// of `sharedStride`.
  std::optional<uint32_t> findShared(const char *address, uint32_t bytes) const;
  /// The same, but nothing for the memory of another workgroup.
  std::optional<uint32_t> findShared(const Thread &thread, const char *address,
                                     uint32_t bytes) const;
  /// Remembers, and checks, a use of the workgroup of that offset by the
  /// thread.
  void noteUse(const RemoteUse &use, uint32_t offset);
  /// All threads of a workgroup have returned: checks that it knows of all uses
  /// of its memory.
  void checkUses(uint32_t rank);
  void reportLateUse(const RemoteUse &use, uint32_t rank);
  bool isRemote(const Thread &thread, uint32_t offset) const {
    return offset / sharedStride != thread.rank;
  }
  /// The number of the thread's warp among those of the cluster.
  uint32_t getWarpNumber(const Thread &thread) const {
    return thread.rank * warpsOfGroup + thread.warpId;
  }
  uint32_t getNumberInGroup(const Thread &thread) const {
    return thread.number - thread.rank * threadsOfGroup;
  }
  /// All threads of a workgroup are together.
  void converge(uint32_t rank);
  /// Checks an access to global memory: false if it is out of bounds. `flags`
  /// are HostAccessFlags.
  bool accessGlobal(Thread &thread, uint32_t site, const char *address,
                    uint32_t bytes, uint32_t flags);
  Thread *getWarp(const Thread &thread) const;
  /// The map at that address. Ends the launch where there is none of that many
  /// dimensions.
  HostTensorMap findTensorMap(Thread &thread, uint32_t site,
                              const char *address, size_t rank);
  /// The pieces of a box that may be copied; none where its place in workgroup
  /// memory is wrong.
  llvm::SmallVector<BoxPiece> placeBox(Thread &thread, uint32_t site,
                                       const HostTensorMap &map,
                                       llvm::ArrayRef<int32_t> coordinates,
                                       const char *sharedAddress,
                                       uint32_t flags);
  void perform(PendingStore &store);
  void finishStores(Thread &thread);

  const Launch &launch;
  Reports &reports;
  Counters &counters;
  uint32_t threadsOfGroup, warpsOfGroup, numThreads;
  /// Of each workgroup, and from one to the next.
  uint32_t sharedBytes, sharedStride;
  char *shared = nullptr;
  /// What holds it and its margins, and of that the part that is poisoned.
  char *mapped = nullptr;
  size_t mappedBytes = 0, poisonedBytes = 0;
  std::unique_ptr<Thread[]> threads;
  std::vector<const HostThread *> threadPointers;
  FiberStacks stacks;
  SharedShadow shadow;
  GlobalShadow global;
  std::deque<Thread *> ready;
  /// By warp.
  std::vector<llvm::SmallVector<Collective, 1>> collectives;
  /// By workgroup and number.
  std::vector<Barrier> barriers;
  ClusterBarrier clusterBarrier;
  std::vector<Member> members;
  MBarriers mbarriers;
  Warpgroups warpgroups;
  std::mt19937_64 random;
  uint32_t numDone = 0;
  Thread *running = nullptr;
  bool stopped = false;
  /// Where accesses go that are not allowed.
  std::vector<char> scratch;
};

} // namespace attune

#endif // ATTUNE_LIB_SIMULATOR_WORKGROUP_H
