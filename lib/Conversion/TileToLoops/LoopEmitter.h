// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What each tile op means, as loops over the elements of buffers. Written from
// the descriptions of the ops alone: it is there to check convert-tile-to-gpu,
// with which it shares nothing.

#ifndef ATTUNE_LIB_CONVERSION_TILETOLOOPS_LOOPEMITTER_H
#define ATTUNE_LIB_CONVERSION_TILETOLOOPS_LOOPEMITTER_H

#include "attune/Dialect/Tile/IR/Tile.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace attune {

/// Writes the loops of one kernel beside its tile ops, which stay. A tile is a
/// buffer of its own, so that a value never changes: what loops and branches
/// carry is copied.
class LoopEmitter {
public:
  explicit LoopEmitter(mlir::gpu::GPUFuncOp kernel);

  /// Emits all ops of `block` and what is nested in them.
  llvm::LogicalResult emit(mlir::Block &block);

  /// The ops that have been emitted and are to be erased, definitions before
  /// uses.
  llvm::ArrayRef<mlir::Operation *> getEmitted() const { return emitted; }
  /// Ops that carry tiles: scf.for and scf.if.
  llvm::ArrayRef<mlir::Operation *> getCarriers() const { return carriers; }
  /// Of all buffers.
  int64_t getBytes() const { return bytes; }

private:
  using Body = llvm::function_ref<void(mlir::ValueRange indices)>;

  /// What stands in a channel: a buffer of all slots, and for each slot the
  /// element in it (-1: none), whether it is held, and how many puts had been
  /// issued with it; and how many elements have been released.
  struct Channel {
    mlir::Value slots, element, held, sequence, released;
  };

  llvm::LogicalResult emit(mlir::Operation *op);
  /// An op of the tile dialect that nothing more is expected of.
  void emitWithoutRules(mlir::Operation *op);
  llvm::LogicalResult checkOperands(mlir::Operation *op);
  llvm::LogicalResult emitFor(mlir::scf::ForOp op);
  llvm::LogicalResult emitIf(mlir::scf::IfOp op);
  llvm::LogicalResult emitWhile(mlir::scf::WhileOp op);
  llvm::LogicalResult emitReduce(tile::ReduceOp op);
  template <typename OpTy> llvm::LogicalResult emitMultiply(OpTy op);
  void emitWait(mlir::Value pending);
  llvm::LogicalResult emitSpecialize(tile::SpecializeOp op);
  /// Runs the producers up to the put of what `op` gets.
  void emitFetch(tile::GetOp op);
  /// One put of these producers.
  void emitFetchedPut(tile::PutOp put, tile::GetOp get, mlir::Value found);
  /// The program, of the roles at hand, that puts into the channel.
  mlir::Region *findProducers(mlir::Value channel);
  bool isProduced(mlir::Value channel);
  void emitLoad(tile::LoadOp op);
  /// Of a tile in registers or in shared memory.
  void emitStore(mlir::Value tile, mlir::Value view, mlir::ValueRange first,
                 bool accumulate, bool byThreads = false);
  /// Row and column, from the first ones on, where an element of a tile is that
  /// lies by threads.
  llvm::SmallVector<mlir::Value> findByThreads(tile::TileType type,
                                               mlir::ValueRange indices);
  void emitChannel(tile::ChannelOp op);
  void emitPut(tile::PutOp op);
  void emitPutTile(tile::PutTileOp op);
  void emitRestage(tile::RestageOp op);
  void emitDeinterleave(tile::DeinterleaveOp op);
  void emitGet(tile::GetOp op);
  void emitRelease(tile::ReleaseOp op);
  void emitMap(tile::MapOp op);
  void emitSwapColumns(tile::SwapColumnsOp op);
  void emitAny(tile::AnyOp op);
  /// Copies the element of a put into its slot, which is held from then on.
  void fillSlot(tile::PutOp op);
  /// Has the slot of `element`, which is returned, hold it.
  mlir::Value takeSlot(mlir::Value channel, mlir::Value element);
  void expectFree(mlir::Value channel, mlir::Value element);

  mlir::Value allocate(mlir::MemRefType type);
  /// A new buffer for a tile, also one that is pending.
  mlir::Value define(mlir::Value tile);
  /// The buffer of a tile, at a place where it is read.
  mlir::Value read(mlir::Value tile);
  /// Copies tiles that a terminator carries into `targets`, by result; null
  /// where the value is no tile.
  void carry(mlir::Operation *terminator, mlir::ValueRange targets);

  /// A count of what has happened so far, that starts at 0.
  mlir::Value allocateCounter();
  /// Adds 1 to it and returns the sum.
  mlir::Value countOne(mlir::Value counter);

  mlir::Value index(int64_t value);
  mlir::Value zero(mlir::Type type);
  /// A loop for each dimension.
  void forEach(llvm::ArrayRef<int64_t> shape, Body body);
  /// Indices of a 1-D tile in its row, where `rank` says that it is one.
  llvm::SmallVector<mlir::Value> asPlace(mlir::ValueRange indices,
                                         int64_t rank);
  void copy(mlir::Value source, mlir::Value target, bool transposed = false);
  mlir::Value load(mlir::Value buffer, mlir::ValueRange indices);
  void store(mlir::Value value, mlir::Value buffer, mlir::ValueRange indices);
  /// The buffer behind a view, and the position in it; no row has number -1.
  std::pair<mlir::Value, llvm::SmallVector<mlir::Value>>
  locate(mlir::Value view, llvm::ArrayRef<mlir::Value> position);
  /// The same for a source with a dimension of pages.
  llvm::SmallVector<mlir::Value>
  locateInPages(tile::PagedOp paged, llvm::ArrayRef<mlir::Value> position);
  /// Whether `position` lies in `buffer`.
  mlir::Value isInside(mlir::Value buffer, mlir::ValueRange position);
  /// The element of a buffer, or 0 outside of it.
  mlir::Value loadOrZero(mlir::Value buffer, mlir::ValueRange position,
                         bool inBounds);
  mlir::Value getSlot(mlir::Value channel, mlir::Value element);
  /// Ends the kernel where `condition` is false.
  void expect(mlir::Value condition, llvm::StringRef message);
  /// Ends it where the slot of `element` does not hold that.
  void expectHeld(mlir::Value channel, mlir::Value element,
                  llvm::StringRef message);

  mlir::gpu::GPUFuncOp kernel;
  mlir::ImplicitLocOpBuilder builder;
  llvm::DenseMap<mlir::Value, mlir::Value> buffers;
  llvm::DenseMap<mlir::Value, Channel> channels;
  /// Number of puts so far, of all channels.
  mlir::Value puts;
  /// The programs of the producers, inside of the consumers'.
  llvm::SmallVector<mlir::Region *> producers;
  llvm::SmallVector<mlir::Operation *> emitted, carriers;
  int64_t bytes = 0;
};

} // namespace attune

#endif // ATTUNE_LIB_CONVERSION_TILETOLOOPS_LOOPEMITTER_H
