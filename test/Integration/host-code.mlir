// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiled modules become objects that a C program links: by our tools,
// upstream's translation, a compiler, and libAttuneRuntime.so. The driver is
// that of the tests.
//
// REQUIRES: plugin
//
// DEFINE: %{module} =
// DEFINE: %{options} =
// DEFINE: %{function} =
// DEFINE: %{compile} = attune-opt %{module} %{options} | mlir-translate --mlir-to-llvmir -o %t.ll \
// DEFINE:   && clang -O1 -Wno-override-module -c %t.ll -o %t.o \
// DEFINE:   && clang -Wall -Werror -I%attune_source/include -DFUNCTION=_mlir_ciface_%{function} %S/Inputs/call_host_code.c %t.o -L%attune_build/lib -lAttuneRuntime -Wl,-rpath,%attune_build/lib -o %t.exe
// DEFINE: %{run} = env LD_LIBRARY_PATH=%fake_driver FAKE_DRIVER_TRACE=1 %t.exe
//
// TMA, and a workspace that has to be zero.
// REDEFINE: %{module} = %examples/mha_causal.mlir
// REDEFINE: %{options} = --attune-compile="chip=sm_90a format=isa host=llvm"
// REDEFINE: %{function} = attention
// RUN: %{compile}
// RUN: %{run} 4x16x4096x128 4x16x4096x128 4x16x4096x128 4x16x4096x128 2>&1 | FileCheck %s --check-prefix=MHA
// Errors reach the caller, and nothing is launched after one.
// RUN: not %{run} --no-memory 4x16x4096x128 4x16x4096x128 4x16x4096x128 4x16x4096x128 2>&1 | FileCheck %s --check-prefix=MEMORY --implicit-check-not=cuLaunchKernel
// RUN: not env FAKE_DRIVER_FAULT=cuTensorMapEncodeTiled %{run} 4x16x4096x128 4x16x4096x128 4x16x4096x128 4x16x4096x128 2>&1 | FileCheck %s --check-prefix=MAP --implicit-check-not=cuLaunchKernel
// RUN: not env FAKE_DRIVER_FAULT=cuModuleLoadDataEx %{run} 4x16x4096x128 4x16x4096x128 4x16x4096x128 4x16x4096x128 2>&1 | FileCheck %s --check-prefix=LOAD --implicit-check-not=cuLaunchKernel
//
// Two kernels, a result between them, and workspaces of either.
// REDEFINE: %{module} = %s
// REDEFINE: %{options} = --attune-set-schedule="block-m=64 block-n=64 block-k=64 split-k=2" --attune-compile="chip=sm_90a format=isa host=llvm"
// REDEFINE: %{function} = mlp
// RUN: %{compile}
// RUN: %{run} 128x256 256x128 128x64 128x64 2>&1 | FileCheck %s --check-prefix=MLP
//
// What the host checks, and memory that it gives back itself.
// REDEFINE: %{function} = same
// RUN: %{compile}
// RUN: %{run} 8 8 8 8 2>&1 | FileCheck %s --check-prefix=SAME
// RUN: not %{run} 8 9 8 8 2>&1 | FileCheck %s --check-prefix=OTHER --implicit-check-not="allocate "
//
// A size that is known at run time: the grid follows from it, and is empty for 0.
// REDEFINE: %{module} = %examples/matmul_bias_gelu.mlir
// REDEFINE: %{options} = --attune-compile="chip=sm_90a format=isa host=llvm"
// REDEFINE: %{function} = mlp_up
// RUN: %{compile}
// RUN: %{run} 1000x2048 8192x2048 8192 1000x8192 2>&1 | FileCheck %s --check-prefix=GELU
// RUN: %{run} 0x2048 8192x2048 8192 0x8192 2>&1 | FileCheck %s --check-prefix=EMPTY --implicit-check-not=cuLaunchKernel
//
// A cache that is changed: it is the caller's, and there is no result.
// RUN: attune-gen --op=append --tokens=9 --heads=8 --pages=4 --page-size=16 --head-dim=64 --dtype=bf16 --to=f8E4M3FN --scales=one -o %t.append.mlir
// REDEFINE: %{module} = %t.append.mlir
// REDEFINE: %{function} = append
// RUN: %{compile}
// RUN: %{run} 9x8x64 9 4x16x8x64 1x1x1x1 2>&1 | FileCheck %s --check-prefix=APPEND --implicit-check-not="{{^}}allocate"
//
// For another chip than the device's.
// REDEFINE: %{module} = %examples/matmul_bias_gelu.mlir
// REDEFINE: %{function} = mlp_up
// REDEFINE: %{options} = --attune-compile="chip=gfx942 host=llvm"
// RUN: %{compile}
// RUN: not env FAKE_DRIVER_FAULT=cuModuleLoadDataEx %{run} 1000x2048 8192x2048 8192 1000x8192 2>&1 | FileCheck %s --check-prefix=CHIP --implicit-check-not=cuLaunchKernel

