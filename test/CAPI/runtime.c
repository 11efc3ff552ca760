// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A program without a compiler launches kernels that were compiled before: with
// TMA, for whose maps the driver is asked, and with a workspace. The driver is
// that of the tests, whose memory is the host's.
//
// RUN: rm -rf %t && attune-gen --op=attention --batch=2 --heads=3 --seq-q=128 --head-dim=64 --dtype=f16 | sed 's/x128x64/x?x64/g' > %t.mlir
// RUN: attune-opt %t.mlir --attune-set-schedule="num-warps=4 block-m=64 q-in-registers=0 mma-warps=4 producer-warps=4 persistent=dynamic" --attune-compile="chip=sm_90a format=isa output-dir=%t" -o /dev/null
// RUN: env LD_LIBRARY_PATH=%fake_driver FAKE_DRIVER_TRACE=1 %capi-runtime-test %t/attention_kernel.ptx %t/attention_kernel.json 2>&1 | FileCheck %s
// RUN: env LD_LIBRARY_PATH=%fake_driver FAKE_DRIVER_FAULT=cuLaunchKernel not %capi-runtime-test %t/attention_kernel.ptx %t/attention_kernel.json 2>&1 | FileCheck %s --check-prefix=FAULT
// RUN: env LD_LIBRARY_PATH=%fake_driver FAKE_DRIVER_FAULT=cuMemAlloc not %capi-runtime-test %t/attention_kernel.ptx %t/attention_kernel.json 2>&1 | FileCheck %s --check-prefix=MEMORY
// RUN: env LD_LIBRARY_PATH=%fake_driver not %capi-runtime-test %t/attention_kernel.json %t/attention_kernel.json 2>&1 | FileCheck %s --check-prefix=IMAGE
// RUN: env LD_LIBRARY_PATH=%fake_driver not %capi-runtime-test %t/attention_kernel.ptx %t/attention_kernel.ptx 2>&1 | FileCheck %s --check-prefix=MANIFEST
// RUN: env LD_LIBRARY_PATH=%fake_driver FAKE_DRIVER_DEVICES=0 not %capi-runtime-test %t/attention_kernel.ptx %t/attention_kernel.json 2>&1 | FileCheck %s --check-prefix=DEVICE
//
// The library needs no LLVM, and shows nothing of what it took from there.
// RUN: llvm-readelf --needed-libs %attune_build/lib/libAttuneRuntime.so | FileCheck %s --check-prefix=NEEDED --implicit-check-not=LLVM --implicit-check-not=MLIR
// NEEDED: libc.so.6
// RUN: llvm-readelf --dyn-syms %attune_build/lib/libAttuneRuntime.so | FileCheck %s --check-prefix=SYMBOLS --implicit-check-not=llvm
// SYMBOLS: attuneRuntimeLaunch

#include "ReadFile.h"
#include "attune-c/Runtime.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static AttuneError error;

static int fail(const char *what) {
  printf("%s: %s\n", what, error.text);
  return 1;
}

static void refuse(const char *title, const AttuneKernel *kernel,
                   const AttuneArgument *arguments, size_t count) {
  AttuneLaunch *launch = attuneRuntimePrepare(kernel, arguments, count, &error);
  printf("%s: %s\n", title, launch ? "prepared" : error.text);
  attuneRuntimeReleaseLaunch(launch);
}

static void testErrors(const AttuneKernel *kernel, const AttuneArgument *good,
                       size_t count);
static void testNulls(void);

/// Memory for workspaces that kernels leave as they found them. That of the
/// tests' driver can be read here.
static bool testZeros(AttuneDevice *device) {
  uint64_t zeros = attuneRuntimeAllocateZeros(device, 4096, &error);
  if (!zeros)
    return false;
  const unsigned char *bytes = (const unsigned char *)(uintptr_t)zeros;
  int sum = 0;
  for (int i = 0; i < 4096; ++i)
    sum += bytes[i];
  printf("zeros: %d\n", sum);
  return attuneRuntimeFree(device, zeros, &error);
}

