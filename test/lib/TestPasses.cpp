// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The entry point of the plugin.

#include "TestPasses.h"
#include "mlir/Tools/Plugins/PassPlugin.h"

extern "C" LLVM_ATTRIBUTE_WEAK mlir::PassPluginLibraryInfo
mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "AttuneTestPasses", LLVM_VERSION_STRING, [] {
            attune::test::registerTestContractionGroupsPasses();
            attune::test::registerTestCheckLayerPass();
            attune::test::registerTestDropOpPass();
            attune::test::registerTestMutateKernelPass();
          }};
}
