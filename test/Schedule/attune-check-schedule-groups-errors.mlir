// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Refusals of what refines multiplies by warpgroups, with both numbers.
//
// RUN: attune-opt %s --verify-diagnostics --pass-pipeline="builtin.module(attune-attach-target{chip=sm_90a},attune-check-schedule)"

!t = tensor<1x1x64x64xf16>
!wide = tensor<1x1x64x128xf16>

func.func @producer_of_one_warp(%q: !t) -> !t {
  // expected-error @below {{one-warp-mma: expects producer-warps to have its default where mma-warps is 1}}
  %o = attn.attention %q, %q, %q schedule(<blockM = 64, producerWarps = 1>) : !t, !t, !t
  return %o : !t
}
// Slow, or the kernel of another schedule, is not illegal.
func.func @unrolled_by_one_warp(%q: !t) -> !t {
  %o = attn.attention %q, %q, %q schedule(<blockM = 64, unroll = 2, persistent = static>) : !t, !t, !t
  return %o : !t
}
func.func @late_without_overlap(%q: !t) -> !t {
  %o = attn.attention %q, %q, %q schedule(<blockM = 64, mmaWarps = 4, qInRegisters = 0, rescaleLate = 1>) : !t, !t, !t
  return %o : !t
}
func.func @late_keys_rescaled_seldom(%q: !t) -> !t {
  // expected-error @below {{late-keys-of-others: expects overlap to be ping-pong, rescale to be 0 and p-in-registers to be 1 where late-keys is 32}}
  %o = attn.attention %q, %q, %q schedule(<blockM = 128, numWarps = 8, mmaWarps = 4, qInRegisters = 0, overlap = "ping-pong", rescale = 8, lateKeys = 32>) : !t, !t, !t
  return %o : !t
}
func.func @all_keys_late(%q: !t) -> !t {
  // expected-error @below {{late-keys: expects late-keys to be a multiple of 16, the keys that an MMA adds, below the 32 of block-n, but got 32}}
  %o = attn.attention %q, %q, %q schedule(<blockM = 128, blockN = 32, numWarps = 8, mmaWarps = 4, qInRegisters = 0, overlap = "ping-pong", lateKeys = 32>) : !t, !t, !t
  return %o : !t
}
func.func @late_keys_of_warps(%q: !t) -> !t {
  // expected-error @below {{one-warp-mma: expects late-keys to have its default where mma-warps is 1}}
  %o = attn.attention %q, %q, %q schedule(<lateKeys = 32>) : !t, !t, !t
  return %o : !t
}
func.func @longer_output(%q: !t, %v: !wide) -> !wide {
  // expected-error @below {{output-in-query-slot: expects rows of the output to be as long as the 64 elements of a query's where o-in-shared is query-slot, but got 128}}
  %o = attn.attention %q, %q, %v schedule(<blockM = 64, mmaWarps = 4, qInRegisters = 0, oInShared = "query-slot">) : !t, !t, !wide
  return %o : !wide
}
func.func @odd_rows(%q: !t) -> tensor<1x1x64x64xf16, #attn.strided<[4224, 4224, 66, 1]>> {
  // expected-error @below {{output-row-alignment: expects rows of the output to start at multiples of 16 bytes where o-in-shared is buffer, but got 132}}
  %o = attn.attention %q, %q, %q schedule(<blockM = 64, mmaWarps = 4, qInRegisters = 0, oInShared = buffer>) : !t, !t, !t -> tensor<1x1x64x64xf16, #attn.strided<[4224, 4224, 66, 1]>>
  return %o : tensor<1x1x64x64xf16, #attn.strided<[4224, 4224, 66, 1]>>
}
func.func @rows_apart(%q: !t) -> tensor<1x1x64x64xf16, #attn.strided<[4096, 4096, 1, 64]>> {
  // expected-error @below {{output-row-not-contiguous: expects the elements of a row of the output to be neighbours where o-in-shared is buffer}}
  %o = attn.attention %q, %q, %q schedule(<blockM = 64, mmaWarps = 4, qInRegisters = 0, oInShared = buffer>) : !t, !t, !t -> tensor<1x1x64x64xf16, #attn.strided<[4096, 4096, 1, 64]>>
  return %o : tensor<1x1x64x64xf16, #attn.strided<[4096, 4096, 1, 64]>>
}
func.func @weights_that_do_not_fit(%q: !wide) -> !wide {
  // expected-error @below {{shared-overflow: expects at most 232448 bytes of shared memory on 'sm_90a', but got 262192}}
  %o = attn.attention %q, %q, %q schedule(<blockM = 128, blockN = 256, mmaWarps = 4, numWarps = 8, qInRegisters = 0, kStages = 1, vStages = 1, pInRegisters = 0, oInShared = buffer>) : !wide, !wide, !wide
  return %o : !wide
}

