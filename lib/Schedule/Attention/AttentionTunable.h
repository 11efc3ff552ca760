// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What attention ops answer as ops that can be tuned; parts of the models.

#ifndef ATTUNE_LIB_SCHEDULE_ATTENTION_ATTENTIONTUNABLE_H
#define ATTUNE_LIB_SCHEDULE_ATTENTION_ATTENTIONTUNABLE_H

#include "attune/Dialect/Attn/IR/Attn.h"
#include "attune/Runtime/Verify.h"
#include "attune/Schedule/TunableOpInterface.h"

namespace attune {

/// The places of sizes in the set of attention.
enum AttentionSize : size_t { kBatch, kHeads, kKVHeads, kSeqQ, kSeqK };

/// TunableOpInterface::describeKind().
std::string describeAttentionKind(attn::AttentionOpInterface op);

/// Rows of queries and of keys that a schedule needs to show all that it does.
struct ShrunkBlocks {
  int64_t queries, queryBlocks, keys, keyBlocks;
};

/// TunableOpInterface::shrink(): so many blocks of so many rows.
ProblemSizes shrinkAttention(attn::AttentionOpInterface op,
                             const ShrunkBlocks &blocks,
                             const ProblemSizes &sizes);

/// TunableOpInterface::getSizes().
llvm::SmallVector<int64_t> getAttentionSizes(attn::AttentionOpInterface op);

/// The same, but of a usual batch where bits of one must not depend on others.
llvm::SmallVector<int64_t> getUsualSizes(attn::AttentionOp op);

/// Sizes, by AttentionSize, of which those that are not known are the likely
/// ones, or 0.
llvm::SmallVector<int64_t> fillSizes(llvm::ArrayRef<int64_t> sizes,
                                     const SizeMap &likely);

/// TunableOpInterface::getDistance(): by the ratios of lengths and, among
/// equals, of the number of heads in all batches.
llvm::SmallVector<double> getAttentionDistance(llvm::ArrayRef<int64_t> left,
                                               llvm::ArrayRef<int64_t> right);

/// TunableOpInterface::describeInputs().
void describeAttentionInputs(attn::AttentionOpInterface op, InputNotes &notes);

/// TunableOpInterface::deriveOperands(): output and lse are the results of the
/// forward op of the same clauses and regions.
llvm::SmallVector<std::pair<mlir::Value, mlir::Value>>
deriveAttentionOperands(attn::AttentionGradOp grad, mlir::OpBuilder &builder);

/// The share of all pairs of a query and a key that FLOP are counted of, for
/// sizes in the order of the set: half under a causal mask alone, as in
/// FlashAttention; other masks count with the keys not known to be hidden.
double getCountedShare(attn::AttentionOpInterface op,
                       llvm::ArrayRef<int64_t> sizes);

/// TunableOpInterface::buildReference().
void buildAttentionReference(mlir::OpPassManager &pm, ReferenceRun run);

/// TunableOpInterface::getCheckRule() of logarithms of sums: see
/// makeLogSumExpReference().
ResultCheckRule getLogSumExpRule(double resolution = kLogSumExpResolution);

/// What of `size` queries or keys one batch has: all, or where `starts` say
/// that they are packed, its share in the mean, rounded up.
int64_t getMeanLength(mlir::Value starts, int64_t size, int64_t batches);
/// Sizes, by AttentionSize, with the lengths that batches have in the mean.
llvm::SmallVector<int64_t> getMeanSizes(attn::AttentionOpInterface op,
                                        llvm::ArrayRef<int64_t> sizes);

/// Makes attn.append an op that can be tuned.
void attachAppendTunable(mlir::MLIRContext *context);
/// The same for attn.merge.
void attachMergeTunable(mlir::MLIRContext *context);
/// The same for attn.quantize.
void attachQuantizeTunable(mlir::MLIRContext *context);

} // namespace attune

#endif // ATTUNE_LIB_SCHEDULE_ATTENTION_ATTENTIONTUNABLE_H
