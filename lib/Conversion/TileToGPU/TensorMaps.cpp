// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensor maps: a kernel takes them by value, so they are arguments, made on the
// host right before the launch.

#include "TensorMaps.h"
#include "Views.h"
#include "attune/Dialect/Launch/IR/Launch.h"
#include "attune/Dialect/Tile/IR/Alignment.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace attune;

static FailureOr<TensorView> traceSubview(OpBuilder &b,
                                          memref::SubViewOp subview) {
  FailureOr<TensorView> source = traceView(b, subview.getSource());
  if (failed(source))
    return failure();
  TensorView view{source->tensor, source->origin, {}, source->pageDim};
  llvm::SmallBitVector dropped = tile::findDroppedDims(subview);
  for (auto [i, dim] : llvm::enumerate(source->dims)) {
    if (!isConstantIntValue(subview.getMixedStrides()[i], 1))
      return failure();
    OpFoldResult offset = subview.getMixedOffsets()[i];
    if (!isConstantIntValue(offset, 0)) {
      Value value =
          getValueOrCreateConstantIndexOp(b, subview.getLoc(), offset);
      Value &origin = view.origin[dim];
      origin = origin ? b.createOrFold<arith::AddIOp>(subview.getLoc(), origin,
                                                      value)
                      : value;
    }
    if (!dropped[i])
      view.dims.push_back(dim);
  }
  return view;
}

FailureOr<TensorView> attune::traceView(OpBuilder &b, Value view) {
  if (auto subview = view.getDefiningOp<memref::SubViewOp>())
    return traceSubview(b, subview);
  // Where a view turns out to start at a known place.
  if (auto cast = view.getDefiningOp<memref::CastOp>())
    return traceView(b, cast.getSource());
  if (auto transpose = view.getDefiningOp<memref::TransposeOp>()) {
    FailureOr<TensorView> source = traceView(b, transpose.getIn());
    if (failed(source))
      return failure();
    source->dims =
        applyPermutationMap<int64_t>(transpose.getPermutation(), source->dims);
    return source;
  }
  if (PagedRows rows(view); rows.getPage()) {
    FailureOr<TensorView> source = traceView(b, rows.getBuffer());
    if (succeeded(source) && rows.hasPageDim()) {
      source->pageDim = source->dims.front();
      source->dims.erase(source->dims.begin());
    }
    return source;
  }
  if (!isa<BlockArgument>(view))
    return failure();
  int64_t rank = cast<MemRefType>(view.getType()).getRank();
  TensorView whole{view, SmallVector<Value, 5>(rank), {}};
  llvm::append_range(whole.dims, llvm::seq<int64_t>(0, rank));
  return whole;
}

namespace {

/// One tensor map of a kernel.
struct Map {
  unsigned tensor;
  MemRefType box;
  tile::SwizzleAttr swizzle;
  unsigned argument;
};

} // namespace

static void addToManifest(gpu::GPUFuncOp kernel, const Map &map) {
  launch::ManifestAttr manifest = launch::getManifest(kernel);
  if (!manifest || !manifest.getArguments())
    return;
  Attribute tensor = manifest.getArguments()[map.tensor];
  auto workspace = dyn_cast<launch::WorkspaceAttr>(tensor);
  StringRef name = workspace ? workspace.getName()
                             : cast<launch::BufferAttr>(tensor).getName();
  MLIRContext *context = kernel.getContext();
  launch::setManifest(
      kernel,
      manifest.withArgument(launch::TensorMapAttr::get(
          context, (name + "_map").str(), map.tensor,
          DenseI64ArrayAttr::get(context, map.box.getShape()),
          map.swizzle.getPermutedBytes(map.box.getElementTypeBitWidth()))));
}

static void addToLaunches(gpu::GPUFuncOp kernel, const Map &map, Type type,
                          const CopyEngine &engine) {
  auto gpuModule = kernel->getParentOfType<gpu::GPUModuleOp>();
  kernel->getParentOfType<ModuleOp>().walk([&](gpu::LaunchFuncOp launch) {
    if (launch.getKernelModuleName() != gpuModule.getName() ||
        launch.getKernelName() != kernel.getName())
      return;
    OpBuilder host(launch);
    Value made = engine.createMap(host, launch.getLoc(), type,
                                  launch.getKernelOperand(map.tensor));
    launch.getKernelOperandsMutable().append(made);
  });
}