// Keys in pages.
!pool = tensor<9x1x24x64xf16>
func.func @pages_in_no_box(%q: !t, %k: !pool, %pages: tensor<1x4xi32>) -> !t {
  // expected-error @below {{pages-of-boxes: expects pages of a multiple or, in multiples of 8, a part of the 64 keys that a workgroup copies at once for an MMA by 4 warps, but got pages of 24}}
  %o = attn.attention %q, %k, %k pages(%pages : tensor<1x4xi32>) schedule(<blockM = 64, blockN = 64, mmaWarps = 4, qInRegisters = 0>) : !t, !pool, !pool
  return %o : !t
}
func.func @pages_of_boxes(%q: !t, %k: !pool, %pages: tensor<1x4xi32>) -> !t {
  %o = attn.attention %q, %k, %k pages(%pages : tensor<1x4xi32>) schedule(<blockM = 64, blockN = 48, mmaWarps = 4, qInRegisters = 0>) : !t, !pool, !pool
  return %o : !t
}
func.func @pages_by_threads(%q: !t, %k: !pool, %pages: tensor<1x4xi32>) -> !t {
  %o = attn.attention %q, %k, %k pages(%pages : tensor<1x4xi32>) schedule(<blockM = 64, blockN = 64>) : !t, !pool, !pool
  return %o : !t
}
!rows = tensor<9x1x4x64xf16>
func.func @pages_of_few_keys(%q: !t, %k: !rows, %pages: tensor<1x4xi32>) -> !t {
  // expected-error @below {{pages-of-boxes: expects pages of a multiple or, in multiples of 8, a part of the 64 keys that a workgroup copies at once for an MMA by 4 warps, but got pages of 4}}
  %o = attn.attention %q, %k, %k pages(%pages : tensor<1x4xi32>) schedule(<blockM = 64, blockN = 64, mmaWarps = 4, qInRegisters = 0>) : !t, !rows, !rows
  return %o : !t
}

