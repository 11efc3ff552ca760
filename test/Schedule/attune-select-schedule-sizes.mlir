// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Likely sizes of dynamic dimensions decide what is chosen.
//
// RUN: attune-opt %s --attune-attach-target=chip=sm_90a --attune-select-schedule="sizes=seq-q=256,seq-k=256" | FileCheck %s --check-prefixes=CHECK,SHORT
// RUN: attune-opt %s --attune-attach-target=chip=sm_90a --attune-select-schedule="sizes=seq-q=16384,seq-k=16384" | FileCheck %s --check-prefixes=CHECK,LONG
// RUN: not attune-opt %s --attune-attach-target=chip=sm_90a --attune-select-schedule="sizes=sequence=1" 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not attune-opt %s --attune-attach-target=chip=sm_90a --attune-select-schedule="sizes=seq-q=-1" 2>&1 | FileCheck %s --check-prefix=VALUE
// NAME: error: expects sizes=<name>=<number> with a name of {{.*}}seq-q{{.*}}, but got 'sequence=1'
// VALUE: error: expects sizes=<name>=<number> with a name of {{.*}}, but got 'seq-q=-1'

// CHECK-LABEL: func.func @masked_64
// SHORT: schedule(<blockM = 64, mmaWarps = 4, producerWarps = 1, qStages = 2, qInRegisters = 0, splitMasked = 0, tileOrder = "across-heads", persistent = dynamic, workgroupsPerSm = 4>)
// LONG: schedule(<blockM = 192, blockN = 128, numWarps = 12, mmaWarps = 4, producerWarps = 4, qStages = 2, qInRegisters = 0, oInShared = buffer, overlap = "ping-pong", tileOrder = "across-heads", persistent = dynamic, assembler = plain>)
func.func @masked_64(%q: tensor<1x8x?x64xbf16>) -> tensor<1x8x?x64xbf16> {
  %o = attn.attention %q, %q, %q causal(bottom_right) : tensor<1x8x?x64xbf16>, tensor<1x8x?x64xbf16>, tensor<1x8x?x64xbf16>
  return %o : tensor<1x8x?x64xbf16>
}

// CHECK-LABEL: func.func @masked_128
// SHORT: schedule(<blockN = 128, numWarps = 8, mmaWarps = 4, producerWarps = 4, qStages = 2, qInRegisters = 0, oInShared = buffer, overlap = "ping-pong", tileOrder = "across-heads", persistent = dynamic, lateKeys = 32>)
// LONG: schedule(<blockN = 128, numWarps = 8, mmaWarps = 4, producerWarps = 4, qStages = 2, qInRegisters = 0, oInShared = buffer, overlap = "ping-pong", tileOrder = "across-heads", persistent = dynamic, lateKeys = 32>)
func.func @masked_128(%q: tensor<1x8x?x128xbf16>) -> tensor<1x8x?x128xbf16> {
  %o = attn.attention %q, %q, %q causal(bottom_right) : tensor<1x8x?x128xbf16>, tensor<1x8x?x128xbf16>, tensor<1x8x?x128xbf16>
  return %o : tensor<1x8x?x128xbf16>
}

// CHECK-LABEL: func.func @any_128
// SHORT: schedule(<blockN = 128, numWarps = 8, mmaWarps = 4, producerWarps = 4, qStages = 2, qInRegisters = 0, oInShared = buffer, overlap = "ping-pong", tileOrder = ascending, persistent = dynamic, assembler = sparing>)
// LONG: schedule(<blockN = 128, numWarps = 8, mmaWarps = 4, producerWarps = 4, qStages = 2, qInRegisters = 0, oInShared = buffer, overlap = "ping-pong", tileOrder = ascending, persistent = dynamic, lateKeys = 32, strengthReduction = 1, assembler = sparing>)
func.func @any_128(%q: tensor<1x8x?x128xbf16>) -> tensor<1x8x?x128xbf16> {
  %o = attn.attention %q, %q, %q : tensor<1x8x?x128xbf16>, tensor<1x8x?x128xbf16>, tensor<1x8x?x128xbf16>
  return %o : tensor<1x8x?x128xbf16>
}

// Both ends of a window are computed, which takes the registers of large blocks.
// CHECK-LABEL: func.func @window_128
// CHECK: schedule(<numWarps = 8, mmaWarps = 4, producerWarps = 4, qStages = 2, qInRegisters = 0, oInShared = buffer, overlap = softmax, tileOrder = "across-heads", persistent = dynamic>)
func.func @window_128(%q: tensor<1x8x?x128xbf16>) -> tensor<1x8x?x128xbf16> {
  %o = attn.attention %q, %q, %q causal(bottom_right) window(4096, 0, bottom_right) : tensor<1x8x?x128xbf16>, tensor<1x8x?x128xbf16>, tensor<1x8x?x128xbf16>
  return %o : tensor<1x8x?x128xbf16>
}

// Static sizes are what they are, and no last block is taken to be whole where lengths are not.
// CHECK-LABEL: func.func @static
// CHECK: schedule(<blockM = 192, blockN = 80, numWarps = 12, mmaWarps = 4, producerWarps = 4, qStages = 2, vStages = 4, qInRegisters = 0, overlap = softmax, rescale = 8, tileOrder = ascending, persistent = dynamic, assembler = plain>)
func.func @static(%q: tensor<1x8x4096x128xbf16>) -> tensor<1x8x4096x128xbf16> {
  %o = attn.attention %q, %q, %q : tensor<1x8x4096x128xbf16>, tensor<1x8x4096x128xbf16>, tensor<1x8x4096x128xbf16>
  return %o : tensor<1x8x4096x128xbf16>
}
