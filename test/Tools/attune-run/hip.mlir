// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The way over HIP, with a driver that refuses what HIP refuses, and that
// computes attention with one key: loaded, launched, verified and timed.
//
// DEFINE: %{run} = env LD_LIBRARY_PATH=%fake_hip attune-run %s
//
// Options still mean what they did when the kernel was linked in this process.
// RUN: env FAKE_DRIVER_TRACE=1 %{run} --seq-q=100 --verify --bench --repeats=7 > %t 2> %t.log
// RUN: FileCheck %s < %t
// RUN: FileCheck %s --check-prefix=TRACE < %t.log
// CHECK:      device    Fake Instinct (gfx942, 304 SMs)
// CHECK-NEXT: kernel    attention_kernel, gfx942, {{[0-9]+}} registers, 0 bytes spilled
// CHECK-NEXT: model     {{[0-9]+}} warps of an SM: an iteration takes its parts {{[0-9]+}} (matrix), {{.*}} clocks, {{[0-9]+}} TFLOP/s
// CHECK-NEXT: right     result 0: error 0.000e+00
// CHECK-NEXT: time      median 2.0000 ms {{.*}}, 7 launches
// CHECK-NEXT: speed     {{.*}}, sustained
//
// Four tensors of 11 words each; a reference has the bounds of its loops between them.
// TRACE: driver: hipSetDevice 0
// TRACE: driver: hipMemcpyHtoD
// TRACE: driver: hipModuleLoadData
// TRACE: driver: hipModuleGetFunction
// TRACE: driver: hipModuleLaunchKernel grid {{[0-9]+}},1,1 block {{[0-9]+}},1,1 shared {{[1-9][0-9]*}} stream 0 arguments 352
// TRACE: driver: hipModuleLaunchKernel grid 2,4,2 block 1,1,64 shared 0 stream 0 arguments 376
// TRACE: driver: hipMemcpyDtoH
//
// RUN: env FAKE_HIP_CHIP=gfx1100 %{run} --seq-q=100 --device=hip --device-number=0 | FileCheck %s --check-prefix=RDNA
// RDNA:      device    Fake Instinct (gfx1100, 304 SMs)
// RDNA-NEXT: kernel    attention_kernel, gfx1100
// RDNA-NEXT: model     {{[0-9]+}} warps of an SM
// RDNA-NEXT: right     result 0: error 0.000e+00
//
// What was compiled for another chip is refused by the driver, and what fails is named.
// RUN: attune-opt %s --attune-compile="chip=gfx90a" -o %t.mlir
// RUN: not env LD_LIBRARY_PATH=%fake_hip attune-run %t.mlir --seq-q=100 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: failed to load the module of kernel 'attention_kernel': hipErrorNoBinaryForGpu (209), so says the fake driver
// RUN: not env FAKE_DRIVER_FAULT=hipModuleLaunchKernel %{run} --seq-q=100 2>&1 | FileCheck %s --check-prefix=LAUNCH
// LAUNCH: failed to launch kernel '{{.*}}': hipErrorLaunchFailure (719), so says the fake driver
// RUN: not env FAKE_DRIVER_FAULT=hipEventElapsedTime %{run} --seq-q=100 --bench 2>&1 | FileCheck %s --check-prefix=EVENT
// EVENT: hipErrorLaunchFailure (719), so says the fake driver

!query = tensor<2x4x?x64xbf16>
!key = tensor<2x2x1x64xbf16>

func.func @attention(%q: !query, %k: !key, %v: !key) -> !query {
  %o = attn.attention %q, %k, %v : !query, !key, !key
  return %o : !query
}
