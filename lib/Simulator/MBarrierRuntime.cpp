// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The instructions of mbarriers and bulk copies, by the PTX ISA.

#include "Runtime.h"

using namespace attune;

/// Takes the last operand where it is there; nothing happens if it is false.
static bool isOn(Thread &thread, uint32_t hasPredicate) {
  return !hasPredicate || thread.takeOperand<uint8_t>();
}

static void init(HostThread *context, uint32_t site, uint32_t hasPredicate) {
  Thread &thread = asThread(context);
  char *address = thread.takeOperand<char *>();
  auto count = thread.takeOperand<uint32_t>();
  if (isOn(thread, hasPredicate))
    thread.group->getMBarriers().init(thread, site, address, count);
}

static void invalidate(HostThread *context, uint32_t site) {
  Thread &thread = asThread(context);
  thread.group->getMBarriers().invalidate(thread, site,
                                          thread.takeOperand<char *>());
}

/// Arrives, as often as an operand says where it is there.
static void arrive(HostThread *context, uint32_t site, uint32_t hasCount) {
  Thread &thread = asThread(context);
  char *address = thread.takeOperand<char *>();
  uint32_t count = hasCount ? thread.takeOperand<uint32_t>() : 1;
  thread.setResult(
      thread.group->getMBarriers().arrive(thread, site, address, count, 0));
}

/// Expects bytes, and arrives or not.
static void expect(HostThread *context, uint32_t site, uint32_t arrives,
                   uint32_t hasPredicate) {
  Thread &thread = asThread(context);
  char *address = thread.takeOperand<char *>();
  auto bytes = thread.takeOperand<uint32_t>();
  if (isOn(thread, hasPredicate))
    thread.setResult(thread.group->getMBarriers().arrive(thread, site, address,
                                                         arrives, bytes));
}

static void waitParity(HostThread *context, uint32_t site) {
  Thread &thread = asThread(context);
  char *address = thread.takeOperand<char *>();
  auto parity = thread.takeOperand<uint32_t>();
  thread.group->getMBarriers().wait(thread, site, address, parity);
}

/// Asks for a phase by its parity or by what an arrival returned.
static void test(HostThread *context, uint32_t site, uint32_t isParity) {
  Thread &thread = asThread(context);
  char *address = thread.takeOperand<char *>();
  uint64_t number = isParity ? thread.takeOperand<uint32_t>()
                             : thread.takeOperand<uint64_t>();
  thread.setResult(thread.group->getMBarriers().test(thread, site, address,
                                                     number, isParity));
}

/// cp.async.bulk.shared.global: target, source, barrier, bytes.
static void copyBulk(HostThread *context, uint32_t site) {
  Thread &thread = asThread(context);
  char *target = thread.takeOperand<char *>();
  auto *source = thread.takeOperand<const char *>();
  char *barrier = thread.takeOperand<char *>();
  auto bytes = thread.takeOperand<uint32_t>();
  thread.group->getMBarriers().copy(thread, site, target, source, barrier,
                                    bytes);
}

static llvm::SmallVector<int32_t> takeCoordinates(Thread &thread,
                                                  uint32_t rank) {
  llvm::SmallVector<int32_t> coordinates;
  for (uint32_t dim = 0; dim < rank; ++dim)
    coordinates.push_back(thread.takeOperand<int32_t>());
  return coordinates;
}

/// Takes a hint to the cache, where it is there, which changes no result.
static void skipHint(Thread &thread, uint32_t hasHint) {
  if (hasHint)
    (void)thread.takeOperand<uint64_t>();
}

/// cp.async.bulk.tensor to workgroup memory: target, map, coordinates, barrier,
/// mask of workgroups.
static void loadBox(HostThread *context, uint32_t site, uint32_t rank,
                    uint32_t hasMask, uint32_t hasHint, uint32_t hasPredicate) {
  Thread &thread = asThread(context);
  char *target = thread.takeOperand<char *>();
  auto *map = thread.takeOperand<const char *>();
  llvm::SmallVector<int32_t> coordinates = takeCoordinates(thread, rank);
  char *barrier = thread.takeOperand<char *>();
  std::optional<uint16_t> mask;
  if (hasMask)
    mask = thread.takeOperand<uint16_t>();
  skipHint(thread, hasHint);
  if (isOn(thread, hasPredicate))
    thread.group->loadBox(thread, site, target, map, coordinates, barrier,
                          mask);
}

/// cp.async.bulk.tensor or, if it adds, cp.reduce.async.bulk.tensor from
/// workgroup memory: map, source, coordinates.
static void storeBox(HostThread *context, uint32_t site, uint32_t rank,
                     uint32_t hasHint, uint32_t hasPredicate, uint32_t adds) {
  Thread &thread = asThread(context);
  auto *map = thread.takeOperand<const char *>();
  auto *source = thread.takeOperand<const char *>();
  llvm::SmallVector<int32_t> coordinates = takeCoordinates(thread, rank);
  skipHint(thread, hasHint);
  if (isOn(thread, hasPredicate))
    thread.group->storeBox(thread, site, map, source, coordinates, adds);
}

static void commitStores(HostThread *context, uint32_t) {
  Thread &thread = asThread(context);
  thread.group->commitStores(thread);
}

static void waitStores(HostThread *context, uint32_t site, uint32_t pending) {
  Thread &thread = asThread(context);
  thread.group->waitStores(thread, site, pending);
}

static void fenceInit(HostThread *context, uint32_t) {
  Thread &thread = asThread(context);
  thread.group->getMBarriers().fenceInit(thread);
}

llvm::ArrayRef<HostFunction> attune::getMBarrierHostFunctions() {
  static const HostFunction functions[] = {
      hostFunction("attuneHostMBarrierInit", init),
      hostFunction("attuneHostMBarrierInvalidate", invalidate),
      hostFunction("attuneHostMBarrierArrive", arrive),
      hostFunction("attuneHostMBarrierExpect", expect),
      hostFunction("attuneHostMBarrierWait", waitParity),
      hostFunction("attuneHostMBarrierTest", test),
      hostFunction("attuneHostCopyBulk", copyBulk),
      hostFunction("attuneHostFenceMBarrierInit", fenceInit),
      hostFunction("attuneHostLoadBox", loadBox),
      hostFunction("attuneHostStoreBox", storeBox),
      hostFunction("attuneHostCommitStores", commitStores),
      hostFunction("attuneHostWaitStores", waitStores),
  };
  return functions;
}
