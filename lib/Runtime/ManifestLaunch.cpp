// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Launches kernels from their manifests alone: checks what is passed, allocates
// what is not, and has the device encode tensor maps.

#include "attune/Runtime/Manifest.h"
#include "llvm/Support/MathExtras.h"

using namespace attune;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;
using llvm::Twine;

std::optional<int64_t>
ManifestProduct::evaluate(llvm::ArrayRef<KernelArgument> arguments) const {
  int64_t product = constant;
  for (const ManifestFactor &factor : factors) {
    int64_t size = llvm::divideCeilSigned(
        arguments[factor.argument].shape.sizes[factor.index], factor.per);
    size += factor.moreNumber;
    if (factor.moreArgument >= 0)
      size += arguments[factor.moreArgument].shape.sizes[factor.moreIndex];
    if (llvm::MulOverflow(product, size, product))
      return std::nullopt;
  }
  return product;
}

static std::string describe(const KernelArgument &value) {
  switch (value.kind) {
  case KernelArgument::Kind::Buffer:
    return value.shape.str();
  case KernelArgument::Kind::Scalar:
    return "a scalar " + value.shape.str();
  case KernelArgument::Kind::TensorMap:
    return "a tensor map";
  }
  llvm_unreachable("a kind of arguments that has no name");
}

/// Sizes and strides that the kernel takes for granted. No stride is used along
/// a dimension of one element, and none at all of a buffer without elements.
static Error checkCompiledIn(StringRef owner, const ManifestArgument &argument,
                             const TensorShape &shape) {
  auto refuse = [&](const Twine &what, int64_t known, size_t dim,
                    int64_t given) {
    return llvm::createStringError(owner + " expects '" + argument.name +
                                   "' to have " + what + Twine(known) +
                                   " elements in dimension " + Twine(dim) +
                                   ", but got " + Twine(given));
  };
  for (auto [dim, size] : llvm::enumerate(argument.sizes))
    if (size && *size != shape.sizes[dim])
      return refuse("", *size, dim, shape.sizes[dim]);
  if (llvm::is_contained(shape.sizes, 0))
    return Error::success();
  for (auto [dim, stride] : llvm::enumerate(argument.strides))
    if (stride && *stride != shape.strides[dim] && shape.sizes[dim] != 1)
      return refuse("a stride of ", *stride, dim, shape.strides[dim]);
  return Error::success();
}

Error attune::checkValue(StringRef owner, const ManifestArgument &argument,
                         const KernelArgument &value) {
  if (value.kind == argument.kind && value.shape.type == argument.type &&
      static_cast<int64_t>(value.shape.sizes.size()) == argument.rank)
    return checkCompiledIn(owner, argument, value.shape);
  return llvm::createStringError(
      owner + " expects for '" + argument.name + "' " +
      (argument.kind == KernelArgument::Kind::Scalar
           ? "a scalar"
           : "a tensor of rank " + std::to_string(argument.rank)) +
      " of " + getName(argument.type) + ", but got " + describe(value));
}

Expected<TensorShape>
attune::getWorkspaceShape(StringRef owner, const ManifestArgument &argument,
                          llvm::ArrayRef<KernelArgument> bound) {
  llvm::SmallVector<int64_t> sizes;
  for (const ManifestProduct &size : argument.workspace.sizes) {
    std::optional<int64_t> extent = size.evaluate(bound);
    if (!extent)
      return llvm::createStringError(owner + " expects a smaller problem: '" +
                                     argument.name +
                                     "' has 2^63 elements or more");
    sizes.push_back(*extent);
  }
  TensorShape shape = TensorShape::contiguous(argument.type, sizes);
  if (auto error = shape.check())
    return std::move(error);
  return shape;
}

Error attune::checkAlignment(StringRef owner, const ManifestArgument &argument,
                             DeviceAddress address) {
  if (address % argument.workspace.alignment == 0)
    return Error::success();
  return llvm::createStringError(owner + " expects '" + argument.name +
                                 "' at a multiple of " +
                                 Twine(argument.workspace.alignment) +
                                 " bytes, but got an address that is none");
}

static Expected<AllocatedWorkspace>
allocate(Device &device, StringRef owner, const ManifestArgument &argument,
         llvm::ArrayRef<KernelArgument> bound) {
  auto shape = getWorkspaceShape(owner, argument, bound);
  if (!shape)
    return shape.takeError();
  auto tensor = DeviceTensor::create(device, std::move(*shape));
  if (!tensor)
    return tensor.takeError();
  if (auto error = checkAlignment(owner, argument, (*tensor)->getAddress()))
    return std::move(error);
  if (argument.workspace.zero)
    if (auto error = (*tensor)->fill(0))
      return std::move(error);
  return AllocatedWorkspace{std::move(*tensor),
                            argument.workspace.zero &&
                                !argument.workspace.restored};
}

static Error zeroAgain(llvm::ArrayRef<AllocatedWorkspace> workspaces) {
  for (const AllocatedWorkspace &workspace : workspaces)
    if (workspace.zeroAgain)
      if (auto error = workspace.tensor->fill(0))
        return error;
  return Error::success();
}

/// Those of the arguments that `isPassed`, checked, at their places.
static Expected<std::vector<KernelArgument>>
bindPassed(StringRef owner, llvm::ArrayRef<ManifestArgument> arguments,
           llvm::ArrayRef<KernelArgument> values,
           llvm::function_ref<bool(const ManifestArgument &)> isPassed) {
  size_t expected = llvm::count_if(arguments, isPassed);
  if (values.size() != expected)
    return llvm::createStringError(owner + " expects " + Twine(expected) +
                                   " buffers and scalars, but got " +
                                   Twine(values.size()));
  std::vector<KernelArgument> bound(arguments.size());
  for (auto [argument, slot] : llvm::zip_equal(arguments, bound)) {
    if (!isPassed(argument))
      continue;
    if (auto error = checkValue(owner, argument, values.front()))
      return std::move(error);
    slot = values.front();
    values = values.drop_front();
  }
  return bound;
}

