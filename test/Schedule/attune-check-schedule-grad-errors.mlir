// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Refusals of schedules of gradients: each rule, with both numbers. Each kernel has knobs of its own, and its own limits.
//
// RUN: attune-opt %s --verify-diagnostics --pass-pipeline="builtin.module(attune-attach-target{chip=sm_90a},attune-check-schedule)"

!t = tensor<1x1x64x64xf16>
!wide = tensor<1x1x64x128xf16>
!lse = tensor<1x1x64xf32>

func.func @rows_of_warps(%q: !t, %lse: !lse) -> !t {
  // expected-error @below {{rows-per-warp: expects kv-block-n to be a multiple of 64 rows (4 warps of 16), but got 16}}
  %g = attn.attention_grad %q, %q, %q, %q, %lse, %q wrt(key) schedule(<kvBlockN = 16>) : !t, !t, !t, !t, !lse, !t
  return %g : !t
}
func.func @visited(%q: !t, %lse: !lse) -> !t {
  // expected-error @below {{rows-per-warp: expects q-block-m to be a multiple of 128 rows (8 warps of 16), but got 64}}
  %g = attn.attention_grad %q, %q, %q, %q, %lse, %q wrt(key) schedule(<kvBlockM = 16, qBlockN = 16, qWarps = 8>) : !t, !t, !t, !t, !lse, !t
  return %g : !t
}
func.func @producer_of_one_warp(%q: !t, %lse: !lse) -> !t {
  // expected-error @below {{one-warp-mma: expects producer-warps to be 0 where mma-warps is 1, but got 4}}
  %g = attn.attention_grad %q, %q, %q, %q, %lse, %q wrt(key) schedule(<producerWarps = 4>) : !t, !t, !t, !t, !lse, !t
  return %g : !t
}
func.func @fused_boxes_of_lengths(%q: !t, %lse: !lse, %lengths: tensor<?xi32>) -> !t {
  %g = attn.attention_grad %q, %q, %q, %q, %lse, %q wrt(key) key_lengths(%lengths : tensor<?xi32>) schedule(<form = fused, kvInRegisters = 0, mmaWarps = 4, kvWarps = 4, kvBlockM = 64, producerWarps = 4>) : !t, !t, !t, !t, !lse, !t
  return %g : !t
}
func.func @numbers_of_boxes_of_lengths(%q: !t, %lse: !lse, %lengths: tensor<?xi32>) -> !t {
  // expected-error @below {{boxes-of-lengths: expects kv-block-m to be a multiple of 32, at most 256, for gradients of batches of different lengths, but got 16}}
  %g = attn.attention_grad %q, %q, %q, %q, %lse, %q wrt(key) key_lengths(%lengths : tensor<?xi32>) schedule(<mmaWarps = 4, kvBlockM = 16>) : !t, !t, !t, !t, !lse, !t
  return %g : !t
}
func.func @gaps_between_boxes(%q: !t, %lse: !lse, %starts: tensor<?xi32>, %lengths: tensor<?xi32>) -> !t {
  // expected-error @below {{boxes-of-lengths: expects mma-warps to be 1 for gradients of packed batches with lengths of their own, but got 4}}
  %g = attn.attention_grad %q, %q, %q, %q, %lse, %q wrt(key) key_lengths(%lengths : tensor<?xi32>) query_starts(%starts : tensor<?xi32>) key_starts(%starts : tensor<?xi32>) schedule(<mmaWarps = 4>) : !t, !t, !t, !t, !lse, !t
  return %g : !t
}
func.func @half_a_group(%q: !t, %lse: !lse) -> !t {
  // expected-error @below {{warps-per-mma: expects kv-warps to be a multiple of 4, the warps of an MMA, but got 2}}
  %g = attn.attention_grad %q, %q, %q, %q, %lse, %q wrt(key) schedule(<mmaWarps = 4, kvWarps = 2, kvBlockN = 32>) : !t, !t, !t, !t, !lse, !t
  return %g : !t
}
func.func @rows_in_registers(%q: !t, %lse: !lse) -> !t {
  // expected-error @below {{rows-in-registers: expects q-in-registers to be 0 where mma-warps is 4, but got 1}}
  %g = attn.attention_grad %q, %q, %q, %q, %lse, %q wrt(key) schedule(<mmaWarps = 4, kvInRegisters = 0>) : !t, !t, !t, !t, !lse, !t
  return %g : !t
}
func.func @accumulators(%q: !wide, %lse: !lse) -> !wide {
  // expected-error @below {{register-overflow: expects accumulators of at most 255 registers a thread on 'sm_90a', but got 768}}
  %g = attn.attention_grad %q, %q, %q, %q, %lse, %q wrt(key) schedule(<kvBlockN = 192, kvBlockM = 128, kvInRegisters = 0>) : !wide, !wide, !wide, !wide, !lse, !wide
  return %g : !wide
}
// One sum alone is too large as well.
func.func @apart(%q: tensor<1x1x64x512xf16>, %lse: !lse) -> tensor<1x1x64x512xf16> {
  // expected-error @below {{register-overflow: expects accumulators of at most 255 registers a thread on 'sm_90a', but got 272}}
  %g = attn.attention_grad %q, %q, %q, %q, %lse, %q wrt(key) schedule(<form = apart, kvBlockM = 16, kvStages = 1, kvInRegisters = 0>) : tensor<1x1x64x512xf16>, tensor<1x1x64x512xf16>, tensor<1x1x64x512xf16>, tensor<1x1x64x512xf16>, !lse, tensor<1x1x64x512xf16>
  return %g : tensor<1x1x64x512xf16>
}
func.func @shared(%q: !wide, %lse: !lse) -> !wide {
  // expected-error @below {{shared-overflow: expects at most 232448 bytes of shared memory on 'sm_90a', but got 298720}}
  %g = attn.attention_grad %q, %q, %q, %q, %lse, %q wrt(key) schedule(<kvBlockN = 192, kvBlockM = 128, kvWarps = 12, kvStages = 3, kvInRegisters = 0, qInRegisters = 0, mmaWarps = 4, producerWarps = 4>) : !wide, !wide, !wide, !wide, !lse, !wide
  return %g : !wide
}
func.func @workgroups(%q: !wide, %lse: !lse) -> !wide {
  // expected-error @below {{shared-per-sm: expects at most 233472 bytes of shared memory on an SM of 'sm_90a', but got 590112 (3 workgroups of 196704)}}
  %g = attn.attention_grad %q, %q, %q, %q, %lse, %q wrt(key) schedule(<qWorkgroupsPerSm = 3, qBlockM = 128, qBlockN = 128, qWarps = 8, kvInRegisters = 0, qInRegisters = 0, mmaWarps = 4, producerWarps = 4>) : !wide, !wide, !wide, !wide, !lse, !wide
  return %g : !wide
}
// Tiles that scores read and add to: through a ring, of one slot where more have no room, and a buffer that the sums of queries may share.
func.func @tiles(%q: tensor<1x1x64x64xbf16>, %lse: !lse, %bias: tensor<64x64xbf16>) -> tensor<64x64xf32> {
  // expected-error @below {{shared-per-sm: expects at most 233472 bytes of shared memory on an SM of 'sm_90a', but got 399696 (3 workgroups of 133232)}}
  %g = attn.attention_grad %q, %q, %q, %q, %lse, %q wrt(%bias : tensor<64x64xbf16>)
    score (%s, %b, %h, %m, %n) {
      %x = tensor.extract %bias[%m, %n] : tensor<64x64xbf16>
      %f = arith.extf %x : bf16 to f32
      %u = arith.addf %s, %f : f32
      attn.yield %u : f32
    } schedule(<form = fused, kvBlockM = 128, kvStages = 1, kvWorkgroupsPerSm = 3, kvInRegisters = 0, mmaWarps = 4, producerWarps = 4>)
    : tensor<1x1x64x64xbf16>, tensor<1x1x64x64xbf16>, tensor<1x1x64x64xbf16>, tensor<1x1x64x64xbf16>, !lse, tensor<1x1x64x64xbf16>
  return %g : tensor<64x64xf32>
}
func.func @shared_buffer(%q: !wide, %lse: !lse, %bias: tensor<64x64xf32>) -> tensor<64x64xf32> {
  // expected-error @below {{shared-per-sm: expects at most 233472 bytes of shared memory on an SM of 'sm_90a', but got 463200 (2 workgroups of 231600)}}
  %g = attn.attention_grad %q, %q, %q, %q, %lse, %q wrt(%bias : tensor<64x64xf32>)
    score (%s, %b, %h, %m, %n) {
      %x = tensor.extract %bias[%m, %n] : tensor<64x64xf32>
      %u = arith.addf %s, %x : f32
      attn.yield %u : f32
    } schedule(<form = fused, kvBlockN = 128, kvWarps = 8, kvWorkgroupsPerSm = 2, kvInRegisters = 0, mmaWarps = 4, producerWarps = 4>)
    : !wide, !wide, !wide, !wide, !lse, !wide
  return %g : tensor<64x64xf32>
}
func.func @threads_of_an_sm(%q: !t, %lse: !lse) -> !t {
  // expected-error @below {{register-overflow: expects accumulators of at most 40 registers a thread on 'sm_90a', but got 48}}
  %g = attn.attention_grad %q, %q, %q, %q, %lse, %q wrt(key) schedule(<qWorkgroupsPerSm = 3, qBlockM = 192, qBlockN = 16, qWarps = 12, qStages = 1, kvWorkgroupsPerSm = 1, kvInRegisters = 0, qInRegisters = 0, mmaWarps = 4, producerWarps = 4>) : !t, !t, !t, !t, !lse, !t
  return %g : !t
}
func.func @wide_mma(%q: tensor<1x1x64x256xf16>, %lse: !lse) -> tensor<1x1x64x256xf16> {
  // expected-error @below {{register-overflow: expects accumulators of at most 255 registers a thread on 'sm_90a', but got 272}}
  %g = attn.attention_grad %q, %q, %q, %q, %lse, %q wrt(key) schedule(<qBlockM = 192, qWarps = 12, qBlockN = 16, qStages = 1, kvBlockM = 16, kvBlockN = 64, kvStages = 1, kvInRegisters = 0, qInRegisters = 0, mmaWarps = 4, producerWarps = 4>) : tensor<1x1x64x256xf16>, tensor<1x1x64x256xf16>, tensor<1x1x64x256xf16>, tensor<1x1x64x256xf16>, !lse, tensor<1x1x64x256xf16>
  return %g : tensor<1x1x64x256xf16>
}
func.func @right(%q: !t, %lse: !lse) -> !t {
  %g = attn.attention_grad %q, %q, %q, %q, %lse, %q wrt(key) schedule(<kvBlockN = 128, kvWarps = 8, qBlockM = 128, qWarps = 8, kvInRegisters = 0, qInRegisters = 0, mmaWarps = 4, producerWarps = 4>) : !t, !t, !t, !t, !lse, !t
  return %g : !t
}
func.func @fused_by_warps(%q: !t, %lse: !lse) -> !t {
  // expected-error @below {{fused-without-groups: expects form to be split or apart where mma-warps is 1, but got fused}}
  %g = attn.attention_grad %q, %q, %q, %q, %lse, %q wrt(key) schedule(<form = fused>) : !t, !t, !t, !t, !lse, !t
  return %g : !t
}
func.func @fused_rows(%q: !t, %lse: !lse) -> !t {
  // expected-error @below {{fused-rows: expects kv-block-m to be a multiple of 64 (rows of 'wgmma.m64k16') where form is fused, but got 32}}
  %g = attn.attention_grad %q, %q, %q, %q, %lse, %q wrt(key) schedule(<form = fused, mmaWarps = 4, kvWarps = 4, kvBlockN = 64, kvBlockM = 32, kvInRegisters = 0>) : !t, !t, !t, !t, !lse, !t
  return %g : !t
}
// Two groups would each multiply half of a swizzle atom of keys; of 128 columns each has one.
func.func @fused_columns(%q: !t, %lse: !lse) -> !t {
  // expected-error @below {{fused-columns: expects a padded head size that is a multiple of 128 where 2 groups of warps share the gradients of 64 queries, but got 64}}
  %g = attn.attention_grad %q, %q, %q, %q, %lse, %q wrt(key) schedule(<form = fused, mmaWarps = 4, kvWarps = 8, kvBlockN = 128, kvBlockM = 64, kvInRegisters = 0>) : !t, !t, !t, !t, !lse, !t
  return %g : !t
}
func.func @whole_atoms(%q: !wide, %lse: !lse) -> !wide {
  %g = attn.attention_grad %q, %q, %q, %q, %lse, %q wrt(key) schedule(<form = fused, mmaWarps = 4, kvWarps = 8, kvBlockN = 128, kvBlockM = 64, kvInRegisters = 0>) : !wide, !wide, !wide, !wide, !lse, !wide
  return %g : !wide
}
func.func @added_in_no_order(%q: !t, %lse: !lse) -> !t {
  // expected-error @below {{fused-deterministic: expects form to be ordered, split or apart for deterministic gradients, but got fused}}
  %g = attn.attention_grad %q, %q, %q, %q, %lse, %q deterministic wrt(key) schedule(<form = fused, kvInRegisters = 0, mmaWarps = 4, kvWarps = 4, kvBlockM = 64, producerWarps = 4>) : !t, !t, !t, !t, !lse, !t
  return %g : !t
}
func.func @added_in_order(%q: !t, %lse: !lse) -> !t {
  %g = attn.attention_grad %q, %q, %q, %q, %lse, %q deterministic causal(bottom_right) wrt(key) schedule(<form = ordered, kvInRegisters = 0, mmaWarps = 4, kvWarps = 4, kvBlockM = 64, producerWarps = 4>) : !t, !t, !t, !t, !lse, !t
  return %g : !t
}
func.func @ordered_by_warps(%q: !t, %lse: !lse) -> !t {
  // expected-error @below {{fused-without-groups: expects form to be split or apart where mma-warps is 1, but got ordered}}
  %g = attn.attention_grad %q, %q, %q, %q, %lse, %q wrt(key) schedule(<form = ordered>) : !t, !t, !t, !t, !lse, !t
  return %g : !t
}
func.func @nobody_waits(%q: !t, %lse: !lse) -> !t {
  // expected-error @below {{ordered-without-producer: expects producer-warps of at least 2, half of which store, where form is ordered, but got 0}}
  %g = attn.attention_grad %q, %q, %q, %q, %lse, %q wrt(key) schedule(<form = ordered, kvInRegisters = 0, mmaWarps = 4, kvWarps = 4, kvBlockM = 64>) : !t, !t, !t, !t, !lse, !t
  return %g : !t
}
func.func @nobody_stores(%q: !t, %lse: !lse) -> !t {
  // expected-error @below {{ordered-without-producer: expects producer-warps of at least 2, half of which store, where form is ordered, but got 1}}
  %g = attn.attention_grad %q, %q, %q, %q, %lse, %q wrt(key) schedule(<form = ordered, kvInRegisters = 0, mmaWarps = 4, producerWarps = 1, kvWarps = 4, kvBlockM = 64>) : !t, !t, !t, !t, !lse, !t
  return %g : !t
}
func.func @turns_of_lengths(%q: !t, %lse: !lse, %lengths: tensor<?xi32>) -> !t {
  %g = attn.attention_grad %q, %q, %q, %q, %lse, %q deterministic wrt(key) query_lengths(%lengths : tensor<?xi32>) key_lengths(%lengths : tensor<?xi32>) schedule(<form = ordered, kvInRegisters = 0, mmaWarps = 4, kvWarps = 4, kvBlockM = 64, producerWarps = 4>) : !t, !t, !t, !t, !lse, !t
  return %g : !t
}
func.func @turns_of_packed_sequences(%q: !t, %lse: !lse, %starts: tensor<?xi32>) -> !t {
  %g = attn.attention_grad %q, %q, %q, %q, %lse, %q deterministic wrt(key) query_starts(%starts : tensor<?xi32>) key_starts(%starts : tensor<?xi32>) schedule(<form = ordered, kvInRegisters = 0, mmaWarps = 4, kvWarps = 4, kvBlockM = 64, producerWarps = 4>) : !t, !t, !t, !t, !lse, !t
  return %g : !t
}
func.func @turns_between_gaps(%q: !t, %lse: !lse, %starts: tensor<?xi32>, %lengths: tensor<?xi32>) -> !t {
  // expected-error @below {{boxes-of-lengths: expects mma-warps to be 1 for gradients of packed batches with lengths of their own, but got 4}}
  %g = attn.attention_grad %q, %q, %q, %q, %lse, %q deterministic wrt(key) query_starts(%starts : tensor<?xi32>) query_lengths(%lengths : tensor<?xi32>) schedule(<form = ordered, kvInRegisters = 0, mmaWarps = 4, kvWarps = 4, kvBlockM = 64, producerWarps = 4>) : !t, !t, !t, !t, !lse, !t
  return %g : !t
}
func.func @turns_of_packed_unions(%q: !t, %lse: !lse, %starts: tensor<?xi32>) -> !t {
  // expected-error @below {{ordered-mask: expects a mask of comparisons}}
  %g = attn.attention_grad %q, %q, %q, %q, %lse, %q deterministic wrt(key) query_starts(%starts : tensor<?xi32>) key_starts(%starts : tensor<?xi32>)
    mask (%b, %h, %m, %n) {
      %c4 = arith.constant 4 : index
      %sink = arith.cmpi slt, %n, %c4 : index
      %past = arith.cmpi sge, %m, %n : index
      %any = arith.ori %sink, %past : i1
      attn.yield %any : i1
    } schedule(<form = ordered, kvInRegisters = 0, mmaWarps = 4, kvWarps = 4, kvBlockM = 64, producerWarps = 4>) : !t, !t, !t, !t, !lse, !t
  return %g : !t
}
// Whose turn it is has to be known from either side.
func.func @turns_of_a_union(%q: !t, %lse: !lse) -> !t {
  // expected-error @below {{ordered-mask: expects a mask of comparisons of sums of positions, all of which hold, where form is ordered, for it tells whose turn it is, but got another one}}
  %g = attn.attention_grad %q, %q, %q, %q, %lse, %q wrt(key)
    mask (%b, %h, %m, %n) {
      %c4 = arith.constant 4 : index
      %sink = arith.cmpi slt, %n, %c4 : index
      %past = arith.cmpi sge, %m, %n : index
      %any = arith.ori %sink, %past : i1
      attn.yield %any : i1
    } schedule(<form = ordered, kvInRegisters = 0, mmaWarps = 4, kvWarps = 4, kvBlockM = 64, producerWarps = 4>) : !t, !t, !t, !t, !lse, !t
  return %g : !t
}
func.func @turns_of_documents(%q: !t, %lse: !lse, %of: tensor<64xi32>) -> !t {
  // expected-error @below {{ordered-mask: expects a mask of comparisons}}
  %g = attn.attention_grad %q, %q, %q, %q, %lse, %q wrt(key)
    mask (%b, %h, %m, %n) {
      %i = tensor.extract %of[%m] : tensor<64xi32>
      %j = tensor.extract %of[%n] : tensor<64xi32>
      %same = arith.cmpi eq, %i, %j : i32
      attn.yield %same : i1
    } schedule(<form = ordered, kvInRegisters = 0, mmaWarps = 4, kvWarps = 4, kvBlockM = 64, producerWarps = 4>) : !t, !t, !t, !t, !lse, !t
  return %g : !t
}
func.func @turns_of_every_third(%q: !t, %lse: !lse) -> !t {
  // expected-error @below {{ordered-mask: expects a mask of comparisons}}
  %g = attn.attention_grad %q, %q, %q, %q, %lse, %q wrt(key)
    mask (%b, %h, %m, %n) {
      %c3 = arith.constant 3 : index
      %part = arith.remui %n, %c3 : index
      %sees = arith.cmpi sge, %m, %part : index
      attn.yield %sees : i1
    } schedule(<form = ordered, kvInRegisters = 0, mmaWarps = 4, kvWarps = 4, kvBlockM = 64, producerWarps = 4>) : !t, !t, !t, !t, !lse, !t
  return %g : !t
}
func.func @turns_of_a_band(%q: !t, %lse: !lse) -> !t {
  %g = attn.attention_grad %q, %q, %q, %q, %lse, %q causal(bottom_right) wrt(key)
    mask (%b, %h, %m, %n) {
      %c40 = arith.constant 40 : i32
      %i = arith.index_cast %m : index to i32
      %j = arith.index_cast %n : index to i32
      %d = arith.subi %i, %j : i32
      %near = arith.cmpi slt, %d, %c40 : i32
      %c60 = arith.constant 60 : index
      %early = arith.cmpi slt, %n, %c60 : index
      %both = arith.andi %near, %early : i1
      attn.yield %both : i1
    } schedule(<form = ordered, kvInRegisters = 0, mmaWarps = 4, kvWarps = 4, kvBlockM = 64, producerWarps = 4>) : !t, !t, !t, !t, !lse, !t
  return %g : !t
}
func.func @round_of_no_sums(%q: !t, %lse: !lse) -> !t {
  // expected-error @below {{round-of-no-sums: expects form to be fused where round-last is 1, but got ordered}}
  %g = attn.attention_grad %q, %q, %q, %q, %lse, %q wrt(key) schedule(<form = ordered, roundLast = 1, kvInRegisters = 0, mmaWarps = 4, kvWarps = 4, kvBlockM = 64, producerWarps = 4>) : !t, !t, !t, !t, !lse, !t
  return %g : !t
}
func.func @round_of_lengths(%q: !t, %lse: !lse, %lengths: tensor<?xi32>) -> !t {
  // expected-error @below {{round-of-lengths: expects round-last to be 0 for gradients of batches of different lengths, but got 1}}
  %g = attn.attention_grad %q, %q, %q, %q, %lse, %q wrt(key) key_lengths(%lengths : tensor<?xi32>) schedule(<form = fused, roundLast = 1, kvInRegisters = 0, mmaWarps = 4, kvWarps = 4, kvBlockM = 64, producerWarps = 4>) : !t, !t, !t, !t, !lse, !t
  return %g : !t
}
func.func @round(%q: !t, %lse: !lse) -> !t {
  %g = attn.attention_grad %q, %q, %q, %q, %lse, %q wrt(key) schedule(<form = fused, roundLast = 1, kvInRegisters = 0, mmaWarps = 4, kvWarps = 4, kvBlockM = 64, producerWarps = 4>) : !t, !t, !t, !t, !lse, !t
  return %g : !t
}
func.func @ahead_without_producer(%q: !t, %lse: !lse) -> !t {
  // expected-error @below {{ahead-without-producer: expects producer-warps where scores-ahead is 1, but got 0}}
  %g = attn.attention_grad %q, %q, %q, %q, %lse, %q wrt(key) schedule(<scoresAhead = 1>) : !t, !t, !t, !t, !lse, !t
  return %g : !t
}
func.func @ahead_of_one_slot(%q: !t, %lse: !lse) -> !t {
  // expected-error @below {{ahead-of-one-slot: expects q-stages of at least 2 where scores-ahead is 1, but got 1}}
  %g = attn.attention_grad %q, %q, %q, %q, %lse, %q wrt(key) schedule(<scoresAhead = 1, qStages = 1, kvInRegisters = 0, qInRegisters = 0, mmaWarps = 4, producerWarps = 4>) : !t, !t, !t, !t, !lse, !t
  return %g : !t
}
func.func @ahead(%q: !t, %lse: !lse) -> !t {
  %g = attn.attention_grad %q, %q, %q, %q, %lse, %q wrt(key) schedule(<scoresAhead = 1, kvInRegisters = 0, qInRegisters = 0, mmaWarps = 4, producerWarps = 4>) : !t, !t, !t, !t, !lse, !t
  return %g : !t
}

