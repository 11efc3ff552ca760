// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compute chips whose MFMA takes eight 16-bit numbers of a lane, and whose
// halves of a wave change places.

#include "../Common/AMD.h"

using namespace mlir;
using namespace attune;

namespace {
class CDNA4Target : public amd::MFMATarget {
protected:
  int64_t getDepth() const override { return 16; }
  /// v_cvt_pk_bf16_f32 and v_cvt_pk_f16_f32.
  bool roundsPairs() const override { return true; }
  void populateLanePatterns(LLVMTypeConverter &converter,
                            RewritePatternSet &patterns) const override;
};
} // namespace

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
