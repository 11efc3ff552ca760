// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compute chips whose MFMA takes eight 16-bit numbers of a lane, whose halves
// of a wave change places, and which read rows of shared memory as columns.

#include "../Common/AMD.h"
#include "attune/Target/SharedAddress.h"
#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace attune;
using tile::LayoutAttr;
using tile::Mode;

namespace {
class CDNA4Target : public amd::MFMATarget {
public:
  Value emitSharedRead(OpBuilder &builder, Location loc,
                       const SharedRead &read) const override;
  void emitBarrier(OpBuilder &builder, Location loc) const override;
  SharedRound getSharedRound(unsigned lane, unsigned bytes,
                             bool isWrite) const override;

protected:
  int64_t getDepth() const override { return 16; }
  /// v_cvt_pk_bf16_f32 and v_cvt_pk_f16_f32.
  bool roundsPairs() const override { return true; }
  void populateLanePatterns(LLVMTypeConverter &converter,
                            RewritePatternSet &patterns) const override;
};
} // namespace

/// What ds_read_b64_tr_b16 gives a lane, in rows, and the lanes that exchange
/// it: lane 4 j + c of 16 reads columns 4 c to 4 c + 3 of row j, and gets all
/// rows of the column of its own number (CDNA4 ISA, "MFMA Transpose Load from
/// LDS").
static constexpr int64_t kRowsOfRead = 4, kLanesOfRead = 16;

static constexpr int64_t kColumnsOfLane = 4;

/// Whether lanes hold columns of so many rows, as the transposing read gives
/// them.
static bool isTransposed(const SharedRead &read) {
  constexpr unsigned kBits = 16;
  auto type = cast<MemRefType>(read.buffer.getType());
  auto isWhole = [](int64_t number) { return number % kColumnsOfLane == 0; };
  ArrayRef<Mode> registers = read.layout.getRegisters(),
                 lanes = read.layout.getLanes();
  if (type.getElementTypeBitWidth() != kBits || registers.empty() ||
      registers.front().dim != 0 || registers.front().stride != 1 ||
      registers.front().extent % kRowsOfRead != 0 || lanes.empty() ||
      lanes.front().dim != 1 || lanes.front().stride != 1 ||
      !isWhole(lanes.front().extent) || !isWhole(type.getDimSize(1)) ||
      !isWhole(read.swizzle.getVector()) || !isWhole(read.columnOffset))
    return false;
  int64_t below = 1;
  for (const Mode &mode : lanes) {
    bool ofOneRead = below < kLanesOfRead;
    if (ofOneRead && mode.dim != 1)
      return false;
    if (below >= kColumnsOfLane && mode.dim == 1 && !isWhole(mode.stride))
      return false;
    below *= mode.extent;
  }
  return llvm::all_of(registers.drop_front(), [&](const Mode &mode) {
    return mode.dim == 0 || isWhole(mode.stride);
  });
}

/// What the lane's number, of which `number` is a permutation, adds along
/// `dim`, and the bits that it may set.
static SplitIndex getPlace(OpBuilder &b, Location loc, LayoutAttr layout,
                           Value number, int64_t dim) {
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, loc, value);
  };
  SplitIndex place;
  place.possibleBits = 0;
  int64_t below = 1;
  for (const Mode &mode : layout.getLanes()) {
    if (mode.dim == dim && mode.stride != 0 && mode.extent > 1) {
      Value digit =
          b.createOrFold<arith::DivUIOp>(loc, number, constant(below));
      digit = b.createOrFold<arith::RemUIOp>(loc, digit, constant(mode.extent));
      digit = b.createOrFold<arith::MulIOp>(loc, digit, constant(mode.stride));
      place.dynamic =
          place.dynamic
              ? b.createOrFold<arith::AddIOp>(loc, place.dynamic, digit)
              : digit;
      place.possibleBits |=
          static_cast<uint64_t>((mode.extent - 1) * mode.stride);
    }
    below *= mode.extent;
  }
  return place;
}

static void add(OpBuilder &b, Location loc, SplitIndex &place, Value value) {
  if (!value)
    return;
  place.dynamic = place.dynamic
                      ? b.createOrFold<arith::AddIOp>(loc, place.dynamic, value)
                      : value;
  // Nothing is known of the sum.
  place.possibleBits = ~uint64_t(0);
}

