// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compute chips with waves of 64 lanes that multiply with MFMA. The atoms
// compute the transposed product: the instruction's first operand is the
// right-hand side and its second the left-hand one. The lane then holds a row
// of the accumulator, as it must hold it as the left-hand operand of the next
// multiply, so that softmax weights feed it without moving between lanes.

#include "../Common/AMD.h"
#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"

using namespace mlir;
using namespace attune;

namespace {

class CDNATarget : public amd::AMDTarget {
public:
  Value emitMma(OpBuilder &builder, Location loc, tile::MmaAtomAttr atom,
                Value lhs, Value rhs, Value acc) const override;
};

} // namespace

Value CDNATarget::emitMma(OpBuilder &b, Location loc, tile::MmaAtomAttr atom,
                          Value lhs, Value rhs, Value acc) const {
  return amdgpu::MFMAOp::create(
      b, loc, acc.getType(), static_cast<uint32_t>(atom.getN()),
      static_cast<uint32_t>(atom.getM()), static_cast<uint32_t>(atom.getK()),
      /*blocks=*/1,
      /*sourceA=*/rhs, /*sourceB=*/lhs, acc);
}

namespace attune {
std::unique_ptr<TargetModel> createCDNATargetModel() {
  return std::make_unique<CDNATarget>();
}
void registerCDNADialects(DialectRegistry &registry) {
  amd::registerDialects(registry);
}
} // namespace attune
