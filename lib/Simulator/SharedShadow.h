// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is known about every word of workgroup memory: who wrote and read it and
// when, which bytes were written at all, and which an asynchronous copy is
// about to write.
//
// Time is a vector clock for each thread (FastTrack, Flanagan and Freund 2009):
// clock [a][b] is the time of thread b that thread a knows to have passed. A
// barrier makes all that arrive know what any of them knew. Two accesses are
// ordered if the later thread knows the time of the earlier access. What acts
// apart from the threads has times of its own, and knows nothing: the copies of
// an mbarrier, for who knows of one by its barrier need not know of another
// that the same thread has started; and the MMAs of a warpgroup, for who
// knows what a thread does after it has started one need not know of its end.
//
// Chips with an asynchronous proxy see what threads wrote only behind a proxy
// fence (PTX ISA, "Causality order"): of what a thread knows, that is the part
// which it, or whoever it learned that from, knew when it made a fence.

#ifndef ATTUNE_LIB_SIMULATOR_SHAREDSHADOW_H
#define ATTUNE_LIB_SIMULATOR_SHAREDSHADOW_H

#include "Reports.h"
#include "llvm/ADT/SmallVector.h"
#include <algorithm>

namespace attune {

/// A time of a thread, or of an actor, whose numbers follow those of threads.
struct Moment {
  uint32_t actor = 0, time = 0;
};

class Clocks {
public:
  /// What is known at a point where threads meet, and what of it is fenced.
  using Snapshot = std::vector<uint32_t>;

  void reset(uint32_t numThreads, uint32_t numActors);
  uint32_t now(uint32_t thread) const { return at(thread, thread); }
  bool knows(uint32_t thread, Moment moment) const {
    return at(thread, moment.actor) >= moment.time;
  }
  /// Whether the thread knows all that is known at such a point.
  bool knowsAll(uint32_t thread, const Snapshot &snapshot) const;
  /// Whether a fence of the proxies stands between that time and the thread.
  bool knowsFenced(uint32_t thread, Moment moment) const {
    return fenced[size_t(thread) * width + moment.actor] >= moment.time;
  }
  /// The thread makes a fence of the proxies, and goes on to a new time.
  void fence(uint32_t thread);
  /// A new time of actor `index`, counted from 0.
  Moment act(uint32_t index);
  /// Adds to `snapshot` what the thread knows, which goes on to a new time.
  void release(uint32_t thread, Snapshot &snapshot);
  /// The thread learns what `snapshot` knows.
  void acquire(uint32_t thread, const Snapshot &snapshot);
  /// The thread learns of that time.
  void learn(uint32_t thread, Moment moment);
  /// Adds that time to `snapshot`.
  void learn(Snapshot &snapshot, Moment moment) const;

private:
  uint32_t at(uint32_t thread, uint32_t other) const {
    return times[size_t(thread) * width + other];
  }
  llvm::MutableArrayRef<uint32_t> row(std::vector<uint32_t> &of,
                                      uint32_t thread);

  /// Threads, and threads and actors.
  uint32_t numThreads = 0, width = 0;
  /// For each thread, the time of each thread and actor.
  std::vector<uint32_t> times, fenced;
  std::vector<uint32_t> actorTimes;
};

/// Accesses are remembered by words of so many bytes.
inline constexpr uint32_t kShadowWordBytes = 4;

/// Calls `function` with the part of [address, address + bytes) in each word:
/// where it begins, and the mask of its bytes in the word.
template <typename Address, typename Function>
void forEachShadowWord(Address address, uint32_t bytes, Function function) {
  for (Address end = address + bytes; address < end;) {
    auto first = static_cast<uint32_t>(address % kShadowWordBytes);
    uint32_t count = std::min<Address>(kShadowWordBytes - first, end - address);
    function(address, static_cast<uint8_t>(((1u << count) - 1) << first));
    address += count;
  }
}

class SharedShadow {
public:
  explicit SharedShadow(Reports &reports) : reports(reports) {}

  /// Forgets everything: the memory of a new workgroup.
  void reset(uint32_t bytes, llvm::ArrayRef<const HostThread *> threads,
             uint32_t numActors);
  Clocks clocks;

  void read(uint32_t thread, uint32_t site, uint32_t offset, uint32_t bytes);
  void write(uint32_t thread, uint32_t site, uint32_t offset, uint32_t bytes,
             bool atomic = false);
  /// The asynchronous proxy begins to read for `readers`, all of which must
  /// know what was written, and has ended, which they know who know `end`. The
  /// thread is the one that is to blame.
  void beginRead(llvm::ArrayRef<uint32_t> readers, uint32_t site,
                 uint32_t offset, uint32_t bytes);
  void endRead(uint32_t thread, Moment end, uint32_t site, uint32_t offset,
               uint32_t bytes);
  /// An asynchronous copy has begun, or is waited for: the data is there for
  /// those who know `end`. `isProxy` says that the asynchronous proxy wrote it.
  void beginCopy(uint32_t thread, uint32_t site, uint32_t offset,
                 uint32_t bytes);
  void endCopy(uint32_t thread, Moment end, uint32_t site, uint32_t offset,
               uint32_t bytes, bool isProxy = false);

private:
  struct Access {
    uint32_t thread;
    Moment moment;
    uint32_t site;
    /// Of the word's bytes.
    uint8_t mask;
    bool atomic;
    /// By the asynchronous proxy.
    bool isProxy = false;
  };
  struct Word {
    llvm::SmallVector<Access, 1> writes, reads;
    uint8_t initialized = 0;
    /// Bytes that a copy is writing, and which copy.
    uint8_t pending = 0;
    uint32_t pendingThread = 0, pendingSite = 0;
    /// Asynchronous reads that have not ended, and the last of them.
    uint32_t reading = 0, readingSite = 0;
  };
  template <typename Function>
  void forEachWord(uint32_t offset, uint32_t bytes, Function function);
  /// Reports the first of `accesses` that is not ordered before.
  void checkOrder(llvm::ArrayRef<Access> accesses, const Access &now,
                  uint32_t offset, const char *what);
  void checkPending(const Word &word, const Access &now, uint32_t offset,
                    const char *what);
  /// Reports the first of `writes` that the asynchronous proxy may not see.
  void checkFenced(llvm::ArrayRef<Access> writes, const Access &now,
                   uint32_t offset);
  void checkReading(const Word &word, const Access &now, uint32_t offset);
  void remember(llvm::SmallVectorImpl<Access> &accesses, const Access &now);
  std::string describe(uint32_t thread) const;

  Reports &reports;
  llvm::ArrayRef<const HostThread *> threads;
  std::vector<Word> words;
};

} // namespace attune

#endif // ATTUNE_LIB_SIMULATOR_SHAREDSHADOW_H
