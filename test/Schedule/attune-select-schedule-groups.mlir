// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is picked where warps multiply in groups: the largest blocks that fit the
// registers, for rows that a copy engine takes.
//
// RUN: attune-opt %s --attune-attach-target="chip=sm_90a" --attune-select-schedule --attune-check-schedule | FileCheck %s

// CHECK-LABEL: func.func @head_64
// CHECK: schedule(<blockM = 192, blockN = 128, numWarps = 12, mmaWarps = 4, producerWarps = 4, qInRegisters = 0, overlap = "ping-pong", assembler = plain>)
func.func @head_64(%q: tensor<1x1x256x64xf16>) -> tensor<1x1x256x64xf16> {
  %o = attn.attention %q, %q, %q : tensor<1x1x256x64xf16>, tensor<1x1x256x64xf16>, tensor<1x1x256x64xf16>
  return %o : tensor<1x1x256x64xf16>
}

// Of narrow swizzle atoms, each has an address of its own: three warpgroups with
// fewer registers would spill.
// CHECK-LABEL: func.func @head_80
// CHECK: schedule(<blockN = 128, numWarps = 8, mmaWarps = 4, producerWarps = 4, qStages = 2, qInRegisters = 0, oInShared = buffer, overlap = "ping-pong", tileOrder = ascending, persistent = static, cluster = 2>)
func.func @head_80(%q: tensor<1x1x256x80xbf16>) -> tensor<1x1x256x80xbf16> {
  %o = attn.attention %q, %q, %q : tensor<1x1x256x80xbf16>, tensor<1x1x256x80xbf16>, tensor<1x1x256x80xbf16>
  return %o : tensor<1x1x256x80xbf16>
}

// CHECK-LABEL: func.func @head_96
// CHECK: schedule(<blockN = 128, numWarps = 8, mmaWarps = 4, producerWarps = 4, qStages = 2, qInRegisters = 0, oInShared = buffer, overlap = "ping-pong", tileOrder = ascending, persistent = static, cluster = 2>)
func.func @head_96(%q: tensor<1x1x256x96xbf16>) -> tensor<1x1x256x96xbf16> {
  %o = attn.attention %q, %q, %q : tensor<1x1x256x96xbf16>, tensor<1x1x256x96xbf16>, tensor<1x1x256x96xbf16>
  return %o : tensor<1x1x256x96xbf16>
}

// CHECK-LABEL: func.func @head_128
// CHECK: schedule(<blockN = 128, numWarps = 8, mmaWarps = 4, producerWarps = 4, qStages = 2, qInRegisters = 0, oInShared = buffer, overlap = "ping-pong", tileOrder = ascending, persistent = static, cluster = 2>)
func.func @head_128(%q: tensor<1x1x256x128xbf16>) -> tensor<1x1x256x128xbf16> {
  %o = attn.attention %q, %q, %q : tensor<1x1x256x128xbf16>, tensor<1x1x256x128xbf16>, tensor<1x1x256x128xbf16>
  return %o : tensor<1x1x256x128xbf16>
}

// Under a mask tiles differ in length. They are handed out where two queries fit,
// and stored from shared memory where the output fits as well.
// CHECK-LABEL: func.func @masked_128
// CHECK: schedule(<blockN = 128, numWarps = 8, mmaWarps = 4, producerWarps = 4, qStages = 2, qInRegisters = 0, oInShared = buffer, overlap = "ping-pong", persistent = dynamic, lateKeys = 32>)
func.func @masked_128(%q: tensor<1x1x256x128xbf16>) -> tensor<1x1x256x128xbf16> {
  %o = attn.attention %q, %q, %q window(100, 0, top_left) : tensor<1x1x256x128xbf16>, tensor<1x1x256x128xbf16>, tensor<1x1x256x128xbf16>
  return %o : tensor<1x1x256x128xbf16>
}

// CHECK-LABEL: func.func @masked_256
// CHECK: schedule(<numWarps = 8, mmaWarps = 4, producerWarps = 4, qInRegisters = 0, overlap = softmax, rescale = 8, persistent = dynamic, assembler = sparing>)
func.func @masked_256(%q: tensor<1x1x256x256xbf16>) -> tensor<1x1x256x256xbf16> {
  %o = attn.attention %q, %q, %q causal(top_left) : tensor<1x1x256x256xbf16>, tensor<1x1x256x256xbf16>, tensor<1x1x256x256xbf16>
  return %o : tensor<1x1x256x256xbf16>
}

