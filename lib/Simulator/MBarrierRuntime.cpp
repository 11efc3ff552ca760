// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The instructions of mbarriers and bulk copies, by the PTX ISA.

#include "Runtime.h"

using namespace attune;

/// Takes the last operand where it is there; nothing happens if it is false.
static bool isOn(Lane &lane, uint32_t hasPredicate) {
  return !hasPredicate || lane.takeOperand<uint8_t>();
}

static void init(HostLane *context, uint32_t site, uint32_t hasPredicate) {
  Lane &lane = asLane(context);
  char *address = lane.takeOperand<char *>();
  auto count = lane.takeOperand<uint32_t>();
  if (isOn(lane, hasPredicate))
    lane.group->getMBarriers().init(lane, site, address, count);
}

static void invalidate(HostLane *context, uint32_t site) {
  Lane &lane = asLane(context);
  lane.group->getMBarriers().invalidate(lane, site, lane.takeOperand<char *>());
}

/// Arrives, as often as an operand says where it is there.
static void arrive(HostLane *context, uint32_t site, uint32_t hasCount) {
  Lane &lane = asLane(context);
  char *address = lane.takeOperand<char *>();
  uint32_t count = hasCount ? lane.takeOperand<uint32_t>() : 1;
  lane.setResult(
      lane.group->getMBarriers().arrive(lane, site, address, count, 0));
}

/// Expects bytes, and arrives or not.
static void expect(HostLane *context, uint32_t site, uint32_t arrives,
                   uint32_t hasPredicate) {
  Lane &lane = asLane(context);
  char *address = lane.takeOperand<char *>();
  auto bytes = lane.takeOperand<uint32_t>();
  if (isOn(lane, hasPredicate))
    lane.setResult(
        lane.group->getMBarriers().arrive(lane, site, address, arrives, bytes));
}

static void waitParity(HostLane *context, uint32_t site) {
  Lane &lane = asLane(context);
  char *address = lane.takeOperand<char *>();
  auto parity = lane.takeOperand<uint32_t>();
  lane.group->getMBarriers().wait(lane, site, address, parity);
}

/// Asks for a phase by its parity or by what an arrival returned.
static void test(HostLane *context, uint32_t site, uint32_t isParity) {
  Lane &lane = asLane(context);
  char *address = lane.takeOperand<char *>();
  uint64_t number =
      isParity ? lane.takeOperand<uint32_t>() : lane.takeOperand<uint64_t>();
  lane.setResult(
      lane.group->getMBarriers().test(lane, site, address, number, isParity));
}

/// cp.async.bulk.shared.global: target, source, barrier, bytes.
static void copyBulk(HostLane *context, uint32_t site) {
  Lane &lane = asLane(context);
  char *target = lane.takeOperand<char *>();
  auto *source = lane.takeOperand<const char *>();
  char *barrier = lane.takeOperand<char *>();
  auto bytes = lane.takeOperand<uint32_t>();
  lane.group->getMBarriers().copy(lane, site, target, source, barrier, bytes);
}

static llvm::SmallVector<int32_t> takeCoordinates(Lane &lane, uint32_t rank) {
  llvm::SmallVector<int32_t> coordinates;
  for (uint32_t dim = 0; dim < rank; ++dim)
    coordinates.push_back(lane.takeOperand<int32_t>());
  return coordinates;
}

/// Takes a hint to the cache, where it is there, which changes no result.
static void skipHint(Lane &lane, uint32_t hasHint) {
  if (hasHint)
    (void)lane.takeOperand<uint64_t>();
}

/// cp.async.bulk.tensor to workgroup memory: target, map, coordinates, barrier,
/// mask of workgroups.
static void loadBox(HostLane *context, uint32_t site, uint32_t rank,
                    uint32_t hasMask, uint32_t hasHint, uint32_t hasPredicate) {
  Lane &lane = asLane(context);
  char *target = lane.takeOperand<char *>();
  auto *map = lane.takeOperand<const char *>();
  llvm::SmallVector<int32_t> coordinates = takeCoordinates(lane, rank);
  char *barrier = lane.takeOperand<char *>();
  std::optional<uint16_t> mask;
  if (hasMask)
    mask = lane.takeOperand<uint16_t>();
  skipHint(lane, hasHint);
  if (isOn(lane, hasPredicate))
    lane.group->loadBox(lane, site, target, map, coordinates, barrier, mask);
}

/// cp.async.bulk.tensor from workgroup memory: map, source, coordinates.
static void storeBox(HostLane *context, uint32_t site, uint32_t rank,
                     uint32_t hasHint, uint32_t hasPredicate) {
  Lane &lane = asLane(context);
  auto *map = lane.takeOperand<const char *>();
  auto *source = lane.takeOperand<const char *>();
  llvm::SmallVector<int32_t> coordinates = takeCoordinates(lane, rank);
  skipHint(lane, hasHint);
  if (isOn(lane, hasPredicate))
    lane.group->storeBox(lane, site, map, source, coordinates);
}

static void commitStores(HostLane *context, uint32_t) {
  Lane &lane = asLane(context);
  lane.group->commitStores(lane);
}

static void waitStores(HostLane *context, uint32_t site, uint32_t pending) {
  Lane &lane = asLane(context);
  lane.group->waitStores(lane, site, pending);
}

static void fenceInit(HostLane *context, uint32_t) {
  Lane &lane = asLane(context);
  lane.group->getMBarriers().fenceInit(lane);
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
