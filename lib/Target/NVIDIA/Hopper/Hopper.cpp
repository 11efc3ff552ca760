// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chips with warpgroup multiplies and a tensor memory accelerator, beside all
// that other chips of the vendor have.

#include "../Common/Baseline.h"
#include "Warpgroups.h"

using namespace mlir;
using namespace attune;

namespace {
class HopperTarget : public nvidia::BaselineTarget {
public:
  const WarpgroupModel *getWarpgroups() const override { return &warpgroups; }

private:
  HopperWarpgroups warpgroups;
};
} // namespace

namespace attune {
std::unique_ptr<TargetModel> createHopperTargetModel() {
  return std::make_unique<HopperTarget>();
}
void registerHopperDialects(DialectRegistry &registry) {
  nvidia::registerDialects(registry);
}
} // namespace attune