// Of short rows a larger tile would lie half beyond the mask: small ones, four on an
// SM.
// CHECK-LABEL: func.func @short_64
// CHECK: schedule(<blockM = 64, mmaWarps = 4, producerWarps = 1, qStages = 2, qInRegisters = 0, splitMasked = 0, tileOrder = "across-heads", persistent = dynamic, workgroupsPerSm = 4>)
func.func @short_64(%q: tensor<1x1x1024x64xbf16>) -> tensor<1x1x1024x64xbf16> {
  %o = attn.attention %q, %q, %q causal(top_left) : tensor<1x1x1024x64xbf16>, tensor<1x1x1024x64xbf16>, tensor<1x1x1024x64xbf16>
  return %o : tensor<1x1x1024x64xbf16>
}

// And so for windows.
// CHECK-LABEL: func.func @window_64
// CHECK: schedule(<blockM = 64, mmaWarps = 4, producerWarps = 1, qStages = 2, qInRegisters = 0, splitMasked = 0, tileOrder = "across-heads", persistent = dynamic, workgroupsPerSm = 4>)
func.func @window_64(%q: tensor<1x1x8192x64xbf16>) -> tensor<1x1x8192x64xbf16> {
  %o = attn.attention %q, %q, %q causal(bottom_right) window(255, ?, bottom_right) : tensor<1x1x8192x64xbf16>, tensor<1x1x8192x64xbf16>, tensor<1x1x8192x64xbf16>
  return %o : tensor<1x1x8192x64xbf16>
}

// CHECK-LABEL: func.func @longer_64
// CHECK: schedule(<blockM = 192, blockN = 128, numWarps = 12, mmaWarps = 4, producerWarps = 4, qStages = 2, qInRegisters = 0, oInShared = buffer, overlap = "ping-pong", rescale = 8, tileOrder = "across-heads", persistent = dynamic>)
func.func @longer_64(%q: tensor<1x1x2048x64xbf16>) -> tensor<1x1x2048x64xbf16> {
  %o = attn.attention %q, %q, %q causal(top_left) : tensor<1x1x2048x64xbf16>, tensor<1x1x2048x64xbf16>, tensor<1x1x2048x64xbf16>
  return %o : tensor<1x1x2048x64xbf16>
}

// Of tall tiles, no query lies beyond the last one; of three warpgroups' it would.
// CHECK-LABEL: func.func @tall_64
// CHECK: schedule(<blockM = 256, blockN = 96, numWarps = 16, mmaWarps = 4, producerWarps = 4, qStages = 2, qInRegisters = 0, rescale = 8, tileOrder = ascending, persistent = dynamic, assembler = plain>)
func.func @tall_64(%q: tensor<16x32x1024x64xbf16>) -> tensor<16x32x1024x64xbf16> {
  %o = attn.attention %q, %q, %q : tensor<16x32x1024x64xbf16>, tensor<16x32x1024x64xbf16>, tensor<16x32x1024x64xbf16>
  return %o : tensor<16x32x1024x64xbf16>
}

// Where rows are short, two workgroups share what they read of keys.
// CHECK-LABEL: func.func @tall_64_short
// CHECK: schedule(<blockM = 256, numWarps = 16, mmaWarps = 4, producerWarps = 4, qStages = 2, kStages = 4, vStages = 4, qInRegisters = 0, overlap = "ping-pong", rescale = 8, splitMasked = 0, tileOrder = ascending, persistent = static, cluster = 2, assembler = plain>)
func.func @tall_64_short(%q: tensor<32x32x512x64xbf16>) -> tensor<32x32x512x64xbf16> {
  %o = attn.attention %q, %q, %q : tensor<32x32x512x64xbf16>, tensor<32x32x512x64xbf16>, tensor<32x32x512x64xbf16>
  return %o : tensor<32x32x512x64xbf16>
}

// Without a mask, two workgroups share what they read of keys that fill their
// blocks.
// CHECK-LABEL: func.func @cluster_128
// CHECK: schedule(<blockN = 128, numWarps = 8, mmaWarps = 4, producerWarps = 4, qStages = 2, qInRegisters = 0, oInShared = buffer, overlap = "ping-pong", tileOrder = ascending, persistent = static, cluster = 2, lateKeys = 32, strengthReduction = 1>)
func.func @cluster_128(%q: tensor<16x16x1024x128xbf16>) -> tensor<16x16x1024x128xbf16> {
  %o = attn.attention %q, %q, %q : tensor<16x16x1024x128xbf16>, tensor<16x16x1024x128xbf16>, tensor<16x16x1024x128xbf16>
  return %o : tensor<16x16x1024x128xbf16>
}

