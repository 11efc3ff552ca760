// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention from its sizes to numbers, in C and without a GPU: the problem as a
// module, its kernel, and the host executor.
//
// RUN: %capi-executor-test 2>&1 | FileCheck %s

#include "attune-c/Executor.h"
#include "Print.h"
#include "attune-c/Attn.h"
#include "attune-c/Compile.h"
#include "attune-c/Dialects.h"
#include "mlir-c/BuiltinTypes.h"
#include "mlir-c/Diagnostics.h"
#include <string.h>

static AttuneError error;

static void testProblems(MlirContext context, AttuneAttentionProblem good) {
  AttuneAttentionProblem problem = good;
  problem.seqK = 0;
  // CHECK: error: expects the length of key to be at least 1 or dynamic, but got 0
  attuneAttentionCreateModule(context, &problem);
  problem = good;
  problem.headDimV = mlirShapedTypeGetDynamicSize();
  // CHECK-NEXT: error: expects static head dimensions, but got a dynamic one
  attuneAttentionCreateModule(context, &problem);
  problem = good;
  problem.order = toRef("bshs");
  // CHECK-NEXT: error: expects the order to be a permutation of the letters b, h, s and d, but got 'bshs'
  attuneAttentionCreateModule(context, &problem);
  problem = good;
  problem.element = AttuneDataTypeI8;
  // CHECK-NEXT: error: expects elements of f16 or bf16, but got the data type 5
  attuneAttentionCreateModule(context, &problem);
  problem = good;
  problem.alignment = (AttuneAlignment)7;
  // CHECK-NEXT: error: expects an alignment, but got the number 7
  attuneAttentionCreateModule(context, &problem);
  problem = good;
  problem.hasDropout = true;
  problem.dropout = 1;
  // CHECK-NEXT: error: 'attn.attention' op expects the probability of dropout to be at least 0 and less than 1, but got 1
  attuneAttentionCreateModule(context, &problem);
  problem = good;
  problem.hasWindow = true;
  problem.windowLeft = -2;
  // CHECK: error: expects window sides of at least -1 (unbounded), but got -2 and 0
  attuneAttentionCreateModule(context, &problem);
  problem.windowLeft = 3;
  problem.windowRight = INT64_C(1) << 31;
  // CHECK-NEXT: error: expects window sides of at most 2147483647, but got 3 and 2147483648
  attuneAttentionCreateModule(context, &problem);
  problem.windowRight = 1;
  problem.alignment = AttuneAlignmentTopLeft;
  // CHECK: attn.attention {{.*}} window(3, 1, top_left)
  MlirModule module = attuneAttentionCreateModule(context, &problem);
  mlirOperationPrint(mlirModuleGetOperation(module), print, NULL);
  mlirModuleDestroy(module);
  problem = good;
  problem.headsKV = 3;
  // CHECK: error: 'attn.attention' op expects the heads of query
  // CHECK: null 1
  printf("null %d\n",
         mlirModuleIsNull(attuneAttentionCreateModule(context, &problem)));
}

/// Of equal keys the result is the mean of the values.
static void run(AttuneDevice *device, AttuneCompileResult compiled) {
  MlirStringRef image = attuneCompileResultGetKernelImage(compiled, 0);
  MlirStringRef manifest = attuneCompileResultGetKernelManifest(compiled, 0);
  AttuneKernel *kernel = attuneRuntimeLoadKernel(
      device, image.data, image.length, manifest.data, manifest.length, &error);
  if (!kernel) {
    printf("kernel: %s\n", error.text);
    return;
  }
  static _Alignas(16) unsigned short query[8 * 64], key[16 * 64],
      value[16 * 64], output[8 * 64];
  for (int i = 0; i < 16 * 64; ++i)
    value[i] = i / 64 % 2 ? 0x3c00 : 0x4200; // 1 and 3 in f16
  unsigned short *buffers[] = {query, key, value, output};
  int64_t sizes[4][4] = {
      {1, 8, 1, 64}, {1, 16, 1, 64}, {1, 16, 1, 64}, {1, 8, 1, 64}};
  AttuneArgument arguments[4] = {0};
  for (int i = 0; i < 4; ++i) {
    arguments[i].type = AttuneDataTypeF16;
    arguments[i].address = (uint64_t)(uintptr_t)buffers[i];
    arguments[i].rank = 4;
    arguments[i].sizes = sizes[i];
  }
  AttuneLaunch *launch = attuneRuntimePrepare(kernel, arguments, 4, &error);
  bool done = attuneRuntimeLaunch(launch, NULL, &error);
  printf("done %d: %x %x\n", done, output[0], output[8 * 64 - 1]);
  attuneRuntimeReleaseLaunch(launch);

  // No address that 16 bytes can be written to at once.
  arguments[3].address += 2;
  launch = attuneRuntimePrepare(kernel, arguments, 4, &error);
  done = attuneRuntimeLaunch(launch, NULL, &error);
  printf("done %d: %s\n", done, error.text);
  attuneRuntimeReleaseLaunch(launch);
  attuneRuntimeUnloadKernel(kernel);
}

