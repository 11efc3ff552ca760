// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is chosen for few queries of 8 bits, as for those of 16: one warp, with the rows of one instruction, for each warp
// that multiplies reads all keys and values. For many, warpgroups multiply, in 8 bits where weights have these, too, and else what a role of its own widens.
//
// RUN: attune-opt %s --pass-pipeline="builtin.module(attune-attach-target{chip=sm_90a},attune-select-schedule)" | FileCheck %s
// RUN: attune-opt %s --pass-pipeline="builtin.module(attune-attach-target{chip=sm_90a},attune-select-schedule{sizes=batch=1,seq-q=16384,seq-k=16384})" | FileCheck %s --check-prefix=LONG
// RUN: attune-opt %s --pass-pipeline="builtin.module(attune-attach-target{chip=sm_90a},attune-select-schedule{sizes=batch=16,seq-q=1024,seq-k=1024})" | FileCheck %s --check-prefix=SHORT

// CHECK-LABEL: func.func @narrow_query
// CHECK: schedule(<blockM = 16, numWarps = 1, kStages = 1, vStages = 1, rescale = 8,
func.func @narrow_query(%q: tensor<16x32x1x128xf8E4M3FN>, %k: tensor<16x8x4096x128xf8E4M3FN>) -> tensor<16x32x1x128xbf16> {
  %o = attn.attention %q, %k, %k : tensor<16x32x1x128xf8E4M3FN>, tensor<16x8x4096x128xf8E4M3FN>, tensor<16x8x4096x128xf8E4M3FN>
  return %o : tensor<16x32x1x128xbf16>
}

// Of 4 bits, as many bytes in two blocks.
// CHECK-LABEL: func.func @packed
// CHECK: schedule(<blockM = 16, blockN = 32, numWarps = 1, rescale = 8,
func.func @packed(%q: tensor<16x32x1x128xbf16>, %k: tensor<16x8x4096x64xi8>) -> tensor<16x32x1x128xbf16> {
  %o = attn.attention %q, %k, %k packed(key, value) : tensor<16x32x1x128xbf16>, tensor<16x8x4096x64xi8>, tensor<16x8x4096x64xi8>
  return %o : tensor<16x32x1x128xbf16>
}

!many = tensor<4x16x4096x128xf8E4M3FN>

// CHECK-LABEL: func.func @narrow_weights
// CHECK: schedule(<blockN = 224, numWarps = 8, mmaWarps = 4, producerWarps = 4, qStages = 2, vStages = 1, qInRegisters = 0, overlap = softmax, tileOrder = ascending, persistent = static, cluster = 2, assembler = sparing>)
func.func @narrow_weights(%q: !many) -> tensor<4x16x4096x128xbf16> {
  %o = attn.attention %q, %q, %q weights(f8E4M3FN) : !many, !many, !many
  return %o : tensor<4x16x4096x128xbf16>
}

// CHECK-LABEL: func.func @small_heads
// CHECK: schedule(<blockM = 192, blockN = 128, numWarps = 12, mmaWarps = 4, producerWarps = 4, qStages = 2, qInRegisters = 0, overlap = "ping-pong", tileOrder = "across-heads", persistent = dynamic>)
func.func @small_heads(%q: tensor<4x32x4096x64xf8E4M3FN>) -> tensor<4x32x4096x64xbf16> {
  %o = attn.attention %q, %q, %q causal(bottom_right) weights(f8E4M3FN) : tensor<4x32x4096x64xf8E4M3FN>, tensor<4x32x4096x64xf8E4M3FN>, tensor<4x32x4096x64xf8E4M3FN>
  return %o : tensor<4x32x4096x64xbf16>
}

// CHECK-LABEL: func.func @large_heads
// CHECK: schedule(<blockN = 128, numWarps = 8, mmaWarps = 4, producerWarps = 4, qInRegisters = 0, overlap = "ping-pong", rescale = 8, rescaleLate = 1>)
func.func @large_heads(%q: tensor<4x8x4096x256xf8E4M3FN>) -> tensor<4x8x4096x256xbf16> {
  %o = attn.attention %q, %q, %q weights(f8E4M3FN) : tensor<4x8x4096x256xf8E4M3FN>, tensor<4x8x4096x256xf8E4M3FN>, tensor<4x8x4096x256xf8E4M3FN>
  return %o : tensor<4x8x4096x256xbf16>
}

