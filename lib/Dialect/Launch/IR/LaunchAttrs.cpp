// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Manifests as attributes. What contradicts itself is found by the runtime's
// own check, so that what verifies can be read back.

#include "attune/Dialect/Launch/IR/Launch.h"
#include "attune/Runtime/Manifest.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attune;
using namespace attune::launch;

#include "attune/Dialect/Launch/IR/LaunchEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "attune/Dialect/Launch/IR/LaunchAttrs.cpp.inc"

void LaunchDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "attune/Dialect/Launch/IR/LaunchAttrs.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

static ParseResult parseSize(AsmParser &parser, int64_t &argument,
                             int64_t &dim) {
  return failure(parser.parseKeyword("dim") || parser.parseLParen() ||
                 parser.parseInteger(argument) || parser.parseComma() ||
                 parser.parseInteger(dim) || parser.parseRParen());
}

static ParseResult parseFactor(AsmParser &parser, Factor &factor) {
  bool isSum = succeeded(parser.parseOptionalLParen());
  if (parseSize(parser, factor.argument, factor.dim))
    return failure();
  factor.per = 1;
  if (succeeded(parser.parseOptionalKeyword("ceildiv")) &&
      parser.parseInteger(factor.per))
    return failure();
  if (!isSum)
    return success();
  if (parser.parsePlus())
    return failure();
  OptionalParseResult number = parser.parseOptionalInteger(factor.moreNumber);
  return failure((number.has_value() ? ParseResult(*number)
                                     : parseSize(parser, factor.moreArgument,
                                                 factor.moreDim)) ||
                 parser.parseRParen());
}

Attribute ProductAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  int64_t constant = 1;
  SmallVector<Factor> factors;
  if (parser.parseLess())
    return {};
  OptionalParseResult number = parser.parseOptionalInteger(constant);
  if (number.has_value() && failed(*number))
    return {};
  // Where there is no number, the first factor has no star before it.
  bool more = !number.has_value() || succeeded(parser.parseOptionalStar());
  while (more) {
    if (parseFactor(parser, factors.emplace_back()))
      return {};
    more = succeeded(parser.parseOptionalStar());
  }
  if (parser.parseGreater())
    return {};
  return parser.getChecked<ProductAttr>(loc, parser.getContext(), constant,
                                        factors);
}

void ProductAttr::print(AsmPrinter &printer) const {
  printer << '<';
  StringRef separator;
  if (getConstant() != 1 || getFactors().empty()) {
    printer << getConstant();
    separator = " * ";
  }
  for (Factor factor : getFactors()) {
    printer << separator << (factor.isSum() ? "(" : "") << "dim("
            << factor.argument << ", " << factor.dim << ')';
    if (factor.per != 1)
      printer << " ceildiv " << factor.per;
    if (factor.moreNumber)
      printer << " + " << factor.moreNumber << ')';
    else if (factor.isSum())
      printer << " + dim(" << factor.moreArgument << ", " << factor.moreDim
              << "))";
    separator = " * ";
  }
  printer << '>';
}

LogicalResult ProductAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                  int64_t constant, ArrayRef<Factor> factors) {
  if (constant < 1)
    return emitError() << "expects a constant of at least 1, but got "
                       << constant;
  for (Factor factor : factors)
    if (factor.per < 1)
      return emitError() << "expects a divisor of at least 1, but got "
                         << factor.per;
    else if (factor.moreNumber < 0)
      return emitError() << "expects a number of at least 0 to be added, but "
                            "got "
                         << factor.moreNumber;
  return success();
}

//===----------------------------------------------------------------------===//
// To the runtime's form
//===----------------------------------------------------------------------===//

static ManifestProduct toProduct(ProductAttr product) {
  ManifestProduct result;
  result.constant = product.getConstant();
  for (Factor factor : product.getFactors())
    result.factors.push_back({factor.argument, factor.dim, factor.per,
                              factor.moreArgument, factor.moreDim,
                              factor.moreNumber});
  return result;
}

