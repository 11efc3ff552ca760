// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// New tokens of a step, put into a cache of 8 bits in pages of 16 keys: keys are
// rotated by their positions, and keys and values are rounded, with a scale for
// each row. One kernel changes both pools in place. What decodes from them is in
// quantized_cache.mlir, with scales of pages.

!rows = tensor<?x8x128xbf16>
!pool = tensor<?x16x8x128xf8E4M3FN>
!scales = tensor<?x16x8x1xf32>
!table = tensor<?x64xf32>

func.func @append(%k: !rows, %v: !rows, %slots: tensor<?xi64>, %cos: !table, %sin: !table, %positions: tensor<?xi32>,
                  %keys: !pool, %key_scales: !scales, %values: !pool, %value_scales: !scales) -> (!pool, !scales, !pool, !scales) {
  %k8, %ks = attn.append %k to %keys at %slots rotary(%cos, %sin, %positions : !table, !table, tensor<?xi32>)
    row_scales(%key_scales : !scales) : !rows, !pool, tensor<?xi64>
  %v8, %vs = attn.append %v to %values at %slots row_scales(%value_scales : !scales) : !rows, !pool, tensor<?xi64>
  return %k8, %ks, %v8, %vs : !pool, !scales, !pool, !scales
}
