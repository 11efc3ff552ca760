// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A phase is complete when all have arrived and all bytes have come. Copies
// come as late as they may: when no thread can go on without them.

#include "MBarriers.h"
#include "Workgroup.h"

using namespace mlir;
using namespace attune;

/// Size and alignment of a barrier, and what bulk copies are multiples of.
static constexpr uint32_t kBarrierBytes = 8, kBulkBytes = 16;

/// What a barrier can count.
static constexpr int64_t kMostBytes = (1 << 20) - 1;

void MBarriers::reset() {
  barriers.clear();
  copies.clear();
  numInitialized = 0;
  numAsked = 0;
}

static std::string name(uint32_t offset) {
  return "the barrier at shared+0x" + llvm::utohexstr(offset);
}

void MBarriers::init(Thread &thread, uint32_t site, char *address,
                     uint32_t count) {
  std::optional<uint32_t> offset =
      group.findShared(thread, address, kBarrierBytes);
  if (!offset || *offset % kBarrierBytes != 0 || count == 0) {
    group.reports.stop(site, "expects a multiple of 8 in workgroup memory as "
                             "address and a count of at least 1, thread " +
                                 formatIndex(thread.threadId));
    group.stop(thread);
  }
  if (auto it = barriers.find(*offset); it != barriers.end())
    if (auto diagnostic = group.reports.add(
            HostCheck::Races, site, thread,
            "initialises " + name(*offset) + ", which thread " +
                formatIndex(group.threads[it->second.initThread].threadId) +
                " has initialised, with no nvvm.mbarrier.inval between"))
      diagnostic->attachNote(group.reports.getLoc(it->second.initSite))
          << "that is here";
  Barrier barrier;
  barrier.count = barrier.pending = count;
  barrier.actor = numInitialized++ % kActors;
  barrier.initThread = thread.number;
  barrier.initSite = site;
  if (group.reports.isOn(HostCheck::Races)) {
    barrier.init = group.shadow.clocks.act(barrier.actor);
    group.shadow.clocks.learn(thread.number, barrier.init);
  }
  barriers[*offset] = barrier;
}

void MBarriers::invalidate(Thread &thread, uint32_t site, char *address) {
  find(thread, site, address);
  barriers.erase(*group.findShared(address, kBarrierBytes));
}

MBarriers::Barrier &MBarriers::find(Thread &thread, uint32_t site,
                                    char *address, bool isOwn) {
  std::optional<uint32_t> offset =
      isOwn ? group.findShared(thread, address, kBarrierBytes)
            : group.findShared(address, kBarrierBytes);
  auto it = offset ? barriers.find(*offset) : barriers.end();
  if (it == barriers.end()) {
    group.reports.stop(site, "expects a barrier that was initialised, thread " +
                                 formatIndex(thread.threadId) + ", block " +
                                 formatIndex(thread.blockId));
    group.stop(thread);
  }
  Barrier &barrier = it->second;
  if (group.reports.isOn(HostCheck::Races) &&
      !group.shadow.clocks.knows(thread.number, barrier.init))
    if (auto diagnostic = group.reports.add(
            HostCheck::Races, site, thread,
            "uses " + name(*offset) + ", which thread " +
                formatIndex(group.threads[barrier.initThread].threadId) +
                " initialises with no barrier between"))
      diagnostic->attachNote(group.reports.getLoc(barrier.initSite))
          << "that is here";
  return barrier;
}

void MBarriers::fenceInit(const Thread &thread) {
  for (auto &[offset, barrier] : barriers)
    barrier.isFenced |= barrier.initThread == thread.number;
}

void MBarriers::publishInits(const Thread &thread,
                             Clocks::Snapshot &snapshot) const {
  for (const auto &[offset, barrier] : barriers)
    if (barrier.initThread == thread.number && barrier.isFenced)
      group.shadow.clocks.learn(snapshot, barrier.init);
}

void MBarriers::update(Barrier &barrier) {
  if (barrier.pending > 0 || barrier.bytes != 0)
    return;
  ++barrier.phase;
  barrier.pending = barrier.count;
  barrier.knownEarlier = std::move(barrier.knownBefore);
  barrier.knownBefore = std::move(barrier.known);
  barrier.known.clear();
  for (Thread *thread : barrier.waiting)
    group.release(*thread);
  barrier.waiting.clear();
}