int main(int argc, char **argv) {
  setvbuf(stdout, NULL, _IONBF, 0); // in order with what the driver tells
  char *image, *manifest;
  size_t imageBytes = readFile(argv[1], &image);
  size_t manifestBytes = readFile(argv[argc - 1], &manifest);
  // DEVICE: device: no CUDA device: expects a number below 0
  AttuneDevice *device = attuneRuntimeOpenDevice("cuda", 0, &error);
  if (!device)
    return fail("device");
  // CHECK: chip sm_90
  printf("chip %s\n", attuneRuntimeGetChip(device));

  // IMAGE: kernel: failed to load the module of kernel 'attention_kernel'
  // MANIFEST: kernel: {{.*}}JSON
  AttuneKernel *kernel = attuneRuntimeLoadKernel(
      device, image, imageBytes, manifest, manifestBytes, &error);
  free(image);
  free(manifest);
  if (!kernel) {
    attuneRuntimeCloseDevice(device);
    return fail("kernel");
  }

  // CHECK-NEXT: query: type 0, rank 4, scalar 0, access 0, zero 0, alignment 1
  // CHECK-NEXT: key: type 0, rank 4, scalar 0, access 0, zero 0, alignment 1
  // CHECK-NEXT: value: type 0, rank 4, scalar 0, access 0, zero 0, alignment 1
  // CHECK-NEXT: output: type 0, rank 4, scalar 0, access 1, zero 0, alignment 1
  // CHECK-NEXT: counter: type 7, rank 1, scalar 0, access 3, zero 1, alignment 4
  AttuneArgument arguments[5] = {0};
  static const int64_t sizes[] = {2, 3, 128, 64};
  size_t count = attuneRuntimeGetNumArguments(kernel);
  for (size_t i = 0; i < count; ++i) {
    AttuneArgumentInfo info = attuneRuntimeGetArgument(kernel, i);
    printf("%s: type %d, rank %zu, scalar %d, access %d, zero %d, alignment "
           "%d\n",
           info.name, info.type, info.rank, info.isScalar, info.access,
           info.zero, (int)info.alignment);
    if (i >= 5)
      return 1;
    arguments[i].type = info.type;
    if (info.access == AttuneAccessWorkspace)
      continue;
    arguments[i].rank = 4;
    arguments[i].sizes = sizes;
    arguments[i].address = 0x10000 * (i + 1);
  }
  // CHECK-NEXT: workspace of 4 bytes
  printf("workspace of %d bytes\n",
         (int)attuneRuntimeGetWorkspaceBytes(kernel, arguments, count, 4,
                                             &error));
  arguments[4].address = 0x1000;
  // CHECK: driver: cuMemAlloc
  // CHECK: zeros: 0
  // MEMORY: zeros: failed to allocate 4096 bytes on the device
  if (!testZeros(device))
    return fail("zeros");

  // Maps are made once, and a launch is a launch and nothing else.
  // CHECK: launching
  // CHECK-NEXT: driver: cuLaunchKernel grid 12,1,1 block 256,1,1 shared {{[1-9][0-9]*}} stream 4660 first 65536
  // CHECK-NEXT: driver: cuLaunchKernel grid 12,1,1 block 256,1,1 shared {{[1-9][0-9]*}} stream 0 first 65536
  // FAULT: launch: failed to launch kernel 'attention_kernel': CUDA_ERROR_LAUNCH_FAILED (719)
  AttuneLaunch *launch = attuneRuntimePrepare(kernel, arguments, count, &error);
  if (!launch)
    return fail("prepare");
  printf("launching\n");
  bool launched = attuneRuntimeLaunch(launch, (void *)0x1234, &error) &&
                  attuneRuntimeLaunch(launch, NULL, &error);
  // Parameters of what moved are written, and its map is made anew.
  // CHECK-NEXT: moving
  // CHECK-NEXT: driver: cuTensorMapEncodeTiled
  // CHECK-NEXT: driver: cuLaunchKernel grid 12,1,1 block 256,1,1 shared {{[1-9][0-9]*}} stream 0 first 1048576
  // CHECK-NEXT: done
  uint64_t addresses[5];
  for (size_t i = 0; i < count; ++i)
    addresses[i] = arguments[i].address;
  addresses[0] = 0x100000;
  printf("moving\n");
  launched = launched &&
             attuneRuntimeMoveLaunch(launch, addresses, count, &error) &&
             attuneRuntimeLaunch(launch, NULL, &error);
  if (launched)
    printf("done\n");
  else
    fail("launch");
  // CHECK-NEXT: few addresses: kernel 'attention_kernel' expects 5 addresses, but got 4
  if (!attuneRuntimeMoveLaunch(launch, addresses, count - 1, &error))
    printf("few addresses: %s\n", error.text);
  // CHECK-NEXT: odd workspace: kernel 'attention_kernel' expects 'counter' at a multiple of 4 bytes, but got an address that is none
  addresses[4] += 1;
  if (!attuneRuntimeMoveLaunch(launch, addresses, count, &error))
    printf("odd workspace: %s\n", error.text);
  attuneRuntimeReleaseLaunch(launch);
  testNulls();
  testErrors(kernel, arguments, count);
  attuneRuntimeUnloadKernel(kernel);
  attuneRuntimeCloseDevice(device);
  return !launched;
}