// Lists of blocks.
func.func @listed_keys(%q: !t, %c: tensor<1x1x2xi32>, %i: tensor<1x1x2x2xi32>) -> !t {
  // expected-error @below {{listed-keys: expects block-n to divide the 32 keys of a listed block, but got 64}}
  %o = attn.attention %q, %q, %q blocks(%c, %i, [32, 32] : tensor<1x1x2xi32>, tensor<1x1x2x2xi32>) schedule(<blockM = 32, blockN = 64, numWarps = 2>) : !t, !t, !t
  return %o : !t
}
func.func @listed_queries(%q: !t, %c: tensor<1x1x2xi32>, %i: tensor<1x1x2x2xi32>) -> !t {
  // expected-error @below {{listed-queries: expects block-m to divide the 32 queries of a listed block, but got 64}}
  %o = attn.attention %q, %q, %q blocks(%c, %i, [32, 32] : tensor<1x1x2xi32>, tensor<1x1x2x2xi32>) schedule(<blockM = 64, blockN = 32>) : !t, !t, !t
  return %o : !t
}
// No other schedule would do.
func.func @listed_blocks(%q: !t, %c: tensor<1x1x3xi32>, %i: tensor<1x1x3x2xi32>) -> !t {
  // expected-error @below {{listed-blocks: expects listed blocks of a multiple of 16 queries, which 'mma.sync.m16n8k16' multiplies at once, but got 24}}
  %o = attn.attention %q, %q, %q blocks(%c, %i, [24, 32] : tensor<1x1x3xi32>, tensor<1x1x3x2xi32>) schedule(<blockM = 64, blockN = 32>) : !t, !t, !t
  return %o : !t
}
func.func @listed_blocks_of_keys(%q: !t, %c: tensor<1x1x2xi32>, %i: tensor<1x1x2x8xi32>) -> !t {
  // expected-error @below {{listed-blocks: expects listed blocks of a multiple of 16 keys, which 'mma.sync.m16n8k16' multiplies at once, but got 8}}
  %o = attn.attention %q, %q, %q blocks(%c, %i, [32, 8] : tensor<1x1x2xi32>, tensor<1x1x2x8xi32>) schedule(<blockM = 32, blockN = 32, numWarps = 2>) : !t, !t, !t
  return %o : !t
}
// One block of queries has one list, whatever the tile.
func.func @one_query_block(%q: !t, %c: tensor<1x1x1xi32>, %i: tensor<1x1x1x2xi32>) -> !t {
  %o = attn.attention %q, %q, %q blocks(%c, %i, [96, 32] : tensor<1x1x1xi32>, tensor<1x1x1x2xi32>) schedule(<blockM = 64, blockN = 32>) : !t, !t, !t
  return %o : !t
}
// The same where a length is at most that of a block, but not where it may be more.
func.func @one_query_block_at_most(%q: tensor<1x1x?x64xf16>, %k: !t, %c: tensor<1x1x1xi32>, %i: tensor<1x1x1x2xi32>) -> tensor<1x1x?x64xf16> {
  %c2 = arith.constant 2 : index
  %c96 = arith.constant 96 : index
  %queries = tensor.dim %q, %c2 : tensor<1x1x?x64xf16>
  %few = arith.cmpi ule, %queries, %c96 : index
  cf.assert %few, "expects at most 96 queries"
  %o = attn.attention %q, %k, %k blocks(%c, %i, [96, 32] : tensor<1x1x1xi32>, tensor<1x1x1x2xi32>) schedule(<blockM = 64, blockN = 32>) : tensor<1x1x?x64xf16>, !t, !t
  return %o : tensor<1x1x?x64xf16>
}
func.func @query_blocks(%q: tensor<1x1x?x64xf16>, %k: !t, %c: tensor<1x1x1xi32>, %i: tensor<1x1x1x2xi32>) -> tensor<1x1x?x64xf16> {
  %c2 = arith.constant 2 : index
  %c97 = arith.constant 97 : index
  %queries = tensor.dim %q, %c2 : tensor<1x1x?x64xf16>
  %few = arith.cmpi ule, %queries, %c97 : index
  cf.assert %few, "expects at most 97 queries"
  // expected-error @below {{listed-queries: expects block-m to divide the 96 queries of a listed block, but got 64}}
  %o = attn.attention %q, %k, %k blocks(%c, %i, [96, 32] : tensor<1x1x1xi32>, tensor<1x1x1x2xi32>) schedule(<blockM = 64, blockN = 32>) : tensor<1x1x?x64xf16>, !t, !t
  return %o : tensor<1x1x?x64xf16>
}
func.func @cluster_of_lists(%q: !t, %c: tensor<1x1x1xi32>, %i: tensor<1x1x1x1xi32>) -> !t {
  // expected-error @below {{cluster-of-masked: expects cluster to be 1 where a mask may show query tiles different keys, but got 2}}
  %o = attn.attention %q, %q, %q blocks(%c, %i, [64, 64] : tensor<1x1x1xi32>, tensor<1x1x1x1xi32>) schedule(<blockM = 64, mmaWarps = 4, producerWarps = 4, qInRegisters = 0, cluster = 2>) : !t, !t, !t
  return %o : !t
}
func.func @list_no_mask(%q: !t) -> !t {
  // expected-error @below {{nothing-to-list: expects list-blocks to be 0 but for a mask without lists of blocks, lengths or pages, but got 1}}
  %o = attn.attention %q, %q, %q schedule(<blockM = 64, listBlocks = 1>) : !t, !t, !t
  return %o : !t
}
func.func @list_lengths(%q: !t, %lengths: tensor<1xi32>) -> !t {
  // expected-error @below {{nothing-to-list: expects list-blocks to be 0}}
  %o = attn.attention %q, %q, %q causal(top_left) key_lengths(%lengths : tensor<1xi32>) schedule(<blockM = 64, listBlocks = 1>) : !t, !t, !t
  return %o : !t
}
func.func @list_any_number(%q: !t, %k: tensor<1x1x?x64xf16>) -> !t {
  %o = attn.attention %q, %k, %k causal(top_left) schedule(<blockM = 64, listBlocks = 1>) : !t, tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16>
  return %o : !t
}

