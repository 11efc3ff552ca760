// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Verifiers and folders of the tile ops.

#include "attune/Dialect/Tile/IR/Tile.h"
#include "attune/Dialect/Tile/IR/Widening.h"
#include "attune/Support/Philox.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace attune::tile;

#define GET_OP_CLASSES
#include "attune/Dialect/Tile/IR/TileOps.cpp.inc"

static LogicalResult verifySameElementType(Operation *op, StringRef leftName,
                                           Type left, StringRef rightName,
                                           Type right) {
  if (left == right)
    return success();
  return op->emitOpError() << "expects " << leftName << " and " << rightName
                           << " to have one element type, but got " << left
                           << " and " << right;
}

static LogicalResult verifySameShape(Operation *op, StringRef leftName,
                                     TileType left, StringRef rightName,
                                     TileType right) {
  if (left.getShape() == right.getShape())
    return success();
  return op->emitOpError() << "expects " << leftName << " and " << rightName
                           << " to have one shape, but got " << left << " and "
                           << right;
}

/// That what lies by threads has whole rows of a buffer.
static LogicalResult verifyByThreads(Operation *op, TileType tile,
                                     MemRefType buffer) {
  SmallVector<int64_t> strides;
  int64_t offset;
  if (tile.getRank() == 2 && buffer.getRank() == 2 &&
      buffer.getDimSize(1) == tile.getShape()[1] &&
      succeeded(buffer.getStridesAndOffset(strides, offset)) &&
      strides[1] == 1 && strides[0] == tile.getShape()[1])
    return success();
  return op->emitOpError() << "expects contiguous rows of the tile's columns "
                              "with 'by_threads', but got "
                           << buffer << " for " << tile;
}

LogicalResult LoadOp::verify() {
  // What goes through shared memory comes from rows.
  TileType type = getResult().getType();
  int64_t rank = getStages() ? 2 : type.getRank();
  if (getSource().getType().getRank() != rank ||
      static_cast<int64_t>(getIndices().size()) != rank)
    return emitOpError() << "expects a source and indices of " << rank
                         << " dimensions for " << type
                         << (getStages() ? " with 'stages'" : "")
                         << ", but got " << getSource().getType().getRank()
                         << " and " << getIndices().size();
  if (getReadOnce() && !getStages())
    return emitOpError() << "expects 'stages' with 'read_once'";
  if (getByThreads() && getStages())
    return emitOpError() << "expects no 'stages' with 'by_threads'";
  if (getByThreads() &&
      failed(verifyByThreads(*this, type, getSource().getType())))
    return failure();
  // What becomes of it.
  if (getStages() &&
      failed(ChannelType::verify([&] { return emitOpError(); },
                                 type.getRowsAndColumns(),
                                 type.getElementType(), *getStages(),
                                 /*swizzle_atom=*/0, /*cluster=*/1,
                                 /*padding=*/0, /*transposed=*/false,
                                 /*paired=*/false, /*chunk=*/0)))
    return failure();
  return verifySameElementType(*this, "source",
                               getSource().getType().getElementType(), "result",
                               getResult().getType().getElementType());
}

LogicalResult StoreOp::verify() {
  int64_t rank = getValue().getType().getRank();
  if (getDestination().getType().getRank() != rank ||
      static_cast<int64_t>(getIndices().size()) != rank)
    return emitOpError() << "expects a destination and indices of the " << rank
                         << " dimensions of the value, but got "
                         << getDestination().getType().getRank() << " and "
                         << getIndices().size();
  if (getStages() && getPath() != StorePath::Buffer)
    return emitOpError() << "expects path 'buffer' with 'stages', but got '"
                         << stringifyStorePath(getPath()) << "'";
  if (getAccumulate() && getPath() == StorePath::OperandSlot)
    return emitOpError() << "expects no path '" << stringifyStorePath(getPath())
                         << "' with 'accumulate'";
  if (getByThreads() && getPath() != StorePath::Direct)
    return emitOpError() << "expects no path '" << stringifyStorePath(getPath())
                         << "' with 'by_threads'";
  if (getByThreads() && failed(verifyByThreads(*this, getValue().getType(),
                                               getDestination().getType())))
    return failure();
  Type element = getValue().getType().getElementType();
  if (element.isInteger() &&
      (getAccumulate() || getPath() != StorePath::Direct))
    return emitOpError() << "expects floats to be added, or to go through "
                            "shared memory, but got "
                         << element;
  return verifySameElementType(
      *this, "value", getValue().getType().getElementType(), "destination",
      getDestination().getType().getElementType());
}

