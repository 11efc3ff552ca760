// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the references of ops share: buffers and vectors along the head size,
// and of attention and its gradients, scores and which keys a query sees.

#ifndef ATTUNE_LIB_DIALECT_ATTN_TRANSFORMS_ATTNLOOPS_H
#define ATTUNE_LIB_DIALECT_ATTN_TRANSFORMS_ATTNLOOPS_H

#include "attune/Dialect/Attn/IR/Attn.h"
#include "attune/Dialect/Attn/IR/Dropout.h"
#include "attune/Dialect/Attn/IR/SizeFacts.h"
#include "attune/Dialect/Attn/Transforms/Passes.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/PatternMatch.h"

namespace attune::attn {

/// Emits loops in place of an op on tensors of this order, in f32: buffers, and
/// rows along the head size as vectors. Members that are Values are set on the
/// way.
class RowEmitter {
protected:
  RowEmitter(mlir::RewriterBase &rewriter, mlir::Operation *op,
             llvm::StringRef order, mlir::FloatType element,
             ReferencePrecision output, ReferencePrecision precision)
      : rewriter(rewriter), builder(op->getLoc(), rewriter), order(order),
        element(element), output(output), precision(precision) {}

  mlir::Value createF32(float value) {
    return mlir::arith::ConstantOp::create(builder,
                                           builder.getF32FloatAttr(value));
  }
  mlir::Value createIndex(int64_t value) {
    return mlir::arith::ConstantIndexOp::create(builder, value);
  }
  int64_t find(char dim) const { return static_cast<int64_t>(order.find(dim)); }
  /// An f32 vector of zeros.
  mlir::Value createZeros(int64_t count);
  mlir::Value toBuffer(mlir::Value tensor);
  mlir::Value toTensor(mlir::Value buffer);
  mlir::Value getSize(mlir::Value buffer, int64_t position);
  mlir::Value allocate(mlir::RankedTensorType type,
                       llvm::ArrayRef<mlir::Value> sizes);
  llvm::SmallVector<mlir::Value, 4> getIndices(mlir::Value b, mlir::Value h,
                                               mlir::Value s);
  bool isHeadDimDense(mlir::Value buffer);
  int64_t findHeadDim(mlir::Value buffer);
  /// The type of a vector, or of a scalar, with other elements.
  static mlir::Type withElement(mlir::Value value, mlir::Type element);
  /// The vector along the head size, the last dimension of what has other ones
  /// than the order says, in f32, and the other way round.
  mlir::Value loadF32(mlir::Value buffer,
                      llvm::SmallVector<mlir::Value, 4> indices, int64_t count);
  /// So many columns of half as many bytes, in f32: the lower parts of all come
  /// first.
  mlir::Value loadPacked(mlir::Value buffer,
                         llvm::SmallVector<mlir::Value, 4> indices,
                         int64_t count);
  /// Elements along the head size as they are stored.
  mlir::Value loadStored(mlir::Value buffer,
                         llvm::SmallVector<mlir::Value, 4> indices,
                         int64_t count);
  void store(mlir::Value vector, mlir::Value buffer,
             llvm::SmallVector<mlir::Value, 4> indices);
  /// sum + factor * vector
  mlir::Value addMultiple(mlir::Value sum, mlir::Value factor,
                          mlir::Value vector);
  mlir::Value round(mlir::Value value);
  /// A vector of so many equal elements.
  mlir::Value splat(mlir::Value scalar, int64_t count);
  /// Elements divided by their scale, of which those beyond the largest number,
  /// also infinite ones, are that.
  mlir::Value divide(mlir::Value elements, mlir::Value scale, double largest);

  mlir::RewriterBase &rewriter;
  mlir::ImplicitLocOpBuilder builder;
  llvm::StringRef order;
  /// What is rounded to, if that is asked for.
  mlir::FloatType element;
  ReferencePrecision output, precision;
  mlir::Value zero, one;
};

/// Emits loops that make numbers of 8 bits, or of 4 in bytes.
class NarrowEmitter : public RowEmitter {
protected:
  NarrowEmitter(mlir::RewriterBase &rewriter, mlir::Operation *op,
                llvm::StringRef order, mlir::Type narrow, bool isPacked,
                ReferencePrecision output)
      : RowEmitter(rewriter, op, order, rewriter.getF32Type(), output,
                   ReferencePrecision::F32),
        narrow(narrow), isPacked(isPacked) {}

