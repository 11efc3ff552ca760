// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Accesses are remembered by words with a mask of bytes. An access is forgotten
// when a later one that knows of it covers its bytes: whoever is not ordered
// after the first is not ordered after the second either.

#include "SharedShadow.h"
#include <algorithm>

using namespace mlir;
using namespace attune;

void Clocks::reset(uint32_t count) {
  numLanes = count;
  times.assign(size_t(count) * count, 0);
  fenced.assign(size_t(count) * count, 0);
  // Time 0 of the others is known to all: it has no accesses.
  for (uint32_t lane = 0; lane < count; ++lane)
    times[size_t(lane) * count + lane] = 1;
}

/// Each of `to` becomes at least that of `from`.
static void raise(MutableArrayRef<uint32_t> to, ArrayRef<uint32_t> from) {
  for (auto [known, time] : llvm::zip_equal(to, from))
    known = std::max(known, time);
}

MutableArrayRef<uint32_t> Clocks::row(std::vector<uint32_t> &of,
                                      uint32_t lane) {
  return MutableArrayRef<uint32_t>(of).slice(size_t(lane) * numLanes, numLanes);
}

void Clocks::release(uint32_t lane, Snapshot &snapshot) {
  snapshot.resize(2 * size_t(numLanes), 0);
  MutableArrayRef<uint32_t> all(snapshot);
  raise(all.take_front(numLanes), row(times, lane));
  raise(all.drop_front(numLanes), row(fenced, lane));
  ++row(times, lane)[lane];
}

void Clocks::acquire(uint32_t lane, const Snapshot &snapshot) {
  if (snapshot.empty())
    return;
  ArrayRef<uint32_t> all(snapshot);
  raise(row(times, lane), all.take_front(numLanes));
  raise(row(fenced, lane), all.drop_front(numLanes));
}

void Clocks::fence(uint32_t lane) {
  raise(row(fenced, lane), row(times, lane));
  ++row(times, lane)[lane];
}

uint32_t Clocks::takeTime(uint32_t lane) {
  uint32_t time = ++row(times, lane)[lane];
  ++row(times, lane)[lane];
  return time;
}

void Clocks::learn(uint32_t lane, uint32_t other, uint32_t time) {
  uint32_t &known = row(times, lane)[other];
  known = std::max(known, time);
}

void Clocks::learn(Snapshot &snapshot, uint32_t other, uint32_t time) const {
  snapshot.resize(2 * size_t(numLanes), 0);
  snapshot[other] = std::max(snapshot[other], time);
}

void SharedShadow::reset(uint32_t bytes, ArrayRef<const HostLane *> newLanes) {
  lanes = newLanes;
  words.clear();
  words.resize(llvm::divideCeil(bytes, kWordBytes));
  if (reports.isOn(HostCheck::Races))
    clocks.reset(lanes.size());
}

template <typename Function>
void SharedShadow::forEachWord(uint32_t offset, uint32_t bytes,
                               Function function) {
  for (uint32_t end = offset + bytes; offset < end;) {
    uint32_t first = offset % kWordBytes;
    uint32_t count = std::min(kWordBytes - first, end - offset);
    auto mask = static_cast<uint8_t>(((1u << count) - 1) << first);
    function(words[offset / kWordBytes], mask, offset);
    offset += count;
  }
}

std::string SharedShadow::describe(uint32_t lane) const {
  return "thread " + formatIndex(lanes[lane]->threadId);
}