StoredParts StoredParts::get(Operation *op, Value tile,
                             const KernelContext &context) {
  if (isOfOneThread(op))
    return {1, 1};
  int64_t groups = context.countWarpgroups(context.getWarps(op)), columns = 1;
  for (Operation *user : tile.getUsers())
    if (auto write = dyn_cast<tile::WriteOp>(user))
      columns = write.getTransposed() ? groups : write.countColumnParts();
  return {groups / columns, columns};
}

namespace {
/// What an op copies to or from shared memory, a TMA box at a time.
struct Copied {
  Value view;
  tile::TileType tile;
  BoxRows box;
};
} // namespace

static SmallVector<Copied> getCopied(Operation *op,
                                     const KernelContext &context) {
  SmallVector<Copied> copied;
  if (auto put = dyn_cast<tile::PutOp>(op)) {
    tile::ChannelType channel = put.getChannel().getType();
    if (channel.getSwizzleAtom())
      for (const CopiedBuffer &part : getCopiedBuffers(put))
        copied.push_back({part.buffer, channel.getTileType(), part.box});
  } else if (auto store = dyn_cast<tile::StoreAsyncOp>(op)) {
    tile::TileType type = store.getSource().getType();
    copied.push_back(
        {store.getDestination(),
         type,
         {1,
          type.getShape()[0] /
              StoredParts::get(store, store.getSource(), context).alongRows}});
  }
  return copied;
}

/// The swizzle repeats after so many rows.
static constexpr int64_t kAtomRows = 8;

/// That whole pages of two dimensions are one TMA box, and the rows behind them
/// another one.
static LogicalResult checkFlattened(tile::PutOp put) {
  tile::ChannelType type = put.getChannel().getType();
  int64_t page = PagedRows(put.getSource()).getPage();
  if (type.getCluster() > 1)
    return put.emitOpError() << "expects a channel of one workgroup for rows "
                                "of two dimensions, but got one of "
                             << type.getCluster();
  if (int64_t divisor = knownDivisor(put.getRow()); divisor % page != 0)
    return put.emitOpError()
           << "expects a first row that is known to be a multiple of the "
           << page << " rows of the second of two dimensions, but got one of "
           << divisor;
  int64_t first = getCopiedBuffers(put).front().box.count(),
          bytes = first * type.getSwizzleAtom() *
                  type.getElementType().getIntOrFloatBitWidth() / 8;
  if (first != type.getShape()[0] && bytes % CopyEngine::kSharedAlignment != 0)
    return put.emitOpError()
           << "expects TMA boxes in shared memory at multiples of "
           << CopyEngine::kSharedAlignment << " bytes, but got " << first
           << " rows of " << bytes / first << " bytes in front of one";
  return success();
}

/// That TMA boxes end where pages do: then each has one place in the buffer.
static LogicalResult checkPages(Operation *op) {
  auto put = dyn_cast<tile::PutOp>(op);
  int64_t page = put ? PagedRows(put.getSource()).getPage() : 0;
  if (!page)
    return success();
  if (PagedRows(put.getSource()).isFlattened())
    return checkFlattened(put);
  int64_t copied = put.getChannel().getType().getCopiedRows(),
          rows = getCopiedBuffers(put).front().box.count();
  if (copied % rows != 0 || page % rows != 0 || rows % kAtomRows != 0)
    return op->emitOpError()
           << "expects pages of a multiple or, in multiples of " << kAtomRows
           << ", a part of the " << copied
           << " rows that the copy engine copies, but got pages of " << page;
  if (int64_t unit = PagedRows(put.getSource()).getUnit(); unit && unit != rows)
    return op->emitOpError()
           << "expects rows that end in units of the " << rows
           << " rows of a TMA box in a page, but got units of " << unit;
  if (int64_t divisor = knownDivisor(put.getRow()); divisor % rows != 0)
    return op->emitOpError()
           << "expects a first row that is known to be a multiple of the "
           << rows << " rows of a TMA box in a page, but got one of "
           << divisor;
  return success();
}

