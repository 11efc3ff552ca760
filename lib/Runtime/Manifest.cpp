// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads and writes manifests, and checks arguments against them.

#include "attune/Runtime/Manifest.h"
#include "llvm/Support/MathExtras.h"

using namespace attune;
using llvm::Expected;
using llvm::StringRef;
using llvm::Twine;
using llvm::json::Object;
using llvm::json::Path;
using llvm::json::Value;

/// By ManifestArgument::Access.
static constexpr llvm::StringLiteral kAccessNames[] = {"read", "write",
                                                       "workspace"};

namespace attune {
static bool fromJSON(llvm::json::ObjectMapper &map, ManifestTensorMap &result,
                     Path path) {
  if (!map.map("of", result.of) || !map.map("box", result.box) ||
      !map.map("swizzle", result.swizzleBytes))
    return false;
  if (llvm::any_of(result.box, [](int64_t size) { return size < 1; })) {
    path.field("box").report("expected sizes of at least 1");
    return false;
  }
  if (!llvm::is_contained({0, 32, 64, 128}, result.swizzleBytes)) {
    path.field("swizzle").report("expected 0, 32, 64 or 128");
    return false;
  }
  return true;
}

static bool fromJSON(const Value &value, ManifestArgument &argument,
                     Path path) {
  llvm::json::ObjectMapper map(value, path);
  std::string type, access = "read";
  bool isScalar = false;
  if (!map || !map.map("name", argument.name) || !map.map("type", type) ||
      !map.map("rank", argument.rank) || !map.mapOptional("scalar", isScalar) ||
      !map.mapOptional("access", access))
    return false;
  if (type == kTensorMapTypeName) {
    argument.kind = KernelArgument::Kind::TensorMap;
    if (!fromJSON(map, argument.map, path))
      return false;
  } else if (std::optional<DataType> parsed = parseDataType(type)) {
    argument.kind =
        isScalar ? KernelArgument::Kind::Scalar : KernelArgument::Kind::Buffer;
    argument.type = *parsed;
  } else {
    path.field("type").report(
        "expected tensor_map or an element type such as bf16 or i32");
    return false;
  }
  if (argument.rank < 0 ||
      (argument.kind != KernelArgument::Kind::Buffer && argument.rank != 0)) {
    path.field("rank").report(
        "expected at least 0, and 0 for a scalar or a tensor map");
    return false;
  }
  auto *known = llvm::find(kAccessNames, access);
  if (known == std::end(kAccessNames)) {
    path.field("access").report("expected read, write or workspace");
    return false;
  }
  argument.access =
      static_cast<ManifestArgument::Access>(known - std::begin(kAccessNames));
  return true;
}

static bool fromJSON(const Value &value, ManifestGridFactor &factor,
                     Path path) {
  llvm::json::ObjectMapper map(value, path);
  if (!map || !map.map("argument", factor.argument) ||
      !map.map("index", factor.index) || !map.map("per", factor.per))
    return false;
  if (factor.per >= 1)
    return true;
  path.field("per").report("expected at least 1");
  return false;
}
} // namespace attune

/// What only all keys together can show to be wrong.
static std::optional<llvm::StringLiteral>
findContradiction(const Manifest &manifest, llvm::ArrayRef<int64_t> block) {
  if (block.size() != 3 ||
      llvm::any_of(block, [](int64_t extent) { return extent < 1; }))
    return llvm::StringLiteral("expected three extents of at least 1 in block");
  if (manifest.gridLimit && *manifest.gridLimit < 1)
    return llvm::StringLiteral("expected at least 1 in grid_limit");
  if (manifest.cluster < 1)
    return llvm::StringLiteral("expected at least 1 in cluster");
  if (manifest.gridLimit && *manifest.gridLimit % manifest.cluster != 0)
    return llvm::StringLiteral("expected a multiple of cluster in grid_limit");
  if (manifest.sharedBytes < 0)
    return llvm::StringLiteral("expected at least 0 shared_bytes");
  for (const ManifestArgument &argument : manifest.arguments) {
    if (argument.kind != KernelArgument::Kind::TensorMap)
      continue;
    const ManifestTensorMap &map = argument.map;
    if (map.of < 0 ||
        map.of >= static_cast<int64_t>(manifest.arguments.size()) ||
        manifest.arguments[map.of].kind != KernelArgument::Kind::Buffer)
      return llvm::StringLiteral(
          "expected the number of a buffer as what a tensor_map is of");
    if (static_cast<int64_t>(map.box.size()) != manifest.arguments[map.of].rank)
      return llvm::StringLiteral(
          "expected a size for each dimension of the buffer in box");
  }
  for (const ManifestGridFactor &factor : manifest.grid) {
    if (factor.argument < 0 ||
        factor.argument >= static_cast<int64_t>(manifest.arguments.size()))
      return llvm::StringLiteral("expected the number of an argument in grid");
    if (factor.index < 0 ||
        factor.index >= manifest.arguments[factor.argument].rank)
      return llvm::StringLiteral(
          "expected the number of one of the argument's dimensions in grid");
  }
  return std::nullopt;
}