// Of long rows, three with small blocks are faster.
// CHECK-LABEL: func.func @long_rows_128
// CHECK: schedule(<blockM = 192, blockN = 80, numWarps = 12, mmaWarps = 4, producerWarps = 4, qStages = 2, vStages = 4, qInRegisters = 0, overlap = softmax, rescale = 8, tileOrder = ascending, persistent = dynamic, assembler = plain>)
func.func @long_rows_128(%q: tensor<4x16x4096x128xbf16>) -> tensor<4x16x4096x128xbf16> {
  %o = attn.attention %q, %q, %q : tensor<4x16x4096x128xbf16>, tensor<4x16x4096x128xbf16>, tensor<4x16x4096x128xbf16>
  return %o : tensor<4x16x4096x128xbf16>
}

// CHECK-LABEL: func.func @part_128
// CHECK: schedule(<blockN = 128, numWarps = 8, mmaWarps = 4, producerWarps = 4, qStages = 2, qInRegisters = 0, oInShared = buffer, overlap = "ping-pong", tileOrder = ascending, persistent = dynamic, lateKeys = 32, strengthReduction = 1>)
func.func @part_128(%q: tensor<16x16x1000x128xbf16>) -> tensor<16x16x1000x128xbf16> {
  %o = attn.attention %q, %q, %q : tensor<16x16x1000x128xbf16>, tensor<16x16x1000x128xbf16>, tensor<16x16x1000x128xbf16>
  return %o : tensor<16x16x1000x128xbf16>
}

// Of 80 keys a block, much lies beyond a short row: 64.
// CHECK-LABEL: func.func @short_256
// CHECK: schedule(<numWarps = 8, mmaWarps = 4, producerWarps = 4, qInRegisters = 0, overlap = "ping-pong", rescale = 8, splitMasked = 0, tileOrder = ascending, persistent = static, assembler = plain>)
func.func @short_256(%q: tensor<32x8x512x256xbf16>) -> tensor<32x8x512x256xbf16> {
  %o = attn.attention %q, %q, %q : tensor<32x8x512x256xbf16>, tensor<32x8x512x256xbf16>, tensor<32x8x512x256xbf16>
  return %o : tensor<32x8x512x256xbf16>
}

// CHECK-LABEL: func.func @long_masked_128
// CHECK: schedule(<blockN = 128, numWarps = 8, mmaWarps = 4, producerWarps = 4, qStages = 2, qInRegisters = 0, oInShared = buffer, overlap = "ping-pong", tileOrder = "across-heads", persistent = dynamic, lateKeys = 32, assembler = plain>)
func.func @long_masked_128(%q: tensor<1x16x8192x128xbf16>) -> tensor<1x16x8192x128xbf16> {
  %o = attn.attention %q, %q, %q causal(top_left) : tensor<1x16x8192x128xbf16>, tensor<1x16x8192x128xbf16>, tensor<1x16x8192x128xbf16>
  return %o : tensor<1x16x8192x128xbf16>
}

// So do those of fewer queries.
// CHECK-LABEL: func.func @long_128
// CHECK: schedule(<blockM = 192, blockN = 80, numWarps = 12, mmaWarps = 4, producerWarps = 4, qStages = 2, vStages = 4, qInRegisters = 0, overlap = softmax, rescale = 8, tileOrder = ascending, persistent = dynamic, assembler = plain>)
func.func @long_128(%q: tensor<1x16x8192x128xbf16>) -> tensor<1x16x8192x128xbf16> {
  %o = attn.attention %q, %q, %q : tensor<1x16x8192x128xbf16>, tensor<1x16x8192x128xbf16>, tensor<1x16x8192x128xbf16>
  return %o : tensor<1x16x8192x128xbf16>
}

// But not where their length is not known.
// CHECK-LABEL: func.func @any_128
// CHECK: schedule(<blockN = 128, numWarps = 8, mmaWarps = 4, producerWarps = 4, qStages = 2, qInRegisters = 0, oInShared = buffer, overlap = "ping-pong", tileOrder = ascending, persistent = dynamic, assembler = sparing>)
func.func @any_128(%q: tensor<1x1x?x128xbf16>) -> tensor<1x1x?x128xbf16> {
  %o = attn.attention %q, %q, %q : tensor<1x1x?x128xbf16>, tensor<1x1x?x128xbf16>, tensor<1x1x?x128xbf16>
  return %o : tensor<1x1x?x128xbf16>
}

