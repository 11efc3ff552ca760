// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes attn.attention_grad an op that can be tuned.

#ifndef ATTUNE_SCHEDULE_ATTENTIONGRAD_REGISTER_H
#define ATTUNE_SCHEDULE_ATTENTIONGRAD_REGISTER_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace attune {

void registerAttentionGradTunable(mlir::DialectRegistry &registry);

} // namespace attune

#endif // ATTUNE_SCHEDULE_ATTENTIONGRAD_REGISTER_H