// Under a mask, where tiles differ, wide ones of few keys overlap nothing, so that the queries of the next tile fit, and others compute a part of their
// exponentials beside those of the special function unit; of long rows large blocks take turns.
// CHECK-LABEL: func.func @masked
// CHECK: schedule(<blockN = 128, numWarps = 8, mmaWarps = 4, producerWarps = 4, qInRegisters = 0, overlap = softmax, rescale = 8, rescaleLate = 1, tileOrder = "across-heads", assembler = sparing>)
// CHECK: schedule(<blockN = 128, {{.*}}overlap = softmax, expOnFma = 2, tileOrder = "across-heads", persistent = dynamic>)
// CHECK: schedule(<blockN = 192, {{.*}}overlap = "ping-pong", rescale = 8, tileOrder = "across-heads", persistent = dynamic>)
// CHECK: schedule(<blockN = 128, {{.*}}overlap = softmax, expOnFma = 2, splitMasked = 0, tileOrder = "across-heads", persistent = dynamic>)
func.func @masked(%q: tensor<4x8x4096x256xf8E4M3FN>, %n: tensor<4x16x4096x128xf8E4M3FN>, %l: tensor<1x16x16384x128xf8E4M3FN>, %s: tensor<8x16x2048x128xf8E4M3FN>)
    -> (tensor<4x8x4096x256xbf16>, tensor<4x16x4096x128xbf16>, tensor<1x16x16384x128xbf16>, tensor<8x16x2048x128xbf16>) {
  %wide = attn.attention %q, %q, %q weights(f8E4M3FN) causal(top_left) : tensor<4x8x4096x256xf8E4M3FN>, tensor<4x8x4096x256xf8E4M3FN>, tensor<4x8x4096x256xf8E4M3FN>
  %narrow = attn.attention %n, %n, %n weights(f8E4M3FN) causal(top_left) : tensor<4x16x4096x128xf8E4M3FN>, tensor<4x16x4096x128xf8E4M3FN>, tensor<4x16x4096x128xf8E4M3FN>
  %long = attn.attention %l, %l, %l weights(f8E4M3FN) causal(top_left) : tensor<1x16x16384x128xf8E4M3FN>, tensor<1x16x16384x128xf8E4M3FN>, tensor<1x16x16384x128xf8E4M3FN>
  %short = attn.attention %s, %s, %s weights(f8E4M3FN) causal(top_left) : tensor<8x16x2048x128xf8E4M3FN>, tensor<8x16x2048x128xf8E4M3FN>, tensor<8x16x2048x128xf8E4M3FN>
  return %wide, %narrow, %long, %short : tensor<4x8x4096x256xbf16>, tensor<4x16x4096x128xbf16>, tensor<1x16x16384x128xbf16>, tensor<8x16x2048x128xbf16>
}

// CHECK-LABEL: func.func @few_masked_keys
// CHECK: schedule(<blockN = 128, numWarps = 8, mmaWarps = 4, producerWarps = 4, qStages = 2, kStages = 1, qInRegisters = 0, rescale = 8, rescaleLate = 1, splitMasked = 0, tileOrder = "across-heads", persistent = dynamic, assembler = sparing>)
func.func @few_masked_keys(%q: tensor<8x8x2048x256xf8E4M3FN>) -> tensor<8x8x2048x256xbf16> {
  %o = attn.attention %q, %q, %q weights(f8E4M3FN) causal(top_left) : tensor<8x8x2048x256xf8E4M3FN>, tensor<8x8x2048x256xf8E4M3FN>, tensor<8x8x2048x256xf8E4M3FN>
  return %o : tensor<8x8x2048x256xbf16>
}

