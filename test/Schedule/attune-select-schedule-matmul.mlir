// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a matmul gets is legal on the chip, and goes by its sizes and rows.
//
// RUN: attune-opt %s --attune-attach-target=chip=sm_80 --attune-select-schedule --attune-check-schedule | FileCheck %s --check-prefix=SM80
// RUN: attune-opt %s --attune-attach-target=chip=sm_90a --attune-select-schedule --attune-check-schedule | FileCheck %s --check-prefix=SM90
// RUN: attune-opt %s --attune-attach-target=chip=gfx942 --attune-select-schedule --attune-check-schedule | FileCheck %s --check-prefix=GFX942
// RUN: attune-opt %s --attune-attach-target=chip=gfx1100 --attune-select-schedule --attune-check-schedule | FileCheck %s --check-prefix=GFX1100

// SM80-LABEL: func.func @square(
// SM80: #schedule.matmul<warpsN = 2, stages = 4>
// SM90-LABEL: func.func @square(
// SM90: #schedule.matmul<blockN = 256, blockK = 64, numWarps = 8, mmaWarps = 4, producerWarps = 4, stages = 4, {{.*}}persistent = static>
// GFX942-LABEL: func.func @square(
// GFX942: #schedule.matmul<warpsN = 2, stages = 4>
// GFX1100-LABEL: func.func @square(
// GFX1100: #schedule.matmul<blockK = 64, warpsN = 2>
func.func @square(%a: tensor<4096x4096xbf16>, %b: tensor<4096x4096xbf16>, %c: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %x = linalg.matmul ins(%a, %b : tensor<4096x4096xbf16>, tensor<4096x4096xbf16>) outs(%c : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %x : tensor<4096x4096xf32>
}

// Few tiles of a whole workgroup fill the chip better than fewer large ones, and rows that are none cost time.
// SM80-LABEL: func.func @few_rows(
// SM80: #schedule.matmul<blockM = 16, {{.*}}>
// SM90-LABEL: func.func @few_rows(
// SM90: #schedule.matmul<blockM = 64, blockN = 32, blockK = 64, mmaWarps = 4, producerWarps = 4, stages = 8, rasterGroup = 16>
// GFX942-LABEL: func.func @few_rows(
// GFX942: #schedule.matmul<blockM = 32, {{.*}}>
// GFX1100-LABEL: func.func @few_rows(
// GFX1100: #schedule.matmul<blockM = 16, {{.*}}>
func.func @few_rows(%a: tensor<16x4096xf16>, %b: tensor<4096x4096xf16>, %c: tensor<16x4096xf32>) -> tensor<16x4096xf32> {
  %x = linalg.matmul ins(%a, %b : tensor<16x4096xf16>, tensor<4096x4096xf16>) outs(%c : tensor<16x4096xf32>) -> tensor<16x4096xf32>
  return %x : tensor<16x4096xf32>
}

// The only tile of a workgroup has nothing to hide its result behind, and gains by the stages that fit without a buffer for it.
// SM80-LABEL: func.func @one_round(
// SM80: #schedule.matmul<
// SM90-LABEL: func.func @one_round(
// SM90: #schedule.matmul<blockN = 256, blockK = 64, numWarps = 8, mmaWarps = 4, producerWarps = 4, stages = 4, rasterGroup = 16>
// GFX942-LABEL: func.func @one_round(
// GFX942: #schedule.matmul<
// GFX1100-LABEL: func.func @one_round(
// GFX1100: #schedule.matmul<
func.func @one_round(%a: tensor<512x8192xbf16>, %b: tensor<8192x8192xbf16>, %c: tensor<512x8192xf32>) -> tensor<512x8192xf32> {
  %x = linalg.matmul ins(%a, %b : tensor<512x8192xbf16>, tensor<8192x8192xbf16>) outs(%c : tensor<512x8192xf32>) -> tensor<512x8192xf32>
  return %x : tensor<512x8192xf32>
}

// Each warp has whole heads of 128 columns, whose halves are rotated together.
// SM80-LABEL: func.func @rotated(
// SM80: #schedule.matmul<blockM = 64, blockN = 128, stages = 4>
// SM90-LABEL: func.func @rotated(
// SM90: #schedule.matmul<blockN = 256, blockK = 64, numWarps = 8, mmaWarps = 4, producerWarps = 4, stages = 4, {{.*}}persistent = static>
// GFX942-LABEL: func.func @rotated(
// GFX942: #schedule.matmul<blockM = 64, blockN = 128, numWarps = 1, stages = 4>
// GFX1100-LABEL: func.func @rotated(
// GFX1100: #schedule.matmul<blockM = 64, blockN = 128, blockK = 64>
func.func @rotated(%a: tensor<4096x4096xf16>, %b: tensor<4096x4096xf16>, %c: tensor<4096x4096xf32>) -> tensor<4096x32x2x64xf32> {
  %x = linalg.matmul ins(%a, %b : tensor<4096x4096xf16>, tensor<4096x4096xf16>) outs(%c : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %heads = tensor.expand_shape %x [[0], [1, 2, 3]] output_shape [4096, 32, 2, 64] : tensor<4096x4096xf32> into tensor<4096x32x2x64xf32>
  %out = tensor.empty() : tensor<4096x32x2x64xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, h, d, j) -> (i, h, d, j)>, affine_map<(i, h, d, j) -> (i, h, 1 - d, j)>, affine_map<(i, h, d, j) -> (i, h, d, j)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%heads, %heads : tensor<4096x32x2x64xf32>, tensor<4096x32x2x64xf32>) outs(%out : tensor<4096x32x2x64xf32>) {
  ^bb0(%s: f32, %partner: f32, %o: f32):
    %z = arith.addf %s, %partner : f32
    linalg.yield %z : f32
  } -> tensor<4096x32x2x64xf32>
  return %y : tensor<4096x32x2x64xf32>
}