Expected<std::vector<KernelArgument>>
attune::bindValues(Device &device, StringRef owner,
                   llvm::ArrayRef<ManifestArgument> arguments,
                   llvm::ArrayRef<KernelArgument> values,
                   std::vector<AllocatedWorkspace> &workspaces) {
  auto bound = bindPassed(owner, arguments, values,
                          [](const ManifestArgument &argument) {
                            return !argument.isMap() && !argument.isWorkspace();
                          });
  if (!bound)
    return bound;
  for (auto [argument, slot] : llvm::zip_equal(arguments, *bound)) {
    if (!argument.isWorkspace())
      continue;
    auto workspace = allocate(device, owner, argument, *bound);
    if (!workspace)
      return workspace.takeError();
    slot = workspace->tensor->getArgument();
    workspaces.push_back(std::move(*workspace));
  }
  return bound;
}

Error PreparedLaunch::launch(Device &device, Kernel &kernel) {
  if (launched)
    if (auto error = zeroAgain(workspaces))
      return error;
  launched = true;
  // Drivers refuse an empty grid; nothing is to be done then.
  if (llvm::is_contained(shape.grid, 0))
    return Error::success();
  return device.launch(kernel, shape, arguments.getPointers());
}

Expected<PreparedLaunch>
Manifest::finish(Device &device, std::vector<KernelArgument> bound,
                 std::vector<AllocatedWorkspace> workspaces) const {
  for (auto [argument, slot] : llvm::zip_equal(arguments, bound)) {
    if (!argument.isMap())
      continue;
    auto map = encodeTensorMap(device, bound[argument.map.of], argument.map.box,
                               argument.map.swizzleBytes);
    if (!map)
      return llvm::createStringError(
          "kernel '" + kernel + "' has no '" + argument.name +
          "' of this tensor: " + llvm::toString(map.takeError()));
    slot = KernelArgument::tensorMap(*map);
  }
  LaunchShape shape;
  std::optional<int64_t> clusters = grid.evaluate(bound);
  if (!clusters || llvm::MulOverflow(*clusters, cluster, shape.grid[0]))
    return llvm::createStringError("kernel '" + kernel +
                                   "' expects a smaller problem: its grid "
                                   "has more than 2^63 workgroups");
  if (gridLimit)
    shape.grid[0] = std::min(shape.grid[0], *gridLimit);
  shape.block = block;
  shape.sharedBytes = sharedBytes;
  shape.startsEarly = startsEarly;
  return PreparedLaunch{shape, PackedArguments(bound), std::move(workspaces),
                        false};
}

Expected<PreparedLaunch>
Manifest::prepareLaunch(Device &device,
                        llvm::ArrayRef<KernelArgument> values) const {
  std::vector<AllocatedWorkspace> workspaces;
  auto bound = bindValues(device, "kernel '" + kernel + "'", arguments, values,
                          workspaces);
  if (!bound)
    return bound.takeError();
  return finish(device, std::move(*bound), std::move(workspaces));
}

Expected<PreparedLaunch>
Manifest::prepareWithWorkspaces(Device &device,
                                llvm::ArrayRef<KernelArgument> values) const {
  auto bound = bindPassed(
      "kernel '" + kernel + "'", arguments, values,
      [](const ManifestArgument &argument) { return !argument.isMap(); });
  if (!bound)
    return bound.takeError();
  return finish(device, std::move(*bound), {});
}

Expected<PreparedSequence>
PreparedSequence::create(Device &device, const LaunchSequence &sequence,
                         llvm::ArrayRef<Manifest> manifests,
                         llvm::ArrayRef<KernelArgument> passed) {
  std::string owner = "sequence '" + sequence.name + "'";
  if (manifests.size() != sequence.launches.size())
    return llvm::createStringError(
        owner + " expects the manifests of " + Twine(sequence.launches.size()) +
        " launches, but got " + Twine(manifests.size()));
  PreparedSequence prepared;
  auto values =
      bindValues(device, owner, sequence.values, passed, prepared.workspaces);
  if (!values)
    return values.takeError();
  for (auto [step, manifest] : llvm::zip_equal(sequence.launches, manifests)) {
    if (manifest.kernel != step.kernel)
      return llvm::createStringError(owner + " expects the manifest of '" +
                                     step.kernel + "', but got that of '" +
                                     manifest.kernel + "'");
    llvm::SmallVector<KernelArgument> arguments;
    for (int64_t number : step.arguments)
      arguments.push_back((*values)[number]);
    auto launch = manifest.prepareWithWorkspaces(device, arguments);
    if (!launch)
      return launch.takeError();
    prepared.launches.push_back(std::move(*launch));
  }
  return prepared;
}

Error PreparedSequence::launch(Device &device,
                               llvm::ArrayRef<Kernel *> kernels) {
  if (kernels.size() != launches.size())
    return llvm::createStringError(
        "expects the kernels of " + Twine(launches.size()) +
        " launches, but got " + Twine(kernels.size()));
  if (launched)
    if (auto error = zeroAgain(workspaces))
      return error;
  launched = true;
  for (auto [launch, kernel] : llvm::zip_equal(launches, kernels))
    if (auto error = launch.launch(device, *kernel))
      return error;
  return Error::success();
}