// Many keys of small heads are visited at once, but where more than a few would lie beyond the last one; tiles of few keys take turns.
// CHECK-LABEL: func.func @blocks_of_small_heads
// CHECK: schedule(<blockM = 192, blockN = 160, numWarps = 12, mmaWarps = 4, producerWarps = 4, qInRegisters = 0, overlap = softmax, assembler = sparing>)
// CHECK: schedule(<blockM = 192, blockN = 128, numWarps = 12, mmaWarps = 4, producerWarps = 4, qInRegisters = 0, overlap = softmax, assembler = sparing>)
// CHECK: schedule(<blockM = 192, blockN = 128, numWarps = 12, mmaWarps = 4, producerWarps = 4, qStages = 2, qInRegisters = 0, overlap = "ping-pong", tileOrder = ascending, persistent = dynamic, assembler = sparing>)
func.func @blocks_of_small_heads(%q: tensor<4x32x4096x64xf8E4M3FN>, %l: tensor<4x32x2272x64xf8E4M3FN>, %k: tensor<4x32x1024x64xf8E4M3FN>)
    -> (tensor<4x32x4096x64xbf16>, tensor<4x32x4096x64xbf16>, tensor<4x32x4096x64xbf16>) {
  %o = attn.attention %q, %q, %q weights(f8E4M3FN) : tensor<4x32x4096x64xf8E4M3FN>, tensor<4x32x4096x64xf8E4M3FN>, tensor<4x32x4096x64xf8E4M3FN>
  %more = attn.attention %q, %l, %l weights(f8E4M3FN) : tensor<4x32x4096x64xf8E4M3FN>, tensor<4x32x2272x64xf8E4M3FN>, tensor<4x32x2272x64xf8E4M3FN>
  %few = attn.attention %q, %k, %k weights(f8E4M3FN) : tensor<4x32x4096x64xf8E4M3FN>, tensor<4x32x1024x64xf8E4M3FN>, tensor<4x32x1024x64xf8E4M3FN>
  return %o, %more, %few : tensor<4x32x4096x64xbf16>, tensor<4x32x4096x64xbf16>, tensor<4x32x4096x64xbf16>
}

// Tiles of few keys follow each other, also of wide heads.
// CHECK-LABEL: func.func @short_tiles
// CHECK: schedule(<blockN = 128, numWarps = 8, mmaWarps = 4, producerWarps = 4, qStages = 2, qInRegisters = 0, oInShared = buffer, overlap = softmax, tileOrder = ascending, persistent = static, assembler = sparing>)
// CHECK: schedule(<blockN = 96, numWarps = 8, mmaWarps = 4, producerWarps = 4, qInRegisters = 0, overlap = softmax, rescale = 8, rescaleLate = 1, tileOrder = ascending, persistent = static, assembler = sparing>)
func.func @short_tiles(%q: tensor<16x16x1024x128xf8E4M3FN>, %w: tensor<16x8x1024x256xf8E4M3FN>) -> (tensor<16x16x1024x128xbf16>, tensor<16x8x1024x256xbf16>) {
  %o = attn.attention %q, %q, %q weights(f8E4M3FN) : tensor<16x16x1024x128xf8E4M3FN>, tensor<16x16x1024x128xf8E4M3FN>, tensor<16x16x1024x128xf8E4M3FN>
  %wide = attn.attention %w, %w, %w weights(f8E4M3FN) : tensor<16x8x1024x256xf8E4M3FN>, tensor<16x8x1024x256xf8E4M3FN>, tensor<16x8x1024x256xf8E4M3FN>
  return %o, %wide : tensor<16x16x1024x128xbf16>, tensor<16x8x1024x256xbf16>
}

