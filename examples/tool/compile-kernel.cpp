// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiles the kernels of a file inside of a program:
//
//   compile-kernel <file.mlir> <chip> <folder>
//
// The folder receives each kernel with the manifest that says how to launch it.
// What was wrong with the input is one diagnostic, at its place.

#include "attune/InitAllDialects.h"
#include "attune/Pipelines/Pipelines.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/SourceMgr.h"

int main(int argc, char **argv) {
  if (argc != 4) {
    llvm::errs() << "usage: compile-kernel <file.mlir> <chip> <folder>\n";
    return 2;
  }
  mlir::DialectRegistry registry;
  attune::registerAllDialects(registry);
  mlir::MLIRContext context(registry);
  llvm::SourceMgr sources;
  mlir::SourceMgrDiagnosticHandler printer(sources, &context);
  auto module =
      mlir::parseSourceFile<mlir::ModuleOp>(argv[1], sources, &context);
  if (!module)
    return 1;

  attune::CompileOptions options;
  options.chip = argv[2];
  options.outputDir = argv[3];
  mlir::PassManager passes(&context);
  attune::buildCompilePipeline(passes, options);
  return failed(passes.run(*module));
}
