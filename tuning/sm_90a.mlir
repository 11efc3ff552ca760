// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Schedules for one H200: bf16, 16384 tokens, hidden 2048. Each was found by
//   attune-tune <problem> --chip=sm_90a --budget=15s --max-spill-bytes=0
// from the op alone (40 to 45 seconds for six of the longer ones, 22 for head
// size 256), and verified; most were then replaced by one that was faster on a
// hot chip, of up to 15 that were timed in turns with each other and with other
// kernels. The figures are those of a hot chip where the lengths are 512, 1024,
// ..., 16384 (docs/measurements/Forward.md), but for schedules with lateKeys, which
// are up to 5 percent faster than those that they replace. Lengths that are not
// listed get the closest one's.

module attributes {attune.tuned_for = "sm_90a"} {
  // 417 TFLOP/s.
  func.func @head_64_full_512(%arg0: tensor<32x32x512x64xbf16>, %arg1: tensor<32x32x512x64xbf16>, %arg2: tensor<32x32x512x64xbf16>) -> tensor<32x32x512x64xbf16> {
    %o = attn.attention %arg0, %arg1, %arg2 schedule(<blockM = 256, numWarps = 16, mmaWarps = 4, producerWarps = 4, qStages = 2, kStages = 4, vStages = 4, qInRegisters = 0, overlap = "ping-pong", rescale = 8, splitMasked = 0, persistent = static, cluster = 2>) : tensor<32x32x512x64xbf16>, tensor<32x32x512x64xbf16>, tensor<32x32x512x64xbf16>
    return %o : tensor<32x32x512x64xbf16>
  }
  // 460 TFLOP/s.
  func.func @head_64_full_1024(%arg0: tensor<16x32x1024x64xbf16>, %arg1: tensor<16x32x1024x64xbf16>, %arg2: tensor<16x32x1024x64xbf16>) -> tensor<16x32x1024x64xbf16> {
    %o = attn.attention %arg0, %arg1, %arg2 schedule(<blockM = 256, blockN = 96, numWarps = 16, mmaWarps = 4, producerWarps = 4, qStages = 2, qInRegisters = 0, rescale = 8, tileOrder = ascending, persistent = dynamic>) : tensor<16x32x1024x64xbf16>, tensor<16x32x1024x64xbf16>, tensor<16x32x1024x64xbf16>
    return %o : tensor<16x32x1024x64xbf16>
  }
  // 463 TFLOP/s.
  func.func @head_64_full_2048(%arg0: tensor<8x32x2048x64xbf16>, %arg1: tensor<8x32x2048x64xbf16>, %arg2: tensor<8x32x2048x64xbf16>) -> tensor<8x32x2048x64xbf16> {
    %o = attn.attention %arg0, %arg1, %arg2 schedule(<blockM = 256, numWarps = 16, mmaWarps = 4, producerWarps = 4, qStages = 2, kStages = 4, vStages = 4, qInRegisters = 0, overlap = "ping-pong", rescale = 8, splitMasked = 0, tileOrder = ascending, persistent = static, cluster = 2>) : tensor<8x32x2048x64xbf16>, tensor<8x32x2048x64xbf16>, tensor<8x32x2048x64xbf16>
    return %o : tensor<8x32x2048x64xbf16>
  }
  // 497 TFLOP/s.
  func.func @head_64_full_4096(%arg0: tensor<4x32x4096x64xbf16>, %arg1: tensor<4x32x4096x64xbf16>, %arg2: tensor<4x32x4096x64xbf16>) -> tensor<4x32x4096x64xbf16> {
    %o = attn.attention %arg0, %arg1, %arg2 schedule(<blockM = 256, blockN = 96, numWarps = 16, mmaWarps = 4, producerWarps = 4, qStages = 2, qInRegisters = 0, rescale = 8, tileOrder = ascending, persistent = dynamic>) : tensor<4x32x4096x64xbf16>, tensor<4x32x4096x64xbf16>, tensor<4x32x4096x64xbf16>
    return %o : tensor<4x32x4096x64xbf16>
  }
  // 514 TFLOP/s.
  func.func @head_64_full_8192(%arg0: tensor<2x32x8192x64xbf16>, %arg1: tensor<2x32x8192x64xbf16>, %arg2: tensor<2x32x8192x64xbf16>) -> tensor<2x32x8192x64xbf16> {
    %o = attn.attention %arg0, %arg1, %arg2 schedule(<blockM = 192, blockN = 128, numWarps = 12, mmaWarps = 4, producerWarps = 4, qInRegisters = 0, overlap = "ping-pong", rescale = 8, splitMasked = 0>) : tensor<2x32x8192x64xbf16>, tensor<2x32x8192x64xbf16>, tensor<2x32x8192x64xbf16>
    return %o : tensor<2x32x8192x64xbf16>
  }
  // 523 TFLOP/s.
  func.func @head_64_full_16384(%arg0: tensor<1x32x16384x64xbf16>, %arg1: tensor<1x32x16384x64xbf16>, %arg2: tensor<1x32x16384x64xbf16>) -> tensor<1x32x16384x64xbf16> {
    %o = attn.attention %arg0, %arg1, %arg2 schedule(<blockM = 192, blockN = 128, numWarps = 12, mmaWarps = 4, producerWarps = 4, qInRegisters = 0, overlap = "ping-pong", rescale = 8, tileOrder = ascending>) : tensor<1x32x16384x64xbf16>, tensor<1x32x16384x64xbf16>, tensor<1x32x16384x64xbf16>
    return %o : tensor<1x32x16384x64xbf16>
  }
  // 296 TFLOP/s.
  func.func @head_64_causal_512(%arg0: tensor<32x32x512x64xbf16>, %arg1: tensor<32x32x512x64xbf16>, %arg2: tensor<32x32x512x64xbf16>) -> tensor<32x32x512x64xbf16> {
    %o = attn.attention %arg0, %arg1, %arg2 causal(top_left) schedule(<blockM = 64, mmaWarps = 4, producerWarps = 1, qStages = 2, qInRegisters = 0, splitMasked = 0, persistent = dynamic, workgroupsPerSm = 4>) : tensor<32x32x512x64xbf16>, tensor<32x32x512x64xbf16>, tensor<32x32x512x64xbf16>
    return %o : tensor<32x32x512x64xbf16>
  }
  // 351 TFLOP/s.
  func.func @head_64_causal_1024(%arg0: tensor<16x32x1024x64xbf16>, %arg1: tensor<16x32x1024x64xbf16>, %arg2: tensor<16x32x1024x64xbf16>) -> tensor<16x32x1024x64xbf16> {
    %o = attn.attention %arg0, %arg1, %arg2 causal(top_left) schedule(<blockM = 64, mmaWarps = 4, producerWarps = 1, qStages = 2, qInRegisters = 0, rescale = 8, splitMasked = 0, tileOrder = "across-heads", persistent = dynamic, workgroupsPerSm = 4>) : tensor<16x32x1024x64xbf16>, tensor<16x32x1024x64xbf16>, tensor<16x32x1024x64xbf16>
    return %o : tensor<16x32x1024x64xbf16>
  }
  // 384 TFLOP/s.
  func.func @head_64_causal_2048(%arg0: tensor<8x32x2048x64xbf16>, %arg1: tensor<8x32x2048x64xbf16>, %arg2: tensor<8x32x2048x64xbf16>) -> tensor<8x32x2048x64xbf16> {
    %o = attn.attention %arg0, %arg1, %arg2 causal(top_left) schedule(<blockM = 192, blockN = 128, numWarps = 12, mmaWarps = 4, producerWarps = 4, qStages = 2, qInRegisters = 0, oInShared = buffer, overlap = "ping-pong", rescale = 8, tileOrder = "across-heads", persistent = dynamic>) : tensor<8x32x2048x64xbf16>, tensor<8x32x2048x64xbf16>, tensor<8x32x2048x64xbf16>
    return %o : tensor<8x32x2048x64xbf16>
  }
  // 435 TFLOP/s.
  func.func @head_64_causal_4096(%arg0: tensor<4x32x4096x64xbf16>, %arg1: tensor<4x32x4096x64xbf16>, %arg2: tensor<4x32x4096x64xbf16>) -> tensor<4x32x4096x64xbf16> {
    %o = attn.attention %arg0, %arg1, %arg2 causal(top_left) schedule(<blockM = 192, blockN = 128, numWarps = 12, mmaWarps = 4, producerWarps = 4, qStages = 2, qInRegisters = 0, oInShared = buffer, overlap = "ping-pong", rescale = 8, tileOrder = "across-heads", persistent = dynamic>) : tensor<4x32x4096x64xbf16>, tensor<4x32x4096x64xbf16>, tensor<4x32x4096x64xbf16>
    return %o : tensor<4x32x4096x64xbf16>
  }
  // 481 TFLOP/s.
  func.func @head_64_causal_8192(%arg0: tensor<2x32x8192x64xbf16>, %arg1: tensor<2x32x8192x64xbf16>, %arg2: tensor<2x32x8192x64xbf16>) -> tensor<2x32x8192x64xbf16> {
    %o = attn.attention %arg0, %arg1, %arg2 causal(top_left) schedule(<blockM = 192, blockN = 128, numWarps = 12, mmaWarps = 4, producerWarps = 4, qStages = 2, qInRegisters = 0, oInShared = buffer, overlap = "ping-pong", rescale = 8, tileOrder = "across-heads", persistent = dynamic>) : tensor<2x32x8192x64xbf16>, tensor<2x32x8192x64xbf16>, tensor<2x32x8192x64xbf16>
    return %o : tensor<2x32x8192x64xbf16>
  }
  // 500 TFLOP/s.
  func.func @head_64_causal_16384(%arg0: tensor<1x32x16384x64xbf16>, %arg1: tensor<1x32x16384x64xbf16>, %arg2: tensor<1x32x16384x64xbf16>) -> tensor<1x32x16384x64xbf16> {
    %o = attn.attention %arg0, %arg1, %arg2 causal(top_left) schedule(<blockM = 192, blockN = 128, numWarps = 12, mmaWarps = 4, producerWarps = 4, qStages = 2, qInRegisters = 0, oInShared = buffer, overlap = "ping-pong", rescale = 8, tileOrder = "across-heads", persistent = dynamic>) : tensor<1x32x16384x64xbf16>, tensor<1x32x16384x64xbf16>, tensor<1x32x16384x64xbf16>
    return %o : tensor<1x32x16384x64xbf16>
  }
  // 529 TFLOP/s.
  func.func @head_128_full_512(%arg0: tensor<32x16x512x128xbf16>, %arg1: tensor<32x16x512x128xbf16>, %arg2: tensor<32x16x512x128xbf16>) -> tensor<32x16x512x128xbf16> {
    %o = attn.attention %arg0, %arg1, %arg2 schedule(<blockN = 128, numWarps = 8, mmaWarps = 4, producerWarps = 4, qStages = 2, qInRegisters = 0, oInShared = buffer, overlap = softmax, rescale = 8, tileOrder = ascending, persistent = static, cluster = 2>) : tensor<32x16x512x128xbf16>, tensor<32x16x512x128xbf16>, tensor<32x16x512x128xbf16>
    return %o : tensor<32x16x512x128xbf16>
  }
  // 574 TFLOP/s.
  func.func @head_128_full_1024(%arg0: tensor<16x16x1024x128xbf16>, %arg1: tensor<16x16x1024x128xbf16>, %arg2: tensor<16x16x1024x128xbf16>) -> tensor<16x16x1024x128xbf16> {
    %o = attn.attention %arg0, %arg1, %arg2 schedule(<blockN = 128, numWarps = 8, mmaWarps = 4, producerWarps = 4, qStages = 2, qInRegisters = 0, oInShared = buffer, overlap = "ping-pong", tileOrder = ascending, persistent = static, cluster = 2, lateKeys = 32>) : tensor<16x16x1024x128xbf16>, tensor<16x16x1024x128xbf16>, tensor<16x16x1024x128xbf16>
    return %o : tensor<16x16x1024x128xbf16>
  }
  // 611 TFLOP/s.
  func.func @head_128_full_2048(%arg0: tensor<8x16x2048x128xbf16>, %arg1: tensor<8x16x2048x128xbf16>, %arg2: tensor<8x16x2048x128xbf16>) -> tensor<8x16x2048x128xbf16> {
    %o = attn.attention %arg0, %arg1, %arg2 schedule(<blockN = 128, numWarps = 8, mmaWarps = 4, producerWarps = 4, qStages = 2, qInRegisters = 0, oInShared = buffer, overlap = "ping-pong", tileOrder = ascending, persistent = static, cluster = 2, lateKeys = 32>) : tensor<8x16x2048x128xbf16>, tensor<8x16x2048x128xbf16>, tensor<8x16x2048x128xbf16>
    return %o : tensor<8x16x2048x128xbf16>
  }
  // 620 TFLOP/s.
  func.func @head_128_full_4096(%arg0: tensor<4x16x4096x128xbf16>, %arg1: tensor<4x16x4096x128xbf16>, %arg2: tensor<4x16x4096x128xbf16>) -> tensor<4x16x4096x128xbf16> {
    %o = attn.attention %arg0, %arg1, %arg2 schedule(<blockN = 128, numWarps = 8, mmaWarps = 4, producerWarps = 4, qStages = 2, qInRegisters = 0, oInShared = buffer, overlap = "ping-pong", tileOrder = ascending, persistent = static, cluster = 2, lateKeys = 32>) : tensor<4x16x4096x128xbf16>, tensor<4x16x4096x128xbf16>, tensor<4x16x4096x128xbf16>
    return %o : tensor<4x16x4096x128xbf16>
  }
  // 652 TFLOP/s.
  func.func @head_128_full_8192(%arg0: tensor<2x16x8192x128xbf16>, %arg1: tensor<2x16x8192x128xbf16>, %arg2: tensor<2x16x8192x128xbf16>) -> tensor<2x16x8192x128xbf16> {
    %o = attn.attention %arg0, %arg1, %arg2 schedule(<blockM = 192, blockN = 80, numWarps = 12, mmaWarps = 4, producerWarps = 4, qStages = 2, vStages = 4, qInRegisters = 0, overlap = softmax, rescale = 8, tileOrder = ascending, persistent = dynamic>) : tensor<2x16x8192x128xbf16>, tensor<2x16x8192x128xbf16>, tensor<2x16x8192x128xbf16>
    return %o : tensor<2x16x8192x128xbf16>
  }
  // 669 TFLOP/s.
  func.func @head_128_full_16384(%arg0: tensor<1x16x16384x128xbf16>, %arg1: tensor<1x16x16384x128xbf16>, %arg2: tensor<1x16x16384x128xbf16>) -> tensor<1x16x16384x128xbf16> {
    %o = attn.attention %arg0, %arg1, %arg2 schedule(<blockM = 192, blockN = 80, numWarps = 12, mmaWarps = 4, producerWarps = 4, qStages = 2, vStages = 4, qInRegisters = 0, overlap = softmax, rescale = 8, tileOrder = ascending, persistent = static, cluster = 2>) : tensor<1x16x16384x128xbf16>, tensor<1x16x16384x128xbf16>, tensor<1x16x16384x128xbf16>
    return %o : tensor<1x16x16384x128xbf16>
  }
  // 340 TFLOP/s.
  func.func @head_128_causal_512(%arg0: tensor<32x16x512x128xbf16>, %arg1: tensor<32x16x512x128xbf16>, %arg2: tensor<32x16x512x128xbf16>) -> tensor<32x16x512x128xbf16> {
    %o = attn.attention %arg0, %arg1, %arg2 causal(top_left) schedule(<blockN = 128, numWarps = 8, mmaWarps = 4, producerWarps = 4, qStages = 2, qInRegisters = 0, overlap = "ping-pong", tileOrder = ascending, persistent = dynamic, lateKeys = 32>) : tensor<32x16x512x128xbf16>, tensor<32x16x512x128xbf16>, tensor<32x16x512x128xbf16>
    return %o : tensor<32x16x512x128xbf16>
  }
  // 441 TFLOP/s.
  func.func @head_128_causal_1024(%arg0: tensor<16x16x1024x128xbf16>, %arg1: tensor<16x16x1024x128xbf16>, %arg2: tensor<16x16x1024x128xbf16>) -> tensor<16x16x1024x128xbf16> {
    %o = attn.attention %arg0, %arg1, %arg2 causal(top_left) schedule(<blockN = 128, numWarps = 8, mmaWarps = 4, producerWarps = 4, qStages = 2, qInRegisters = 0, oInShared = buffer, overlap = "ping-pong", tileOrder = "across-heads", persistent = dynamic, lateKeys = 32>) : tensor<16x16x1024x128xbf16>, tensor<16x16x1024x128xbf16>, tensor<16x16x1024x128xbf16>
    return %o : tensor<16x16x1024x128xbf16>
  }
  // 520 TFLOP/s.
  func.func @head_128_causal_2048(%arg0: tensor<8x16x2048x128xbf16>, %arg1: tensor<8x16x2048x128xbf16>, %arg2: tensor<8x16x2048x128xbf16>) -> tensor<8x16x2048x128xbf16> {
    %o = attn.attention %arg0, %arg1, %arg2 causal(top_left) schedule(<blockN = 128, numWarps = 8, mmaWarps = 4, producerWarps = 4, qStages = 2, qInRegisters = 0, oInShared = buffer, overlap = "ping-pong", tileOrder = "across-heads", persistent = dynamic, lateKeys = 32>) : tensor<8x16x2048x128xbf16>, tensor<8x16x2048x128xbf16>, tensor<8x16x2048x128xbf16>
    return %o : tensor<8x16x2048x128xbf16>
  }
  // 575 TFLOP/s.
  func.func @head_128_causal_4096(%arg0: tensor<4x16x4096x128xbf16>, %arg1: tensor<4x16x4096x128xbf16>, %arg2: tensor<4x16x4096x128xbf16>) -> tensor<4x16x4096x128xbf16> {
    %o = attn.attention %arg0, %arg1, %arg2 causal(top_left) schedule(<blockN = 128, numWarps = 8, mmaWarps = 4, producerWarps = 4, qStages = 2, qInRegisters = 0, oInShared = buffer, overlap = "ping-pong", tileOrder = "across-heads", persistent = dynamic, lateKeys = 32>) : tensor<4x16x4096x128xbf16>, tensor<4x16x4096x128xbf16>, tensor<4x16x4096x128xbf16>
    return %o : tensor<4x16x4096x128xbf16>
  }
  // 612 TFLOP/s.
  func.func @head_128_causal_8192(%arg0: tensor<2x16x8192x128xbf16>, %arg1: tensor<2x16x8192x128xbf16>, %arg2: tensor<2x16x8192x128xbf16>) -> tensor<2x16x8192x128xbf16> {
    %o = attn.attention %arg0, %arg1, %arg2 causal(top_left) schedule(<blockM = 192, blockN = 80, numWarps = 12, mmaWarps = 4, producerWarps = 4, vStages = 4, qInRegisters = 0, overlap = softmax, rescale = 8, tileOrder = "across-heads">) : tensor<2x16x8192x128xbf16>, tensor<2x16x8192x128xbf16>, tensor<2x16x8192x128xbf16>
    return %o : tensor<2x16x8192x128xbf16>
  }
  // 647 TFLOP/s.
  func.func @head_128_causal_16384(%arg0: tensor<1x16x16384x128xbf16>, %arg1: tensor<1x16x16384x128xbf16>, %arg2: tensor<1x16x16384x128xbf16>) -> tensor<1x16x16384x128xbf16> {
    %o = attn.attention %arg0, %arg1, %arg2 causal(top_left) schedule(<blockM = 192, blockN = 80, numWarps = 12, mmaWarps = 4, producerWarps = 4, vStages = 4, qInRegisters = 0, overlap = softmax, rescale = 8, tileOrder = "across-heads">) : tensor<1x16x16384x128xbf16>, tensor<1x16x16384x128xbf16>, tensor<1x16x16384x128xbf16>
    return %o : tensor<1x16x16384x128xbf16>
  }
  // 545 TFLOP/s.
  func.func @head_256_full_512(%arg0: tensor<32x8x512x256xbf16>, %arg1: tensor<32x8x512x256xbf16>, %arg2: tensor<32x8x512x256xbf16>) -> tensor<32x8x512x256xbf16> {
    %o = attn.attention %arg0, %arg1, %arg2 schedule(<numWarps = 8, mmaWarps = 4, producerWarps = 4, qInRegisters = 0, overlap = "ping-pong", rescale = 8, splitMasked = 0, tileOrder = ascending, persistent = static>) : tensor<32x8x512x256xbf16>, tensor<32x8x512x256xbf16>, tensor<32x8x512x256xbf16>
    return %o : tensor<32x8x512x256xbf16>
  }
  // 707 TFLOP/s.
  func.func @head_256_full_4096(%arg0: tensor<4x8x4096x256xbf16>, %arg1: tensor<4x8x4096x256xbf16>, %arg2: tensor<4x8x4096x256xbf16>) -> tensor<4x8x4096x256xbf16> {
    %o = attn.attention %arg0, %arg1, %arg2 schedule(<numWarps = 8, mmaWarps = 4, producerWarps = 4, qInRegisters = 0, overlap = "ping-pong", rescale = 8, splitMasked = 0, tileOrder = ascending>) : tensor<4x8x4096x256xbf16>, tensor<4x8x4096x256xbf16>, tensor<4x8x4096x256xbf16>
    return %o : tensor<4x8x4096x256xbf16>
  }
  // 725 TFLOP/s.
  func.func @head_256_full_16384(%arg0: tensor<1x8x16384x256xbf16>, %arg1: tensor<1x8x16384x256xbf16>, %arg2: tensor<1x8x16384x256xbf16>) -> tensor<1x8x16384x256xbf16> {
    %o = attn.attention %arg0, %arg1, %arg2 schedule(<blockN = 80, numWarps = 8, mmaWarps = 4, producerWarps = 4, qInRegisters = 0, overlap = softmax, rescale = 8, tileOrder = ascending>) : tensor<1x8x16384x256xbf16>, tensor<1x8x16384x256xbf16>, tensor<1x8x16384x256xbf16>
    return %o : tensor<1x8x16384x256xbf16>
  }
  // 346 TFLOP/s.
  func.func @head_256_causal_512(%arg0: tensor<32x8x512x256xbf16>, %arg1: tensor<32x8x512x256xbf16>, %arg2: tensor<32x8x512x256xbf16>) -> tensor<32x8x512x256xbf16> {
    %o = attn.attention %arg0, %arg1, %arg2 causal(top_left) schedule(<numWarps = 8, mmaWarps = 4, producerWarps = 4, qInRegisters = 0, overlap = "ping-pong", rescale = 8, persistent = dynamic>) : tensor<32x8x512x256xbf16>, tensor<32x8x512x256xbf16>, tensor<32x8x512x256xbf16>
    return %o : tensor<32x8x512x256xbf16>
  }
  // 635 TFLOP/s.
  func.func @head_256_causal_4096(%arg0: tensor<4x8x4096x256xbf16>, %arg1: tensor<4x8x4096x256xbf16>, %arg2: tensor<4x8x4096x256xbf16>) -> tensor<4x8x4096x256xbf16> {
    %o = attn.attention %arg0, %arg1, %arg2 causal(top_left) schedule(<numWarps = 8, mmaWarps = 4, producerWarps = 4, qInRegisters = 0, overlap = softmax, rescale = 8, tileOrder = "across-heads">) : tensor<4x8x4096x256xbf16>, tensor<4x8x4096x256xbf16>, tensor<4x8x4096x256xbf16>
    return %o : tensor<4x8x4096x256xbf16>
  }
  // 711 TFLOP/s.
  func.func @head_256_causal_16384(%arg0: tensor<1x8x16384x256xbf16>, %arg1: tensor<1x8x16384x256xbf16>, %arg2: tensor<1x8x16384x256xbf16>) -> tensor<1x8x16384x256xbf16> {
    %o = attn.attention %arg0, %arg1, %arg2 causal(top_left) schedule(<blockN = 80, numWarps = 8, mmaWarps = 4, producerWarps = 4, qInRegisters = 0, overlap = softmax, rescale = 8>) : tensor<1x8x16384x256xbf16>, tensor<1x8x16384x256xbf16>, tensor<1x8x16384x256xbf16>
    return %o : tensor<1x8x16384x256xbf16>
  }
  // 700 TFLOP/s.
  func.func @head_128_full_3000(%arg0: tensor<5x16x3000x128xbf16>, %arg1: tensor<5x16x3000x128xbf16>, %arg2: tensor<5x16x3000x128xbf16>) -> tensor<5x16x3000x128xbf16> {
    %o = attn.attention %arg0, %arg1, %arg2 schedule(<blockM = 192, blockN = 80, numWarps = 12, mmaWarps = 4, producerWarps = 4, vStages = 3, qInRegisters = 0, overlap = "ping-pong", rescale = 8, tileOrder = ascending>) : tensor<5x16x3000x128xbf16>, tensor<5x16x3000x128xbf16>, tensor<5x16x3000x128xbf16>
    return %o : tensor<5x16x3000x128xbf16>
  }
  // 606 TFLOP/s.
  func.func @head_128_causal_4097(%arg0: tensor<4x16x4097x128xbf16>, %arg1: tensor<4x16x4097x128xbf16>, %arg2: tensor<4x16x4097x128xbf16>) -> tensor<4x16x4097x128xbf16> {
    %o = attn.attention %arg0, %arg1, %arg2 causal(top_left) schedule(<blockN = 128, numWarps = 8, mmaWarps = 4, producerWarps = 4, qStages = 2, qInRegisters = 0, overlap = "ping-pong", tileOrder = "across-heads", persistent = dynamic, lateKeys = 32>) : tensor<4x16x4097x128xbf16>, tensor<4x16x4097x128xbf16>, tensor<4x16x4097x128xbf16>
    return %o : tensor<4x16x4097x128xbf16>
  }
  // 580 TFLOP/s.
  func.func @head_96_causal_4096(%arg0: tensor<4x21x4096x96xbf16>, %arg1: tensor<4x21x4096x96xbf16>, %arg2: tensor<4x21x4096x96xbf16>) -> tensor<4x21x4096x96xbf16> {
    %o = attn.attention %arg0, %arg1, %arg2 causal(top_left) schedule(<blockN = 128, numWarps = 8, mmaWarps = 4, producerWarps = 4, qStages = 2, kStages = 4, qInRegisters = 0, overlap = "ping-pong", tileOrder = "across-heads", persistent = dynamic, lateKeys = 32>) : tensor<4x21x4096x96xbf16>, tensor<4x21x4096x96xbf16>, tensor<4x21x4096x96xbf16>
    return %o : tensor<4x21x4096x96xbf16>
  }
  // 672 TFLOP/s.
  func.func @head_192_128_causal_4096(%arg0: tensor<4x16x4096x192xbf16>, %arg1: tensor<4x16x4096x192xbf16>, %arg2: tensor<4x16x4096x128xbf16>) -> tensor<4x16x4096x128xbf16> {
    %o = attn.attention %arg0, %arg1, %arg2 causal(top_left) schedule(<blockN = 128, numWarps = 8, mmaWarps = 4, producerWarps = 4, qInRegisters = 0, overlap = "ping-pong">) : tensor<4x16x4096x192xbf16>, tensor<4x16x4096x192xbf16>, tensor<4x16x4096x128xbf16>
    return %o : tensor<4x16x4096x128xbf16>
  }
}
