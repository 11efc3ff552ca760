// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: attune-opt %s --convert-host-to-llvm | FileCheck %s --implicit-check-not=unrealized_conversion_cast

module attributes {gpu.container_module} {
// The kernel's description, once for all launches.
// CHECK-DAG: llvm.mlir.global internal constant @scale_image("PTX")
// CHECK-DAG: llvm.mlir.global internal constant @scale_name("scale\00")
// CHECK-DAG: llvm.mlir.global internal constant @scale_chip("sm_90a\00")
// CHECK: llvm.mlir.global internal constant @scale_description() {{.*}} : !llvm.struct<(ptr, i64, ptr, ptr, i64)>
// CHECK:   llvm.mlir.addressof @scale_image
// CHECK:   llvm.mlir.constant(3 : i64)
// CHECK:   llvm.mlir.addressof @scale_name
// CHECK:   llvm.mlir.addressof @scale_chip
// CHECK:   llvm.mlir.constant(512 : i64)
// CHECK-NOT: @scale_description
gpu.binary @kernels {launch.manifest = #launch.manifest<shared_bytes = 512, kernel = "scale", chip = "sm_90a">} [#gpu.object<#nvvm.target, "PTX">]

// Parameters are expanded as kernels take them, each with an address.
// CHECK-LABEL: llvm.func @launch
// CHECK-SAME:  (%[[CONTEXT:[^:]+]]: !llvm.ptr, %[[ALLOCATED:[^:]+]]: !llvm.ptr, %[[ALIGNED:[^:]+]]: !llvm.ptr, %{{.+}}: i64, %[[SIZE:[^:]+]]: i64, %{{[^:]+}}: i64, %[[FACTOR:[^:]+]]: f16, %[[SHARED:[^:]+]]: i32)
// CHECK: %[[ADDRESSES:.+]] = llvm.alloca %{{.+}} x !llvm.array<6 x ptr>
// CHECK: %[[EXTENTS:.+]] = llvm.alloca %{{.+}} x !llvm.array<6 x i64>
// CHECK: %[[PARAMETERS:.+]] = llvm.alloca %{{.+}} x !llvm.struct<(ptr, ptr, i64, i64, i64, f16)>
// CHECK: %[[LAST:.+]] = llvm.getelementptr %[[PARAMETERS]][0, 5]
// CHECK-NEXT: llvm.store %[[FACTOR]], %[[LAST]]
// CHECK: %[[SLOT:.+]] = llvm.getelementptr %[[ADDRESSES]][5]
// CHECK-NEXT: llvm.store %[[LAST]], %[[SLOT]]
// CHECK: llvm.call @attuneHostLaunch(%[[CONTEXT]], %{{.+}}, %[[EXTENTS]], %{{.+}}, %[[ADDRESSES]], %{{.+}}) : (!llvm.ptr, !llvm.ptr, !llvm.ptr, i64, !llvm.ptr, i64) -> ()
// CHECK: llvm.func @_mlir_ciface_launch(%{{[^:]+}}: !llvm.ptr, %{{[^:]+}}: !llvm.ptr, %{{[^:]+}}: f16, %{{[^:]+}}: i32)
func.func @launch(%buffer: memref<?xf16>, %factor: f16, %shared: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %size = memref.dim %buffer, %c0 : memref<?xf16>
  gpu.launch_func @kernels::@scale blocks in (%size, %c1, %c1) threads in (%c1, %c1, %c1)
      dynamic_shared_memory_size %shared args(%buffer : memref<?xf16>, %factor : f16)
  return
}

// A call hands on the context; a private function has no C interface.
// CHECK-LABEL: llvm.func @outer(
// CHECK-SAME:  %[[CONTEXT:[^:]+]]: !llvm.ptr
// CHECK: llvm.call @inner(%[[CONTEXT]], %{{.+}})
// CHECK: llvm.call @elsewhere(%{{[^,]+}}) : (i64) -> ()
func.func @outer(%n: index) -> index {
  %m = call @inner(%n) : (index) -> index
  call @elsewhere(%m) : (index) -> ()
  return %m : index
}
// CHECK-LABEL: llvm.func @inner
// CHECK-NOT: _mlir_ciface_inner
func.func private @inner(%n: index) -> index {
  return %n : index
}
func.func private @elsewhere(index)

// In a loop the stack is taken once.
// CHECK-LABEL: llvm.func @repeat
// CHECK: llvm.alloca %{{.+}} x !llvm.array<128 x i8> {alignment = 64 : i64}
// CHECK: llvm.br
// CHECK-NOT: llvm.alloca %{{.+}} x !llvm.array
// CHECK: llvm.call @attuneHostEncodeTensorMap
// CHECK-NOT: llvm.alloca %{{.+}} x !llvm.array
// CHECK: llvm.call @attuneHostLaunch
func.func @repeat(%buffer: memref<64x64xbf16>, %times: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  scf.for %i = %c0 to %times step %c1 {
    %unranked = memref.cast %buffer : memref<64x64xbf16> to memref<*xbf16>
    %map = nvgpu.tma.create.descriptor %unranked box[%c64, %c64] : memref<*xbf16>
        -> !nvgpu.tensormap.descriptor<tensor = memref<64x64xbf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = none, oob = zero, interleave = none>
    gpu.launch_func @kernels::@scale blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
        args(%map : !nvgpu.tensormap.descriptor<tensor = memref<64x64xbf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = none, oob = zero, interleave = none>)
  }
  return
}

// An assertion ends the function, and returns something.
// CHECK-LABEL: llvm.func @checked
// CHECK: %[[TEXT:.+]] = llvm.mlir.addressof @checked_message
// CHECK: llvm.cond_br %{{.+}}, ^[[HOLDS:bb[0-9]+]], ^[[FAILS:bb[0-9]+]]
// CHECK: ^[[FAILS]]:
// CHECK: llvm.call @attuneHostFail(%{{.+}}, %[[TEXT]])
// CHECK: llvm.return %{{.+}} : i64
// CHECK: ^[[HOLDS]]:
// CHECK: llvm.return %{{.+}} : i64
func.func @checked(%holds: i1, %n: index) -> index {
  cf.assert %holds, "expects n to be even"
  return %n : index
}

// CHECK-LABEL: llvm.func @memory
// CHECK: %[[BYTES:.+]] = llvm.ptrtoint
// CHECK: %[[ALIGNMENT:.+]] = llvm.mlir.constant(16 : i64)
// CHECK: %[[ADDRESS:.+]] = llvm.call @attuneHostAllocate(%{{.+}}, %[[BYTES]], %[[ALIGNMENT]])
// CHECK: llvm.call @attuneHostFill(%{{.+}}, %{{.+}}, %{{.+}}) : (!llvm.ptr, !llvm.ptr, i64) -> ()
// CHECK: llvm.call @attuneHostRelease
func.func @memory(%n: index) {
  %zero = arith.constant 0.0 : f32
  %buffer = memref.alloc(%n) {alignment = 16} : memref<?x4xf32>
  gpu.memset %buffer, %zero : memref<?x4xf32>, f32
  memref.dealloc %buffer : memref<?x4xf32>
  return
}

} // module
