// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// matmul-to-loops: Reference.cpp as a pass.

#include "attune/Matmul/Passes.h"

namespace attune::matmul {
#define GEN_PASS_DEF_MATMULTOLOOPSPASS
#include "attune/Matmul/Passes.h.inc"
} // namespace attune::matmul

using namespace attune::matmul;

namespace {
struct MatmulToLoops
    : attune::matmul::impl::MatmulToLoopsPassBase<MatmulToLoops> {
  using MatmulToLoopsPassBase::MatmulToLoopsPassBase;
  void runOnOperation() override {
    if (failed(lowerToReference(getOperation(), output)))
      signalPassFailure();
  }
};
} // namespace
