// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Graphics chips whose WMMA has half of its operands in each half of a wave, as
// it leaves the accumulator.

#include "../Common/AMD.h"

using namespace mlir;
using namespace attune;

namespace {
class RDNA4Target : public amd::WMMATarget {};
} // namespace

namespace attune {
std::unique_ptr<TargetModel> createRDNA4TargetModel() {
  return std::make_unique<RDNA4Target>();
}
void registerRDNA4Dialects(DialectRegistry &registry) {
  amd::registerDialects(registry);
}
} // namespace attune
