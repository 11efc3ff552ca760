// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is picked for few queries against many keys: as many workgroups as the chip
// holds at once, each with parts of the keys that are under way.
//
// RUN: attune-opt %s --attune-attach-target="chip=sm_90a" --attune-select-schedule --attune-check-schedule | FileCheck %s
// RUN: attune-opt %s --attune-attach-target="chip=sm_80" --attune-select-schedule --attune-check-schedule | FileCheck %s --check-prefix=SM80

// Eight tiles, each of the four heads of a group, for 132 SMs.
// CHECK-LABEL: func.func @one
// CHECK: schedule(<blockM = 64, blockN = 128, mmaWarps = 4, producerWarps = 1, kStages = 3, vStages = 3, qInRegisters = 0, tileOrder = ascending, splitK = 16, merge = last>)
// SM80-LABEL: func.func @one
// SM80: schedule(<blockM = 64, {{.*}}splitK = 12, merge = last>)
func.func @one(%q: tensor<1x32x1x128xbf16>, %k: tensor<1x8x8192x128xbf16>) -> tensor<1x32x1x128xbf16> {
  %o = attn.attention %q, %k, %k : tensor<1x32x1x128xbf16>, tensor<1x8x8192x128xbf16>, tensor<1x8x8192x128xbf16>
  return %o : tensor<1x32x1x128xbf16>
}

// A tile for each SM is enough.
// CHECK-LABEL: func.func @many
// CHECK: schedule(<blockM = 64, blockN = 128, mmaWarps = 4, producerWarps = 1, kStages = 3, vStages = 3, qInRegisters = 0, tileOrder = ascending>)
// CHECK: return
func.func @many(%q: tensor<16x32x1x128xbf16>, %k: tensor<16x8x4096x128xbf16>) -> tensor<16x32x1x128xbf16> {
  %o = attn.attention %q, %k, %k : tensor<16x32x1x128xbf16>, tensor<16x8x4096x128xbf16>, tensor<16x8x4096x128xbf16>
  return %o : tensor<16x32x1x128xbf16>
}

// Of more of them, workgroups load the next one while they compute the last.
// CHECK-LABEL: func.func @more
// CHECK: schedule(<blockM = 64, blockN = 128, mmaWarps = 4, producerWarps = 1, qStages = 2, kStages = 3, vStages = 3, qInRegisters = 0, tileOrder = ascending, persistent = dynamic>)
func.func @more(%q: tensor<64x32x1x128xbf16>, %k: tensor<64x8x4096x128xbf16>) -> tensor<64x32x1x128xbf16> {
  %o = attn.attention %q, %k, %k : tensor<64x32x1x128xbf16>, tensor<64x8x4096x128xbf16>, tensor<64x8x4096x128xbf16>
  return %o : tensor<64x32x1x128xbf16>
}

// Blocks of pages are smaller.
// CHECK-LABEL: func.func @paged
// CHECK: schedule(<blockM = 64, mmaWarps = 4, producerWarps = 1, kStages = 4, vStages = 4, qInRegisters = 0, rescale = 8, tileOrder = ascending>)
func.func @paged(%q: tensor<16x32x1x128xbf16>, %k: tensor<1024x8x64x128xbf16>, %n: tensor<16xi32>, %t: tensor<16x64xi32>) -> tensor<16x32x1x128xbf16> {
  %o = attn.attention %q, %k, %k key_lengths(%n : tensor<16xi32>) pages(%t : tensor<16x64xi32>)
      : tensor<16x32x1x128xbf16>, tensor<1024x8x64x128xbf16>, tensor<1024x8x64x128xbf16>
  return %o : tensor<16x32x1x128xbf16>
}

