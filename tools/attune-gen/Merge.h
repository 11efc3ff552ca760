// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Merges of parts of attention: their options, and the ops that they describe.

#ifndef ATTUNE_TOOLS_ATTUNE_GEN_MERGE_H
#define ATTUNE_TOOLS_ATTUNE_GEN_MERGE_H

#include "Attention.h"

namespace attune::gen {

struct MergeProblem : HeadTensor {
  int64_t parts;
  Element element, result;
  bool lse;
  /// One value per knob; empty for no schedule.
  llvm::SmallVector<int64_t> schedule;
};

/// Some of the options are those of attention, which are options of merges as
/// well.
struct MergeOptions {
  llvm::cl::OptionCategory category{"Options of --op=merge"};
  llvm::cl::opt<long long> parts;
  llvm::cl::opt<Element> partDtype;

  explicit MergeOptions(AttentionOptions &attention);
  llvm::Expected<MergeProblem> getProblem(const CommonOptions &common) const;

private:
  const AttentionOptions &attention;
};

/// A module with the problem; null after a diagnostic.
mlir::OwningOpRef<mlir::ModuleOp> buildModule(const MergeProblem &problem,
                                              mlir::MLIRContext *context);

} // namespace attune::gen

#endif // ATTUNE_TOOLS_ATTUNE_GEN_MERGE_H
