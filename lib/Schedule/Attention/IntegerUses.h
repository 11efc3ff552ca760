// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the regions of attention ops use integers.

#ifndef ATTUNE_LIB_SCHEDULE_ATTENTION_INTEGERUSES_H
#define ATTUNE_LIB_SCHEDULE_ATTENTION_INTEGERUSES_H

#include "AttentionTunable.h"

namespace attune {

/// The dimension that a value of a region is the position in; none if it is
/// more than the plain index that the region got.
std::optional<AttentionSize> getRegionIndex(attn::AttentionOpInterface op,
                                            mlir::Value value);

/// What `value`, an integer in or above a region of `op`, is used for.
IntegerUse classifyInteger(attn::AttentionOpInterface op, mlir::Value value);

} // namespace attune

#endif // ATTUNE_LIB_SCHEDULE_ATTENTION_INTEGERUSES_H
