// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scores a schedule by the time that the op's model predicts.

#include "attune/Tuning/ModelRanker.h"

using namespace attune;
using namespace attune::tuning;

namespace {
class ModelRanker : public Ranker {
public:
  explicit ModelRanker(std::unique_ptr<CostModel> model)
      : model(std::move(model)) {}

protected:
  double score(llvm::ArrayRef<int64_t> point,
               const Resources *reported) const override {
    ReportedUsage usage;
    if (reported)
      usage = {reported->registers, reported->spillBytes,
               reported->loopFlopsPerClock};
    return model->predict([&](size_t place) { return point[place]; },
                          reported ? &usage : nullptr);
  }

private:
  std::unique_ptr<CostModel> model;
};
} // namespace

std::unique_ptr<Ranker>
tuning::createModelRanker(std::unique_ptr<CostModel> model) {
  if (!model)
    return nullptr;
  return std::make_unique<ModelRanker>(std::move(model));
}
