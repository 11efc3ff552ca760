// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which schedules a matmul admits on a chip, and what they take from it. The
// one place that knows: the check pass, the default, the search and the
// lowering all ask here.

#ifndef ATTUNE_SCHEDULE_MATMUL_LEGALITY_H
#define ATTUNE_SCHEDULE_MATMUL_LEGALITY_H

#include "attune/Matmul/Problem.h"
#include "attune/Schedule/TunableOpInterface.h"
#include "attune/Schedule/WarpBudget.h"
#include "llvm/Support/MathExtras.h"

namespace attune {

/// What makes a schedule, and what reads one.
using MatmulSchedule = schedule::MatmulAttr::Builder;
using MatmulKnobs = schedule::MatmulAttr::View;

/// The discardable attribute in which the first contraction of a group has its
/// schedule.
inline constexpr llvm::StringLiteral kMatmulScheduleName = "attune.schedule";

/// Refuses, with a diagnostic, the attribute on an op that has no kernel of its
/// own, and what is no schedule of a matmul.
mlir::LogicalResult checkMatmulSchedule(mlir::Operation *op);

/// The part of a matmul, with what is fused into it, that decides what is legal
/// and what a kernel takes.
struct MatmulProblem {
  /// A matrix as kernels read or write it.
  struct Matrix {
    mlir::Type elementType;
    /// Whether the last dimension is k, or n for a result.
    bool isInnerLast;
    /// The largest known divisor of the distances between its rows, in
    /// elements; 0 where the elements of a row are not neighbours.
    int64_t rowDivisor;
  };
  Matrix lhs;
  /// One for each contraction.
  llvm::SmallVector<Matrix, 2> rhs;
  /// Whether these are of one type, and read alike.
  bool areRhsAlike = false;
  llvm::SmallVector<Matrix, 1> results;
  /// Bits that the epilogue reads of whole matrices, for each element of a
  /// result, and elements of tensors that it reads one by one.
  int64_t epilogueBits = 0, epilogueLoads = 0;
  /// Functions and quotients that it computes for each element.
  int64_t epilogueFunctions = 0;
  /// How far apart columns are that are rotated together.
  std::optional<int64_t> partnerStride;
  /// Of all batches together; dynamic where not known.
  matmul::Sizes sizes;
  /// Why no kernel can be made, "expects ..."; empty if one can.
  std::string obstacle;

  int64_t countContractions() const { return static_cast<int64_t>(rhs.size()); }
  static MatmulProblem get(const matmul::ContractionGroup &group);
};

/// The matrix instruction that the schedule asks for; null if the chip has
/// none.
tile::MmaAtomAttr findAtom(const MatmulProblem &problem,
                           const MatmulKnobs &schedule,
                           tile::TargetAttr target);

/// The columns of each right operand that alternate with those of the others in
/// the one right operand of an MMA, which then reads the left one once; 0 where
/// each is multiplied on its own.
int64_t getInterleavedColumns(const MatmulProblem &problem,
                              const MatmulKnobs &schedule,
                              tile::TargetAttr target);

/// Teams of warps of a workgroup, each of which has blocks of its own.
int64_t getTeams(const MatmulKnobs &schedule);
/// Warps that compute a block together.
int64_t getBlockWarps(const MatmulKnobs &schedule);

WarpBudget getWarpBudget(const MatmulKnobs &schedule);

/// Bytes of shared memory that a workgroup uses.
int64_t getSharedBytes(const MatmulProblem &problem,
                       const MatmulKnobs &schedule, tile::TargetAttr target);

/// The registers of a thread that the accumulators alone take, in words of 32
/// bits.
int64_t getAccumulatorRegisters(const MatmulProblem &problem,
                                const MatmulKnobs &schedule,
                                tile::TargetAttr target);

/// An estimate of the registers of a thread, in words of 32 bits: more than the
/// chip has where the kernel will spill.
int64_t estimateRegisters(const MatmulProblem &problem,
                          const MatmulKnobs &schedule, tile::TargetAttr target);

/// The first rule that the schedule breaks (ScheduleRules::checkLegal).
std::optional<Refusal> checkLegal(const MatmulProblem &problem,
                                  const MatmulKnobs &schedule,
                                  tile::TargetAttr target);

/// Why a search need not look at the schedule
/// (ScheduleRules::checkWorthTrying).
std::optional<Refusal> checkWorthTrying(const MatmulProblem &problem,
                                        const MatmulKnobs &schedule,
                                        tile::TargetAttr target);

/// Nanoseconds that the kernel of a legal schedule takes, by what a step of its
/// main loop asks of each part of a chip and by how tiles fill it. Sizes that
/// are not known are taken to be large. Registers and spills are those
/// `reported` by the assembler, or estimated where that is null.
double predictTime(const MatmulProblem &problem, const MatmulKnobs &schedule,
                   tile::TargetAttr target, const ReportedUsage *reported);

/// Of a short list of shapes that do well the legal one that is predicted to be
/// the fastest; null if none is legal.
schedule::MatmulAttr selectSchedule(const MatmulProblem &problem,
                                    tile::TargetAttr target);

} // namespace attune

#endif // ATTUNE_SCHEDULE_MATMUL_LEGALITY_H
