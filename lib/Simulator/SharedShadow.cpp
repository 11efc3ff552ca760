// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Accesses are remembered by words with a mask of bytes. An access is forgotten
// when a later one that knows of it covers its bytes: whoever is not ordered
// after the first is not ordered after the second either.

#include "SharedShadow.h"
#include <algorithm>

using namespace mlir;
using namespace attune;

void Clocks::reset(uint32_t threads, uint32_t numActors) {
  numThreads = threads;
  width = threads + numActors;
  times.assign(size_t(threads) * width, 0);
  fenced.assign(size_t(threads) * width, 0);
  actorTimes.assign(numActors, 0);
  // Time 0 of the others is known to all: it has no accesses.
  for (uint32_t thread = 0; thread < threads; ++thread)
    times[size_t(thread) * width + thread] = 1;
}

/// Each of `to` becomes at least that of `from`.
static void raise(MutableArrayRef<uint32_t> to, ArrayRef<uint32_t> from) {
  for (auto [known, time] : llvm::zip_equal(to, from))
    known = std::max(known, time);
}

MutableArrayRef<uint32_t> Clocks::row(std::vector<uint32_t> &of,
                                      uint32_t thread) {
  return MutableArrayRef<uint32_t>(of).slice(size_t(thread) * width, width);
}

void Clocks::release(uint32_t thread, Snapshot &snapshot) {
  snapshot.resize(2 * size_t(width), 0);
  MutableArrayRef<uint32_t> all(snapshot);
  raise(all.take_front(width), row(times, thread));
  raise(all.drop_front(width), row(fenced, thread));
  ++row(times, thread)[thread];
}

void Clocks::acquire(uint32_t thread, const Snapshot &snapshot) {
  if (snapshot.empty())
    return;
  ArrayRef<uint32_t> all(snapshot);
  raise(row(times, thread), all.take_front(width));
  raise(row(fenced, thread), all.drop_front(width));
}

bool Clocks::knowsAll(uint32_t thread, const Snapshot &snapshot) const {
  ArrayRef<uint32_t> all(snapshot);
  ArrayRef<uint32_t> own =
      ArrayRef<uint32_t>(times).slice(size_t(thread) * width, width);
  return snapshot.empty() ||
         llvm::all_of(llvm::zip_equal(own, all.take_front(width)),
                      [](auto pair) {
                        auto [known, time] = pair;
                        return known >= time;
                      });
}

void Clocks::fence(uint32_t thread) {
  raise(row(fenced, thread), row(times, thread));
  ++row(times, thread)[thread];
}

Moment Clocks::act(uint32_t index) {
  return {numThreads + index, ++actorTimes[index]};
}

void Clocks::learn(uint32_t thread, Moment moment) {
  uint32_t &known = row(times, thread)[moment.actor];
  known = std::max(known, moment.time);
}

void Clocks::learn(Snapshot &snapshot, Moment moment) const {
  snapshot.resize(2 * size_t(width), 0);
  uint32_t &known = snapshot[moment.actor];
  known = std::max(known, moment.time);
}

void SharedShadow::reset(uint32_t bytes,
                         ArrayRef<const HostThread *> newThreads,
                         uint32_t numActors) {
  threads = newThreads;
  words.clear();
  words.resize(llvm::divideCeil(bytes, kShadowWordBytes));
  if (reports.isOn(HostCheck::Races))
    clocks.reset(threads.size(), numActors);
}

template <typename Function>
void SharedShadow::forEachWord(uint32_t offset, uint32_t bytes,
                               Function function) {
  forEachShadowWord(offset, bytes, [&](uint32_t at, uint8_t mask) {
    function(words[at / kShadowWordBytes], mask, at);
  });
}

std::string SharedShadow::describe(uint32_t thread) const {
  return "thread " + formatIndex(threads[thread]->threadId);
}

void SharedShadow::checkOrder(ArrayRef<Access> accesses, const Access &now,
                              uint32_t offset, const char *what) {
  for (const Access &earlier : accesses) {
    if (!(earlier.mask & now.mask) || (earlier.atomic && now.atomic) ||
        earlier.moment.actor == now.moment.actor ||
        clocks.knows(now.thread, earlier.moment))
      continue;
    if (auto diagnostic =
            reports.add(HostCheck::Races, now.site, *threads[now.thread],
                        Twine(what) + " " + describe(earlier.thread) +
                            " with no barrier between, address shared+0x" +
                            llvm::utohexstr(offset)))
      diagnostic->attachNote(reports.getLoc(earlier.site))
          << "that access is here";
    return;
  }
}

void SharedShadow::checkPending(const Word &word, const Access &now,
                                uint32_t offset, const char *what) {
  if (!(word.pending & now.mask))
    return;
  bool own = word.pendingThread == now.thread;
  HostCheck check = own ? HostCheck::Waits : HostCheck::Races;
  if (!reports.isOn(check))
    return;
  if (auto diagnostic =
          reports.add(check, now.site, *threads[now.thread],
                      Twine(what) + " what an asynchronous copy of " +
                          (own ? std::string("this thread")
                               : describe(word.pendingThread)) +
                          " that was not waited for writes, address shared+0x" +
                          llvm::utohexstr(offset)))
    diagnostic->attachNote(reports.getLoc(word.pendingSite))
        << "the copy is here";
}

void SharedShadow::checkReading(const Word &word, const Access &now,
                                uint32_t offset) {
  if (word.reading == 0 || !reports.isOn(HostCheck::Races))
    return;
  if (auto diagnostic = reports.add(
          HostCheck::Races, now.site, *threads[now.thread],
          "overwrites what an asynchronous op that was not waited for reads, "
          "address shared+0x" +
              llvm::utohexstr(offset)))
    diagnostic->attachNote(reports.getLoc(word.readingSite))
        << "that op is here";
}