// So many keys of larger ones where little of a last block is left, or rows are long and rescaled seldom.
// CHECK-LABEL: func.func @last_blocks
// CHECK: schedule(<blockN = 224, {{.*}}vStages = 1, qInRegisters = 0, overlap = softmax, rescale = 8, tileOrder = ascending, cluster = 2, assembler = sparing>)
// CHECK: schedule(<blockN = 224, {{.*}}vStages = 1, qInRegisters = 0, overlap = softmax, rescale = 8, tileOrder = ascending, cluster = 2, assembler = sparing>)
// CHECK: schedule(<blockN = 128, numWarps = 8, mmaWarps = 4, producerWarps = 4, qInRegisters = 0, overlap = softmax, assembler = sparing>)
func.func @last_blocks(%q: tensor<1x16x16384x128xf8E4M3FN>, %k: tensor<1x16x8192x128xf8E4M3FN>, %l: tensor<1x16x6912x128xf8E4M3FN>)
    -> (tensor<1x16x16384x128xbf16>, tensor<1x16x16384x128xbf16>, tensor<1x16x16384x128xbf16>) {
  %o = attn.attention %q, %q, %q weights(f8E4M3FN) : tensor<1x16x16384x128xf8E4M3FN>, tensor<1x16x16384x128xf8E4M3FN>, tensor<1x16x16384x128xf8E4M3FN>
  %other = attn.attention %q, %k, %k weights(f8E4M3FN) : tensor<1x16x16384x128xf8E4M3FN>, tensor<1x16x8192x128xf8E4M3FN>, tensor<1x16x8192x128xf8E4M3FN>
  %last = attn.attention %q, %l, %l weights(f8E4M3FN) : tensor<1x16x16384x128xf8E4M3FN>, tensor<1x16x6912x128xf8E4M3FN>, tensor<1x16x6912x128xf8E4M3FN>
  return %o, %other, %last : tensor<1x16x16384x128xbf16>, tensor<1x16x16384x128xbf16>, tensor<1x16x16384x128xbf16>
}

// Of any number of keys, or of many or few that are likely.
!any = tensor<?x?x16x128xf8E4M3FN>
!any_small = tensor<?x?x32x64xf8E4M3FN>
!any_wide = tensor<?x?x8x256xf8E4M3FN>
// CHECK-LABEL: func.func @any_length
// CHECK: schedule(<blockN = 128, {{.*}}qStages = 2, {{.*}}oInShared = buffer, overlap = softmax, tileOrder = ascending, persistent = static, assembler = sparing>)
// CHECK: schedule(<blockN = 128, {{.*}}oInShared = buffer, overlap = softmax, tileOrder = "across-heads", persistent = dynamic, assembler = sparing>)
// CHECK: schedule(<blockM = 192, blockN = 128, {{.*}}qStages = 2, qInRegisters = 0, overlap = "ping-pong", tileOrder = ascending, persistent = dynamic, assembler = sparing>)
// CHECK: schedule(<blockN = 128, {{.*}}overlap = "ping-pong", rescale = 8, assembler = sparing>)
// CHECK: schedule(<blockN = 128, {{.*}}overlap = softmax, rescale = 8, rescaleLate = 1, tileOrder = "across-heads", assembler = sparing>)
// LONG-LABEL: func.func @any_length
// LONG: schedule(<blockN = 224, {{.*}}overlap = softmax, rescale = 8, tileOrder = ascending, cluster = 2, assembler = sparing>)
// LONG: schedule(<blockN = 192, {{.*}}overlap = "ping-pong", rescale = 8, tileOrder = "across-heads", persistent = dynamic, assembler = sparing>)
// LONG: schedule(<blockM = 192, blockN = 128, {{.*}}overlap = "ping-pong", tileOrder = ascending, persistent = dynamic, assembler = sparing>)
// LONG: schedule(<blockN = 128, {{.*}}overlap = "ping-pong", rescale = 8, assembler = sparing>)
// LONG: schedule(<blockN = 128, {{.*}}overlap = softmax, rescale = 8, rescaleLate = 1, tileOrder = "across-heads", assembler = sparing>)
// SHORT-LABEL: func.func @any_length
// SHORT: schedule(<blockN = 128, {{.*}}overlap = softmax, tileOrder = ascending, persistent = static, assembler = sparing>)
// SHORT: schedule(<blockN = 128, {{.*}}overlap = softmax, tileOrder = "across-heads", persistent = dynamic, assembler = sparing>)
// SHORT: schedule(<blockM = 192, blockN = 128, {{.*}}overlap = "ping-pong", tileOrder = ascending, persistent = dynamic, assembler = sparing>)
// SHORT: schedule(<blockN = 128, {{.*}}kStages = 1, qInRegisters = 0, rescale = 8, rescaleLate = 1, splitMasked = 0, tileOrder = ascending, persistent = dynamic, assembler = sparing>)
// SHORT: schedule(<numWarps = 8, {{.*}}oInShared = buffer, overlap = softmax, rescale = 8, tileOrder = "across-heads", persistent = dynamic, assembler = sparing>)
func.func @any_length(%q: !any, %n: !any_small, %w: !any_wide)
    -> (tensor<?x?x16x128xbf16>, tensor<?x?x16x128xbf16>, tensor<?x?x32x64xbf16>, tensor<?x?x8x256xbf16>, tensor<?x?x8x256xbf16>) {
  %o = attn.attention %q, %q, %q order(bshd) weights(f8E4M3FN) : !any, !any, !any
  %causal = attn.attention %q, %q, %q order(bshd) weights(f8E4M3FN) causal(top_left) : !any, !any, !any
  %small = attn.attention %n, %n, %n order(bshd) weights(f8E4M3FN) : !any_small, !any_small, !any_small
  %wide = attn.attention %w, %w, %w order(bshd) weights(f8E4M3FN) : !any_wide, !any_wide, !any_wide
  %masked = attn.attention %w, %w, %w order(bshd) weights(f8E4M3FN) causal(top_left) : !any_wide, !any_wide, !any_wide
  return %o, %causal, %small, %wide, %masked : tensor<?x?x16x128xbf16>, tensor<?x?x16x128xbf16>, tensor<?x?x32x64xbf16>, tensor<?x?x8x256xbf16>, tensor<?x?x8x256xbf16>
}