// Lengths of their own are balanced by parts.
// CHECK-LABEL: func.func @ragged
// CHECK: schedule(<{{.*}}persistent = dynamic, splitK = 4>)
func.func @ragged(%q: tensor<64x32x1x128xbf16>, %k: tensor<64x8x32768x128xbf16>, %n: tensor<64xi32>) -> tensor<64x32x1x128xbf16> {
  %o = attn.attention %q, %k, %k key_lengths(%n : tensor<64xi32>) : tensor<64x32x1x128xbf16>, tensor<64x8x32768x128xbf16>, tensor<64x8x32768x128xbf16>
  return %o : tensor<64x32x1x128xbf16>
}

// So few keys are not worth a second kernel.
// CHECK-LABEL: func.func @short
// CHECK-NOT: splitK
// CHECK: return
func.func @short(%q: tensor<1x8x1x128xbf16>, %k: tensor<1x8x256x128xbf16>) -> tensor<1x8x1x128xbf16> {
  %o = attn.attention %q, %k, %k : tensor<1x8x1x128xbf16>, tensor<1x8x256x128xbf16>, tensor<1x8x256x128xbf16>
  return %o : tensor<1x8x1x128xbf16>
}

// Of more queries, keys are divided where most SMs would have no tile; parts leave from registers.
// CHECK-LABEL: func.func @queries
// CHECK: schedule(<blockM = 192, blockN = 80, numWarps = 12, mmaWarps = 4, producerWarps = 4, vStages = 4, qInRegisters = 0, overlap = softmax, rescale = 8, tileOrder = ascending, splitK = 16, assembler = plain>)
func.func @queries(%q: tensor<1x8x128x128xbf16>, %k: tensor<1x8x8192x128xbf16>) -> tensor<1x8x128x128xbf16> {
  %o = attn.attention %q, %k, %k : tensor<1x8x128x128xbf16>, tensor<1x8x8192x128xbf16>, tensor<1x8x8192x128xbf16>
  return %o : tensor<1x8x128x128xbf16>
}

// Not where there are more tiles, or few keys.
// CHECK-LABEL: func.func @prompt
// CHECK-NOT: splitK
// CHECK: return
func.func @prompt(%q: tensor<1x32x512x128xbf16>, %k: tensor<1x8x8192x128xbf16>) -> tensor<1x32x512x128xbf16> {
  %o = attn.attention %q, %k, %k : tensor<1x32x512x128xbf16>, tensor<1x8x8192x128xbf16>, tensor<1x8x8192x128xbf16>
  return %o : tensor<1x32x512x128xbf16>
}
// CHECK-LABEL: func.func @short_prompt
// CHECK-NOT: splitK
// CHECK: return
func.func @short_prompt(%q: tensor<1x8x512x128xbf16>, %k: tensor<1x8x1024x128xbf16>) -> tensor<1x8x512x128xbf16> {
  %o = attn.attention %q, %k, %k : tensor<1x8x512x128xbf16>, tensor<1x8x1024x128xbf16>, tensor<1x8x1024x128xbf16>
  return %o : tensor<1x8x512x128xbf16>
}

// Two warpgroups share the columns of rows of 512, and one computes scores for them; producers hand registers over.
// CHECK-LABEL: func.func @latent
// CHECK: schedule(<blockM = 64, numWarps = 12, mmaWarps = 4, producerWarps = 4, qInRegisters = 0, pInRegisters = 0, rescale = 8, tileOrder = ascending, warpsN = 2, splitK = 4>)
// SM80-LABEL: func.func @latent
// SM80: schedule(<{{.*}}warpsN = 2
func.func @latent(%q: tensor<16x128x1x576xbf16>, %k: tensor<16x1x4096x576xbf16>) -> tensor<16x128x1x512xbf16> {
  %o = attn.attention %q, %k, %k latent(512) : tensor<16x128x1x576xbf16>, tensor<16x1x4096x576xbf16>, tensor<16x1x4096x576xbf16>
  return %o : tensor<16x128x1x512xbf16>
}