void SharedShadow::checkOrder(ArrayRef<Access> accesses, const Access &now,
                              uint32_t offset, const char *what) {
  for (const Access &earlier : accesses) {
    if (!(earlier.mask & now.mask) || (earlier.atomic && now.atomic) ||
        earlier.lane == now.lane ||
        clocks.knows(now.lane, earlier.lane, earlier.time))
      continue;
    if (auto diagnostic =
            reports.add(HostCheck::Races, now.site, *lanes[now.lane],
                        Twine(what) + " " + describe(earlier.lane) +
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
  bool own = word.pendingLane == now.lane;
  HostCheck check = own ? HostCheck::Waits : HostCheck::Races;
  if (!reports.isOn(check))
    return;
  if (auto diagnostic = reports.add(
          check, now.site, *lanes[now.lane],
          Twine(what) + " what an asynchronous copy of " +
              (own ? std::string("this thread") : describe(word.pendingLane)) +
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
          HostCheck::Races, now.site, *lanes[now.lane],
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
           (earlier.lane == now.lane ||
            clocks.knows(now.lane, earlier.lane, earlier.time));
  });
  accesses.push_back(now);
}

void SharedShadow::read(uint32_t lane, uint32_t site, uint32_t offset,
                        uint32_t bytes) {
  bool races = reports.isOn(HostCheck::Races),
       uninitialized = reports.isOn(HostCheck::Uninitialized);
  uint32_t time = races ? clocks.now(lane) : 0;
  forEachWord(offset, bytes, [&](Word &word, uint8_t mask, uint32_t at) {
    Access now{lane, time, site, mask, /*atomic=*/false};
    checkPending(word, now, at, "reads");
    if (uninitialized && (mask & ~(word.initialized | word.pending)))
      reports.add(HostCheck::Uninitialized, site, *lanes[lane],
                  "reads workgroup memory that was never written, address "
                  "shared+0x" +
                      llvm::utohexstr(at));
    if (!races)
      return;
    checkOrder(word.writes, now, at, "reads what was written by");
    remember(word.reads, now);
  });
}

void SharedShadow::write(uint32_t lane, uint32_t site, uint32_t offset,
                         uint32_t bytes, bool atomic) {
  bool races = reports.isOn(HostCheck::Races);
  uint32_t time = races ? clocks.now(lane) : 0;
  forEachWord(offset, bytes, [&](Word &word, uint8_t mask, uint32_t at) {
    Access now{lane, time, site, mask, atomic};
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

void SharedShadow::beginCopy(uint32_t lane, uint32_t site, uint32_t offset,
                             uint32_t bytes) {
  bool races = reports.isOn(HostCheck::Races);
  uint32_t time = races ? clocks.now(lane) : 0;
  forEachWord(offset, bytes, [&](Word &word, uint8_t mask, uint32_t at) {
    Access now{lane, time, site, mask, /*atomic=*/false};
    checkPending(word, now, at, "overwrites");
    checkReading(word, now, at);
    word.pending |= mask;
    word.pendingLane = lane;
    word.pendingSite = site;
    if (!races)
      return;
    checkOrder(word.writes, now, at, "overwrites what was written by");
    checkOrder(word.reads, now, at, "overwrites what was read by");
  });
}

void SharedShadow::endCopy(uint32_t lane, uint32_t time, uint32_t site,
                           uint32_t offset, uint32_t bytes, bool isProxy) {
  bool races = reports.isOn(HostCheck::Races);
  forEachWord(offset, bytes, [&](Word &word, uint8_t mask, uint32_t) {
    word.pending &= ~mask;
    word.initialized |= mask;
    if (races)
      remember(word.writes,
               Access{lane, time, site, mask, /*atomic=*/false, isProxy});
  });
}

void SharedShadow::beginRead(ArrayRef<uint32_t> readers, uint32_t site,
                             uint32_t offset, uint32_t bytes) {
  bool races = reports.isOn(HostCheck::Races);
  forEachWord(offset, bytes, [&](Word &word, uint8_t mask, uint32_t at) {
    ++word.reading;
    word.readingSite = site;
    Access first{readers.front(), 0, site, mask, /*atomic=*/false};
    checkPending(word, first, at, "reads");
    if (reports.isOn(HostCheck::Uninitialized) &&
        (mask & ~(word.initialized | word.pending)))
      reports.add(HostCheck::Uninitialized, site, *lanes[first.lane],
                  "reads workgroup memory that was never written, address "
                  "shared+0x" +
                      llvm::utohexstr(at));
    if (!races)
      return;
    for (uint32_t reader : readers) {
      Access now{reader, 0, site, mask, /*atomic=*/false};
      checkOrder(word.writes, now, at, "reads what was written by");
      checkFenced(word.writes, now, at);
    }
  });
}

void SharedShadow::checkFenced(ArrayRef<Access> writes, const Access &now,
                               uint32_t offset) {
  for (const Access &earlier : writes) {
    if (!(earlier.mask & now.mask) || earlier.isProxy ||
        clocks.knowsFenced(now.lane, earlier.lane, earlier.time))
      continue;
    if (auto diagnostic = reports.add(
            HostCheck::Races, now.site, *lanes[now.lane],
            "reads through the asynchronous proxy what was written by " +
                describe(earlier.lane) +
                " with no fence of the proxies between, address shared+0x" +
                llvm::utohexstr(offset)))
      diagnostic->attachNote(reports.getLoc(earlier.site))
          << "that access is here";
    return;
  }
}

void SharedShadow::endRead(uint32_t lane, uint32_t time, uint32_t site,
                           uint32_t offset, uint32_t bytes) {
  bool races = reports.isOn(HostCheck::Races);
  forEachWord(offset, bytes, [&](Word &word, uint8_t mask, uint32_t) {
    --word.reading;
    if (races)
      remember(word.reads, Access{lane, time, site, mask, /*atomic=*/false});
  });
}