// MHA: allocate 4 bytes, aligned to 4, on stream 1
// MHA-NEXT: driver: cuMemsetD8Async
// MHA-NEXT: driver: cuTensorMapEncodeTiled sizes 128,4096,16,4; bytes 256,1048576,16777216; box 64,64,1,1;
// MHA-NEXT: driver: cuTensorMapEncodeTiled sizes 128,4096,16,4; bytes 256,1048576,16777216; box 64,128,1,1;
// MHA-NEXT: driver: cuTensorMapEncodeTiled
// MHA-NEXT: driver: cuTensorMapEncodeTiled
// MHA-NEXT: driver: cuLaunchKernel grid 132,1,1 block 384,1,1 shared 229520 stream 1 first 65536
// MHA-NEXT: release on stream 1
// MHA-NEXT: done
// MHA: driver: cuLaunchKernel grid 132,1,1 block 384,1,1 shared 229520 stream 2 first 65536
// MHA: 0 allocations are left

// MEMORY: expects a context with memory, to allocate 4 bytes, but got one without
// MEMORY-NEXT: expects a context with memory
// MEMORY-NEXT: 0 allocations are left

// MAP: release on stream 1
// MAP-NEXT: failed to encode a tensor map of 4x16x4096x128xbf16 {{.*}}CUDA_ERROR_LAUNCH_FAILED (719)
// LOAD: kernel 'attention_kernel', compiled for sm_90a, on a device with sm_90: failed to load the module
// CHIP: kernel 'mlp_up_kernel', compiled for gfx942, on a device with sm_90: failed to load the module

// MLP: allocate 32768 bytes, aligned to 256, on stream 1
// MLP-NEXT: allocate 65536 bytes, aligned to 128, on stream 1
// MLP-NEXT: allocate 16 bytes, aligned to 4, on stream 1
// MLP-NEXT: driver: cuMemsetD8Async
// MLP-NEXT: driver: cuLaunchKernel grid 8,1,1 block 128,1,1 shared 32768 stream 1 first 65536
// MLP-NEXT: allocate 32768 bytes, aligned to 128, on stream 1
// MLP-NEXT: allocate 8 bytes, aligned to 4, on stream 1
// MLP-NEXT: driver: cuMemsetD8Async
// MLP-NEXT: driver: cuLaunchKernel grid 4,1,1 block 128,1,1 shared 32768 stream 1
// MLP-COUNT-5: release on stream 1
// MLP-NEXT: done

// SAME: allocate 32 bytes, aligned to 256, on stream 1
// SAME-NEXT: driver: cuMemsetD8Async
// SAME-NEXT: release on stream 1
// SAME-NEXT: allocate 32 bytes, aligned to 256, on stream 1
// SAME-NEXT: driver: cuMemsetD8Async
// SAME-NEXT: release on stream 1
// SAME-NEXT: done
// SAME: 0 allocations are left
// OTHER: expects a and b of one size

// GELU: driver: cuLaunchKernel grid {{[1-9][0-9]*}},1,1 block {{.*}} stream 1 first 65536
// GELU: done
// EMPTY: done

// APPEND: driver: cuLaunchKernel grid 9,1,1 block 64,1,1 shared 0 stream 1
// APPEND: done

#id = affine_map<(m, n) -> (m, n)>

func.func @mlp(%x: tensor<128x256xf16>, %up: tensor<256x128xf16>, %down: tensor<128x64xf16>) -> tensor<128x64xf32> {
  %zero = arith.constant 0.0 : f32
  %0 = tensor.empty() : tensor<128x128xf32>
  %1 = linalg.fill ins(%zero : f32) outs(%0 : tensor<128x128xf32>) -> tensor<128x128xf32>
  %2 = linalg.matmul ins(%x, %up : tensor<128x256xf16>, tensor<256x128xf16>) outs(%1 : tensor<128x128xf32>) -> tensor<128x128xf32>
  %3 = tensor.empty() : tensor<128x128xf16>
  %h = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%2 : tensor<128x128xf32>) outs(%3 : tensor<128x128xf16>) {
  ^bb0(%in: f32, %out: f16):
    %t = arith.truncf %in : f32 to f16
    linalg.yield %t : f16
  } -> tensor<128x128xf16>
  %4 = tensor.empty() : tensor<128x64xf32>
  %5 = linalg.fill ins(%zero : f32) outs(%4 : tensor<128x64xf32>) -> tensor<128x64xf32>
  %y = linalg.matmul ins(%h, %down : tensor<128x128xf16>, tensor<128x64xf16>) outs(%5 : tensor<128x64xf32>) -> tensor<128x64xf32>
  return %y : tensor<128x64xf32>
}

func.func @same(%a: memref<?xf32>, %b: memref<?xf32>, %c: memref<?xf32>, %d: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %m = memref.dim %a, %c0 : memref<?xf32>
  %n = memref.dim %b, %c0 : memref<?xf32>
  %equal = arith.cmpi eq, %m, %n : index
  cf.assert %equal, "expects a and b of one size"
  %zero = arith.constant 0.0 : f32
  %e = memref.alloc(%m) : memref<?xf32>
  gpu.memset %e, %zero : memref<?xf32>, f32
  memref.dealloc %e : memref<?xf32>
  %f = memref.alloc(%m) : memref<?xf32>
  gpu.memset %f, %zero : memref<?xf32>, f32
  return
}