LogicalResult OrderedOp::verifyRegions() {
  for (Operation &op : getBody().front())
    if (!isa<StoreOp, GetOp, StoreAsyncOp, WaitReadsOp, ReleaseOp>(op) &&
        !isMemoryEffectFree(&op))
      return op.emitOpError()
             << "expects to have no effects on memory in 'tile.ordered', "
                "where 'tile.store' alone may, and copies of what is put";
  return success();
}

LogicalResult DeinterleaveOp::verify() {
  auto count = static_cast<int64_t>(getParts().size());
  TileType input = getInput().getType();
  if (count < 2 || input.getRank() != 2)
    return emitOpError("expects at least two parts of a tile of two "
                       "dimensions, but got ")
           << count << " of " << input;
  int64_t dim = getDim(), extent = input.getShape()[dim];
  if (extent % (count * static_cast<int64_t>(getBlock())) != 0)
    return emitOpError("expects ")
           << count << " parts in blocks of " << getBlock()
           << " to divide the input along dimension " << dim << ", but got "
           << input;
  SmallVector<int64_t> shape(input.getShape());
  shape[dim] = extent / count;
  for (Value part : getParts()) {
    auto type = cast<TileType>(part.getType());
    if (type.getShape() != ArrayRef(shape) ||
        type.getElementType() != input.getElementType())
      return emitOpError("expects parts of ")
             << shape[0] << "x" << shape[1] << "x" << input.getElementType()
             << ", but got " << type;
  }
  return success();
}

Value attune::tile::buildChoice(OpBuilder &builder, AlternateOp op, Value even,
                                Value odd) {
  Location loc = op.getLoc();
  Value number = arith::IndexCastOp::create(builder, loc, builder.getI32Type(),
                                            op.getNumber());
  Value isOdd =
      arith::TruncIOp::create(builder, loc, builder.getI1Type(), number);
  return arith::SelectOp::create(builder, loc, isOdd, odd, even);
}

/// That a channel is not shared by workgroups, whose threads put into their
/// own.
static LogicalResult verifyOneWorkgroup(Operation *op, ChannelType channel) {
  if (channel.getCluster() == 1)
    return success();
  return op->emitOpError() << "expects a channel of one workgroup, but got "
                           << channel;
}

/// That what is put comes in the order of the channel.
static LogicalResult verifyInOrder(Operation *op, ChannelType channel) {
  if (!channel.getPaired())
    return success();
  return op->emitOpError()
         << "expects a channel without pairs that alternate, but got "
         << channel;
}

/// That two tiles have one shape, or where `transposed` each other's.
static LogicalResult verifyShapes(Operation *op, StringRef firstName,
                                  TileType first, StringRef secondName,
                                  TileType second, bool transposed) {
  if (!transposed)
    return verifySameShape(op, firstName, first, secondName, second);
  SmallVector<int64_t, 2> shape(llvm::reverse(second.getShape()));
  if (shape.size() == 2 && first.getShape() == ArrayRef(shape))
    return success();
  return op->emitOpError() << "expects " << firstName << " and " << secondName
                           << " with each other's rows and columns where it "
                              "is transposed, but got "
                           << first << " and " << second;
}

LogicalResult WriteOp::verify() {
  if (failed(verifyShapes(*this, "value", getValue().getType(), "destination",
                          getDestination().getType(), getTransposed())))
    return failure();
  return verifySameElementType(
      *this, "value", getValue().getType().getElementType(), "destination",
      getDestination().getType().getElementType());
}

