// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: env LD_LIBRARY_PATH=%t.none not attune-run %s --function=both --device=cuda 2>&1 | FileCheck %s --check-prefix=NOGPU
// NOGPU: attune-run: error: no CUDA device: libcuda.so.1: cannot open shared object file
// NOGPU: attune-run: note: --device=host executes a kernel on the CPU: tensors with --chip=<name>, or what attune-compile makes with format=llvm
// RUN: not attune-run %s --device=host 2>&1 | FileCheck %s --check-prefix=HOST
// HOST: attune-run: error: expects --function=<name> where there are several
// RUN: not attune-run %s --function=both --seq-q=1 --device=host 2>&1 | FileCheck %s --check-prefix=HOSTCHIP
// HOSTCHIP: errors.mlir:{{[0-9:]+}} error: expects --chip=<name>, or a kernel that is compiled for a chip, to be executed on the host
// RUN: not attune-run %s --function=both --seq-q=1 --device=host --chip=nothing 2>&1 | FileCheck %s --check-prefix=CHIP
// RUN: not attune-run %s --function=both --seq-q=1 --device=host --chip=sm_80 --bench 2>&1 \
// RUN:   | FileCheck %s --check-prefix=HOSTBENCH
// HOSTBENCH: attune-run: error: --bench expects a GPU: with --device=host nothing is timed
// RUN: not attune-run %s --function=both --seq-q=1 --device=host --chip=sm_80 --output-dir= 2>&1 | FileCheck %s --check-prefix=NODIR
// NODIR: attune-run: for the --output-dir option: expects a path, but got nothing
// RUN: attune-opt %s --attune-compile="chip=sm_80 format=isa" -o %t.isa.mlir
// RUN: not attune-run %t.isa.mlir --function=both --seq-q=1 --device=host 2>&1 | FileCheck %s --check-prefix=HOSTISA
// HOSTISA: error: gpu.binary 'both_kernel' expects a kernel in LLVM dialect to be executed on the host, but got machine code; compile with format=llvm
// RUN: not attune-run %s --function=both --seq-q=9999 --device=host --chip=sm_80 --max-threads=1000 2>&1 \
// RUN:   | FileCheck %s --check-prefix=HOSTLANES
// HOSTLANES: error: kernel 'both_kernel' expects at most 1000 threads to be executed on the host, but {{[0-9]+}} blocks have {{[0-9]+}}; --max-threads sets the limit
// A kernel as tiles has one thread a block, which does the work of all.
// RUN: attune-opt %s --attune-compile="chip=sm_80 format=tile" -o %t.tile.mlir
// RUN: not attune-run %t.tile.mlir --function=both --seq-q=9999 --device=host --max-threads=1000 2>&1 \
// RUN:   | FileCheck %s --check-prefix=HOSTLANES
// RUN: not attune-run %s --device=host --print 2>&1 | FileCheck %s --check-prefix=PRINT
// PRINT: attune-run: error: --print expects one function, but there are 2; --function=<name> chooses
// RUN: not attune-run %s --device=host --print --function=both 2>&1 | FileCheck %s --check-prefix=PRINTARGS
// PRINTARGS: error: expects a function without arguments to print its results
// RUN: not attune-run %s --function=both --device=tpu 2>&1 | FileCheck %s --check-prefix=KIND
// KIND: error: expects a device of kind auto, cuda or hip, but got 'tpu'
// RUN: env LD_LIBRARY_PATH=%fake_driver not attune-run %s --function=both --device-number=3 2>&1 \
// RUN:   | FileCheck %s --check-prefix=NUMBER
// NUMBER: error: no CUDA device: expects a number below 1, the number of devices, but got 3
//
// RUN: not attune-run %s 2>&1 | FileCheck %s --check-prefix=SEVERAL
// SEVERAL: error: expects --function=<name> where there are several: both, table
// RUN: not attune-run %s --function=none 2>&1 | FileCheck %s --check-prefix=FUNCTION
// FUNCTION: error: --function expects one of the functions that can be tuned (both, table), but got 'none'
// RUN: not attune-run %s --batch=-1 2>&1 | FileCheck %s --check-prefix=SIZE
// SIZE: error: --batch expects a size of 0 to 2147483647, but got '-1'
// RUN: not attune-run %s --shape=3:7 2>&1 | FileCheck %s --check-prefix=SHAPE
// RUN: not attune-run %s --function=both --seq-q=1 --device=host --chip=sm_80 --shape=9=7 2>&1 | FileCheck %s --check-prefix=ARGUMENT
// ARGUMENT: errors.mlir:[[#]]:1: error: expects a shape of an argument that is a tensor, but got one of argument 9
// RUN: not attune-run %s --function=both --seq-q=1 --device=host --chip=sm_80 -m 7 2>&1 | FileCheck %s --check-prefix=UNUSED
// UNUSED: attune-run: error: expects sizes that an argument has, but got --m
// RUN: not attune-run %s --function=both --seq-q=1 --device=host --chip=sm_80 --device-number=7 2>&1 | FileCheck %s --check-prefix=HOSTNUMBER
// HOSTNUMBER: attune-run: error: --device-number expects a GPU, but got --device=host
// RUN: env LD_LIBRARY_PATH=%fake_driver not attune-run %s --function=both --seq-q=1 --checks=bounds --max-steps=9 2>&1 | FileCheck %s --check-prefix=HOSTONLY
// HOSTONLY: attune-run: error: expects --device=host with --checks
// HOSTONLY: expects --device=host with --max-steps
// RUN: env LD_LIBRARY_PATH=%fake_driver not attune-run %s --function=both --seq-q=1 --counts 2>&1 | FileCheck %s --check-prefix=COUNTS
// COUNTS: attune-run: error: expects --device=host with --counts
// SHAPE: error: --shape expects <argument>=<size>x<size>..., but got '3:7'
//
// What no memory holds is refused before it is made.
// RUN: not attune-run %s --function=both --seq-q=2147483647 --device=host --chip=sm_80 2>&1 | FileCheck %s --check-prefix=HUGE
// HUGE: errors.mlir:[[#]]:1: error: expects arguments that fit into the {{[0-9]+}} MiB of this machine's memory, but they have {{[0-9]+}} MiB
//
// RUN: env LD_LIBRARY_PATH=%fake_driver not attune-run %s --function=both --batch=1 2>&1 \
// RUN:   | FileCheck %s --check-prefix=UNBOUND
// UNBOUND: errors.mlir:[[#]]:1: error: expects a size for dimension 2 of argument 0: give --seq-q=<number>
// RUN: env LD_LIBRARY_PATH=%fake_driver not attune-run %s --function=both --heads=8 --seq-q=1 2>&1 \
// RUN:   | FileCheck %s --check-prefix=TYPE
// TYPE: error: expects 4 as the size of dimension 1 of argument 0, as its type says, but got 8
// RUN: env LD_LIBRARY_PATH=%fake_driver not attune-run %s --function=table 2>&1 | FileCheck %s --check-prefix=TABLE
// TABLE: error: expects a size for dimension 0 of argument 3: give --shape=3=<size>x<size>...
//
// RUN: env LD_LIBRARY_PATH=%fake_driver not attune-run %s --function=both --seq-q=1 --chip=nothing 2>&1 \
// RUN:   | FileCheck %s --check-prefix=CHIP
// CHIP: error: expects a known chip ({{.*}}), but got 'nothing'
// RUN: env LD_LIBRARY_PATH=%fake_driver not attune-run %s --function=both --seq-q=1 --schedule=block-m=17 2>&1 \
// RUN:   | FileCheck %s --check-prefix=SCHEDULE
// SCHEDULE: error: {{.*}}block-m
// RUN: env LD_LIBRARY_PATH=%fake_driver not attune-run %s --function=both --seq-q=1 --batch=1 --input-class=odd 2>&1 \
// RUN:   | FileCheck %s --check-prefix=CLASS
// CLASS: error: expects an input class of normal, repelled, spread, but got 'odd'
//
// What the driver says is passed on, with what was attempted.
// RUN: env LD_LIBRARY_PATH=%fake_driver FAKE_DRIVER_FAULT=cuLaunchKernel not attune-run %s --function=both --seq-q=1 2>&1 \
// RUN:   | FileCheck %s --check-prefix=LAUNCH
// LAUNCH: error: failed to launch kernel 'both_kernel': CUDA_ERROR_LAUNCH_FAILED (719), so says the fake driver
// RUN: env LD_LIBRARY_PATH=%fake_driver FAKE_DRIVER_FAULT=cuMemAlloc not attune-run %s --function=both --seq-q=1 2>&1 \
// RUN:   | FileCheck %s --check-prefix=MEMORY
// MEMORY: error: failed to allocate {{[0-9]+}} bytes on the device: CUDA_ERROR_LAUNCH_FAILED

func.func @both(%q: tensor<1x4x?x64xf16>, %k: tensor<1x4x128x64xf16>, %v: tensor<1x4x128x64xf16>)
    -> tensor<1x4x?x64xf16> {
  %o = attn.attention %q, %k, %v : tensor<1x4x?x64xf16>, tensor<1x4x128x64xf16>, tensor<1x4x128x64xf16>
  return %o : tensor<1x4x?x64xf16>
}

func.func @table(%q: tensor<1x4x64x64xf16>, %k: tensor<1x4x128x64xf16>, %v: tensor<1x4x128x64xf16>,
                 %bias: tensor<?xf32>) -> tensor<1x4x64x64xf16> {
  %o = attn.attention %q, %k, %v score (%s, %b, %h, %m, %n) {
    %zero = arith.constant 0 : index
    %addend = tensor.extract %bias[%zero] : tensor<?xf32>
    %y = arith.addf %s, %addend : f32
    attn.yield %y : f32
  } : tensor<1x4x64x64xf16>, tensor<1x4x128x64xf16>, tensor<1x4x128x64xf16>
  return %o : tensor<1x4x64x64xf16>
}
