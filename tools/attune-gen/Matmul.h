// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matmul problems: their options, and the ops that they describe.

#ifndef ATTUNE_TOOLS_ATTUNE_GEN_MATMUL_H
#define ATTUNE_TOOLS_ATTUNE_GEN_MATMUL_H

#include "Options.h"

namespace attune::gen {

enum class Activation { None, ReLU, GELU, GELUTanh, SiLU };
/// Which columns are rotated together.
enum class Rotation { None, Pairs, Halves };

/// result = cast(residual + rotate(activate(lhs rhs * scales + bias) * gate))
/// of what is asked for.
struct MatmulProblem {
  /// Sizes; ShapedType::kDynamic where --dynamic names them. Nothing without a
  /// batch.
  std::optional<int64_t> batch;
  int64_t m, n, k, headDim;
  Element element, result;
  bool transposeA, transposeB, strided;
  bool scaleRows, scaleColumns, bias, gate, residual;
  Activation activation;
  Rotation rotation;
  /// One value per knob; empty for no schedule.
  llvm::SmallVector<int64_t> schedule;
};

struct MatmulOptions {
  llvm::cl::OptionCategory category{"Options of --op=matmul"};
  llvm::cl::opt<long long> m, n, k;
  llvm::cl::opt<Element> outDtype;
  llvm::cl::opt<bool> transposeA, transposeB;
  llvm::cl::opt<bool> scaleRows, scaleColumns, bias;
  llvm::cl::opt<Activation> activation;
  llvm::cl::opt<bool> gate;
  llvm::cl::opt<Rotation> rotation;
  llvm::cl::opt<bool> residual;

  MatmulOptions();
  llvm::Expected<MatmulProblem> getProblem(const CommonOptions &common) const;

private:
  llvm::Error checkRotation(const MatmulProblem &problem,
                            const CommonOptions &common) const;
};

/// A module with the problem; null after a diagnostic.
mlir::OwningOpRef<mlir::ModuleOp> buildModule(const MatmulProblem &problem,
                                              mlir::MLIRContext *context);

} // namespace attune::gen

#endif // ATTUNE_TOOLS_ATTUNE_GEN_MATMUL_H
