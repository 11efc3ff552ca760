// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two workgroups of a cluster copy half of a tensor each, to both. Whoever has read it all says so at a barrier of
// the other workgroup. One fault each, at run time.
//
// RUN: sed s/FAULT/0/ %s | attune-opt --attune-attach-target=chip=sm_90 --gpu-to-llvm-pipeline -o %t.mlir
// RUN: attune-run %t.mlir --device=host --print | FileCheck %s --check-prefix=RIGHT
// RUN: attune-run %t.mlir --device=host --print --host-seed=1 | FileCheck %s --check-prefix=RIGHT
// RUN: attune-run %t.mlir --device=host --print --host-seed=2 | FileCheck %s --check-prefix=RIGHT
// RUN: attune-run %t.mlir --device=host --print --host-seed=3 | FileCheck %s --check-prefix=RIGHT
// RUN: sed s/FAULT/11/ %s | attune-opt --attune-attach-target=chip=sm_90 --gpu-to-llvm-pipeline | attune-run --device=host --print --host-seed=4 | FileCheck %s --check-prefix=RIGHT
// RUN: sed s/FAULT/12/ %s | attune-opt --attune-attach-target=chip=sm_90 --gpu-to-llvm-pipeline | not attune-run --device=host --print 2>&1 | FileCheck %s --check-prefix=NOFENCE
// RUN: sed "s/constant 2 : index/constant 3 : index/" %t.mlir | not attune-run --device=host --print 2>&1 | FileCheck %s --check-prefix=ODD
// RUN: sed s/FAULT/1/ %s | attune-opt --attune-attach-target=chip=sm_90 --gpu-to-llvm-pipeline | not attune-run --device=host --print 2>&1 | FileCheck %s --check-prefix=NOSTART
// RUN: sed s/FAULT/2/ %s | attune-opt --attune-attach-target=chip=sm_90 --gpu-to-llvm-pipeline | not attune-run --device=host --print 2>&1 | FileCheck %s --check-prefix=NOEND
// RUN: sed s/FAULT/3/ %s | attune-opt --attune-attach-target=chip=sm_90 --gpu-to-llvm-pipeline | not attune-run --device=host --print 2>&1 | FileCheck %s --check-prefix=NOEND
// RUN: sed s/FAULT/3/ %s | attune-opt --attune-attach-target=chip=sm_90 --gpu-to-llvm-pipeline | not attune-run --device=host --print --host-seed=4 2>&1 | FileCheck %s --check-prefix=NOEND
// RUN: sed s/FAULT/4/ %s | attune-opt --attune-attach-target=chip=sm_90 --gpu-to-llvm-pipeline | not attune-run --device=host --print 2>&1 | FileCheck %s --check-prefix=MASK
// RUN: sed s/FAULT/5/ %s | attune-opt --attune-attach-target=chip=sm_90 --gpu-to-llvm-pipeline | not attune-run --device=host --print 2>&1 | FileCheck %s --check-prefix=RANK
// RUN: sed s/FAULT/6/ %s | attune-opt --attune-attach-target=chip=sm_90 --gpu-to-llvm-pipeline | not attune-run --device=host --print 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: sed s/FAULT/7/ %s | attune-opt --attune-attach-target=chip=sm_90 --gpu-to-llvm-pipeline | not attune-run --device=host --print 2>&1 | FileCheck %s --check-prefix=NOARRIVE
// RUN: sed s/FAULT/8/ %s | attune-opt --attune-attach-target=chip=sm_90 --gpu-to-llvm-pipeline | not attune-run --device=host --print 2>&1 | FileCheck %s --check-prefix=ONEMISSING
// RUN: sed s/FAULT/9/ %s | attune-opt --attune-attach-target=chip=sm_90 --gpu-to-llvm-pipeline | not attune-run --device=host --print 2>&1 | FileCheck %s --check-prefix=NOWAIT
// RUN: sed s/FAULT/10/ %s | attune-opt --attune-attach-target=chip=sm_90 --gpu-to-llvm-pipeline | not attune-run --device=host --print 2>&1 | FileCheck %s --check-prefix=FOREIGN

!map = !nvgpu.tensormap.descriptor<tensor = memref<4x8xf32, 3>, swizzle = none, l2promo = none, oob = zero, interleave = none>
!box = memref<64xf32, #gpu.address_space<workgroup>>
!barriers = memref<2xi64, #gpu.address_space<workgroup>>

