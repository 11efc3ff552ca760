// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compute chips up to MI300, whose MFMA takes four 16-bit numbers of a lane.

#include "../Common/AMD.h"

using namespace mlir;
using namespace attune;

namespace {
class CDNATarget : public amd::MFMATarget {
public:
  /// Reads of 16 bytes take two groups of four lanes that are five, or three,
  /// apart (ROCm/composable_kernel, docs/conceptual/ck_tile/hardware).
  SharedRound getSharedRound(unsigned lane, unsigned bytes,
                             bool isWrite) const override {
    SharedRound round = TargetModel::getSharedRound(lane, bytes, isWrite);
    if (bytes != 16 || isWrite)
      return round;
    constexpr unsigned kHalf = 32;
    unsigned group = lane % kHalf / 4;
    round.number = lane / kHalf * 4 + (group < 4 ? group : (group - 4) ^ 1);
    return round;
  }

protected:
  int64_t getDepth() const override { return 8; }
  /// v_lshl_add_u64, a full-rate instruction by LLVM's SISchedule.td.
  bool addsPairs(tile::TargetAttr target) const override {
    return target.getChip() == "gfx942";
  }
  /// By counters of an MI300X (midiareshadi/attn-dsl-bench): 1.7 of 2.1 GHz
  /// where MFMAs are under way for a third of the time, 1.2 from 60 percent on.
  double getClockShare(StringRef chip, double busy) const override {
    constexpr double kPeak = 2.1, kFew = 1.0 / 3, kFast = 1.7, kMany = 0.6,
                     kSlow = 1.2;
    if (chip != "gfx942")
      return 1;
    double clock = kFast + (kSlow - kFast) * (busy - kFew) / (kMany - kFew);
    return std::clamp(clock, kSlow, kPeak) / kPeak;
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
