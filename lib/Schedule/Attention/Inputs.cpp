// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the operands of attention and the captures of its regions mean.

#include "IntegerUses.h"
#include "attune/Dialect/Attn/Transforms/Differentiate.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace attune;

static void noteOperands(attn::AttentionOpInterface op, InputNotes &notes) {
  attn::TensorRoles roles = op.getTensorRoles();
  auto note = [&](Value tensor, size_t heads, size_t length, Value starts) {
    if (!starts)
      notes.noteSize(tensor, op.getBatchPos(), kBatch);
    notes.noteSize(tensor, op.getHeadPos(), heads);
    notes.noteSize(tensor, op.getSeqPos(), length);
  };
  for (Value tensor : roles.ofQueries)
    note(tensor, kHeads, kSeqQ, op.getQueryStarts());
  for (auto [tensor, isPacked] :
       {std::pair<Value, bool>{op.getKey(), attn::packsKey(op)},
        {op.getValue(), attn::packsValue(op)}}) {
    IntegerUse element;
    element.kind =
        isPacked ? IntegerUse::Kind::Packed : IntegerUse::Kind::Element;
    if (getElementTypeOrSelf(tensor.getType()).isInteger())
      notes.noteIntegers(tensor, element);
  }
  for (Value tensor : roles.ofKeys)
    if (op.getPages())
      notes.noteSize(tensor, op.getHeadPos(), kKVHeads);
    else
      note(tensor, kKVHeads, kSeqK, op.getKeyStarts());
  for (Value tensor : roles.perQuery)
    for (auto [dim, size] : {std::pair(0, kBatch), {1, kHeads}, {2, kSeqQ}})
      if (size != kBatch || !op.getQueryStarts())
        notes.noteSize(tensor, dim, size);
  for (Value perHead : {op.getAlibiSlopes(), op.getSinks()})
    if (perHead)
      notes.noteSize(perHead, 0, kHeads);
}

/// Scales are positive, and as many as their operand has blocks.
static void noteScales(attn::AttentionOp op, InputNotes &notes) {
  for (const attn::Scales &scales : attn::getScales(op)) {
    bool isOfQuery = scales.operand == op.getQuery();
    Value starts = isOfQuery ? op.getQueryStarts() : op.getKeyStarts();
    bool isInPages = !isOfQuery && op.getPages();
    auto note = [&](int64_t dim, size_t size) {
      for (Value numbers : {scales.scales, scales.zeros})
        if (numbers && !scales.isShared(dim))
          notes.noteSize(numbers, dim, size, scales.getBlock(dim));
    };
    if (!starts && !isInPages)
      note(op.getBatchPos(), kBatch);
    note(op.getHeadPos(), isOfQuery ? kHeads : kKVHeads);
    if (!isInPages)
      note(op.getSeqPos(), isOfQuery ? kSeqQ : kSeqK);
    for (StringRef inputClass : {"normal", "repelled", "spread"})
      notes.noteClass(scales.scales, inputClass, {1, /*magnitude=*/true});
  }
}

static void noteLengths(attn::AttentionOpInterface op, InputNotes &notes) {
  for (auto [lengths, size] :
       {std::pair<Value, size_t>{op.getQueryLengths(), kSeqQ},
        {op.getKeyLengths(), kSeqK}}) {
    if (!lengths)
      continue;
    notes.noteSize(lengths, 0, kBatch);
    IntegerUse use;
    use.kind = IntegerUse::Kind::Position;
    use.size = size;
    notes.noteIntegers(lengths, use);
  }
}

static void noteStarts(attn::AttentionOpInterface op, InputNotes &notes) {
  for (auto [starts, size] :
       {std::pair<Value, size_t>{op.getQueryStarts(), kSeqQ},
        {op.getKeyStarts(), kSeqK}}) {
    if (!starts)
      continue;
    notes.noteSize(starts, 0, kBatch, /*unit=*/1, /*more=*/1);
    IntegerUse use;
    use.kind = IntegerUse::Kind::PartStart;
    use.size = size;
    notes.noteIntegers(starts, use);
  }
}

/// No page is named twice, as in a cache that shares none.
static void notePages(attn::AttentionOpInterface op, InputNotes &notes) {
  Value pages = op.getPages();
  if (!pages)
    return;
  notes.noteSize(pages, 0, kBatch);
  notes.noteSize(pages, 1, kSeqK, op.getPageSize());
  IntegerUse use;
  use.kind = IntegerUse::Kind::DistinctIndex;
  use.tensor = op.getKey();
  use.tensorDim = op.getBatchPos();
  notes.noteIntegers(pages, use);
}

/// Lists of blocks name different ones: where there are lists of full blocks,
/// the even ones, and those the odd ones.
static void noteBlockLists(attn::AttentionOpInterface op, InputNotes &notes) {
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

static void noteIntegers(attn::AttentionOpInterface op, Value argument,
                         Value value, InputNotes &notes) {
  if (getElementTypeOrSelf(value.getType()).isIntOrIndex())
    notes.noteIntegers(argument, classifyInteger(op, value));
}

static void noteCaptures(attn::AttentionOpInterface op, InputNotes &notes) {
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

SmallVector<std::pair<Value, Value>>
attune::deriveAttentionOperands(attn::AttentionGradOp grad,
                                OpBuilder &builder) {
  attn::AttentionOp forward = attn::buildForward(builder, grad);
  return {{grad.getOutput(), forward.getResult()},
          {grad.getLse(), forward.getLse()}};
}

void attune::describeAttentionInputs(attn::AttentionOpInterface op,
                                     InputNotes &notes) {
  noteOperands(op, notes);
  noteLengths(op, notes);
  noteStarts(op, notes);
  notePages(op, notes);
  noteBlockLists(op, notes);
  noteCaptures(op, notes);
  if (auto forward = dyn_cast<attn::AttentionOp>(*op))
    noteScales(forward, notes);
}
