// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Views of buffers that find rows in ways of their own: in pages, as two
// dimensions, or alternately in several.

#include "attune/Dialect/Tile/IR/Tile.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace attune::tile;

/// A buffer without the first dimension, and with so many rows in the next one.
static MemRefType dropFirst(MemRefType type, int64_t rows) {
  SmallVector<int64_t> shape(type.getShape().drop_front()), strides;
  int64_t offset;
  MemRefLayoutAttrInterface layout;
  bool isStrided = succeeded(type.getStridesAndOffset(strides, offset));
  if (isStrided && !type.getLayout().isIdentity())
    layout = StridedLayoutAttr::get(type.getContext(), offset,
                                    ArrayRef<int64_t>(strides).drop_front());
  shape.front() = rows;
  return MemRefType::get(shape, type.getElementType(), layout,
                         type.getMemorySpace());
}

MemRefType PagedOp::getViewOf(Type source) {
  auto type = cast<MemRefType>(source);
  if (type.getRank() == 3)
    return dropFirst(type, ShapedType::kDynamic);
  SmallVector<int64_t> shape(type.getShape());
  shape.front() = ShapedType::kDynamic;
  return MemRefType::get(shape, type.getElementType(), type.getLayout(),
                         type.getMemorySpace());
}

MemRefType FlattenedOp::getViewOf(Type source) {
  auto type = cast<MemRefType>(source);
  bool isKnown = !type.isDynamicDim(0) && !type.isDynamicDim(1);
  return dropFirst(type, isKnown ? type.getDimSize(0) * type.getDimSize(1)
                                 : ShapedType::kDynamic);
}

/// What does not know of how a view finds its rows would read others.
template <typename... Known>
static LogicalResult verifyUsers(Operation *view, StringRef names) {
  for (Operation *user : view->getUsers())
    if (!isa<Known...>(user)) {
      InFlightDiagnostic diagnostic =
          view->emitOpError("expects to be used by ")
          << names << " alone, but got '" << user->getName() << "'";
      diagnostic.attachNote(user->getLoc()) << "used here";
      return diagnostic;
    }
  return success();
}

LogicalResult PagedOp::verify() {
  if (hasPageDim()) {
    if (getPage() != 1)
      return emitOpError("expects no 'pages of' for a buffer whose second "
                         "dimension has the rows of a page, but got ")
             << getPage();
    if (!getSource().getType().isStrided())
      return emitOpError("expects a buffer of pages with strides, but got ")
             << getSource().getType();
    // The number that stands for an unknown one is below 0.
    if (getPageSize() < 1)
      return emitOpError("expects a static number of rows in a page, of at "
                         "least 1, but got ")
             << getSource().getType();
    if (getPageSize() % static_cast<int64_t>(getUnit()) != 0)
      return emitOpError("expects units that divide the ")
             << getPageSize() << " rows of a page, but got " << getUnit();
  } else if (getRows()) {
    return emitOpError("expects a buffer of three dimensions, the first of "
                       "which counts pages, with 'rows', but got ")
           << getSource().getType();
  }
  if (getUnit() != 1 && !getRows())
    return emitOpError("expects no units without 'rows', but got ")
           << getUnit();
  return verifyUsers<LoadOp, StoreOp, PutOp>(
      *this, "tile.load, tile.store and tile.put");
}

LogicalResult FlattenedOp::verify() {
  if (!getSource().getType().isStrided())
    return emitOpError("expects a buffer with strides, but got ")
           << getSource().getType();
  // The number that stands for an unknown one is below 0.
  if (getInnerRows() < 1)
    return emitOpError("expects a static size of the second dimension, of at "
                       "least 1, but got ")
           << getSource().getType();
  return verifyUsers<LoadOp, StoreOp, PutOp>(
      *this, "tile.load, tile.store and tile.put");
}

// Called by parsers, for which nothing is verified yet.
LogicalResult
InterleavedOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                ValueRange operands, DictionaryAttr,
                                OpaqueProperties properties, RegionRange,
                                SmallVectorImpl<Type> &inferred) {
  if (operands.empty())
    return emitOptionalError(location,
                             "expects at least two sources, but got 0");
  auto type = dyn_cast<MemRefType>(operands.front().getType());
  if (!type || type.getRank() != 2)
    return emitOptionalError(
        location,
        "expects sources that are memrefs of two dimensions, but got ",
        operands.front().getType());
  IntegerAttr attribute = properties.as<Properties *>()->dim;
  int64_t dim =
      attribute ? attribute.getInt() : 0; // the default is not set yet
  if (dim < 0 || dim > 1)
    return emitOptionalError(location, "expects dimension 0 or 1, but got ",
                             dim);
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] = ShapedType::kDynamic;
  inferred.push_back(MemRefType::get(shape, type.getElementType(),
                                     type.getLayout(), type.getMemorySpace()));
  return success();
}

LogicalResult InterleavedOp::verify() {
  if (getSources().size() < 2)
    return emitOpError("expects at least two sources, but got ")
           << getSources().size();
  return verifyUsers<LoadOp, PutOp>(*this, "tile.load and tile.put");
}
