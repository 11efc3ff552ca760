// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Accesses of threads to workgroup and global memory, and copies between them.

#include "Workgroup.h"
#include "attune/Runtime/DeviceTensor.h"

using namespace mlir;
using namespace attune;

std::optional<uint32_t> Workgroup::findShared(const char *address,
                                              uint32_t bytes) const {
  auto offset =
      reinterpret_cast<intptr_t>(address) - reinterpret_cast<intptr_t>(shared);
  if (offset < 0 || offset / sharedStride >= launch.clusterSize ||
      offset % sharedStride + static_cast<int64_t>(bytes) > sharedBytes)
    return std::nullopt;
  return static_cast<uint32_t>(offset);
}

std::optional<uint32_t> Workgroup::findShared(const Thread &thread,
                                              const char *address,
                                              uint32_t bytes) const {
  std::optional<uint32_t> offset = findShared(address, bytes);
  return offset && isRemote(thread, *offset) ? std::nullopt : offset;
}

/// Where `address` is, seen from the nearest argument.
static std::string describeGlobal(ArrayRef<GlobalRegion> regions,
                                  uintptr_t address) {
  const GlobalRegion *nearest = nullptr;
  uintptr_t least = ~uintptr_t(0);
  for (const GlobalRegion &region : regions) {
    uintptr_t distance = address < region.begin  ? region.begin - address
                         : address >= region.end ? address - region.end
                                                 : 0;
    if (distance < least) {
      least = distance;
      nearest = &region;
    }
  }
  std::string text = "0x" + llvm::utohexstr(address);
  if (!nearest)
    return text;
  if (address < nearest->begin)
    return text + ", " + std::to_string(least) + " bytes before " +
           nearest->name;
  if (address >= nearest->end)
    return text + ", " + std::to_string(least) + " bytes behind the end of " +
           nearest->name;
  return text + ", " + std::to_string(address - nearest->begin) +
         " bytes into " + nearest->name;
}

bool Workgroup::accessGlobal(Thread &thread, uint32_t site, const char *address,
                             uint32_t bytes, uint32_t flags) {
  auto begin = reinterpret_cast<uintptr_t>(address);
  bool isWrite = flags & kHostAccessWrite, readOnly = false;
  for (const GlobalRegion &region : launch.regions)
    if (begin >= region.begin && begin + bytes <= region.end) {
      if (region.writable && reports.isOn(HostCheck::Races))
        global.access(thread.number, site, region, begin, bytes, flags);
      if (!isWrite || region.writable)
        return true;
      readOnly = true;
    }
  if (!reports.isOn(HostCheck::Bounds) ||
      stacks.contains(thread.number, address))
    return true;
  reports.add(HostCheck::Bounds, site, thread,
              (isWrite ? "writes " : "reads ") + Twine(bytes) +
                  (readOnly ? " bytes of an argument that is only read"
                            : " bytes outside of the kernel's arguments") +
                  ", address " + describeGlobal(launch.regions, begin));
  return false;
}

