// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lane l writes word 2 l, so that two lanes meet in every second bank, and
// reads it back from global memory in pieces of 32 bytes.
//
// RUN: attune-opt %s --attune-attach-target="chip=sm_80" --gpu-to-llvm-pipeline -o %t.mlir
// RUN: attune-run %t.mlir --device=host --print --counts | FileCheck %s
// CHECK: counts    0 matrix ops, 0.000e+00 flop in them, 64 exponentials
// CHECK-NEXT: requests        bytes wavefronts    beyond    sectors  op
// CHECK-NEXT: {{^}} 2 256 0 0 8 llvm.load
// CHECK-NEXT: {{^}} 2 256 4 2 0 llvm.store
// CHECK-NEXT: {{^}} 2 256 0 0 16 llvm.store
//
// RUN: attune-gen --op=attention --batch=1 --heads=1 --seq-q=64 --head-dim=64 --dtype=bf16 \
// RUN:   | attune-run --device=host --chip=sm_80 --counts --json | FileCheck %s --check-prefix=JSON
// JSON: "counts": {
// JSON: "exponentials": 4352
// JSON-NEXT: "matrix_flops": 1048576
// JSON-NEXT: "matrix_ops": 256
// JSON: "least_wavefronts": 16,
// JSON-NEXT: "location": "<stdin>:3:10",
// JSON-NEXT: "op": "nvvm.ldmatrix",
// JSON-NEXT: "requests": 4,
// JSON-NEXT: "sectors": 0,
// JSON-NEXT: "wavefronts": 16

// The wait for the query brings 64 x 64 elements of 2 bytes.
// RUN: attune-gen --op=attention --batch=1 --heads=1 --seq-q=64 --head-dim=64 --dtype=bf16 \
// RUN:   | attune-run --device=host --chip=sm_80 --counts | FileCheck %s --check-prefix=WAIT
// WAIT: {{^}} 4 8192 0 0 0 nvvm.cp.async.wait.group

module attributes {gpu.container_module} {

gpu.module @kernels {
  gpu.func @kernel(%in: memref<64xf32>, %out: memref<128xf32>) workgroup(%s: memref<128xf32, #gpu.address_space<workgroup>>)
      kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %lane = gpu.thread_id x
    %c2 = arith.constant 2 : index
    %at = arith.muli %lane, %c2 : index
    %x = memref.load %in[%lane] : memref<64xf32>
    memref.store %x, %s[%at] : memref<128xf32, #gpu.address_space<workgroup>>
    %y = math.exp2 %x : f32
    memref.store %y, %out[%at] : memref<128xf32>
    gpu.return
  }
}

func.func @main() -> tensor<128xf32> {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %values = arith.constant dense<1.0> : tensor<64xf32>
  %in = bufferization.to_buffer %values : tensor<64xf32> to memref<64xf32>
  %out = memref.alloc() : memref<128xf32>
  gpu.launch_func @kernels::@kernel blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1)
    args(%in : memref<64xf32>, %out : memref<128xf32>)
  %result = bufferization.to_tensor %out restrict : memref<128xf32> to tensor<128xf32>
  return %result : tensor<128xf32>
}

}
