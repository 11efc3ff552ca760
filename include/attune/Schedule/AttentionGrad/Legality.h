// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which schedules the gradients of attention admit on a chip, and what they
// take from it.

#ifndef ATTUNE_SCHEDULE_ATTENTIONGRAD_LEGALITY_H
#define ATTUNE_SCHEDULE_ATTENTIONGRAD_LEGALITY_H

#include "attune/Dialect/Attn/Analysis/MaskRanges.h"
#include "attune/Schedule/Attention/Legality.h"

namespace attune {

using AttentionGradSchedule = schedule::AttentionGradAttr::Builder;
using AttentionGradKnobs = schedule::AttentionGradAttr::View;

/// The part of an op that decides what is legal.
struct AttentionGradProblem {
  mlir::Type elementType;
  /// ShapedType::kDynamic where not known.
  int64_t headDimQK, headDimV;
  /// As AttentionProblem::rowDivisor, of query, key, value and output gradient.
  int64_t rowDivisor;
  /// Whether results have equal bits in each launch.
  bool isDeterministic;
  /// Whether a region or a soft cap makes scores of products, which are asked
  /// again for derivatives, or weights are dropped.
  bool hasScore;
  /// Whether tiles may visit different blocks. For what is chosen.
  bool isMasked = false;
  /// In the order of findRegionTiles().
  llvm::SmallVector<RegionTile, 1> regionTiles = {};
  /// Whether batches have lengths of their own, or are packed, or both, so that
  /// rows between packed ones may hold anything.
  bool hasLengths = false;
  bool hasGaps = false;
  /// Whether the mask is such that a block of queries visits a tile of keys by
  /// what is known of it just where the tile visits the block.
  bool hasMutualRanges = true;
  /// The queries or the keys, whichever are more; 0 where that is not known, as
  /// of batches of different lengths. For what is chosen.
  int64_t length = 0;
  /// Whether lengths are known at run time only, or batches have their own. For
  /// what is chosen.
  bool hasDynamicLength = false;
  /// Whether a kernel can list blocks: there is a mask, and neither lists nor
  /// lengths.
  bool isListable = false;
  /// Whether the mask reads tensors at positions, so that comparisons do not
  /// bound what it shows. For what is chosen.
  bool asksData = false;