uint64_t MBarriers::arrive(Thread &thread, uint32_t site, char *address,
                           uint32_t count, uint32_t bytes) {
  // Of another workgroup's barrier arrivals alone are modelled.
  Barrier &barrier =
      find(thread, site, address, /*isOwn=*/count == 0 || bytes != 0);
  uint64_t phase = barrier.phase;
  if (count > barrier.pending) {
    group.reports.stop(site, "expects at most " + Twine(barrier.count) +
                                 " arrivals in a phase, but got more, thread " +
                                 formatIndex(thread.threadId));
    group.stop(thread);
  }
  barrier.bytes += bytes;
  if (barrier.bytes > kMostBytes) {
    group.reports.stop(site, "expects at most " + Twine(kMostBytes) +
                                 " bytes to come in a phase, but got " +
                                 Twine(barrier.bytes) + ", thread " +
                                 formatIndex(thread.threadId));
    group.stop(thread);
  }
  barrier.pending -= count;
  if (group.reports.isOn(HostCheck::Races) && count > 0) {
    group.noteUse({thread.number,
                   site,
                   {thread.number, group.shadow.clocks.now(thread.number)}},
                  *group.findShared(address, kBarrierBytes));
    group.shadow.clocks.release(thread.number, barrier.known);
  }
  update(barrier);
  return phase;
}

bool MBarriers::isComplete(const Barrier &barrier, uint64_t number,
                           bool isParity) const {
  return isParity ? barrier.phase % 2 != number % 2 : barrier.phase > number;
}

/// A parity is that of the last phase or of the next one (PTX ISA,
/// "mbarrier.test_wait"): had the one before the last not ended yet, the thread
/// would have gone on too early.
void MBarriers::hear(Thread &thread, uint32_t site, uint32_t offset,
                     const Barrier &barrier, bool isParity) {
  if (!group.reports.isOn(HostCheck::Races))
    return;
  Clocks &clocks = group.shadow.clocks;
  if (isParity && !clocks.knowsAll(thread.number, barrier.knownEarlier))
    group.reports.add(HostCheck::Races, site, thread,
                      "waits by parity for phase " + Twine(barrier.phase - 1) +
                          " of " + name(offset) +
                          ", but does not know that phase " +
                          Twine(barrier.phase - 2) + " has ended");
  clocks.acquire(thread.number, barrier.knownBefore);
}

bool MBarriers::test(Thread &thread, uint32_t site, char *address,
                     uint64_t number, bool isParity) {
  if (!isComplete(find(thread, site, address), number, isParity)) {
    // Whoever asks again and again lets the others run. Where all of them may
    // have asked in vain meanwhile, they can do nothing but wait for a copy.
    if (numAsked++ >= group.ready.size()) {
      numAsked = 0;
      landOne();
    } else {
      group.yield(thread);
    }
  }
  Barrier &barrier = find(thread, site, address);
  if (!isComplete(barrier, number, isParity))
    return false;
  hear(thread, site, *group.findShared(address, kBarrierBytes), barrier,
       isParity);
  return true;
}

void MBarriers::wait(Thread &thread, uint32_t site, char *address,
                     uint32_t parity) {
  Barrier *barrier = &find(thread, site, address);
  while (!isComplete(*barrier, parity, /*isParity=*/true)) {
    barrier->waiting.push_back(&thread);
    group.wait(thread, site, name(*group.findShared(address, kBarrierBytes)));
    barrier = &find(thread, site, address);
  }
  hear(thread, site, *group.findShared(address, kBarrierBytes), *barrier,
       /*isParity=*/true);
}