/// ds_read_b64_tr_b16, for each four rows of a lane.
Value CDNA4Target::emitSharedRead(OpBuilder &b, Location loc,
                                  const SharedRead &read) const {
  if (!isTransposed(read))
    return {};
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, loc, value);
  };
  // The lane whose column starts what this one reads, and the row of it.
  Value inRead =
      b.createOrFold<arith::RemUIOp>(loc, read.lane, constant(kLanesOfRead));
  Value piece =
      b.createOrFold<arith::RemUIOp>(loc, inRead, constant(kColumnsOfLane));
  Value first = b.createOrFold<arith::SubIOp>(loc, read.lane, inRead);
  first = b.createOrFold<arith::AddIOp>(
      loc, first,
      b.createOrFold<arith::MulIOp>(loc, piece, constant(kColumnsOfLane)));
  SplitIndex row = getPlace(b, loc, read.layout, first, /*dim=*/0),
             column = getPlace(b, loc, read.layout, first, /*dim=*/1);
  add(b, loc, row,
      b.createOrFold<arith::DivUIOp>(loc, inRead, constant(kColumnsOfLane)));
  add(b, loc, row, read.row);
  add(b, loc, column, read.column);
  auto type = cast<MemRefType>(read.buffer.getType());
  Value flat = flattenBuffer(b, loc, read.buffer);
  auto part = VectorType::get(kRowsOfRead, type.getElementType());
  SmallVector<Value> elements;
  for (int64_t reg = 0; reg < read.layout.getNumRegisters();
       reg += kRowsOfRead) {
    SmallVector<int64_t, 2> at = read.layout.getRegisterCoordinates(reg, 2);
    row.constant = read.rowOffset + at[0];
    column.constant = read.columnOffset + at[1];
    Value index =
        sharedPosition(b, loc, read.swizzle, type.getDimSize(1), row, column)
            .materialize(b, loc);
    Value rows = amdgpu::TransposeLoadOp::create(b, loc, part, flat, index);
    for (int64_t i = 0; i < kRowsOfRead; ++i)
      elements.push_back(vector::ExtractOp::create(b, loc, rows, i));
  }
  return vector::FromElementsOp::create(
      b, loc, VectorType::get(elements.size(), type.getElementType()),
      elements);
}

/// A release to the workgroup would wait for all copies that are under way (in
/// LLVM, S_WAITCNT_lds_direct). Memory that others read is written by LDS
/// instructions, which all waves see in one order, and by copies, which gets
/// wait for: fences for the back end alone are enough.
void CDNA4Target::emitBarrier(OpBuilder &b, Location loc) const {
  StringAttr scope = b.getStringAttr("wavefront");
  LLVM::FenceOp::create(b, loc, LLVM::AtomicOrdering::release, scope);
  ROCDL::SBarrierOp::create(b, loc);
  LLVM::FenceOp::create(b, loc, LLVM::AtomicOrdering::acquire, scope);
}

/// Reads see twice as many banks as writes; those of 16 bytes take four groups
/// of four lanes, whose numbers have an even, or odd, number of ones
/// (HazyResearch/HipKittens, analysis/paper_experiments/phases).
SharedRound CDNA4Target::getSharedRound(unsigned lane, unsigned bytes,
                                        bool isWrite) const {
  if (isWrite)
    return TargetModel::getSharedRound(lane, bytes, isWrite);
  constexpr unsigned kBanks = 64, kBankBytes = 4, kHalf = 32;
  if (bytes != 16)
    return {lane / std::clamp(kBanks * kBankBytes / bytes, 1u, kBanks), kBanks};
  unsigned group = lane % kHalf / 4;
  return {lane / kHalf * 2 + (llvm::popcount(group) & 1u), kBanks};
}

/// v_permlane32_swap_b32 (CDNA4 ISA, "VOP1 instructions"): the upper half of
/// one register changes places with the lower half of another. Of a value and
/// itself, the first then has the lower half twice, the second the upper one.
void CDNA4Target::populateLanePatterns(LLVMTypeConverter &converter,
                                       RewritePatternSet &patterns) const {
  constexpr int64_t kHalf = 32;
  amd::populateExchangePattern(
      converter, patterns, kHalf,
      [](OpBuilder &b, Location loc, Value value) -> Value {
        Type word = b.getI32Type();
        auto both =
            LLVM::LLVMStructType::getLiteral(b.getContext(), {word, word});
        Value swapped = ROCDL::Permlane32SwapOp::create(
            b, loc, both, value, value, /*fi=*/false, /*boundControl=*/false);
        Value lower = LLVM::ExtractValueOp::create(b, loc, swapped, 0),
              upper = LLVM::ExtractValueOp::create(b, loc, swapped, 1);
        auto constant = [&](int64_t bits) {
          return LLVM::ConstantOp::create(b, loc, word,
                                          b.getI32IntegerAttr(bits));
        };
        Value before = ROCDL::MbcntLoOp::create(b, loc, word, constant(-1),
                                                constant(0), {}, {});
        Value lane = ROCDL::MbcntHiOp::create(b, loc, word, constant(-1),
                                              before, {}, {});
        Value isLower = LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::ult,
                                             lane, constant(kHalf));
        return LLVM::SelectOp::create(b, loc, isLower, upper, lower);
      });
}

namespace attune {
std::unique_ptr<TargetModel> createCDNA4TargetModel() {
  return std::make_unique<CDNA4Target>();
}
void registerCDNA4Dialects(DialectRegistry &registry) {
  amd::registerDialects(registry);
}
} // namespace attune