LogicalResult RestageOp::verify() {
  TileType source = getSource().getType();
  ChannelType channel = getChannel().getType();
  if (failed(verifyOneWorkgroup(*this, channel)))
    return failure();
  Type from = source.getElementType(), to = channel.getElementType();
  if (getPacked() && (getTransposed() || !from.isInteger(8) || from == to))
    return emitOpError() << "expects packed elements of i8 that are widened, "
                            "and not transposed, but got "
                         << source << " and " << channel;
  SmallVector<int64_t, 2> shape(source.getShape());
  if (getTransposed())
    std::swap(shape[0], shape[1]);
  if (getPacked())
    shape[1] *= 2;
  if (channel.getShape() != ArrayRef(shape))
    return emitOpError() << "expects a channel of " << shape[0] << "x"
                         << shape[1] << ", but got " << channel;
  if (!getTransposed() && canWiden(from, to))
    return success();
  return verifySameElementType(*this, "source", from, "channel", to);
}

int64_t WriteOp::countColumnParts() {
  int64_t parts = 1;
  if (LayoutAttr layout = getValue().getType().getRegisterLayout())
    for (const Mode &mode : layout.getWarps())
      if (mode.dim == 1)
        parts *= mode.extent;
  return parts;
}

LogicalResult StoreAsyncOp::verify() {
  if (getToken().use_empty())
    return emitOpError() << "expects a 'tile.wait_reads' of its token, but "
                            "nothing uses it";
  return verifySameElementType(
      *this, "source", getSource().getType().getElementType(), "destination",
      getDestination().getType().getElementType());
}

LogicalResult ReadOp::verify() {
  bool isSame =
      !getTransposed() && getSource().getType().getRowsAndColumns() ==
                              getResult().getType().getRowsAndColumns();
  if (!isSame &&
      failed(verifyShapes(*this, "source", getSource().getType(), "result",
                          getResult().getType(), getTransposed())))
    return failure();
  return verifySameElementType(*this, "source",
                               getSource().getType().getElementType(), "result",
                               getResult().getType().getElementType());
}

LogicalResult PutOp::verify() {
  if (failed(verifyInOrder(*this, getChannel().getType())))
    return failure();
  return verifySameElementType(
      *this, "source", getSource().getType().getElementType(), "channel",
      getChannel().getType().getElementType());
}

LogicalResult PutTileOp::verify() {
  ChannelType channel = getChannel().getType();
  if (failed(verifyOneWorkgroup(*this, channel)) ||
      failed(verifyInOrder(*this, channel)))
    return failure();
  if (getValue().getType().getRowsAndColumns() !=
          channel.getTileType().getRowsAndColumns() &&
      failed(verifySameShape(*this, "value", getValue().getType(), "channel",
                             channel.getTileType())))
    return failure();
  return verifySameElementType(*this, "value",
                               getValue().getType().getElementType(), "channel",
                               channel.getElementType());
}

LogicalResult GetOp::verify() {
  if (getResult().getType() != getChannel().getType().getTileType())
    return emitOpError() << "expects a result of type "
                         << getChannel().getType().getTileType() << ", but got "
                         << getResult().getType();
  return success();
}

LogicalResult FillOp::verify() {
  return verifySameElementType(*this, "value", getValue().getType(), "result",
                               getResult().getType().getElementType());
}

/// Whether an atom multiplies the elements of a tile, widened if need be.
static bool takesOperand(Type multiplied, TileType tile) {
  Type stored = tile.getElementType();
  return stored == multiplied || canWiden(stored, multiplied);
}

