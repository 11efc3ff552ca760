// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The C functions that compiled host code calls, and the context it runs in.
// Once its kernels are loaded, nothing here allocates memory of the host but
// for maps of tensors of more than four dimensions.

#include "attune-c/Host.h"
#include "attune/Runtime/CAPI.h"
#include "attune/Runtime/Launch.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

using namespace attune;
using llvm::Error;
using llvm::Expected;
using llvm::Twine;

struct AttuneContext {
  AttuneContext(Device &device, const AttuneMemory &memory)
      : device(device), memory(memory) {}

  Device &device;
  AttuneMemory memory;
  void *stream = nullptr;
  /// Of what failed first since attuneRuntimeBegin.
  std::optional<AttuneError> failure;
  /// By the address of the image's description, of which a program has one.
  llvm::DenseMap<const AttuneImage *, std::unique_ptr<Kernel>> kernels;
  llvm::SmallVector<void *> lent;

  void fail(Error error) {
    if (failure)
      return llvm::consumeError(std::move(error));
    report(std::move(error), &failure.emplace());
  }
  /// Keeps the error, if it is one.
  void take(Error error) {
    if (error)
      fail(std::move(error));
  }
  Expected<Kernel *> load(const AttuneImage &image);
};

Expected<Kernel *> AttuneContext::load(const AttuneImage &image) {
  auto known = kernels.find(&image);
  if (known != kernels.end())
    return known->second.get();
  auto kernel = device.loadKernel(
      {static_cast<const char *>(image.image), image.imageBytes}, image.kernel,
      image.sharedBytes);
  if (!kernel)
    return llvm::createStringError(
        Twine("kernel '") + image.kernel + "', compiled for " + image.chip +
        ", on a device with " + device.getInfo().chip + ": " +
        llvm::toString(kernel.takeError()));
  return (kernels[&image] = std::move(*kernel)).get();
}

AttuneContext *attuneRuntimeCreateContext(AttuneDevice *device,
                                          const AttuneMemory *memory) {
  return new AttuneContext(*device->device, memory ? *memory : AttuneMemory{});
}

void attuneRuntimeDestroyContext(AttuneContext *context) { delete context; }

void attuneRuntimeBegin(AttuneContext *context, void *stream) {
  context->stream = stream;
  context->failure.reset();
}

bool attuneRuntimeEnd(AttuneContext *context, AttuneError *error) {
  for (void *address : context->lent)
    context->memory.release(context->memory.user, address, context->stream);
  context->lent.clear();
  if (error && context->failure)
    *error = *context->failure;
  return !context->failure;
}

void attuneHostLaunch(AttuneContext *context, const AttuneImage *image,
                      const int64_t extents[6], int64_t sharedBytes,
                      void **parameters, size_t numParameters) {
  llvm::ArrayRef<int64_t> grid(extents, 3), block(extents + 3, 3);
  // Drivers refuse an empty grid; nothing is to be done then.
  if (context->failure || llvm::is_contained(grid, 0))
    return;
  auto kernel = context->load(*image);
  if (!kernel)
    return context->fail(kernel.takeError());
  LaunchShape shape;
  llvm::copy(grid, shape.grid.begin());
  llvm::copy(block, shape.block.begin());
  shape.sharedBytes = sharedBytes;
  shape.stream = context->stream;
  context->take(
      context->device.launch(**kernel, shape, {parameters, numParameters}));
}

void attuneHostEncodeTensorMap(AttuneContext *context, void *map, int64_t type,
                               int64_t rank, const void *descriptor,
                               const int64_t *box, int64_t swizzleBytes) {
  if (context->failure)
    return;
  // Allocated pointer, aligned pointer, offset, sizes, strides.
  auto *words = static_cast<const int64_t *>(descriptor);
  TensorShape shape;
  shape.type = static_cast<DataType>(type);
  shape.sizes.assign(words + 3, words + 3 + rank);
  shape.strides.assign(words + 3 + rank, words + 3 + 2 * rank);
  auto address =
      static_cast<DeviceAddress>(words[1]) + words[2] * getBytes(shape.type);
  auto encoded = encodeTensorMap(
      context->device, KernelArgument::buffer(address, std::move(shape)),
      {box, static_cast<size_t>(rank)}, swizzleBytes);
  if (!encoded)
    return context->fail(encoded.takeError());
  std::memcpy(map, encoded->data(), sizeof(TensorMap));
}

void *attuneHostAllocate(AttuneContext *context, int64_t bytes,
                         int64_t alignment) {
  if (context->failure)
    return nullptr;
  const AttuneMemory &memory = context->memory;
  if (!memory.allocate || !memory.release) {
    context->fail(
        llvm::createStringError("expects a context with memory, to allocate " +
                                Twine(bytes) + " bytes, but got one without"));
    return nullptr;
  }
  // An empty buffer needs an address too.
  void *address = memory.allocate(memory.user, std::max<int64_t>(bytes, 1),
                                  alignment, context->stream);
  if (address)
    context->lent.push_back(address);
  else
    context->fail(llvm::createStringError("failed to allocate " + Twine(bytes) +
                                          " bytes on the device"));
  return address;
}

void attuneHostRelease(AttuneContext *context, void *address) {
  auto *lent = llvm::find(context->lent, address);
  if (lent == context->lent.end())
    return;
  context->memory.release(context->memory.user, address, context->stream);
  context->lent.erase(lent);
}

void attuneHostFill(AttuneContext *context, void *address, int64_t bytes) {
  if (!context->failure)
    context->take(context->device.fill(reinterpret_cast<DeviceAddress>(address),
                                       /*byte=*/0, bytes, context->stream));
}

void attuneHostFail(AttuneContext *context, const char *message) {
  context->fail(llvm::createStringError(Twine(message)));
}