/// Empty for a type that the runtime does not know.
static std::optional<DataType> toDataType(Type type) {
  std::string name;
  llvm::raw_string_ostream(name) << type;
  return parseDataType(name);
}

static ManifestArgument::Access toAccess(Access access) {
  switch (access) {
  case Access::Read:
    return ManifestArgument::Access::Read;
  case Access::Write:
    return ManifestArgument::Access::Write;
  case Access::ReadWrite:
    return ManifestArgument::Access::ReadWrite;
  }
  llvm_unreachable("an access that the runtime does not know");
}

/// What is wrong with the parts of an argument; empty where nothing is.
static std::string findFault(Attribute argument) {
  auto describe = [](auto part) {
    std::string text;
    llvm::raw_string_ostream(text) << part;
    return text;
  };
  Type type = TypeSwitch<Attribute, Type>(argument)
                  .Case<ScalarAttr, WorkspaceAttr>(
                      [](auto attribute) { return attribute.getType(); })
                  .Case([](BufferAttr buffer) {
                    return buffer.getType().getElementType();
                  })
                  .Default(Type());
  if (!type && !isa<TensorMapAttr>(argument))
    return "expects a buffer, a scalar, a tensor map or a workspace, but got " +
           describe(argument);
  if (type && !toDataType(type))
    return "expects an element type such as bf16 or i32, but got " +
           describe(type);
  if (auto workspace = dyn_cast<WorkspaceAttr>(argument))
    for (Attribute size : workspace.getSizes())
      if (!isa<ProductAttr>(size))
        return "expects a #launch.product for each size, but got " +
               describe(size);
  if (auto buffer = dyn_cast<BufferAttr>(argument);
      buffer && !buffer.getType().isStrided())
    return "expects a buffer with strides, but got " +
           describe(buffer.getType());
  return "";
}

/// Nothing where all are dynamic.
static std::vector<std::optional<int64_t>> toKnown(ArrayRef<int64_t> extents) {
  std::vector<std::optional<int64_t>> known;
  if (!llvm::all_of(extents, ShapedType::isDynamic))
    for (int64_t extent : extents)
      known.push_back(ShapedType::isDynamic(extent) ? std::nullopt
                                                    : std::optional(extent));
  return known;
}

static ManifestArgument toArgument(Attribute attribute) {
  ManifestArgument result;
  TypeSwitch<Attribute>(attribute)
      .Case([&](BufferAttr buffer) {
        result.name = buffer.getName().str();
        MemRefType type = buffer.getType();
        result.type = *toDataType(type.getElementType());
        result.rank = type.getRank();
        result.sizes = toKnown(type.getShape());
        result.strides = toKnown(type.getStridesAndOffset().first);
        result.access = toAccess(buffer.getAccess());
      })
      .Case([&](ScalarAttr scalar) {
        result.kind = KernelArgument::Kind::Scalar;
        result.name = scalar.getName().str();
        result.type = *toDataType(scalar.getType());
      })
      .Case([&](TensorMapAttr map) {
        result.kind = KernelArgument::Kind::TensorMap;
        result.name = map.getName().str();
        result.map = {map.getOf(), map.getBox().asArrayRef().vec(),
                      map.getSwizzle()};
      })
      .Case([&](WorkspaceAttr workspace) {
        result.name = workspace.getName().str();
        result.type = *toDataType(workspace.getType());
        result.rank = static_cast<int64_t>(workspace.getSizes().size());
        result.access = ManifestArgument::Access::Workspace;
        for (auto size : workspace.getSizes().getAsRange<ProductAttr>())
          result.workspace.sizes.push_back(toProduct(size));
        result.workspace.alignment = workspace.getAlignment();
        result.workspace.zero = workspace.getContents() == Contents::Zero;
        result.workspace.restored = workspace.getRestored();
      });
  return result;
}

