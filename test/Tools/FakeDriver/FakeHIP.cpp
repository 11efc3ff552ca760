// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A libamdhip64.so for machines without a GPU: memory is that of the host. What
// HIP would refuse is refused with HIP's number: a module that is no HSACO of
// the chip, a kernel that it does not have, a launch that is too large, on
// another device, or whose tensors do not lie in memory that was allocated. A
// launch computes attention of bf16 with one key, whose output is the value,
// and nothing else. FAKE_HIP_CHIP is the chip's name, gfx942 without it;
// FAKE_DRIVER_FAULT, _DEVICES, _VERSION and _TRACE are as in FakeDriver.cpp.

#include "FakeDriver.h"
#include <cstdint>
#include <cstring>
#include <elf.h>
#include <map>
#include <mutex>
#include <optional>
#include <sstream>
#include <vector>

using Handle = void *;

/// Numbers of hip_runtime_api.h.
static constexpr int kInvalidValue = 1, kInvalidConfiguration = 9,
                     kInvalidDevice = 101, kNoBinaryForGPU = 209,
                     kInvalidHandle = 400, kNotFound = 500, kLaunchFailed = 719;

/// Machines of ELF headers, by LLVM's "User Guide for AMDGPU Backend".
static const std::map<std::string, unsigned> kMachines = {
    {"gfx90a", 0x3f}, {"gfx942", 0x4c}, {"gfx950", 0x4f}, {"gfx1100", 0x41}};

static thread_local int current = 0;
static char something;
static std::mutex mutex;
/// Sizes of what was allocated, by address.
static std::map<uintptr_t, size_t> allocations;

/// The end of what was allocated around an address, or 0.
static uintptr_t findEnd(uintptr_t address) {
  auto it = allocations.upper_bound(address);
  if (it == allocations.begin())
    return 0;
  --it;
  uintptr_t end = it->first + it->second;
  return address < end ? end : 0;
}

namespace {
struct Module {
  int device;
  std::string image;
};
/// Of kernel_descriptor_t, in the guide as well.
struct KernelDescriptor {
  uint32_t sharedBytes, privateBytes, argumentBytes;
};
struct Function {
  int device;
  KernelDescriptor descriptor;
};

/// A tensor among the arguments of a kernel, which are words: address, aligned
/// address, offset, sizes and strides.
struct Tensor {
  static constexpr int kRank = 4, kWords = 3 + 2 * kRank;
  uintptr_t base;
  int64_t offset, sizes[kRank], strides[kRank];

  static Tensor read(void **words) {
    auto word = [&](int i) { return *static_cast<int64_t *>(words[i]); };
    Tensor tensor;
    tensor.base = word(1);
    tensor.offset = word(2);
    for (int i = 0; i < kRank; ++i) {
      tensor.sizes[i] = word(3 + i);
      tensor.strides[i] = word(3 + kRank + i);
    }
    return tensor;
  }
  int64_t getPlace(int64_t a, int64_t b, int64_t c, int64_t d) const {
    return offset + a * strides[0] + b * strides[1] + c * strides[2] +
           d * strides[3];
  }
  /// How many elements of so many bytes there are from the base to the last
  /// one, or 0 if they were not allocated together.
  int64_t countAllocated(size_t bytes) const {
    int64_t count =
        getPlace(sizes[0] - 1, sizes[1] - 1, sizes[2] - 1, sizes[3] - 1) + 1;
    return base + count * bytes <= findEnd(base) ? count : 0;
  }
};
} // namespace

static std::string getChip() {
  const char *chip = std::getenv("FAKE_HIP_CHIP");
  return chip ? chip : "gfx942";
}

/// What a symbol of a module names.
static std::optional<KernelDescriptor> findDescriptor(const char *image,
                                                      const std::string &name) {
  Elf64_Ehdr header;
  std::memcpy(&header, image, sizeof(header));
  auto getSection = [&](unsigned number) {
    Elf64_Shdr section;
    std::memcpy(&section, image + header.e_shoff + number * header.e_shentsize,
                sizeof(section));
    return section;
  };
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr symbols = getSection(i);
    if (symbols.sh_type != SHT_DYNSYM)
      continue;
    const char *names = image + getSection(symbols.sh_link).sh_offset;
    for (uint64_t at = 0; at < symbols.sh_size; at += sizeof(Elf64_Sym)) {
      Elf64_Sym symbol;
      std::memcpy(&symbol, image + symbols.sh_offset + at, sizeof(symbol));
      if (names + symbol.st_name != name)
        continue;
      Elf64_Shdr holder = getSection(symbol.st_shndx);
      KernelDescriptor descriptor;
      std::memcpy(&descriptor,
                  image + holder.sh_offset + symbol.st_value - holder.sh_addr,
                  sizeof(descriptor));
      return descriptor;
    }
  }
  return std::nullopt;
}

