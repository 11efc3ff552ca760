// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Types of the tile dialect.

#include "attune/Dialect/Tile/IR/Tile.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"
#include <limits>
#include <numeric>

using namespace mlir;
using namespace attune::tile;

/// Parses and prints `64x128xf32`.
static ParseResult parseShapedElement(AsmParser &parser,
                                      SmallVector<int64_t> &shape,
                                      Type &elementType) {
  return failure(parser.parseDimensionList(shape, /*allowDynamic=*/false) ||
                 parser.parseType(elementType));
}

static void printShapedElement(AsmPrinter &printer, ArrayRef<int64_t> shape,
                               Type elementType) {
  printer.printDimensionList(shape);
  printer << 'x' << elementType;
}

/// What a channel has beside its stages, each after a comma.
static ParseResult parseChannelDetails(AsmParser &parser, int64_t &swizzleAtom,
                                       int64_t &cluster, int64_t &padding,
                                       bool &transposed, bool &paired,
                                       int64_t &chunk) {
  cluster = 1;
  while (succeeded(parser.parseOptionalComma())) {
    StringRef name;
    SMLoc where = parser.getCurrentLocation();
    if (parser.parseKeyword(&name) || parser.parseEqual())
      return failure();
    int64_t *number = llvm::StringSwitch<int64_t *>(name)
                          .Case("swizzle_atom", &swizzleAtom)
                          .Case("cluster", &cluster)
                          .Case("padding", &padding)
                          .Case("chunk", &chunk)
                          .Default(nullptr);
    bool *flag = llvm::StringSwitch<bool *>(name)
                     .Case("transposed", &transposed)
                     .Case("paired", &paired)
                     .Default(nullptr);
    if (!number && !flag)
      return parser.emitError(where)
             << "expects swizzle_atom, cluster, padding, transposed, paired or "
                "chunk, but got '"
             << name << "'";
    if (number) {
      if (parser.parseInteger(*number))
        return failure();
      continue;
    }
    FailureOr<bool> value = FieldParser<bool>::parse(parser);
    if (failed(value))
      return failure();
    *flag = *value;
  }
  return success();
}

static void printChannelDetails(AsmPrinter &printer, int64_t swizzleAtom,
                                int64_t cluster, int64_t padding,
                                bool transposed, bool paired, int64_t chunk) {
  if (swizzleAtom)
    printer << ", swizzle_atom = " << swizzleAtom;
  if (cluster != 1)
    printer << ", cluster = " << cluster;
  if (padding)
    printer << ", padding = " << padding;
  if (transposed)
    printer << ", transposed = true";
  if (paired)
    printer << ", paired = true";
  if (chunk)
    printer << ", chunk = " << chunk;
}

#define GET_TYPEDEF_CLASSES
#include "attune/Dialect/Tile/IR/TileTypes.cpp.inc"

void TileDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "attune/Dialect/Tile/IR/TileTypes.cpp.inc"
      >();
}

int64_t TileType::getNumElements() const {
  return ShapedType::getNumElements(getShape());
}

/// That sizes are positive, and that counts of elements and bytes do not
/// overflow.
static LogicalResult verifySizes(function_ref<InFlightDiagnostic()> emitError,
                                 ArrayRef<int64_t> shape, int64_t stages = 1) {
  constexpr int64_t kMaxElements = std::numeric_limits<int32_t>::max();
  int64_t elements = stages;
  for (int64_t size : shape) {
    if (size < 1)
      return emitError() << "expects positive tile sizes, but got " << size;
    if (llvm::MulOverflow(elements, size, elements) || elements > kMaxElements)
      return emitError() << "expects at most " << kMaxElements
                         << " elements, but got more in " << stages << " of "
                         << shape;
  }
  return success();
}

/// That the layout is one of a tile in registers, which may have none yet.
static LogicalResult
verifyRegisters(function_ref<InFlightDiagnostic()> emitError,
                ArrayRef<int64_t> shape, Attribute layout) {
  if (!layout)
    return success();
  auto registers = dyn_cast<LayoutAttr>(layout);
  if (!registers)
    return emitError()
           << "expects a #tile.layout on a tile in registers, but got "
           << layout;
  SmallVector<int64_t, 2> covered = registers.getShape(shape.size());
  if (ArrayRef<int64_t>(covered) != shape)
    return emitError() << "expects a layout of a tile of " << shape
                       << ", but got one of " << covered;
  return success();
}

