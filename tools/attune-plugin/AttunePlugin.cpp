// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Brings the dialects, passes and pipelines of the project into the stock
// mlir-opt:
//
//   mlir-opt --load-dialect-plugin=AttunePlugin.so \
//            --load-pass-plugin=AttunePlugin.so --pass-pipeline=...
//
// It links the shared MLIR that mlir-opt itself has loaded, so that there is
// one registry of passes and one identity for each type of upstream.

#include "attune/InitAllDialects.h"
#include "attune/InitAllPasses.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"

static constexpr const char *version = LLVM_VERSION_STRING;

extern "C" LLVM_ATTRIBUTE_WEAK mlir::DialectPluginLibraryInfo
mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "Attune", version,
          [](mlir::DialectRegistry *registry) {
            attune::registerAttuneDialects(*registry);
          }};
}

extern "C" LLVM_ATTRIBUTE_WEAK mlir::PassPluginLibraryInfo
mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "Attune", version,
          [] { attune::registerAttunePasses(); }};
}
