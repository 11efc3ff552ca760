// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the workgroups of a cluster do to each other: the barrier at which all
// of their threads meet, and uses of one's memory by another. A workgroup's
// memory is gone when its last thread has returned, so that it must know, by
// then, of all uses of it.

#include "Workgroup.h"

using namespace mlir;
using namespace attune;

void Workgroup::arriveAtCluster(Thread &thread, uint32_t site, bool relaxed) {
  if (thread.clusterPhase) {
    reports.stop(site, "expects nvvm.cluster.wait between two arrivals, "
                       "thread " +
                           formatIndex(thread.threadId) + ", block " +
                           formatIndex(thread.blockId));
    stop(thread);
  }
  thread.clusterPhase = clusterBarrier.phase;
  if (reports.isOn(HostCheck::Races)) {
    if (relaxed)
      mbarriers.publishInits(thread, clusterBarrier.known);
    else
      shadow.clocks.release(thread.number, clusterBarrier.known);
  }
  if (++clusterBarrier.arrived < numThreads)
    return;
  ++clusterBarrier.phase;
  clusterBarrier.arrived = 0;
  clusterBarrier.knownBefore = std::move(clusterBarrier.known);
  clusterBarrier.known.clear();
  for (Thread *other : clusterBarrier.waiting)
    release(*other);
  clusterBarrier.waiting.clear();
  for (uint32_t rank = 0; rank < launch.clusterSize; ++rank)
    converge(rank);
}

void Workgroup::waitForCluster(Thread &thread, uint32_t site) {
  if (!thread.clusterPhase) {
    reports.stop(site, "expects nvvm.cluster.arrive before it, thread " +
                           formatIndex(thread.threadId) + ", block " +
                           formatIndex(thread.blockId));
    stop(thread);
  }
  if (clusterBarrier.phase == *thread.clusterPhase) {
    clusterBarrier.waiting.push_back(&thread);
    wait(thread, site, "the barrier of the cluster");
  }
  thread.clusterPhase.reset();
  if (reports.isOn(HostCheck::Races))
    shadow.clocks.acquire(thread.number, clusterBarrier.knownBefore);
}

char *Workgroup::mapShared(Thread &thread, uint32_t site, char *address,
                           uint32_t rank) {
  bool isOwn = findShared(thread, address, 0).has_value();
  if (!isOwn || rank >= launch.clusterSize) {
    reports.stop(site,
                 "expects an address of the own workgroup and one of the " +
                     Twine(launch.clusterSize) +
                     " workgroups of the cluster, but got " +
                     (isOwn ? Twine(rank) : Twine("another address")) +
                     ", thread " + formatIndex(thread.threadId));
    stop(thread);
  }
  return address + (int64_t(rank) - thread.rank) * sharedStride;
}

void Workgroup::converge(uint32_t rank) {
  for (uint32_t warp = 0; warp < warpsOfGroup; ++warp)
    counters.converge(rank * warpsOfGroup + warp);
}

void Workgroup::reportLateUse(const RemoteUse &use, uint32_t rank) {
  reports.add(HostCheck::Races, use.site, threads[use.thread],
              "uses the memory of block " +
                  formatIndex(threads[rank * threadsOfGroup].blockId) +
                  ", which may have ended, with no barrier of the cluster "
                  "behind it");
}

void Workgroup::noteUse(const RemoteUse &use, uint32_t offset) {
  uint32_t rank = offset / sharedStride;
  if (rank == threads[use.thread].rank)
    return;
  Member &member = members[rank];
  if (member.numDone == threadsOfGroup)
    return reportLateUse(use, rank);
  // Who knows of the last use of an actor knows of those before.
  auto same = llvm::find_if(member.uses, [&](const RemoteUse &other) {
    return other.moment.actor == use.moment.actor;
  });
  if (same == member.uses.end())
    member.uses.push_back(use);
  else
    *same = use;
}

void Workgroup::checkUses(uint32_t rank) {
  for (const RemoteUse &use : members[rank].uses)
    if (llvm::none_of(llvm::seq(threadsOfGroup), [&](uint32_t number) {
          return shadow.clocks.knows(rank * threadsOfGroup + number,
                                     use.moment);
        }))
      reportLateUse(use, rank);
}
