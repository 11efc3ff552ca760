// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the compiler may ask of a chip family beyond the facts in #tile.target.
// One subclass per folder lib/Target/<Vendor>/<Family>; nothing else in the
// project switches on a chip's name.

#ifndef ATTUNE_TARGET_TARGETMODEL_H
#define ATTUNE_TARGET_TARGETMODEL_H

#include "attune/Dialect/Tile/IR/Tile.h"
#include "attune/Target/Binary.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/Builders.h"

namespace mlir {
namespace LLVM {
class LLVMFuncOp;
} // namespace LLVM
class ConversionTarget;
class LLVMTypeConverter;
class RewritePatternSet;
} // namespace mlir

namespace attune {

class Barriers;
class CopyEngine;
class MatrixUnit;
class WarpRoles;

/// Benefits of patterns in the conversion to LLVM: a target's own come before
/// upstream's general ones, and those before the device libraries that
/// upstream's vendor conversions would call.
inline constexpr int kGeneralBenefit = 2;
inline constexpr int kTargetBenefit = 3;

/// A request to read a rectangle of a shared-memory tile into the registers of
/// a warp.
struct SharedRead {
  /// 2-D buffer in workgroup memory, rows contiguous; its rows are permuted by
  /// `swizzle`.
  mlir::Value buffer;
  tile::SwizzleAttr swizzle;
  /// Where the lanes and registers of one warp lie in the rectangle: modes of
  /// dimension 0 are rows and modes of dimension 1 columns of the buffer. No
  /// warp modes.
  tile::LayoutAttr layout;
  /// First row and column of the rectangle: a value that differs between warps
  /// (null for 0) plus a constant.
  mlir::Value row;
  int64_t rowOffset = 0;
  int64_t columnOffset = 0;
  /// Lane number within the warp.
  mlir::Value lane;
  /// Added to the columns: a value that differs between warps, a multiple of
  /// eight; null for 0.
  mlir::Value column;
};

/// A request to copy `elements` neighbouring elements from global to shared
/// memory.
struct AsyncCopy {
  mlir::Value source;
  llvm::SmallVector<mlir::Value, 2> sourceIndices;
  /// One-dimensional.
  mlir::Value destination;
  mlir::Value destinationIndex;
  int64_t elements;
  /// Number of elements to read, an index; the others are written as 0. Null
  /// reads all.
  mlir::Value validElements;
};

/// A request to load neighbouring elements of a tile from global memory.
struct TileLoad {
  mlir::VectorType type;
  mlir::Value buffer;
  /// Indices at which the tile starts, the same in all lanes, and what a lane
  /// adds to them.
  llvm::SmallVector<mlir::Value> first, own;
  llvm::ArrayRef<int64_t> shape;
  /// Rows behind the last one of the buffer are read as 0.
  bool checksRows;
};

/// A request to copy a piece of each lane to workgroup memory, where those of a
/// warp lie one behind the other, in the order of lanes.
struct WarpCopy {
  /// Each lane's piece in global memory.
  TileLoad from;
  /// One-dimensional; `destinationIndex` is where the piece of the first lane
  /// goes, and the same in all lanes.
  mlir::Value destination, destinationIndex;
  /// An i1, the same in all lanes: zeros are written where it does not hold.
  /// Null for true.
  mlir::Value predicate;
};

/// When shared memory serves a lane: the round of its warp, and the banks of 4
/// bytes that all lanes of the round share.
struct SharedRound {
  unsigned number, banks;
};

/// Rounds that an access takes, and how many without conflicts of banks.
struct SharedRounds {
  int64_t taken = 0, fewest = 0;
  SharedRounds &operator+=(const SharedRounds &other) {
    taken += other.taken;
    fewest += other.fewest;
    return *this;
  }
};

class TargetModel {
public:
  virtual ~TargetModel();

  /// Emits one matrix instruction. Operands and result are 1-D vectors with one
  /// element per register of the atom's layouts.
  virtual mlir::Value emitMma(mlir::OpBuilder &builder, mlir::Location loc,
                              tile::MmaAtomAttr atom, mlir::Value lhs,
                              mlir::Value rhs, mlir::Value acc) const = 0;

  /// What `unit_exponents` of tile.mma are about: of a vector of bytes, the
  /// lower or the upper 4 bits, each 8 more than the integer that they are,
  /// times a power of 2, in a type of floats that has all of them.
  virtual mlir::Value emitNaturals(mlir::OpBuilder &builder, mlir::Location loc,
                                   mlir::Value bytes, bool upper,
                                   int64_t exponent, mlir::Type type) const;

