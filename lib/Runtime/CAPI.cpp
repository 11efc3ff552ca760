// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The C functions that load and launch kernels.

#include "attune/Runtime/CAPI.h"
#include "attune/Runtime/Manifest.h"
#include "llvm/ADT/BitVector.h"
#include <cstdio>
#include <numeric>

using namespace attune;
using llvm::Error;
using llvm::Expected;

namespace {
/// One kernel of a launch.
struct Step {
  Manifest manifest;
  std::shared_ptr<Kernel> kernel;
  /// Numbers of values, for all of the kernel's arguments but tensor maps.
  std::vector<size_t> arguments;
};

struct StepLaunch {
  const Step &step;
  LaunchShape shape;
  PackedArguments arguments;
  llvm::SmallVector<void *> pointers;
};
} // namespace

struct AttuneKernel {
  Device &device;
  /// Who errors speak of.
  std::string owner;
  /// Of one kernel its arguments, else what the sequence has.
  std::vector<ManifestArgument> values;
  /// Numbers of those that are passed.
  std::vector<size_t> passed;
  std::vector<Step> steps;

  const ManifestArgument &getArgument(size_t pos) const {
    return values[passed[pos]];
  }
};

struct AttuneLaunch {
  const AttuneKernel &kernel;
  std::vector<KernelArgument> values;
  std::vector<StepLaunch> steps;
};

template <AttuneDataType c, DataType cpp>
static constexpr bool isSameNumber =
    static_cast<int>(c) == static_cast<int>(cpp);
static_assert(
    isSameNumber<AttuneDataTypeF16, DataType::F16> &&
        isSameNumber<AttuneDataTypeBF16, DataType::BF16> &&
        isSameNumber<AttuneDataTypeF32, DataType::F32> &&
        isSameNumber<AttuneDataTypeF64, DataType::F64> &&
        isSameNumber<AttuneDataTypeI1, DataType::I1> &&
        isSameNumber<AttuneDataTypeI8, DataType::I8> &&
        isSameNumber<AttuneDataTypeI16, DataType::I16> &&
        isSameNumber<AttuneDataTypeI32, DataType::I32> &&
        isSameNumber<AttuneDataTypeI64, DataType::I64> &&
        isSameNumber<AttuneDataTypeF8E4M3FN, DataType::F8E4M3FN> &&
        isSameNumber<AttuneDataTypeF8E5M2, DataType::F8E5M2> &&
        isSameNumber<AttuneDataTypeF8E4M3FNUZ, DataType::F8E4M3FNUZ> &&
        isSameNumber<AttuneDataTypeF8E5M2FNUZ, DataType::F8E5M2FNUZ>,
    "types have the same numbers in C");

void attune::report(Error error, AttuneError *target) {
  std::string text = llvm::toString(std::move(error));
  if (target)
    std::snprintf(target->text, sizeof(target->text), "%s", text.c_str());
}

/// Whether a handle is null, as one is whose making failed: an error.
static bool isNull(const void *handle, const char *what, AttuneError *error) {
  if (!handle)
    report(llvm::createStringError(llvm::Twine("expects a ") + what +
                                   ", but got null"),
           error);
  return !handle;
}

AttuneDevice *attuneRuntimeOpenDevice(const char *kind, int ordinal,
                                      AttuneError *error) {
  auto device = openDevice(kind, ordinal);
  if (device)
    return new AttuneDevice{std::move(*device)};
  report(device.takeError(), error);
  return nullptr;
}

void attuneRuntimeCloseDevice(AttuneDevice *device) { delete device; }

const char *attuneRuntimeGetChip(const AttuneDevice *device) {
  return device->device->getInfo().chip.c_str();
}

uint64_t attuneRuntimeAllocateZeros(AttuneDevice *device, size_t bytes,
                                    AttuneError *error) {
  if (isNull(device, "device", error))
    return 0;
  constexpr auto limit = std::numeric_limits<int64_t>::max();
  if (bytes > static_cast<size_t>(limit)) {
    report(llvm::createStringError("expects at most " + llvm::Twine(limit) +
                                   " bytes, but got " + llvm::Twine(bytes)),
           error);
    return 0;
  }
  Device &owner = *device->device;
  auto size = static_cast<int64_t>(std::max<size_t>(bytes, 1));
  auto address = owner.allocate(size);
  if (!address) {
    report(address.takeError(), error);
    return 0;
  }
  Error failed = owner.fill(*address, 0, size);
  if (!failed)
    failed = owner.synchronize();
  if (!failed)
    return *address;
  report(llvm::joinErrors(std::move(failed), owner.release(*address)), error);
  return 0;
}

