// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Refusals of matmuls, with both numbers. unittests/Schedule walks both sides
// of every limit.
//
// RUN: rm -rf %t && split-file %s %t
// RUN: attune-opt %t/sm_90a.mlir --verify-diagnostics --pass-pipeline="builtin.module(attune-attach-target{chip=sm_90a},attune-check-schedule)"
// RUN: attune-opt %t/gfx942.mlir --verify-diagnostics --pass-pipeline="builtin.module(attune-attach-target{chip=gfx942},attune-check-schedule)"

//--- sm_90a.mlir
// Strides are those of two dimensions, which the contraction has as one.
func.func @no_kernel(%a: tensor<2x32x64xf16, #attn.strided<[4096, 64, 1]>>, %b: tensor<64x64xf16>, %c: tensor<2x32x64xf32>) -> tensor<2x32x64xf32> {
  // expected-error @below {{no-kernel: expects a tensor with strides to have a dimension for each of the contraction, of which a kernel can be made}}
  %x = linalg.contract indexing_maps = [affine_map<(p, q, n, k) -> (p, q, k)>, affine_map<(p, q, n, k) -> (k, n)>, affine_map<(p, q, n, k) -> (p, q, n)>]
    {attune.schedule = #schedule.matmul<blockM = 64>}
    ins(%a, %b : tensor<2x32x64xf16, #attn.strided<[4096, 64, 1]>>, tensor<64x64xf16>) outs(%c : tensor<2x32x64xf32>) -> tensor<2x32x64xf32>
  return %x : tensor<2x32x64xf32>
}
func.func @partner_columns(%a: tensor<256x256xf16>, %b: tensor<256x256xf16>, %c: tensor<256x256xf32>) -> tensor<256x2x2x64xf32> {
  // expected-error @below {{partner-columns: expects the columns of a warpgroup to be a multiple of 128, for it rotates columns with those 64 apart, but got 64}}
  %x = linalg.matmul {attune.schedule = #schedule.matmul<mmaWarps = 4, blockM = 64, blockN = 64>} ins(%a, %b : tensor<256x256xf16>, tensor<256x256xf16>) outs(%c : tensor<256x256xf32>) -> tensor<256x256xf32>
  %split = tensor.expand_shape %x [[0], [1, 2, 3]] output_shape [256, 2, 2, 64] : tensor<256x256xf32> into tensor<256x2x2x64xf32>
  %out = tensor.empty() : tensor<256x2x2x64xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, h, d, j) -> (i, h, d, j)>, affine_map<(i, h, d, j) -> (i, h, 1 - d, j)>, affine_map<(i, h, d, j) -> (i, h, d, j)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%split, %split : tensor<256x2x2x64xf32>, tensor<256x2x2x64xf32>) outs(%out : tensor<256x2x2x64xf32>) {
  ^bb0(%s: f32, %partner: f32, %o: f32):
    %z = arith.addf %s, %partner : f32
    linalg.yield %z : f32
  } -> tensor<256x2x2x64xf32>
  return %y : tensor<256x2x2x64xf32>
}
func.func @warps_per_multiply(%a: tensor<256x256xf16>, %b: tensor<256x256xf16>, %c: tensor<256x256xf32>) -> tensor<256x256xf32> {
  // expected-error @below {{warps-per-mma: expects num-warps to be a multiple of 4, the warps of an MMA, but got 2}}
  %x = linalg.matmul {attune.schedule = #schedule.matmul<mmaWarps = 4, numWarps = 2>} ins(%a, %b : tensor<256x256xf16>, tensor<256x256xf16>) outs(%c : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %x : tensor<256x256xf32>
}
func.func @one_warp_multiply(%a: tensor<256x256xf16>, %b: tensor<256x256xf16>, %c: tensor<256x256xf32>) -> tensor<256x256xf32> {
  // expected-error @below {{one-warp-mma: expects producer-warps to have its default where mma-warps is 1}}
  %x = linalg.matmul {attune.schedule = #schedule.matmul<producerWarps = 4>} ins(%a, %b : tensor<256x256xf16>, tensor<256x256xf16>) outs(%c : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %x : tensor<256x256xf32>
}
func.func @ping_pong_without_producer(%a: tensor<256x256xf16>, %b: tensor<256x256xf16>, %c: tensor<256x256xf32>) -> tensor<256x256xf32> {
  // expected-error @below {{ping-pong-without-producer: expects producer-warps where consumers is ping-pong, but got 0}}
  %x = linalg.matmul {attune.schedule = #schedule.matmul<mmaWarps = 4, numWarps = 8, blockM = 64, consumers = "ping-pong", persistent = static>} ins(%a, %b : tensor<256x256xf16>, tensor<256x256xf16>) outs(%c : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %x : tensor<256x256xf32>
}
func.func @ping_pong_of_one_block(%a: tensor<256x256xf16>, %b: tensor<256x256xf16>, %c: tensor<256x256xf32>) -> tensor<256x256xf32> {
  // expected-error @below {{ping-pong-of-one-block: expects persistent to be static or dynamic where consumers is ping-pong, but got none}}
  %x = linalg.matmul {attune.schedule = #schedule.matmul<mmaWarps = 4, numWarps = 8, blockM = 64, consumers = "ping-pong", producerWarps = 4>} ins(%a, %b : tensor<256x256xf16>, tensor<256x256xf16>) outs(%c : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %x : tensor<256x256xf32>
}
func.func @ping_pong_of_one_group(%a: tensor<256x256xf16>, %b: tensor<256x256xf16>, %c: tensor<256x256xf32>) -> tensor<256x256xf32> {
  // expected-error @below {{ping-pong-of-one-group: expects warps of at least 2 warpgroups where consumers is ping-pong, but got 1}}
  %x = linalg.matmul {attune.schedule = #schedule.matmul<mmaWarps = 4, numWarps = 4, blockM = 64, consumers = "ping-pong", producerWarps = 4, persistent = static>} ins(%a, %b : tensor<256x256xf16>, tensor<256x256xf16>) outs(%c : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %x : tensor<256x256xf32>
}
func.func @ping_pong_of_splits(%a: tensor<256x256xf16>, %b: tensor<256x256xf16>, %c: tensor<256x256xf32>) -> tensor<256x256xf32> {
  // expected-error @below {{ping-pong-of-splits: expects split-k to be 1 where consumers is ping-pong, but got 2}}
  %x = linalg.matmul {attune.schedule = #schedule.matmul<mmaWarps = 4, numWarps = 8, blockM = 64, consumers = "ping-pong", producerWarps = 4, persistent = static, splitK = 2>} ins(%a, %b : tensor<256x256xf16>, tensor<256x256xf16>) outs(%c : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %x : tensor<256x256xf32>
}
func.func @ping_pong_of_one_warp(%a: tensor<256x256xf16>, %b: tensor<256x256xf16>, %c: tensor<256x256xf32>) -> tensor<256x256xf32> {
  // expected-error @below {{one-warp-mma: expects consumers to have its default where mma-warps is 1}}
  %x = linalg.matmul {attune.schedule = #schedule.matmul<numWarps = 8, consumers = "ping-pong">} ins(%a, %b : tensor<256x256xf16>, tensor<256x256xf16>) outs(%c : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %x : tensor<256x256xf32>
}
func.func @one_stage(%a: tensor<256x256xf16>, %b: tensor<256x256xf16>, %c: tensor<256x256xf32>) -> tensor<256x256xf32> {
  // expected-error @below {{one-stage: expects at least 2 stages for an MMA by 4 warps, but got 1}}
  %x = linalg.matmul {attune.schedule = #schedule.matmul<mmaWarps = 4, blockM = 64, stages = 1>} ins(%a, %b : tensor<256x256xf16>, tensor<256x256xf16>) outs(%c : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %x : tensor<256x256xf32>
}
func.func @row_alignment(%a: tensor<256x252xf16>, %b: tensor<252x256xf16>, %c: tensor<256x256xf32>) -> tensor<256x256xf32> {
  // expected-error @below {{row-alignment: expects rows of the left operand to start at multiples of 16 bytes for an MMA by 4 warps, but got 504}}
  %x = linalg.matmul {attune.schedule = #schedule.matmul<mmaWarps = 4, blockM = 64>} ins(%a, %b : tensor<256x252xf16>, tensor<252x256xf16>) outs(%c : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %x : tensor<256x256xf32>
}
func.func @row_of_no_memory(%a: tensor<256x256xf16, #attn.strided<[9223372036854775807, 1]>>, %b: tensor<256x256xf16>, %c: tensor<256x256xf32>) -> tensor<256x256xf32> {
  // expected-error @below {{row-alignment: expects rows of the left operand to start at multiples of 16 bytes for an MMA by 4 warps, but got 2305843009213693951}}
  %x = linalg.matmul {attune.schedule = #schedule.matmul<mmaWarps = 4, blockM = 64>} ins(%a, %b : tensor<256x256xf16, #attn.strided<[9223372036854775807, 1]>>, tensor<256x256xf16>) outs(%c : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %x : tensor<256x256xf32>
}
func.func @many_terms(%a: tensor<256x1099511627777xf16>, %b: tensor<1099511627777x256xf16>, %c: tensor<256x256xf32>) -> tensor<256x256xf32> {
  // expected-error @below {{no-kernel: expects matrices of at most 1099511627776 rows and columns, of which a kernel can be made}}
  %x = linalg.matmul {attune.schedule = #schedule.matmul<mmaWarps = 4, blockM = 64>} ins(%a, %b : tensor<256x1099511627777xf16>, tensor<1099511627777x256xf16>) outs(%c : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %x : tensor<256x256xf32>
}
func.func @row_alignment_of_right(%a: tensor<256x256xf16>, %b: tensor<256x252xf16>, %c: tensor<256x252xf32>) -> tensor<256x252xf32> {
  // expected-error @below {{row-alignment: expects rows of the right operand to start at multiples of 16 bytes for an MMA by 4 warps, but got 504}}
  %x = linalg.matmul {attune.schedule = #schedule.matmul<mmaWarps = 4, blockM = 64>} ins(%a, %b : tensor<256x256xf16>, tensor<256x252xf16>) outs(%c : tensor<256x252xf32>) -> tensor<256x252xf32>
  return %x : tensor<256x252xf32>
}
func.func @row_not_contiguous(%a: tensor<256x256xf16, #attn.strided<[512, 2]>>, %b: tensor<256x256xf16>, %c: tensor<256x256xf32>) -> tensor<256x256xf32> {
  // expected-error @below {{row-not-contiguous: expects the elements of a row of the left operand to be neighbours for an MMA by 4 warps}}
  %x = linalg.matmul {attune.schedule = #schedule.matmul<mmaWarps = 4, blockM = 64>} ins(%a, %b : tensor<256x256xf16, #attn.strided<[512, 2]>>, tensor<256x256xf16>) outs(%c : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %x : tensor<256x256xf32>
}
func.func @result_of_columns(%a: tensor<256x256xf16>, %b: tensor<256x256xf16>, %c: tensor<256x256xf32>) -> tensor<256x256xf16> {
  // expected-error @below {{result-of-columns: expects warps-n to be 1 where result-path is shared, for a warpgroup then stores the rows that it wrote, but got 2}}
  %x = linalg.matmul {attune.schedule = #schedule.matmul<mmaWarps = 4, numWarps = 8, warpsN = 2, blockN = 128, resultPath = shared>} ins(%a, %b : tensor<256x256xf16>, tensor<256x256xf16>) outs(%c : tensor<256x256xf32>) -> tensor<256x256xf32>
  %e = tensor.empty() : tensor<256x256xf16>
  %y = linalg.map ins(%x : tensor<256x256xf32>) outs(%e : tensor<256x256xf16>) (%s: f32, %o: f16) {
    %z = arith.truncf %s : f32 to f16
    linalg.yield %z : f16
  }
  return %y : tensor<256x256xf16>
}
func.func @result_row_not_contiguous(%a: tensor<256x256xf16>, %b: tensor<256x256xf16>, %c: tensor<256x256xf32>) -> tensor<256x256xf16> {
  // expected-error @below {{result-row-not-contiguous: expects the elements of a row of the result to be neighbours where result-path is shared}}
  %x = linalg.matmul {attune.schedule = #schedule.matmul<mmaWarps = 4, producerWarps = 4, blockM = 64, resultPath = shared>} ins(%a, %b : tensor<256x256xf16>, tensor<256x256xf16>) outs(%c : tensor<256x256xf32>) -> tensor<256x256xf32>
  %e = tensor.empty() : tensor<256x256xf16>
  %y = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (n, m)>], iterator_types = ["parallel", "parallel"]}
    ins(%x : tensor<256x256xf32>) outs(%e : tensor<256x256xf16>) {
  ^bb0(%s: f32, %o: f16):
    %z = arith.truncf %s : f32 to f16
    linalg.yield %z : f16
  } -> tensor<256x256xf16>
  return %y : tensor<256x256xf16>
}
func.func @result_row_alignment(%a: tensor<256x256xf16>, %b: tensor<252x256xf16>, %c: tensor<256x252xf32>) -> tensor<256x252xf16> {
  // expected-error @below {{result-row-alignment: expects rows of the result to start at multiples of 16 bytes where result-path is shared, but got 504}}
  %x = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] {attune.schedule = #schedule.matmul<mmaWarps = 4, producerWarps = 4, blockM = 64, resultPath = shared>} ins(%a, %b : tensor<256x256xf16>, tensor<252x256xf16>) outs(%c : tensor<256x252xf32>) -> tensor<256x252xf32>
  %e = tensor.empty() : tensor<256x252xf16>
  %y = linalg.map ins(%x : tensor<256x252xf32>) outs(%e : tensor<256x252xf16>) (%s: f32, %o: f16) {
    %z = arith.truncf %s : f32 to f16
    linalg.yield %z : f16
  }
  return %y : tensor<256x252xf16>
}
func.func @result_element(%a: tensor<256x256xf16>, %b: tensor<256x256xf16>, %c: tensor<256x256xf32>) -> tensor<256x256xf32> {
  // expected-error @below {{result-element: expects a result of 16 bits where result-path is shared, but got f32}}
  %x = linalg.matmul {attune.schedule = #schedule.matmul<mmaWarps = 4, producerWarps = 4, blockM = 64, resultPath = shared>} ins(%a, %b : tensor<256x256xf16>, tensor<256x256xf16>) outs(%c : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %x : tensor<256x256xf32>
}
func.func @cluster_without_producer(%a: tensor<256x256xf16>, %b: tensor<256x256xf16>, %c: tensor<256x256xf32>) -> tensor<256x256xf32> {
  // expected-error @below {{cluster-without-producer: expects producer-warps where cluster is 2, but got 0}}
  %x = linalg.matmul {attune.schedule = #schedule.matmul<mmaWarps = 4, blockM = 64, cluster = 2>} ins(%a, %b : tensor<256x256xf16>, tensor<256x256xf16>) outs(%c : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %x : tensor<256x256xf32>
}
func.func @cluster_of_dynamic_tiles(%a: tensor<256x256xf16>, %b: tensor<256x256xf16>, %c: tensor<256x256xf32>) -> tensor<256x256xf32> {
  // expected-error @below {{cluster-of-dynamic-tiles: expects persistent to be none or static where cluster is 2, but got dynamic}}
  %x = linalg.matmul {attune.schedule = #schedule.matmul<mmaWarps = 4, producerWarps = 4, blockM = 64, cluster = 2, persistent = dynamic>} ins(%a, %b : tensor<256x256xf16>, tensor<256x256xf16>) outs(%c : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %x : tensor<256x256xf32>
}
func.func @split_of_dynamic_tiles(%a: tensor<256x256xf16>, %b: tensor<256x256xf16>, %c: tensor<256x256xf32>) -> tensor<256x256xf32> {
  // expected-error @below {{split-of-dynamic-tiles: expects persistent to be none or static where split-k is 2, but got dynamic}}
  %x = linalg.matmul {attune.schedule = #schedule.matmul<mmaWarps = 4, producerWarps = 4, blockM = 64, splitK = 2, persistent = dynamic>} ins(%a, %b : tensor<256x256xf16>, tensor<256x256xf16>) outs(%c : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %x : tensor<256x256xf32>
}
func.func @dynamic_without_producer(%a: tensor<256x256xf16>, %b: tensor<256x256xf16>, %c: tensor<256x256xf32>) -> tensor<256x256xf32> {
  // expected-error @below {{dynamic-without-producer: expects producer-warps where persistent is dynamic, but got 0}}
  %x = linalg.matmul {attune.schedule = #schedule.matmul<mmaWarps = 4, blockM = 64, persistent = dynamic>} ins(%a, %b : tensor<256x256xf16>, tensor<256x256xf16>) outs(%c : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %x : tensor<256x256xf32>
}
func.func @warps_n(%a: tensor<256x256xf16>, %b: tensor<256x256xf16>, %c: tensor<256x256xf32>) -> tensor<256x256xf32> {
  // expected-error @below {{warps-n: expects warps-n to divide the 1 warpgroups, but got 2}}
  %x = linalg.matmul {attune.schedule = #schedule.matmul<mmaWarps = 4, blockM = 64, warpsN = 2>} ins(%a, %b : tensor<256x256xf16>, tensor<256x256xf16>) outs(%c : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %x : tensor<256x256xf32>
}
func.func @rows_per_warp(%a: tensor<256x256xf16>, %b: tensor<256x256xf16>, %c: tensor<256x256xf32>) -> tensor<256x256xf32> {
  // expected-error @below {{rows-per-warp: expects block-m to be a multiple of 128 rows (2 warpgroups of 64), but got 64}}
  %x = linalg.matmul {attune.schedule = #schedule.matmul<mmaWarps = 4, blockM = 64, numWarps = 8>} ins(%a, %b : tensor<256x256xf16>, tensor<256x256xf16>) outs(%c : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %x : tensor<256x256xf32>
}
func.func @columns_per_warp(%a: tensor<256x256xf16>, %b: tensor<256x256xf16>, %c: tensor<256x256xf32>) -> tensor<256x256xf32> {
  // expected-error @below {{columns-per-warp: expects block-n to be a multiple of 32 columns (4 warps of 8), but got 16}}
  %x = linalg.matmul {attune.schedule = #schedule.matmul<blockM = 64, blockN = 16, warpsN = 4>} ins(%a, %b : tensor<256x256xf16>, tensor<256x256xf16>) outs(%c : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %x : tensor<256x256xf32>
}
func.func @columns_per_panel(%a: tensor<256x256xf16>, %b: tensor<256x256xf16>, %c: tensor<256x256xf32>) -> tensor<256x256xf32> {
  // expected-error @below {{columns-per-swizzle-atom: expects a warpgroup's columns to be a multiple of the 64 of a swizzle atom, but got 32}}
  %x = linalg.matmul {attune.schedule = #schedule.matmul<mmaWarps = 4, blockM = 64, blockN = 64, numWarps = 8, warpsN = 2>} ins(%a, %b : tensor<256x256xf16>, tensor<256x256xf16>) outs(%c : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %x : tensor<256x256xf32>
}
func.func @registers_per_thread(%a: tensor<256x256xf16>, %b: tensor<256x256xf16>, %c: tensor<256x256xf32>) -> tensor<256x256xf32> {
  // expected-error @below {{registers-per-thread: expects at least 80 registers a thread for an MMA by 4 warps on 'sm_90a', but got 32}}
  %x = linalg.matmul {attune.schedule = #schedule.matmul<mmaWarps = 4, producerWarps = 4, blockM = 192, numWarps = 12, blockN = 32, workgroupsPerSm = 4>} ins(%a, %b : tensor<256x256xf16>, tensor<256x256xf16>) outs(%c : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %x : tensor<256x256xf32>
}
func.func @shared_overflow(%a: tensor<256x256xf16>, %b: tensor<256x256xf16>, %c: tensor<256x256xf32>) -> tensor<256x256xf32> {
  // expected-error @below {{shared-overflow: expects at most 232448 bytes of shared memory on 'sm_90a', but got 245920}}
  %x = linalg.matmul {attune.schedule = #schedule.matmul<mmaWarps = 4, producerWarps = 4, blockM = 128, blockN = 256, blockK = 64, numWarps = 8, stages = 5>} ins(%a, %b : tensor<256x256xf16>, tensor<256x256xf16>) outs(%c : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %x : tensor<256x256xf32>
}
func.func @shared_per_sm(%a: tensor<256x256xf16>, %b: tensor<256x256xf16>, %c: tensor<256x256xf32>) -> tensor<256x256xf32> {
  // expected-error @below {{shared-per-sm: expects at most 233472 bytes of shared memory on an SM of 'sm_90a', but got 262400 (2 workgroups of 131200)}}
  %x = linalg.matmul {attune.schedule = #schedule.matmul<mmaWarps = 4, producerWarps = 4, blockM = 128, blockN = 128, blockK = 64, numWarps = 8, stages = 4, workgroupsPerSm = 2>} ins(%a, %b : tensor<256x256xf16>, tensor<256x256xf16>) outs(%c : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %x : tensor<256x256xf32>
}
func.func @register_overflow(%a: tensor<256x256xf16>, %b: tensor<256x256xf16>, %c: tensor<256x256xf32>) -> tensor<256x256xf32> {
  // expected-error @below {{register-overflow: expects accumulators of at most 255 registers a thread on 'sm_90a', but got 512}}
  %x = linalg.matmul {attune.schedule = #schedule.matmul<blockM = 256, blockN = 256, numWarps = 4>} ins(%a, %b : tensor<256x256xf16>, tensor<256x256xf16>) outs(%c : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %x : tensor<256x256xf32>
}
func.func @registers_at_entry(%a: tensor<256x256xf16>, %b: tensor<256x256xf16>, %c: tensor<256x256xf32>) -> tensor<256x256xf32> {
  // expected-error @below {{registers-at-entry: expects an MMA of at most 128 registers a thread, what 512 threads start with on 'sm_90a', but got 160}}
  %x = linalg.matmul {attune.schedule = #schedule.matmul<mmaWarps = 4, producerWarps = 4, blockM = 64, blockN = 256, numWarps = 4, workgroupsPerSm = 2>} ins(%a, %b : tensor<256x256xf16>, tensor<256x256xf16>) outs(%c : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %x : tensor<256x256xf32>
}
func.func @legal(%a: tensor<256x256xf16>, %b: tensor<256x256xf16>, %c: tensor<256x256xf32>) -> tensor<256x256xf16> {
  %x = linalg.matmul {attune.schedule = #schedule.matmul<mmaWarps = 4, producerWarps = 4, blockM = 128, blockN = 256, blockK = 64, numWarps = 8, stages = 4>} ins(%a, %b : tensor<256x256xf16>, tensor<256x256xf16>) outs(%c : tensor<256x256xf32>) -> tensor<256x256xf32>
  %e = tensor.empty() : tensor<256x256xf16>
  %y = linalg.map ins(%x : tensor<256x256xf32>) outs(%e : tensor<256x256xf16>) (%s: f32, %o: f16) {
    %z = arith.truncf %s : f32 to f16
    linalg.yield %z : f16
  }
  return %y : tensor<256x256xf16>
}

// Where no kernel would have it.
func.func @no_contraction(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>) -> tensor<64x64xf32> {
  // expected-error @below {{'linalg.generic' op has 'attune.schedule' and expects}}
  %x = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
    ins(%a : tensor<64x64xf32>) outs(%b : tensor<64x64xf32>) attrs = {attune.schedule = #schedule.matmul<>} {
  ^bb0(%s: f32, %o: f32):
    %z = arith.negf %s : f32
    linalg.yield %z : f32
  } -> tensor<64x64xf32>
  return %x : tensor<64x64xf32>
}
func.func @second_of_a_gate(%a: tensor<64x64xf16>, %b: tensor<64x64xf16>, %g: tensor<64x64xf16>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %x = linalg.matmul ins(%a, %b : tensor<64x64xf16>, tensor<64x64xf16>) outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  // expected-error @below {{'linalg.matmul' op expects 'attune.schedule' on the first contraction of a kernel alone}}
  %y = linalg.matmul {attune.schedule = #schedule.matmul<>} ins(%a, %g : tensor<64x64xf16>, tensor<64x64xf16>) outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  %z = linalg.mul ins(%x, %y : tensor<64x64xf32>, tensor<64x64xf32>) outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %z : tensor<64x64xf32>
}
func.func @no_schedule(%a: tensor<64x64xf16>, %b: tensor<64x64xf16>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  // expected-error @below {{'linalg.matmul' op expects 'attune.schedule' to be a '#schedule.matmul', but got {block_m = 64 : i64}}}
  %x = linalg.matmul {attune.schedule = {block_m = 64 : i64}} ins(%a, %b : tensor<64x64xf16>, tensor<64x64xf16>) outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %x : tensor<64x64xf32>
}

//--- gfx942.mlir
func.func @no_matrix_instruction(%a: tensor<256x256xf16>, %b: tensor<256x256xf16>, %c: tensor<256x256xf32>) -> tensor<256x256xf32> {
  // expected-error @below {{no-matrix-instruction: expects an element type that 'gfx942' has a matrix instruction of 4 warps for, but got f16}}
  %x = linalg.matmul {attune.schedule = #schedule.matmul<mmaWarps = 4, blockM = 64>} ins(%a, %b : tensor<256x256xf16>, tensor<256x256xf16>) outs(%c : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %x : tensor<256x256xf32>
}
func.func @rows_per_warp(%a: tensor<256x256xf16>, %b: tensor<256x256xf16>, %c: tensor<256x256xf32>) -> tensor<256x256xf32> {
  // expected-error @below {{rows-per-warp: expects block-m to be a multiple of 128 rows (4 warps of 32), but got 64}}
  %x = linalg.matmul {attune.schedule = #schedule.matmul<blockM = 64>} ins(%a, %b : tensor<256x256xf16>, tensor<256x256xf16>) outs(%c : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %x : tensor<256x256xf32>
}
func.func @threads_per_sm(%a: tensor<256x256xf16>, %b: tensor<256x256xf16>, %c: tensor<256x256xf32>) -> tensor<256x256xf32> {
  // expected-error @below {{threads-per-sm: expects at most 2048 threads on an SM of 'gfx942', but got 3072 (4 workgroups of 768)}}
  %x = linalg.matmul {attune.schedule = #schedule.matmul<blockM = 192, blockN = 128, numWarps = 12, warpsN = 4, workgroupsPerSm = 4>} ins(%a, %b : tensor<256x256xf16>, tensor<256x256xf16>) outs(%c : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %x : tensor<256x256xf32>
}
func.func @legal(%a: tensor<256x256xf16>, %b: tensor<256x256xf16>, %c: tensor<256x256xf32>) -> tensor<256x256xf32> {
  %x = linalg.matmul {attune.schedule = #schedule.matmul<blockM = 128>} ins(%a, %b : tensor<256x256xf16>, tensor<256x256xf16>) outs(%c : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %x : tensor<256x256xf32>
}
