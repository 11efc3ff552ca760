// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The options that describe an attention problem.

#ifndef ATTUNE_TOOLS_ATTUNE_GEN_ATTENTION_H
#define ATTUNE_TOOLS_ATTUNE_GEN_ATTENTION_H

#include "Options.h"

namespace attune::gen {

/// A tensor of rows of heads, as merges and quantizations have it.
struct HeadTensor {
  /// Sizes; ShapedType::kDynamic where --dynamic names them.
  int64_t batch, heads, seqQ, headDim;
  std::string order;
  bool strided;

  /// Sizes in the order of the dimensions, of so many rows and columns.
  llvm::SmallVector<int64_t> getShape(int64_t rows, int64_t columns) const;
  /// Of the tensor as it is.
  mlir::RankedTensorType getType(mlir::Type element,
                                 mlir::Attribute encoding = {}) const {
    return mlir::RankedTensorType::get(getShape(seqQ, headDim), element,
                                       encoding);
  }
  /// What is known of its strides.
  mlir::Attribute getEncoding(mlir::MLIRContext *context) const;
};

struct AttentionOptions {
  enum class Mask { None, Causal, CausalTopLeft };

  llvm::cl::OptionCategory category{"Options of --op=attention"};
  llvm::cl::opt<long long> heads, kvHeads, seqQ, seqK, headDimV, pageSize;
  llvm::cl::opt<Element> kvDtype, resultDtype, weightsDtype;
  llvm::cl::opt<Mask> mask;
  llvm::cl::opt<std::string> window, blockLists, softcap, scale, dropout,
      queryScales, keyScales, valueScales, resultScales;
  llvm::cl::opt<bool> keyZeros, valueZeros;
  llvm::cl::opt<bool> alibi, sinks, queryLengths, keyLengths, packedQueries,
      packedKeys, latent, lse, grad, deterministic, batchInvariant;
  llvm::cl::opt<std::string> order;

  AttentionOptions();
  llvm::Expected<attn::AttentionProblem>
  getProblem(const CommonOptions &common) const;
  /// Those of queries.
  llvm::Error readTensor(HeadTensor &tensor, const CommonOptions &common) const;

private:
  llvm::Error checkOrder() const;
  llvm::Expected<std::optional<float>>
  getNumber(const llvm::cl::opt<std::string> &option) const;
  llvm::Error readSizes(attn::AttentionProblem &problem,
                        const CommonOptions &common) const;
  llvm::Error readWindow(attn::AttentionProblem &problem) const;
  llvm::Error readBlockLists(attn::AttentionProblem &problem) const;
  llvm::Error readNumbers(attn::AttentionProblem &problem) const;
  llvm::Error readTypes(attn::AttentionProblem &problem,
                        const CommonOptions &common) const;
};

} // namespace attune::gen

#endif // ATTUNE_TOOLS_ATTUNE_GEN_ATTENTION_H
