// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "KnownCalls.h"
#include "Bindings.h"
#include "attune-c/Target.h"
#include <cstring>
#include <dlfcn.h>

namespace nb = nanobind;
using namespace attune;
using namespace attune::python;

/// As `attention` calls them.
static constexpr std::string_view kLayouts[] = {"bshd", "bhsd"};

bool Options::setLayout(std::string_view name) {
  const auto *found = std::find(std::begin(kLayouts), std::end(kLayouts), name);
  layout = static_cast<int32_t>(found - std::begin(kLayouts));
  return found != std::end(kLayouts);
}

bool Options::setChip(std::string_view name) {
  for (intptr_t i = 0; i < attuneGetNumChips(); ++i) {
    MlirStringRef known = attuneGetChipName(i);
    if (name == std::string_view(known.data, known.length)) {
      chip = static_cast<int32_t>(i + 1);
      return true;
    }
  }
  return false;
}

static int64_t toBits(double number) {
  int64_t bits;
  std::memcpy(&bits, &number, sizeof(bits));
  return bits;
}

Key::Key(const Options &options) {
  add(static_cast<int64_t>(options.kind) << 32 | options.isCausal |
      options.hasLse << 1 | options.hasWindow << 2 | options.hasSoftcap << 3 |
      options.hasScale << 4 | options.layout << 8 | options.chip << 16);
  add(options.window[0] << 32 | static_cast<uint32_t>(options.window[1]));
  add(toBits(options.softcap));
  add(toBits(options.scale));
  add(toBits(options.dropout));
  add(int64_t(options.longest[0]) << 32 | uint32_t(options.longest[1]));
}

bool Key::addTensor(const View &view) {
  if (view.rank > static_cast<int32_t>(kMaxRank))
    return false;
  add(int64_t(view.type) << 48 | int64_t(view.deviceType) << 32 |
      uint32_t(view.deviceNumber));
  add(static_cast<int64_t>(view.getAddress() % 16) << 8 | view.rank);
  for (int32_t dim = 0; dim < view.rank; ++dim) {
    add(view.sizes[dim]);
    add(view.sizes[dim] > 1 ? view.strides[dim] : 0);
  }
  return true;
}

static Call::Memory makeMemory(size_t place, uint8_t code, uint8_t bits,
                               std::vector<int64_t> sizes, uint64_t alignment) {
  std::vector<int64_t> strides = makeStrides(sizes);
  return {place, code, bits, std::move(sizes), std::move(strides), alignment};
}

std::shared_ptr<Call> Call::make(std::shared_ptr<Kernel> kernel,
                                 const std::vector<Tensor> &tensors,
                                 std::vector<size_t> places,
                                 const std::vector<size_t> &results,
                                 bool isPacked) {
  std::shared_ptr<Call> call(new Call());
  std::vector<bool> isGiven(tensors.size());
  for (size_t place : places)
    isGiven.at(place) = true;
  for (size_t place : results) {
    isGiven.at(place) = true;
    const Tensor &like = tensors[place];
    call->results.push_back(makeMemory(
        place, static_cast<uint8_t>(like.code), static_cast<uint8_t>(like.bits),
        {like.sizes.begin() + isPacked, like.sizes.end()},
        /*alignment=*/1));
  }
  for (size_t i = 0; i < tensors.size(); ++i) {
    AttuneArgumentInfo info = kernel->getArgument(i);
    if (!isGiven[i] && (info.access != AttuneAccessWorkspace ||
                        info.zero == AttuneZeroEachLaunch))
      return nullptr;
    if (!isGiven[i] && info.zero == AttuneZeroNever)
      call->workspaces.push_back(
          makeMemory(i, kUInt, /*bits=*/8,
                     {kernel->getWorkspaceBytes(tensors, i) + info.alignment},
                     static_cast<uint64_t>(info.alignment)));
    else if (!isGiven[i])
      call->kept.push_back(tensors[i].getOwner());
  }
  if (call->results.size() + call->workspaces.size() > kMaxMade)
    return nullptr;
  std::vector<AttuneArgument> arguments;
  for (size_t i = 0; i < tensors.size(); ++i) {
    arguments.push_back(tensors[i].getArgument(kernel->getArgument(i).access ==
                                               AttuneAccessWorkspace));
    call->places.push_back(tensors[i].address);
  }
  AttuneError error = {};
  call->prepared = runtime::prepare(kernel->getHandle(), arguments, error);
  if (!call->prepared)
    return nullptr;
  call->kernel = std::move(kernel);
  call->inputs = std::move(places);
  return call;
}

Call::~Call() {
  if (kept.empty())
    return;
  nb::gil_scoped_acquire held;
  kept.clear();
}

bool Call::launch(const Addresses &addresses, void *stream,
                  AttuneError &error) {
  std::lock_guard<std::mutex> lock(mutex);
  const uint64_t *address = addresses.begin();
  for (size_t place : inputs)
    places[place] = *address++;
  for (const std::vector<Memory> *memories : {&results, &workspaces})
    for (const Memory &memory : *memories)
      places[memory.place] = (*address++ + memory.alignment - 1) /
                             memory.alignment * memory.alignment;
  return runtime::move(prepared, places, error) &&
         runtime::launch(prepared, stream, error);
}

KnownCalls &KnownCalls::get() {
  // Kernels are kept to the end of the process.
  static auto *calls = new KnownCalls();
  return *calls;
}

std::shared_ptr<Call> KnownCalls::find(const Key &key) {
  std::lock_guard<std::mutex> lock(mutex);
  auto found = calls.find(key);
  return found == calls.end() ? nullptr : found->second;
}

void KnownCalls::add(const Key &key, std::shared_ptr<Call> call) {
  Calls forgotten; // without the lock, for it may need the interpreter's
  std::lock_guard<std::mutex> lock(mutex);
  if (calls.size() >= kMaxCalls)
    forgotten.swap(calls);
  calls[key].swap(call);
}

void KnownCalls::clear() {
  Calls forgotten;
  std::lock_guard<std::mutex> lock(mutex);
  forgotten.swap(calls);
}

std::optional<uint64_t> attune::python::getCapture(int32_t deviceType,
                                                   void *stream) {
  if (deviceType == kDeviceCPU)
    return 0;
  // What else it would tell is not asked for.
  using Query = int (*)(void *stream, int *status, unsigned long long *number,
                        void *, void *, void *);
  auto find = [](const char *library, const char *name) {
    void *driver = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
    return driver ? reinterpret_cast<Query>(dlsym(driver, name)) : nullptr;
  };
  static const Query cuda = find("libcuda.so.1", "cuStreamGetCaptureInfo_v2");
  static const Query rocm =
      find("libamdhip64.so", "hipStreamGetCaptureInfo_v2");
  Query query = deviceType == kDeviceCUDA ? cuda : rocm;
  constexpr int kNone = 0, kActive = 1;
  int status = kNone;
  unsigned long long number = 0;
  if (!query || query(stream, &status, &number, nullptr, nullptr, nullptr) != 0)
    return std::nullopt;
  if (status == kNone)
    return 0;
  return status == kActive && number != 0 ? std::optional<uint64_t>(number)
                                          : std::nullopt;
}
