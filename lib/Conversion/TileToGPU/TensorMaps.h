// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which TMA box of which tensor a put or a store copies, and the tensor maps
// that the kernel takes for that.

#ifndef ATTUNE_LIB_CONVERSION_TILETOGPU_TENSORMAPS_H
#define ATTUNE_LIB_CONVERSION_TILETOGPU_TENSORMAPS_H

#include "KernelContext.h"
#include "attune/Dialect/Tile/IR/Tile.h"
#include "attune/Target/CopyEngine.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace attune {

/// A 2-D view as part of the tensor that it is a view of.
struct TensorView {
  mlir::Value tensor;
  /// Where the view starts; null for 0.
  llvm::SmallVector<mlir::Value, 5> origin;
  /// The tensor's dimension behind each dimension of the view.
  llvm::SmallVector<int64_t, 2> dims;
  /// That of pages, where rows lie in such of their own.
  std::optional<int64_t> pageDim = std::nullopt;
};

/// Follows views to the tensor. Index arithmetic is emitted at `builder`, after
/// the view.
mlir::FailureOr<TensorView> traceView(mlir::OpBuilder &builder,
                                      mlir::Value view);

/// How many warpgroups share the rows and the columns of a tile in shared
/// memory that `op` makes or stores, each of which stores the part that it
/// wrote.
struct StoredParts {
  int64_t alongRows, alongColumns;
  static StoredParts get(mlir::Operation *op, mlir::Value tile,
                         const KernelContext &context);
};

/// Adds an argument to the kernel, its manifest and its launches for each
/// tensor and TMA box that the puts of channels with swizzle atoms and the
/// stores of tiles in shared memory need, and gives each of these its own.
mlir::LogicalResult addTensorMaps(mlir::gpu::GPUFuncOp kernel,
                                  const KernelContext &context);

} // namespace attune

#endif // ATTUNE_LIB_CONVERSION_TILETOGPU_TENSORMAPS_H
