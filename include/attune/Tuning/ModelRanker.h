// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Orders the schedules of an op by the time that its model predicts.

#ifndef ATTUNE_TUNING_MODELRANKER_H
#define ATTUNE_TUNING_MODELRANKER_H

#include "attune/Schedule/CostModel.h"
#include "attune/Tuning/Ranker.h"
#include <memory>

namespace attune::tuning {

/// Scores are nanoseconds. No ranker without a model.
std::unique_ptr<Ranker> createModelRanker(std::unique_ptr<CostModel> model);

} // namespace attune::tuning

#endif // ATTUNE_TUNING_MODELRANKER_H
