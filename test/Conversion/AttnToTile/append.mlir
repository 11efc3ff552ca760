// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernel of attn.append, and the pool that is its argument and its result.
//
// RUN: attune-opt %s --attune-attach-target="chip=sm_90a" --attune-select-schedule --convert-attn-to-tile --canonicalize --cse | FileCheck %s

// A workgroup has a token: sixteen lanes read a row of 128 elements of 16 bits, so that four warps read eight heads. It does while it
// waits for the slot.
// CHECK-LABEL: gpu.func @rows_append
// CHECK-SAME:    %[[X:[^ ]+]]: memref<?x8x128xbf16>, %[[SLOTS:[^ ]+]]: memref<?xi64>, %[[POOL:[^ ]+]]: memref<?x16x8x128xbf16>)
// CHECK-SAME:    known_block_size = array<i32: 128, 1, 1>
// CHECK-SAME:    #launch.buffer<name = "rows", type = memref<?x8x128xbf16>, access = read>
// CHECK-SAME:    #launch.buffer<name = "slots", type = memref<?xi64>, access = read>
// CHECK-SAME:    #launch.buffer<name = "pool", type = memref<?x16x8x128xbf16>, access = read_write>
// CHECK-SAME:    grid = <dim(0, 0) * dim(0, 1) ceildiv 8>
// CHECK: tile.load {{.+}} -> <8x128xbf16, registers>
// CHECK: %[[SLOT:.+]] = memref.load %[[SLOTS]]
// CHECK: arith.cmpi ult
// CHECK: scf.if
// CHECK:   tile.store %{{.+}}, {{.+}} : <8x128xbf16, registers>, memref<8x128xbf16
// CHECK-LABEL: func.func @rows
// CHECK-SAME:    %[[TENSOR:[^ ]+]]: tensor<?x16x8x128xbf16>)
// CHECK: %[[BUFFER:.+]] = bufferization.to_buffer %[[TENSOR]] : tensor<?x16x8x128xbf16>
// CHECK: gpu.launch_func {{.+}} args({{.+}}, %[[BUFFER]] : memref<?x16x8x128xbf16>)
// CHECK: %[[RESULT:.+]] = bufferization.to_tensor %[[BUFFER]] restrict writable
// CHECK: return %[[RESULT]]
func.func @rows(%x: tensor<?x8x128xbf16>, %slots: tensor<?xi64>, %pool: tensor<?x16x8x128xbf16>) -> tensor<?x16x8x128xbf16> {
  %p = attn.append %x to %pool at %slots : tensor<?x8x128xbf16>, tensor<?x16x8x128xbf16>, tensor<?xi64>
  return %p : tensor<?x16x8x128xbf16>
}

// Both halves of what is rotated, and the rest, with one scale of a row. Eight lanes read the widest of these.
// CHECK-LABEL: gpu.func @halves_append
// CHECK-SAME:    known_block_size = array<i32: 64, 1, 1>
// CHECK-SAME:    access = read_write
// CHECK-SAME:    #launch.buffer<name = "row_scales", type = memref<4x16x8x1xf32>, access = read_write>
// CHECK-COUNT-3: tile.load {{.+}} -> <{{.+}}x{{32|64}}xf16, registers>
// CHECK: tile.load {{.+}} -> <32xf32, registers>
// CHECK: tile.load {{.+}} -> <32xf32, registers>
// CHECK-COUNT-3: tile.reduce max
// CHECK: tile.store {{.+}}xf32, registers>, memref<8xf32
// CHECK-COUNT-3: tile.store {{.+}}xf8E4M3FN, registers>
func.func @halves(%x: tensor<9x8x128xf16>, %slots: tensor<9xi64>, %pool: tensor<4x16x8x128xf8E4M3FN>, %cos: tensor<512x32xf32>,
                  %sin: tensor<512x32xf32>, %positions: tensor<9xi32>, %scales: tensor<4x16x8x1xf32>)
    -> (tensor<4x16x8x128xf8E4M3FN>, tensor<4x16x8x1xf32>) {
  %p, %s = attn.append %x to %pool at %slots rotary(%cos, %sin, %positions : tensor<512x32xf32>, tensor<512x32xf32>, tensor<9xi32>)
    row_scales(%scales : tensor<4x16x8x1xf32>) : tensor<9x8x128xf16>, tensor<4x16x8x128xf8E4M3FN>, tensor<9xi64>
  return %p, %s : tensor<4x16x8x128xf8E4M3FN>, tensor<4x16x8x1xf32>
}

