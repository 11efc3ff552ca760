// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel takes a tensor map by value, in its place among the parameters, and reads it where it is: what is copied to
// local memory is no tensor map.
//
// RUN: attune-opt %s --pass-pipeline="builtin.module(attune-attach-target{chip=sm_90},gpu.module(convert-kernel-to-llvm))" \
// RUN:   | FileCheck %s
// RUN: rm -rf %t && attune-opt %s -o /dev/null \
// RUN:   --pass-pipeline="builtin.module(attune-attach-target{chip=sm_90},gpu.module(convert-kernel-to-llvm),attune-emit-binary{format=isa output-dir=%t})"
// RUN: FileCheck %s --input-file=%t/kernel.ptx --check-prefix=PTX
// RUN: FileCheck %s --input-file=%t/kernel.json --check-prefix=JSON

!map = !nvgpu.tensormap.descriptor<tensor = memref<1x1x64x64xbf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b,
  l2promo = l2promo_256b, oob = zero, interleave = none>

gpu.module @kernels {
  // Only kernels have memory for their parameters.
  // CHECK-LABEL: llvm.func @address
  // CHECK-SAME:  (%[[MAP:.+]]: !llvm.ptr) -> i64
  // CHECK-NEXT:  %[[ADDRESS:.+]] = llvm.ptrtoint %[[MAP]]
  // CHECK-NEXT:  llvm.return %[[ADDRESS]]
  gpu.func @address(%map: !map) -> i64 {
    %pointer = builtin.unrealized_conversion_cast %map : !map to !llvm.ptr
    %address = llvm.ptrtoint %pointer : !llvm.ptr to i64
    gpu.return %address : i64
  }

  // Nine parameters of the buffer and one of the scalar come before it.
  // CHECK-LABEL: llvm.func @kernel
  // CHECK-SAME:  %arg9: f32, %[[MAP:.+]]: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant}, %[[I:.+]]: i64)
  // CHECK-NOT:   unrealized_conversion_cast
  // CHECK:       llvm.ptrtoint %[[MAP]] : !llvm.ptr to i64
  //
  // PTX:      .visible .entry kernel(
  // PTX:      .param .align 64 .b8 kernel_param_10[128],
  // PTX-NOT:  .local
  // PTX:      mov.b64 [[PARAMETER:%rd[0-9]+]], kernel_param_10;
  // PTX-NEXT: cvta.param.u64 [[ADDRESS:%rd[0-9]+]], [[PARAMETER]];
  // PTX:      st.global.b32 [{{.*}}], [[ADDRESS]];
  //
  // JSON:      "box": [
  // JSON-NEXT:   1,
  // JSON-NEXT:   64,
  // JSON-NEXT:   64
  // JSON-NEXT: ],
  // JSON-NEXT: "name": "keys_map",
  // JSON-NEXT: "of": 0,
  // JSON-NEXT: "rank": 0,
  // JSON-NEXT: "swizzle": 128,
  // JSON-NEXT: "type": "tensor_map"
  gpu.func @kernel(%out: memref<?x?x?xi64>, %x: f32, %map: !map, %i: index) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>, launch.manifest = #launch.manifest<arguments = [
        #launch.buffer<name = "out", type = memref<?x?x?xi64>, access = write>, #launch.scalar<name = "x", type = f32>,
        #launch.tensor_map<name = "keys_map", of = 0, box = [1, 64, 64], swizzle = 128>,
        #launch.scalar<name = "i", type = index>]>} {
    %pointer = builtin.unrealized_conversion_cast %map : !map to !llvm.ptr
    %address = llvm.ptrtoint %pointer : !llvm.ptr to i64
    memref.store %address, %out[%i, %i, %i] : memref<?x?x?xi64>
    gpu.return
  }
}