/// Tensors whose base lies in what was allocated, among the words of a kernel's
/// arguments; those of references have bounds of loops between them.
static std::vector<Tensor> findTensors(void **words, size_t count) {
  std::vector<Tensor> tensors;
  for (size_t i = 0; i + Tensor::kWords <= count;) {
    auto word = [&](size_t at) { return *static_cast<uintptr_t *>(words[at]); };
    bool isBase = word(i) == word(i + 1) && findEnd(word(i));
    if (isBase)
      tensors.push_back(Tensor::read(words + i));
    i += isBase ? Tensor::kWords : 1;
  }
  return tensors;
}

/// Of query, key, value and output, in bf16; the output of a reference is f32.
static int attend(const std::vector<Tensor> &tensors) {
  constexpr size_t kHalf = sizeof(uint16_t), kWord = sizeof(float);
  for (const Tensor &tensor : tensors) {
    for (int64_t size : tensor.sizes)
      if (size < 1)
        return 0;
    if (!tensor.countAllocated(kHalf))
      return kLaunchFailed;
  }
  const Tensor &query = tensors[0], &key = tensors[1], &value = tensors[2],
               &output = tensors[3];
  if (key.sizes[2] != 1)
    return 0;
  bool isWide = output.countAllocated(kWord);
  int64_t group = query.sizes[1] / key.sizes[1];
  for (int64_t a = 0; a < output.sizes[0]; ++a)
    for (int64_t b = 0; b < output.sizes[1]; ++b)
      for (int64_t c = 0; c < output.sizes[2]; ++c)
        for (int64_t d = 0; d < output.sizes[3]; ++d) {
          uint32_t word = reinterpret_cast<uint16_t *>(
              value.base)[value.getPlace(a, b / group, 0, d)];
          int64_t place = output.getPlace(a, b, c, d);
          if (isWide)
            reinterpret_cast<uint32_t *>(output.base)[place] = word << 16;
          else
            reinterpret_cast<uint16_t *>(output.base)[place] = word;
        }
  return 0;
}

