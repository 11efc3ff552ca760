// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the regions of attention ops use the arguments of a function.

#ifndef ATTUNE_LIB_EXECUTION_ARGUMENTUSES_H
#define ATTUNE_LIB_EXECUTION_ARGUMENTUSES_H

#include "attune/Dialect/Attn/IR/Attn.h"
#include "attune/Execution/Problem.h"

namespace attune {

/// The dimensions of attention.
enum class AttentionDim { Batch, Heads, KVHeads, SeqQ, SeqK };

/// The dimension that a value of a region is the position in; none if it is
/// more than the plain index that the region got.
std::optional<AttentionDim> getRegionIndex(attn::AttentionOp op,
                                           mlir::Value value);

struct IntegerUse {
  ProblemArgument::Use use = ProblemArgument::Use::Number;
  /// The dimension in which a Position lies.
  AttentionDim dim = AttentionDim::SeqK;
  /// For an Index, the tensor and the dimension that it selects from.
  mlir::Value tensor;
  unsigned tensorDim = 0;
};

/// What `value`, an integer in or above a region of `op`, is used for.
IntegerUse classifyInteger(attn::AttentionOp op, mlir::Value value);

} // namespace attune

#endif // ATTUNE_LIB_EXECUTION_ARGUMENTUSES_H
