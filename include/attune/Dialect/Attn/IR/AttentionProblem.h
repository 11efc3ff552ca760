// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention problems by their sizes and options, and the modules that state
// them: for tools and for programs that do not write MLIR.

#ifndef ATTUNE_DIALECT_ATTN_IR_ATTENTIONPROBLEM_H
#define ATTUNE_DIALECT_ATTN_IR_ATTENTIONPROBLEM_H

#include "attune/Dialect/Attn/IR/Attn.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <optional>
#include <string>

namespace attune::attn {

enum class Element {
  F16,
  BF16,
  F32,
  F8E4M3FN,
  F8E5M2,
  F8E4M3FNUZ,
  F8E5M2FNUZ,
  I8,
  I4
};
mlir::Type getType(mlir::Builder &builder, Element element);

/// The encoding of a tensor of which only the innermost stride is known to be
/// 1, or none. `rowSize` is the length of what lies there.
mlir::Attribute getEncoding(mlir::MLIRContext *context, bool strided,
                            size_t rank, int64_t rowSize);

/// For each letter of an order how many neighbours share a scale; 0 for all.
struct ScaleBlocks {
  int64_t batch = 0, head = 0, sequence = 0, headDim = 0;
};

struct AttentionProblem {
  /// Sizes; ShapedType::kDynamic where they are known at run time only.
  int64_t batch, headsQ, headsKV, seqQ, seqK;
  int64_t headDimQK, headDimV;
  /// That of query, and that of keys and values unless these have another.
  Element element;
  /// Those of keys and values, of the result, and of weights where they are
  /// multiplied. Keys and values of I4 are packed into I8. Gradients have none.
  std::optional<Element> elementKV, elementResult, elementWeights;
  /// Of query, key and value, which are f32 operands. Gradients have none.
  std::optional<ScaleBlocks> queryScales, keyScales, valueScales;
  /// Whether there is a zero point for each scale, which are f32 operands.
  bool keyZeros, valueZeros;
  /// Of a result of 8 bits, its scales, an f32 operand: `head` is 0 for one
  /// that all heads share, and 1 for one each. Gradients have none.
  std::optional<ScaleBlocks> resultScales;
  /// Of dimensions: a permutation of the letters b, h, s and d.
  std::string order;
  std::optional<Alignment> causal;
  /// Left and right of the diagonal; -1 where unbounded.
  std::optional<std::pair<int64_t, int64_t>> window;
  /// Of the window; if not given that of `causal`, or else the bottom-right
  /// one.
  std::optional<Alignment> windowAlignment;
  /// Queries and keys of a block, of which lists are taken.
  std::optional<std::pair<int64_t, int64_t>> blockLists;
  std::optional<float> softcap, scale;
  /// The probability of dropout, whose seed and offset are a further operand.
  std::optional<float> dropout;
  /// Further operands, one number per head; further results; operands of which
  /// only the innermost stride is known.
  bool alibi, sinks, lse, strided;
  /// Further operands, one number per batch.
  bool queryLengths, keyLengths;
  /// Whether the queries, or the keys and values, of all batches lie packed:
  /// seqQ and seqK are how many there are of all together.
  bool packedQueries, packedKeys;
  /// Keys of a page, where keys and values lie in pages, as many as all batches
  /// may need, which a further operand names; 0 where they do not. Gradients
  /// have none.
  int64_t pageSize;
  /// Whether values are no operand, but the first headDimV columns of the keys.
  /// Gradients have none.
  bool latent;
  /// Bits of a batch that do not depend on the others. Gradients have none.
  bool batchInvariant;
  /// The gradients instead: of query, key and value, of a number that depends
  /// on `lse` as well if that is set.
  bool grad;
  /// Of gradients: the same bits in each launch.
  bool deterministic;
  /// One value per knob; empty for no schedule.
  llvm::SmallVector<int64_t> schedule;
};

/// A module with the function @attention, of the problem's tensors: query, key,
/// value unless it is a part of key, then slopes, sinks, lists of blocks, seed
/// and offset of dropout, lengths of queries and keys, starts of these, numbers
/// of pages and scales as far as there are any. For gradients it is
/// @attention_grad, and behind value come output, lse, the gradient of output,
/// and that of lse. Null after a diagnostic.
mlir::OwningOpRef<mlir::ModuleOp> buildModule(const AttentionProblem &problem,
                                              mlir::MLIRContext *context);

} // namespace attune::attn

#endif // ATTUNE_DIALECT_ATTN_IR_ATTENTIONPROBLEM_H
