// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Manifests and sequences of launches as JSON, and what contradicts itself in
// them.

#include "attune/Runtime/Manifest.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace attune;
using llvm::Expected;
using llvm::StringRef;
using llvm::json::Array;
using llvm::json::Object;
using llvm::json::ObjectMapper;
using llvm::json::Path;
using llvm::json::Value;

/// By ManifestArgument::Access.
static constexpr llvm::StringLiteral kAccessNames[] = {
    "read", "write", "read_write", "workspace"};
/// By ManifestWorkspace::zero.
static constexpr llvm::StringLiteral kContentsNames[] = {"undefined", "zero"};

namespace attune {
static bool fromJSON(ObjectMapper &map, ManifestTensorMap &result, Path path) {
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

static bool sumFromJSON(const Value &value, ManifestFactor &factor, Path path);

static bool fromJSON(const Value &value, ManifestFactor &factor, Path path) {
  if (const Object *object = value.getAsObject(); object && object->get("sum"))
    return sumFromJSON(*object->get("sum"), factor, path.field("sum"));
  ObjectMapper map(value, path);
  if (!map || !map.map("argument", factor.argument) ||
      !map.map("index", factor.index) || !map.map("per", factor.per))
    return false;
  if (factor.per >= 1)
    return true;
  path.field("per").report("expected at least 1");
  return false;
}

/// A factor and a number, or another factor that divides by nothing.
static bool sumFromJSON(const Value &value, ManifestFactor &factor, Path path) {
  const Array *terms = value.getAsArray();
  if (!terms || terms->size() != 2) {
    path.report("expected a list of two factors, or of one and a number");
    return false;
  }
  if (std::optional<int64_t> number = (*terms)[1].getAsInteger()) {
    if (!fromJSON((*terms)[0], factor, path.index(0)))
      return false;
    if (factor.isSum() || *number < 1) {
      path.report("expected a size and a number of at least 1");
      return false;
    }
    factor.moreNumber = *number;
    return true;
  }
  ManifestFactor more;
  if (!fromJSON((*terms)[0], factor, path.index(0)) ||
      !fromJSON((*terms)[1], more, path.index(1)))
    return false;
  if (factor.isSum() || more.isSum() || more.per != 1 || more.argument < 0) {
    path.report("expected sizes, of which only the first one is divided");
    return false;
  }
  factor.moreArgument = more.argument;
  factor.moreIndex = more.index;
  return true;
}

/// A number, or a list of numbers and factors.
static bool fromJSON(const Value &value, ManifestProduct &product, Path path) {
  auto multiply = [&](int64_t number, Path place) {
    if (number >= 1 &&
        !llvm::MulOverflow(product.constant, number, product.constant))
      return true;
    place.report("expected at least 1, and a product below 2^63");
    return false;
  };
  if (std::optional<int64_t> number = value.getAsInteger())
    return multiply(*number, path);
  const Array *list = value.getAsArray();
  if (!list) {
    path.report("expected a number or a list of numbers and factors");
    return false;
  }
  for (auto [index, entry] : llvm::enumerate(*list)) {
    Path place = path.index(index);
    if (std::optional<int64_t> number = entry.getAsInteger()) {
      if (!multiply(*number, place))
        return false;
    } else if (!fromJSON(entry, product.factors.emplace_back(), place)) {
      return false;
    }
  }
  return true;
}

static bool fromJSON(ObjectMapper &map, ManifestWorkspace &workspace,
                     Path path) {
  std::string contents;
  if (!map.map("sizes", workspace.sizes) ||
      !map.map("alignment", workspace.alignment) ||
      !map.map("contents", contents) ||
      !map.mapOptional("restored", workspace.restored))
    return false;
  auto *known = llvm::find(kContentsNames, contents);
  if (known == std::end(kContentsNames)) {
    path.field("contents").report("expected undefined or zero");
    return false;
  }
  workspace.zero = known != std::begin(kContentsNames);
  return true;
}

/// What is compiled in of the dimensions of a buffer.
static bool fromJSON(ObjectMapper &map, llvm::StringLiteral key, int64_t rank,
                     std::vector<std::optional<int64_t>> &known, Path path) {
  if (!map.mapOptional(key, known))
    return false;
  if (known.empty() || static_cast<int64_t>(known.size()) == rank)
    return true;
  path.field(key).report("expected a number or null for each dimension");
  return false;
}

static bool fromJSON(const Value &value, ManifestArgument &argument,
                     Path path) {
  ObjectMapper map(value, path);
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
    path.field("access").report(
        "expected read, write, read_write or workspace");
    return false;
  }
  argument.access =
      static_cast<ManifestArgument::Access>(known - std::begin(kAccessNames));
  if (argument.isWorkspace())
    return fromJSON(map, argument.workspace, path);
  return argument.kind != KernelArgument::Kind::Buffer ||
         (fromJSON(map, "sizes", argument.rank, argument.sizes, path) &&
          fromJSON(map, "strides", argument.rank, argument.strides, path));
}

static bool fromJSON(const Value &value, LaunchSequence::Step &step,
                     Path path) {
  ObjectMapper map(value, path);
  return map && map.map("kernel", step.kernel) &&
         map.map("arguments", step.arguments);
}

static Array toJSON(const ManifestProduct &product) {
  Array list;
  if (product.constant != 1)
    list.push_back(product.constant);
  auto describe = [](int64_t argument, int64_t index, int64_t per) {
    return Object{{"argument", argument}, {"index", index}, {"per", per}};
  };
  for (const ManifestFactor &factor : product.factors) {
    Object size = describe(factor.argument, factor.index, factor.per);
    if (factor.isSum()) {
      Value more = factor.moreNumber;
      if (factor.moreArgument >= 0)
        more = describe(factor.moreArgument, factor.moreIndex, 1);
      size = Object{{"sum", Array{std::move(size), std::move(more)}}};
    }
    list.push_back(std::move(size));
  }
  return list;
}

static void addToJSON(const ManifestWorkspace &workspace, Object &entry) {
  Array sizes;
  for (const ManifestProduct &size : workspace.sizes)
    sizes.push_back(size.factors.empty() ? Value(size.constant)
                                         : Value(toJSON(size)));
  entry["sizes"] = std::move(sizes);
  entry["alignment"] = workspace.alignment;
  entry["contents"] = kContentsNames[workspace.zero];
  entry["restored"] = workspace.restored;
}

static Value toJSON(const ManifestArgument &argument) {
  Object entry{{"name", argument.name},
               {"type", getName(argument.type)},
               {"rank", argument.rank}};
  switch (argument.kind) {
  case KernelArgument::Kind::Buffer:
    entry["access"] = kAccessNames[static_cast<size_t>(argument.access)];
    if (argument.isWorkspace())
      addToJSON(argument.workspace, entry);
    if (!argument.sizes.empty())
      entry["sizes"] = Array(argument.sizes);
    if (!argument.strides.empty())
      entry["strides"] = Array(argument.strides);
    break;
  case KernelArgument::Kind::Scalar:
    entry["scalar"] = true;
    break;
  case KernelArgument::Kind::TensorMap:
    entry["type"] = kTensorMapTypeName;
    entry["of"] = argument.map.of;
    entry["box"] = Array(argument.map.box);
    entry["swizzle"] = argument.map.swizzleBytes;
    break;
  }
  return entry;
}

static Value toJSON(const LaunchSequence::Step &step) {
  return Object{{"kernel", step.kernel}, {"arguments", Array(step.arguments)}};
}
} // namespace attune

