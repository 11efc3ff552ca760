// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Follows values forward through casts and sums to what decides their meaning:
// a comparison with a position, with another loaded value, or an index.

#include "IntegerUses.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace attune;
using Kind = IntegerUse::Kind;

std::optional<AttentionSize>
attune::getRegionIndex(attn::AttentionOpInterface op, Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || argument.getOwner()->getParentOp() != op)
    return std::nullopt;
  // The score comes first where there is one.
  bool isScore = argument.getOwner()->getParent() == &op.getScore();
  static constexpr AttentionSize dims[] = {kBatch, kHeads, kSeqQ, kSeqK};
  unsigned number = argument.getArgNumber();
  if (isScore && number == 0)
    return std::nullopt;
  return dims[isScore ? number - 1 : number];
}

/// The sequence that `value` is computed from; none if it is computed from
/// none.
static std::optional<AttentionSize> findSequence(attn::AttentionOpInterface op,
                                                 Value value) {
  SetVector<Value> seen;
  seen.insert(value);
  for (size_t i = 0; i < seen.size(); ++i) {
    std::optional<AttentionSize> dim = getRegionIndex(op, seen[i]);
    if (dim == kSeqQ || dim == kSeqK)
      return dim;
    Operation *definition = seen[i].getDefiningOp();
    // What a tensor holds at a position is no position.
    if (definition && !isa<tensor::ExtractOp>(definition))
      seen.insert(definition->operand_begin(), definition->operand_end());
  }
  return std::nullopt;
}

/// Whether a value still means what the one it was computed from meant.
static bool keepsMeaning(Operation *op) {
  return isa<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtSIOp,
             arith::ExtUIOp, arith::TruncIOp, arith::AddIOp, arith::SubIOp,
             arith::MaxSIOp, arith::MinSIOp, arith::MaxUIOp, arith::MinUIOp>(
      op);
}

IntegerUse attune::classifyInteger(attn::AttentionOpInterface op, Value value) {
  IntegerUse result;
  SetVector<Value> seen;
  seen.insert(value);
  for (size_t i = 0; i < seen.size(); ++i) {
    for (OpOperand &use : seen[i].getUses()) {
      Operation *user = use.getOwner();
      if (auto extract = dyn_cast<tensor::ExtractOp>(user);
          extract && use.getOperandNumber() > 0) {
        result.kind = Kind::Index;
        result.tensor = extract.getTensor();
        result.tensorDim = use.getOperandNumber() - 1;
        return result;
      }
      if (auto compare = dyn_cast<arith::CmpIOp>(user)) {
        Value other =
            use.getOperandNumber() == 0 ? compare.getRhs() : compare.getLhs();
        std::optional<AttentionSize> sequence = findSequence(op, other);
        result.kind = sequence ? Kind::Position : Kind::Segment;
        if (!sequence)
          continue;
        result.size = *sequence;
        return result;
      }
      if (keepsMeaning(user)) {
        // A sum with a position is a position.
        if (std::optional<AttentionSize> sequence =
                findSequence(op, user->getResult(0))) {
          result.kind = Kind::Position;
          result.size = *sequence;
        }
        seen.insert(user->getResult(0));
      }
    }
  }
  return result;
}
