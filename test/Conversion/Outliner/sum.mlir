// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two kernels of one op, by a client of the outliner that knows no attention: what
// they are given, in which order they run, and what is between them.
//
// REQUIRES: plugin
// RUN: mlir-opt %s --load-dialect-plugin=%test_outliner --load-pass-plugin=%test_outliner \
// RUN:   --pass-pipeline="builtin.module(test-outline-sum)" -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
//
// They compute what they should, one after the other.
// RUN: attune-opt %t.mlir --attune-attach-target="chip=sm_80" | attune-run --device=host --print --function=run | FileCheck %s --check-prefix=RESULT
// RUN: attune-opt %t.mlir --attune-attach-target="chip=gfx942" | attune-run --device=host --print --function=run | FileCheck %s --check-prefix=RESULT
//
// What is written for programs that know no MLIR.
// RUN: rm -rf %t.out && attune-opt %t.mlir -o /dev/null \
// RUN:   --pass-pipeline="builtin.module(attune-attach-target{chip=sm_80},gpu.module(convert-kernel-to-llvm),attune-emit-binary{format=isa output-dir=%t.out})"
// RUN: FileCheck %s --check-prefix=PTX --input-file=%t.out/sum_partial.ptx
// RUN: %python -m json.tool --compact %t.out/sum.json | FileCheck %s --check-prefix=SEQUENCE
// RUN: %python -m json.tool --compact %t.out/sum_partial.json | FileCheck %s --check-prefix=FIRST
// RUN: %python -m json.tool --compact %t.out/sum_total.json | FileCheck %s --check-prefix=SECOND
//
// RUN: rm -rf %t.amd && attune-opt %t.mlir -o /dev/null \
// RUN:   --pass-pipeline="builtin.module(attune-attach-target{chip=gfx942},gpu.module(convert-kernel-to-llvm),attune-emit-binary{format=isa output-dir=%t.amd})"
// RUN: ls %t.amd/sum.json %t.amd/sum_partial.s %t.amd/sum_total.s
//
// A sequence needs a file of its own.
// RUN: sed 's/::@sum_partial/::@sum/; s/gpu.func @sum_partial/gpu.func @sum/' %t.mlir > %t.same.mlir
// RUN: not attune-opt %t.same.mlir -o /dev/null --pass-pipeline="builtin.module(attune-attach-target{chip=sm_80},gpu.module(convert-kernel-to-llvm),attune-emit-binary{format=isa output-dir=%t.same})" 2>&1 \
// RUN:   | FileCheck %s --check-prefix=SAME

// Buffers and scalars that a kernel needs are its arguments, in the order in which they are added.
// CHECK-LABEL: gpu.func @sum_partial
// CHECK-SAME:    %[[IN:[^ ]+]]: memref<?x?xf32>, %[[SCALE:[^ ]+]]: f32, %[[PARTIAL:[^ ]+]]: memref<?x?xf32>, %[[COUNT:[^ ]+]]: memref<?xi32>) kernel
// CHECK-SAME:    known_block_size = array<i32: 32, 1, 1>
// A workspace of several kernels is a plain buffer in their manifests.
// CHECK-SAME:    launch.manifest = #launch.manifest<arguments = [#launch.buffer<name = "in", type = memref<?x?xf32>, access = read>,
// CHECK-SAME:      #launch.scalar<name = "capture4", type = f32>, #launch.buffer<name = "partial", type = memref<?x?xf32>, access = write>,
// CHECK-SAME:      #launch.buffer<name = "count", type = memref<?xi32>, access = read_write>],
// CHECK-SAME:      grid = <dim(0, 0) ceildiv 32 * dim(0, 1) ceildiv 64>, block = [32, 1, 1]>
// CHECK:         arith.mulf %{{.+}}, %[[SCALE]]
// CHECK-LABEL: gpu.func @sum_total
// CHECK-SAME:    grid = <dim(2, 0) ceildiv 32>
//
// CHECK-LABEL: func.func @sum(
// CHECK-SAME:    launch.sequences = [#launch.sequence<name = "sum", values = [
// CHECK-SAME:      #launch.buffer<name = "in", type = memref<?x?xf32>, access = read>,
// CHECK-SAME:      #launch.workspace<name = "partial", type = f32, sizes = [#launch.product<dim(0, 0)>, #launch.product<dim(0, 1) ceildiv 64>], alignment = 16, contents = undefined>,
// CHECK-SAME:      #launch.workspace<name = "count", type = i32, sizes = [#launch.product<dim(0, 0)>], alignment = 4, contents = zero>,
// CHECK-SAME:      #launch.buffer<name = "out", type = memref<?xf32>, access = write>, #launch.scalar<name = "capture4", type = f32>],
// CHECK-SAME:      launches = [#launch.step<@sum_partial::@sum_partial, [0, 4, 1, 2]>, #launch.step<@sum_total::@sum_total, [1, 2, 3]>]>]
// CHECK:         %[[X:.+]] = bufferization.to_buffer %{{.+}} read_only
// CHECK:         %[[P:.+]] = memref.alloc(%{{.+}}, %{{.+}}) {alignment = 16 : i64} : memref<?x?xf32>
// CHECK:         %[[C:.+]] = memref.alloc(%{{.+}}) {alignment = 4 : i64} : memref<?xi32>
// CHECK:         gpu.memset %[[C]], %c0_i32 : memref<?xi32>, i32
// CHECK:         %[[OUT:.+]] = memref.alloc(%{{.+}}) : memref<?xf32>
// CHECK:         scf.if
// CHECK-NEXT:      gpu.launch_func @sum_partial::@sum_partial {{.*}} args(%[[X]] : memref<?x?xf32>, %{{.+}} : f32, %[[P]] : memref<?x?xf32>, %[[C]] : memref<?xi32>)
// CHECK:         scf.if
// CHECK-NEXT:      gpu.launch_func @sum_total::@sum_total {{.*}} args(%[[P]] : memref<?x?xf32>, %[[C]] : memref<?xi32>, %[[OUT]] : memref<?xf32>)
// CHECK:         bufferization.to_tensor %[[OUT]] restrict writable
//
// PTX: .entry sum_partial(
// PTX: atom.global.add.u32
//
// SEQUENCE: "launches":[{"arguments":[0,4,1,2],"kernel":"sum_partial"},{"arguments":[1,2,3],"kernel":"sum_total"}],"sequence":"sum"
// SEQUENCE: {"access":"workspace","alignment":16,"contents":"undefined","name":"partial","rank":2,"restored":false,"sizes":{{\[\[}}{"argument":0,"index":0,"per":1}],[{"argument":0,"index":1,"per":64}]],"type":"f32"}
// SEQUENCE: {"access":"workspace","alignment":4,"contents":"zero","name":"count","rank":1,"restored":false,
// SEQUENCE: {"name":"capture4","rank":0,"scalar":true,"type":"f32"}
// SEQUENCE: "version":1
//
// FIRST: {"access":"read_write","name":"count","rank":1,"strides":[1],"type":"i32"}
// FIRST: "grid":[{"argument":0,"index":0,"per":32},{"argument":0,"index":1,"per":64}]
// SECOND: {"access":"read","name":"count","rank":1,"strides":[1],"type":"i32"}
//
// SAME: error: 'func.func' op expects kernels and sequences with different names where files are written, but got two of 'sum'

