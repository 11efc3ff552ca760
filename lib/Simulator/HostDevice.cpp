// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The host executor as a device.

#include "attune/Simulator/HostDevice.h"
#include "HostKernel.h"
#include "Runtime.h"
#include "attune/Target/TargetRegistry.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/MemAlloc.h"
#include <cstring>
#include <numeric>
#include <random>

using namespace mlir;
using namespace attune;
using llvm::Error;
using llvm::Expected;

/// Of allocations, as drivers have it.
static constexpr size_t kAllocationAlignment = 256;

static void *toPointer(DeviceAddress address) {
  return reinterpret_cast<void *>(address);
}

HostDevice::HostDevice(MLIRContext &context, tile::TargetAttr target,
                       const HostOptions &options)
    : context(context), options(options) {
  info.name = "host executor";
  info.chip = target.getChip().str();
  info.sms = 1;
  info.sharedBytes = target.getShared();
}

HostDevice::~HostDevice() {
  for (auto [address, bytes] : allocations)
    llvm::deallocate_buffer(toPointer(address), bytes, kAllocationAlignment);
}

Expected<DeviceAddress> HostDevice::allocate(int64_t bytes) {
  int64_t atLeastOne = std::max<int64_t>(bytes, 1);
  void *memory =
      ::operator new(static_cast<size_t>(atLeastOne),
                     std::align_val_t(kAllocationAlignment), std::nothrow);
  if (!memory)
    return llvm::createStringError("failed to allocate " + Twine(bytes) +
                                   " bytes on the host");
  auto address = reinterpret_cast<DeviceAddress>(memory);
  allocations[address] = atLeastOne;
  return address;
}

Error HostDevice::release(DeviceAddress address) {
  auto it = allocations.find(address);
  if (it == allocations.end())
    return llvm::createStringError("failed to free memory: no such allocation");
  llvm::deallocate_buffer(toPointer(address), it->second, kAllocationAlignment);
  allocations.erase(it);
  return Error::success();
}

Error HostDevice::copyToDevice(DeviceAddress target, const void *source,
                               int64_t bytes) {
  if (bytes > 0)
    std::memcpy(toPointer(target), source, bytes);
  return Error::success();
}

Error HostDevice::copyToHost(void *target, DeviceAddress source,
                             int64_t bytes) {
  if (bytes > 0)
    std::memcpy(target, toPointer(source), bytes);
  return Error::success();
}

Error HostDevice::fill(DeviceAddress target, uint8_t byte, int64_t bytes,
                       void *) {
  if (bytes > 0)
    std::memset(toPointer(target), byte, bytes);
  return Error::success();
}

Expected<std::unique_ptr<Kernel>>
HostDevice::loadKernel(StringRef image, StringRef name, int64_t sharedBytes) {
  auto kernel = HostKernel::load(context, image, name, options);
  if (!kernel)
    return kernel.takeError();
  if (sharedBytes + (*kernel)->staticSharedBytes > info.sharedBytes)
    return llvm::createStringError(
        "kernel '" + name + "' expects " +
        Twine(sharedBytes + (*kernel)->staticSharedBytes) +
        " bytes of shared memory, but " + info.chip + " has " +
        Twine(info.sharedBytes));
  return std::move(*kernel);
}