  /// Emits the chip's instruction for a read whose layout suits it and returns
  /// a vector with one element per register of the layout. Null where no
  /// instruction fits; the caller then emits plain loads.
  virtual mlir::Value emitSharedRead(mlir::OpBuilder &builder,
                                     mlir::Location loc,
                                     const SharedRead &read) const;

  /// Where each lane accesses `bytes`. Neighbours share 32 banks unless
  /// overridden.
  virtual SharedRound getSharedRound(unsigned lane, unsigned bytes,
                                     bool isWrite) const;

  /// Of `bytes` at an address for each lane, those of `lanes`, or all in order
  /// where that is empty.
  SharedRounds countSharedRounds(llvm::ArrayRef<uint64_t> addresses,
                                 unsigned bytes, bool isWrite,
                                 llvm::ArrayRef<uint32_t> lanes = {}) const;

  /// Whether a warp can be told how to issue its matrix instructions.
  virtual bool schedulesMmas() const { return false; }

  /// What follows goes before other warps of the scheduler, or no longer.
  virtual void emitPriority(mlir::OpBuilder &builder, mlir::Location loc,
                            bool isRaised) const;

  /// The last `count` of `atom` in this block are issued one by one, each with
  /// some of the other instructions in front of this beside it.
  virtual void emitIssueGroups(mlir::OpBuilder &builder, mlir::Location loc,
                               tile::MmaAtomAttr atom, int64_t count) const;

  /// All threads of the workgroup wait for each other; behind it they read what
  /// any of them wrote to shared memory in front of it.
  virtual void emitBarrier(mlir::OpBuilder &builder, mlir::Location loc) const;

  /// How many numbers one instruction finds the largest of: 2, or 3.
  virtual int64_t getMaximumOperands() const;

  /// How many sums of two floats one instruction works out: 1, or 2.
  virtual int64_t getSumsAtOnce() const;

  /// What follows adds up what was computed in front of this. For chips that
  /// issue sums in pairs, which are not found among other instructions.
  virtual void emitBeforeSums(mlir::OpBuilder &builder,
                              mlir::Location loc) const;

  /// What both of two lanes have whose numbers differ in the digit `laneBit`:
  /// the vector of the lane without it and that of the lane with it, which are
  /// of whole words. Null where no instruction gives both.
  virtual std::pair<mlir::Value, mlir::Value>
  emitBothOfPair(mlir::OpBuilder &builder, mlir::Location loc,
                 mlir::Value vector, int64_t laneBit) const;

  /// A word whose lower half has the highest bit of a byte of `low` everywhere,
  /// and whose upper half that of one of `high`; bytes count from the lowest.
  virtual mlir::Value emitSigns(mlir::OpBuilder &builder, mlir::Location loc,
                                mlir::Value low, unsigned lowByte,
                                mlir::Value high, unsigned highByte) const;

  /// Emits the chip's own load of a part of a tile. Null where it has none; the
  /// caller then emits a plain one.
  virtual mlir::Value emitLoad(mlir::OpBuilder &builder, mlir::Location loc,
                               const TileLoad &load) const;

  /// Whether the chip adds runs of 16 bytes of f32 to memory at once
  /// (tile.add_run).
  virtual bool addsRuns() const { return false; }

  /// An i1: whether `condition`, an i1, holds in any lane of the warp.
  virtual mlir::Value emitAny(mlir::OpBuilder &builder, mlir::Location loc,
                              tile::TargetAttr target,
                              mlir::Value condition) const = 0;

  /// Asynchronous copies, for chips whose #tile.target lists `copy_widths`: of
  /// a thread, where `copy_sync` is `commit_group`, and of a warp, where it is
  /// `count`.
  virtual void emitAsyncCopy(mlir::OpBuilder &builder, mlir::Location loc,
                             const AsyncCopy &copy) const;
  virtual void emitAsyncCommit(mlir::OpBuilder &builder,
                               mlir::Location loc) const;
  virtual void emitWarpCopy(mlir::OpBuilder &builder, mlir::Location loc,
                            const WarpCopy &copy) const;
  /// Waits until at most `pending` commits, or copies, are under way.
  virtual void emitAsyncWait(mlir::OpBuilder &builder, mlir::Location loc,
                             int64_t pending) const;