func.func @sum(%x: tensor<?x?xf32>, %scale: f32, %empty: tensor<?xf32>) -> tensor<?xf32> {
  %r = linalg.reduce ins(%x : tensor<?x?xf32>) outs(%empty : tensor<?xf32>) dimensions = [1]
    (%a: f32, %b: f32) {
      %p = arith.mulf %a, %scale : f32
      %s = arith.addf %b, %p : f32
      linalg.yield %s : f32
    }
  return %r : tensor<?xf32>
}

// What can be computed again is: a tensor that it reads becomes an argument. What cannot is passed.
// CHECK-LABEL: gpu.func @run_partial
// CHECK-SAME:    %{{[^ ]+}}: memref<3x130xf32>, %[[SCALES:[^ ]+]]: memref<2xf32>, %[[CHOSEN:[^ ]+]]: f32, %{{[^ ]+}}: memref<3x3xf32>, %{{[^ ]+}}: memref<3xi32>) kernel
// CHECK:         %[[SCALE:.+]] = memref.load %[[SCALES]][%c1]
// CHECK:         arith.mulf %{{.+}}, %[[SCALE]]
// CHECK:         arith.mulf %{{.+}}, %[[CHOSEN]]
// CHECK-LABEL: func.func @run(
// CHECK:         gpu.launch_func @run_partial::@run_partial blocks in (%c3
// CHECK:         gpu.launch_func @run_total::@run_total blocks in (%c1
//
// RESULT: result 0: 3xf32
// RESULT-NEXT: 130 130 130
func.func @run() -> tensor<3xf32> {
  %x = arith.constant dense<2.0> : tensor<3x130xf32>
  %scales = arith.constant dense<[1.0, 0.5]> : tensor<2xf32>
  %c1 = arith.constant 1 : index
  %true = arith.constant true
  %scale = tensor.extract %scales[%c1] : tensor<2xf32>
  %one = arith.constant 1.0 : f32
  %two = arith.constant 2.0 : f32
  %chosen = scf.if %true -> f32 {
    scf.yield %one : f32
  } else {
    scf.yield %two : f32
  }
  %empty = tensor.empty() : tensor<3xf32>
  %r = linalg.reduce ins(%x : tensor<3x130xf32>) outs(%empty : tensor<3xf32>) dimensions = [1]
    (%a: f32, %b: f32) {
      %p = arith.mulf %a, %scale : f32
      %q = arith.mulf %p, %chosen : f32
      %s = arith.addf %b, %q : f32
      linalg.yield %s : f32
    }
  return %r : tensor<3xf32>
}