template <typename T> static Array listToJSON(llvm::ArrayRef<T> entries) {
  Array list;
  for (const T &entry : entries)
    list.push_back(attune::toJSON(entry));
  return list;
}

static std::string findContradiction(llvm::ArrayRef<ManifestArgument> arguments,
                                     int64_t number, int64_t index,
                                     StringRef what) {
  int64_t count = arguments.size();
  if (number < 0 || number >= count ||
      arguments[number].kind != KernelArgument::Kind::Buffer ||
      arguments[number].isWorkspace())
    return llvm::formatv("expects the number of a buffer that is passed in "
                         "{0}, but got {1} of {2} arguments",
                         what, number, count);
  const ManifestArgument &argument = arguments[number];
  if (index < 0 || index >= argument.rank)
    return llvm::formatv("expects a dimension of '{0}', which has {1}, in "
                         "{2}, but got {3}",
                         argument.name, argument.rank, what, index);
  return "";
}

static std::string findContradiction(llvm::ArrayRef<ManifestArgument> arguments,
                                     const ManifestProduct &product,
                                     StringRef what) {
  if (product.constant < 1)
    return llvm::formatv("expects a constant of at least 1 in {0}, but got {1}",
                         what, product.constant);
  for (const ManifestFactor &factor : product.factors) {
    std::string wrong =
        findContradiction(arguments, factor.argument, factor.index, what);
    if (wrong.empty() && factor.moreArgument >= 0)
      wrong = findContradiction(arguments, factor.moreArgument,
                                factor.moreIndex, what);
    if (!wrong.empty())
      return wrong;
    if (factor.per < 1)
      return llvm::formatv("expects a divisor of at least 1 in {0}, but got "
                           "{1}",
                           what, factor.per);
  }
  return "";
}