/// That `atom`, if there is one, computes what the op says.
static LogicalResult verifyAtom(Operation *op, MmaAtomAttr atom, MmaScope scope,
                                TileType lhs, TileType rhs, TileType acc,
                                int64_t depth) {
  if (!atom)
    return success();
  if (atom.getScope() != scope)
    return op->emitOpError()
           << "expects an atom of a " << stringifyMmaScope(scope)
           << ", but got one of a " << stringifyMmaScope(atom.getScope());
  if (!takesOperand(atom.getLhsType(), lhs) ||
      !takesOperand(atom.getRhsType(), rhs) ||
      atom.getAccType() != acc.getElementType())
    return op->emitOpError()
           << "expects an atom of " << lhs.getElementType() << ", "
           << rhs.getElementType() << " and " << acc.getElementType()
           << ", but got one of " << atom.getLhsType() << ", "
           << atom.getRhsType() << " and " << atom.getAccType();
  if (acc.getShape()[0] % atom.getM() != 0 ||
      acc.getShape()[1] % atom.getN() != 0 || depth % atom.getK() != 0)
    return op->emitOpError()
           << "expects sizes that are multiples of the " << atom.getM() << "x"
           << atom.getN() << "x" << atom.getK() << " atom, but got "
           << acc.getShape()[0] << "x" << acc.getShape()[1] << "x" << depth;
  return success();
}

/// That bytes are taken apart by those who can.
template <typename OpTy> static LogicalResult verifyPacking(OpTy op) {
  size_t units = op.getUnitExponents().size();
  if (units && (!op.getPackedRhs() || units != 2))
    return op.emitOpError("expects 2 exponents of units of a packed rhs, but "
                          "got ")
           << units << " beside one that is "
           << (op.getPackedRhs() ? "packed" : "not");
  // Those who widen for a warpgroup know of none.
  if (units && op.getScope() != MmaScope::Warp)
    return op.emitOpError("expects a warp to multiply in units, but got a ")
           << stringifyMmaScope(op.getScope());
  if (!op.getPackedRhs())
    return success();
  Type lhs = op.getLhs().getType().getElementType(),
       rhs = op.getRhs().getType().getElementType();
  if (!rhs.isInteger(8) || !canWiden(rhs, lhs))
    return op.emitOpError()
           << "expects a packed rhs of i8 beside wider floats, but got " << rhs
           << " beside " << lhs;
  MmaAtomAttr atom = op.getAtomAttr();
  if (!atom)
    return success();
  int64_t part = op.getRhs().getType().getShape()[1],
          unit = op.getTransposeRhs() ? atom.getK() : atom.getN();
  if (part % unit != 0)
    return op.emitOpError() << "expects parts of a packed rhs of a multiple of "
                            << unit << " columns, but got " << part;
  return success();
}

template <typename OpTy> static LogicalResult verifyMultiply(OpTy op) {
  TileType lhs = op.getLhs().getType(), rhs = op.getRhs().getType(),
           acc = PendingType::getOf(op.getAcc().getType()).getTile();
  if (lhs.getRank() != 2 || rhs.getRank() != 2 || acc.getRank() != 2)
    return op.emitOpError() << "expects operands of two dimensions, but got "
                            << lhs << ", " << rhs << " and " << acc;
  bool transposed = op.getTransposeLhs();
  int64_t lhsM = lhs.getShape()[transposed ? 1 : 0],
          lhsK = lhs.getShape()[transposed ? 0 : 1],
          rhsK = rhs.getShape()[op.getTransposeRhs() ? 1 : 0],
          rhsN = rhs.getShape()[op.getTransposeRhs() ? 0 : 1];
  if (op.getPackedRhs())
    (op.getTransposeRhs() ? rhsK : rhsN) *= 2;
  if (lhsK != rhsK)
    return op.emitOpError() << "expects lhs and rhs to agree on k, but got "
                            << lhsK << " and " << rhsK;
  if (acc.getShape()[0] != lhsM || acc.getShape()[1] != rhsN)
    return op.emitOpError()
           << "expects an accumulator of " << lhsM << "x" << rhsN
           << ", but got " << acc.getShape()[0] << "x" << acc.getShape()[1];
  if (op.getWarpsN() > 1 && op.getReplicas() > 1)
    return op.emitOpError()
           << "expects columns that are shared or computed by "
              "all, but got warps_n "
           << op.getWarpsN() << " and replicas " << op.getReplicas();
  if (failed(verifyPacking(op)))
    return failure();
  return verifyAtom(op, op.getAtomAttr(), op.getScope(), lhs, rhs, acc, rhsK);
}