  /// The largest amount of what is finite, and `carried`.
  mlir::Value addAmounts(mlir::Value carried, mlir::Value elements);
  /// The least and the largest of what is finite, and `carried`.
  std::pair<mlir::Value, mlir::Value>
  addExtremes(std::pair<mlir::Value, mlir::Value> carried,
              mlir::Value elements);
  /// What addExtremes() begins with.
  std::pair<mlir::Value, mlir::Value> makeNoExtremes();
  /// The scale and the zero point of elements between these.
  std::pair<mlir::Value, mlir::Value>
  makeZero(std::pair<mlir::Value, mlir::Value> extremes);
  /// What the elements of a result are to be multiplied by.
  mlir::Value makeScale(mlir::Value amount);
  /// Elements divided by their scale, of which those beyond the largest number,
  /// also infinite ones, are that; and their zero point more, if there is one.
  mlir::Value quantize(mlir::Value elements, mlir::Value scale,
                       mlir::Value zero = {});
  /// `count` elements, packed if those of a result are, in f32.
  mlir::Value loadNarrow(mlir::Value buffer,
                         llvm::SmallVector<mlir::Value, 4> indices,
                         int64_t count);
  /// Rounds elements, unless the buffer is of f32, and packs them if they are
  /// to be.
  void storeNarrow(mlir::Value elements, mlir::Value buffer,
                   llvm::SmallVector<mlir::Value, 4> indices);

private:
  float getLargest() {
    return static_cast<float>(getLargestNumber(narrow, isPacked));
  }

  mlir::Type narrow;
  bool isPacked;
};

/// Emits the loops of one op whose short forms are expanded.
class LoopEmitter : public RowEmitter {
public:
  LoopEmitter(mlir::RewriterBase &rewriter, AttentionOpInterface op,
              ReferencePrecision output, ReferencePrecision precision)
      : RowEmitter(rewriter, op, op.getOrder(), getRounded(op), output,
                   precision),
        op(op) {}

protected:
  /// What scores and results are rounded to: queries of 8 bits say too little.
  static mlir::FloatType getRounded(AttentionOpInterface op) {
    if (auto forward = llvm::dyn_cast<AttentionOp>(*op))
      return llvm::cast<mlir::FloatType>(getRoundedType(forward));
    return llvm::cast<mlir::FloatType>(
        getDefaultResultElement(op.getElementType()));
  }
  /// One query of one head.
  struct Row {
    mlir::Value b, h, m;
    mlir::Value kvHead;
    /// Keys of the batch; none for a query behind the last one.
    mlir::Value keys;
    /// The place of the first of them, where keys are packed.
    mlir::Value firstKey;
    /// In f32, as all vectors are.
    mlir::Value query;
  };
  /// Buffers of a list of blocks; null where there is none.
  struct List {
    mlir::Value counts, indices;
  };
  /// A score: as the product is, and as the region makes it. `region` maps the
  /// region's values.
  struct Score {
    mlir::Value product, score;
    mlir::IRMapping region;
  };
  using KeyBody =
      llvm::function_ref<mlir::Value(mlir::Value n, mlir::Value carried)>;
  using LoadBody = llvm::function_ref<mlir::Value(mlir::Value b, mlir::Value h,
                                                  mlir::Value s)>;

