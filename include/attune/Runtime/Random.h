// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Inputs for runs. The same seed gives the same bits on every machine.

#ifndef ATTUNE_RUNTIME_RANDOM_H
#define ATTUNE_RUNTIME_RANDOM_H

#include "attune/Runtime/Tensor.h"

namespace attune {

/// Fills a tensor with numbers of mean 0 and variance 1 whose distribution is
/// close to the normal one and never beyond 6.
void fillNormal(Tensor &tensor, uint64_t seed);

/// Fills a tensor with integers in [low, high).
void fillUniform(Tensor &tensor, uint64_t seed, int64_t low, int64_t high);

/// Fills each row (the last dimension) with ascending numbers of segments, as
/// packed documents have: 0, 0, 0, 1, 1, 2, ... Segments have random lengths;
/// there are about `segments` in a row.
void fillSegments(Tensor &tensor, uint64_t seed, int64_t segments);

/// Fills each row (the last dimension) with the numbers `first`, `first` +
/// `step`, ..., `count` of them, in random order, and again where the row is
/// longer. Without numbers, with zeros.
void fillPermutations(Tensor &tensor, uint64_t seed, int64_t count,
                      int64_t first, int64_t step);

/// Fills a tensor with the numbers from 0 to `count`, not included, in random
/// order, and again where there are more elements. Without numbers, with zeros.
void fillDistinct(Tensor &tensor, uint64_t seed, int64_t count);

/// Fills each row (the last dimension) with numbers that rise from 0 to `size`:
/// where parts of random lengths begin, about one in four of 0 or 1 element,
/// and where the last one ends. A row of one element is 0.
void fillStarts(Tensor &tensor, uint64_t seed, int64_t size);

} // namespace attune

#endif // ATTUNE_RUNTIME_RANDOM_H