/// That TMA boxes lie in a block of one buffer each.
static LogicalResult checkBlocks(Operation *op) {
  auto put = dyn_cast<tile::PutOp>(op);
  auto view = put ? put.getSource().getDefiningOp<tile::InterleavedOp>()
                  : tile::InterleavedOp();
  if (!view)
    return success();
  tile::ChannelType type = put.getChannel().getType();
  auto block = static_cast<int64_t>(view.getBlock());
  bool ofRows = view.getDim() == 0;
  int64_t unit = ofRows ? kAtomRows * type.getCluster() : type.getSwizzleAtom();
  if (block % unit != 0)
    return op->emitOpError() << "expects blocks of a multiple of " << unit
                             << (ofRows ? " rows" : " columns")
                             << " of interleaved buffers, but got " << block;
  int64_t all = block * static_cast<int64_t>(view.getSources().size());
  if (int64_t extent = type.getShape()[view.getDim()]; extent % all != 0)
    return op->emitOpError()
           << "expects a tile of a multiple of the " << all
           << (ofRows ? " rows" : " columns")
           << " of a block of each interleaved buffer, but got " << extent;
  if (int64_t divisor = knownDivisor(ofRows ? put.getRow() : put.getColumn());
      divisor % all != 0)
    return op->emitOpError()
           << "expects a start that is known to be a multiple of the " << all
           << (ofRows ? " rows" : " columns")
           << " of a block of each interleaved buffer, but got one of "
           << divisor;
  return success();
}

namespace {
/// Gives kernels their tensor maps.
class MapAdder {
public:
  MapAdder(gpu::GPUFuncOp kernel, const KernelContext &context)
      : kernel(kernel), context(context),
        engine(*context.model->getCopyEngine()) {}
  LogicalResult add(Operation *op);

private:
  /// The argument that is the map of what is copied; null where there is none.
  Value getMap(Operation *op, const Copied &copied);

  gpu::GPUFuncOp kernel;
  const KernelContext &context;
  const CopyEngine &engine;
  SmallVector<Map> maps;
};
} // namespace

Value MapAdder::getMap(Operation *op, const Copied &copied) {
  OpBuilder b(op);
  FailureOr<TensorView> view = traceView(b, copied.view);
  auto argument =
      succeeded(view) ? dyn_cast<BlockArgument>(view->tensor) : BlockArgument();
  int64_t rank = argument ? cast<MemRefType>(argument.getType()).getRank() : 0;
  if (!argument || argument.getOwner() != &kernel.getBody().front() ||
      view->dims[1] != rank - 1) {
    op->emitOpError() << "expects a view, with rows of neighbours, of an "
                         "argument of the kernel to copy TMA boxes of, but got "
                      << copied.view.getType();
    return Value();
  }
  auto space = gpu::AddressSpaceAttr::get(kernel.getContext(),
                                          gpu::AddressSpace::Workgroup);
  auto swizzle = cast<tile::SwizzleAttr>(copied.tile.getLayout());
  SmallVector<int64_t> box(rank, 1);
  if (view->pageDim)
    box[*view->pageDim] = copied.box.pages;
  box[view->dims[0]] = copied.box.ofPage;
  box[view->dims[1]] = swizzle.getSwizzleAtom();
  Map map{argument.getArgNumber(),
          MemRefType::get(box, copied.tile.getElementType(),
                          MemRefLayoutAttrInterface(), space),
          swizzle, 0};
  auto *known = llvm::find_if(maps, [&](const Map &other) {
    return other.tensor == map.tensor && other.box == map.box &&
           other.swizzle == map.swizzle;
  });
  if (known == maps.end()) {
    Type type = engine.getMapType(map.box, map.swizzle);
    map.argument = kernel.getNumArguments();
    (void)kernel.insertArgument(map.argument, type, DictionaryAttr(),
                                kernel.getLoc());
    addToManifest(kernel, map);
    addToLaunches(kernel, map, type, engine);
    maps.push_back(map);
    known = &maps.back();
  }
  return kernel.getArgument(known->argument);
}

LogicalResult MapAdder::add(Operation *op) {
  SmallVector<Copied> copied = getCopied(op, context);
  if (copied.empty())
    return success();
  if (failed(checkPages(op)) || failed(checkBlocks(op)))
    return failure();
  SmallVector<Value> own;
  for (const Copied &part : copied) {
    own.push_back(getMap(op, part));
    if (!own.back())
      return failure();
  }
  if (auto put = dyn_cast<tile::PutOp>(op))
    put.getMapsMutable().assign(own);
  else
    cast<tile::StoreAsyncOp>(op).getMapMutable().assign(own.front());
  return success();
}

LogicalResult attune::addTensorMaps(gpu::GPUFuncOp kernel,
                                    const KernelContext &context) {
  MapAdder adder(kernel, context);
  WalkResult result = kernel.walk([&](Operation *op) {
    return failed(adder.add(op)) ? WalkResult::interrupt()
                                 : WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}