  /// The sum of products, in ascending order.
  mlir::Value dot(mlir::Value lhs, mlir::Value rhs);
  /// Sets the members that all loops read, in front of the op.
  void readOperands();
  /// The queries or the keys of a batch.
  BatchRows getRows(mlir::Value starts, mlir::Value lengths, mlir::Value b,
                    mlir::Value size);
  /// For a row at batch `b` and place `s` of a tensor with these starts and
  /// lengths, which may be null, finds the batch that it is of, and which one
  /// it is there. Returns whether there is such a batch, which has it; null
  /// where there is.
  mlir::Value locate(mlir::Value starts, mlir::Value lengths, mlir::Value size,
                     mlir::Value &b, mlir::Value &s);
  /// The same of packed rows, and the batch alone.
  mlir::Value findBatch(mlir::Value starts, mlir::Value size, mlir::Value &b,
                        mlir::Value s);
  /// An operand, and what its elements are multiplied by, if they are.
  struct Operand {
    mlir::Value buffer;
    std::optional<Scales> scales;
    /// Null where they are multiplied elsewhere.
    mlir::Value factors;
    /// What is subtracted before; null where nothing is.
    mlir::Value zeros;
    /// Whether bytes hold two columns each.
    bool isPacked = false;
  };
  Operand getOperand(mlir::Value tensor, std::optional<Scales> scales,
                     bool isPacked = false);
  /// For `count` elements from these places of an operand on their scales, or
  /// their zero points, as `numbers` has them.
  mlir::Value loadNumbers(const Operand &operand, mlir::Value numbers,
                          llvm::SmallVector<mlir::Value, 4> indices,
                          int64_t count);
  /// The vector along the head size in f32, multiplied.
  mlir::Value load(const Operand &operand, mlir::Value b, mlir::Value h,
                   mlir::Value s, int64_t count);
  /// Key `n` that a row of queries sees, or its value.
  mlir::Value loadKey(const Operand &operand, const Row &row, mlir::Value n,
                      int64_t count);
  /// The scale of its first column.
  mlir::Value loadFactor(const Operand &operand, const Row &row, mlir::Value n);
  /// The vector of `count` elements that `body` loads from where key `n` lies,
  /// or zeros where it lies nowhere.
  mlir::Value loadAtKey(const Operand &operand, const Row &row, mlir::Value n,
                        int64_t count, LoadBody body);
  /// h / (headsQ / headsKV)
  mlir::Value getKVHead(mlir::Value h);
  /// score(scale * sum_d query * key, b, h, m, n)
  Score emitScore(const Row &row, mlir::Value n);
  /// The weight of a key, or its gradient, as dropout leaves it.
  mlir::Value dropOut(mlir::Value weight, const Row &row, mlir::Value n);
  mlir::Value forEachVisibleKey(const Row &row, mlir::Value initial,
                                KeyBody body);
  /// carried = body(n, carried) for each n from `begin` to `end`, not included,
  /// that the mask lets through, if it is asked.
  mlir::Value forEachKey(const Row &row, mlir::Value begin, mlir::Value end,
                         bool isMasked, mlir::Value initial, KeyBody body);
  /// The same for the keys of the listed blocks.
  mlir::Value forEachListedKey(const Row &row, const List &list, bool isMasked,
                               mlir::Value initial, KeyBody body);
  void readCapturesFromBuffers(mlir::Operation *loop);

  AttentionOpInterface op;
  Operand query, key, value;
  mlir::Value sinks, queryLengths, keyLengths, queryStarts, keyStarts, pages;
  List blocks, fullBlocks;
  std::optional<Dropout> dropout;
  mlir::Value batch, seqQ, seqK, headsQ, headsKV;
  llvm::MapVector<mlir::Value, mlir::Value> captures;
};

/// Replaces the op by the loops that compute its gradients, which are f32 with
/// `output` F32.
void emitGradientLoops(mlir::RewriterBase &rewriter, AttentionGradOp op,
                       ReferencePrecision output, ReferencePrecision precision);

/// Replaces the op by the loops that compute its results.
void emitMergeLoops(mlir::RewriterBase &rewriter, MergeOp op,
                    ReferencePrecision output, ReferencePrecision precision);
void emitQuantizeLoops(mlir::RewriterBase &rewriter, QuantizeOp op,
                       ReferencePrecision output);
void emitAppendLoops(mlir::RewriterBase &rewriter, AppendOp op,
                     ReferencePrecision output);

} // namespace attune::attn

#endif // ATTUNE_LIB_DIALECT_ATTN_TRANSFORMS_ATTNLOOPS_H