// Weights of 16 bits are multiplied by values that are widened, scores stay in 8.
// CHECK-LABEL: func.func @wide_weights
// CHECK: schedule(<blockN = 128, numWarps = 8, mmaWarps = 4, producerWarps = 8, qStages = 2, qInRegisters = 0, oInShared = buffer, overlap = "ping-pong",
func.func @wide_weights(%q: !many) -> tensor<4x16x4096x128xbf16> {
  %o = attn.attention %q, %q, %q : !many, !many, !many
  return %o : tensor<4x16x4096x128xbf16>
}

// CHECK-LABEL: func.func @narrow_weights_of_one_query
// CHECK: schedule(<blockM = 16, numWarps = 1, kStages = 1, vStages = 1, rescale = 8,
func.func @narrow_weights_of_one_query(%q: tensor<16x32x1x128xf8E4M3FN>, %k: tensor<16x8x4096x128xf8E4M3FN>) -> tensor<16x32x1x128xbf16> {
  %o = attn.attention %q, %k, %k weights(f8E4M3FN) : tensor<16x32x1x128xf8E4M3FN>, tensor<16x8x4096x128xf8E4M3FN>, tensor<16x8x4096x128xf8E4M3FN>
  return %o : tensor<16x32x1x128xbf16>
}

// CHECK-LABEL: func.func @wide_queries
// CHECK: schedule(<blockN = 128, numWarps = 8, mmaWarps = 4, producerWarps = 8, qInRegisters = 0, overlap = "ping-pong">)
func.func @wide_queries(%q: tensor<4x16x4096x128xbf16>, %k: !many) -> tensor<4x16x4096x128xbf16> {
  %o = attn.attention %q, %k, %k : tensor<4x16x4096x128xbf16>, !many, !many
  return %o : tensor<4x16x4096x128xbf16>
}

// One query of any number of keys.
// CHECK-LABEL: func.func @any_keys
// CHECK: schedule(<blockM = 16, numWarps = 1, kStages = 1, vStages = 1, rescale = 8,
func.func @any_keys(%q: tensor<?x32x1x128xbf16>, %k: tensor<?x8x?x128xf8E4M3FN>) -> tensor<?x32x1x128xbf16> {
  %o = attn.attention %q, %k, %k : tensor<?x32x1x128xbf16>, tensor<?x8x?x128xf8E4M3FN>, tensor<?x8x?x128xf8E4M3FN>
  return %o : tensor<?x32x1x128xbf16>
}

