// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Graphics chips whose WMMA wants its operands in both halves of a wave. The
// lane holds every second column of a row of the accumulator and all columns of
// the left-hand operand; one exchange between the halves makes one of the
// other.

#include "../Common/AMD.h"

using namespace mlir;
using namespace attune;

namespace {
class RDNA3Target : public amd::WMMATarget {
public:
  void configureKernel(LLVM::LLVMFuncOp kernel, tile::TargetAttr target,
                       int64_t threads, int64_t workgroupsPerSm) const override;
};
} // namespace

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

namespace attune {
std::unique_ptr<TargetModel> createRDNA3TargetModel() {
  return std::make_unique<RDNA3Target>();
}
void registerRDNA3Dialects(DialectRegistry &registry) {
  amd::registerDialects(registry);
}
} // namespace attune
