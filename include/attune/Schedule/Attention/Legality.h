// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which schedules an attention op admits on a chip, and what they take from it.
// The one place that knows: the check pass, the default and the search all ask
// here.

#ifndef ATTUNE_SCHEDULE_ATTENTION_LEGALITY_H
#define ATTUNE_SCHEDULE_ATTENTION_LEGALITY_H

#include "attune/Dialect/Attn/IR/Attn.h"
#include "attune/Schedule/Attention/HeadPacking.h"
#include "attune/Schedule/TunableOpInterface.h"
#include "attune/Schedule/WarpBudget.h"

namespace attune::tile {
class SharedMemoryLayout;
} // namespace attune::tile

namespace attune {

/// What makes a schedule, and what reads one.
using AttentionSchedule = schedule::AttentionAttr::Builder;
using AttentionKnobs = schedule::AttentionAttr::View;

/// A tensor of which a region reads a tile with each block of scores
/// (findRegionTiles()).
struct RegionTile {
  /// Of an element, and what the distances between rows are known to be
  /// multiples of; dimensions of the tensor.
  int64_t bits, rowBytes, rank;
  /// Whether gradients are added to a tensor of f32 of the same shape.
  bool isAdded = false;

  /// Slots of the ring that tiles go through: they leave it early in a step.
  static constexpr int64_t kStages = 1;
};

/// The part of an attention op that decides what is legal, and what is chosen
/// without a search. Lengths, batch and heads are no part of what is legal:
/// every kernel takes any of them.
struct AttentionProblem {
  mlir::Type elementType;
  /// ShapedType::kDynamic where not known.
  int64_t headDimQK, headDimV;
  /// The largest known divisor of the distances between the rows of query, key
  /// and value, in elements; 0 where the elements of a row are not neighbours.
  int64_t rowDivisor;
  /// Whether query tiles may see different keys.
  bool isMasked = false;
  /// As rowDivisor, of the output.
  int64_t outputDivisor = 0;
  /// Queries and keys of a block where lists say which blocks there are; 0
  /// without, and for queries also where there is but one block.
  int64_t listedQueries = 0, listedKeys = 0;
  /// Whether a kernel can list blocks: there is a mask, and neither lists nor
  /// lengths nor pages.
  bool isListable = false;
  /// Keys that a query sees in the mean, as far as lengths, causal and window
  /// tell; 0 where they do not. Decides what is chosen, not what is legal.
  int64_t meanKeys = 0;
  /// Lengths, and heads of all batches; 0 where they are not known. For what is
  /// chosen as well.
  int64_t seqQ = 0, seqK = 0, heads = 0;
  /// Whether a length is known at run time only, so that it is computed where
  /// sequences end, and may be another than `seqQ` and `seqK`.
  bool hasDynamicLength = false;
  /// Whether a window hides keys before those that a query sees. For what is
  /// chosen as well.
  bool hasWindow = false;
  /// Whether batches have numbers of queries of their own, so that their last
  /// tiles see nothing.
  bool hasQueryLengths = false;
  /// Whether queries are packed, so that a tile ends where others' rows begin.
  bool hasPackedQueries = false;
  /// Whether bits of a batch must not depend on others. Then sizes that do are
  /// those of a usual batch.
  bool isBatchInvariant = false;
  bool hasSinks = false;
  /// Whether scores are more than products, softcap and slopes among them. For
  /// what is chosen.
  bool hasScore = false;
  /// Whether batches have numbers of keys of their own. For what is chosen as
  /// well.
  bool hasKeyLengths = false;
  /// Whether numbers of heads and queries are static and the mask is the same
  /// for all heads, so that the tiles of a batch have the same steps.
  bool hasEqualHeads = false;
  /// Keys of a page where they lie in pages; 0 where they do not.
  int64_t pageSize = 0;
  /// Whether values are the first columns of the keys.
  bool isLatent = false;
  /// As which keys and values are stored, and widened to getMultipliedType()
  /// and to that of weights where they are multiplied; null where they need not
  /// be.
  mlir::Type storedKeyType = {}, storedValueType = {};
  /// Whether bytes of keys, or of values, hold two columns each.
  bool packsKey = false, packsValue = false;
  /// How many scales and zero points each key has of its own.
  int64_t numbersOfKey = 0;
  /// As which weights are multiplied by values; null where it is `elementType`.
  mlir::Type typeOfWeights = {};
  /// Of the result; null where it is `elementType`.
  mlir::Type resultType = {};
  /// Of all tiles that the regions read, in order.
  llvm::SmallVector<RegionTile, 1> regionTiles = {};
  /// Which heads share tiles.
  HeadPacking packing = {};

