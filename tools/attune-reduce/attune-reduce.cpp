// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attune-reduce: makes a module smaller as long as a script of the user's finds
// it interesting. It is upstream's mlir-reduce with our dialects and passes,
// and with what can be left out of an attention op.

#include "attune/Dialect/Attn/Transforms/ReductionPatternsImpl.h"
#include "attune/InitAllDialects.h"
#include "attune/InitAllPasses.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Tools/mlir-reduce/MlirReduceMain.h"

int attuneReduceMain(int argc, char **argv) {
  mlir::DialectRegistry registry;
  attune::registerAllDialects(registry);
  attune::attn::registerReductionPatterns(registry);
  attune::registerAllPasses();
  mlir::MLIRContext context(registry);
  return mlir::failed(mlir::mlirReduceMain(argc, argv, context));
}
