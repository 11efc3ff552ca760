// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Graphics chips with waves of 32 lanes that multiply with WMMA. As on CDNA the
// atoms compute the transposed product. The lane holds every second column of
// a row of the accumulator and all columns of the left-hand operand, whose two
// copies lie in the halves of the wave; one exchange between the halves makes
// one of the other.

#include "../Common/AMD.h"
#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"

using namespace mlir;
using namespace attune;

namespace {

class RDNA3Target : public amd::AMDTarget {
public:
  Value emitMma(OpBuilder &builder, Location loc, tile::MmaAtomAttr atom,
                Value lhs, Value rhs, Value acc) const override;
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
  amd::registerDialects(registry);
}
} // namespace attune
