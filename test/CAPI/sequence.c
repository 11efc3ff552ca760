// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A program without a compiler launches kernels that work together as one: the
// gradients of attention, which share what they work in. The driver is that of
// the tests, whose memory is the host's.
//
// RUN: rm -rf %t && attune-gen --op=attention --grad --batch=2 --heads=3 --seq-q=128 --head-dim=64 --dtype=f16 -o %t.mlir
// RUN: attune-opt %t.mlir --attune-set-schedule="form=split" --attune-compile="chip=sm_80 format=isa output-dir=%t" -o /dev/null
// RUN: env LD_LIBRARY_PATH=%fake_driver FAKE_DRIVER_TRACE=1 %capi-sequence-test %t/attention_grad.json %t/attention_grad_deltas %t/attention_grad_key_grad %t/attention_grad_query_grad 2>&1 | FileCheck %s
// RUN: env LD_LIBRARY_PATH=%fake_driver FAKE_DRIVER_FAULT=cuLaunchKernel not %capi-sequence-test %t/attention_grad.json %t/attention_grad_deltas %t/attention_grad_key_grad %t/attention_grad_query_grad 2>&1 | FileCheck %s --check-prefix=FAULT
// RUN: env LD_LIBRARY_PATH=%fake_driver not %capi-sequence-test %t/attention_grad.json %t/attention_grad_deltas 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: env LD_LIBRARY_PATH=%fake_driver not %capi-sequence-test %t/attention_grad.json 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: env LD_LIBRARY_PATH=%fake_driver not %capi-sequence-test %t/attention_grad_deltas.ptx %t/attention_grad_deltas 2>&1 | FileCheck %s --check-prefix=TEXT

// A chip that can starts those behind the first one early.
// RUN: rm -rf %t && attune-opt %t.mlir --attune-set-schedule="form=split" --attune-compile="chip=sm_90a format=isa output-dir=%t" -o /dev/null
// RUN: env LD_LIBRARY_PATH=%fake_driver FAKE_DRIVER_TRACE=1 %capi-sequence-test %t/attention_grad.json %t/attention_grad_deltas %t/attention_grad_key_grad %t/attention_grad_query_grad 2>&1 | FileCheck %s --check-prefix=EARLY
// EARLY: launching
// EARLY-NEXT: driver: cuLaunchKernel grid
// EARLY-NEXT: driver: cuLaunchKernelEx
// EARLY-NEXT: driver: cuLaunchKernel grid
// EARLY-NEXT: driver: cuLaunchKernelEx
// EARLY-NEXT: driver: cuLaunchKernel grid
// EARLY-NEXT: done

#include "ReadFile.h"
#include "attune-c/Runtime.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kMaxKernels = 8, kMaxArguments = 16 };

static AttuneError error;

static int fail(const char *what) {
  printf("%s: %s\n", what, error.text);
  return 1;
}

static size_t readBeside(const char *base, const char *suffix,
                         char **content) {
  char path[4096];
  snprintf(path, sizeof(path), "%s%s", base, suffix);
  return readFile(path, content);
}

static AttuneKernel *loadKernel(AttuneDevice *device, const char *base) {
  char *image, *manifest;
  size_t imageBytes = readBeside(base, ".ptx", &image);
  size_t manifestBytes = readBeside(base, ".json", &manifest);
  AttuneKernel *kernel = attuneRuntimeLoadKernel(
      device, image, imageBytes, manifest, manifestBytes, &error);
  free(image);
  free(manifest);
  return kernel;
}

/// The arguments, of which each buffer has its own place.
static size_t describe(const AttuneKernel *sequence,
                       AttuneArgument *arguments) {
  static const int64_t sizes[] = {2, 3, 128, 64};
  size_t count = attuneRuntimeGetNumArguments(sequence);
  if (count > kMaxArguments)
    exit(2);
  for (size_t i = 0; i < count; ++i) {
    AttuneArgumentInfo info = attuneRuntimeGetArgument(sequence, i);
    printf("%s: type %d, rank %zu, access %d, zero %d\n", info.name, info.type,
           info.rank, info.access, info.zero);
    arguments[i].type = info.type;
    arguments[i].address = 0x10000 * (i + 1);
    if (info.access == AttuneAccessWorkspace)
      continue;
    arguments[i].rank = info.rank;
    arguments[i].sizes = sizes;
  }
  for (size_t i = 0; i < count; ++i)
    if (attuneRuntimeGetArgument(sequence, i).access == AttuneAccessWorkspace)
      printf("workspace of %d bytes\n",
             (int)attuneRuntimeGetWorkspaceBytes(sequence, arguments, count, i,
                                                 &error));
  return count;
}

