// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensors that are rounded to 8 bits or less: their options, and the ops that
// they describe.

#ifndef ATTUNE_TOOLS_ATTUNE_GEN_QUANTIZE_H
#define ATTUNE_TOOLS_ATTUNE_GEN_QUANTIZE_H

#include "Attention.h"

namespace attune::gen {

struct QuantizeProblem : HeadTensor {
  /// Rows that share a scale; ShapedType::kDynamic for all of a head.
  int64_t rows;
  Element input, result;
  bool smooth, rotate, zeros;
  /// One value per knob; empty for no schedule.
  llvm::SmallVector<int64_t> schedule;
};

/// Some of the options are those of attention.
struct QuantizeOptions {
  llvm::cl::OptionCategory category{"Options of --op=quantize"};
  llvm::cl::opt<Element> to;
  llvm::cl::opt<std::string> rowsPerScale;
  llvm::cl::opt<bool> smooth, rotate, zeros;

  explicit QuantizeOptions(AttentionOptions &attention);
  llvm::Expected<QuantizeProblem> getProblem(const CommonOptions &common) const;

private:
  const AttentionOptions &attention;
};

/// Refuses head sizes of which two integers do not make a byte.
llvm::Error checkPacked(Element element, int64_t headDim);
/// The type in bytes, if it is one of 4 bits: half as many along `dim`.
mlir::RankedTensorType pack(mlir::RankedTensorType type, int64_t dim);

/// A module with the problem; null after a diagnostic.
mlir::OwningOpRef<mlir::ModuleOp> buildModule(const QuantizeProblem &problem,
                                              mlir::MLIRContext *context);

} // namespace attune::gen

#endif // ATTUNE_TOOLS_ATTUNE_GEN_QUANTIZE_H