static llvm::json::Value toJSON(Attribute attribute) {
  return TypeSwitch<Attribute, llvm::json::Value>(attribute)
      .Case([](IntegerAttr value) { return value.getInt(); })
      .Case([](StringAttr value) { return value.getValue(); })
      .Case([](ArrayAttr array) {
        llvm::json::Array values;
        for (Attribute element : array)
          values.push_back(toJSON(element));
        return values;
      })
      .Default(nullptr);
}

/// Whether what the assembler reported has a JSON form.
static bool isReport(Attribute attribute) {
  if (auto array = dyn_cast<ArrayAttr>(attribute))
    return llvm::all_of(array, isReport);
  return isa<IntegerAttr, StringAttr>(attribute);
}

//===----------------------------------------------------------------------===//
// Manifests
//===----------------------------------------------------------------------===//

static ArrayRef<Attribute> getElements(ArrayAttr array) {
  return array ? array.getValue() : ArrayRef<Attribute>();
}

/// Arguments that are without fault each.
static std::vector<ManifestArgument> toArguments(ArrayAttr arguments) {
  std::vector<ManifestArgument> result;
  for (Attribute argument : getElements(arguments))
    result.push_back(toArgument(argument));
  return result;
}

LogicalResult ManifestAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                   ArrayAttr arguments, ProductAttr grid,
                                   std::optional<int64_t> gridLimit,
                                   int64_t cluster, DenseI64ArrayAttr block,
                                   int64_t sharedBytes, int64_t threadsInOne,
                                   bool startsEarly, StringAttr kernel,
                                   StringAttr chip, DictionaryAttr resources) {
  for (Attribute argument : getElements(arguments))
    if (std::string fault = findFault(argument); !fault.empty())
      return emitError() << fault;
  Manifest manifest;
  if (block.size() != static_cast<int64_t>(manifest.block.size()))
    return emitError() << "expects three extents in block, but got "
                       << block.size();
  if (threadsInOne < 1)
    return emitError() << "expects at least 1 in threads_in_one, but got "
                       << threadsInOne;
  if (resources)
    for (NamedAttribute entry : resources)
      if (!isReport(entry.getValue()))
        return emitError() << "expects integers and strings as resources, but "
                              "got "
                           << entry.getValue();
  manifest.arguments = toArguments(arguments);
  manifest.grid = toProduct(grid);
  manifest.gridLimit = gridLimit;
  manifest.cluster = cluster;
  llvm::copy(block.asArrayRef(), manifest.block.begin());
  manifest.sharedBytes = sharedBytes;
  if (std::string wrong = manifest.findContradiction(); !wrong.empty())
    return emitError() << wrong;
  return success();
}

Manifest ManifestAttr::toManifest() const {
  Manifest manifest;
  manifest.kernel = getKernel() ? getKernel().str() : "";
  manifest.chip = getChip() ? getChip().str() : "";
  manifest.arguments = toArguments(getArguments());
  manifest.grid = toProduct(getGrid());
  manifest.gridLimit = getGridLimit();
  manifest.cluster = getCluster();
  llvm::copy(getBlock().asArrayRef(), manifest.block.begin());
  manifest.sharedBytes = getSharedBytes();
  manifest.startsEarly = getStartsEarly();
  if (getResources())
    for (NamedAttribute entry : getResources())
      manifest.resources[entry.getName().getValue()] =
          ::toJSON(entry.getValue());
  return manifest;
}

llvm::json::Value ManifestAttr::toJSON() const {
  llvm::json::Value json = toManifest().toJSON();
  if (!getArguments())
    for (StringRef key : {"arguments", "grid", "block", "shared_bytes"})
      json.getAsObject()->erase(key);
  return json;
}

ManifestAttr ManifestAttr::get(MLIRContext *context, ArrayAttr arguments) {
  return get(context, arguments, ProductAttr::get(context, 1, {}), std::nullopt,
             1, DenseI64ArrayAttr::get(context, {1, 1, 1}), 0, 1, false,
             nullptr, nullptr, nullptr);
}