// Blocks that kernels list.
func.func @list_no_mask(%q: !t, %lse: !lse) -> !t {
  // expected-error @below {{nothing-to-list: expects list-blocks to be 0 but for a mask without lists of blocks or lengths, but got 1}}
  %g = attn.attention_grad %q, %q, %q, %q, %lse, %q wrt(key) schedule(<listBlocks = 1>) : !t, !t, !t, !t, !lse, !t
  return %g : !t
}
func.func @list_lengths(%q: !t, %lse: !lse, %lengths: tensor<?xi32>) -> !t {
  // expected-error @below {{nothing-to-list: expects list-blocks to be 0}}
  %g = attn.attention_grad %q, %q, %q, %q, %lse, %q causal(top_left) wrt(key) key_lengths(%lengths : tensor<?xi32>) schedule(<listBlocks = 1>) : !t, !t, !t, !t, !lse, !t
  return %g : !t
}
func.func @list_in_order(%q: !t, %lse: !lse) -> !t {
  // expected-error @below {{ordered-lists: expects form to be fused, split or apart where list-blocks is 1, for lists of queries do not say how many blocks of keys have their turns before, but got ordered}}
  %g = attn.attention_grad %q, %q, %q, %q, %lse, %q causal(top_left) wrt(key) schedule(<form = ordered, kvInRegisters = 0, mmaWarps = 4, kvWarps = 4, kvBlockM = 64, producerWarps = 4, listBlocks = 1>) : !t, !t, !t, !t, !lse, !t
  return %g : !t
}
func.func @list(%q: !t, %lse: !lse) -> !t {
  %g = attn.attention_grad %q, %q, %q, %q, %lse, %q causal(top_left) wrt(key) schedule(<listBlocks = 1>) : !t, !t, !t, !t, !lse, !t
  return %g : !t
}

