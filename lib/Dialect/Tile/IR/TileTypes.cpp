// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Types of the tile dialect.

#include "attune/Dialect/Tile/IR/Tile.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

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
  if (shape[1] % (swizzle.getVector() << swizzle.getBits()) != 0)
    return emitError() << "expects rows that are a multiple of the "
                       << (swizzle.getVector() << swizzle.getBits())
                       << " elements that the swizzle permutes, but got "
                       << shape[1];
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

int64_t TileType::getSizeInBytes() const {
  return getNumElements() * getElementType().getIntOrFloatBitWidth() / 8;
}

TileType ChannelType::getTileType() const {
  int64_t elementBytes = getElementType().getIntOrFloatBitWidth() / 8;
  SwizzleAttr swizzle =
      SwizzleAttr::getForRow(getContext(), getShape()[1], elementBytes);
  if (getSwizzleAtom())
    swizzle = getShape()[0] == 1
                  ? SwizzleAttr::get(getContext(), swizzle.getVector(),
                                     /*bits=*/0, /*shift=*/0, getSwizzleAtom())
                  : SwizzleAttr::getForSwizzleAtom(
                        getContext(), getSwizzleAtom(), elementBytes);
  return TileType::get(getContext(), getShape(), getElementType(),
                       MemorySpace::Shared, swizzle);
}

int64_t ChannelType::getSizeInBytes() const {
  return ShapedType::getNumElements(getShape()) * getStages() *
         getElementType().getIntOrFloatBitWidth() / 8;
}

LogicalResult ChannelType::verify(function_ref<InFlightDiagnostic()> emitError,
                                  ArrayRef<int64_t> shape, Type elementType,
                                  int64_t stages, int64_t atomColumns,
                                  int64_t cluster) {
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
