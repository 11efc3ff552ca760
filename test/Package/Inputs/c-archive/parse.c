// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parses a module by the C API, and prints how long its source is.

#include "attune-c/Compile.h"
#include "attune-c/Dialects.h"
#include <stdio.h>

int main(void) {
  MlirDialectRegistry registry = mlirDialectRegistryCreate();
  attuneRegisterAllDialects(registry);
  MlirContext context =
      mlirContextCreateWithRegistry(registry, /*threadingEnabled=*/false);
  MlirStringRef source = mlirStringRefCreateFromCString("module {}");
  MlirModule module = attuneModuleParse(context, source, source);
  printf("parsed %d of %zu\n", !mlirModuleIsNull(module), source.length);
  mlirModuleDestroy(module);
  mlirContextDestroy(context);
  mlirDialectRegistryDestroy(registry);
  return 0;
}
