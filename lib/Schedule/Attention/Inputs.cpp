// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the operands of attention and the captures of its regions mean.

#include "IntegerUses.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace attune;

static void noteOperands(attn::AttentionOp op, InputNotes &notes) {
  notes.noteSize(op.getQuery(), op.getBatchPos(), kBatch);
  notes.noteSize(op.getQuery(), op.getHeadPos(), kHeads);
  notes.noteSize(op.getQuery(), op.getSeqPos(), kSeqQ);
  for (Value tensor : {op.getKey(), op.getValue()}) {
    notes.noteSize(tensor, op.getBatchPos(), kBatch);
    notes.noteSize(tensor, op.getHeadPos(), kKVHeads);
    notes.noteSize(tensor, op.getSeqPos(), kSeqK);
  }
  for (Value perHead : {op.getAlibiSlopes(), op.getSinks()})
    if (perHead)
      notes.noteSize(perHead, 0, kHeads);
}

/// Lists of blocks name different ones: where there are lists of full blocks,
/// the even ones, and those the odd ones.
static void noteBlockLists(attn::AttentionOp op, InputNotes &notes) {
  for (const attn::BlockList &list : attn::getBlockLists(op)) {
    auto type = cast<RankedTensorType>(list.tensor.getType());
    for (auto [dim, size] : {std::pair(0, kBatch), {1, kHeads}})
      if (type.getDimSize(dim) != 1)
        notes.noteSize(list.tensor, dim, size);
  }
  auto note = [&](Value counts, Value indices, int64_t first) {
    IntegerUse use;
    use.size = kSeqK;
    use.tensor = indices;
    use.tensorDim = 3;
    use.blockSize = op.getListedKeys();
    use.firstBlock = first;
    use.blockStep = op.getFullBlockCounts() ? 2 : 1;
    use.kind = IntegerUse::Kind::BlockCount;
    notes.noteIntegers(counts, use);
    use.kind = IntegerUse::Kind::BlockIndex;
    notes.noteIntegers(indices, use);
  };
  if (op.hasBlockLists())
    note(op.getBlockCounts(), op.getBlockIndices(), 0);
  if (op.getFullBlockCounts())
    note(op.getFullBlockCounts(), op.getFullBlockIndices(), 1);
}

static void noteIntegers(attn::AttentionOp op, Value argument, Value value,
                         InputNotes &notes) {
  if (getElementTypeOrSelf(value.getType()).isIntOrIndex())
    notes.noteIntegers(argument, classifyInteger(op, value));
}

static void noteCaptures(attn::AttentionOp op, InputNotes &notes) {
  op->walk([&](tensor::ExtractOp extract) {
    for (auto [position, index] : llvm::enumerate(extract.getIndices()))
      if (std::optional<AttentionSize> size = getRegionIndex(op, index))
        notes.noteSize(extract.getTensor(), static_cast<int64_t>(position),
                       *size);
    noteIntegers(op, extract.getTensor(), extract.getResult(), notes);
  });
  auto function = op->getParentOfType<func::FuncOp>();
  for (Value argument : function.getArguments())
    if (argument.getType().isIntOrIndex())
      for (Operation *user : argument.getUsers())
        if (op->isProperAncestor(user))
          noteIntegers(op, argument, argument, notes);
}

void attune::describeAttentionInputs(attn::AttentionOp op, InputNotes &notes) {
  noteOperands(op, notes);
  noteBlockLists(op, notes);
  noteCaptures(op, notes);
  // With heads of 16 elements or more, scores lie around -160 or below, or have
  // a deviation of 64. The largest element, 6 * 64, is finite in every type.
  constexpr double kFar = 64;
  notes.noteClass(op.getQuery(), "repelled", {kFar, /*magnitude=*/true});
  notes.noteClass(op.getQuery(), "spread", {kFar});
  // A key that is the query too stays a key.
  notes.noteClass(op.getKey(), "repelled", {-1, /*magnitude=*/true});
  notes.noteClass(op.getKey(), "spread", {1});
}
