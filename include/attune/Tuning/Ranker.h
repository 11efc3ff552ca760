// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which candidate is worth trying first. A model only: it never excludes a
// candidate, and a search without it tries the same ones in another order.

#ifndef ATTUNE_TUNING_RANKER_H
#define ATTUNE_TUNING_RANKER_H

#include "attune/Tuning/Result.h"

namespace attune::tuning {

class Ranker {
public:
  virtual ~Ranker();
  /// A prediction of the time in nanoseconds; the smallest comes first.
  double score(llvm::ArrayRef<int64_t> point) const {
    return score(point, nullptr);
  }
  /// The same, with what the compiler reported about the candidate.
  double score(const Result &compiled) const {
    return score(compiled.point, &compiled.resources);
  }

protected:
  virtual double score(llvm::ArrayRef<int64_t> point,
                       const Resources *reported) const = 0;
};

/// Orders points by their score, and returns these; equal ones keep their
/// order.
std::vector<double> sortByScore(std::vector<Point> &points,
                                const Ranker &ranker);

} // namespace attune::tuning

#endif // ATTUNE_TUNING_RANKER_H
