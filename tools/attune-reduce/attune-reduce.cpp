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
#include "llvm/Support/raw_ostream.h"

int attuneReduceMain(int argc, char **argv) {
  mlir::DialectRegistry registry;
  attune::registerAllDialects(registry);
  attune::attn::registerReductionPatterns(registry);
  attune::registerAllPasses();
  mlir::MLIRContext context(registry);
  bool hasError = false;
  context.getDiagEngine().registerHandler([&](mlir::Diagnostic &diagnostic) {
    hasError |= diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error;
    return mlir::failure();
  });
  bool hasFailed = mlir::failed(mlir::mlirReduceMain(argc, argv, context));
  // Upstream warns where there is nothing to do, and nobody prints warnings.
  if (hasFailed && !hasError)
    llvm::errs() << "attune-reduce: error: expects files that can be read and "
                    "written, and a test that finds the input interesting, for "
                    "which it exits with 1\n";
  return hasFailed;
}