// Two queries of half of the heads are the rows of a tile.
// CHECK-LABEL: func.func @latent_of_two
// CHECK: schedule(<blockM = 64, numWarps = 12, mmaWarps = 4, producerWarps = 4, qInRegisters = 0, pInRegisters = 0, rescale = 8, tileOrder = ascending, warpsN = 2, splitK = 2>)
func.func @latent_of_two(%q: tensor<16x2x128x576xbf16>, %k: tensor<16x4096x1x576xbf16>) -> tensor<16x2x128x512xbf16> {
  %o = attn.attention %q, %k, %k latent(512) order(bshd) : tensor<16x2x128x576xbf16>, tensor<16x4096x1x576xbf16>, tensor<16x4096x1x576xbf16>
  return %o : tensor<16x2x128x512xbf16>
}

// A tile for nearly each SM; where keys differ in number, equal shares of all of them even that out.
// CHECK-LABEL: func.func @latent_of_lengths
// CHECK: splitMasked = 0, tileOrder = ascending, persistent = static, warpsN = 2, splitK = 0>)
// CHECK: splitMasked = 0, tileOrder = ascending, persistent = static, warpsN = 2, splitK = 0>)
func.func @latent_of_lengths(%q: tensor<64x128x1x576xbf16>, %k: tensor<64x1x8192x576xbf16>, %l: tensor<64x1x32768x576xbf16>, %n: tensor<64xi32>) -> (tensor<64x128x1x512xbf16>, tensor<64x128x1x512xbf16>) {
  %o = attn.attention %q, %k, %k key_lengths(%n : tensor<64xi32>) latent(512) : tensor<64x128x1x576xbf16>, tensor<64x1x8192x576xbf16>, tensor<64x1x8192x576xbf16>
  %p = attn.attention %q, %l, %l key_lengths(%n : tensor<64xi32>) latent(512) : tensor<64x128x1x576xbf16>, tensor<64x1x32768x576xbf16>, tensor<64x1x32768x576xbf16>
  return %o, %p : tensor<64x128x1x512xbf16>, tensor<64x128x1x512xbf16>
}

// Several queries of four heads are the rows of one tile, which takes as long as that of one query.
// CHECK-LABEL: func.func @several
// CHECK: schedule(<blockM = 64, blockN = 128, mmaWarps = 4, producerWarps = 1, kStages = 3, vStages = 3, qInRegisters = 0, tileOrder = ascending, splitK = 16>)
func.func @several(%q: tensor<1x32x16x128xbf16>, %k: tensor<1x8x32768x128xbf16>) -> tensor<1x32x16x128xbf16> {
  %o = attn.attention %q, %k, %k : tensor<1x32x16x128xbf16>, tensor<1x8x32768x128xbf16>, tensor<1x8x32768x128xbf16>
  return %o : tensor<1x32x16x128xbf16>
}

// In the order of frameworks as well. More rows than one warpgroup has are those of two, which multiply under their softmax, and of as many
// heads as these have rows for.
// CHECK-LABEL: func.func @more_rows
// CHECK: schedule(<blockN = 128, numWarps = 8, mmaWarps = 4, producerWarps = 4, kStages = 3, vStages = 3, qInRegisters = 0, overlap = softmax, rescale = 8, tileOrder = ascending, splitK = 2>)
// CHECK: schedule(<blockN = 128, numWarps = 8, mmaWarps = 4, {{.*}}tileOrder = ascending>)
func.func @more_rows(%q: tensor<8x20x32x128xbf16>, %k: tensor<8x8192x8x128xbf16>, %r: tensor<8x64x32x128xbf16>) -> (tensor<8x20x32x128xbf16>, tensor<8x64x32x128xbf16>) {
  %o = attn.attention %q, %k, %k order(bshd) : tensor<8x20x32x128xbf16>, tensor<8x8192x8x128xbf16>, tensor<8x8192x8x128xbf16>
  %p = attn.attention %r, %k, %k order(bshd) : tensor<8x64x32x128xbf16>, tensor<8x8192x8x128xbf16>, tensor<8x8192x8x128xbf16>
  return %o, %p : tensor<8x20x32x128xbf16>, tensor<8x64x32x128xbf16>
}