/// The memory behind the arguments: of a kernel that says what they are, the
/// exact extents of its tensors; else whatever is allocated.
static Expected<std::vector<GlobalRegion>>
findRegions(const HostKernel &kernel, llvm::ArrayRef<void *> words,
            const std::map<DeviceAddress, int64_t> &allocations) {
  std::vector<GlobalRegion> regions;
  if (!kernel.manifest) {
    for (auto [address, bytes] : allocations)
      regions.push_back({address, address + static_cast<uint64_t>(bytes),
                         /*writable=*/true, "a buffer"});
    return regions;
  }
  auto take = [&] {
    int64_t value;
    std::memcpy(&value, words.front(), sizeof(value));
    words = words.drop_front();
    return value;
  };
  for (const ManifestArgument &argument : kernel.manifest->arguments) {
    bool isBuffer = argument.kind == KernelArgument::Kind::Buffer;
    size_t parameters = isBuffer ? 3 + 2 * argument.rank : 1;
    if (words.size() < parameters)
      return llvm::createStringError(
          "kernel '" + kernel.name + "' expects a manifest of its " +
          Twine(kernel.numParameters) + " parameters, but got one of more");
    if (!isBuffer) {
      words = words.drop_front();
      continue;
    }
    TensorShape shape;
    shape.type = argument.type;
    (void)take();
    int64_t address = take(), offset = take();
    for (int64_t dim = 0; dim < argument.rank; ++dim)
      shape.sizes.push_back(take());
    for (int64_t dim = 0; dim < argument.rank; ++dim)
      shape.strides.push_back(take());
    uintptr_t begin = address + offset * getBytes(argument.type);
    regions.push_back({begin, begin + shape.getSpanBytes(),
                       argument.access != ManifestArgument::Access::Read,
                       "'" + argument.name + "'",
                       argument.isWorkspace() && argument.workspace.zero &&
                           argument.workspace.restored});
  }
  return regions;
}

static Error checkShape(const HostKernel &kernel, const LaunchShape &shape,
                        int64_t maxThreads, const HostOptions &options) {
  int64_t threads = shape.block[0] * shape.block[1] * shape.block[2];
  int64_t groups = shape.grid[0] * shape.grid[1] * shape.grid[2];
  if (threads < 1 || threads > maxThreads)
    return llvm::createStringError(
        "kernel '" + kernel.name + "' expects a block of 1 to " +
        Twine(maxThreads) + " threads, but got " + Twine(threads));
  int64_t work = threads * kernel.threadsInOne;
  if (groups > options.maxThreads / work)
    return llvm::createStringError(
        "kernel '" + kernel.name + "' expects at most " +
        Twine(options.maxThreads) +
        " threads to be executed on the host, but " + Twine(groups) +
        " blocks have " + Twine(groups * work) +
        "; --max-threads sets the limit");
  if (shape.grid[0] % kernel.clusterSize != 0)
    return llvm::createStringError(
        "kernel '" + kernel.name + "' expects a multiple of " +
        Twine(kernel.clusterSize) +
        " blocks, the size of a cluster, along x, but got " +
        Twine(shape.grid[0]));
  return Error::success();
}

/// Whether workspaces that the next launch finds as this one leaves them are
/// zero.
static Error checkLeftZero(const HostKernel &kernel,
                           llvm::ArrayRef<GlobalRegion> regions) {
  for (const GlobalRegion &region : regions) {
    if (!region.leftZero)
      continue;
    llvm::ArrayRef<uint8_t> bytes(
        static_cast<const uint8_t *>(toPointer(region.begin)),
        region.end - region.begin);
    const uint8_t *found = llvm::find_if(bytes, [](uint8_t b) { return b; });
    if (found != bytes.end())
      return llvm::createStringError(
          "kernel '" + kernel.name + "' expects to leave workspace " +
          region.name + " zero, as its manifest says, but got " +
          Twine(static_cast<unsigned>(*found)) + " in byte " +
          Twine(found - bytes.begin()));
  }
  return Error::success();
}

/// The numbers of clusters in the order in which they run.
static std::vector<int64_t> orderClusters(int64_t count,
                                          const HostOptions &options) {
  std::vector<int64_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  if (options.anyOrder && options.seed != 0)
    llvm::shuffle(order.begin(), order.end(), std::mt19937_64(options.seed));
  return order;
}