void SharedShadow::remember(llvm::SmallVectorImpl<Access> &accesses,
                            const Access &now) {
  llvm::erase_if(accesses, [&](const Access &earlier) {
    return (earlier.mask & ~now.mask) == 0 &&
           (earlier.moment.actor == now.moment.actor ||
            clocks.knows(now.thread, earlier.moment));
  });
  accesses.push_back(now);
}

void SharedShadow::read(uint32_t thread, uint32_t site, uint32_t offset,
                        uint32_t bytes) {
  bool races = reports.isOn(HostCheck::Races),
       uninitialized = reports.isOn(HostCheck::Uninitialized);
  uint32_t time = races ? clocks.now(thread) : 0;
  forEachWord(offset, bytes, [&](Word &word, uint8_t mask, uint32_t at) {
    Access now{thread, {thread, time}, site, mask, /*atomic=*/false};
    checkPending(word, now, at, "reads");
    if (uninitialized && (mask & ~(word.initialized | word.pending)))
      reports.add(HostCheck::Uninitialized, site, *threads[thread],
                  "reads workgroup memory that was never written, address "
                  "shared+0x" +
                      llvm::utohexstr(at));
    if (!races)
      return;
    checkOrder(word.writes, now, at, "reads what was written by");
    remember(word.reads, now);
  });
}

void SharedShadow::write(uint32_t thread, uint32_t site, uint32_t offset,
                         uint32_t bytes, bool atomic) {
  bool races = reports.isOn(HostCheck::Races);
  uint32_t time = races ? clocks.now(thread) : 0;
  forEachWord(offset, bytes, [&](Word &word, uint8_t mask, uint32_t at) {
    Access now{thread, {thread, time}, site, mask, atomic};
    checkPending(word, now, at, "overwrites");
    checkReading(word, now, at);
    word.initialized |= mask;
    if (!races)
      return;
    checkOrder(word.writes, now, at, "overwrites what was written by");
    checkOrder(word.reads, now, at, "overwrites what was read by");
    remember(word.writes, now);
    llvm::erase_if(word.reads, [&](const Access &earlier) {
      return (earlier.mask & ~mask) == 0;
    });
  });
}

void SharedShadow::beginCopy(uint32_t thread, uint32_t site, uint32_t offset,
                             uint32_t bytes) {
  bool races = reports.isOn(HostCheck::Races);
  uint32_t time = races ? clocks.now(thread) : 0;
  forEachWord(offset, bytes, [&](Word &word, uint8_t mask, uint32_t at) {
    Access now{thread, {thread, time}, site, mask, /*atomic=*/false};
    checkPending(word, now, at, "overwrites");
    checkReading(word, now, at);
    word.pending |= mask;
    word.pendingThread = thread;
    word.pendingSite = site;
    if (!races)
      return;
    checkOrder(word.writes, now, at, "overwrites what was written by");
    checkOrder(word.reads, now, at, "overwrites what was read by");
  });
}

void SharedShadow::endCopy(uint32_t thread, Moment end, uint32_t site,
                           uint32_t offset, uint32_t bytes, bool isProxy) {
  bool races = reports.isOn(HostCheck::Races);
  forEachWord(offset, bytes, [&](Word &word, uint8_t mask, uint32_t) {
    word.pending &= ~mask;
    word.initialized |= mask;
    if (races)
      remember(word.writes,
               Access{thread, end, site, mask, /*atomic=*/false, isProxy});
  });
}

void SharedShadow::beginRead(ArrayRef<uint32_t> readers, uint32_t site,
                             uint32_t offset, uint32_t bytes) {
  bool races = reports.isOn(HostCheck::Races);
  forEachWord(offset, bytes, [&](Word &word, uint8_t mask, uint32_t at) {
    ++word.reading;
    word.readingSite = site;
    Access first{readers.front(), {}, site, mask, /*atomic=*/false};
    checkPending(word, first, at, "reads");
    if (reports.isOn(HostCheck::Uninitialized) &&
        (mask & ~(word.initialized | word.pending)))
      reports.add(HostCheck::Uninitialized, site, *threads[first.thread],
                  "reads workgroup memory that was never written, address "
                  "shared+0x" +
                      llvm::utohexstr(at));
    if (!races)
      return;
    for (uint32_t reader : readers) {
      Access now{reader, {reader, 0}, site, mask, /*atomic=*/false};
      checkOrder(word.writes, now, at, "reads what was written by");
      checkFenced(word.writes, now, at);
    }
  });
}

void SharedShadow::checkFenced(ArrayRef<Access> writes, const Access &now,
                               uint32_t offset) {
  for (const Access &earlier : writes) {
    if (!(earlier.mask & now.mask) || earlier.isProxy ||
        clocks.knowsFenced(now.thread, earlier.moment))
      continue;
    if (auto diagnostic = reports.add(
            HostCheck::Races, now.site, *threads[now.thread],
            "reads through the asynchronous proxy what was written by " +
                describe(earlier.thread) +
                " with no fence of the proxies between, address shared+0x" +
                llvm::utohexstr(offset)))
      diagnostic->attachNote(reports.getLoc(earlier.site))
          << "that access is here";
    return;
  }
}

void SharedShadow::endRead(uint32_t thread, Moment end, uint32_t site,
                           uint32_t offset, uint32_t bytes) {
  bool races = reports.isOn(HostCheck::Races);
  forEachWord(offset, bytes, [&](Word &word, uint8_t mask, uint32_t) {
    --word.reading;
    if (races)
      remember(word.reads, Access{thread, end, site, mask, /*atomic=*/false});
  });
}