/// What lies in shared memory has an address.
static LogicalResult verifyBytes(function_ref<InFlightDiagnostic()> emitError,
                                 Type elementType) {
  if (elementType.isIntOrFloat() &&
      elementType.getIntOrFloatBitWidth() % 8 == 0)
    return success();
  return emitError() << "expects elements of whole bytes, but got "
                     << elementType;
}

static LogicalResult verifyShared(function_ref<InFlightDiagnostic()> emitError,
                                  ArrayRef<int64_t> shape, Type elementType,
                                  Attribute layout) {
  if (failed(verifyBytes(emitError, elementType)))
    return failure();
  if (shape.size() != 2)
    return emitError()
           << "expects a tile of two dimensions in shared memory, but got "
           << shape.size();
  auto swizzle = dyn_cast_or_null<SwizzleAttr>(layout);
  if (!swizzle)
    return emitError()
           << "expects a #tile.swizzle on a tile in shared memory, but got "
           << layout;
  if (swizzle.getSwizzleAtom() && shape[1] % swizzle.getSwizzleAtom() != 0)
    return emitError()
           << "expects rows that are a multiple of the swizzle atom's "
           << swizzle.getSwizzleAtom() << " columns, but got " << shape[1];
  int64_t length = shape[swizzle.getTransposed() ? 0 : 1];
  if (length % (swizzle.getVector() << swizzle.getBits()) != 0)
    return emitError() << "expects rows that are a multiple of the "
                       << (swizzle.getVector() << swizzle.getBits())
                       << " elements that the swizzle permutes, but got "
                       << length;
  return success();
}

LogicalResult TileType::verify(function_ref<InFlightDiagnostic()> emitError,
                               ArrayRef<int64_t> shape, Type elementType,
                               MemorySpace space, Attribute layout) {
  if (shape.empty() || shape.size() > 2)
    return emitError() << "expects a tile of one or two dimensions, but got "
                       << shape.size();
  if (failed(verifySizes(emitError, shape)))
    return failure();
  if (!elementType.isIntOrIndexOrFloat())
    return emitError()
           << "expects an integer, index or float element type, but got "
           << elementType;
  switch (space) {
  case MemorySpace::Registers:
    return verifyRegisters(emitError, shape, layout);
  case MemorySpace::Shared:
    return verifyShared(emitError, shape, elementType, layout);
  }
  llvm_unreachable("a switch over all spaces");
}

SmallVector<int64_t, 2> TileType::getRowsAndColumns() const {
  SmallVector<int64_t, 2> sizes(getShape());
  if (getRank() == 1)
    sizes.insert(sizes.begin(), 1);
  return sizes;
}

SmallVector<int64_t, 2> TileType::getStoredShape() const {
  SmallVector<int64_t, 2> stored = getRowsAndColumns();
  if (SwizzleAttr swizzle = getSwizzle()) {
    if (swizzle.getTransposed())
      std::swap(stored[0], stored[1]);
    stored[1] += swizzle.getPadding();
  }
  return stored;
}

int64_t TileType::getSizeInBytes() const {
  return ShapedType::getNumElements(getStoredShape()) *
         getElementType().getIntOrFloatBitWidth() / 8;
}

TileType ChannelType::getTileType() const {
  int64_t elementBytes = getElementType().getIntOrFloatBitWidth() / 8;
  SwizzleAttr swizzle =
      SwizzleAttr::getForRow(getContext(), getShape()[1], elementBytes);
  if (getSwizzleAtom())
    swizzle = getShape()[0] == 1
                  ? SwizzleAttr::get(getContext(), swizzle.getVector(),
                                     /*bits=*/0, /*shift=*/0, getSwizzleAtom(),
                                     /*padding=*/0, /*transposed=*/false)
                  : SwizzleAttr::getForSwizzleAtom(
                        getContext(), getSwizzleAtom(), elementBytes);
  if (getPadding() || getTransposed())
    swizzle = SwizzleAttr::getPadded(
        getContext(), getShape()[getTransposed() ? 0 : 1], elementBytes,
        getPadding(), getTransposed());
  if (getChunk())
    swizzle = SwizzleAttr::getForChunks(getContext(), getShape()[1],
                                        elementBytes, getChunk());
  if (getPaired())
    swizzle = swizzle.withPairs();
  return TileType::get(getContext(), getShape(), getElementType(),
                       MemorySpace::Shared, swizzle);
}

