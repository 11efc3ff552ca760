// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-expand-short-forms: writes causal, window, softcap and alibi into the
// score and mask regions, so that everything after it knows regions only.
// Where lengths are dynamic, the offset of a diagonal is computed before the op
// and captured.

#include "attune/Dialect/Attn/IR/SizeFacts.h"
#include "attune/Dialect/Attn/Transforms/Passes.h"
#include "attune/Dialect/Attn/Transforms/Transforms.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace attune::attn {
#define GEN_PASS_DEF_ATTNEXPANDSHORTFORMSPASS
#include "attune/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attune::attn

using namespace mlir;
using namespace attune::attn;

namespace {
/// Seq_k - seq_q: known now, or a value computed before the op, or that of each
/// batch where these have lengths.
class DiagonalOffset {
public:
  explicit DiagonalOffset(AttentionOpInterface op) : op(op) {}

  /// The column where the diagonal of `alignment` crosses row `m`.
  Value getDiagonal(ImplicitLocOpBuilder &builder, Value b, Value m,
                    Alignment alignment) {
    if (alignment == Alignment::TopLeft)
      return m;
    if (op.hasLengths())
      return arith::AddIOp::create(builder, m, getOffsetOf(builder, b));
    if (ShapedType::isStatic(op.getSeqQ()) &&
        ShapedType::isStatic(op.getSeqK()))
      return addConstant(builder, m, op.getSeqK() - op.getSeqQ());
    return arith::AddIOp::create(builder, m, getDynamicOffset());
  }

  static Value addConstant(ImplicitLocOpBuilder &builder, Value value,
                           int64_t constant) {
    if (constant == 0)
      return value;
    return arith::AddIOp::create(
        builder, value, arith::ConstantIndexOp::create(builder, constant));
  }

private:
  Value getDynamicOffset() {
    if (dynamicOffset)
      return dynamicOffset;
    ImplicitLocOpBuilder before(op.getLoc(), op);
    Value seqK = getValueOrCreateConstantIndexOp(before, op.getLoc(),
                                                 getKeyCount(before, op));
    Value seqQ = tensor::DimOp::create(before, op.getQuery(), op.getSeqPos());
    return dynamicOffset = arith::SubIOp::create(before, seqK, seqQ);
  }

  /// How far the diagonal of a batch is from the top-left one.
  Value getOffsetOf(ImplicitLocOpBuilder &builder, Value b) {
    auto load = [&](Value tensor, Value place) -> Value {
      return tensor::ExtractOp::create(builder, tensor, place);
    };
    auto getLength = [&](int64_t size, Value starts, Value lengths,
                         Value &dynamic, auto emitSize) -> Value {
      Value all = getSize(builder, size, dynamic, emitSize);
      return getBatchRows(builder, starts, lengths, b, all, load).length;
    };
    Value keys = getLength(
        op.getSeqK(), op.getKeyStarts(), op.getKeyLengths(), allKeys,
        [&](ImplicitLocOpBuilder &before) { return getKeyCount(before, op); });
    Value queries =
        getLength(op.getSeqQ(), op.getQueryStarts(), op.getQueryLengths(),
                  allQueries, [&](ImplicitLocOpBuilder &before) {
                    return tensor::getMixedSize(before, before.getLoc(),
                                                op.getQuery(), op.getSeqPos());
                  });
    return arith::SubIOp::create(builder, keys, queries);
  }

  /// A size, computed before the op where it is not known.
  Value
  getSize(ImplicitLocOpBuilder &builder, int64_t size, Value &dynamic,
          llvm::function_ref<OpFoldResult(ImplicitLocOpBuilder &)> emitSize) {
    if (ShapedType::isStatic(size))
      return arith::ConstantIndexOp::create(builder, size);
    if (!dynamic) {
      ImplicitLocOpBuilder before(op.getLoc(), op);
      dynamic = getValueOrCreateConstantIndexOp(before, op.getLoc(),
                                                emitSize(before));
    }
    return dynamic;
  }

  AttentionOpInterface op;
  Value dynamicOffset, allKeys, allQueries;
};
} // namespace

static Value createF32(ImplicitLocOpBuilder &builder, float value) {
  return arith::ConstantOp::create(builder, builder.getF32FloatAttr(value));
}

/// softcap * tanh(score / softcap). The error of an approximate tanh is that of
/// a score rounded to f16, in which eager code of 16 bits keeps it.
static Value applySoftcap(ImplicitLocOpBuilder &builder, Value score,
                          float softcap) {
  Value scaled =
      arith::MulFOp::create(builder, score, createF32(builder, 1.0f / softcap));
  Value bounded =
      math::TanhOp::create(builder, scaled, arith::FastMathFlags::afn);
  return arith::MulFOp::create(builder, bounded, createF32(builder, softcap));
}

