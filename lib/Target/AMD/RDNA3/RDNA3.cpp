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
class RDNA3Target : public amd::WMMATarget {};
} // namespace

namespace attune {
std::unique_ptr<TargetModel> createRDNA3TargetModel() {
  return std::make_unique<RDNA3Target>();
}
void registerRDNA3Dialects(DialectRegistry &registry) {
  amd::registerDialects(registry);
}
} // namespace attune
