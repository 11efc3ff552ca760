// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels of a sequence are started before those in front of them are done, on
// chips that can: first of all they wait for these. Others have the launches
// alone.
//
// RUN: attune-opt %s --attune-attach-target="chip=sm_90a" --convert-kernel-to-llvm | FileCheck %s --check-prefixes=CHECK,EARLY
// RUN: attune-opt %s --attune-attach-target="chip=sm_80" --convert-kernel-to-llvm | FileCheck %s --check-prefixes=CHECK,LATE
// RUN: attune-opt %s --attune-attach-target="chip=gfx942" --convert-kernel-to-llvm | FileCheck %s --check-prefixes=CHECK,LATE

module attributes {gpu.container_module} {
  gpu.module @kernels {
    // CHECK-LABEL: llvm.func @first(
    // CHECK-NOT: starts_early
    // CHECK-NOT: griddepcontrol wait
    // EARLY: nvvm.griddepcontrol launch_dependents
    // LATE-NOT: griddepcontrol
    // CHECK: llvm.store
    gpu.func @first(%x: f32, %out: memref<8xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>, launch.precedes,
        launch.manifest = #launch.manifest<>} {
      %c0 = arith.constant 0 : index
      memref.store %x, %out[%c0] : memref<8xf32>
      gpu.return
    }

    // CHECK-LABEL: llvm.func @second(
    // EARLY-SAME: launch.manifest = #launch.manifest<starts_early = true>
    // CHECK-NOT: llvm.load
    // EARLY: nvvm.griddepcontrol wait
    // EARLY-NEXT: nvvm.griddepcontrol launch_dependents
    // LATE-NOT: starts_early
    // LATE-NOT: griddepcontrol
    // CHECK: llvm.store
    gpu.func @second(%x: f32, %out: memref<8xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>, launch.follows, launch.precedes,
        launch.manifest = #launch.manifest<>} {
      %c0 = arith.constant 0 : index
      memref.store %x, %out[%c0] : memref<8xf32>
      gpu.return
    }

    // CHECK-LABEL: llvm.func @last(
    // EARLY-SAME: starts_early = true
    // CHECK-NOT: llvm.load
    // EARLY: nvvm.griddepcontrol wait
    // CHECK-NOT: griddepcontrol
    // CHECK: llvm.store
    gpu.func @last(%x: f32, %out: memref<8xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>, launch.follows,
        launch.manifest = #launch.manifest<>} {
      %c0 = arith.constant 0 : index
      memref.store %x, %out[%c0] : memref<8xf32>
      gpu.return
    }
  }
}