/// What failed before is passed on, as by who asks for errors only at the end.
static void testNulls(void) {
  // CHECK: null device: expects a device, but got null
  if (!attuneRuntimeLoadKernel(NULL, "", 0, "{}", 2, &error))
    printf("null device: %s\n", error.text);
  // CHECK-NEXT: null kernel: expects a kernel, but got null
  refuse("null kernel", NULL, NULL, 0);
  // CHECK-NEXT: null kernel of a sequence: expects a kernel, but got null
  const AttuneKernel *none = NULL;
  static const char sequence[] =
      "{\"version\": 1, \"sequence\": \"s\", \"values\": [], "
      "\"launches\": []}";
  if (!attuneRuntimeLoadSequence(&none, 1, sequence, sizeof(sequence) - 1,
                                 &error))
    printf("null kernel of a sequence: %s\n", error.text);
  // CHECK-NEXT: null launch: expects a launch, but got null
  if (!attuneRuntimeLaunch(NULL, NULL, &error) &&
      !attuneRuntimeMoveLaunch(NULL, NULL, 0, NULL))
    printf("null launch: %s\n", error.text);
  // CHECK-NEXT: null workspace: -1
  printf("null workspace: %d\n",
         (int)attuneRuntimeGetWorkspaceBytes(NULL, NULL, 0, 0, &error));
  // CHECK-NEXT: nothing: 0, 0
  printf("nothing: %d, %d\n", attuneRuntimeAllocateZeros(NULL, 1, NULL) != 0,
         attuneRuntimeFree(NULL, 0, NULL));
}

/// What does not fit the kernel is an error, and nothing is launched.
static void testErrors(const AttuneKernel *kernel, const AttuneArgument *good,
                       size_t count) {
  AttuneArgument bad[5];
  // CHECK: few: kernel 'attention_kernel' expects 5 arguments, but got 4
  refuse("few", kernel, good, count - 1);
  // CHECK-NEXT: type: kernel 'attention_kernel' expects for 'query' a tensor of rank 4 of f16, but got 2x3x128x64xf32
  memcpy(bad, good, sizeof(bad));
  bad[0].type = AttuneDataTypeF32;
  refuse("type", kernel, bad, count);
  // CHECK-NEXT: type of 8 bits: kernel 'attention_kernel' expects for 'query' a tensor of rank 4 of f16, but got 2x3x128x64xf8E5M2FNUZ
  bad[0].type = AttuneDataTypeF8E5M2FNUZ;
  refuse("type of 8 bits", kernel, bad, count);
  // CHECK-NEXT: unknown type: kernel 'attention_kernel' expects for 'query' a data type, but got the number 77
  bad[0].type = (AttuneDataType)77;
  refuse("unknown type", kernel, bad, count);
  // CHECK-NEXT: rank: kernel 'attention_kernel' expects for 'key' a tensor of rank 4 of f16, but got 2x3x128xf16
  memcpy(bad, good, sizeof(bad));
  bad[1].rank = 3;
  refuse("rank", kernel, bad, count);
  // CHECK-NEXT: no sizes: kernel 'attention_kernel' expects sizes for 'key', but got none
  memcpy(bad, good, sizeof(bad));
  bad[1].sizes = NULL;
  refuse("no sizes", kernel, bad, count);
  // CHECK-NEXT: size: kernel 'attention_kernel' cannot take this 'value': expects sizes of at least 0, but got -1
  memcpy(bad, good, sizeof(bad));
  int64_t negative[] = {2, 3, -1, 64};
  bad[2].sizes = negative;
  refuse("size", kernel, bad, count);
  // CHECK-NEXT: compiled size: kernel 'attention_kernel' expects 'key' to have 64 elements in dimension 3, but got 128
  memcpy(bad, good, sizeof(bad));
  int64_t wide[] = {2, 3, 128, 128};
  bad[1].sizes = wide;
  refuse("compiled size", kernel, bad, count);
  // CHECK-NEXT: stride: kernel 'attention_kernel' expects 'key' to have a stride of 64 elements in dimension 2, but got 128
  memcpy(bad, good, sizeof(bad));
  int64_t strides[] = {49152, 16384, 128, 2};
  bad[1].strides = strides;
  refuse("stride", kernel, bad, count);
  // CHECK-NEXT: alignment: kernel 'attention_kernel' expects 'counter' at a multiple of 4 bytes, but got an address that is none
  memcpy(bad, good, sizeof(bad));
  bad[4].address += 1;
  refuse("alignment", kernel, bad, count);
}
