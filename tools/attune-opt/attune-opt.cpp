// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attune-opt: reads MLIR, runs the passes named on the command line, prints
// MLIR. The dialects and passes are those of the project and those of upstream
// that its pipelines and tests use; the list is short so that it starts fast.

#include "attune/InitAllDialects.h"
#include "attune/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int attuneOptMain(int argc, char **argv) {
  mlir::DialectRegistry registry;
  attune::registerAllDialects(registry);
  attune::registerAllPasses();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "Attune optimizer driver\n", registry));
}