namespace {
/// All parameters, to change some.
struct Facts {
  explicit Facts(ManifestAttr manifest)
      : context(manifest.getContext()), arguments(manifest.getArguments()),
        grid(manifest.getGrid()), gridLimit(manifest.getGridLimit()),
        cluster(manifest.getCluster()), block(manifest.getBlock()),
        sharedBytes(manifest.getSharedBytes()),
        threadsInOne(manifest.getThreadsInOne()),
        startsEarly(manifest.getStartsEarly()), kernel(manifest.getKernel()),
        chip(manifest.getChip()), resources(manifest.getResources()) {}

  ManifestAttr get() const {
    return ManifestAttr::get(context, arguments, grid, gridLimit, cluster,
                             block, sharedBytes, threadsInOne, startsEarly,
                             kernel, chip, resources);
  }

  MLIRContext *context;
  ArrayAttr arguments;
  ProductAttr grid;
  std::optional<int64_t> gridLimit;
  int64_t cluster;
  DenseI64ArrayAttr block;
  int64_t sharedBytes, threadsInOne;
  bool startsEarly;
  StringAttr kernel, chip;
  DictionaryAttr resources;
};
} // namespace

ManifestAttr ManifestAttr::withArgument(Attribute argument) const {
  Facts facts(*this);
  SmallVector<Attribute> all(getElements(getArguments()));
  all.push_back(argument);
  facts.arguments = ArrayAttr::get(getContext(), all);
  return facts.get();
}

ManifestAttr ManifestAttr::withGrid(ProductAttr grid,
                                    std::optional<int64_t> limit,
                                    int64_t cluster) const {
  Facts facts(*this);
  facts.grid = grid;
  facts.gridLimit = limit;
  facts.cluster = cluster;
  return facts.get();
}

ManifestAttr ManifestAttr::withoutGridLimit() const {
  return withGrid(getGrid(), std::nullopt, getCluster());
}

ManifestAttr ManifestAttr::withBlock(ArrayRef<int64_t> block) const {
  Facts facts(*this);
  facts.block = DenseI64ArrayAttr::get(getContext(), block);
  return facts.get();
}

ManifestAttr ManifestAttr::withSharedBytes(int64_t bytes) const {
  Facts facts(*this);
  facts.sharedBytes = bytes;
  return facts.get();
}

ManifestAttr ManifestAttr::withThreadsInOne(int64_t threads) const {
  Facts facts(*this);
  facts.threadsInOne = threads;
  return facts.get();
}

ManifestAttr ManifestAttr::withEarlyStart() const {
  Facts facts(*this);
  facts.startsEarly = true;
  return facts.get();
}

ManifestAttr ManifestAttr::withBinary(StringAttr kernel, StringAttr chip,
                                      DictionaryAttr resources) const {
  Facts facts(*this);
  facts.kernel = kernel;
  facts.chip = chip;
  facts.resources = resources;
  return facts.get();
}

//===----------------------------------------------------------------------===//
// Sequences
//===----------------------------------------------------------------------===//

static LaunchSequence toSequence(StringRef name, ArrayAttr values,
                                 ArrayAttr launches) {
  LaunchSequence sequence;
  sequence.name = name.str();
  sequence.values = toArguments(values);
  for (auto step : launches.getAsRange<StepAttr>())
    sequence.launches.push_back({step.getKernel().getLeafReference().str(),
                                 step.getArguments().asArrayRef().vec()});
  return sequence;
}

LogicalResult SequenceAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                   StringRef name, ArrayAttr values,
                                   ArrayAttr launches) {
  for (Attribute value : values)
    if (std::string fault = findFault(value); !fault.empty())
      return emitError() << fault;
  for (Attribute launch : launches)
    if (!isa<StepAttr>(launch))
      return emitError() << "expects #launch.step as launches, but got "
                         << launch;
  LaunchSequence sequence = ::toSequence(name, values, launches);
  if (std::string wrong = sequence.findContradiction(); !wrong.empty())
    return emitError() << wrong;
  return success();
}

LaunchSequence SequenceAttr::toSequence() const {
  return ::toSequence(getName(), getValues(), getLaunches());
}
