// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// New rows of a cache in pages: their options, and the ops that they describe.

#ifndef ATTUNE_TOOLS_ATTUNE_GEN_APPEND_H
#define ATTUNE_TOOLS_ATTUNE_GEN_APPEND_H

#include "Matmul.h"
#include "Quantize.h"

namespace attune::gen {

struct AppendProblem {
  enum class Scales { None, Rows, Heads, One };

  /// Sizes; ShapedType::kDynamic where --dynamic names them.
  int64_t tokens, pages, heads;
  int64_t pageSize, headDim;
  /// Elements of a row that are rotated; 0 for none.
  int64_t rotated;
  Element rows, pool;
  Scales scales;
  /// Zero points of integers beside their scales.
  bool zeros;
  bool interleaved, strided;
  /// One value per knob; empty for no schedule.
  llvm::SmallVector<int64_t> schedule;
};

/// Some of the options are those of other ops.
struct AppendOptions {
  using Scales = AppendProblem::Scales;

  llvm::cl::OptionCategory category{"Options of --op=append"};
  llvm::cl::opt<long long> tokens, pages, rotaryDim;
  llvm::cl::opt<Scales> scales;

  AppendOptions(AttentionOptions &attention, MatmulOptions &matmul,
                QuantizeOptions &quantize);
  llvm::Expected<AppendProblem> getProblem(const CommonOptions &common) const;

private:
  llvm::Error readRotation(AppendProblem &problem,
                           const CommonOptions &common) const;

  const AttentionOptions &attention;
  const MatmulOptions &matmul;
  const QuantizeOptions &quantize;
};

/// A module with the problem; null after a diagnostic.
mlir::OwningOpRef<mlir::ModuleOp> buildModule(const AppendProblem &problem,
                                              mlir::MLIRContext *context);

} // namespace attune::gen

#endif // ATTUNE_TOOLS_ATTUNE_GEN_APPEND_H