// Where no heads share a tile, several queries multiply enough to wait for their softmax: two workgroups an SM, and parts for all of them.
// CHECK-LABEL: func.func @several_apart
// CHECK: schedule(<blockM = 64, blockN = 80, mmaWarps = 4, producerWarps = 1, qInRegisters = 0, overlap = softmax, rescale = 8, tileOrder = ascending, workgroupsPerSm = 2, splitK = 8, merge = last>)
func.func @several_apart(%q: tensor<1x32x20x128xbf16>, %k: tensor<1x32x32768x128xbf16>) -> tensor<1x32x20x128xbf16> {
  %o = attn.attention %q, %k, %k : tensor<1x32x20x128xbf16>, tensor<1x32x32768x128xbf16>, tensor<1x32x32768x128xbf16>
  return %o : tensor<1x32x20x128xbf16>
}

// Blocks of pages are those of smaller tiles here, too; parts of long sequences balance what is left.
// CHECK-LABEL: func.func @several_of_lengths
// CHECK: schedule(<blockM = 64, mmaWarps = 4, producerWarps = 1, qStages = 2, kStages = 4, vStages = 4, {{.*}}persistent = dynamic, splitK = 4>)
func.func @several_of_lengths(%q: tensor<64x32x4x128xbf16>, %k: tensor<8192x8x64x128xbf16>, %n: tensor<64xi32>, %t: tensor<64x512xi32>) -> tensor<64x32x4x128xbf16> {
  %o = attn.attention %q, %k, %k key_lengths(%n : tensor<64xi32>) pages(%t : tensor<64x512xi32>) causal(bottom_right)
      : tensor<64x32x4x128xbf16>, tensor<8192x8x64x128xbf16>, tensor<8192x8x64x128xbf16>
  return %o : tensor<64x32x4x128xbf16>
}

// Each warp widens keys of 8 bits for itself: one, with the rows of one instruction.
// CHECK-LABEL: func.func @narrow
// CHECK: schedule(<blockM = 16, numWarps = 1, kStages = 1, vStages = 1, rescale = 8, tileOrder = ascending, workgroupsPerSm = 4, splitK = 8>)
func.func @narrow(%q: tensor<16x32x1x128xbf16>, %k: tensor<16x8x4096x128xf8E4M3FN>) -> tensor<16x32x1x128xbf16> {
  %o = attn.attention %q, %k, %k : tensor<16x32x1x128xbf16>, tensor<16x8x4096x128xf8E4M3FN>, tensor<16x8x4096x128xf8E4M3FN>
  return %o : tensor<16x32x1x128xbf16>
}

// As many of these share the keys of many sequences as each has some thousands of, whatever their lengths are.
// CHECK-LABEL: func.func @narrow_of_lengths
// CHECK: schedule(<{{.*}}numWarps = 1, {{.*}}splitK = 16>)
// CHECK: schedule(<{{.*}}numWarps = 1, {{.*}}splitK = 4>)
func.func @narrow_of_lengths(%q: tensor<64x32x1x128xbf16>, %k: tensor<8192x8x64x128xf8E4M3FN>, %n: tensor<64xi32>, %long: tensor<64x512xi32>, %short: tensor<64x128xi32>)
    -> (tensor<64x32x1x128xbf16>, tensor<64x32x1x128xbf16>) {
  %a = attn.attention %q, %k, %k key_lengths(%n : tensor<64xi32>) pages(%long : tensor<64x512xi32>)
      : tensor<64x32x1x128xbf16>, tensor<8192x8x64x128xf8E4M3FN>, tensor<8192x8x64x128xf8E4M3FN>
  %b = attn.attention %q, %k, %k key_lengths(%n : tensor<64xi32>) pages(%short : tensor<64x128xi32>)
      : tensor<64x32x1x128xbf16>, tensor<8192x8x64x128xf8E4M3FN>, tensor<8192x8x64x128xf8E4M3FN>
  return %a, %b : tensor<64x32x1x128xbf16>, tensor<64x32x1x128xbf16>
}
