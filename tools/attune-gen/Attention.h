// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention problems: their options, and the op that they describe.

#ifndef ATTUNE_TOOLS_ATTUNE_GEN_ATTENTION_H
#define ATTUNE_TOOLS_ATTUNE_GEN_ATTENTION_H

#include "Options.h"

namespace attune::gen {

struct AttentionProblem {
  /// Sizes; ShapedType::kDynamic where --dynamic names them.
  int64_t batch, headsQ, headsKV, seqQ, seqK;
  int64_t headDimQK, headDimV;
  Element element;
  std::string order;
  std::optional<attn::Alignment> causal;
  /// Left and right of the diagonal of `causal`, or else of the bottom-right
  /// one; -1 where unbounded.
  std::optional<std::pair<int64_t, int64_t>> window;
  /// Queries and keys of a block, of which lists are taken.
  std::optional<std::pair<int64_t, int64_t>> blockLists;
  std::optional<float> softcap, scale;
  bool alibi, sinks, lse, strided;
  /// One value per knob; empty for no schedule.
  llvm::SmallVector<int64_t> schedule;
};

struct AttentionOptions {
  enum class Mask { None, Causal, CausalTopLeft };

  llvm::cl::OptionCategory category{"Options of --op=attention"};
  llvm::cl::opt<long long> heads, kvHeads, seqQ, seqK, headDimV;
  llvm::cl::opt<Mask> mask;
  llvm::cl::opt<std::string> window, blockLists, softcap, scale;
  llvm::cl::opt<bool> alibi, sinks, lse;
  llvm::cl::opt<std::string> order;

  AttentionOptions();
  llvm::Expected<AttentionProblem>
  getProblem(const CommonOptions &common) const;

private:
  llvm::Expected<std::optional<float>>
  getNumber(const llvm::cl::opt<std::string> &option) const;
  llvm::Error readSizes(AttentionProblem &problem,
                        const CommonOptions &common) const;
  llvm::Error readWindow(AttentionProblem &problem) const;
  llvm::Error readBlockLists(AttentionProblem &problem) const;
};

/// A module with the problem; null after a diagnostic.
mlir::OwningOpRef<mlir::ModuleOp> buildModule(const AttentionProblem &problem,
                                              mlir::MLIRContext *context);

} // namespace attune::gen

#endif // ATTUNE_TOOLS_ATTUNE_GEN_ATTENTION_H
