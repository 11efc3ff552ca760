// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes attn.attention, attn.merge and attn.quantize ops that can be tuned.

#ifndef ATTUNE_SCHEDULE_ATTENTION_REGISTER_H
#define ATTUNE_SCHEDULE_ATTENTION_REGISTER_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace attune {

void registerAttentionTunable(mlir::DialectRegistry &registry);

} // namespace attune

#endif // ATTUNE_SCHEDULE_ATTENTION_REGISTER_H