// Functions of many tiles run under the multiplies of other warpgroups.
// SM80-LABEL: func.func @function(
// SM80: #schedule.matmul<
// SM90-LABEL: func.func @function(
// SM90: #schedule.matmul<blockN = 192, blockK = 64, numWarps = 8, mmaWarps = 4, producerWarps = 4, consumers = "ping-pong", stages = 5, {{.*}}persistent = static>
// GFX942-LABEL: func.func @function(
// GFX942: #schedule.matmul<
// GFX1100-LABEL: func.func @function(
// GFX1100: #schedule.matmul<
func.func @function(%a: tensor<16384x2048xbf16>, %b: tensor<2048x8192xbf16>, %c: tensor<16384x8192xf32>) -> tensor<16384x8192xbf16> {
  %x = linalg.matmul ins(%a, %b : tensor<16384x2048xbf16>, tensor<2048x8192xbf16>) outs(%c : tensor<16384x8192xf32>) -> tensor<16384x8192xf32>
  %e = tensor.empty() : tensor<16384x8192xbf16>
  %y = linalg.map ins(%x : tensor<16384x8192xf32>) outs(%e : tensor<16384x8192xbf16>) (%s: f32, %o: bf16) {
    %f = math.tanh %s : f32
    %z = arith.truncf %f : f32 to bf16
    linalg.yield %z : bf16
  }
  return %y : tensor<16384x8192xbf16>
}

// Long sums of few tiles are split.
// SM80-LABEL: func.func @long_sums(
// SM80: #schedule.matmul<{{.*}}splitK = 4>
// SM90-LABEL: func.func @long_sums(
// SM90: #schedule.matmul<{{.*}}splitK = 8>
// GFX942-LABEL: func.func @long_sums(
// GFX942: #schedule.matmul<{{.*}}splitK = 4>
// GFX1100-LABEL: func.func @long_sums(
// GFX1100: #schedule.matmul<{{.*}}splitK = 4>
func.func @long_sums(%a: tensor<64x16384xf16>, %b: tensor<16384x256xf16>, %c: tensor<64x256xf32>) -> tensor<64x256xf32> {
  %x = linalg.matmul ins(%a, %b : tensor<64x16384xf16>, tensor<16384x256xf16>) outs(%c : tensor<64x256xf32>) -> tensor<64x256xf32>
  return %x : tensor<64x256xf32>
}