char *Workgroup::access(Thread &thread, uint32_t site, char *address,
                        uint32_t bytes, uint32_t alignment, uint32_t flags) {
  bool isWrite = flags & kHostAccessWrite;
  std::optional<uint32_t> offset = findShared(thread, address, bytes);
  bool isShared = offset || (flags & kHostAccessShared);
  if (alignment > 1 && reinterpret_cast<uintptr_t>(address) % alignment != 0 &&
      reports.isOn(HostCheck::Alignment))
    reports.add(HostCheck::Alignment, site, thread,
                "expects an address that is a multiple of " + Twine(alignment) +
                    " bytes, but got " +
                    (offset
                         ? "shared+0x" + llvm::utohexstr(*offset)
                         : "0x" + llvm::utohexstr(
                                      reinterpret_cast<uintptr_t>(address))));
  bool allowed = true;
  if (offset) {
    if (isWrite)
      shadow.write(thread.number, site, *offset, bytes,
                   flags & kHostAccessAtomic);
    else
      shadow.read(thread.number, site, *offset, bytes);
  } else if (isShared) {
    allowed = !reports.isOn(HostCheck::Bounds);
    if (!allowed) {
      auto distance = address - thread.shared;
      reports.add(HostCheck::Bounds, site, thread,
                  (isWrite ? "writes " : "reads ") + Twine(bytes) +
                      " bytes outside of the " + Twine(sharedBytes) +
                      " bytes of workgroup memory, address shared" +
                      (distance < 0 ? "-0x" : "+0x") +
                      llvm::utohexstr(distance < 0 ? -distance : distance));
    }
  } else {
    allowed = accessGlobal(thread, site, address, bytes, flags);
  }
  if (!allowed) {
    scratch.assign(bytes, static_cast<char>(DeviceTensor::kPoison));
    return scratch.data();
  }
  if (counters.isEnabled() && (offset || !isShared))
    counters.access(getWarpNumber(thread), thread.laneId, site,
                    isShared ? *offset : reinterpret_cast<uintptr_t>(address),
                    bytes, isShared, isWrite);
  return address;
}

static void land(PendingCopy &copy) {
  if (copy.landed)
    return;
  std::memcpy(copy.target, copy.source, copy.valid);
  std::memset(copy.target + copy.valid, 0, copy.bytes - copy.valid);
  copy.landed = true;
}

void Workgroup::copyAsync(Thread &thread, PendingCopy copy) {
  if (reports.isOn(HostCheck::Alignment))
    for (const char *address :
         {static_cast<const char *>(copy.target), copy.source})
      if (reinterpret_cast<uintptr_t>(address) % copy.bytes != 0 &&
          (copy.valid > 0 || address == copy.target))
        reports.add(HostCheck::Alignment, copy.site, thread,
                    "expects addresses that are multiples of " +
                        Twine(copy.bytes) + " bytes, but got 0x" +
                        llvm::utohexstr(reinterpret_cast<uintptr_t>(address)));
  std::optional<uint32_t> offset = findShared(thread, copy.target, copy.bytes);
  if (!offset) {
    reports.add(HostCheck::Bounds, copy.site, thread,
                "writes " + Twine(copy.bytes) + " bytes outside of the " +
                    Twine(sharedBytes) + " bytes of workgroup memory");
    return;
  }
  bool readable =
      copy.valid == 0 ||
      accessGlobal(thread, copy.site, copy.source, copy.valid, /*flags=*/0);
  if (!readable)
    copy.valid = 0;
  if (counters.isEnabled() && copy.valid > 0)
    counters.access(getWarpNumber(thread), thread.laneId, copy.site,
                    reinterpret_cast<uintptr_t>(copy.source), copy.valid,
                    /*isShared=*/false, /*isWrite=*/false);
  shadow.beginCopy(thread.number, copy.site, *offset, copy.bytes);
  if (chance())
    land(copy);
  thread.openCopies.push_back(copy);
}

void Workgroup::commitCopies(Thread &thread) {
  thread.committedCopies.push_back(std::move(thread.openCopies));
  thread.openCopies.clear();
}

void Workgroup::waitCopies(Thread &thread, uint32_t site, uint32_t pending) {
  int64_t bytes = 0;
  uint32_t time =
      reports.isOn(HostCheck::Races) ? shadow.clocks.now(thread.number) : 0;
  while (thread.committedCopies.size() > pending) {
    for (PendingCopy &copy : thread.committedCopies.front()) {
      land(copy);
      bytes += copy.bytes;
      shadow.endCopy(thread.number, {thread.number, time}, copy.site,
                     *findShared(copy.target, 0), copy.bytes);
    }
    thread.committedCopies.pop_front();
  }
  counters.wait(site, thread.laneId == 0, bytes);
}