// Packed queries.
func.func @output_of_packed_queries(%q: !t, %s: tensor<3xi32>) -> !t {
  // expected-error @below {{output-of-packed-queries: expects o-in-shared to be registers where queries are packed, for a TMA box does not end with a sequence, but got buffer}}
  %o = attn.attention %q, %q, %q query_starts(%s : tensor<3xi32>) key_starts(%s : tensor<3xi32>) schedule(<blockM = 64, blockN = 64, mmaWarps = 4, qInRegisters = 0, oInShared = buffer>) : !t, !t, !t
  return %o : !t
}
func.func @cluster_of_packed_queries(%q: !t, %s: tensor<3xi32>) -> !t {
  // expected-error @below {{cluster-of-masked: expects cluster to be 1 where numbers of queries may show query tiles different keys, but got 2}}
  %o = attn.attention %q, %q, %q query_starts(%s : tensor<3xi32>) key_starts(%s : tensor<3xi32>) schedule(<blockM = 64, blockN = 64, mmaWarps = 4, qInRegisters = 0, producerWarps = 4, persistent = static, cluster = 2>) : !t, !t, !t
  return %o : !t
}
func.func @split_of_packed_sinks(%q: !t, %s: tensor<3xi32>, %sinks: tensor<1xf32>) -> !t {
  // expected-error @below {{split-of-packed-sinks: expects split-k to be 1 where packed queries have sinks, for who merges parts does not know where sequences end, but got 2}}
  %o = attn.attention %q, %q, %q query_starts(%s : tensor<3xi32>) key_starts(%s : tensor<3xi32>) sinks(%sinks : tensor<1xf32>) schedule(<blockM = 64, blockN = 64, splitK = 2>) : !t, !t, !t
  return %o : !t
}
func.func @split_of_packed(%q: !t, %s: tensor<3xi32>) -> !t {
  %o = attn.attention %q, %q, %q query_starts(%s : tensor<3xi32>) key_starts(%s : tensor<3xi32>) schedule(<blockM = 64, blockN = 64, splitK = 2>) : !t, !t, !t
  return %o : !t
}

// Equal shares of all blocks.
func.func @shares_of_tiles(%q: !t, %n: tensor<1xi32>) -> !t {
  // expected-error @below {{shares-of-tiles: expects persistent to be static where split-k is 0, but got dynamic}}
  %o = attn.attention %q, %q, %q key_lengths(%n : tensor<1xi32>) schedule(<blockM = 64, blockN = 64, mmaWarps = 4, qInRegisters = 0, producerWarps = 4, persistent = dynamic, splitK = 0>) : !t, !t, !t
  return %o : !t
}
func.func @merge_of_shares(%q: !t, %n: tensor<1xi32>) -> !t {
  // expected-error @below {{merge-of-shares: expects merge to be kernel where split-k is 0, for how many share a tile only the first of them knows, but got last}}
  %o = attn.attention %q, %q, %q key_lengths(%n : tensor<1xi32>) schedule(<blockM = 128, blockN = 64, mmaWarps = 4, qInRegisters = 0, producerWarps = 4, persistent = static, splitK = 0, merge = last>) : !t, !t, !t
  return %o : !t
}

// Merges in the last workgroup of a tile.
func.func @merge_of_warpgroups(%q: !t) -> !t {
  // expected-error @below {{merge-of-warpgroups: expects merge to be kernel where 2 warpgroups multiply beside producers, for each has a barrier of its own, but got last}}
  %o = attn.attention %q, %q, %q schedule(<blockM = 128, blockN = 64, numWarps = 8, mmaWarps = 4, qInRegisters = 0, producerWarps = 4, splitK = 2, merge = last>) : !t, !t, !t
  return %o : !t
}
func.func @merge_without_producers(%q: !t) -> !t {
  %o = attn.attention %q, %q, %q schedule(<blockM = 128, blockN = 64, numWarps = 8, mmaWarps = 4, qInRegisters = 0, splitK = 2, merge = last>) : !t, !t, !t
  return %o : !t
}
func.func @merge_of_one(%q: !t) -> !t {
  %o = attn.attention %q, %q, %q schedule(<blockM = 64, blockN = 64, merge = last>) : !t, !t, !t
  return %o : !t
}
func.func @shares_of_packed(%q: !t, %s: tensor<3xi32>) -> !t {
  // expected-error @below {{shares-of-few-queries: expects split-k to be at least 1 but where at most 64 queries a head, block-m, and the numbers of heads are static, queries are not packed, no lists say which blocks there are, heads see the same keys, and cluster is 1}}
  %o = attn.attention %q, %q, %q query_starts(%s : tensor<3xi32>) key_starts(%s : tensor<3xi32>) schedule(<blockM = 64, blockN = 64, mmaWarps = 4, qInRegisters = 0, producerWarps = 4, persistent = static, splitK = 0>) : !t, !t, !t
  return %o : !t
}

