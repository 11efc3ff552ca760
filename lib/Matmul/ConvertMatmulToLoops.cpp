// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// convert-matmul-to-loops: Reference.cpp as a pass.

#include "attune/Matmul/Passes.h"

namespace attune::matmul {
#define GEN_PASS_DEF_CONVERTMATMULTOLOOPSPASS
#include "attune/Matmul/Passes.h.inc"
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