static std::string findContradiction(llvm::ArrayRef<ManifestArgument> arguments,
                                     const ManifestArgument &argument) {
  const ManifestWorkspace &workspace = argument.workspace;
  if (!llvm::isPowerOf2_64(workspace.alignment))
    return llvm::formatv("expects a power of 2 as alignment of '{0}', but got "
                         "{1}",
                         argument.name, workspace.alignment);
  if (static_cast<int64_t>(workspace.sizes.size()) != argument.rank)
    return llvm::formatv("expects a size for each of the {0} dimensions of "
                         "'{1}', but got {2}",
                         argument.rank, argument.name, workspace.sizes.size());
  for (const ManifestProduct &size : workspace.sizes)
    if (std::string wrong = findContradiction(
            arguments, size, "sizes of '" + argument.name + "'");
        !wrong.empty())
      return wrong;
  return "";
}

std::string
attune::findContradiction(llvm::ArrayRef<ManifestArgument> arguments) {
  for (const ManifestArgument &argument : arguments) {
    if (argument.isWorkspace())
      if (std::string wrong = ::findContradiction(arguments, argument);
          !wrong.empty())
        return wrong;
    if (!argument.isMap())
      continue;
    const ManifestTensorMap &map = argument.map;
    int64_t count = arguments.size();
    if (map.of < 0 || map.of >= count ||
        arguments[map.of].kind != KernelArgument::Kind::Buffer)
      return llvm::formatv("expects '{0}' to be of a buffer, but got argument "
                           "{1} of {2}",
                           argument.name, map.of, count);
    const ManifestArgument &buffer = arguments[map.of];
    if (static_cast<int64_t>(map.box.size()) != buffer.rank)
      return llvm::formatv("expects a box of '{0}' with a size for each of its "
                           "{1} dimensions, but got {2}",
                           buffer.name, buffer.rank, map.box.size());
  }
  return "";
}

std::string Manifest::findContradiction() const {
  if (llvm::any_of(block, [](int64_t extent) { return extent < 1; }))
    return llvm::formatv("expects extents of at least 1 in block, but got {0}",
                         llvm::make_range(block.begin(), block.end()));
  if (cluster < 1)
    return llvm::formatv("expects at least 1 in cluster, but got {0}", cluster);
  if (gridLimit && (*gridLimit < 1 || *gridLimit % cluster != 0))
    return llvm::formatv("expects a positive multiple of the cluster's {0} "
                         "workgroups in grid_limit, but got {1}",
                         cluster, *gridLimit);
  if (sharedBytes < 0)
    return llvm::formatv("expects at least 0 in shared_bytes, but got {0}",
                         sharedBytes);
  if (std::string wrong = attune::findContradiction(arguments); !wrong.empty())
    return wrong;
  return ::findContradiction(arguments, grid, "grid");
}