bool attuneRuntimeFree(AttuneDevice *device, uint64_t address,
                       AttuneError *error) {
  if (isNull(device, "device", error))
    return false;
  Error failed = device->device->release(address);
  if (!failed)
    return true;
  report(std::move(failed), error);
  return false;
}

AttuneKernel *attuneRuntimeLoadKernel(AttuneDevice *device, const void *image,
                                      size_t imageBytes, const char *manifest,
                                      size_t manifestBytes,
                                      AttuneError *error) {
  if (isNull(device, "device", error))
    return nullptr;
  auto parsed = Manifest::parse({manifest, manifestBytes});
  if (!parsed) {
    report(parsed.takeError(), error);
    return nullptr;
  }
  auto kernel =
      device->device->loadKernel({static_cast<const char *>(image), imageBytes},
                                 parsed->kernel, parsed->sharedBytes);
  if (!kernel) {
    report(kernel.takeError(), error);
    return nullptr;
  }
  std::vector<size_t> passed;
  for (size_t i = 0; i < parsed->arguments.size(); ++i)
    if (!parsed->arguments[i].isMap())
      passed.push_back(i);
  return new AttuneKernel{
      *device->device,
      "kernel '" + parsed->kernel + "'",
      parsed->arguments,
      passed,
      {Step{std::move(*parsed), std::move(*kernel), passed}}};
}

static Expected<std::unique_ptr<AttuneKernel>>
makeSequence(llvm::ArrayRef<const AttuneKernel *> kernels,
             const LaunchSequence &sequence) {
  std::string owner = "sequence '" + sequence.name + "'";
  if (kernels.empty())
    return llvm::createStringError(owner + " expects kernels, but got none");
  Device &device = kernels.front()->device;
  for (const AttuneKernel *kernel : kernels)
    if (&kernel->device != &device)
      return llvm::createStringError(owner +
                                     " expects all kernels on one device");
  std::vector<Step> steps;
  for (const LaunchSequence::Step &step : sequence.launches) {
    const Step *found = nullptr;
    for (const AttuneKernel *kernel : kernels)
      for (const Step &loaded : kernel->steps)
        if (loaded.manifest.kernel == step.kernel)
          found = &loaded;
    if (!found)
      return llvm::createStringError(owner + " expects the kernel '" +
                                     step.kernel +
                                     "', but got none of this name");
    steps.push_back({found->manifest,
                     found->kernel,
                     {step.arguments.begin(), step.arguments.end()}});
  }
  std::vector<size_t> passed(sequence.values.size());
  std::iota(passed.begin(), passed.end(), 0);
  return std::make_unique<AttuneKernel>(
      AttuneKernel{device, std::move(owner), sequence.values, std::move(passed),
                   std::move(steps)});
}

AttuneKernel *attuneRuntimeLoadSequence(const AttuneKernel *const *kernels,
                                        size_t numKernels, const char *sequence,
                                        size_t sequenceBytes,
                                        AttuneError *error) {
  for (size_t i = 0; i < numKernels; ++i)
    if (isNull(kernels[i], "kernel", error))
      return nullptr;
  auto parsed = LaunchSequence::parse({sequence, sequenceBytes});
  if (!parsed) {
    report(parsed.takeError(), error);
    return nullptr;
  }
  auto made = makeSequence({kernels, numKernels}, *parsed);
  if (made)
    return made->release();
  report(made.takeError(), error);
  return nullptr;
}

void attuneRuntimeUnloadKernel(AttuneKernel *kernel) { delete kernel; }

size_t attuneRuntimeGetNumArguments(const AttuneKernel *kernel) {
  return kernel->passed.size();
}

static AttuneAccess getAccess(const ManifestArgument &argument) {
  switch (argument.access) {
  case ManifestArgument::Access::Read:
    return AttuneAccessRead;
  case ManifestArgument::Access::Write:
    return AttuneAccessWrite;
  case ManifestArgument::Access::ReadWrite:
    return AttuneAccessReadWrite;
  case ManifestArgument::Access::Workspace:
    return AttuneAccessWorkspace;
  }
  llvm_unreachable("an access that C has no name for");
}