// Columns of the output that warpgroups share, and values that are columns of the keys.
!long = tensor<1x1x64x512xf16>
!key = tensor<1x1x64x576xf16>
func.func @longer_than_registers(%q: !long) -> !long {
  // expected-error @below {{register-overflow: expects accumulators of at most 255 registers a thread on 'sm_90a', but got 264}}
  %o = attn.attention %q, %q, %q schedule(<blockM = 64, blockN = 16, numWarps = 4, mmaWarps = 4, producerWarps = 4, kStages = 1, vStages = 1, qInRegisters = 0>) : !long, !long, !long
  return %o : !long
}
func.func @shared_columns(%q: !long) -> !long {
  %o = attn.attention %q, %q, %q schedule(<blockM = 64, blockN = 32, numWarps = 8, mmaWarps = 4, producerWarps = 4, qInRegisters = 0, warpsN = 2>) : !long, !long, !long
  return %o : !long
}
func.func @odd_sharers(%q: !long) -> !long {
  // expected-error @below {{warps-n: expects warps-n to divide the 3 warpgroups, but got warps-n of 2}}
  %o = attn.attention %q, %q, %q schedule(<blockM = 64, blockN = 32, numWarps = 12, mmaWarps = 4, qInRegisters = 0, kStages = 1, warpsN = 2>) : !long, !long, !long
  return %o : !long
}
func.func @rows_of_sharers(%q: !long) -> !long {
  // expected-error @below {{rows-per-warp: expects block-m to be a multiple of 64 rows (1 warpgroups of 64), but got 32}}
  %o = attn.attention %q, %q, %q schedule(<blockM = 32, blockN = 32, numWarps = 8, mmaWarps = 4, qInRegisters = 0, kStages = 1, warpsN = 2>) : !long, !long, !long
  return %o : !long
}
func.func @few_columns(%q: !wide) -> !wide {
  // expected-error @below {{columns-per-warp: expects an output of a multiple of 256 columns, 64 for each of 4 warpgroups, but got 128}}
  %o = attn.attention %q, %q, %q schedule(<blockM = 64, blockN = 32, numWarps = 16, mmaWarps = 4, qInRegisters = 0, warpsN = 4>) : !wide, !wide, !wide
  return %o : !wide
}
func.func @scores_of_nobody(%q: !wide) -> !wide {
  // expected-error @below {{warps-n: expects warps-n + 1 to divide the 2 warpgroups, of which some compute scores where p-in-registers is 0, but got warps-n of 2}}
  %o = attn.attention %q, %q, %q schedule(<blockM = 64, blockN = 32, numWarps = 8, mmaWarps = 4, producerWarps = 4, qInRegisters = 0, pInRegisters = 0, warpsN = 2>) : !wide, !wide, !wide
  return %o : !wide
}
func.func @shared_weights(%q: !wide) -> !wide {
  // expected-error @below {{weights-of-shared-columns: expects p-in-registers where warps-n is 2, but for warpgroups beside producers, of which one role hands weights over to the others, but got 0}}
  %o = attn.attention %q, %q, %q schedule(<blockM = 64, blockN = 32, numWarps = 12, mmaWarps = 4, qInRegisters = 0, pInRegisters = 0, warpsN = 2>) : !wide, !wide, !wide
  return %o : !wide
}
func.func @handed_weights(%q: !wide) -> !wide {
  // expected-error @below {{overlap-of-shared-columns: expects overlap to be none where a role hands weights over, but got softmax}}
  %o = attn.attention %q, %q, %q schedule(<blockM = 64, blockN = 32, numWarps = 12, mmaWarps = 4, producerWarps = 4, qInRegisters = 0, pInRegisters = 0, warpsN = 2, overlap = softmax>) : !wide, !wide, !wide
  return %o : !wide
}
func.func @shared_output(%q: !wide) -> !wide {
  // expected-error @below {{output-of-shared-columns: expects o-in-shared to be registers where warps-n is 2, for a TMA box has whole rows of a warpgroup, but got buffer}}
  %o = attn.attention %q, %q, %q schedule(<blockM = 64, blockN = 32, numWarps = 8, mmaWarps = 4, qInRegisters = 0, oInShared = buffer, warpsN = 2>) : !wide, !wide, !wide
  return %o : !wide
}
func.func @latent(%q: !key) -> !long {
  %o = attn.attention %q, %q, %q latent(512) schedule(<blockM = 64, numWarps = 8, mmaWarps = 4, producerWarps = 4, qInRegisters = 0, vStages = 4, warpsN = 2>) : !key, !key, !key
  return %o : !long
}
func.func @latent_within_an_atom(%q: !key) -> tensor<1x1x64x200xf16> {
  // expected-error @below {{latent-columns: expects values that are a multiple of 16 columns of the keys, but got 200}}
  %o = attn.attention %q, %q, %q latent(200) schedule(<blockM = 64, blockN = 16, mmaWarps = 4, kStages = 1, qInRegisters = 0>) : !key, !key, !key
  return %o : tensor<1x1x64x200xf16>
}
func.func @latent_within_an_instruction(%q: !key) -> tensor<1x1x64x200xf16> {
  // expected-error @below {{latent-columns: expects values that are a multiple of 16 columns of the keys, but got 200}}
  %o = attn.attention %q, %q, %q latent(200) schedule(<blockM = 64, blockN = 16, kStages = 1>) : !key, !key, !key
  return %o : tensor<1x1x64x200xf16>
}
func.func @widening_for_warpgroups(%q: !t, %k: tensor<1x1x64x64xf8E4M3FN>) -> !t {
  // expected-error @below {{widening-for-warpgroups: expects mma-warps to be 1, or producer-warps to be at least 4, half of which widen, where keys of f8E4M3FN are widened to f16, but got 4 and 0}}
  %o = attn.attention %q, %k, %k schedule(<blockM = 64, mmaWarps = 4, qInRegisters = 0>) : !t, tensor<1x1x64x64xf8E4M3FN>, tensor<1x1x64x64xf8E4M3FN>
  return %o : !t
}
func.func @widening_beside_warpgroups(%q: !t, %k: tensor<1x1x64x64xf8E4M3FN>) -> !t {
  %o = attn.attention %q, %k, %k schedule(<blockM = 64, mmaWarps = 4, producerWarps = 4, qInRegisters = 0>) : !t, tensor<1x1x64x64xf8E4M3FN>, tensor<1x1x64x64xf8E4M3FN>
  return %o : !t
}
func.func @latent_of_two_types(%q: tensor<1x1x64x64xbf16>, %k: tensor<1x1x64x64xf8E4M3FN>) -> tensor<1x1x64x32xbf16> {
  // expected-error @below {{latent-of-two-types: expects mma-warps to be 1 where latent rows are widened to bf16 as keys and to f16 as values, but got 4}}
  %o = attn.attention %q, %k, %k latent(32) schedule(<blockM = 64, mmaWarps = 4, producerWarps = 4, qInRegisters = 0>) : tensor<1x1x64x64xbf16>, tensor<1x1x64x64xf8E4M3FN>, tensor<1x1x64x64xf8E4M3FN>
  return %o : tensor<1x1x64x32xbf16>
}
func.func @widening_by_warps(%q: !t, %k: tensor<1x1x64x64xf8E4M3FN>) -> !t {
  %o = attn.attention %q, %k, %q schedule(<blockM = 64>) : !t, tensor<1x1x64x64xf8E4M3FN>, !t
  return %o : !t
}
func.func @no_widening(%q: !t, %v: tensor<1x1x64x64xbf16>) -> !t {
  // expected-error @below {{no-widening: expects values of the element type that they are multiplied with or of fewer bits, but got bf16 beside f16}}
  %o = attn.attention %q, %q, %v schedule(<blockM = 64>) : !t, !t, tensor<1x1x64x64xbf16>
  return %o : !t
}
!narrow = tensor<1x1x64x64xf8E4M3FN>
func.func @narrow_query(%q: !narrow) -> tensor<1x1x64x64xbf16> {
  %o = attn.attention %q, %q, %q schedule(<blockM = 64>) : !narrow, !narrow, !narrow
  return %o : tensor<1x1x64x64xbf16>
}
func.func @narrow_query_alone(%q: !narrow, %k: tensor<1x1x64x64xbf16>) -> tensor<1x1x64x64xbf16> {
  // expected-error @below {{no-widening: expects keys of the element type that they are multiplied with or of fewer bits, but got bf16 beside f8E4M3FN}}
  %o = attn.attention %q, %k, %k schedule(<blockM = 64>) : !narrow, tensor<1x1x64x64xbf16>, tensor<1x1x64x64xbf16>
  return %o : tensor<1x1x64x64xbf16>
}
func.func @narrow_query_for_warpgroups(%q: !narrow, %v: tensor<1x1x64x64xbf16>) -> tensor<1x1x64x64xbf16> {
  %o = attn.attention %q, %q, %v schedule(<blockM = 64, mmaWarps = 4, qInRegisters = 0>) : !narrow, !narrow, tensor<1x1x64x64xbf16>
  return %o : tensor<1x1x64x64xbf16>
}
func.func @narrow_types_for_warpgroups(%q: !narrow, %k: tensor<1x1x64x64xf8E5M2>, %v: tensor<1x1x64x64xbf16>) -> tensor<1x1x64x64xbf16> {
  // expected-error @below {{no-matrix-instruction: expects an element type that 'sm_90a' has a matrix instruction of 4 warps for, but got f8E4M3FN beside keys of f8E5M2}}
  %o = attn.attention %q, %k, %v schedule(<blockM = 64, mmaWarps = 4, qInRegisters = 0>) : !narrow, tensor<1x1x64x64xf8E5M2>, tensor<1x1x64x64xbf16>
  return %o : tensor<1x1x64x64xbf16>
}
func.func @narrow_values_for_warpgroups(%q: !narrow) -> tensor<1x1x64x64xbf16> {
  // expected-error @below {{widening-for-warpgroups: expects mma-warps to be 1, or producer-warps to be at least 4, half of which widen, where values of f8E4M3FN are widened to f16, but got 4 and 0}}
  %o = attn.attention %q, %q, %q schedule(<blockM = 64, mmaWarps = 4, qInRegisters = 0>) : !narrow, !narrow, !narrow
  return %o : tensor<1x1x64x64xbf16>
}
!two = tensor<1x1x128x64xf8E4M3FN>
func.func @columns(%q: !two) -> tensor<1x1x128x64xbf16> {
  %o = attn.attention %q, %q, %q weights(f8E4M3FN) schedule(<blockM = 128, numWarps = 8, mmaWarps = 4, producerWarps = 4, qInRegisters = 0, overlap = "ping-pong", oInShared = buffer>) : !two, !two, !two
  return %o : tensor<1x1x128x64xbf16>
}
func.func @weights_of_columns(%q: !two) -> tensor<1x1x128x64xbf16> {
  // expected-error @below {{weights-of-columns: expects p-in-registers where weights of f8E4M3FN are multiplied by 4 warps, but got 0}}
  %o = attn.attention %q, %q, %q weights(f8E4M3FN) schedule(<blockM = 128, numWarps = 8, mmaWarps = 4, producerWarps = 4, qInRegisters = 0, pInRegisters = 0>) : !two, !two, !two
  return %o : tensor<1x1x128x64xbf16>
}
func.func @output_in_narrow_slot(%q: !two) -> tensor<1x1x128x64xbf16> {
  // expected-error @below {{output-in-query-slot: expects an output of the queries' f8E4M3FN where o-in-shared is query-slot, but got bf16}}
  %o = attn.attention %q, %q, %q weights(f8E4M3FN) schedule(<blockM = 128, numWarps = 8, mmaWarps = 4, producerWarps = 4, qInRegisters = 0, oInShared = "query-slot">) : !two, !two, !two
  return %o : tensor<1x1x128x64xbf16>
}
func.func @depth_of_columns(%q: !two) -> tensor<1x1x128x64xbf16> {
  // expected-error @below {{block-n-multiple: expects block-n to be a multiple of 32 (columns of 'wgmma.m64k32'), but got 48}}
  %o = attn.attention %q, %q, %q weights(f8E4M3FN) schedule(<blockM = 128, blockN = 48, numWarps = 8, mmaWarps = 4, producerWarps = 4, qInRegisters = 0>) : !two, !two, !two
  return %o : tensor<1x1x128x64xbf16>
}
func.func @rows_of_narrow_values(%q: !t, %v: tensor<1x1x64x72xf8E4M3FN>) -> tensor<1x1x64x72xf16> {
  // expected-error @below {{row-alignment: expects rows of query, key and value to start at multiples of 16 bytes for an MMA by 4 warps, but got 8}}
  %o = attn.attention %q, %q, %v weights(f8E4M3FN) schedule(<blockM = 64, mmaWarps = 4, qInRegisters = 0>) : !t, !t, tensor<1x1x64x72xf8E4M3FN>
  return %o : tensor<1x1x64x72xf16>
}
func.func @depth_of_narrow_query(%q: !narrow) -> tensor<1x1x64x64xbf16> {
  // expected-error @below {{block-n-multiple: expects block-n to be a multiple of 32 (depth of 'mma.sync.m16n8k32.x2'), but got 16}}
  %o = attn.attention %q, %q, %q schedule(<blockM = 64, blockN = 16>) : !narrow, !narrow, !narrow
  return %o : tensor<1x1x64x64xbf16>
}
!other = tensor<1x1x64x64xf8E4M3FNUZ>
func.func @query_of_other_chips(%q: !other) -> tensor<1x1x64x64xbf16> {
  // expected-error @below {{no-matrix-instruction: expects an element type that 'sm_90a' has a matrix instruction for, but got f8E4M3FNUZ}}
  %o = attn.attention %q, %q, %q schedule(<blockM = 64>) : !other, !other, !other
  return %o : tensor<1x1x64x64xbf16>
}
func.func @narrow_weights(%q: !t, %k: !narrow) -> !t {
  %o = attn.attention %q, %k, %k weights(f8E5M2) schedule(<blockM = 64>) : !t, !narrow, !narrow
  return %o : !t
}
func.func @narrow_weights_of_wide_values(%q: !t) -> !t {
  // expected-error @below {{no-widening: expects values of the element type that they are multiplied with or of fewer bits, but got f16 beside f8E4M3FN}}
  %o = attn.attention %q, %q, %q weights(f8E4M3FN) schedule(<blockM = 64>) : !t, !t, !t
  return %o : !t
}
func.func @narrow_weights_of_other_chips(%q: !t, %k: !other) -> !t {
  // expected-error @below {{no-matrix-instruction: expects an element type that 'sm_90a' has a matrix instruction for, but got f8E4M3FNUZ}}
  %o = attn.attention %q, %k, %k weights(f8E4M3FNUZ) schedule(<blockM = 64>) : !t, !other, !other
  return %o : !t
}

// Rows that are further apart than bytes are counted in 64 bits.
!far = tensor<1x1x2x64xf16, #attn.strided<[2305843009213693952, 2305843009213693952, 1152921504606846976, 1]>>
!few = tensor<1x1x2x64xf16>
func.func @far_apart(%q: !far) -> !few {
  // expected-error @below {{row-alignment: expects rows of query, key and value to start at multiples of 16 bytes for an MMA by 4 warps, but got 2305843009213693951}}
  %o = attn.attention %q, %q, %q schedule(<blockM = 64, mmaWarps = 4, qInRegisters = 0>) : !far, !far, !far -> !few
  return %o : !few
}
func.func @far_apart_of_gradients(%q: !far, %lse: tensor<1x1x2xf32>) -> !few {
  // expected-error @below {{row-alignment: expects rows of query, key, value and output_grad to start at multiples of 16 bytes for an MMA by 4 warps, but got 2305843009213693951}}
  %g = attn.attention_grad %q, %q, %q, %q, %lse, %q wrt(key) schedule(<form = fused, kvInRegisters = 0, mmaWarps = 4>) : !far, !far, !far, !far, tensor<1x1x2xf32>, !far -> !few
  return %g : !few
}
