// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Packed documents with lists of blocks, as FlexAttention's BlockMask has them: for each 128 queries, the blocks of
// 128 keys in which the mask decides, and those that are of the same document as a whole. All others are skipped.
// Heads share the lists. `list-blocks=1` in the schedule makes such lists of any mask on the device.

!t = tensor<2x16x4096x128xbf16>
!counts = tensor<2x1x32xi32>
!indices = tensor<2x1x32x32xi32>

func.func @attention(%q: !t, %k: !t, %v: !t, %document: tensor<2x4096xi32>,
                     %counts: !counts, %indices: !indices, %full_counts: !counts, %full_indices: !indices) -> !t {
  %o = attn.attention %q, %k, %v
    blocks(%counts, %indices, [128, 128] : !counts, !indices)
    full_blocks(%full_counts, %full_indices : !counts, !indices)
    mask (%b, %h, %m, %n) {
      %of_query = tensor.extract %document[%b, %m] : tensor<2x4096xi32>
      %of_key = tensor.extract %document[%b, %n] : tensor<2x4096xi32>
      %same = arith.cmpi eq, %of_query, %of_key : i32
      attn.yield %same : i1
    } : !t, !t, !t
  return %o : !t
}
