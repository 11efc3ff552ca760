// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What AMD families share.

#ifndef ATTUNE_LIB_TARGET_AMD_COMMON_AMD_H
#define ATTUNE_LIB_TARGET_AMD_COMMON_AMD_H

#include "LoopModel.h"
#include "attune/Target/TargetModel.h"
#include <functional>

namespace attune::amd {

/// The base of all AMD families: everything but the matrix instructions.
class AMDTarget : public TargetModel {
public:
  /// Leaves loads from global memory under way.
  void emitBarrier(mlir::OpBuilder &builder, mlir::Location loc) const override;
  /// s_setprio, and sched_group_barrier of LLVM.
  bool schedulesMmas() const override { return true; }
  void emitPriority(mlir::OpBuilder &builder, mlir::Location loc,
                    bool isRaised) const override;
  void emitIssueGroups(mlir::OpBuilder &builder, mlir::Location loc,
                       tile::MmaAtomAttr atom, int64_t count) const override;
  /// v_max3_f32.
  int64_t getMaximumOperands() const override { return 3; }
  /// v_pk_add_f32, or a pair that v_dual_add_f32 issues together.
  int64_t getSumsAtOnce() const override { return 2; }
  /// Through a buffer resource.
  mlir::Value emitLoad(mlir::OpBuilder &builder, mlir::Location loc,
                       const TileLoad &load) const override;
  mlir::Value emitAny(mlir::OpBuilder &builder, mlir::Location loc,
                      tile::TargetAttr target,
                      mlir::Value condition) const override;
  mlir::Value emitFirstLane(mlir::OpBuilder &builder, mlir::Location loc,
                            tile::TargetAttr target,
                            mlir::Value value) const override;
  /// Through a buffer resource, for chips that load 16 bytes of a lane past
  /// registers.
  void emitWarpCopy(mlir::OpBuilder &builder, mlir::Location loc,
                    const WarpCopy &copy) const override;
  void emitAsyncWait(mlir::OpBuilder &builder, mlir::Location loc,
                     int64_t pending) const override;
  mlir::LogicalResult populateGPUToLLVM(
      mlir::LLVMTypeConverter &converter, mlir::RewritePatternSet &patterns,
      mlir::ConversionTarget &conversionTarget, tile::TargetAttr target,
      llvm::function_ref<mlir::InFlightDiagnostic()> emitError) const override;
  /// Sets the workgroup size, and the waves that a SIMD must hold at a time.
  void configureKernel(mlir::LLVM::LLVMFuncOp kernel, tile::TargetAttr target,
                       int64_t threads, int64_t workgroupsPerSm) const override;
  llvm::StringRef getDeviceScope() const override { return "agent"; }
  /// Translates to AMDGPU assembly and, with LLVM's own assembler and linker,
  /// to an HSACO.
  mlir::FailureOr<Binary>
  serialize(mlir::gpu::GPUModuleOp module, tile::TargetAttr target,
            const BinaryOptions &options) const override;
  std::optional<LoopCost> predictLoop(const Binary &binary,
                                      tile::TargetAttr target, int64_t threads,
                                      int64_t sharedBytes) const override;

protected:
  virtual LoopFacts getLoopFacts() const = 0;
  /// Instructions of one atom.
  virtual int64_t countInstructions(tile::MmaAtomAttr atom) const { return 1; }
  /// The share of the highest clock that power leaves where matrix units are
  /// busy for the share `busy` of all clocks.
  virtual double getClockShare(llvm::StringRef chip, double busy) const {
    return 1;
  }
  /// Whether two floats are rounded to 16 bits by one instruction.
  virtual bool roundsPairs() const { return false; }
  /// Whether 64 bits are added as fast as 32.
  virtual bool addsPairs(tile::TargetAttr target) const { return false; }
  /// Adds what lanes exchange without shared memory.
  virtual void populateLanePatterns(mlir::LLVMTypeConverter &converter,
                                    mlir::RewritePatternSet &patterns) const {}
};

/// Families with waves of 64 lanes that multiply with MFMA. The atoms compute
/// the transposed product: the instruction's first operand is the right-hand
/// side and its second the left-hand one. The lane then holds a row of the
/// accumulator, as it must hold it as the left-hand operand of the next
/// multiply, so that softmax weights feed it without moving between lanes.
class MFMATarget : public AMDTarget {
public:
  /// As many instructions as reach the depth of the atom.
  mlir::Value emitMma(mlir::OpBuilder &builder, mlir::Location loc,
                      tile::MmaAtomAttr atom, mlir::Value lhs, mlir::Value rhs,
                      mlir::Value acc) const override;

protected:
  /// What an instruction of 32x32 sums over, of 16-bit numbers.
  virtual int64_t getDepth() const = 0;
  int64_t countInstructions(tile::MmaAtomAttr atom) const override;
  /// An MFMA takes one slot of issue and leaves the others to vector
  /// instructions (ROCm/amd_matrix_instruction_calculator).
  LoopFacts getLoopFacts() const override {
    return {/*multipliesOnVectorUnit=*/false, /*registerStep=*/8};
  }
};

/// Families with waves of 32 lanes that multiply with WMMA, with the operands
/// exchanged as well. The halves of a wave exchange values by v_permlanex16.
class WMMATarget : public AMDTarget {
public:
  mlir::Value emitMma(mlir::OpBuilder &builder, mlir::Location loc,
                      tile::MmaAtomAttr atom, mlir::Value lhs, mlir::Value rhs,
                      mlir::Value acc) const override;

protected:
  /// Registers as LLVM gives them to chips that have 1536 of a lane.
  LoopFacts getLoopFacts() const override {
    return {/*multipliesOnVectorUnit=*/false, /*registerStep=*/24};
  }
  void populateLanePatterns(mlir::LLVMTypeConverter &converter,
                            mlir::RewritePatternSet &patterns) const override;
};

/// Adds the rounding of what is marked `tile.loose_rounding`: an addition each
/// and one instruction for two that cuts them off, halfway away from zero. With
/// `addsPairs`, one addition of 64 bits for two as well.
void populateLooseRoundingPatterns(mlir::LLVMTypeConverter &converter,
                                   mlir::RewritePatternSet &patterns,
                                   bool addsPairs);

/// Adds the rounding of f32 to floats of 8 bits, on chips that multiply these.
void populateFloat8Conversions(mlir::LLVMTypeConverter &converter,
                               mlir::RewritePatternSet &patterns,
                               tile::TargetAttr target);

/// Adds what lanes decide together, as what is seldom so.
void populateVotePattern(mlir::LLVMTypeConverter &converter,
                         mlir::RewritePatternSet &patterns);

/// Says of reads of workgroup memory that they do not see copies under way.
void separateCopies(mlir::LLVM::LLVMFuncOp kernel);

/// Adds loads through buffer resources.
void populateBufferPatterns(mlir::LLVMTypeConverter &converter,
                            mlir::RewritePatternSet &patterns, bool isRDNA);

/// Adds an exchange with the lane whose number differs in one binary digit,
/// that of `distance`: `emit` is given a value of 32 bits, and returns that of
/// the other lane.
void populateExchangePattern(
    mlir::LLVMTypeConverter &converter, mlir::RewritePatternSet &patterns,
    int64_t distance,
    std::function<mlir::Value(mlir::OpBuilder &, mlir::Location, mlir::Value)>
        emit);

/// The word, of 32 bits, that the lane of the same place has in the other row
/// of 16.
mlir::Value emitReadOtherRow(mlir::OpBuilder &builder, mlir::Location loc,
                             mlir::Value word);

/// Links an AMDGPU object file to a shared object, which is what an HSACO is.
mlir::FailureOr<std::string> linkHSACO(mlir::Operation *op,
                                       llvm::StringRef object);

/// Registers the dialects of AMD kernels, their translation and the target
/// attribute.
void registerDialects(mlir::DialectRegistry &registry);

} // namespace attune::amd

#endif // ATTUNE_LIB_TARGET_AMD_COMMON_AMD_H