  /// `likely` are sizes of dynamic dimensions, for what is chosen.
  static AttentionGradProblem get(attn::AttentionGradOp op,
                                  const SizeMap &likely = {});
};

/// What the schedule says of one kernel: one that owns tiles of keys, and sums
/// the gradients of keys, of values or of both, or that which owns tiles of
/// queries.
struct GradientKernel {
  MaskDim owns;
  /// Rows of a tile that a workgroup owns, and of those that it visits.
  int64_t owned, visited;
  int64_t warps, stages, workgroupsPerSm;
  bool inRegisters;
  /// Whether it adds its part of the gradients of queries to memory, and
  /// whether workgroups take turns at that.
  bool addsQueries, addsInOrder = false;
  /// Whether the last workgroup of a head of keys makes the gradients of its
  /// queries of what all have added.
  bool roundsQueries = false;
  /// Whether it sums what comes of the gradients of scores, those of what it
  /// owns, and whether those of values, which come of weights.
  bool sumsOwned = true, sumsValues = owns == MaskDim::Key;
};

/// Whether there is a kernel that owns queries, by the form alone.
bool hasQueryKernel(const AttentionGradKnobs &schedule);

/// The kernels that a schedule has, beside those that go through rows alone:
/// those that own keys, or queries, of which no knob is read elsewhere.
llvm::SmallVector<GradientKernel, 2>
getGradientKernels(const AttentionGradKnobs &schedule, MaskDim owns);

/// How many groups of warps share the columns of a product of so many rows,
/// where these are too few for all; all others share its rows.
int64_t countGroupsAlongColumns(const GradientKernel &kernel, int64_t rows,
                                tile::MmaAtomAttr atom);

/// Whether groups share the columns of scores, which are then the operands of
/// others than who computes them.
bool sharesScores(const GradientKernel &kernel, tile::MmaAtomAttr atom);

/// Rows of a block of sums of queries that lie by threads.
constexpr int64_t kRowsByThreads = 64;

/// Whether threads add what they have of the gradients of queries themselves,
/// to sums that lie by threads: for groups that share the columns of scores,
/// which have no room in shared memory for these sums besides.
bool addsByThreads(const AttentionGradProblem &problem,
                   const GradientKernel &kernel, tile::MmaAtomAttr atom);
/// Whether those who compute hand the gradients of queries over to a thread
/// that adds them by the copy engine, and go on. Not where the last workgroup
/// of a head rounds what all have added, for it knows of its own stores, nor
/// where tiles that regions read are added by way of the same buffer.
bool handsOver(const AttentionGradProblem &problem,
               const AttentionGradKnobs &schedule, const GradientKernel &kernel,
               tile::MmaAtomAttr atom);
/// The layout of a block of the sums of queries, of padded head size `columns`.
tile::LayoutAttr getQuerySumsLayout(const GradientKernel &kernel,
                                    tile::MmaAtomAttr atom, int64_t columns);

/// Whether the numbers of the queries that are visited go through shared memory
/// too, by the copy engine: whole runs of 128 bytes of them.
bool stagesNumbers(const AttentionGradKnobs &schedule,
                   const GradientKernel &kernel);

/// Whether the copy engine loads these tiles with each block, and adds to those
/// that are added to; elements are read and added one by one where it does not.
bool takesRegionTile(const RegionTile &tile, const AttentionGradKnobs &schedule,
                     const GradientKernel &kernel, tile::TargetAttr target);

/// Slots of the rings of a kernel that have as many as find room.
struct RingSlots {
  /// Of each ring of tiles that the copy engine loads for regions: as many as
  /// what is visited has, or one, which each step waits for.
  int64_t tiles;
  /// Of gradients of queries that are handed over: two in turns, or where these
  /// have room, and else one. 0 where none are.
  int64_t sums;
};

RingSlots getRingSlots(const AttentionGradProblem &problem,
                       const AttentionGradKnobs &schedule,
                       const GradientKernel &kernel, tile::TargetAttr target);

/// Head sizes of tiles, for whole matrix instructions: each of them is both the
/// depth of a product and the columns of another.
PaddedHeadDims getPaddedHeadDims(const AttentionGradProblem &problem,
                                 tile::MmaAtomAttr atom);

/// The matrix instruction that the schedule asks for; null if the chip has
/// none.
tile::MmaAtomAttr findAtom(const AttentionGradProblem &problem,
                           const AttentionGradKnobs &schedule,
                           tile::TargetAttr target);

/// The warps of a workgroup of the kernel.
WarpBudget getBudget(const AttentionGradProblem &problem,
                     const AttentionGradKnobs &schedule,
                     const GradientKernel &kernel, tile::TargetAttr target);

/// Bytes of shared memory that a workgroup uses.
int64_t getSharedBytes(const AttentionGradProblem &problem,
                       const AttentionGradKnobs &schedule,
                       const GradientKernel &kernel, tile::TargetAttr target);

/// The registers of a thread that the accumulators alone take, and an estimate
/// of all, in words of 32 bits.
int64_t getAccumulatorRegisters(const AttentionGradProblem &problem,
                                const AttentionGradKnobs &schedule,
                                const GradientKernel &kernel,
                                tile::TargetAttr target);
int64_t estimateRegisters(const AttentionGradProblem &problem,
                          const AttentionGradKnobs &schedule,
                          const GradientKernel &kernel,
                          tile::TargetAttr target);

/// The first rule that the schedule breaks (ScheduleRules::checkLegal).
std::optional<Refusal> checkLegal(const AttentionGradProblem &problem,
                                  const AttentionGradKnobs &schedule,
                                  tile::TargetAttr target);

/// Why a search need not look at the schedule
/// (ScheduleRules::checkWorthTrying).
std::optional<Refusal> checkWorthTrying(const AttentionGradProblem &problem,
                                        const AttentionGradKnobs &schedule);

/// A legal schedule of which each kernel is estimated to fit the registers, or
/// comes closest to that. Null if no schedule is legal.
schedule::AttentionGradAttr selectSchedule(const AttentionGradProblem &problem,
                                           tile::TargetAttr target);

} // namespace attune

#endif // ATTUNE_SCHEDULE_ATTENTIONGRAD_LEGALITY_H