// Under a mask turns are taken where the last values are multiplied late, although a register or two are spilled outside of the loop.
// CHECK-LABEL: func.func @any_masked_128
// CHECK: schedule(<blockN = 128, numWarps = 8, mmaWarps = 4, producerWarps = 4, qStages = 2, qInRegisters = 0, oInShared = buffer, overlap = "ping-pong", tileOrder = "across-heads", persistent = dynamic, lateKeys = 32>)
func.func @any_masked_128(%q: tensor<1x1x?x128xbf16>) -> tensor<1x1x?x128xbf16> {
  %o = attn.attention %q, %q, %q causal(bottom_right) : tensor<1x1x?x128xbf16>, tensor<1x1x?x128xbf16>, tensor<1x1x?x128xbf16>
  return %o : tensor<1x1x?x128xbf16>
}

// CHECK-LABEL: func.func @any_masked_256
// CHECK: schedule(<numWarps = 8, mmaWarps = 4, producerWarps = 4, qInRegisters = 0, overlap = softmax, rescale = 8, tileOrder = "across-heads", assembler = plain>)
func.func @any_masked_256(%q: tensor<1x1x?x256xbf16>) -> tensor<1x1x?x256xbf16> {
  %o = attn.attention %q, %q, %q causal(bottom_right) : tensor<1x1x?x256xbf16>, tensor<1x1x?x256xbf16>, tensor<1x1x?x256xbf16>
  return %o : tensor<1x1x?x256xbf16>
}

// CHECK-LABEL: func.func @any_masked_64
// CHECK: schedule(<blockM = 192, blockN = 128, numWarps = 12, mmaWarps = 4, producerWarps = 4, qStages = 2, qInRegisters = 0, oInShared = buffer, overlap = "ping-pong", tileOrder = "across-heads", persistent = dynamic, assembler = plain>)
func.func @any_masked_64(%q: tensor<1x1x?x64xbf16>) -> tensor<1x1x?x64xbf16> {
  %o = attn.attention %q, %q, %q causal(bottom_right) : tensor<1x1x?x64xbf16>, tensor<1x1x?x64xbf16>, tensor<1x1x?x64xbf16>
  return %o : tensor<1x1x?x64xbf16>
}

// CHECK-LABEL: func.func @head_192
// CHECK: schedule(<blockN = 96, numWarps = 8, mmaWarps = 4, producerWarps = 4, qInRegisters = 0, overlap = "ping-pong", rescale = 8>)
func.func @head_192(%q: tensor<1x1x256x192xbf16>) -> tensor<1x1x256x192xbf16> {
  %o = attn.attention %q, %q, %q : tensor<1x1x256x192xbf16>, tensor<1x1x256x192xbf16>, tensor<1x1x256x192xbf16>
  return %o : tensor<1x1x256x192xbf16>
}

// CHECK-LABEL: func.func @head_256
// CHECK: schedule(<numWarps = 8, mmaWarps = 4, producerWarps = 4, qInRegisters = 0, overlap = "ping-pong", rescale = 8, splitMasked = 0, tileOrder = ascending, persistent = static, assembler = plain>)
func.func @head_256(%q: tensor<1x1x256x256xf16>) -> tensor<1x1x256x256xf16> {
  %o = attn.attention %q, %q, %q : tensor<1x1x256x256xf16>, tensor<1x1x256x256xf16>, tensor<1x1x256x256xf16>
  return %o : tensor<1x1x256x256xf16>
}

// Strides that are multiples of 16 bytes, as far as they are known.
// CHECK-LABEL: func.func @strides
// CHECK: schedule(<{{.*}}mmaWarps = 4
!aligned = tensor<1x2x256x64xf16, #attn.strided<[?, 64, 136, 1], divisor = 8>>
func.func @strides(%q: !aligned) -> tensor<1x2x256x64xf16> {
  %o = attn.attention %q, %q, %q : !aligned, !aligned, !aligned -> tensor<1x2x256x64xf16>
  return %o : tensor<1x2x256x64xf16>
}