/// Bytes of a row that a transposing read takes at once: lanes read those of
/// four rows, which must lie on other banks.
static constexpr int64_t kTransposedBytes = 64;
static constexpr int64_t kWidestBytes = 16;

/// Whether rows that are summed over are read as columns where they lie.
static bool readsTransposed(Type elementType, const OperandUse &use) {
  constexpr unsigned kBits = 16;
  return use.kAlongRows && use.atom.getTransposes() &&
         elementType.getIntOrFloatBitWidth() == kBits;
}

bool attune::tile::copiesDirectly(TargetAttr target, ArrayRef<int64_t> shape,
                                  Type elementType, int64_t stages,
                                  const OperandUse &use) {
  int64_t bytes = elementType.getIntOrFloatBitWidth() / 8;
  return target.getCopySync() == CopySync::Count && stages > 1 &&
         (!use.kAlongRows || readsTransposed(elementType, use)) &&
         shape[1] * bytes % kTransposedBytes == 0;
}

ChannelType attune::tile::getDirectChannel(ArrayRef<int64_t> shape,
                                           Type elementType, int64_t stages,
                                           const OperandUse &use) {
  int64_t bytes = use.kAlongRows ? kTransposedBytes : kWidestBytes;
  return ChannelType::get(
      elementType.getContext(), shape, elementType, stages,
      /*swizzle_atom=*/0, /*cluster=*/1, /*padding=*/0, /*transposed=*/false,
      /*paired=*/false,
      /*chunk=*/bytes * 8 / elementType.getIntOrFloatBitWidth());
}

ChannelType attune::tile::getOperandChannel(ArrayRef<int64_t> shape,
                                            Type elementType, int64_t stages,
                                            const OperandUse &use) {
  // Rows of the rhs and columns of the lhs are summed over.
  int64_t kDim = use.isLhs ? 1 : 0;
  LayoutAttr layout = use.isLhs ? use.atom.getLhs() : use.atom.getRhs();
  int64_t run = 1;
  for (const Mode &mode : layout.getRegisters())
    if (mode.dim == kDim && mode.stride == 1)
      run = mode.extent;
  int64_t elementBytes = elementType.getIntOrFloatBitWidth() / 8;
  run = std::gcd(run, std::max<int64_t>(kWidestBytes / elementBytes, 1));
  bool transposes = readsTransposed(elementType, use),
       byColumns = use.kAlongRows && !transposes;
  if (transposes)
    run = kTransposedBytes / elementBytes;
  int64_t length = shape[byColumns ? 0 : 1];
  // Lines of an odd number of accesses differ in their banks; what is no
  // multiple of one is accessed in smaller pieces anyway.
  int64_t padding = length % (2 * run) == 0 ? run : 0;
  return ChannelType::get(elementType.getContext(), shape, elementType, stages,
                          /*swizzle_atom=*/0, /*cluster=*/1, padding, byColumns,
                          /*paired=*/false, /*chunk=*/0);
}

int64_t attune::tile::getOperandBytes(ArrayRef<int64_t> shape, Type elementType,
                                      int64_t stages, const OperandUse &use) {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  int64_t elements = stages;
  for (int64_t size : shape)
    if (llvm::MulOverflow(elements, size, elements) || elements > kMost)
      return kMost;
  return getOperandChannel(shape, elementType, stages, use).getSizeInBytes();
}

