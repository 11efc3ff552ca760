// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attune-lsp-server: upstream's language server for MLIR, which knows our
// dialects as well. An editor starts it and talks to it over its standard
// streams: definitions, uses, types, diagnostics while one types.

#include "attune/InitAllDialects.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

int attuneLspServerMain(int argc, char **argv) {
  mlir::DialectRegistry registry;
  attune::registerAllDialects(registry);
  return mlir::failed(mlir::MlirLspServerMain(argc, argv, registry));
}
