// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The instructions of four warps together, by the PTX ISA ("wgmma").

#include "Runtime.h"

using namespace attune;

static void fence(HostLane *context, uint32_t site) {
  Lane &lane = asLane(context);
  lane.group->getWarpgroups().fence(lane, site);
}

/// wgmma.mma_async; operands are those of HostProductFlags, results are
/// tickets.
static void multiply(HostLane *context, uint32_t site, uint32_t columns,
                     uint32_t type, uint32_t flags) {
  Lane &lane = asLane(context);
  lane.group->getWarpgroups().multiply(
      lane, site, columns, static_cast<HostElementType>(type), flags);
}

static void commit(HostLane *context, uint32_t site) {
  Lane &lane = asLane(context);
  lane.group->getWarpgroups().commit(lane, site);
}

static void wait(HostLane *context, uint32_t site, uint32_t pending) {
  Lane &lane = asLane(context);
  lane.group->getWarpgroups().wait(lane, site, pending);
}

/// Turns tickets in the `words` words at `values` into what they stand for.
static void read(HostLane *context, uint32_t site, uint32_t words) {
  Lane &lane = asLane(context);
  std::memcpy(lane.results, lane.operands, words * sizeof(uint32_t));
  lane.group->getWarpgroups().read(
      lane, site, reinterpret_cast<uint32_t *>(lane.results), words);
}

static void fenceProxy(HostLane *context, uint32_t) {
  Lane &lane = asLane(context);
  lane.group->fenceProxy(lane);
}

llvm::ArrayRef<HostFunction> attune::getWarpgroupHostFunctions() {
  static const HostFunction functions[] = {
      hostFunction("attuneHostFenceProducts", fence),
      hostFunction("attuneHostMultiplyAsync", multiply),
      hostFunction("attuneHostCommitProducts", commit),
      hostFunction("attuneHostWaitProducts", wait),
      hostFunction("attuneHostReadProduct", read),
      hostFunction("attuneHostFenceProxy", fenceProxy),
  };
  return functions;
}
