// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A function as code for the CPU.
//
// RUN: %capi-hostcode-test 2>&1 | FileCheck %s

#include "attune-c/HostCode.h"
#include "Print.h"
#include "attune-c/Compile.h"
#include "attune-c/Dialects.h"

static const char twice[] =
    "llvm.func @twice(%x: !llvm.ptr) attributes {llvm.emit_c_interface} {\n"
    "  llvm.call @_mlir_ciface_twice(%x) : (!llvm.ptr) -> ()\n"
    "  llvm.return\n"
    "}\n"
    "llvm.func @_mlir_ciface_twice(%x: !llvm.ptr) {\n"
    "  %v = llvm.load %x : !llvm.ptr -> f32\n"
    "  %w = llvm.fadd %v, %v : f32\n"
    "  llvm.store %w, %x : f32, !llvm.ptr\n"
    "  llvm.return\n"
    "}\n";

static AttuneHostCode compile(MlirContext context, const char *text,
                              const char *name) {
  MlirModule module = attuneModuleParse(context, toRef(text), toRef("m.mlir"));
  AttuneHostCode code = attuneHostCodeCompile(module, toRef(name));
  mlirModuleDestroy(module);
  return code;
}

int main(void) {
  MlirDialectRegistry registry = mlirDialectRegistryCreate();
  attuneRegisterAllDialects(registry);
  MlirContext context =
      mlirContextCreateWithRegistry(registry, /*threadingEnabled=*/false);
  mlirContextAttachDiagnosticHandler(context, printDiagnostic, NULL, NULL);

  // CHECK: 21 42
  AttuneHostCode code = compile(context, twice, "twice");
  float number = 10.5;
  float *pointer = &number;
  void *arguments[] = {&pointer};
  attuneHostCodeCall(code, arguments);
  printf("%g ", number);
  attuneHostCodeCall(code, arguments);
  printf("%g\n", number);
  attuneHostCodeDestroy(code);

  // CHECK-NEXT: error: expects function 'thrice' with a C interface
  // CHECK-NEXT: null: 1
  printf("null: %d\n", compile(context, twice, "thrice").ptr == NULL);

  // CHECK-NEXT: error: expects a pipeline that ends in LLVM dialect
  // CHECK-NEXT: null: 1
  printf("null: %d\n",
         compile(context, "func.func private @f()", "f").ptr == NULL);

  mlirContextDestroy(context);
  mlirDialectRegistryDestroy(registry);
  return 0;
}
