// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A compiler that is not ours, with our package: parses an attention op, sets
// its schedule, prints it.

#include "attune/Dialect/Attn/IR/Attn.h"
#include "attune/Schedule/Attention/Register.h"
#include "attune/Schedule/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry.insert<attune::attn::AttnDialect, mlir::func::FuncDialect>();
  attune::registerAttentionTunable(registry);
  mlir::MLIRContext context(registry);
  auto module = mlir::parseSourceFile<mlir::ModuleOp>(argv[1], &context);
  mlir::PassManager passes(&context);
  passes.addPass(attune::createAttuneSetSchedulePass());
  if (!module || failed(passes.run(*module)))
    return 1;
  module->print(llvm::outs());
}
