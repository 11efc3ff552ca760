// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Graphics chips whose WMMA wants its operands in both halves of a wave. The
// lane holds every second column of a row of the accumulator and all columns of
// the left-hand operand; one exchange between the halves makes one of the
// other.

#include "../Common/AMD.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace attune;

namespace {
class RDNA3Target : public amd::WMMATarget {
public:
  /// LLVM finds pairs of sums among what it schedules together, and schedules
  /// sums among exponentials otherwise.
  void emitBeforeSums(OpBuilder &builder, Location loc) const override;
  std::pair<Value, Value> emitBothOfPair(OpBuilder &builder, Location loc,
                                         Value vector,
                                         int64_t laneBit) const override;
  void configureKernel(LLVM::LLVMFuncOp kernel, tile::TargetAttr target,
                       int64_t threads, int64_t workgroupsPerSm) const override;
  FailureOr<Binary> serialize(gpu::GPUModuleOp module, tile::TargetAttr target,
                              const BinaryOptions &options) const override;

protected:
  /// WMMA is issued to the vector unit for all of its clocks (RDNA3 ISA, "Wave
  /// Matrix Multiply Accumulate").
  amd::LoopFacts getLoopFacts() const override {
    return {/*multipliesOnVectorUnit=*/true,
            WMMATarget::getLoopFacts().registerStep};
  }
};
} // namespace

void RDNA3Target::emitBeforeSums(OpBuilder &b, Location loc) const {
  ROCDL::SchedBarrier::create(b, loc, /*mask=*/0);
}

/// v_permlane16_swap_b32 (CDNA4 ISA, "VOP1 instructions"): the odd row of 16
/// lanes of one register changes places with the even row of another. Of a
/// value and itself, the first then has the even row twice, the second the odd
/// one. The chip lacks the instruction; expandSwaps makes it of two.
std::pair<Value, Value> RDNA3Target::emitBothOfPair(OpBuilder &b, Location loc,
                                                    Value vector,
                                                    int64_t laneBit) const {
  constexpr int64_t kRow = 16, kWordBits = 32;
  if (laneBit != kRow)
    return {};
  auto type = cast<VectorType>(vector.getType());
  int64_t count =
      type.getNumElements() * type.getElementTypeBitWidth() / kWordBits;
  Type word = b.getI32Type();
  auto words = VectorType::get(count, word);
  Value given = vector::BitCastOp::create(b, loc, words, vector);
  SmallVector<Value> sent, swaps, even, odd;
  for (int64_t i = 0; i < count; ++i)
    sent.push_back(vector::ExtractOp::create(b, loc, given, i));
  auto both = LLVM::LLVMStructType::getLiteral(b.getContext(), {word, word});
  for (Value value : sent)
    swaps.push_back(ROCDL::Permlane16SwapOp::create(b, loc, both, value, value,
                                                    /*fi=*/false,
                                                    /*boundControl=*/false));
  for (Value swap : swaps) {
    even.push_back(LLVM::ExtractValueOp::create(b, loc, swap, 0));
    odd.push_back(LLVM::ExtractValueOp::create(b, loc, swap, 1));
  }
  auto join = [&](ValueRange values) -> Value {
    Value joined = vector::FromElementsOp::create(b, loc, words, values);
    return vector::BitCastOp::create(b, loc, type, joined);
  };
  return {join(even), join(odd)};
}

/// With 16-bit registers, LLVM joins halves of two registers by two moves.
/// Without, by one v_perm_b32.
void RDNA3Target::configureKernel(LLVM::LLVMFuncOp kernel,
                                  tile::TargetAttr target, int64_t threads,
                                  int64_t workgroupsPerSm) const {
  AMDTarget::configureKernel(kernel, target, threads, workgroupsPerSm);
  Builder builder(kernel.getContext());
  SmallVector<Attribute> passed(kernel.getPassthroughAttr().getValue());
  passed.push_back(
      builder.getStrArrayAttr({"target-features", "-real-true16"}));
  kernel.setPassthroughAttr(builder.getArrayAttr(passed));
}

/// Replaces swaps that follow each other. Each lane reads that of its place in
/// the other row; in the odd row alone, what it has and what it read then
/// change places, for which the lanes of the even one are turned off once.
static void expandSwaps(MutableArrayRef<ROCDL::Permlane16SwapOp> swaps) {
  OpBuilder b(swaps.back()->getContext());
  b.setInsertionPointAfter(swaps.back());
  Location loc = swaps.back().getLoc();
  Type word = b.getI32Type();
  std::string assembly, results, operands;
  SmallVector<Value> values;
  size_t count = 2 * swaps.size();
  llvm::raw_string_ostream text(assembly);
  text << "s_and_saveexec_b32 $" << count << ", 0xffff0000\n";
  for (auto [i, swap] : llvm::enumerate(swaps)) {
    values.push_back(swap.getOld());
    values.push_back(amd::emitReadOtherRow(b, loc, swap.getOld()));
    text << "v_swap_b32 $" << 2 * i << ", $" << 2 * i + 1 << "\n";
  }
  text << "s_mov_b32 exec_lo, $" << count;
  for (size_t i = 0; i < count; ++i) {
    results += "=v,";
    operands += "," + std::to_string(i);
  }
  auto type = LLVM::LLVMStructType::getLiteral(
      b.getContext(), SmallVector<Type>(count + 1, word));
  Value all = LLVM::InlineAsmOp::create(b, loc, type, values, assembly,
                                        results + "=&s" + operands + ",~{scc}",
                                        /*has_side_effects=*/false,
                                        /*is_align_stack=*/false,
                                        LLVM::tailcallkind::TailCallKind::None,
                                        LLVM::AsmDialectAttr(), ArrayAttr())
                  .getResult(0);
  for (auto [i, swap] : llvm::enumerate(swaps)) {
    Value both = LLVM::PoisonOp::create(b, loc, swap.getType());
    for (int64_t part : {0, 1})
      both = LLVM::InsertValueOp::create(
          b, loc, both,
          LLVM::ExtractValueOp::create(b, loc, all,
                                       2 * static_cast<int64_t>(i) + part),
          part);
    swap.replaceAllUsesWith(both);
    swap.erase();
  }
}

/// At most four of them at once, of a tile of 16 columns in 16 bits: what waits
/// for one waits for all.
FailureOr<Binary> RDNA3Target::serialize(gpu::GPUModuleOp module,
                                         tile::TargetAttr target,
                                         const BinaryOptions &options) const {
  constexpr size_t kMost = 4;
  SmallVector<SmallVector<ROCDL::Permlane16SwapOp>> runs;
  module.walk([&](ROCDL::Permlane16SwapOp op) {
    if (runs.empty() || runs.back().size() == kMost ||
        runs.back().back()->getNextNode() != op)
      runs.emplace_back();
    runs.back().push_back(op);
  });
  for (MutableArrayRef<ROCDL::Permlane16SwapOp> run : runs)
    expandSwaps(run);
  return WMMATarget::serialize(module, target, options);
}

namespace attune {
std::unique_ptr<TargetModel> createRDNA3TargetModel() {
  return std::make_unique<RDNA3Target>();
}
void registerRDNA3Dialects(DialectRegistry &registry) {
  amd::registerDialects(registry);
}
} // namespace attune
