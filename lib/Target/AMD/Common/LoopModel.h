// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the main loop of a kernel as assembly, and says what bounds it.

#ifndef ATTUNE_LIB_TARGET_AMD_COMMON_LOOPMODEL_H
#define ATTUNE_LIB_TARGET_AMD_COMMON_LOOPMODEL_H

#include "attune/Dialect/Tile/IR/Tile.h"
#include "attune/Target/Binary.h"
#include "attune/Target/TargetModel.h"

namespace attune::amd {

/// What one iteration issues in one wave. Bytes are those of all lanes.
struct Loop {
  int64_t matrix = 0;
  /// Floating-point operations of these.
  int64_t matrixFlops = 0;
  /// On the vector unit but for `matrix`; those that are issued as a pair are
  /// one.
  int64_t vector = 0;
  /// Of these, exponentials and the like.
  int64_t transcendental = 0;
  int64_t sharedBytes = 0, loadedBytes = 0;
  /// What shared memory could move beside that if no lanes met in a bank.
  double conflictBytes = 0;
  /// Of the assembly, in order.
  llvm::SmallVector<llvm::StringRef> lines;
};

/// Of the loops that multiply and have no such loop in them, the one that
/// multiplies most, and of several, as those with and without a mask, the
/// shortest. Nothing where there is none. It refers to the text.
std::optional<Loop> readMainLoop(llvm::StringRef assembly, int64_t lanes,
                                 const SharedConflicts &conflicts = {});

/// Those of the kernels of a module, before LLVM merges accesses.
SharedConflicts findConflicts(mlir::gpu::GPUModuleOp module,
                              const TargetModel &model, int64_t lanes);

/// Of matrix instructions, `v_mfma_f32_32x32x8_bf16_1k`; 0 of others.
int64_t getMatrixFlops(llvm::StringRef name);
/// Exponentials and the like.
bool isTranscendental(llvm::StringRef name);

/// What decides of a family's loops beside the rates of its chips.
struct LoopFacts {
  /// Whether nothing else is issued to the vector unit while it multiplies.
  bool multipliesOnVectorUnit;
  /// A wave gets registers in such steps.
  int64_t registerStep;
};

/// Clocks of a SIMD that one instruction of a wave keeps a part of it.
struct IssueClocks {
  IssueClocks(tile::TargetAttr target);
  double getMultiply(int64_t flops) const {
    return static_cast<double>(flops) / flopsPerClock;
  }
  /// Of any instruction, and of an exponential.
  double issue, exponential;
  double flopsPerClock;
};

/// What one iteration takes a wave that has the SIMD for itself, and how much
/// of that it waits for loads and shared memory.
struct WaveTime {
  double clocks = 0, waits = 0;
};
WaveTime replayLoop(const Loop &loop, const IssueClocks &clocks,
                    const LoopFacts &facts);

/// Waves of an SM, as many as its registers and shared memory hold.
int64_t countWaves(tile::TargetAttr target, const LoopFacts &facts,
                   int64_t registers, int64_t threads, int64_t sharedBytes);

/// At the highest clock. `waves` are those of an SM.
LoopCost predictLoop(const Loop &loop, tile::TargetAttr target,
                     const LoopFacts &facts, int64_t waves);

} // namespace attune::amd

#endif // ATTUNE_LIB_TARGET_AMD_COMMON_LOOPMODEL_H
