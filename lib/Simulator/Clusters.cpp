// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the workgroups of a cluster do to each other: the barrier at which all
// of their lanes meet, and uses of one's memory by another. A workgroup's
// memory is gone when its last lane has returned, so that it must know, by
// then, of all uses of it.

#include "Workgroup.h"

using namespace mlir;
using namespace attune;

void Workgroup::arriveAtCluster(Lane &lane, uint32_t site, bool relaxed) {
  if (lane.clusterPhase) {
    reports.stop(site, "expects nvvm.cluster.wait between two arrivals, "
                       "thread " +
                           formatIndex(lane.threadId) + ", block " +
                           formatIndex(lane.blockId));
    stop(lane);
  }
  lane.clusterPhase = clusterBarrier.phase;
  if (reports.isOn(HostCheck::Races)) {
    if (relaxed)
      mbarriers.publishInits(lane, clusterBarrier.known);
    else
      shadow.clocks.release(lane.number, clusterBarrier.known);
  }
  if (++clusterBarrier.arrived < numLanes)
    return;
  ++clusterBarrier.phase;
  clusterBarrier.arrived = 0;
  clusterBarrier.knownBefore = std::move(clusterBarrier.known);
  clusterBarrier.known.clear();
  for (Lane *other : clusterBarrier.waiting)
    release(*other);
  clusterBarrier.waiting.clear();
  for (uint32_t rank = 0; rank < launch.clusterSize; ++rank)
    converge(rank);
}

void Workgroup::waitForCluster(Lane &lane, uint32_t site) {
  if (!lane.clusterPhase) {
    reports.stop(site, "expects nvvm.cluster.arrive before it, thread " +
                           formatIndex(lane.threadId) + ", block " +
                           formatIndex(lane.blockId));
    stop(lane);
  }
  if (clusterBarrier.phase == *lane.clusterPhase) {
    clusterBarrier.waiting.push_back(&lane);
    wait(lane, site, "the barrier of the cluster");
  }
  lane.clusterPhase.reset();
  if (reports.isOn(HostCheck::Races))
    shadow.clocks.acquire(lane.number, clusterBarrier.knownBefore);
}

char *Workgroup::mapShared(Lane &lane, uint32_t site, char *address,
                           uint32_t rank) {
  bool isOwn = findShared(lane, address, 0).has_value();
  if (!isOwn || rank >= launch.clusterSize) {
    reports.stop(site,
                 "expects an address of the own workgroup and one of the " +
                     Twine(launch.clusterSize) +
                     " workgroups of the cluster, but got " +
                     (isOwn ? Twine(rank) : Twine("another address")) +
                     ", thread " + formatIndex(lane.threadId));
    stop(lane);
  }
  return address + (int64_t(rank) - lane.rank) * sharedStride;
}

void Workgroup::converge(uint32_t rank) {
  for (uint32_t warp = 0; warp < warpsOfGroup; ++warp)
    counters.converge(rank * warpsOfGroup + warp);
}

void Workgroup::reportLateUse(const RemoteUse &use, uint32_t rank) {
  reports.add(HostCheck::Races, use.site, lanes[use.lane],
              "uses the memory of block " +
                  formatIndex(lanes[rank * lanesOfGroup].blockId) +
                  ", which may have ended, with no barrier of the cluster "
                  "behind it");
}

void Workgroup::noteUse(const RemoteUse &use, uint32_t offset) {
  uint32_t rank = offset / sharedStride;
  if (rank == lanes[use.lane].rank)
    return;
  Member &member = members[rank];
  if (member.numDone == lanesOfGroup)
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
    if (llvm::none_of(llvm::seq(lanesOfGroup), [&](uint32_t number) {
          return shadow.clocks.knows(rank * lanesOfGroup + number, use.moment);
        }))
      reportLateUse(use, rank);
}