template <typename OpTy> static int64_t getDepth(OpTy op) {
  return op.getLhs().getType().getShape()[op.getTransposeLhs() ? 0 : 1];
}

std::pair<int64_t, int64_t> MmaOp::getTermRange() {
  return {0, getDepth(*this)};
}

std::pair<int64_t, int64_t> MmaAsyncOp::getTermRange() {
  ArrayRef<int64_t> terms = getTerms();
  if (terms.empty())
    return {0, getDepth(*this)};
  return {terms.front(), terms.back()};
}

LogicalResult MmaOp::verify() { return verifyMultiply(*this); }

LogicalResult MmaAsyncOp::verify() {
  if (failed(verifyMultiply(*this)))
    return failure();
  ArrayRef<int64_t> terms = getTerms();
  if (terms.empty())
    return success();
  int64_t depth = getDepth(*this);
  if (terms.size() != 2 || terms[0] < 0 || terms[0] >= terms[1] ||
      terms[1] > depth)
    return emitOpError() << "expects terms [from, to] of the " << depth
                         << " that there are, but got [" << terms << "]";
  if (getPackedRhs())
    return emitOpError("expects all terms of a packed rhs, but got [")
           << terms << "]";
  MmaAtomAttr atom = getAtomAttr();
  if (atom && (terms[0] % atom.getK() != 0 || terms[1] % atom.getK() != 0))
    return emitOpError() << "expects terms that are multiples of the atom's "
                         << atom.getK() << ", but got [" << terms << "]";
  return success();
}

void MapOp::build(OpBuilder &builder, OperationState &state,
                  TileType resultType, ValueRange inputs,
                  function_ref<Value(OpBuilder &, Location, ValueRange)> body) {
  state.addTypes(resultType);
  state.addOperands(inputs);
  OpBuilder::InsertionGuard guard(builder);
  Block *block = builder.createBlock(state.addRegion());
  for (Value input : inputs)
    block->addArgument(cast<TileType>(input.getType()).getElementType(),
                       state.location);
  for (int64_t dim = 0; dim < resultType.getRank(); ++dim)
    block->addArgument(builder.getIndexType(), state.location);
  YieldOp::create(builder, state.location,
                  body(builder, state.location, block->getArguments()));
}

LogicalResult MapOp::verify() {
  for (Value input : getInputs()) {
    auto type = cast<TileType>(input.getType());
    if (failed(verifySameShape(*this, "input", type, "result",
                               getResult().getType())))
      return failure();
    if (type.getLayout() != getResult().getType().getLayout())
      return emitOpError()
             << "expects inputs and result of one layout, but got " << type
             << " and " << getResult().getType();
  }
  return success();
}

LogicalResult MapOp::verifyRegions() {
  int64_t rank = getResult().getType().getRank();
  Block &block = getBody().front();
  if (static_cast<int64_t>(block.getNumArguments()) !=
      static_cast<int64_t>(getInputs().size()) + rank)
    return emitOpError() << "expects a region with " << getInputs().size()
                         << " element and " << rank
                         << " index arguments, but got "
                         << block.getNumArguments();
  for (auto [argument, input] : llvm::zip(block.getArguments(), getInputs()))
    if (argument.getType() != cast<TileType>(input.getType()).getElementType())
      return emitOpError() << "expects region argument "
                           << argument.getArgNumber() << " to be "
                           << cast<TileType>(input.getType()).getElementType()
                           << ", but got " << argument.getType();
  for (BlockArgument argument : block.getArguments().take_back(rank))
    if (!argument.getType().isIndex())
      return emitOpError() << "expects region argument "
                           << argument.getArgNumber()
                           << " to be index, but got " << argument.getType();
  WalkResult scalar = getBody().walk([&](Operation *op) {
    if (op == block.getTerminator() || isa<IsKeptOp>(op) ||
        !isa<TileDialect>(op->getDialect()))
      return WalkResult::advance();
    op->emitOpError() << "expects no tiles inside of a '" << getOperationName()
                      << "'";
    return WalkResult::interrupt();
  });
  if (scalar.wasInterrupted())
    return failure();
  auto yield = cast<YieldOp>(block.getTerminator());
  if (!yield.getValue() ||
      yield.getValue().getType() != getResult().getType().getElementType())
    return yield.emitOpError() << "expects a value of type "
                               << getResult().getType().getElementType();
  return success();
}