LayoutAttr attune::tile::getTransposingLayout(TileType type, int64_t lanes,
                                              int64_t warps) {
  constexpr int64_t kWrittenBytes = 8, kWidestAccessBytes = 16;
  int64_t rows = type.getShape()[0], columns = type.getShape()[1];
  int64_t bytes =
      llvm::divideCeil(type.getElementType().getIntOrFloatBitWidth(), 8u);
  int64_t each = std::max<int64_t>(rows * columns / (warps * lanes), 1);
  int64_t down = std::gcd(std::gcd(rows, each),
                          std::max<int64_t>(kWrittenBytes / bytes, 1));
  int64_t run = std::gcd(std::gcd(columns, each / down),
                         std::max<int64_t>(kWidestAccessBytes / bytes, 1));
  // Columns start an odd number of 16 bytes apart, those of neighbouring lanes
  // are `run` of them: so many lanes below each other fill the banks between.
  int64_t lanesDown = std::gcd(std::gcd(rows / down, lanes), 2 * run),
          lanesOfRow = std::gcd(columns / run, lanes / lanesDown),
          below = down * lanesDown, across = run * lanesOfRow,
          lanesBelow = std::gcd(rows / below, lanes / lanesDown / lanesOfRow),
          idleLanes = lanes / lanesDown / lanesOfRow / lanesBelow;
  int64_t lanesRows = below * lanesBelow,
          warpsOfRows = std::gcd(rows / lanesRows, warps),
          warpsOfColumns = std::gcd(columns / across, warps / warpsOfRows),
          idleWarps = warps / warpsOfRows / warpsOfColumns,
          timesAcross = columns / across / warpsOfColumns,
          timesDown = rows / lanesRows / warpsOfRows;
  // Null for a tile that no threads hold.
  constexpr int64_t kMostRegisters = 65536;
  if (timesDown > kMostRegisters / (run * down) / timesAcross)
    return {};
  return LayoutAttr::getNormal(type.getContext(),
                               {{run, 1, 1},
                                {down, 0, 1},
                                {timesAcross, 1, across * warpsOfColumns},
                                {timesDown, 0, lanesRows * warpsOfRows}},
                               {{lanesDown, 0, down},
                                {lanesOfRow, 1, run},
                                {lanesBelow, 0, below},
                                {idleLanes, 0, 0}},
                               {{warpsOfRows, 0, lanesRows},
                                {warpsOfColumns, 1, across},
                                {idleWarps, 0, 0}});
}

int64_t ChannelType::getSizeInBytes() const {
  return getTileType().getSizeInBytes() * getStages();
}

LogicalResult ChannelType::verify(function_ref<InFlightDiagnostic()> emitError,
                                  ArrayRef<int64_t> shape, Type elementType,
                                  int64_t stages, int64_t atomColumns,
                                  int64_t cluster, int64_t padding,
                                  bool transposed, bool paired, int64_t chunk) {
  if (shape.size() != 2)
    return emitError()
           << "expects a channel of tiles of two dimensions, but got "
           << shape.size();
  if (stages < 1)
    return emitError() << "expects at least one stage, but got " << stages;
  if (failed(verifySizes(emitError, shape, stages)))
    return failure();
  if (failed(verifyBytes(emitError, elementType)))
    return failure();
  if (atomColumns < 0 || (atomColumns > 0 && shape[1] % atomColumns != 0))
    return emitError() << "expects swizzle atoms that divide the rows of "
                       << shape[1] << " elements, but got " << atomColumns;
  constexpr int64_t kMaxPadding = 1024; // more than all banks have
  if (padding < 0 || padding > kMaxPadding)
    return emitError() << "expects a padding of 0 to " << kMaxPadding
                       << " elements, but got " << padding;
  if (atomColumns > 0 && (padding || transposed))
    return emitError() << "expects neither padding nor 'transposed' of swizzle "
                          "atoms, but got a padding of "
                       << padding;
  if (paired && (atomColumns == 0 || shape[0] == 1 ||
                 elementType.getIntOrFloatBitWidth() != 8))
    return emitError() << "expects swizzle atoms of several rows of elements "
                          "of 8 bits where 'paired', but got "
                       << elementType << " in " << shape[0] << " rows";
  if (chunk < 0 || (chunk > 0 && (atomColumns || padding || transposed ||
                                  shape[1] % chunk != 0)))
    return emitError() << "expects a chunk that divides rows which are neither "
                          "padded nor in swizzle atoms nor 'transposed', but "
                          "got "
                       << chunk;
  if (cluster < 1)
    return emitError()
           << "expects a cluster of at least one workgroup, but got "
           << cluster;
  constexpr int64_t kMaxCluster = 1024; // more than any chip has
  if (cluster > kMaxCluster)
    return emitError() << "expects a cluster of at most " << kMaxCluster
                       << " workgroups, but got " << cluster;
  if (cluster > 1 && !atomColumns)
    return emitError() << "expects swizzle atoms in a channel of a cluster of "
                       << cluster << " workgroups, but got whole rows";
  // Swizzle atoms are permuted in groups of eight rows.
  constexpr int64_t kRows = 8;
  if (cluster > 1 && shape[0] % (kRows * cluster) != 0)
    return emitError() << "expects a multiple of " << kRows * cluster
                       << " rows, " << kRows << " for each of " << cluster
                       << " workgroups, but got " << shape[0];
  return success();
}