  /// Elements of what is loaded of a key and its value.
  int64_t getKeyColumns() const {
    return getStoredK(headDimQK) + (isLatent ? 0 : getStoredV(headDimV));
  }
  /// Elements that so many columns of keys, or of values, are stored as.
  int64_t getStoredK(int64_t columns) const {
    return packsKey ? columns / 2 : columns;
  }
  int64_t getStoredV(int64_t columns) const {
    return packsValue ? columns / 2 : columns;
  }
  mlir::Type getKeyType() const {
    return storedKeyType ? storedKeyType : elementType;
  }
  /// As which queries are multiplied by keys: bf16 that stays in registers
  /// becomes f16 where keys have fewer bits, for chips widen to that for less.
  mlir::Type getMultipliedType(const AttentionKnobs &schedule) const;
  mlir::Type getWeightType() const {
    return typeOfWeights ? typeOfWeights : elementType;
  }
  mlir::Type getValueType() const {
    return storedValueType ? storedValueType : elementType;
  }
  mlir::Type getResultType() const {
    return resultType ? resultType : elementType;
  }
  /// Query tiles of all heads and batches under a schedule; 0 where they are
  /// not known.
  int64_t countTiles(const AttentionKnobs &schedule) const;

  /// `likely` are sizes of dynamic dimensions, for what is chosen.
  static AttentionProblem get(attn::AttentionOp op, const SizeMap &likely = {});
};

/// The largest known divisor of the distances between the rows of tensors whose
/// head sizes are dimension `headDim`, in elements; 0 where the elements of a
/// row are not neighbours.
int64_t getRowDivisor(mlir::ValueRange tensors, int64_t headDim);

/// Sizes that tiles have along the head dimensions, for whole matrix
/// instructions.
struct PaddedHeadDims {
  int64_t qk, v;
};
PaddedHeadDims getPaddedHeadDims(const AttentionProblem &problem,
                                 tile::MmaAtomAttr atom);

/// Whether scores are computed by a role of their own, which hands weights over
/// to those that share the columns of the output: where warpgroups share
/// columns and weights go through shared memory.
bool hasScoreRole(const AttentionKnobs &schedule);

/// Groups of warps that compute something for the same rows: those that share
/// the columns of the output, and one of scores if it is a role of its own.
int64_t countRowSharers(const AttentionKnobs &schedule);

/// Neighbouring columns that are a tile of their own.
struct ColumnPart {
  int64_t first, count;
};
using ColumnParts = llvm::SmallVector<ColumnPart, 2>;

/// The columns of the output that are a tile each, in the order in which they
/// are multiplied: all, or where roles share them, as many as a thread starts
/// with registers for, of one role after the other in turn.
ColumnParts getOutputParts(const AttentionProblem &problem,
                           const AttentionKnobs &schedule,
                           tile::TargetAttr target);

/// Those of queries and keys: all, or where values are a part of the keys,
/// first those that are none and then those of the output.
ColumnParts getKeyParts(const AttentionProblem &problem,
                        const AttentionKnobs &schedule,
                        tile::TargetAttr target);

/// The matrix instruction that the schedule asks for; null if the chip has
/// none.
tile::MmaAtomAttr findAtom(const AttentionProblem &problem,
                           const AttentionKnobs &schedule,
                           tile::TargetAttr target);

/// Whether values pass through a second place in shared memory, as columns, for
/// MMAs that read no rows of them.
bool transposesValues(const AttentionProblem &problem,
                      const AttentionKnobs &schedule, tile::TargetAttr target);

/// Whether they do so by warps that multiply, for want of a role of its own.
bool computingWarpsTranspose(const AttentionProblem &problem,
                             const AttentionKnobs &schedule,
                             tile::TargetAttr target);

/// Whether keys, and values, pass through a second place in shared memory, as
/// elements of the type that MMAs of warpgroups multiply them as, for these
/// widen nothing.
bool widensKeys(const AttentionProblem &problem,
                const AttentionKnobs &schedule);
bool widensValues(const AttentionProblem &problem,
                  const AttentionKnobs &schedule);

/// Slots of what a role of its own restages: those of a step are written while
/// those of the one before are read.
inline constexpr int64_t kRestagedStages = 2;
/// Values of more columns are transposed by all of its warps that there may be,
/// for half of them would make those that multiply wait.
inline constexpr int64_t kFewTransposed = 160;

/// Whether there is such a role.
bool hasRestagingRole(const AttentionProblem &problem,
                      const AttentionKnobs &schedule, tile::TargetAttr target);

/// Whether the last workgroup of a tile merges its parts, if it has any.
bool mergesInLast(const AttentionKnobs &schedule);

/// The reads that findRegionTiles() finds, in order.
llvm::SmallVector<RegionTile, 1> getRegionTiles(attn::AttentionOpInterface op);

/// Whether tensor maps can tell of them.
bool fitsTensorMap(const RegionTile &tile, tile::TargetAttr target);

/// Whether the copy engine loads these tiles; elements are read one by one
/// where it does not.
bool loadsRegionTile(const AttentionProblem &problem, const RegionTile &tile,
                     const AttentionKnobs &schedule, tile::TargetAttr target);

/// The warps of a workgroup.
WarpBudget getBudget(const AttentionKnobs &schedule, tile::TargetAttr target);

/// The same, with what restages, as a kernel says it of itself.
WarpBudget getWholeBudget(const AttentionProblem &problem,
                          const AttentionKnobs &schedule,
                          tile::TargetAttr target);

/// Threads of a workgroup.
int64_t getThreads(const AttentionKnobs &schedule, tile::TargetAttr target);

/// Registers of a thread where producers have warps of their own. They can be
/// exchanged where these are as many as multiply together; nothing otherwise.
std::optional<RoleRegisters> getRoleRegisters(const AttentionKnobs &schedule,
                                              tile::TargetAttr target);

/// Adds a ring of tiles that the copy engine moves, or warpgroups multiply.
void addTiles(mlir::Type element, int64_t stages, int64_t rows, int64_t columns,
              bool byWarpgroups, tile::TargetAttr target,
              tile::SharedMemoryLayout &layout);

/// Bytes of shared memory that a workgroup uses.
int64_t getSharedBytes(const AttentionProblem &problem,
                       const AttentionKnobs &schedule, tile::TargetAttr target);

/// Registers of each thread when the kernel starts, before roles exchange them,
/// in words of 32 bits.
int64_t getRegistersAtEntry(const AttentionKnobs &schedule,
                            tile::TargetAttr target);

/// Most registers that a thread that computes can have with the wanted number
/// of workgroups on an SM, in words of 32 bits.
int64_t getRegisterLimit(const AttentionKnobs &schedule,
                         tile::TargetAttr target);

/// The registers of a thread that the accumulators alone take, in words of 32
/// bits.
int64_t getAccumulatorRegisters(const AttentionProblem &problem,
                                const AttentionKnobs &schedule,
                                tile::TargetAttr target);

/// An estimate of the registers of a thread, in words of 32 bits: more than the
/// chip has where the kernel will spill.
int64_t estimateRegisters(const AttentionProblem &problem,
                          const AttentionKnobs &schedule,
                          tile::TargetAttr target);

/// The most that countSingleWarps says, by few knobs.
int64_t limitSingleWarps(const AttentionKnobs &schedule,
                         tile::TargetAttr target);

/// Workgroups of one warp that an SM has room for at once, by estimate; 1 where
/// workgroups have more warps.
int64_t countSingleWarps(const AttentionProblem &problem,
                         const AttentionKnobs &schedule,
                         tile::TargetAttr target);

/// The first rule that the schedule breaks (ScheduleRules::checkLegal).
std::optional<Refusal> checkLegal(const AttentionProblem &problem,
                                  const AttentionKnobs &schedule,
                                  tile::TargetAttr target);

/// Why a search need not look at the schedule
/// (ScheduleRules::checkWorthTrying).
std::optional<Refusal> checkWorthTrying(const AttentionProblem &problem,
                                        const AttentionKnobs &schedule,
                                        tile::TargetAttr target);

/// A legal schedule that is a reasonable start: the first of a short list of
/// shapes that is estimated to fit the registers, or the one closest to that.
/// Null if no schedule is legal.
schedule::AttentionAttr selectSchedule(const AttentionProblem &problem,
                                       tile::TargetAttr target);

} // namespace attune

#endif // ATTUNE_SCHEDULE_ATTENTION_LEGALITY_H
