// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Copies of boxes of tensors: to workgroup memory they are those of an mbarrier
// (MBarriers.h); from there they belong to groups of the thread, and happen
// when these are waited for, or at once if the seed says so.

#include "Workgroup.h"

using namespace mlir;
using namespace attune;

/// What a copy's place in workgroup memory is a multiple of, and what a tensor
/// map in global memory is.
static constexpr uint32_t kBoxAlignment = 128, kMapAlignment = 64;
/// What the first element of each row of a box that is read is a multiple of:
/// others are illegal instructions of an H200, and so is adding to a box that
/// begins before the tensor, which may be read there.
static constexpr int64_t kRowAlignment = 16;

HostTensorMap Workgroup::findTensorMap(Thread &thread, uint32_t site,
                                       const char *address, size_t rank) {
  auto begin = reinterpret_cast<uintptr_t>(address);
  bool isReadable =
      llvm::is_contained(launch.tensorMaps, address) ||
      (begin % kMapAlignment == 0 &&
       llvm::any_of(launch.regions, [&](const GlobalRegion &region) {
         return begin >= region.begin &&
                begin + sizeof(TensorMap) <= region.end;
       }));
  auto map = isReadable ? HostTensorMap::decode(address) : std::nullopt;
  if (!map)
    reports.stop(site,
                 Twine("expects a tensor map that the device has encoded, ") +
                     (isReadable ? "but got other bytes"
                                 : "in a parameter of the kernel or in a "
                                   "buffer, but got another address") +
                     ", thread " + formatIndex(thread.threadId));
  else if (map->rank != rank)
    reports.stop(site,
                 "expects a coordinate for each of the " + Twine(map->rank) +
                     " dimensions of the tensor map, but got " + Twine(rank) +
                     ", thread " + formatIndex(thread.threadId));
  if (!map || map->rank != rank)
    stop(thread);
  return *map;
}

SmallVector<BoxPiece> Workgroup::placeBox(Thread &thread, uint32_t site,
                                          const HostTensorMap &map,
                                          ArrayRef<int32_t> coordinates,
                                          const char *sharedAddress,
                                          uint32_t flags) {
  std::optional<uint32_t> offset =
      findShared(thread, sharedAddress, map.getSharedBytes());
  if (!offset)
    reports.add(HostCheck::Bounds, site, thread,
                (flags ? "reads " : "writes ") + Twine(map.getSharedBytes()) +
                    " bytes outside of the " + Twine(sharedBytes) +
                    " bytes of workgroup memory");
  else if (*offset % kBoxAlignment != 0)
    reports.add(HostCheck::Alignment, site, thread,
                "expects a box at a multiple of " + Twine(kBoxAlignment) +
                    " bytes in workgroup memory, but got shared+0x" +
                    llvm::utohexstr(*offset));
  int64_t distance = int64_t(coordinates.front()) * map.elementBytes;
  if (!flags && distance % kRowAlignment != 0)
    reports.add(HostCheck::Alignment, site, thread,
                "expects a box to read whose rows begin at multiples of " +
                    Twine(kRowAlignment) + " bytes, but got element " +
                    Twine(coordinates.front()) + " of " +
                    Twine(map.elementBytes) + " bytes");
  bool adds = flags & kHostAccessAtomic;
  int32_t least = *llvm::min_element(coordinates);
  if (adds && least < 0)
    reports.add(HostCheck::Bounds, site, thread,
                "expects a box to add to at coordinates of at least 0, but "
                "got " +
                    Twine(least));
  if (!offset || *offset % kBoxAlignment != 0)
    return {};
  SmallVector<BoxPiece> pieces = cutBox(map, coordinates, *offset);
  for (BoxPiece &piece : pieces)
    if (piece.global &&
        !accessGlobal(thread, site, reinterpret_cast<char *>(piece.global),
                      piece.bytes, flags))
      piece.global = 0;
  counters.copy(site, pieces);
  return pieces;
}