// Neighbours change places; few heads have one warp.
// CHECK-LABEL: gpu.func @pairs_append
// CHECK-SAME:    known_block_size = array<i32: 32, 1, 1>
// CHECK: tile.swap_columns {{.+}} stride 1
// CHECK-NOT: tile.reduce
func.func @pairs(%x: tensor<9x1x64xf16>, %slots: tensor<9xi32>, %pool: tensor<4x16x1x64xf8E5M2>, %cos: tensor<512x32xf16>,
                 %sin: tensor<512x32xf16>, %positions: tensor<9xi64>, %scales: tensor<1x1x1x1xf32>) -> tensor<4x16x1x64xf8E5M2> {
  %p = attn.append %x to %pool at %slots rotary(%cos, %sin, %positions : tensor<512x32xf16>, tensor<512x32xf16>, tensor<9xi64>) interleaved
    scales(%scales : tensor<1x1x1x1xf32>) : tensor<9x1x64xf16>, tensor<4x16x1x64xf8E5M2>, tensor<9xi32>
  return %p : tensor<4x16x1x64xf8E5M2>
}

// Pieces begin where what is rotated does, and where bytes do: 16 of 32 elements, twelve of which are rotated in pairs.
// CHECK-LABEL: gpu.func @packed_append
// CHECK-COUNT-8: tile.load {{.+}} -> <{{.+}}x16xf16, registers>
// CHECK-COUNT-6: tile.load {{.+}} -> <16xf32, registers>
// CHECK-COUNT-4: tile.store {{.+}}x16xi8, registers>, memref<8x16xi8
// CHECK-NOT: tile.store
func.func @packed(%x: tensor<9x8x128xf16>, %slots: tensor<9xi64>, %pool: tensor<4x16x8x64xi8>, %cos: tensor<512x48xf32>,
                  %sin: tensor<512x48xf32>, %positions: tensor<9xi32>, %scales: tensor<1x1x1x1xf32>) -> tensor<4x16x8x64xi8> {
  %p = attn.append %x to %pool at %slots rotary(%cos, %sin, %positions : tensor<512x48xf32>, tensor<512x48xf32>, tensor<9xi32>) packed
    scales(%scales : tensor<1x1x1x1xf32>) : tensor<9x8x128xf16>, tensor<4x16x8x64xi8>, tensor<9xi64>
  return %p : tensor<4x16x8x64xi8>
}

// Extremes of all columns make scales and zero points, both of which are written.
// CHECK-LABEL: gpu.func @zeros_append
// CHECK-SAME: #launch.buffer<name = "row_scales", type = memref<4x16x8x1xf32>, access = read_write>, #launch.buffer<name = "row_zeros", type = memref<4x16x8x1xf32>, access = read_write>
// CHECK-COUNT-4: tile.reduce max
// CHECK-COUNT-2: tile.store {{.+}}xf32, registers>, memref<8xf32
// CHECK: tile.store {{.+}}x32xi8, registers>, memref<8x32xi8
func.func @zeros(%x: tensor<9x8x64xf16>, %slots: tensor<9xi64>, %pool: tensor<4x16x8x32xi8>, %s: tensor<4x16x8x1xf32>, %z: tensor<4x16x8x1xf32>)
    -> (tensor<4x16x8x32xi8>, tensor<4x16x8x1xf32>, tensor<4x16x8x1xf32>) {
  %p, %ns, %nz = attn.append %x to %pool at %slots packed row_scales(%s : tensor<4x16x8x1xf32>) row_zeros(%z : tensor<4x16x8x1xf32>)
    : tensor<9x8x64xf16>, tensor<4x16x8x32xi8>, tensor<9xi64>
  return %p, %ns, %nz : tensor<4x16x8x32xi8>, tensor<4x16x8x1xf32>, tensor<4x16x8x1xf32>
}