AttuneArgumentInfo attuneRuntimeGetArgument(const AttuneKernel *kernel,
                                            size_t pos) {
  const ManifestArgument &argument = kernel->getArgument(pos);
  AttuneArgumentInfo info{};
  info.name = argument.name.c_str();
  info.type = static_cast<AttuneDataType>(argument.type);
  info.rank = static_cast<size_t>(argument.rank);
  info.isScalar = argument.kind == KernelArgument::Kind::Scalar;
  info.access = getAccess(argument);
  info.alignment = 1;
  if (!argument.isWorkspace())
    return info;
  info.alignment = argument.workspace.alignment;
  if (argument.workspace.zero)
    info.zero =
        argument.workspace.restored ? AttuneZeroOnce : AttuneZeroEachLaunch;
  return info;
}

static TensorShape makeShape(const AttuneArgument &given) {
  auto type = static_cast<DataType>(given.type);
  llvm::ArrayRef<int64_t> sizes(given.sizes, given.rank);
  TensorShape shape = TensorShape::contiguous(type, sizes);
  if (given.strides)
    shape.strides.assign(given.strides, given.strides + given.rank);
  return shape;
}

/// All values at their places; those of tensor maps, and
/// the shapes of workspaces, are still empty.
static Expected<std::vector<KernelArgument>>
readArguments(const AttuneKernel &kernel,
              llvm::ArrayRef<AttuneArgument> given) {
  const std::string &owner = kernel.owner;
  if (given.size() != kernel.passed.size())
    return llvm::createStringError(
        owner + " expects " + llvm::Twine(kernel.passed.size()) +
        " arguments, but got " + llvm::Twine(given.size()));
  std::vector<KernelArgument> read(kernel.values.size());
  for (size_t pos = 0; pos < given.size(); ++pos) {
    const ManifestArgument &argument = kernel.getArgument(pos);
    KernelArgument &slot = read[kernel.passed[pos]];
    if (given[pos].type > AttuneDataTypeF8E5M2FNUZ)
      return llvm::createStringError(owner + " expects for '" + argument.name +
                                     "' a data type, but got the number " +
                                     llvm::Twine(given[pos].type));
    if (argument.isWorkspace()) {
      slot = KernelArgument::buffer(given[pos].address, TensorShape());
    } else if (argument.kind == KernelArgument::Kind::Scalar) {
      slot = KernelArgument::scalar(static_cast<DataType>(given[pos].type),
                                    given[pos].bits);
    } else {
      if (given[pos].rank != 0 && !given[pos].sizes)
        return llvm::createStringError(owner + " expects sizes for '" +
                                       argument.name + "', but got none");
      slot = KernelArgument::buffer(given[pos].address, makeShape(given[pos]));
      if (auto error = checkValue(owner, argument, slot))
        return std::move(error);
      if (auto error = slot.shape.check())
        return llvm::createStringError(
            owner + " cannot take this '" + argument.name +
            "': " + llvm::toString(std::move(error)));
    }
  }
  return read;
}

int64_t attuneRuntimeGetWorkspaceBytes(const AttuneKernel *kernel,
                                       const AttuneArgument *arguments,
                                       size_t numArguments, size_t pos,
                                       AttuneError *error) {
  if (isNull(kernel, "kernel", error))
    return -1;
  auto read = readArguments(*kernel, {arguments, numArguments});
  if (!read) {
    report(read.takeError(), error);
    return -1;
  }
  auto shape =
      getWorkspaceShape(kernel->owner, kernel->getArgument(pos), *read);
  if (shape)
    return shape->getSpanBytes();
  report(shape.takeError(), error);
  return -1;
}

/// All values, workspaces with their shapes.
static Expected<std::vector<KernelArgument>>
makeValues(const AttuneKernel &kernel, llvm::ArrayRef<AttuneArgument> given) {
  auto read = readArguments(kernel, given);
  if (!read)
    return read;
  for (auto [argument, value] : llvm::zip_equal(kernel.values, *read)) {
    if (!argument.isWorkspace())
      continue;
    auto shape = getWorkspaceShape(kernel.owner, argument, *read);
    if (!shape)
      return shape.takeError();
    value.shape = std::move(*shape);
    if (auto error = checkAlignment(kernel.owner, argument, value.address))
      return std::move(error);
  }
  return read;
}

static Expected<std::unique_ptr<AttuneLaunch>>
prepare(const AttuneKernel &kernel, llvm::ArrayRef<AttuneArgument> given) {
  auto values = makeValues(kernel, given);
  if (!values)
    return values.takeError();
  auto launch = std::make_unique<AttuneLaunch>(
      AttuneLaunch{kernel, std::move(*values), {}});
  for (const Step &step : kernel.steps) {
    llvm::SmallVector<KernelArgument> arguments;
    for (size_t number : step.arguments)
      arguments.push_back(launch->values[number]);
    auto prepared =
        step.manifest.prepareWithWorkspaces(kernel.device, arguments);
    if (!prepared)
      return prepared.takeError();
    launch->steps.push_back(
        {step, prepared->shape, std::move(prepared->arguments), {}});
  }
  // Packed arguments move no more.
  for (StepLaunch &step : launch->steps)
    step.pointers = step.arguments.getPointers();
  return launch;
}