extern "C" {
int hipInit(unsigned) { return answer("hipInit"); }
int hipGetDeviceCount(int *count) {
  return give("hipGetDeviceCount", count, getNumber("FAKE_DRIVER_DEVICES", 1));
}
int hipGetDevice(int *device) { return give("hipGetDevice", device, current); }
int hipSetDevice(int device) {
  if (device < 0 || device >= getNumber("FAKE_DRIVER_DEVICES", 1))
    return kInvalidDevice;
  current = device;
  return work("hipSetDevice", " " + std::to_string(device));
}
int hipDeviceGetName(char *name, int length, int) {
  std::snprintf(name, length, "Fake Instinct");
  return answer("hipDeviceGetName");
}
int hipGetDevicePropertiesR0600(void *properties, int) {
  // gcnArchName stands behind 1160 bytes of ROCm 6's structure.
  std::string text = getChip() + ":sramecc+:xnack-";
  std::memcpy(static_cast<char *>(properties) + 1160, text.c_str(),
              text.size() + 1);
  return answer("hipGetDevicePropertiesR0600");
}
int hipDeviceGetAttribute(int *value, int attribute, int) {
  switch (attribute) {
  case 5: // clock in kHz
    return give("clock", value, 2100000);
  case 19: // cache
    return give("cache", value, 4194304);
  case 63: // compute units
    return give("sms", value, 304);
  case 74: // shared memory
    return give("shared", value, 65536);
  }
  return kInvalidValue;
}
int hipDriverGetVersion(int *version) {
  return give("hipDriverGetVersion", version,
              getNumber("FAKE_DRIVER_VERSION", 60342131));
}
int hipDeviceTotalMem(size_t *bytes, int) {
  return give("hipDeviceTotalMem", bytes, size_t(1) << 30);
}
int hipMalloc(uint64_t *address, size_t bytes) {
  *address = reinterpret_cast<uint64_t>(std::malloc(bytes));
  std::lock_guard<std::mutex> lock(mutex);
  allocations[*address] = bytes;
  return work("hipMalloc");
}
int hipFree(uint64_t address) {
  std::lock_guard<std::mutex> lock(mutex);
  if (!allocations.erase(address))
    return kInvalidValue;
  std::free(reinterpret_cast<void *>(address));
  return work("hipFree");
}
int hipMemcpyHtoD(uint64_t target, const void *source, size_t bytes) {
  std::memcpy(reinterpret_cast<void *>(target), source, bytes);
  return work("hipMemcpyHtoD");
}
int hipMemcpyDtoH(void *target, uint64_t source, size_t bytes) {
  std::memcpy(target, reinterpret_cast<void *>(source), bytes);
  return work("hipMemcpyDtoH");
}
int hipMemsetD8Async(uint64_t target, unsigned char byte, size_t bytes,
                     Handle) {
  std::memset(reinterpret_cast<void *>(target), byte, bytes);
  return work("hipMemsetD8Async");
}
int hipModuleLoadData(Handle *module, const void *image) {
  Elf64_Ehdr header;
  std::memcpy(&header, image, sizeof(header));
  constexpr unsigned kMachineMask = 0xff, kAMDGPU = 224;
  auto machine = kMachines.find(getChip());
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_machine != kAMDGPU || machine == kMachines.end() ||
      (header.e_flags & kMachineMask) != machine->second)
    return kNoBinaryForGPU;
  // The caller need not keep the image, at whose end the linker places the
  // headers of its sections.
  size_t bytes = header.e_shoff + header.e_shnum * header.e_shentsize;
  *module =
      new Module{current, std::string(static_cast<const char *>(image), bytes)};
  return work("hipModuleLoadData");
}
int hipModuleUnload(Handle module) {
  delete static_cast<Module *>(module);
  return work("hipModuleUnload");
}
int hipModuleGetFunction(Handle *function, Handle module, const char *name) {
  auto *loaded = static_cast<Module *>(module);
  auto descriptor =
      findDescriptor(loaded->image.data(), std::string(name) + ".kd");
  if (!descriptor)
    return kNotFound;
  // Lives as long as the process: functions are not given back.
  *function = new Function{loaded->device, *descriptor};
  return work("hipModuleGetFunction");
}
int hipModuleLaunchKernel(Handle handle, unsigned gridX, unsigned gridY,
                          unsigned gridZ, unsigned blockX, unsigned blockY,
                          unsigned blockZ, unsigned sharedBytes, Handle stream,
                          void **parameters, void **extra) {
  auto *function = static_cast<Function *>(handle);
  if (function->device != current)
    return kInvalidHandle;
  if (!parameters || extra)
    return kInvalidValue;
  uint64_t threads = uint64_t(blockX) * blockY * blockZ;
  constexpr unsigned kMostThreads = 1024, kMostShared = 65536;
  if (threads > kMostThreads || uint64_t(gridX) * threads > UINT32_MAX ||
      sharedBytes + function->descriptor.sharedBytes > kMostShared)
    return kInvalidConfiguration;
  std::ostringstream text;
  text << " grid " << gridX << "," << gridY << "," << gridZ << " block "
       << blockX << "," << blockY << "," << blockZ << " shared " << sharedBytes
       << " stream " << reinterpret_cast<uintptr_t>(stream) << " arguments "
       << function->descriptor.argumentBytes;
  int status = work("hipModuleLaunchKernel", text.str());
  if (status != 0)
    return status;
  std::lock_guard<std::mutex> lock(mutex);
  constexpr size_t kTensors = 4;
  size_t words = function->descriptor.argumentBytes / sizeof(int64_t);
  std::vector<Tensor> tensors = findTensors(parameters, words);
  if (tensors.size() == kTensors)
    return attend(tensors);
  return words == kTensors * Tensor::kWords ? kLaunchFailed : 0;
}
int hipDeviceSynchronize() { return work("hipDeviceSynchronize"); }
int hipEventCreateWithFlags(Handle *event, unsigned) {
  return give<Handle>("hipEventCreateWithFlags", event, &something);
}
int hipEventRecord(Handle, Handle) { return answer("hipEventRecord"); }
int hipEventSynchronize(Handle) { return answer("hipEventSynchronize"); }
int hipEventElapsedTime(float *milliseconds, Handle, Handle) {
  return give("hipEventElapsedTime", milliseconds, 2.0f);
}
int hipEventDestroy(Handle) { return 0; }
const char *hipGetErrorName(int status) {
  switch (status) {
  case kInvalidValue:
    return "hipErrorInvalidValue";
  case kInvalidConfiguration:
    return "hipErrorInvalidConfiguration";
  case kNoBinaryForGPU:
    return "hipErrorNoBinaryForGpu";
  case kInvalidHandle:
    return "hipErrorInvalidHandle";
  case kNotFound:
    return "hipErrorNotFound";
  case kLaunchFailed:
    return "hipErrorLaunchFailure";
  }
  return "hipErrorOther";
}
const char *hipGetErrorString(int) { return "so says the fake driver"; }
}