Value IsKeptOp::expand(OpBuilder &builder, IsKeptOp op,
                       function_ref<Value(Value)> lookup) {
  PhiloxSeed seed{{lookup(op.getSeed0()), lookup(op.getSeed1())},
                  lookup(op.getOffset())};
  return Philox(op.getLoc(), builder)
      .isKept(seed, lookup(op.getHead()), lookup(op.getQuery()),
              lookup(op.getKey()), static_cast<int64_t>(op.getThreshold()));
}

/// A 1-D tile with an element for each place along dimension `dim` of a 2-D
/// tile.
static LogicalResult verifyVector(Operation *op, TileType vector,
                                  TileType matrix, int64_t dim) {
  if (vector.getRank() != 1 || matrix.getRank() != 2 ||
      vector.getShape()[0] != matrix.getShape()[dim])
    return op->emitOpError()
           << "expects a 1-D tile with one element per "
           << (dim == 0 ? "row" : "column") << " of a 2-D tile, but got "
           << vector << " and " << matrix;
  if (LayoutAttr layout = matrix.getRegisterLayout())
    if (vector.getLayout() != layout.dropDim(1 - dim))
      return op->emitOpError()
             << "expects the 1-D tile to have layout "
             << layout.dropDim(1 - dim) << ", but got " << vector.getLayout();
  return verifySameElementType(op, "input", vector.getElementType(), "result",
                               matrix.getElementType());
}

LogicalResult ReduceOp::verify() {
  TileType input = getInput().getType(), result = getResult().getType();
  int64_t kept = 1 - static_cast<int64_t>(getDim());
  if (result.getRank() == 1)
    return verifyVector(*this, result, input, kept);
  if (kept != 0)
    return emitOpError() << "expects a 1-D result with 'dim 0', but got "
                         << result;
  if (input.getRank() != 2 || result.getShape()[0] != input.getShape()[0])
    return emitOpError()
           << "expects a result with the rows of the input, but got " << result
           << " and " << input;
  if (LayoutAttr layout = input.getRegisterLayout())
    if (result.getLayout() != layout.getPartialColumns())
      return emitOpError() << "expects a partial result to have layout "
                           << layout.getPartialColumns() << ", but got "
                           << result.getLayout();
  return verifySameElementType(*this, "input", input.getElementType(), "result",
                               result.getElementType());
}

LogicalResult AnyOp::verify() {
  if (getInput().getType().getElementType().isInteger(1))
    return success();
  return emitOpError() << "expects elements of type i1, but got "
                       << getInput().getType().getElementType();
}

LogicalResult BroadcastOp::verify() {
  return verifyVector(*this, getInput().getType(), getResult().getType(),
                      static_cast<int64_t>(getDim()));
}

LogicalResult SwapColumnsOp::verify() {
  TileType type = getInput().getType();
  if (type.getRank() != 2)
    return emitOpError() << "expects a 2-D tile, but got " << type;
  auto stride = static_cast<int64_t>(getStride());
  int64_t columns = type.getShape()[1];
  if (stride > columns || columns % (2 * stride) != 0)
    return emitOpError() << "expects columns in pairs of " << stride
                         << " and as many, but got " << columns;
  return success();
}

LogicalResult ConvertLayoutOp::verify() {
  if (failed(verifySameShape(*this, "input", getInput().getType(), "result",
                             getResult().getType())))
    return failure();
  return verifySameElementType(*this, "input",
                               getInput().getType().getElementType(), "result",
                               getResult().getType().getElementType());
}

OpFoldResult ConvertLayoutOp::fold(FoldAdaptor) {
  if (getInput().getType() == getResult().getType())
    return getInput();
  return {};
}
