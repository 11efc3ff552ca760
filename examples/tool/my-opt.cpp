// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An optimizer driver of one's own, with the dialects and passes of Attune
// beside those that one chooses of upstream and one's own.

#include "attune/InitAllDialects.h"
#include "attune/InitAllPasses.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry.insert<mlir::arith::ArithDialect, mlir::func::FuncDialect,
                  mlir::tensor::TensorDialect>();
  attune::registerAttuneDialects(registry);
  attune::registerAttunePasses();
  mlir::registerCanonicalizerPass();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "A driver with Attune in it\n", registry));
}