// Rows that no copy of boxes reads are left to warps of their own.
// SM80-LABEL: func.func @odd_rows(
// SM80: #schedule.matmul<{{.*}}stages = 4>
// SM90-LABEL: func.func @odd_rows(
// SM90: #schedule.matmul<blockM = 32, blockK = 64, numWarps = 2, warpsN = 2, stages = 4>
// GFX942-LABEL: func.func @odd_rows(
// GFX942: #schedule.matmul<{{.*}}stages = 4>
// GFX1100-LABEL: func.func @odd_rows(
// GFX1100: #schedule.matmul<{{.*}}stages = 4>
func.func @odd_rows(%a: tensor<512x511xf16>, %b: tensor<511x512xf16>, %c: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %x = linalg.matmul ins(%a, %b : tensor<512x511xf16>, tensor<511x512xf16>) outs(%c : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %x : tensor<512x512xf32>
}

// What is not known is taken as large.
// SM80-LABEL: func.func @dynamic(
// SM80: #schedule.matmul<warpsN = 2, stages = 4>
// SM90-LABEL: func.func @dynamic(
// SM90: #schedule.matmul<blockN = 256, blockK = 64, numWarps = 8, mmaWarps = 4, producerWarps = 4, stages = 4, {{.*}}persistent = static>
// GFX942-LABEL: func.func @dynamic(
// GFX942: #schedule.matmul<warpsN = 2, stages = 4>
// GFX1100-LABEL: func.func @dynamic(
// GFX1100: #schedule.matmul<blockK = 64, warpsN = 2>
func.func @dynamic(%a: tensor<?x4096xf16>, %b: tensor<4096x4096xf16>, %c: tensor<?x4096xf32>) -> tensor<?x4096xf32> {
  %x = linalg.matmul ins(%a, %b : tensor<?x4096xf16>, tensor<4096x4096xf16>) outs(%c : tensor<?x4096xf32>) -> tensor<?x4096xf32>
  return %x : tensor<?x4096xf32>
}

// What is given stays.
// SM80-LABEL: func.func @given(
// SM80: #schedule.matmul<blockM = 64, numWarps = 2>
// SM90-LABEL: func.func @given(
// SM90: #schedule.matmul<blockM = 64, numWarps = 2>
// GFX942-LABEL: func.func @given(
// GFX942: #schedule.matmul<blockM = 64, numWarps = 2>
// GFX1100-LABEL: func.func @given(
// GFX1100: #schedule.matmul<blockM = 64, numWarps = 2>
func.func @given(%a: tensor<256x256xf16>, %b: tensor<256x256xf16>, %c: tensor<256x256xf32>) -> tensor<256x256xf32> {
  %x = linalg.matmul {attune.schedule = #schedule.matmul<blockM = 64, numWarps = 2>} ins(%a, %b : tensor<256x256xf16>, tensor<256x256xf16>) outs(%c : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %x : tensor<256x256xf32>
}

// Sizes whose product no integer holds.
// SM80-LABEL: func.func @huge(
// SM80: #schedule.matmul<
// SM90-LABEL: func.func @huge(
// SM90: #schedule.matmul<
// GFX942-LABEL: func.func @huge(
// GFX942: #schedule.matmul<
// GFX1100-LABEL: func.func @huge(
// GFX1100: #schedule.matmul<
func.func @huge(%a: tensor<2147483648x4294967296xbf16>, %b: tensor<4294967296x2147483648xbf16>, %c: tensor<2147483648x2147483648xf32>) -> tensor<2147483648x2147483648xf32> {
  %x = linalg.matmul ins(%a, %b : tensor<2147483648x4294967296xbf16>, tensor<4294967296x2147483648xbf16>) outs(%c : tensor<2147483648x2147483648xf32>) -> tensor<2147483648x2147483648xf32>
  return %x : tensor<2147483648x2147483648xf32>
}