// More queries than one instruction has rows: a role widens keys once for all heads that share them.
// CHECK-LABEL: func.func @several_queries
// CHECK: schedule(<blockN = 128, numWarps = 8, mmaWarps = 4, producerWarps = 8, qInRegisters = 0, overlap = softmax, rescale = 8, tileOrder = ascending, splitK = 2>)
func.func @several_queries(%q: tensor<8x32x32x128xbf16>, %k: tensor<8x8x8192x128xf8E4M3FN>) -> tensor<8x32x32x128xbf16> {
  %o = attn.attention %q, %k, %k : tensor<8x32x32x128xbf16>, tensor<8x8x8192x128xf8E4M3FN>, tensor<8x8x8192x128xf8E4M3FN>
  return %o : tensor<8x32x32x128xbf16>
}

// Heads of a group in one tile, of one warp in either order, or where it has not the rows of all of them, of a warpgroup.
// CHECK-LABEL: func.func @heads_of_a_warp
// CHECK: schedule(<blockM = 16, numWarps = 1, kStages = 1, vStages = 1,
// CHECK: schedule(<blockM = 64, blockN = 128, mmaWarps = 4, producerWarps = 8, qInRegisters = 0, overlap = softmax, rescale = 8, tileOrder = ascending, splitK = 2, merge = last>)
// CHECK: schedule(<blockM = 16, numWarps = 1, kStages = 1, vStages = 1,
func.func @heads_of_a_warp(%a: tensor<8x32x4x128xbf16>, %b: tensor<8x32x5x128xbf16>, %k: tensor<8x8x8192x128xf8E4M3FN>, %c: tensor<8x4x32x128xbf16>, %l: tensor<8x8192x8x128xf8E4M3FN>)
    -> (tensor<8x32x4x128xbf16>, tensor<8x32x5x128xbf16>, tensor<8x4x32x128xbf16>) {
  %x = attn.attention %a, %k, %k : tensor<8x32x4x128xbf16>, tensor<8x8x8192x128xf8E4M3FN>, tensor<8x8x8192x128xf8E4M3FN>
  %y = attn.attention %b, %k, %k : tensor<8x32x5x128xbf16>, tensor<8x8x8192x128xf8E4M3FN>, tensor<8x8x8192x128xf8E4M3FN>
  %z = attn.attention %c, %l, %l order(bshd) : tensor<8x4x32x128xbf16>, tensor<8x8192x8x128xf8E4M3FN>, tensor<8x8192x8x128xf8E4M3FN>
  return %x, %y, %z : tensor<8x32x4x128xbf16>, tensor<8x32x5x128xbf16>, tensor<8x4x32x128xbf16>
}

// Heads that share no tile: as many queries in that of one warp; of more, all keys are widened for each head.
// CHECK-LABEL: func.func @heads_apart
// CHECK: schedule(<blockM = 16, numWarps = 1, kStages = 1, vStages = 1,
// CHECK: schedule(<blockM = 64, blockN = 128, mmaWarps = 4, producerWarps = 8, qInRegisters = 0, overlap = softmax, rescale = 8, tileOrder = ascending>)
func.func @heads_apart(%a: tensor<8x32x5x128xbf16>, %b: tensor<8x32x32x128xbf16>, %k: tensor<8x32x8192x128xf8E4M3FN>) -> (tensor<8x32x5x128xbf16>, tensor<8x32x32x128xbf16>) {
  %x = attn.attention %a, %k, %k : tensor<8x32x5x128xbf16>, tensor<8x32x8192x128xf8E4M3FN>, tensor<8x32x8192x128xf8E4M3FN>
  %y = attn.attention %b, %k, %k : tensor<8x32x32x128xbf16>, tensor<8x32x8192x128xf8E4M3FN>, tensor<8x32x8192x128xf8E4M3FN>
  return %x, %y : tensor<8x32x5x128xbf16>, tensor<8x32x32x128xbf16>
}

