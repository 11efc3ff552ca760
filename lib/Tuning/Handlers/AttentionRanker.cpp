// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scores a schedule by the time that the model predicts.

#include "attune/Tuning/AttentionRanker.h"
#include "attune/Tuning/PerformanceModel.h"

using namespace attune;
using namespace attune::tuning;

namespace {
class AttentionRanker : public Ranker {
public:
  AttentionRanker(attn::AttentionOp op, tile::TargetAttr target,
                  const SizeMap &sizes)
      : model(Workload::get(op, sizes), target) {}

protected:
  double score(llvm::ArrayRef<int64_t> point,
               const Resources *reported) const override {
    return model.predict(Schedule([&](size_t place) { return point[place]; }),
                         reported);
  }

private:
  PerformanceModel model;
};
} // namespace

std::unique_ptr<Ranker> tuning::createAttentionRanker(attn::AttentionOp op,
                                                      tile::TargetAttr target,
                                                      const SizeMap &sizes) {
  return std::make_unique<AttentionRanker>(op, target, sizes);
}
