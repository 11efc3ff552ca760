// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the patterns of convert-tile-to-gpu share: the target, and the
// arithmetic from a lane's number to the coordinates it holds.

#ifndef ATTUNE_LIB_CONVERSION_TILETOGPU_KERNELCONTEXT_H
#define ATTUNE_LIB_CONVERSION_TILETOGPU_KERNELCONTEXT_H

#include "attune/Dialect/Tile/IR/Alignment.h"
#include "attune/Dialect/Tile/IR/LayoutConversion.h"
#include "attune/Dialect/Tile/IR/Meetings.h"
#include "attune/Dialect/Tile/IR/Warps.h"
#include "attune/Target/TargetModel.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/Transforms/DialectConversion.h"

namespace attune {

/// On an MMA of warpgroups, for the patterns of the conversion, a unit: see
/// WarpgroupMma::computesPlaces.
inline constexpr llvm::StringLiteral kComputesPlacesAttrName =
    "computes_places";

/// Whether `op` stands in a role of which one thread runs the program.
bool isOfOneThread(mlir::Operation *op);

/// Facts about the kernel being lowered.
struct KernelContext {
  tile::TargetAttr target;
  const TargetModel *model;
  int64_t threads;
  /// Those of the kernel's `tile.specialize`; empty where it has none.
  llvm::SmallVector<tile::RoleAttr> roles;
  /// Workgroups of a cluster.
  int64_t cluster = 1;
  /// Warps that multiply together, as many as the chip knows of.
  int64_t warpgroupWarps = 1;
  /// Whether the copy engine stores for threads.
  bool storesAsync = false;

  /// For each wait for an MMA that a warpgroup has issued, how many were issued
  /// later and may still run.
  llvm::DenseMap<mlir::Operation *, int64_t> laterMmas{};
  /// The fewest copies of warps that a put is; none where warps copy nothing.
  std::optional<int64_t> fewestCopies{};
  /// Gets at which threads need not meet.
  llvm::DenseSet<mlir::Operation *> needlessMeetings{};

  /// Facts of a kernel with `known_block_size`.
  static KernelContext get(mlir::gpu::GPUFuncOp kernel, tile::TargetAttr target,
                           const TargetModel *model);
  /// The warps that run the program in which `op` stands; outside of all
  /// roles, those of the first one that all its threads run.
  tile::WarpRange getWarps(mlir::Operation *op) const;
  tile::WarpRange getWarps(mlir::OpBuilder &builder) const;
  /// Those of a role; null for outside of all.
  tile::WarpRange getWarps(tile::RoleAttr own) const;
  /// How often a barrier hears of these ops, each of which a role runs or
  /// several do: once from each warp, of one team or of all, and from the
  /// thread of a role of one.
  int64_t countArrivals(llvm::ArrayRef<mlir::Operation *> ops) const;
  /// Warpgroups of these warps; 1 where they are fewer than one has.
  int64_t countWarpgroups(tile::WarpRange warps) const {
    return std::max<int64_t>(warps.count / warpgroupWarps, 1);
  }
  /// Warpgroups of all roles that all their threads run, and of those whose
  /// warps come before.
  int64_t countWarpgroups() const;
  int64_t countWarpgroupsBefore(tile::WarpRange warps) const;
};

/// An index.
mlir::Value constant(mlir::OpBuilder &builder, mlir::Location loc,
                     int64_t value);

/// Number of the lane in its warp, and of the warp among those of its role, or
/// team, as index values.
mlir::Value laneNumber(mlir::OpBuilder &builder, mlir::Location loc,
                       const KernelContext &context);
mlir::Value warpNumber(mlir::OpBuilder &builder, mlir::Location loc,
                       const KernelContext &context);

/// Number of the group of this thread, of `groups` that the warps of its role,
/// or team, are assigned to, the same for the back end in all lanes of a warp.
mlir::Value groupNumber(mlir::OpBuilder &builder, mlir::Location loc,
                        const KernelContext &context, int64_t groups);
/// Number of the team of this thread, of those that warps with these ones are
/// divided into.
mlir::Value teamNumber(mlir::OpBuilder &builder, mlir::Location loc,
                       const KernelContext &context, tile::WarpRange warps);
/// True in the first thread of each warpgroup. Not
/// for roles of one thread.
mlir::Value isFirstOfGroup(mlir::OpBuilder &builder, mlir::Location loc,
                           const KernelContext &context);
/// Waits for all lanes of the group, or of the role or team.
void meetInGroup(mlir::OpBuilder &builder, mlir::Location loc,
                 const KernelContext &context);
void meetInRole(mlir::OpBuilder &builder, mlir::Location loc,
                const KernelContext &context);

/// The coordinate along `dim` that lane and warp contribute; null where they
/// contribute nothing.
mlir::Value laneCoordinate(mlir::OpBuilder &builder, mlir::Location loc,
                           const KernelContext &context,
                           tile::LayoutAttr layout, int64_t dim);

/// The vector that one thread holds of a tile in registers.
mlir::VectorType laneVectorType(tile::TileType type);

/// The element, of 16 or 32 bits, that another lane of the warp gives for
/// `element`: which one, `mode` makes of `number`.
mlir::Value shuffleElement(mlir::OpBuilder &builder, mlir::Location loc,
                           mlir::Value element, mlir::Value number,
                           mlir::Value width, mlir::gpu::ShuffleMode mode);

/// Reads a rectangle of shared memory with the target's instruction or, failing
/// that, with plain loads.
mlir::Value readShared(mlir::OpBuilder &builder, mlir::Location loc,
                       const KernelContext &context, const SharedRead &read);

/// Lets each thread write its elements of a tile of type `tile` into the slot
/// of a channel whose number `getNumber` gives.
void writeSlot(mlir::OpBuilder &builder, mlir::Location loc,
               const KernelContext &context, tile::TileType tile,
               mlir::Value value, tile::ChannelType channel, mlir::Value buffer,
               llvm::function_ref<mlir::Value()> getNumber);

/// The largest known divisor of an index; 0 of one that is 0.
int64_t knownDivisor(mlir::Value index);

/// Whether `extent` elements from `first` on are known to lie within `size`
/// (ShapedType::kDynamic where it is not known).
bool fitsInto(int64_t extent, int64_t size, mlir::Value first);

/// Makes branches of the roles of a kernel whose programs were converted.
void lowerRoles(mlir::gpu::GPUFuncOp kernel, const KernelContext &context);

void populateTMABoxPatterns(mlir::TypeConverter &converter,
                            mlir::RewritePatternSet &patterns,
                            const KernelContext &context);
void populateSchedulerPatterns(mlir::TypeConverter &converter,
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
void populateOrderedPatterns(mlir::TypeConverter &converter,
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
void populateSwapColumnsPatterns(mlir::TypeConverter &converter,
                                 mlir::RewritePatternSet &patterns,
                                 const KernelContext &context);
void populateByThreadsPatterns(mlir::TypeConverter &converter,
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

#endif // ATTUNE_LIB_CONVERSION_TILETOGPU_KERNELCONTEXT_H