Expected<Manifest> Manifest::fromJSON(const Value &value) {
  Path::Root root("manifest");
  Path path(root);
  llvm::json::ObjectMapper map(value, path);
  Manifest manifest;
  std::vector<int64_t> block;
  if (!map || !map.map("kernel", manifest.kernel) ||
      !map.map("chip", manifest.chip) ||
      !map.map("arguments", manifest.arguments) ||
      !map.map("grid", manifest.grid) || !map.map("block", block) ||
      !map.mapOptional("cluster", manifest.cluster) ||
      !map.mapOptional("grid_limit", manifest.gridLimit) ||
      !map.mapOptional("shared_bytes", manifest.sharedBytes))
    return root.getError();
  if (auto wrong = findContradiction(manifest, block)) {
    path.report(*wrong);
    return root.getError();
  }
  llvm::copy(block, manifest.block.begin());
  if (const Object *resources = value.getAsObject()->getObject("resources"))
    manifest.resources = *resources;
  return manifest;
}

Expected<Manifest> Manifest::parse(StringRef json) {
  Expected<Value> value = llvm::json::parse(json);
  if (!value)
    return value.takeError();
  return fromJSON(*value);
}

Value Manifest::toJSON() const {
  llvm::json::Array argumentList, gridList;
  for (const ManifestArgument &argument : arguments) {
    Object entry{{"name", argument.name},
                 {"type", getName(argument.type)},
                 {"rank", argument.rank}};
    switch (argument.kind) {
    case KernelArgument::Kind::Buffer:
      entry["access"] = kAccessNames[static_cast<size_t>(argument.access)];
      break;
    case KernelArgument::Kind::Scalar:
      entry["scalar"] = true;
      break;
    case KernelArgument::Kind::TensorMap:
      entry["type"] = kTensorMapTypeName;
      entry["of"] = argument.map.of;
      entry["box"] = llvm::json::Array(argument.map.box);
      entry["swizzle"] = argument.map.swizzleBytes;
      break;
    }
    argumentList.push_back(std::move(entry));
  }
  for (const ManifestGridFactor &factor : grid)
    gridList.push_back(Object{{"argument", factor.argument},
                              {"index", factor.index},
                              {"per", factor.per}});
  Object result{{"kernel", kernel},
                {"chip", chip},
                {"arguments", std::move(argumentList)},
                {"grid", std::move(gridList)},
                {"block", llvm::json::Array(block)},
                {"shared_bytes", sharedBytes},
                {"resources", Object(resources)}};
  if (cluster > 1)
    result["cluster"] = cluster;
  if (gridLimit)
    result["grid_limit"] = *gridLimit;
  return result;
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

Expected<std::vector<KernelArgument>>
Manifest::bindArguments(Device &device,
                        llvm::ArrayRef<KernelArgument> values) const {
  auto isMap = [](const ManifestArgument &argument) {
    return argument.kind == KernelArgument::Kind::TensorMap;
  };
  size_t numValues = arguments.size() - llvm::count_if(arguments, isMap);
  if (values.size() != numValues)
    return llvm::createStringError(
        "kernel '" + kernel + "' expects " + Twine(numValues) +
        " buffers and scalars, but got " + Twine(values.size()));
  std::vector<KernelArgument> bound(arguments.size());
  for (auto [argument, slot] : llvm::zip_equal(arguments, bound)) {
    if (isMap(argument))
      continue;
    const KernelArgument &value = values.front();
    values = values.drop_front();
    if (value.kind != argument.kind || value.shape.type != argument.type ||
        static_cast<int64_t>(value.shape.sizes.size()) != argument.rank)
      return llvm::createStringError(
          "kernel '" + kernel + "' expects for '" + argument.name + "' " +
          (argument.kind == KernelArgument::Kind::Scalar
               ? "a scalar"
               : "a tensor of rank " + std::to_string(argument.rank)) +
          " of " + getName(argument.type) + ", but got " + describe(value));
    slot = value;
  }
  for (auto [argument, slot] : llvm::zip_equal(arguments, bound)) {
    if (!isMap(argument))
      continue;
    auto map = encodeTensorMap(device, bound[argument.map.of], argument.map.box,
                               argument.map.swizzleBytes);
    if (!map)
      return llvm::createStringError(
          "kernel '" + kernel + "' has no '" + argument.name +
          "' of this tensor: " + llvm::toString(map.takeError()));
    slot = KernelArgument::tensorMap(*map);
  }
  return bound;
}

Expected<LaunchShape>
Manifest::getLaunchShape(llvm::ArrayRef<KernelArgument> values) const {
  LaunchShape shape;
  shape.grid[0] = cluster;
  shape.block = block;
  shape.sharedBytes = sharedBytes;
  for (const ManifestGridFactor &factor : grid) {
    int64_t size = values[factor.argument].shape.sizes[factor.index];
    int64_t count = llvm::divideCeilSigned(size, factor.per);
    if (llvm::MulOverflow(shape.grid[0], count, shape.grid[0]))
      return llvm::createStringError("kernel '" + kernel +
                                     "' expects a smaller problem: its grid "
                                     "has more than 2^63 workgroups");
  }
  if (gridLimit)
    shape.grid[0] = std::min(shape.grid[0], *gridLimit);
  return shape;
}

Expected<PreparedLaunch>
Manifest::prepareLaunch(Device &device,
                        llvm::ArrayRef<KernelArgument> values) const {
  auto bound = bindArguments(device, values);
  if (!bound)
    return bound.takeError();
  auto shape = getLaunchShape(*bound);
  if (!shape)
    return shape.takeError();
  return PreparedLaunch{*shape, PackedArguments(*bound)};
}
