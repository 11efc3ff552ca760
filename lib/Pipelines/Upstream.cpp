// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Registers what upstream has.

#include "attune/InitAllDialects.h"
#include "attune/InitAllPasses.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"

void attune::registerUpstreamDialects(mlir::DialectRegistry &registry) {
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
}

void attune::registerUpstreamPasses() { mlir::registerAllPasses(); }