module attributes {gpu.container_module} {

gpu.module @kernels {
  gpu.func @exchange(%map: !map, %out: memref<2x64xf32>, %fault: index) workgroup(%box: !box {llvm.align = 128 : i64}, %barriers: !barriers)
      kernel attributes {known_block_size = array<i32: 32, 1, 1>, known_cluster_size = array<i32: 2, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %c5 = arith.constant 5 : index
    %c6 = arith.constant 6 : index
    %c7 = arith.constant 7 : index
    %c8 = arith.constant 8 : index
    %c9 = arith.constant 9 : index
    %c10 = arith.constant 10 : index
    %c11 = arith.constant 11 : index
    %c12 = arith.constant 12 : index
    %c32 = arith.constant 32 : index
    %c128 = arith.constant 128 : index
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %four = arith.constant 4 : i32
    %lanes = arith.constant 32 : i32
    %bytes = arith.constant 256 : i32
    %ticks = arith.constant 1000 : i32
    %both = arith.constant 3 : i16
    %more = arith.constant 7 : i16
    %tid = gpu.thread_id x
    %first = arith.cmpi eq, %tid, %c0 : index
    %rank = gpu.cluster_block_id x
    %rank32 = arith.index_cast %rank : index to i32
    %box_start = memref.extract_aligned_pointer_as_index %box : !box -> index
    %share = arith.muli %rank, %c128 : index
    %place = arith.addi %box_start, %share : index
    %place64 = arith.index_cast %place : index to i64
    %target = llvm.inttoptr %place64 : i64 to !llvm.ptr<7>
    %full_address = memref.extract_aligned_pointer_as_index %barriers : !barriers -> index
    %full64 = arith.index_cast %full_address : index to i64
    %full = llvm.inttoptr %full64 : i64 to !llvm.ptr<3>
    %read_address = arith.addi %full_address, %c8 : index
    %read64 = arith.index_cast %read_address : index to i64
    %read = llvm.inttoptr %read64 : i64 to !llvm.ptr<3>
    scf.if %first {
      nvvm.mbarrier.init %full, %one : !llvm.ptr<3>, i32
      nvvm.mbarrier.init %read, %lanes : !llvm.ptr<3>, i32
      %fences = arith.cmpi ne, %fault, %c12 : index
      scf.if %fences {
        nvvm.fence.mbarrier.init
      }
    }
    %starts = arith.cmpi ne, %fault, %c1 : index
    scf.if %starts {
      %waits_only = arith.cmpi eq, %fault, %c7 : index
      scf.if %waits_only {
        // NOARRIVE: error: 'nvvm.cluster.wait' op expects nvvm.cluster.arrive before it, thread (0, 0, 0), block (0, 0, 0)
        nvvm.cluster.wait
      }
      // An arrival that orders nothing but the initialisation of barriers that was fenced.
      %relaxes = arith.cmpi uge, %fault, %c11 : index
      scf.if %relaxes {
        nvvm.cluster.arrive.relaxed
      } else {
        nvvm.cluster.arrive
      }
      %again = arith.cmpi eq, %fault, %c6 : index
      scf.if %again {
        // TWICE: error: 'nvvm.cluster.arrive' op expects nvvm.cluster.wait between two arrivals, thread (0, 0, 0), block (0, 0, 0)
        nvvm.cluster.arrive
      }
      nvvm.cluster.wait
    }
    scf.if %first {
      nvvm.mbarrier.arrive.expect_tx %full, %bytes : !llvm.ptr<3>, i32
      %row = arith.muli %rank32, %four : i32
      %pointer = builtin.unrealized_conversion_cast %map : !map to !llvm.ptr
      %to_more = arith.cmpi eq, %fault, %c4 : index
      %mask = arith.select %to_more, %more, %both : i16
      // NOSTART: error: 'nvvm.cp.async.bulk.tensor.shared.cluster.global' op expects a barrier that was initialised, thread (0, 0, 0), block (0, 0, 0)
      // MASK: error: 'nvvm.cp.async.bulk.tensor.shared.cluster.global' op expects a mask of the 2 workgroups of the cluster, but got 0x7, thread (0, 0, 0)
      // NOWAIT: error: 'nvvm.cp.async.bulk.tensor.shared.cluster.global' op copies what is never waited for
      nvvm.cp.async.bulk.tensor.shared.cluster.global %target, %pointer, %full, box[%zero, %row] multicast_mask = %mask : !llvm.ptr<7>, !llvm.ptr
    }
    %waits = arith.cmpi ne, %fault, %c9 : index
    scf.if %waits {
      // NOFENCE: error: 'nvvm.mbarrier.try_wait.parity' op uses the barrier at shared+0x{{[0-9A-F]+}}, which thread (0, 0, 0) initialises with no barrier between
      nvvm.mbarrier.try_wait.parity %full, %zero, %ticks : !llvm.ptr<3>, i32, i32
      %x = memref.load %box[%tid] : !box
      memref.store %x, %out[%rank, %tid] : memref<2x64xf32>
      %at = arith.addi %tid, %c32 : index
      %y = memref.load %box[%at] : !box
      memref.store %y, %out[%rank, %at] : memref<2x64xf32>
    }
    %other = arith.subi %c1, %rank : index
    %too_high = arith.cmpi eq, %fault, %c5 : index
    %there = arith.select %too_high, %c2, %other : index
    %there32 = arith.index_cast %there : index to i32
    // RANK: error: 'nvvm.mapa' op expects an address of the own workgroup and one of the 2 workgroups of the cluster, but got 2, thread (0, 0, 0)
    %read_there = nvvm.mapa %read, %there32 : !llvm.ptr<3> -> !llvm.ptr<7>
    // NOEND: error: 'nvvm.mbarrier.arrive' op uses the memory of block ({{[01]}}, 0, 0), which may have ended, with no barrier of the cluster behind it
    nvvm.mbarrier.arrive %read_there : !llvm.ptr<7>
    %looks = arith.cmpi eq, %fault, %c10 : index
    scf.if %looks {
      // FOREIGN: error: 'llvm.load' op reads 4 bytes outside of the kernel's arguments
      %z = llvm.load %read_there : !llvm.ptr<7> -> f32
      memref.store %z, %out[%rank, %tid] : memref<2x64xf32>
    }
    %is_two = arith.cmpi eq, %fault, %c2 : index
    %is_three = arith.cmpi eq, %fault, %c3 : index
    %is_eight = arith.cmpi eq, %fault, %c8 : index
    %is_nine = arith.cmpi eq, %fault, %c9 : index
    %skips = arith.andi %is_eight, %first : i1
    %none = arith.ori %is_two, %is_nine : i1
    %stays = arith.ori %none, %skips : i1
    scf.if %stays {
    } else {
      scf.if %is_three {
        nvvm.cluster.arrive.relaxed
      } else {
        nvvm.cluster.arrive
      }
      // ONEMISSING: error: 'nvvm.cluster.wait' op waits for the barrier of the cluster, which never comes, block (0, 0, 0)
      // ONEMISSING: note: threads 1 to 31 wait here for the barrier of the cluster, block (0, 0, 0)
      // ONEMISSING: note: threads 1 to 31 wait here for the barrier of the cluster, block (1, 0, 0)
      // ONEMISSING: note: the barrier of the cluster: 62 of 64 threads have come
      // ONEMISSING: note: thread 0 has returned, block (0, 0, 0)
      // ONEMISSING: note: thread 0 has returned, block (1, 0, 0)
      nvvm.cluster.wait
    }
    gpu.return
  }
}

// Both workgroups have seen all of it.
// RIGHT: result 0: 2x64xf32
// RIGHT-NEXT: {{^}}1 1 1 {{[1 ]*}} 1 1 2 2 2 {{[2 ]*$}}
// RIGHT-NEXT: {{^}}1 1 1 {{[1 ]*}} 1 1 2 2 2 {{[2 ]*$}}
// ODD: error: {{.*}}kernel 'exchange' expects a multiple of 2 blocks, the size of a cluster, along x, but got 3
func.func @two() -> tensor<2x64xf32> {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c32 = arith.constant 32 : index
  %fault = arith.constant FAULT : index
  %halves = arith.constant dense<[[1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0],
    [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0],
    [2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0], [2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0],
    [2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0], [2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0]]> : tensor<8x8xf32>
  %data = bufferization.to_buffer %halves : tensor<8x8xf32> to memref<8x8xf32>
  %any = memref.cast %data : memref<8x8xf32> to memref<*xf32>
  %map = nvgpu.tma.create.descriptor %any box[%c4, %c8] : memref<*xf32> -> !map
  %out = memref.alloc() : memref<2x64xf32>
  gpu.launch_func @kernels::@exchange blocks in (%c2, %c1, %c1) threads in (%c32, %c1, %c1)
    args(%map : !map, %out : memref<2x64xf32>, %fault : index)
  %result = bufferization.to_tensor %out restrict : memref<2x64xf32> to tensor<2x64xf32>
  return %result : tensor<2x64xf32>
}
}