// Rows of 40 bytes.
// CHECK-LABEL: func.func @short_rows
// CHECK-NOT: mmaWarps
// CHECK: return
func.func @short_rows(%q: tensor<1x1x256x20xf16>) -> tensor<1x1x256x20xf16> {
  %o = attn.attention %q, %q, %q : tensor<1x1x256x20xf16>, tensor<1x1x256x20xf16>, tensor<1x1x256x20xf16>
  return %o : tensor<1x1x256x20xf16>
}

// A stride known to be a multiple of 8 bytes, of keys alone.
// CHECK-LABEL: func.func @unaligned_keys
// CHECK-NOT: mmaWarps
// CHECK: return
!half = tensor<1x1x256x64xf16, #attn.strided<[?, ?, ?, 1], divisor = 4>>
func.func @unaligned_keys(%q: tensor<1x1x256x64xf16>, %k: !half) -> tensor<1x1x256x64xf16> {
  %o = attn.attention %q, %k, %q : tensor<1x1x256x64xf16>, !half, tensor<1x1x256x64xf16> -> tensor<1x1x256x64xf16>
  return %o : tensor<1x1x256x64xf16>
}

// The elements of a row are no neighbours.
// CHECK-LABEL: func.func @columns
// CHECK-NOT: mmaWarps
// CHECK: return
!columns = tensor<1x1x256x64xf16, #attn.strided<[16384, 16384, 1, 256]>>
func.func @columns(%q: tensor<1x1x256x64xf16>, %v: !columns) -> tensor<1x1x256x64xf16> {
  %o = attn.attention %q, %q, %v : tensor<1x1x256x64xf16>, tensor<1x1x256x64xf16>, !columns -> tensor<1x1x256x64xf16>
  return %o : tensor<1x1x256x64xf16>
}

// Packed sequences are of all lengths up to the longest.
// CHECK-LABEL: func.func @packed
// CHECK: schedule(<blockN = 128, numWarps = 8, mmaWarps = 4, producerWarps = 4, qInRegisters = 0, overlap = "ping-pong", tileOrder = "across-heads", persistent = dynamic, lateKeys = 32>)
func.func @packed(%q: tensor<1x16384x16x128xbf16>, %s: tensor<2xi32>) -> tensor<1x16384x16x128xbf16> {
  %o = attn.attention %q, %q, %q causal(bottom_right) order(bshd) query_starts(%s : tensor<2xi32>) key_starts(%s : tensor<2xi32>)
      : tensor<1x16384x16x128xbf16>, tensor<1x16384x16x128xbf16>, tensor<1x16384x16x128xbf16>
  return %o : tensor<1x16384x16x128xbf16>
}

// Tiles that scores read leave no cluster, are loaded while others are added, and have many warps that do so.
// CHECK-LABEL: func.func @score_tiles
// CHECK: schedule(<blockM = 256, blockN = 96, numWarps = 16, mmaWarps = 4, producerWarps = 4, qStages = 2, kStages = 4, vStages = 4, qInRegisters = 0, rescale = 8, tileOrder = ascending, persistent = dynamic>)
// CHECK: schedule(<blockN = 128, numWarps = 8, mmaWarps = 4, producerWarps = 4, qStages = 2, qInRegisters = 0, overlap = "ping-pong", tileOrder = ascending, persistent = dynamic>)
func.func @score_tiles(%q: tensor<4x16x4096x64xbf16>, %wide: tensor<4x16x4096x128xbf16>, %bias: tensor<16x4096x4096xbf16>) {
  %o = attn.attention %q, %q, %q score (%s, %b, %h, %m, %n) {
    %x = tensor.extract %bias[%h, %m, %n] : tensor<16x4096x4096xbf16>
    %f = arith.extf %x : bf16 to f32
    %r = arith.addf %s, %f : f32
    attn.yield %r : f32
  } : tensor<4x16x4096x64xbf16>, tensor<4x16x4096x64xbf16>, tensor<4x16x4096x64xbf16> -> tensor<4x16x4096x64xbf16>
  %p = attn.attention %wide, %wide, %wide score (%s, %b, %h, %m, %n) {
    %x = tensor.extract %bias[%h, %m, %n] : tensor<16x4096x4096xbf16>
    %f = arith.extf %x : bf16 to f32
    %r = arith.addf %s, %f : f32
    attn.yield %r : f32
  } : tensor<4x16x4096x128xbf16>, tensor<4x16x4096x128xbf16>, tensor<4x16x4096x128xbf16> -> tensor<4x16x4096x128xbf16>
  return
}