int main(int argc, char **argv) {
  setvbuf(stdout, NULL, _IONBF, 0); // in order with what the driver tells
  AttuneDevice *device = attuneRuntimeOpenDevice("cuda", 0, &error);
  if (!device)
    return fail("device");
  const AttuneKernel *kernels[kMaxKernels];
  size_t numKernels = 0;
  for (int i = 2; i < argc && numKernels < kMaxKernels; ++i) {
    kernels[numKernels] = loadKernel(device, argv[i]);
    if (!kernels[numKernels++])
      return fail("kernel");
  }
  char *text;
  size_t bytes = readFile(argv[1], &text);
  // MISSING: sequence: sequence 'attention_grad' expects the kernel 'attention_grad_key_grad', but got none of this name
  // NONE: sequence: sequence 'attention_grad' expects kernels, but got none
  // TEXT: sequence: {{.*}}JSON
  AttuneKernel *sequence =
      attuneRuntimeLoadSequence(kernels, numKernels, text, bytes, &error);
  free(text);
  // It has what it needs of them.
  for (size_t i = 0; i < numKernels; ++i)
    attuneRuntimeUnloadKernel((AttuneKernel *)kernels[i]);
  if (!sequence) {
    attuneRuntimeCloseDevice(device);
    return fail("sequence");
  }

  // What the kernels share is its workspace.
  // CHECK: output_grad: type 0, rank 4, access 0, zero 0
  // CHECK-NEXT: shifts: type 2, rank 3, access 3, zero 0
  // CHECK-NEXT: deltas: type 2, rank 3, access 3, zero 0
  // CHECK: query_grad: type 0, rank 4, access 1, zero 0
  // CHECK-NEXT: workspace of 3072 bytes
  // CHECK-NEXT: workspace of 3072 bytes
  AttuneArgument arguments[kMaxArguments] = {0};
  size_t count = describe(sequence, arguments);
  AttuneLaunch *launch =
      attuneRuntimePrepare(sequence, arguments, count, &error);
  if (!launch)
    return fail("prepare");
  // CHECK-NEXT: launching
  // CHECK-NEXT: driver: cuLaunchKernel grid 12,1,1 block 128,1,1 shared 0 stream 4660 first 65536
  // CHECK-NEXT: driver: cuLaunchKernel grid 12,1,1 block 128,1,1 shared {{[0-9]+}} stream 4660 first 393216
  // CHECK-NEXT: driver: cuLaunchKernel grid 12,1,1 block 128,1,1 shared {{[0-9]+}} stream 4660 first 393216
  // CHECK-NEXT: done
  // FAULT: launch: failed to launch kernel 'attention_grad_deltas': CUDA_ERROR_LAUNCH_FAILED (719)
  printf("launching\n");
  bool launched = attuneRuntimeLaunch(launch, (void *)0x1234, &error);
  if (launched)
    printf("done\n");
  else
    fail("launch");
  // What all of them are given moves.
  // CHECK-NEXT: driver: cuLaunchKernel grid 12,1,1 block 128,1,1 shared 0 stream 0 first 16842752
  // CHECK-NEXT: driver: cuLaunchKernel grid 12,1,1 block 128,1,1 shared {{[0-9]+}} stream 0 first 17170432
  // CHECK-NEXT: driver: cuLaunchKernel grid 12,1,1 block 128,1,1 shared {{[0-9]+}} stream 0 first 17170432
  uint64_t addresses[kMaxArguments];
  for (size_t i = 0; i < count; ++i)
    addresses[i] = arguments[i].address + (1 << 24);
  if (launched &&
      !(attuneRuntimeMoveLaunch(launch, addresses, count, &error) &&
        attuneRuntimeLaunch(launch, NULL, &error)))
    fail("moved");
  attuneRuntimeReleaseLaunch(launch);
  // CHECK-NEXT: few: sequence 'attention_grad' expects 11 arguments, but got 10
  launch = attuneRuntimePrepare(sequence, arguments, count - 1, &error);
  printf("few: %s\n", launch ? "prepared" : error.text);
  attuneRuntimeUnloadKernel(sequence);
  attuneRuntimeCloseDevice(device);
  return !launched;
}
