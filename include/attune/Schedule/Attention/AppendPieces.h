// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parts of rows that kernels of attn.append treat alike.

#ifndef ATTUNE_SCHEDULE_ATTENTION_APPENDPIECES_H
#define ATTUNE_SCHEDULE_ATTENTION_APPENDPIECES_H

#include "attune/Dialect/Attn/IR/Attn.h"

namespace attune {

/// Neighbouring elements of a row.
struct AppendPiece {
  int64_t first, width;
};

/// What is rotated, in two halves unless pairs are neighbours, and the rest.
llvm::SmallVector<AppendPiece, 3> getAppendPieces(attn::AppendOp op);

/// Elements of the widest one.
int64_t getWidestPiece(attn::AppendOp op);

} // namespace attune

#endif // ATTUNE_SCHEDULE_ATTENTION_APPENDPIECES_H
