// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Modules to kernels from C. Whatever goes wrong is a string in the result.
//
// RUN: %capi-compile-test 2>&1 | FileCheck %s

#include "attune-c/Compile.h"
#include "Print.h"
#include "attune-c/Dialects.h"
#include <string.h>

static const char attention[] =
    "module { func.func @attention(%q: tensor<1x2x64x64xf16>) -> "
    "tensor<1x2x64x64xf16> "
    "{\n"
    "  %o = attn.attention %q, %q, %q causal(top_left) : "
    "tensor<1x2x64x64xf16>, tensor<1x2x64x64xf16>, tensor<1x2x64x64xf16>\n"
    "  return %o : tensor<1x2x64x64xf16>\n"
    "} }\n";

static void compile(MlirContext context, const char *title, const char *text,
                    AttuneCompileOptions options) {
  MlirStringRef none = {NULL, 0};
  MlirModule module = attuneModuleParse(context, text ? toRef(text) : none,
                                        toRef("input.mlir"));
  MlirOperation parsed = mlirModuleGetOperation(module);
  AttuneCompileResult result = attuneCompile(module, &options);
  MlirStringRef diagnostics = attuneCompileResultGetDiagnostics(result);
  printf("%s: %s, %d kernels, %d sequences\n%.*s", title,
         attuneCompileResultIsSuccess(result) ? "compiled" : "failed",
         (int)attuneCompileResultGetNumKernels(result),
         (int)attuneCompileResultGetNumSequences(result),
         (int)diagnostics.length, diagnostics.data);
  for (intptr_t i = 0; i < attuneCompileResultGetNumKernels(result); ++i) {
    MlirStringRef name = attuneCompileResultGetKernelName(result, i);
    MlirStringRef image = attuneCompileResultGetKernelImage(result, i);
    MlirStringRef manifest = attuneCompileResultGetKernelManifest(result, i);
    bool isAssembly = attuneCompileResultIsKernelAssembly(result, i);
    printf("%.*s: %s%s\n", (int)name.length, name.data,
           isAssembly ? "assembly" : "object",
           image.length > 4 && !memcmp(image.data, "\177ELF", 4) ? ", ELF"
                                                                 : "");
    if (isAssembly)
      printf("%.*s\n", (int)image.length, image.data);
    printf("%.*s\n", (int)manifest.length, manifest.data);
  }
  for (intptr_t i = 0; i < attuneCompileResultGetNumSequences(result); ++i) {
    MlirStringRef sequence = attuneCompileResultGetSequence(result, i);
    printf("%.*s\n", (int)sequence.length, sequence.data);
  }
  attuneCompileResultDestroy(result);
  // The module is as it was.
  printf("%s: %s\n", title,
         mlirOperationVerify(parsed) &&
                 (!text ||
                  mlirBlockGetFirstOperation(mlirModuleGetBody(module)).ptr)
             ? "module kept"
             : "module lost");
  mlirModuleDestroy(module);
}

int main(void) {
  MlirDialectRegistry registry = mlirDialectRegistryCreate();
  attuneRegisterAllDialects(registry);
  MlirContext context =
      mlirContextCreateWithRegistry(registry, /*threadingEnabled=*/false);

  // CHECK-LABEL: isa: compiled, 1 kernels, 0 sequences
  // CHECK-NEXT: attention_kernel: assembly
  // CHECK: .visible .entry attention_kernel(
  // CHECK: "name": "query"
  // CHECK: "chip": "sm_80"
  // CHECK: "kernel": "attention_kernel"
  // CHECK: "version": 1
  // CHECK: isa: module kept
  AttuneCompileOptions isa = {0};
  isa.chip = toRef("sm_80");
  isa.format = toRef("isa");
  compile(context, "isa", attention, isa);

  // CHECK-LABEL: hsaco: compiled, 1 kernels, 0 sequences
  // CHECK-NEXT: attention_kernel: object, ELF
  // CHECK: "chip": "gfx942"
  AttuneCompileOptions hsaco = {0};
  hsaco.chip = toRef("gfx942");
  compile(context, "hsaco", attention, hsaco);

  // What the host executor takes.
  // CHECK-LABEL: llvm: compiled, 1 kernels, 0 sequences
  // CHECK-NEXT: attention_kernel: object{{$}}
  // CHECK: "kernel": "attention_kernel"
  // CHECK: llvm: module kept
  AttuneCompileOptions llvm = isa;
  llvm.format = toRef("llvm");
  compile(context, "llvm", attention, llvm);

  // CHECK-LABEL: nothing to do: compiled, 0 kernels, 0 sequences
  compile(context, "nothing to do", "func.func private @f()", isa);

  // CHECK-LABEL: nothing at all: compiled, 0 kernels, 0 sequences
  compile(context, "nothing at all", NULL, isa);

  // What others compiled, of which no manifest speaks, is no kernel of ours.
  // CHECK-LABEL: foreign: compiled, 0 kernels, 0 sequences
  compile(context, "foreign",
          "gpu.binary @b [#gpu.object<#nvvm.target, bin = \"image\">]", isa);

  // CHECK-LABEL: no chip: failed, 0 kernels, 0 sequences
  // CHECK-NEXT: error: expects a known chip ({{.*}}sm_80{{.*}}), but got ''
  // CHECK-NEXT: no chip: module kept
  AttuneCompileOptions none = {0};
  compile(context, "no chip", attention, none);

  // CHECK-LABEL: format: failed, 0 kernels, 0 sequences
  // CHECK-NEXT: error: expects the format bin, isa or llvm, but got 'elf'
  AttuneCompileOptions format = isa;
  format.format = toRef("elf");
  compile(context, "format", attention, format);

  // CHECK-LABEL: specs: failed, 0 kernels, 0 sequences
  // CHECK-NEXT: error: {{.*}}no-such-file.mlir
  MlirStringRef specs[] = {toRef("no-such-file.mlir")};
  AttuneCompileOptions tuned = isa;
  tuned.numTuningSpecs = 1;
  tuned.tuningSpecs = specs;
  compile(context, "specs", attention, tuned);

  // An op that is at fault is named by its place.
  // CHECK-LABEL: schedule: failed, 0 kernels, 0 sequences
  // CHECK-NEXT: input.mlir:2:8: error: 'attn.attention' op rows-per-warp: expects block-m to be a multiple of 64 rows
  char illegal[sizeof(attention) + 64];
  const char *place = strstr(attention, "causal");
  snprintf(illegal, sizeof(illegal), "%.*sschedule(<blockM = 16>)%s",
           (int)(place - attention), attention, strchr(place, ')') + 1);
  compile(context, "schedule", illegal, isa);

  // What other functions say can be had in the same form.
  // CHECK: bad.mlir:2:1: error: custom op 'nonsense' is unknown
  // CHECK-NEXT: parsed: 0
  mlirContextAttachDiagnosticHandler(context, printDiagnostic, NULL, NULL);
  MlirModule bad =
      attuneModuleParse(context, toRef("\nnonsense"), toRef("bad.mlir"));
  printf("parsed: %d\n", !mlirModuleIsNull(bad));

  mlirContextDestroy(context);
  mlirDialectRegistryDestroy(registry);
  return 0;
}