void Workgroup::loadBox(Thread &thread, uint32_t site, char *target,
                        const char *mapAddress, ArrayRef<int32_t> coordinates,
                        char *barrier, std::optional<uint16_t> mask) {
  HostTensorMap map =
      findTensorMap(thread, site, mapAddress, coordinates.size());
  uint32_t ranks = mask ? *mask : 1u << thread.rank;
  if (ranks == 0 || ranks >> launch.clusterSize != 0) {
    reports.stop(site, "expects a mask of the " + Twine(launch.clusterSize) +
                           " workgroups of the cluster, but got 0x" +
                           llvm::utohexstr(ranks) + ", thread " +
                           formatIndex(thread.threadId));
    stop(thread);
  }
  SmallVector<BoxPiece> own =
      placeBox(thread, site, map, coordinates, target, /*flags=*/0);
  for (uint32_t rank = 0; rank < launch.clusterSize; ++rank) {
    if (!(ranks >> rank & 1))
      continue;
    int64_t distance = (int64_t(rank) - thread.rank) * sharedStride;
    SmallVector<BoxPiece> pieces = own;
    for (BoxPiece &piece : pieces)
      piece.shared += distance;
    mbarriers.start(thread, site, barrier + distance, map.getTmaBoxBytes(),
                    std::move(pieces));
  }
}

void Workgroup::storeBox(Thread &thread, uint32_t site, const char *mapAddress,
                         const char *source, ArrayRef<int32_t> coordinates,
                         bool adds) {
  HostTensorMap map =
      findTensorMap(thread, site, mapAddress, coordinates.size());
  // The map of a buffer says no more of its numbers.
  if (adds && map.elementBytes != sizeof(float)) {
    reports.stop(site, "expects a tensor map of f32 to add to, but got "
                       "elements of " +
                           Twine(map.elementBytes) + " bytes, thread " +
                           formatIndex(thread.threadId));
    stop(thread);
  }
  PendingStore store;
  store.site = site;
  store.adds = adds;
  store.pieces = placeBox(thread, site, map, coordinates, source,
                          kHostAccessWrite | (adds ? kHostAccessAtomic : 0));
  // What lies outside of the tensor is not asked for.
  llvm::erase_if(store.pieces,
                 [](const BoxPiece &piece) { return piece.global == 0; });
  for (const BoxPiece &piece : store.pieces)
    shadow.beginRead(thread.number, site, piece.shared, piece.bytes);
  if (chance())
    perform(store);
  thread.openStores.push_back(std::move(store));
}

/// Other workgroups may add to the same numbers.
static void addNumbers(float *target, const char *source, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    float number;
    std::memcpy(&number, source + i * sizeof(float), sizeof(float));
    __atomic_fetch_add(&target[i], number, __ATOMIC_RELAXED);
  }
}

void Workgroup::perform(PendingStore &store) {
  if (std::exchange(store.landed, true))
    return;
  for (const BoxPiece &piece : store.pieces) {
    const char *source = shared + piece.shared;
    if (store.adds)
      addNumbers(reinterpret_cast<float *>(piece.global), source,
                 piece.bytes / sizeof(float));
    else
      std::memcpy(reinterpret_cast<char *>(piece.global), source, piece.bytes);
  }
}

void Workgroup::commitStores(Thread &thread) {
  thread.committedStores.push_back(std::move(thread.openStores));
  thread.openStores.clear();
}

void Workgroup::waitStores(Thread &thread, uint32_t site, uint32_t pending) {
  int64_t bytes = 0;
  uint32_t time =
      reports.isOn(HostCheck::Races) ? shadow.clocks.now(thread.number) : 0;
  for (; thread.committedStores.size() > pending;
       thread.committedStores.pop_front())
    for (PendingStore &store : thread.committedStores.front()) {
      perform(store);
      for (const BoxPiece &piece : store.pieces) {
        bytes += piece.bytes;
        shadow.endRead(thread.number, {thread.number, time}, store.site,
                       piece.shared, piece.bytes);
      }
    }
  counters.wait(site, thread.laneId == 0, bytes);
}

void Workgroup::finishStores(Thread &thread) {
  for (auto &group : thread.committedStores)
    llvm::append_range(thread.openStores, std::move(group));
  for (PendingStore &store : thread.openStores) {
    perform(store);
    reports.add(HostCheck::Waits, store.site, thread,
                "reads workgroup memory when the thread ends, and was never "
                "waited for");
  }
}