int main(void) {
  MlirDialectRegistry registry = mlirDialectRegistryCreate();
  attuneRegisterAllDialects(registry);
  MlirContext context =
      mlirContextCreateWithRegistry(registry, /*threadingEnabled=*/false);
  mlirContextAttachDiagnosticHandler(context, printDiagnostic, NULL, NULL);

  AttuneAttentionProblem problem = {0};
  problem.batch = problem.seqQ = problem.seqK = mlirShapedTypeGetDynamicSize();
  problem.headsQ = problem.headsKV = 1;
  problem.headDimQK = problem.headDimV = 64;
  problem.element = AttuneDataTypeF16;
  problem.order = toRef("bshd");
  testProblems(context, problem);

  // CHECK: func.func @attention(%{{.*}}: tensor<?x?x1x64xf16>, %{{.*}}: tensor<?x?x1x64xf16>, %{{.*}}: tensor<?x?x1x64xf16>)
  // CHECK: attn.attention {{.*}} order(bshd)
  MlirModule module = attuneAttentionCreateModule(context, &problem);
  mlirOperationPrint(mlirModuleGetOperation(module), print, NULL);
  AttuneCompileOptions options = {0};
  options.chip = toRef("sm_80");
  options.format = toRef("llvm");
  AttuneCompileResult compiled = attuneCompile(module, &options);
  print(attuneCompileResultGetDiagnostics(compiled), NULL);

  // What the checks find is the error.
  // CHECK: chip sm_80
  // CHECK-NEXT: done 1: 4000 4000
  // CHECK-NEXT: done 0: kernel 'attention_kernel' has faults: {{.*}}; {{.*}}
  AttuneDevice *device = attuneExecutorOpen(toRef("sm_80"), 0, &error);
  printf("\nchip %s\n", attuneRuntimeGetChip(device));
  run(device, compiled);
  attuneRuntimeCloseDevice(device);

  // CHECK: bounded
  // CHECK-NEXT: done 0
  // CHECK-NEXT: done 0: kernel 'attention_kernel' expects at most 4 threads to be executed on the host
  device = attuneExecutorOpen(toRef("sm_80"), 4, &error);
  printf("bounded\n");
  run(device, compiled);
  attuneRuntimeCloseDevice(device);

  // CHECK: open 0: expects a known chip ({{.*}}), but got 'moon'
  device = attuneExecutorOpen(toRef("moon"), 0, &error);
  printf("open %d: %s\n", device != NULL, error.text);

  // CHECK-NEXT: no memory: failed to allocate 1152921504606846976 bytes
  // CHECK-NEXT: no number: expects at most 9223372036854775807 bytes, but got 18446744073709551615
  // CHECK-NEXT: kernel: {{.*}}
  device = attuneExecutorOpen(toRef("sm_80"), 0, &error);
  if (!attuneRuntimeAllocateZeros(device, (size_t)1 << 60, &error))
    printf("no memory: %s\n", error.text);
  if (!attuneRuntimeAllocateZeros(device, SIZE_MAX, &error))
    printf("no number: %s\n", error.text);
  MlirStringRef manifest = attuneCompileResultGetKernelManifest(compiled, 0);
  if (!attuneRuntimeLoadKernel(device, "nonsense", 8, manifest.data,
                               manifest.length, &error))
    printf("kernel: %s\n", error.text);
  attuneRuntimeCloseDevice(device);

  attuneCompileResultDestroy(compiled);
  mlirModuleDestroy(module);
  mlirContextDestroy(context);
  mlirDialectRegistryDestroy(registry);
  return 0;
}
