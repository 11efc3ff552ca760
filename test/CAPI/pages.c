// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A step of decoding over a cache in pages, from C and without a GPU. Keys are
// split between workgroups, so that two kernels work together: one sequence,
// with workspaces that they share.
//
// RUN: %capi-pages-test 2>&1 | FileCheck %s

#include "Print.h"
#include "attune-c/Compile.h"
#include "attune-c/Dialects.h"
#include "attune-c/Executor.h"
#include <string.h>

enum { kPages = 8, kPageSize = 16, kSize = 32, kHeads = 2, kMost = 4 };

static const char decode[] =
    "func.func @decode(%q: tensor<?x2x1x32xf16>, %k: tensor<?x1x16x32xf16>, "
    "%v: tensor<?x1x16x32xf16>, %lengths: tensor<?xi32>, "
    "%pages: tensor<?x?xi32>) -> tensor<?x2x1x32xf16> {\n"
    "  %o = attn.attention %q, %k, %v key_lengths(%lengths : tensor<?xi32>) "
    "pages(%pages : tensor<?x?xi32>) causal(bottom_right) "
    "schedule(<splitK = 2>) : tensor<?x2x1x32xf16>, tensor<?x1x16x32xf16>, "
    "tensor<?x1x16x32xf16>\n"
    "  return %o : tensor<?x2x1x32xf16>\n"
    "}\n";

static AttuneError error;

/// The kernels as one, which has what it needs of them.
static AttuneKernel *load(AttuneDevice *device, AttuneCompileResult compiled) {
  const AttuneKernel *kernels[4];
  intptr_t count = attuneCompileResultGetNumKernels(compiled);
  for (intptr_t i = 0; i < count; ++i) {
    MlirStringRef image = attuneCompileResultGetKernelImage(compiled, i);
    MlirStringRef manifest = attuneCompileResultGetKernelManifest(compiled, i);
    kernels[i] =
        attuneRuntimeLoadKernel(device, image.data, image.length,
                                manifest.data, manifest.length, &error);
  }
  MlirStringRef text = attuneCompileResultGetSequence(compiled, 0);
  AttuneKernel *sequence = attuneRuntimeLoadSequence(
      kernels, (size_t)count, text.data, text.length, &error);
  for (intptr_t i = 0; i < count; ++i)
    attuneRuntimeUnloadKernel((AttuneKernel *)kernels[i]);
  return sequence;
}

/// Of equal keys the result is the mean of the values, which are the number of
/// their page.
static void run(AttuneDevice *device, const AttuneKernel *kernel) {
  static _Alignas(16) _Float16 query[2 * kHeads * kSize],
      key[kPages * kPageSize * kSize], value[kPages * kPageSize * kSize],
      output[2 * kHeads * kSize];
  for (int i = 0; i < kPages * kPageSize * kSize; ++i)
    value[i] = (_Float16)(i / (kPageSize * kSize));
  // What is beyond the length of a sequence is no page of it.
  int32_t lengths[] = {64, 24}, pages[] = {1, 3, 5, 7, 2, 5, -1, 100};
  void *buffers[] = {query, key, value, lengths, pages, output};
  const int64_t rows[] = {2, kHeads, 1, kSize},
                pool[] = {kPages, 1, kPageSize, kSize}, table[] = {2, kMost};
  const int64_t *sizes[] = {rows, pool, pool, table, table, rows};
  AttuneArgument arguments[8] = {0};
  size_t count = attuneRuntimeGetNumArguments(kernel), passed = 0;
  for (size_t i = 0; i < count; ++i) {
    AttuneArgumentInfo info = attuneRuntimeGetArgument(kernel, i);
    printf("%s%s", i ? ", " : "arguments: ", info.name);
    arguments[i].type = info.type;
    if (info.access == AttuneAccessWorkspace)
      continue;
    arguments[i].address = (uint64_t)(uintptr_t)buffers[passed];
    arguments[i].rank = info.rank;
    arguments[i].sizes = sizes[passed++];
  }
  printf("\n");
  for (size_t i = 0; i < count; ++i)
    if (attuneRuntimeGetArgument(kernel, i).access == AttuneAccessWorkspace)
      arguments[i].address = attuneRuntimeAllocateZeros(
          device,
          (size_t)attuneRuntimeGetWorkspaceBytes(kernel, arguments, count, i,
                                                 &error),
          &error);
  AttuneLaunch *launch =
      attuneRuntimePrepare(kernel, arguments, count, &error);
  bool done = attuneRuntimeLaunch(launch, NULL, &error);
  printf("done %d: %g %g %g\n", done, (double)output[0],
         (double)output[kHeads * kSize - 1], (double)output[kHeads * kSize]);
  attuneRuntimeReleaseLaunch(launch);
  for (size_t i = 0; i < count; ++i)
    if (attuneRuntimeGetArgument(kernel, i).access == AttuneAccessWorkspace)
      attuneRuntimeFree(device, arguments[i].address, &error);
}

int main(void) {
  MlirDialectRegistry registry = mlirDialectRegistryCreate();
  attuneRegisterAllDialects(registry);
  MlirContext context =
      mlirContextCreateWithRegistry(registry, /*threadingEnabled=*/false);
  MlirModule module =
      attuneModuleParse(context, toRef(decode), toRef("decode.mlir"));

  // CHECK: sm_80: 2 kernels, 1 sequences
  // CHECK-NEXT: arguments: query, key, value, key_lengths, pages, part_lse, part_output, output
  // CHECK-NEXT: done 1: 4 4 3
  // CHECK: gfx942: 2 kernels, 1 sequences
  // CHECK: done 1: 4 4 3
  const char *chips[] = {"sm_80", "gfx942"};
  for (int i = 0; i < 2; ++i) {
    AttuneCompileOptions options = {0};
    options.chip = toRef(chips[i]);
    options.format = toRef("llvm");
    AttuneCompileResult compiled = attuneCompile(module, &options);
    print(attuneCompileResultGetDiagnostics(compiled), NULL);
    printf("%s: %d kernels, %d sequences\n", chips[i],
           (int)attuneCompileResultGetNumKernels(compiled),
           (int)attuneCompileResultGetNumSequences(compiled));
    AttuneDevice *device = attuneExecutorOpen(options.chip, 0, &error);
    AttuneKernel *kernel = load(device, compiled);
    run(device, kernel);
    attuneRuntimeUnloadKernel(kernel);
    attuneRuntimeCloseDevice(device);
    attuneCompileResultDestroy(compiled);
  }
  mlirModuleDestroy(module);
  mlirContextDestroy(context);
  mlirDialectRegistryDestroy(registry);
  return 0;
}
