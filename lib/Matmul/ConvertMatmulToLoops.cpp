// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// convert-matmul-to-loops: Reference.cpp as a pass.

#include "attune/Matmul/Passes.h"

namespace attune::matmul {
#define GEN_PASS_DEF_CONVERTMATMULTOLOOPSPASS
#include "attune/Matmul/Passes.h.inc"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
} // namespace attune::matmul

using namespace attune::matmul;

namespace {
struct ConvertMatmulToLoops
    : attune::matmul::impl::ConvertMatmulToLoopsPassBase<ConvertMatmulToLoops> {
  using ConvertMatmulToLoopsPassBase::ConvertMatmulToLoopsPassBase;
  void runOnOperation() override {
    if (failed(lowerToReference(getOperation(), output)))
      signalPassFailure();
  }
};
} // namespace