  /// The value, an index, of the first lane of the warp, in a form in which the
  /// back end knows that it is the same in all lanes.
  virtual mlir::Value emitFirstLane(mlir::OpBuilder &builder,
                                    mlir::Location loc, tile::TargetAttr target,
                                    mlir::Value value) const;

  /// The value, an index below 2^31 that is the same in all lanes of a warp,
  /// all of which ask, in a register of the warp if there are such.
  virtual mlir::Value emitUniform(mlir::OpBuilder &builder, mlir::Location loc,
                                  tile::TargetAttr target,
                                  mlir::Value value) const;

  /// Parts that a chip has or has not, each on its own; null for what it has
  /// not. A matrix unit has those whose #tile.target lists atoms of several
  /// warps, and a copy engine those with `tma_box_bytes`.
  virtual const MatrixUnit *getMatrixUnit() const;
  virtual const CopyEngine *getCopyEngine() const;
  virtual const Barriers *getBarriers() const;
  virtual const WarpRoles *getWarpRoles() const;

  /// Whether indices whose range is known to fit are computed in 32 bits. Of 64
  /// they take two registers of a thread; chips that keep what all lanes share
  /// in registers of its own gain nothing, and spilled more.
  virtual bool narrowsIndices() const;

  /// Whether an approximate tanh of f32 (error at most 2^-10.9 of the result)
  /// is one instruction, which LLVM's tanh with `afn` becomes.
  virtual bool hasTanh() const;

  /// Whether a kernel can be started before the one in front of it on its
  /// stream is done. Where it can, it waits for that one and all that it wrote,
  /// and lets the next one start as soon as all its own workgroups run.
  virtual bool startsEarly() const;
  virtual void emitWaitForPredecessor(mlir::OpBuilder &builder,
                                      mlir::Location loc) const;
  virtual void emitStartSuccessor(mlir::OpBuilder &builder,
                                  mlir::Location loc) const;

  /// What LLVM calls the threads of one chip, as the scope of a fence. Empty,
  /// for all that see the memory, is always right.
  virtual llvm::StringRef getDeviceScope() const { return {}; }

  /// Adds the patterns, and marks the dialects, with which a gpu.module of this
  /// family becomes LLVM dialect. Fails with a diagnostic where `target` names
  /// a chip that the family does not know: a module may bring its own.
  virtual mlir::LogicalResult populateGPUToLLVM(
      mlir::LLVMTypeConverter &converter, mlir::RewritePatternSet &patterns,
      mlir::ConversionTarget &conversionTarget, tile::TargetAttr target,
      llvm::function_ref<mlir::InFlightDiagnostic()> emitError) const = 0;

  /// Sets what a kernel in LLVM dialect needs beyond the conversion, such as
  /// bounds on its registers. `workgroupsPerSm` is 0 where the schedule is
  /// unknown.
  virtual void configureKernel(mlir::LLVM::LLVMFuncOp kernel,
                               tile::TargetAttr target, int64_t threads,
                               int64_t workgroupsPerSm) const = 0;

  /// Sets the attributes of a parameter of a kernel in LLVM dialect which was
  /// an argument of a type of the target's own, such as those of what is passed
  /// by value. `argument` is that type; any other is left alone.
  virtual void configureParameter(mlir::LLVM::LLVMFuncOp kernel,
                                  unsigned parameter,
                                  mlir::Type argument) const;

  /// Translates a gpu.module in LLVM dialect to assembly and, where the tools
  /// are at hand, to the object that a driver loads. Emits a diagnostic on
  /// failure.
  virtual mlir::FailureOr<Binary>
  serialize(mlir::gpu::GPUModuleOp module, tile::TargetAttr target,
            const BinaryOptions &options) const = 0;

  /// What bounds the main loop of a kernel whose workgroups have `threads` and
  /// so many bytes of shared memory. Nothing where the assembly is not read, or
  /// has no loop with matrix instructions.
  virtual std::optional<LoopCost> predictLoop(const Binary &binary,
                                              tile::TargetAttr target,
                                              int64_t threads,
                                              int64_t sharedBytes) const;

  /// Identifies the tools outside of this build that serialize() runs, such as
  /// an assembler; empty if there are none. Results are stored under it.
  virtual std::string getToolchain(const BinaryOptions &options) const;
};

} // namespace attune

#endif // ATTUNE_TARGET_TARGETMODEL_H
