// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Asynchronous MMAs by four warps (PTX ISA, "wgmma").
//
// The op returns values, but its registers are written later. What a thread
// gets at once are tickets: NaNs that say which register of which MMA stands
// for the value. They move like values, and an MMA takes them as accumulators.
// convert-kernel-to-host asks for the value before every other use
// (`read`), which is an error before the wait.
//
// Lane maps of the left operand and of the results were held against a chip.
//
// An MMA is over when the first warp has waited for it. That operands were
// read is known to those who know of any warp's wait.

#ifndef ATTUNE_LIB_SIMULATOR_WARPGROUPS_H
#define ATTUNE_LIB_SIMULATOR_WARPGROUPS_H

#include "MatrixDescriptor.h"
#include "SharedShadow.h"
#include "attune/Simulator/HostThread.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include <deque>
#include <vector>

namespace attune {

struct Thread;
class Workgroup;

class Warpgroups {
public:
  static constexpr uint32_t kWarps = 4, kWarpLanes = 32;
  static constexpr uint32_t kLanes = kWarps * kWarpLanes;

  explicit Warpgroups(Workgroup &workgroup) : workgroup(workgroup) {}

  /// Those of new workgroups, of that many threads each.
  void reset(uint32_t threadsOfGroup, uint32_t numGroups);

  /// Orders accesses to registers before the MMAs that follow.
  void fence(Thread &thread, uint32_t site);
  /// Issues an MMA of `columns` columns; `flags` are HostMmaFlags.
  /// Waits for the lanes of the warpgroup.
  void multiply(Thread &thread, uint32_t site, uint32_t columns,
                HostElementType type, uint32_t flags);
  /// Closes the group of MMAs that the warp has started.
  void commit(Thread &thread, uint32_t site);
  /// Waits for all but the last `pending` groups.
  void wait(Thread &thread, uint32_t site, uint32_t pending);
  /// Replaces tickets among `count` words by values.
  void read(Thread &thread, uint32_t site, uint32_t *words, uint32_t count);

  /// Warns of MMAs that the workgroup has not waited for.
  void reportPending() const;

private:
  struct Mma {
    uint64_t number;
    uint32_t site, columns, flags;
    HostElementType type;
    /// The left operand: four registers for each thread, or else a descriptor.
    std::vector<uint32_t> left;
    MatrixDescriptor a, b;
    /// That of the workgroup.
    const char *memory = nullptr;
    /// Known to those who have waited for it.
    Moment end;
    bool computed = false;
    /// Warps that have waited for it, a bit for each.
    uint32_t waited = 0;
    /// By thread and register: accumulators, then results.
    std::vector<uint32_t> registers;
    /// Offsets in workgroup memory of the pieces that are read; none if the
    /// descriptors are wrong.
    std::vector<uint32_t> pieces;
  };
  struct Warp {
    /// A fence stands between the last wait, or the start, and now.
    bool fenced = false, everFenced = false;
    llvm::SmallVector<uint64_t> open;
    std::deque<llvm::SmallVector<uint64_t>> committed;
  };
  struct Group {
    /// Threads that wait for the others, by site.
    llvm::DenseMap<uint32_t, llvm::SmallVector<Thread *>> arrived;
    Warp warps[kWarps];
    std::deque<Mma> mmas;
    uint64_t nextNumber = 0, nextComputed = 0;
  };

  /// The number of the thread's warpgroup, and of its warp in that.
  uint32_t getIndex(const Thread &thread) const;
  uint32_t getWarpIndex(const Thread &thread) const;
  Group &getGroup(const Thread &thread);
  Warp &getWarp(const Thread &thread);
  void start(Group &group, llvm::ArrayRef<Thread *> threads, Mma mma);
  /// Checks a descriptor, and adds the pieces of `extent` rows or columns.
  bool addPieces(Mma &mma, const Thread &thread, const MatrixDescriptor &matrix,
                 uint32_t extent, bool isTransposed);
  void checkFences(Group &group, llvm::ArrayRef<Thread *> threads,
                   const Mma &mma);
  /// Computes all MMAs up to that one.
  void computeUntil(Group &group, uint64_t number);
  void compute(Group &group, Mma &mma);
  /// Accumulators of an MMA that was not waited for must be the same
  /// registers of one of the same shape.
  void checkAccumulators(Group &group, llvm::ArrayRef<Thread *> threads,
                         const Mma &mma);
  void reportEarlyRead(uint32_t site, const Thread &thread, const Mma &mma);
  bool isWaited(const Mma &mma, const Thread &thread) const;
  /// The MMA that the ticket `word` is of, and the number of its register.
  /// Null where it is no ticket, or of an MMA that was forgotten.
  static const Mma *find(const Group &group, uint32_t word, uint32_t &index);

  Workgroup &workgroup;
  std::vector<Group> groups;
};

} // namespace attune

#endif // ATTUNE_LIB_SIMULATOR_WARPGROUPS_H