AttuneLaunch *attuneRuntimePrepare(const AttuneKernel *kernel,
                                   const AttuneArgument *arguments,
                                   size_t numArguments, AttuneError *error) {
  if (isNull(kernel, "kernel", error))
    return nullptr;
  auto prepared = prepare(*kernel, {arguments, numArguments});
  if (prepared)
    return prepared->release();
  report(prepared.takeError(), error);
  return nullptr;
}

void attuneRuntimeReleaseLaunch(AttuneLaunch *launch) { delete launch; }

/// Writes parameters of a step that are buffers which moved, or maps of these.
static Error moveStep(StepLaunch &launch, AttuneLaunch &whole,
                      const llvm::BitVector &moved) {
  llvm::ArrayRef<ManifestArgument> arguments = launch.step.manifest.arguments;
  // Of each argument but maps the value, by the argument's number.
  llvm::SmallVector<size_t> numbers(arguments.size());
  auto next = launch.step.arguments.begin();
  for (auto [argument, number] : llvm::zip_equal(arguments, numbers))
    if (!argument.isMap())
      number = *next++;
  void *const *parameter = launch.pointers.begin();
  for (auto [argument, number] : llvm::zip_equal(arguments, numbers)) {
    if (argument.isMap())
      number = numbers[argument.map.of];
    const KernelArgument &value = whole.values[number];
    if (argument.isMap() && moved[number]) {
      auto map = encodeTensorMap(whole.kernel.device, value, argument.map.box,
                                 argument.map.swizzleBytes);
      if (!map)
        return map.takeError();
      *static_cast<TensorMap *>(*parameter) = *map;
    } else if (moved[number]) { // where it was allocated, and where it starts
      for (size_t i = 0; i < 2; ++i)
        *static_cast<uint64_t *>(parameter[i]) = value.address;
    }
    parameter += argument.isMap() ? 1 : PackedArguments::countParameters(value);
  }
  return Error::success();
}

static Error move(AttuneLaunch &launch, llvm::ArrayRef<uint64_t> addresses) {
  const AttuneKernel &kernel = launch.kernel;
  if (addresses.size() != kernel.passed.size())
    return llvm::createStringError(
        kernel.owner + " expects " + llvm::Twine(kernel.passed.size()) +
        " addresses, but got " + llvm::Twine(addresses.size()));
  for (auto [number, address] : llvm::zip_equal(kernel.passed, addresses))
    if (kernel.values[number].isWorkspace())
      if (Error error =
              checkAlignment(kernel.owner, kernel.values[number], address))
        return error;
  llvm::BitVector moved(launch.values.size());
  for (auto [number, address] : llvm::zip_equal(kernel.passed, addresses)) {
    KernelArgument &value = launch.values[number];
    if (value.kind == KernelArgument::Kind::Scalar || value.address == address)
      continue;
    value.address = address;
    moved.set(number);
  }
  if (moved.none())
    return Error::success();
  for (StepLaunch &step : launch.steps)
    if (Error error = moveStep(step, launch, moved)) {
      // Nobody knows which parameters were written.
      for (unsigned number : moved.set_bits())
        launch.values[number].address = ~DeviceAddress(0);
      return error;
    }
  return Error::success();
}

bool attuneRuntimeMoveLaunch(AttuneLaunch *launch, const uint64_t *addresses,
                             size_t numAddresses, AttuneError *error) {
  if (isNull(launch, "launch", error))
    return false;
  Error failure = move(*launch, {addresses, numAddresses});
  if (!failure)
    return true;
  report(std::move(failure), error);
  return false;
}

bool attuneRuntimeLaunch(const AttuneLaunch *launch, void *stream,
                         AttuneError *error) {
  if (isNull(launch, "launch", error))
    return false;
  for (const StepLaunch &step : launch->steps) {
    LaunchShape shape = step.shape;
    shape.stream = stream;
    // Drivers refuse an empty grid; nothing is to be done then.
    if (llvm::is_contained(shape.grid, 0))
      continue;
    if (Error failure = launch->kernel.device.launch(*step.step.kernel, shape,
                                                     step.pointers)) {
      report(std::move(failure), error);
      return false;
    }
  }
  return true;
}
