// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compute chips up to MI300, whose MFMA takes four 16-bit numbers of a lane.

#include "../Common/AMD.h"

using namespace mlir;
using namespace attune;

namespace {
class CDNATarget : public amd::MFMATarget {
protected:
  int64_t getDepth() const override { return 8; }
  /// v_lshl_add_u64, a full-rate instruction by LLVM's SISchedule.td.
  bool addsPairs(tile::TargetAttr target) const override {
    return target.getChip() == "gfx942";
  }
};
} // namespace

namespace attune {
std::unique_ptr<TargetModel> createCDNATargetModel() {
  return std::make_unique<CDNATarget>();
}
void registerCDNADialects(DialectRegistry &registry) {
  amd::registerDialects(registry);
}
} // namespace attune