// Scales of each key take registers: smaller blocks, of more rows.
// CHECK-LABEL: func.func @with_scales
// CHECK: schedule(<blockN = 96, numWarps = 8, mmaWarps = 4, producerWarps = 8,
func.func @with_scales(%a: tensor<8x32x32x128xbf16>, %k: tensor<8x8x8192x128xi8>, %s: tensor<8x8x8192x1xf32>) -> tensor<8x32x32x128xbf16> {
  %x = attn.attention %a, %k, %k key_scales(%s : tensor<8x8x8192x1xf32>) value_scales(%s : tensor<8x8x8192x1xf32>)
    : tensor<8x32x32x128xbf16>, tensor<8x8x8192x128xi8>, tensor<8x8x8192x128xi8>
  return %x : tensor<8x32x32x128xbf16>
}

// Smaller blocks of rows of other sizes and of smaller pages, in two slots, and larger ones of 4 bits there and where each key has its scale.
// CHECK-LABEL: func.func @short_rows
// CHECK: schedule(<blockM = 16, blockN = 32, numWarps = 1, rescale = 8,
// CHECK: schedule(<blockM = 16, numWarps = 1, rescale = 8,
func.func @short_rows(%q: tensor<16x32x1x64xbf16>, %k: tensor<16x8x4096x64xf8E4M3FN>, %p: tensor<16x8x4096x32xi8>) -> (tensor<16x32x1x64xbf16>, tensor<16x32x1x64xbf16>) {
  %o = attn.attention %q, %k, %k : tensor<16x32x1x64xbf16>, tensor<16x8x4096x64xf8E4M3FN>, tensor<16x8x4096x64xf8E4M3FN>
  %x = attn.attention %q, %p, %p packed(key, value) : tensor<16x32x1x64xbf16>, tensor<16x8x4096x32xi8>, tensor<16x8x4096x32xi8>
  return %o, %x : tensor<16x32x1x64xbf16>, tensor<16x32x1x64xbf16>
}

// CHECK-LABEL: func.func @small_pages
// CHECK: schedule(<blockM = 16, blockN = 32, numWarps = 1, rescale = 8,
func.func @small_pages(%q: tensor<16x1x32x128xbf16>, %k: tensor<4096x16x8x128xi8>, %n: tensor<16xi32>, %t: tensor<16x256xi32>) -> tensor<16x1x32x128xbf16> {
  %o = attn.attention %q, %k, %k order(bshd) key_lengths(%n : tensor<16xi32>) pages(%t : tensor<16x256xi32>) : tensor<16x1x32x128xbf16>, tensor<4096x16x8x128xi8>, tensor<4096x16x8x128xi8>
  return %o : tensor<16x1x32x128xbf16>
}

// CHECK-LABEL: func.func @scales_of_keys
// CHECK: schedule(<blockM = 16, numWarps = 1, kStages = 1, vStages = 1, rescale = 8,
// CHECK: schedule(<blockM = 16, numWarps = 1, rescale = 8,
func.func @scales_of_keys(%q: tensor<16x32x1x128xbf16>, %k: tensor<16x8x4096x128xi8>, %p: tensor<16x8x4096x64xi8>, %s: tensor<16x8x4096x1xf32>)
    -> (tensor<16x32x1x128xbf16>, tensor<16x32x1x128xbf16>) {
  %o = attn.attention %q, %k, %k key_scales(%s : tensor<16x8x4096x1xf32>) value_scales(%s : tensor<16x8x4096x1xf32>)
    : tensor<16x32x1x128xbf16>, tensor<16x8x4096x128xi8>, tensor<16x8x4096x128xi8>
  %x = attn.attention %q, %p, %p packed(key, value) key_scales(%s : tensor<16x8x4096x1xf32>) value_scales(%s : tensor<16x8x4096x1xf32>)
    : tensor<16x32x1x128xbf16>, tensor<16x8x4096x64xi8>, tensor<16x8x4096x64xi8>
  return %o, %x : tensor<16x32x1x128xbf16>, tensor<16x32x1x128xbf16>
}
