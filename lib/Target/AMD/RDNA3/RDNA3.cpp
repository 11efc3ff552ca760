// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Graphics chips with waves of 32 lanes that multiply with WMMA. As on CDNA the
// atoms compute the transposed product. The lane holds every second column of
// a row of the accumulator and all columns of the left-hand operand, whose two
// copies lie in the halves of the wave; one exchange between the halves makes
// one of the other.

#include "../Common/AMD.h"
#include "../Common/Serialize.h"
#include "attune/Target/TargetModel.h"
#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attune;

namespace {

class RDNA3Target : public TargetModel {
public:
  Value emitMma(OpBuilder &builder, Location loc, tile::MmaAtomAttr atom,
                Value lhs, Value rhs, Value acc) const override;
  void populateGPUToLLVM(LLVMTypeConverter &converter,
                         RewritePatternSet &patterns,
                         ConversionTarget &conversionTarget,
                         tile::TargetAttr target) const override {
    amd::populateGPUToROCDL(converter, patterns, conversionTarget, target);
  }
  void configureKernel(LLVM::LLVMFuncOp kernel, int64_t threads,
                       int64_t minBlocksPerCore) const override {
    constexpr int64_t kLanes = 32, kSIMDs = 4;
    amd::configureKernel(
        kernel, threads,
        llvm::divideCeil(minBlocksPerCore * threads, kLanes * kSIMDs));
  }
  FailureOr<Binary> serialize(gpu::GPUModuleOp module, tile::TargetAttr target,
                              const BinaryOptions &options) const override {
    return amd::serialize(module, target.getChip(), /*features=*/"", options);
  }
};

} // namespace

Value RDNA3Target::emitMma(OpBuilder &b, Location loc, tile::MmaAtomAttr atom,
                           Value lhs, Value rhs, Value acc) const {
  return amdgpu::WMMAOp::create(
      b, loc, acc.getType(), static_cast<uint32_t>(atom.getN()),
      static_cast<uint32_t>(atom.getM()), static_cast<uint32_t>(atom.getK()),
      /*sourceA=*/rhs, /*sourceB=*/lhs, acc);
}

namespace attune {
std::unique_ptr<TargetModel> createRDNA3TargetModel() {
  return std::make_unique<RDNA3Target>();
}
void registerRDNA3Dialects(DialectRegistry &registry) {
  registry.insert<amdgpu::AMDGPUDialect>();
  amd::registerDialects(registry);
}
} // namespace attune