std::string LaunchSequence::findContradiction() const {
  if (std::string wrong = attune::findContradiction(values); !wrong.empty())
    return wrong;
  for (const ManifestArgument &value : values)
    if (value.isMap())
      return llvm::formatv("expects buffers, scalars and workspaces as values, "
                           "but got the tensor map '{0}'",
                           value.name);
  for (const Step &step : launches)
    for (int64_t number : step.arguments)
      if (number < 0 || number >= static_cast<int64_t>(values.size()))
        return llvm::formatv("expects the numbers of the {0} values as "
                             "arguments of '{1}', but got {2}",
                             values.size(), step.kernel, number);
  return "";
}

/// Whether this is a version that can be read.
static bool checkVersion(const Value &value, Path path) {
  const Object *object = value.getAsObject();
  if (!object) {
    path.report("expected an object");
    return false;
  }
  if (object->getInteger("version") == kManifestVersion)
    return true;
  static_assert(kManifestVersion == 1, "the texts below name the version");
  Path place = path.field("version");
  if (object->get("version"))
    place.report("expected 1, the only version that this program knows");
  else
    place.report("expected 1, but there is none: this was written before "
                 "manifests had versions, or is none");
  return false;
}

Expected<Manifest> Manifest::fromJSON(const Value &value) {
  Path::Root root("manifest");
  Path path(root);
  if (!checkVersion(value, path))
    return root.getError();
  ObjectMapper map(value, path);
  Manifest manifest;
  std::vector<int64_t> block;
  if (!map.map("kernel", manifest.kernel) || !map.map("chip", manifest.chip) ||
      !map.map("arguments", manifest.arguments) ||
      !map.map("grid", manifest.grid) || !map.map("block", block) ||
      !map.mapOptional("cluster", manifest.cluster) ||
      !map.mapOptional("grid_limit", manifest.gridLimit) ||
      !map.mapOptional("shared_bytes", manifest.sharedBytes) ||
      !map.mapOptional("starts_early", manifest.startsEarly))
    return root.getError();
  if (block.size() != manifest.block.size()) {
    path.field("block").report("expected three extents");
    return root.getError();
  }
  llvm::copy(block, manifest.block.begin());
  if (std::string wrong = manifest.findContradiction(); !wrong.empty())
    return llvm::createStringError("manifest of '" + manifest.kernel + "' " +
                                   wrong);
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
  Object result{{"version", kManifestVersion},
                {"kernel", kernel},
                {"chip", chip},
                {"arguments", listToJSON(llvm::ArrayRef(arguments))},
                {"grid", attune::toJSON(grid)},
                {"block", Array(block)},
                {"shared_bytes", sharedBytes},
                {"resources", Object(resources)}};
  if (cluster > 1)
    result["cluster"] = cluster;
  if (gridLimit)
    result["grid_limit"] = *gridLimit;
  if (startsEarly)
    result["starts_early"] = true;
  return result;
}

Expected<LaunchSequence> LaunchSequence::fromJSON(const Value &value) {
  Path::Root root("sequence");
  Path path(root);
  if (!checkVersion(value, path))
    return root.getError();
  ObjectMapper map(value, path);
  LaunchSequence sequence;
  if (!map.map("sequence", sequence.name) ||
      !map.map("values", sequence.values) ||
      !map.map("launches", sequence.launches))
    return root.getError();
  if (std::string wrong = sequence.findContradiction(); !wrong.empty())
    return llvm::createStringError("sequence '" + sequence.name + "' " + wrong);
  return sequence;
}

Expected<LaunchSequence> LaunchSequence::parse(StringRef json) {
  Expected<Value> value = llvm::json::parse(json);
  if (!value)
    return value.takeError();
  return fromJSON(*value);
}

Value LaunchSequence::toJSON() const {
  return Object{{"version", kManifestVersion},
                {"sequence", name},
                {"values", listToJSON(llvm::ArrayRef(values))},
                {"launches", listToJSON(llvm::ArrayRef(launches))}};
}