static Error runWorkgroups(const HostKernel &kernel, const LaunchShape &shape,
                           const HostOptions &options, Workgroup &group) {
  // A kernel whose checks are off may do anything.
  llvm::CrashRecoveryContext::Enable();
  llvm::CrashRecoveryContext recovery;
  bool finished = recovery.RunSafely([&] {
    int64_t ofRow = shape.grid[0] / kernel.clusterSize,
            ofPlane = ofRow * shape.grid[1];
    for (int64_t number : orderClusters(ofPlane * shape.grid[2], options))
      if (!group.run(number % ofRow * kernel.clusterSize,
                     number / ofRow % shape.grid[1], number / ofPlane))
        break;
  });
  if (finished)
    return Error::success();
  return llvm::createStringError(
      "kernel '" + kernel.name + "' crashed (code " + Twine(recovery.RetCode) +
      ") in thread " + formatIndex(group.getRunning()->threadId) +
      " of block " + formatIndex(group.getRunning()->blockId) +
      ": a division by 0, or an access that was not checked");
}

/// Adds the names and places of the ops that were counted.
static void nameSites(ArrayRef<Operation *> ops, HostCounts &counts) {
  for (auto [site, count] : llvm::enumerate(counts.sites)) {
    count.op = ops[site]->getName().getStringRef().str();
    llvm::raw_string_ostream stream(count.location);
    Location loc = ops[site]->getLoc();
    if (auto place = loc->findInstanceOf<FileLineColLoc>())
      stream << place.getFilename().getValue() << ':' << place.getLine() << ':'
             << place.getColumn();
    else
      stream << loc;
  }
}

Error HostDevice::launch(Kernel &loaded, const LaunchShape &shape,
                         llvm::ArrayRef<void *> arguments) {
  auto &kernel = static_cast<HostKernel &>(loaded);
  auto target = tile::TargetAttr::lookup(kernel.module);
  if (arguments.size() != kernel.numParameters)
    return llvm::createStringError(
        "kernel '" + kernel.name + "' expects " + Twine(kernel.numParameters) +
        " parameters, but got " + Twine(arguments.size()));
  if (auto error = checkShape(kernel, shape, target.getMaxThreads(), options))
    return error;
  Launch launch;
  launch.kernel = kernel.function;
  launch.shape = shape;
  launch.arguments = arguments;
  launch.warpSize = target.getLanes();
  launch.staticSharedBytes = kernel.staticSharedBytes;
  launch.clusterSize = kernel.clusterSize;
  launch.flushDenormals = kernel.flushDenormals;
  auto regions = findRegions(kernel, arguments, allocations);
  if (!regions)
    return regions.takeError();
  launch.regions = std::move(*regions);
  for (size_t index : kernel.tensorMaps)
    launch.tensorMaps.push_back(static_cast<const char *>(arguments[index]));
  launch.options = &options;
  Reports reports(kernel.sites, options);
  Counters counters(kernel.sites.size(),
                    options.counts ? getTargetModel(target.getFamily())
                                   : nullptr);
  Workgroup group(launch, reports, counters);
  if (auto error = group.prepare())
    return error;
  if (auto error = runWorkgroups(kernel, shape, options, group)) {
    ++faults;
    return error;
  }
  if (reports.getNumErrors() == 0)
    if (auto error = checkLeftZero(kernel, launch.regions)) {
      ++faults;
      return error;
    }
  counts = std::move(counters.counts);
  nameSites(kernel.sites, counts);
  faults += reports.getNumErrors();
  if (reports.getNumErrors() > 0)
    return llvm::createStringError(
        "kernel '" + kernel.name +
        "' has faults: " + Twine(reports.getNumErrors()) + " were found" +
        (reports.getNumSuppressed() > 0
             ? ", of which one for each op and kind is shown"
             : ""));
  return Error::success();
}

Expected<TensorMap>
HostDevice::encodeTensorMap(const TensorMapRequest &request) {
  return HostTensorMap::encode(request);
}

Error HostDevice::synchronize() { return Error::success(); }

static Error refuseTiming() {
  return llvm::createStringError(
      "expects a GPU to measure time: on the host nothing is timed");
}

Expected<std::unique_ptr<Event>> HostDevice::createEvent() {
  return refuseTiming();
}
Error HostDevice::record(Event &) { return refuseTiming(); }
Expected<double> HostDevice::getElapsed(Event &, Event &) {
  return refuseTiming();
}