// Groups that share scores: three have no rows of shared memory in eights, and two no whole swizzle atoms of 96 columns.
!shared = tensor<1x1x192x128xf16>
!shared_192 = tensor<1x1x192x192xf16>
!shared_lse = tensor<1x1x192xf32>
func.func @rows_of_shared_scores(%q: !shared_192, %lse: !shared_lse) -> !shared_192 {
  // expected-error @below {{shared-rows: expects kv-block-n to be a multiple of 24 where 3 groups of warps share scores, but got 64}}
  %g = attn.attention_grad %q, %q, %q, %q, %lse, %q wrt(key) schedule(<kvBlockM = 96, kvWarps = 12, kvStages = 1, kvInRegisters = 0, qInRegisters = 0, mmaWarps = 4, producerWarps = 4>) : !shared_192, !shared_192, !shared_192, !shared_192, !shared_lse, !shared_192
  return %g : !shared_192
}
func.func @columns_of_shared_scores(%q: !shared, %lse: !shared_lse) -> !shared {
  // expected-error @below {{shared-scores: expects q-block-n that give each of 2 groups of warps whole swizzle atoms of 32 columns of scores, or a part of one, but got 96}}
  %g = attn.attention_grad %q, %q, %q, %q, %lse, %q wrt(query) schedule(<kvInRegisters = 0, qBlockN = 96, qWarps = 8, qStages = 1, qInRegisters = 0, mmaWarps = 4, producerWarps = 4>) : !shared, !shared, !shared, !shared, !shared_lse, !shared
  return %g : !shared
}
