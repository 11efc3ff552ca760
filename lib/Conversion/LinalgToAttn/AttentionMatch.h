// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Recognizes attention by its algebra, backwards from the contraction of
// weights and values.

#ifndef ATTUNE_LIB_CONVERSION_LINALGTOATTN_ATTENTIONMATCH_H
#define ATTUNE_LIB_CONVERSION_LINALGTOATTN_ATTENTIONMATCH_H

#include "Softmax.h"

namespace attune::raising {

/// A tensor and where it is read, in terms of loops.
struct TensorRead {
  mlir::Value tensor;
  llvm::SmallVector<IndexSum> indices;

  mlir::Type getElementType() const {
    return llvm::cast<mlir::RankedTensorType>(tensor.getType())
        .getElementType();
  }
  /// Whether the loops count through all of the tensor, each element once for
  /// each iteration of those that its indices are made of.
  bool coversTensor() const;
};

/// result = sum_n softmax_n(score(sum_d query * key)) * value, over variables
/// for the parallel loops of the second contraction, for n and for d.
struct AttentionMatch {
  mlir::linalg::LinalgOp first, second;
  TensorRead query, key, value;
  /// The weights of the second contraction, as it reads them.
  TensorRead weights;
  /// Its score is what is scaled, masked and so on, in terms of `dot`, the load
  /// of the first contraction's result.
  Softmax softmax;
  const Element *dot = nullptr;
  /// Factors of query and key.
  llvm::SmallVector<const Element *> scales;
  llvm::SmallVector<unsigned, 1> headDims;
  /// What attention replaces, and where it is.
  TensorRead result;
  /// The logarithm of the sum of exponentials, if somebody computes it.
  std::optional<TensorRead> lse;
};

/// The attention of which `op` is the second contraction.
std::optional<AttentionMatch> matchAttention(ElementBuilder &elements,
                                             mlir::linalg::LinalgOp op,
                                             Mismatch &why);

} // namespace attune::raising

#endif // ATTUNE_LIB_CONVERSION_LINALGTOATTN_ATTENTIONMATCH_H
