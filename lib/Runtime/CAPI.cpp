// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The C functions that load and launch kernels.

#include "attune/Runtime/CAPI.h"
#include "attune/Runtime/Manifest.h"
#include <cstdio>

using namespace attune;
using llvm::Error;
using llvm::Expected;

struct AttuneKernel {
  Device &device;
  Manifest manifest;
  std::unique_ptr<Kernel> kernel;
  /// Numbers in the manifest of the arguments that are passed.
  std::vector<size_t> passed;

  /// Who errors speak of.
  std::string describe() const { return "kernel '" + manifest.kernel + "'"; }
  const ManifestArgument &getArgument(size_t pos) const {
    return manifest.arguments[passed[pos]];
  }
};

struct AttuneLaunch {
  const AttuneKernel &kernel;
  LaunchShape shape;
  PackedArguments arguments;
  llvm::SmallVector<void *> pointers;
};

template <AttuneDataType c, DataType cpp>
static constexpr bool isSameNumber =
    static_cast<int>(c) == static_cast<int>(cpp);
static_assert(isSameNumber<AttuneDataTypeF16, DataType::F16> &&
                  isSameNumber<AttuneDataTypeBF16, DataType::BF16> &&
                  isSameNumber<AttuneDataTypeF32, DataType::F32> &&
                  isSameNumber<AttuneDataTypeF64, DataType::F64> &&
                  isSameNumber<AttuneDataTypeI1, DataType::I1> &&
                  isSameNumber<AttuneDataTypeI8, DataType::I8> &&
                  isSameNumber<AttuneDataTypeI16, DataType::I16> &&
                  isSameNumber<AttuneDataTypeI32, DataType::I32> &&
                  isSameNumber<AttuneDataTypeI64, DataType::I64>,
              "types have the same numbers in C");

void attune::report(Error error, AttuneError *target) {
  std::string text = llvm::toString(std::move(error));
  if (target)
    std::snprintf(target->text, sizeof(target->text), "%s", text.c_str());
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

AttuneKernel *attuneRuntimeLoadKernel(AttuneDevice *device, const void *image,
                                      size_t imageBytes, const char *manifest,
                                      size_t manifestBytes,
                                      AttuneError *error) {
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
  return new AttuneKernel{*device->device, std::move(*parsed),
                          std::move(*kernel), std::move(passed)};
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

/// All arguments at their places in the manifest; those of tensor maps, and
/// the shapes of workspaces, are still empty.
static Expected<std::vector<KernelArgument>>
readArguments(const AttuneKernel &kernel,
              llvm::ArrayRef<AttuneArgument> given) {
  std::string owner = kernel.describe();
  if (given.size() != kernel.passed.size())
    return llvm::createStringError(
        owner + " expects " + llvm::Twine(kernel.passed.size()) +
        " arguments, but got " + llvm::Twine(given.size()));
  std::vector<KernelArgument> read(kernel.manifest.arguments.size());
  for (size_t pos = 0; pos < given.size(); ++pos) {
    const ManifestArgument &argument = kernel.getArgument(pos);
    KernelArgument &slot = read[kernel.passed[pos]];
    if (given[pos].type > AttuneDataTypeI64)
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
  auto read = readArguments(*kernel, {arguments, numArguments});
  if (!read) {
    report(read.takeError(), error);
    return -1;
  }
  auto shape =
      getWorkspaceShape(kernel->describe(), kernel->getArgument(pos), *read);
  if (shape)
    return shape->getSpanBytes();
  report(shape.takeError(), error);
  return -1;
}

/// The values that the manifest prepares a launch with, workspaces included.
static Expected<llvm::SmallVector<KernelArgument>>
makeValues(const AttuneKernel &kernel, llvm::ArrayRef<AttuneArgument> given) {
  auto read = readArguments(kernel, given);
  if (!read)
    return read.takeError();
  llvm::SmallVector<KernelArgument> values;
  for (size_t pos = 0; pos < given.size(); ++pos) {
    const ManifestArgument &argument = kernel.getArgument(pos);
    KernelArgument value = (*read)[kernel.passed[pos]];
    if (argument.isWorkspace()) {
      auto shape = getWorkspaceShape(kernel.describe(), argument, *read);
      if (!shape)
        return shape.takeError();
      value.shape = std::move(*shape);
      if (auto error =
              checkAlignment(kernel.describe(), argument, value.address))
        return std::move(error);
    }
    values.push_back(std::move(value));
  }
  return values;
}

AttuneLaunch *attuneRuntimePrepare(const AttuneKernel *kernel,
                                   const AttuneArgument *arguments,
                                   size_t numArguments, AttuneError *error) {
  auto values = makeValues(*kernel, {arguments, numArguments});
  if (!values) {
    report(values.takeError(), error);
    return nullptr;
  }
  auto prepared =
      kernel->manifest.prepareWithWorkspaces(kernel->device, *values);
  if (!prepared) {
    report(prepared.takeError(), error);
    return nullptr;
  }
  auto *launch = new AttuneLaunch{
      *kernel, prepared->shape, std::move(prepared->arguments), {}};
  launch->pointers = launch->arguments.getPointers();
  return launch;
}

void attuneRuntimeReleaseLaunch(AttuneLaunch *launch) { delete launch; }

bool attuneRuntimeLaunch(const AttuneLaunch *launch, void *stream,
                         AttuneError *error) {
  LaunchShape shape = launch->shape;
  shape.stream = stream;
  // Drivers refuse an empty grid; nothing is to be done then.
  if (llvm::is_contained(shape.grid, 0))
    return true;
  Error failure = launch->kernel.device.launch(*launch->kernel.kernel, shape,
                                               launch->pointers);
  if (!failure)
    return true;
  report(std::move(failure), error);
  return false;
}