void MBarriers::copy(Thread &thread, uint32_t site, char *target,
                     const char *source, char *barrier, uint32_t bytes) {
  Reports &reports = group.reports;
  if (reports.isOn(HostCheck::Alignment) &&
      (reinterpret_cast<uintptr_t>(target) % kBulkBytes != 0 ||
       reinterpret_cast<uintptr_t>(source) % kBulkBytes != 0 ||
       bytes % kBulkBytes != 0))
    reports.add(HostCheck::Alignment, site, thread,
                "expects addresses and a size that are multiples of " +
                    Twine(kBulkBytes) + " bytes");
  std::optional<uint32_t> offset = group.findShared(thread, target, bytes);
  if (!offset)
    reports.add(HostCheck::Bounds, site, thread,
                "writes " + Twine(bytes) + " bytes outside of the " +
                    Twine(group.sharedBytes) + " bytes of workgroup memory");
  SmallVector<BoxPiece> pieces;
  if (offset && group.accessGlobal(thread, site, source, bytes, /*flags=*/0))
    pieces.push_back({*offset, bytes, reinterpret_cast<uintptr_t>(source)});
  group.counters.copy(site, pieces);
  start(thread, site, barrier, bytes, std::move(pieces));
}

void MBarriers::start(Thread &thread, uint32_t site, char *barrierAddress,
                      uint32_t bytes, SmallVector<BoxPiece> pieces) {
  Barrier &barrier = find(thread, site, barrierAddress, /*isOwn=*/false);
  bool races = group.reports.isOn(HostCheck::Races);
  if (races && !barrier.isFenced)
    if (auto diagnostic = group.reports.add(
            HostCheck::Races, site, thread,
            "expects nvvm.fence.mbarrier.init behind the initialisation of "
            "its barrier, by the thread that does it"))
      diagnostic->attachNote(group.reports.getLoc(barrier.initSite))
          << "that is here";
  for (const BoxPiece &piece : pieces)
    group.shadow.beginCopy(thread.number, site, piece.shared, piece.bytes);
  copies.push_back({thread.number, site, bytes, std::move(pieces),
                    *group.findShared(barrierAddress, kBarrierBytes)});
  if (group.chance())
    landOne();
}

bool MBarriers::landOne() {
  if (copies.empty())
    return false;
  auto next = copies.begin() + group.choose(copies.size());
  Copy copy = std::move(*next);
  copies.erase(next);
  land(copy);
  return true;
}

void MBarriers::land(const Copy &copy) {
  auto it = barriers.find(copy.barrier);
  bool isKnown = it != barriers.end() && group.reports.isOn(HostCheck::Races);
  Moment end;
  if (isKnown) {
    end = group.shadow.clocks.act(it->second.actor);
    group.noteUse({copy.thread, copy.site, end}, copy.barrier);
  }
  for (const BoxPiece &piece : copy.pieces) {
    char *target = group.shared + piece.shared;
    if (piece.global)
      std::memcpy(target, reinterpret_cast<const char *>(piece.global),
                  piece.bytes);
    else
      std::memset(target, 0, piece.bytes);
    group.shadow.endCopy(copy.thread, end, copy.site, piece.shared, piece.bytes,
                         /*isProxy=*/true);
  }
  if (it == barriers.end())
    return;
  Barrier &barrier = it->second;
  if (isKnown)
    group.shadow.clocks.learn(barrier.known, end);
  barrier.bytes -= copy.bytes;
  update(barrier);
}

void MBarriers::reportPending() const {
  if (!group.reports.isOn(HostCheck::Waits))
    return;
  // What may write to memory of a workgroup that has ended is worse.
  for (bool isRemote : {true, false})
    for (const Copy &copy : copies)
      if (const Thread &thread = group.threads[copy.thread];
          group.isRemote(thread, copy.barrier) == isRemote)
        group.reports.add(HostCheck::Waits, copy.site, thread,
                          "copies what is never waited for", isRemote);
}

void MBarriers::describe(InFlightDiagnostic &diagnostic) const {
  for (const auto &[offset, barrier] : barriers)
    if (!barrier.waiting.empty())
      diagnostic.attachNote()
          << name(offset) << ": phase " << barrier.phase << ", "
          << barrier.count - barrier.pending << " of " << barrier.count
          << " have arrived, " << std::abs(barrier.bytes)
          << (barrier.bytes < 0 ? " bytes more than expected have come"
                                : " bytes have not come");
}
