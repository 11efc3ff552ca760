// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: attune-opt %s --pass-pipeline='builtin.module(gpu.module(convert-kernel-to-host))' | FileCheck %s
// RUN: attune-opt %s --pass-pipeline='builtin.module(gpu.module(convert-kernel-to-host{check-accesses=false count-math}))' \
// RUN:   | FileCheck %s --check-prefix=PLAIN

// Static arrays come first, the dynamic one behind them.
// CHECK: gpu.module @kernels attributes {attune.static_shared = 64 : i64}
// CHECK-NOT: llvm.mlir.global
gpu.module @kernels {
  llvm.mlir.global external @dynamic() {addr_space = 3 : i32, alignment = 32 : i64} : !llvm.array<0 x i8>
  llvm.mlir.global internal @first() {addr_space = 3 : i32} : !llvm.array<10 x f32>
  llvm.mlir.global internal @second() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<4 x f32>

  // Parameters that are used are loaded through pointers to them.
  // CHECK-LABEL: llvm.func @memory(%arg0: !llvm.ptr)
  // CHECK-SAME: gpu.kernel
  // CHECK-NOT: nvvm.kernel
  // PLAIN-LABEL: llvm.func @memory
  llvm.func @memory(%unused: i64, %in: !llvm.ptr) attributes {gpu.kernel, nvvm.kernel} {
    // CHECK-DAG: %[[SLOT:.*]] = llvm.getelementptr %arg0[88] : (!llvm.ptr) -> !llvm.ptr, i8
    // CHECK-DAG: %[[LIST:.*]] = llvm.load %[[SLOT]] : !llvm.ptr -> !llvm.ptr
    // CHECK-DAG: %[[SECOND:.*]] = llvm.getelementptr %[[LIST]][1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    // CHECK-DAG: %[[ADDRESS:.*]] = llvm.load %[[SECOND]] : !llvm.ptr -> !llvm.ptr
    // CHECK-DAG: %[[IN:.*]] = llvm.load %[[ADDRESS]] : !llvm.ptr -> !llvm.ptr
    // CHECK: %[[SHARED:.*]] = llvm.load %{{.*}} : !llvm.ptr -> !llvm.ptr<3>
    // CHECK: %[[DYNAMIC:.*]] = llvm.getelementptr %[[SHARED]][64] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %dynamic = llvm.mlir.addressof @dynamic : !llvm.ptr<3>
    // CHECK: llvm.getelementptr %{{.*}}[0] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %first = llvm.mlir.addressof @first : !llvm.ptr<3>
    // CHECK: llvm.getelementptr %{{.*}}[48] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %second = llvm.mlir.addressof @second : !llvm.ptr<3>
    // The op is the ninth of the module; 16 bytes, aligned to 8, a read.
    // CHECK: %[[BYTES:.*]] = llvm.mlir.constant(16 : i32)
    // CHECK: %[[ALIGNMENT:.*]] = llvm.mlir.constant(8 : i32)
    // CHECK: %[[FLAGS:.*]] = llvm.mlir.constant(0 : i32)
    // CHECK: %[[SITE:.*]] = llvm.mlir.constant(8 : i32)
    // CHECK: %[[ALLOWED:.*]] = llvm.call @attuneHostAccess(%arg0, %[[SITE]], %[[IN]], %[[BYTES]], %[[ALIGNMENT]], %[[FLAGS]])
    // CHECK: llvm.load %[[ALLOWED]] {alignment = 1 : i64}
    // PLAIN-NOT: attuneHostAccess
    // PLAIN: llvm.load %{{.*}} {alignment = 1 : i64} : !llvm.ptr -> vector<4xf32>
    %x = llvm.load %in {alignment = 8 : i64} : !llvm.ptr -> vector<4xf32>
    // A write through a pointer to shared memory.
    // CHECK: llvm.mlir.constant(3 : i32)
    // CHECK: llvm.call @attuneHostAccess
    // CHECK: llvm.store
    llvm.store %x, %second : vector<4xf32>, !llvm.ptr<3>
    llvm.store %x, %dynamic : vector<4xf32>, !llvm.ptr<3>
    llvm.store %x, %first : vector<4xf32>, !llvm.ptr<3>
    // CHECK-NOT: attuneHostCountExp
    // CHECK: llvm.intr.exp2
    // PLAIN: %[[FOUR:.*]] = llvm.mlir.constant(4 : i32)
    // PLAIN: llvm.call @attuneHostCountExp(%arg0, %{{.*}}, %[[FOUR]])
    %y = llvm.intr.exp2(%x) : (vector<4xf32>) -> vector<4xf32>
    llvm.store %y, %in : vector<4xf32>, !llvm.ptr
    llvm.return
  }

  // The lane's own memory is accessed as it is, be it through a descriptor. A
  // trap ends the lane.
  // CHECK-LABEL: llvm.func @stack
  llvm.func @stack(%value: f32, %out: !llvm.ptr) attributes {gpu.kernel, nvvm.kernel} {
    %one = llvm.mlir.constant(1 : i64) : i64
    // CHECK: %[[BUFFER:.*]] = llvm.alloca
    %buffer = llvm.alloca %one x !llvm.array<4 x f32> : (i64) -> !llvm.ptr
    %poison = llvm.mlir.poison : !llvm.struct<(ptr, ptr, i64)>
    %aligned = llvm.insertvalue %buffer, %poison[1] : !llvm.struct<(ptr, ptr, i64)>
    %descriptor = llvm.insertvalue %one, %aligned[2] : !llvm.struct<(ptr, ptr, i64)>
    // CHECK-NOT: attuneHostAccess
    // CHECK: %[[START:.*]] = llvm.extractvalue
    // CHECK-NEXT: %[[NEXT:.*]] = llvm.getelementptr %[[START]][1]
    // CHECK-NEXT: llvm.store %{{.*}}, %[[NEXT]]
    // CHECK-NEXT: %[[READ:.*]] = llvm.load %[[BUFFER]]
    %start = llvm.extractvalue %descriptor[1] : !llvm.struct<(ptr, ptr, i64)>
    %next = llvm.getelementptr %start[1] : (!llvm.ptr) -> !llvm.ptr, f32
    llvm.store %value, %next : f32, !llvm.ptr
    %read = llvm.load %buffer : !llvm.ptr -> f32
    // What is not known to be there is checked.
    // CHECK: llvm.extractvalue
    // CHECK: llvm.call @attuneHostAccess
    // CHECK: llvm.store %[[READ]]
    %unknown = llvm.extractvalue %descriptor[0] : !llvm.struct<(ptr, ptr, i64)>
    llvm.store %read, %unknown : f32, !llvm.ptr
    // CHECK: llvm.call @attuneHostTrap
    llvm.intr.trap
    llvm.return
  }

  // Operands stand one after another in the lane's context, and so do results.
  // CHECK-LABEL: llvm.func @ops
  llvm.func @ops(%value: f32) attributes {gpu.kernel, nvvm.kernel} {
    // CHECK: %[[TID:.*]] = llvm.getelementptr %arg0[0]
    // CHECK: llvm.load %[[TID]] : !llvm.ptr -> i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    // CHECK: %[[MASK:.*]] = llvm.getelementptr %arg0[96]
    // CHECK: llvm.store %{{.*}}, %[[MASK]] {alignment = 4 : i64} : i32, !llvm.ptr
    // CHECK: %[[VALUE:.*]] = llvm.getelementptr %arg0[100]
    // CHECK: llvm.store %{{.*}}, %[[VALUE]] {alignment = 4 : i64} : f32, !llvm.ptr
    // CHECK: llvm.call @attuneHostShuffle(%arg0, %{{.*}}, %{{.*}}) : (!llvm.ptr, i32, i32) -> ()
    // CHECK: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr -> f32
    %other = nvvm.shfl.sync bfly %tid, %value, %tid, %tid : f32 -> f32
    // CHECK: llvm.call @attuneHostBarrier
    nvvm.barrier0
    // CHECK-NOT: setmaxregister
    nvvm.setmaxregister increase 240
    // CHECK: llvm.br ^[[LOOP:.*]]
    llvm.br ^loop
  ^loop:
    // Only the branch back is counted.
    // CHECK: ^[[LOOP]]
    // CHECK: llvm.fcmp
    %go = llvm.fcmp "olt" %value, %other : f32
    // CHECK: llvm.call @attuneHostStep
    // CHECK: llvm.cond_br
    llvm.cond_br %go, ^loop, ^end
  ^end:
    // CHECK-NOT: attuneHostStep(%arg0
    // CHECK: llvm.return
    llvm.return
  }

  // Functions hand the lane on.
  // CHECK-LABEL: llvm.func @caller(%arg0: !llvm.ptr)
  llvm.func @caller() attributes {gpu.kernel, nvvm.kernel} {
    // CHECK: llvm.call @callee(%arg0, %{{.*}}) : (!llvm.ptr, i32) -> i32
    %c = llvm.mlir.constant(1 : i32) : i32
    %x = llvm.call @callee(%c) : (i32) -> i32
    llvm.return
  }
  // CHECK-LABEL: llvm.func @callee(%arg0: !llvm.ptr, %arg1: i32) -> i32
  llvm.func @callee(%x: i32) -> i32 {
    llvm.return %x : i32
  }
}
