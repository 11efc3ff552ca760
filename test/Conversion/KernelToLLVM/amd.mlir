// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What AMD chips do their own way: loads through buffer resources, whose base is
// where the view starts and whose size is that of its rows; and votes, which are
// seldom for it.
//
// RUN: attune-opt %s --attune-attach-target="chip=gfx942" --gpu-to-llvm-pipeline | FileCheck %s --check-prefixes=CHECK,CDNA
// RUN: attune-opt %s --attune-attach-target="chip=gfx1100" --gpu-to-llvm-pipeline | FileCheck %s --check-prefixes=CHECK,RDNA

module attributes {gpu.container_module} {
gpu.module @kernels {
  // CHECK-LABEL: llvm.func @load
  // CHECK: %[[TWO:.+]] = llvm.mlir.constant(2 : i32)
  // CHECK: %[[PLACE:.+]] = llvm.mul %{{.+}}, %[[TWO]] : i32
  // CHECK: %[[OFFSET:.+]] = llvm.extractvalue %{{.+}}[2]
  // CHECK: %[[START:.+]] = llvm.getelementptr %{{.+}}[%[[OFFSET]]] : (!llvm.ptr, i64) -> !llvm.ptr, bf16
  // CHECK: %[[PLACE64:.+]] = llvm.ptrtoint %[[START]] : !llvm.ptr to i64
  // CHECK: llvm.bitcast %[[PLACE64]] : i64 to vector<2xi32>
  // CHECK-COUNT-2: rocdl.readfirstlane
  // CHECK: %[[BASE:.+]] = llvm.inttoptr %{{.+}} : i64 to !llvm.ptr
  // CHECK: %[[SIZE:.+]] = llvm.extractvalue %{{.+}}[3, 0]
  // CHECK: %[[ROWS:.+]] = llvm.trunc %[[SIZE]] : i64 to i32
  // CHECK: %[[ALL:.+]] = llvm.mul %[[ROWS]], %{{.+}} : i32
  // CHECK: %[[BYTES:.+]] = llvm.mul %[[ALL]], %{{.+}} : i32
  // CHECK: %[[SAME:.+]] = rocdl.readfirstlane %[[BYTES]]
  // CHECK: %[[RECORDS:.+]] = llvm.zext %[[SAME]] : i32 to i64
  // CDNA: %[[FLAGS:.+]] = llvm.mlir.constant(159744 : i32)
  // RDNA: %[[FLAGS:.+]] = llvm.mlir.constant(822243328 : i32)
  // CHECK: %[[BUFFER:.+]] = rocdl.make.buffer.rsrc %[[BASE]], %{{.+}}, %[[RECORDS]], %[[FLAGS]] : !llvm.ptr to <8>
  // CHECK: %[[WORDS:.+]] = rocdl.raw.ptr.buffer.load %[[BUFFER]], %[[PLACE]], %{{.+}}, %{{.+}} : vector<4xi32>
  // CHECK: llvm.bitcast %[[WORDS]] : vector<4xi32> to vector<8xbf16>
  // Of one that is not checked, all that 32 bits reach.
  // CHECK: %[[REST:.+]] = llvm.mlir.constant(4294967295 : i64)
  // CHECK: rocdl.make.buffer.rsrc %{{.+}}, %{{.+}}, %[[REST]], %[[FLAGS]]
  // CHECK: rocdl.raw.ptr.buffer.load {{.*}} : i32
  gpu.func @load(%m: memref<?x64xbf16>, %first: index, %rows: index, %row: i32, %out: memref<10xbf16>) kernel {
    %c0 = arith.constant 0 : index
    %c8 = arith.constant 8 : index
    %zero = arith.constant 0 : i32
    %tile = memref.subview %m[%first, 0] [%rows, 64] [1, 1] : memref<?x64xbf16> to memref<?x64xbf16, strided<[64, 1], offset: ?>>
    %x = amdgpu.raw_buffer_load %tile[%row, %zero] : memref<?x64xbf16, strided<[64, 1], offset: ?>>, i32, i32 -> vector<8xbf16>
    %y = amdgpu.raw_buffer_load {boundsCheck = false} %tile[%row, %zero] : memref<?x64xbf16, strided<[64, 1], offset: ?>>, i32, i32 -> vector<2xbf16>
    vector.store %x, %out[%c0] : memref<10xbf16>, vector<8xbf16>
    vector.store %y, %out[%c8] : memref<10xbf16>, vector<2xbf16>
    gpu.return
  }

  // CHECK-LABEL: llvm.func @vote
  // CHECK: %[[LANES:.+]] = rocdl.ballot
  // CHECK: %[[ANY:.+]] = llvm.icmp "ne" %[[LANES]], %{{.+}} : i32
  // CHECK: %[[SELDOM:.+]] = llvm.intr.expect %[[ANY]], %{{.+}} : i1
  // CHECK: llvm.cond_br %[[SELDOM]]
  // Other comparisons tell nothing.
  // CHECK: %[[OTHER:.+]] = llvm.icmp "ne"
  // CHECK: llvm.cond_br %[[OTHER]]
  gpu.func @vote(%own: i1, %count: i32, %out: memref<1xi32>) kernel {
    %c0 = arith.constant 0 : index
    %none = arith.constant 0 : i32
    %lanes = rocdl.ballot %own : i32
    %any = arith.cmpi ne, %lanes, %none : i32
    scf.if %any {
      memref.store %lanes, %out[%c0] : memref<1xi32>
    }
    %some = arith.cmpi ne, %count, %none : i32
    scf.if %some {
      memref.store %count, %out[%c0] : memref<1xi32>
    }
    gpu.return
  }
}
}
