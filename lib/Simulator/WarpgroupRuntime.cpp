// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The instructions of four warps together, by the PTX ISA ("wgmma").

#include "Runtime.h"

using namespace attune;

static void fence(HostThread *context, uint32_t site) {
  Thread &thread = asThread(context);
  thread.group->getWarpgroups().fence(thread, site);
}

/// wgmma.mma_async; operands are those of HostMmaFlags, results are
/// tickets.
static void multiplyAsync(HostThread *context, uint32_t site, uint32_t columns,
                          uint32_t type, uint32_t flags) {
  Thread &thread = asThread(context);
  thread.group->getWarpgroups().multiply(
      thread, site, columns, static_cast<HostElementType>(type), flags);
}

static void commit(HostThread *context, uint32_t site) {
  Thread &thread = asThread(context);
  thread.group->getWarpgroups().commit(thread, site);
}

static void wait(HostThread *context, uint32_t site, uint32_t pending) {
  Thread &thread = asThread(context);
  thread.group->getWarpgroups().wait(thread, site, pending);
}

/// Turns tickets in the `words` words at `values` into what they stand for.
static void read(HostThread *context, uint32_t site, uint32_t words) {
  Thread &thread = asThread(context);
  std::memcpy(thread.results, thread.operands, words * sizeof(uint32_t));
  thread.group->getWarpgroups().read(
      thread, site, reinterpret_cast<uint32_t *>(thread.results), words);
}

static void fenceProxy(HostThread *context, uint32_t) {
  Thread &thread = asThread(context);
  thread.group->fenceProxy(thread);
}

llvm::ArrayRef<HostFunction> attune::getWarpgroupHostFunctions() {
  static const HostFunction functions[] = {
      hostFunction("attuneHostFenceMmas", fence),
      hostFunction("attuneHostMultiplyAsync", multiplyAsync),
      hostFunction("attuneHostCommitMmas", commit),
      hostFunction("attuneHostWaitMmas", wait),
      hostFunction("attuneHostReadMma", read),
      hostFunction("attuneHostFenceProxy", fenceProxy),
  };
  return functions;
}
