// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the patterns of convert-tile-to-gpu share: the target, and the
// arithmetic from a lane's number to the coordinates it holds.

#ifndef ATTUNE_LIB_CONVERSION_TILETOGPU_LANECONTEXT_H
#define ATTUNE_LIB_CONVERSION_TILETOGPU_LANECONTEXT_H

#include "attune/Dialect/Tile/IR/Tile.h"
#include "attune/Target/TargetModel.h"
#include "mlir/IR/Builders.h"
#include "mlir/Transforms/DialectConversion.h"

namespace attune {

/// Facts about the kernel being lowered.
struct KernelContext {
  tile::TargetAttr target;
  const TargetModel *model;
  int64_t threads;
  /// Warps that compute: all but those that a tile.specialize lets copy.
  int64_t computingWarps;
  /// Workgroups of a cluster.
  int64_t cluster = 1;
  /// Warps that multiply together, as many as the chip knows of, and the groups
  /// of so many that compute.
  int64_t groupWarps = 1, groups = 1;
};

/// An index.
mlir::Value constant(mlir::OpBuilder &builder, mlir::Location loc,
                     int64_t value);

/// Number of the lane in its warp, and of the warp in its workgroup, as index
/// values.
mlir::Value laneNumber(mlir::OpBuilder &builder, mlir::Location loc,
                       const KernelContext &context);
mlir::Value warpNumber(mlir::OpBuilder &builder, mlir::Location loc,
                       const KernelContext &context);

/// Number of the group of this lane, of `groups` that the warps that compute
/// are dealt to, the same for the back end in all lanes of a warp.
mlir::Value groupNumber(mlir::OpBuilder &builder, mlir::Location loc,
                        const KernelContext &context, int64_t groups);
/// True in the first lane of each group of warps that multiply together.
mlir::Value isFirstOfGroup(mlir::OpBuilder &builder, mlir::Location loc,
                           const KernelContext &context);
/// Waits for all lanes of the group.
void meetInGroup(mlir::OpBuilder &builder, mlir::Location loc,
                 const KernelContext &context);

/// The coordinate along `dim` that lane and warp contribute; null where they
/// contribute nothing.
mlir::Value laneCoordinate(mlir::OpBuilder &builder, mlir::Location loc,
                           const KernelContext &context,
                           tile::LayoutAttr layout, int64_t dim);

/// The number of the register of `layout` that holds the given coordinates for
/// lane 0; -1 if none does.
int64_t findRegister(tile::LayoutAttr layout,
                     llvm::ArrayRef<int64_t> coordinates);

/// The vector that one lane holds of a tile in registers.
mlir::VectorType laneVectorType(tile::TileType type);

/// Reads a box of shared memory with the target's instruction or, failing that,
/// with plain loads.
mlir::Value readShared(mlir::OpBuilder &builder, mlir::Location loc,
                       const KernelContext &context, const SharedRead &read);

/// The largest known divisor of all row strides and offsets of a buffer, in
/// elements: what its rows are aligned to. 1 where columns are not contiguous.
int64_t knownRowDivisor(mlir::Value buffer);

void populateBoxPatterns(mlir::TypeConverter &converter,
                         mlir::RewritePatternSet &patterns,
                         const KernelContext &context);
void populateDealerPatterns(mlir::TypeConverter &converter,
                            mlir::RewritePatternSet &patterns,
                            const KernelContext &context);
void populateElementwisePatterns(mlir::TypeConverter &converter,
                                 mlir::RewritePatternSet &patterns,
                                 const KernelContext &context);
void populateLayoutPatterns(mlir::TypeConverter &converter,
                            mlir::RewritePatternSet &patterns,
                            const KernelContext &context);
void populateMemoryPatterns(mlir::TypeConverter &converter,
                            mlir::RewritePatternSet &patterns,
                            const KernelContext &context);
void populateMmaPatterns(mlir::TypeConverter &converter,
                         mlir::RewritePatternSet &patterns,
                         const KernelContext &context);
void populateRolePatterns(mlir::TypeConverter &converter,
                          mlir::RewritePatternSet &patterns,
                          const KernelContext &context);
void populateRowPatterns(mlir::TypeConverter &converter,
                         mlir::RewritePatternSet &patterns,
                         const KernelContext &context);
void populateSharedTilePatterns(mlir::TypeConverter &converter,
                                mlir::RewritePatternSet &patterns,
                                const KernelContext &context);
void populateSharedMemoryPatterns(mlir::TypeConverter &converter,
                                  mlir::RewritePatternSet &patterns,
                                  const KernelContext &context);

/// A conversion pattern that knows the kernel.
template <typename OpTy>
class KernelPattern : public mlir::OpConversionPattern<OpTy> {
public:
  KernelPattern(mlir::TypeConverter &converter, mlir::MLIRContext *mlirContext,
                const KernelContext &context, mlir::PatternBenefit benefit = 1)
      : mlir::OpConversionPattern<OpTy>(converter, mlirContext, benefit),
        context(context) {}

protected:
  const KernelContext &context;
};

} // namespace attune

#endif // ATTUNE_LIB_CONVERSION_TILETOGPU_LANECONTEXT_H