/// score - slopes[h] * |m + seq_k - seq_q - n|
static Value applyAlibi(ImplicitLocOpBuilder &builder, Value score,
                        Value slopes, ValueRange indices,
                        DiagonalOffset &offset) {
  Value h = indices[1], m = indices[2], n = indices[3];
  Value diagonal =
      offset.getDiagonal(builder, indices[0], m, Alignment::BottomRight);
  Value distance = arith::SubIOp::create(builder, diagonal, n);
  distance =
      arith::IndexCastOp::create(builder, builder.getI32Type(), distance);
  distance = arith::SIToFPOp::create(builder, builder.getF32Type(), distance);
  distance = math::AbsFOp::create(builder, distance);
  Value slope = tensor::ExtractOp::create(builder, slopes, h);
  return arith::SubFOp::create(builder, score,
                               arith::MulFOp::create(builder, slope, distance));
}

static void expandScore(RewriterBase &rewriter, AttentionOpInterface op,
                        DiagonalOffset &offset) {
  bool isNew = !op.hasScore();
  if (isNew)
    op.createScoreBlock(rewriter);
  Block &block = op.getScore().front();
  auto builder = ImplicitLocOpBuilder::atBlockBegin(op.getLoc(), &block);
  Value score = block.getArgument(0);
  SmallVector<OpOperand *> oldUses =
      llvm::to_vector(llvm::make_pointer_range(score.getUses()));
  if (FloatAttr softcap = op.getSoftcapAttr())
    score = applySoftcap(builder, score, softcap.getValue().convertToFloat());
  if (Value slopes = op.getAlibiSlopes())
    score = applyAlibi(builder, score, slopes,
                       block.getArguments().drop_front(), offset);
  for (OpOperand *use : oldUses)
    use->set(score);
  if (isNew)
    YieldOp::create(builder, score);
}

static void expandMask(RewriterBase &rewriter, AttentionOpInterface op,
                       DiagonalOffset &offset) {
  // What the region says already; null where there is none.
  Value visible;
  if (op.hasMask()) {
    Operation *terminator = op.getMask().front().getTerminator();
    visible = cast<YieldOp>(terminator).getValue();
    rewriter.eraseOp(terminator);
  } else {
    op.createMaskBlock(rewriter);
  }
  Block &block = op.getMask().front();
  auto builder = ImplicitLocOpBuilder::atBlockEnd(op.getLoc(), &block);
  Value b = block.getArgument(0), m = block.getArgument(2),
        n = block.getArgument(3);
  auto require = [&](arith::CmpIPredicate predicate, Value bound) {
    Value inside = arith::CmpIOp::create(builder, predicate, n, bound);
    visible =
        visible ? arith::AndIOp::create(builder, visible, inside) : inside;
  };
  if (CausalAttr causal = op.getCausalAttr())
    require(arith::CmpIPredicate::sle,
            offset.getDiagonal(builder, b, m, causal.getAlignment()));
  if (WindowAttr window = op.getWindowAttr()) {
    Value diagonal = offset.getDiagonal(builder, b, m, window.getAlignment());
    if (window.getLeft() >= 0)
      require(
          arith::CmpIPredicate::sge,
          DiagonalOffset::addConstant(builder, diagonal, -window.getLeft()));
    if (window.getRight() >= 0)
      require(
          arith::CmpIPredicate::sle,
          DiagonalOffset::addConstant(builder, diagonal, window.getRight()));
  }
  // A window without sides hides nothing.
  if (!visible)
    visible = arith::ConstantIntOp::create(builder, 1, 1);
  YieldOp::create(builder, visible);
}

bool attune::attn::expandShortForms(RewriterBase &rewriter,
                                    AttentionOpInterface op) {
  bool changesScore = op.getSoftcapAttr() || op.getAlibiSlopes();
  bool hidesKeys = op.getCausalAttr() || op.getWindowAttr();
  if (!changesScore && !hidesKeys)
    return false;
  rewriter.modifyOpInPlace(op, [&] {
    DiagonalOffset offset(op);
    if (changesScore)
      expandScore(rewriter, op, offset);
    if (hidesKeys)
      expandMask(rewriter, op, offset);
    op.removeShortForms();
  });
  return true;
}

namespace {
struct AttnExpandShortForms
    : attune::attn::impl::AttnExpandShortFormsPassBase<AttnExpandShortForms> {
  using AttnExpandShortFormsPassBase::AttnExpandShortFormsPassBase;

  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    bool changed = false;
    getOperation()->walk([&](AttentionOpInterface op) {
      changed |= expandShortForms(rewriter, op);
    });
    if (!changed)
      markAllAnalysesPreserved();
  }
};
} // namespace
