// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is known about every word of global memory that a launch may write: who
// wrote and read it and when.
//
// Clusters are executed one after another, on a GPU at the same time. So an
// access of another cluster is ordered before one of this cluster only if
// atomics say so: a thread releases what it knows to an atomic's address, and
// who acquires it from there knows that, and lets others of its cluster know by
// barriers (PTX ISA, "Causality order"; LLVM, "Memory Model for Concurrent
// Operations"). Accesses within the cluster are ordered by its clocks.

#ifndef ATTUNE_LIB_SIMULATOR_GLOBALSHADOW_H
#define ATTUNE_LIB_SIMULATOR_GLOBALSHADOW_H

#include "SharedShadow.h"
#include "llvm/ADT/DenseMap.h"
#include <map>
#include <memory>

namespace attune {

/// Bytes of memory outside of the workgroup that a kernel may access.
struct GlobalRegion {
  uintptr_t begin = 0, end = 0;
  bool writable = true;
  std::string name;
  /// A workspace that is zero before a launch, and has to be so behind it.
  bool leftZero = false;
};

class GlobalShadow {
public:
  GlobalShadow(Reports &reports, Clocks &clocks)
      : reports(reports), clocks(clocks) {}

  /// The next cluster begins, with new clocks.
  void begin(llvm::ArrayRef<const HostThread *> threads);
  /// An access to `region`, which is writable. `flags` are HostAccessFlags.
  void access(uint32_t thread, uint32_t site, const GlobalRegion &region,
              uintptr_t address, uint32_t bytes, uint32_t flags);
  /// A fence for all threads of the device, in both directions.
  void fence(uint32_t thread);

private:
  struct Access {
    uint32_t cluster, thread, time, site;
    /// Of the word's bytes.
    uint8_t mask;
    bool atomic;
  };
  struct Word {
    llvm::SmallVector<Access, 1> writes;
    llvm::SmallVector<Access, 0> reads;
  };
  static constexpr uintptr_t kPageWords = 1024;

  /// Of clusters, what their threads have done: the times of each.
  using Knowledge = std::map<uint32_t, std::shared_ptr<const Clocks::Snapshot>>;
  /// A thread of this cluster learned something of others at that time.
  struct Lesson {
    Moment moment;
    Knowledge known;
  };

  Word &getWord(uintptr_t address);
  bool knows(uint32_t thread, const Access &earlier) const;
  /// Reports the first of `accesses` that is not ordered before.
  void checkOrder(llvm::ArrayRef<Access> accesses, const Access &now,
                  const GlobalRegion &region, uintptr_t address,
                  const char *what);
  void remember(llvm::SmallVectorImpl<Access> &accesses, const Access &now);
  /// What an atomic of these flags does before and behind its access.
  void acquire(uint32_t thread, uintptr_t address, uint32_t flags);
  void release(uint32_t thread, uintptr_t address, uint32_t flags);
  /// All that the thread knows, which goes on to a new time.
  Knowledge share(uint32_t thread);
  void learn(uint32_t thread, const Knowledge &known);
  std::string describe(const Access &access) const;

  Reports &reports;
  Clocks &clocks;
  llvm::ArrayRef<const HostThread *> threads;
  /// The index of the first thread of each cluster.
  llvm::SmallVector<std::array<uint32_t, 3>> clusters;
  llvm::DenseMap<uintptr_t, std::unique_ptr<Word[]>> pages;
  Word *lastPage = nullptr;
  uintptr_t lastPageNumber = 0;
  /// What was released to an address.
  llvm::DenseMap<uintptr_t, Knowledge> atomics;
  llvm::SmallVector<Lesson> lessons;
  /// By thread: what its last fence released, and what it has read from atomics
  /// and not acquired.
  std::vector<Knowledge> fenced, unacquired;
};

} // namespace attune

#endif // ATTUNE_LIB_SIMULATOR_GLOBALSHADOW_H
