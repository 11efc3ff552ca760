// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Schedules for one H200: bf16, 16384 tokens, hidden 2048. Those of lengths 512,
// 1024, ..., 16384 are the fastest on a hot chip of what
//   attune-tune <problem> --chip=sm_90a --budget=15s --max-spill-bytes=0
// had found from the op alone and of what attune-select-schedule picks, which
// learned from such searches; by now it is the latter for all but 64 columns
// without a mask at 1024 and 4096. Figures are of kernels with log-sum-exp
// (docs/measurements/Forward.md). The others were found by such a search.
// Lengths that are not listed get the closest one's.

module attributes {attune.tuned_for = "sm_90a"} {
  // 433 TFLOP/s.
  func.func @head_64_full_512(%arg0: tensor<32x32x512x64xbf16>, %arg1: tensor<32x32x512x64xbf16>, %arg2: tensor<32x32x512x64xbf16>) -> tensor<32x32x512x64xbf16> {
    %o = attn.attention %arg0, %arg1, %arg2 schedule(<blockM = 256, numWarps = 16, mmaWarps = 4, producerWarps = 4, qStages = 2, kStages = 4, vStages = 4, qInRegisters = 0, overlap = "ping-pong", rescale = 8, splitMasked = 0, tileOrder = ascending, persistent = static, cluster = 2, assembler = plain>) : tensor<32x32x512x64xbf16>, tensor<32x32x512x64xbf16>, tensor<32x32x512x64xbf16>
    return %o : tensor<32x32x512x64xbf16>
  }
  // 460 TFLOP/s.
  func.func @head_64_full_1024(%arg0: tensor<16x32x1024x64xbf16>, %arg1: tensor<16x32x1024x64xbf16>, %arg2: tensor<16x32x1024x64xbf16>) -> tensor<16x32x1024x64xbf16> {
    %o = attn.attention %arg0, %arg1, %arg2 schedule(<blockM = 256, blockN = 96, numWarps = 16, mmaWarps = 4, producerWarps = 4, qStages = 2, qInRegisters = 0, rescale = 8, tileOrder = ascending, persistent = dynamic>) : tensor<16x32x1024x64xbf16>, tensor<16x32x1024x64xbf16>, tensor<16x32x1024x64xbf16>
    return %o : tensor<16x32x1024x64xbf16>
  }
  // 489 TFLOP/s.
  func.func @head_64_full_2048(%arg0: tensor<8x32x2048x64xbf16>, %arg1: tensor<8x32x2048x64xbf16>, %arg2: tensor<8x32x2048x64xbf16>) -> tensor<8x32x2048x64xbf16> {
    %o = attn.attention %arg0, %arg1, %arg2 schedule(<blockM = 256, blockN = 96, numWarps = 16, mmaWarps = 4, producerWarps = 4, qStages = 2, qInRegisters = 0, rescale = 8, tileOrder = ascending, persistent = dynamic, assembler = plain>) : tensor<8x32x2048x64xbf16>, tensor<8x32x2048x64xbf16>, tensor<8x32x2048x64xbf16>
    return %o : tensor<8x32x2048x64xbf16>
  }
  // 497 TFLOP/s.
  func.func @head_64_full_4096(%arg0: tensor<4x32x4096x64xbf16>, %arg1: tensor<4x32x4096x64xbf16>, %arg2: tensor<4x32x4096x64xbf16>) -> tensor<4x32x4096x64xbf16> {
    %o = attn.attention %arg0, %arg1, %arg2 schedule(<blockM = 256, blockN = 96, numWarps = 16, mmaWarps = 4, producerWarps = 4, qStages = 2, qInRegisters = 0, rescale = 8, tileOrder = ascending, persistent = dynamic>) : tensor<4x32x4096x64xbf16>, tensor<4x32x4096x64xbf16>, tensor<4x32x4096x64xbf16>
    return %o : tensor<4x32x4096x64xbf16>
  }
  // 537 TFLOP/s.
  func.func @head_64_full_8192(%arg0: tensor<2x32x8192x64xbf16>, %arg1: tensor<2x32x8192x64xbf16>, %arg2: tensor<2x32x8192x64xbf16>) -> tensor<2x32x8192x64xbf16> {
    %o = attn.attention %arg0, %arg1, %arg2 schedule(<blockM = 192, blockN = 128, numWarps = 12, mmaWarps = 4, producerWarps = 4, qInRegisters = 0, overlap = "ping-pong", assembler = plain>) : tensor<2x32x8192x64xbf16>, tensor<2x32x8192x64xbf16>, tensor<2x32x8192x64xbf16>
    return %o : tensor<2x32x8192x64xbf16>
  }
  // 534 TFLOP/s.
  func.func @head_64_full_16384(%arg0: tensor<1x32x16384x64xbf16>, %arg1: tensor<1x32x16384x64xbf16>, %arg2: tensor<1x32x16384x64xbf16>) -> tensor<1x32x16384x64xbf16> {
    %o = attn.attention %arg0, %arg1, %arg2 schedule(<blockM = 192, blockN = 128, numWarps = 12, mmaWarps = 4, producerWarps = 4, qInRegisters = 0, overlap = "ping-pong", assembler = plain>) : tensor<1x32x16384x64xbf16>, tensor<1x32x16384x64xbf16>, tensor<1x32x16384x64xbf16>
    return %o : tensor<1x32x16384x64xbf16>
  }
  // 310 TFLOP/s.
  func.func @head_64_causal_512(%arg0: tensor<32x32x512x64xbf16>, %arg1: tensor<32x32x512x64xbf16>, %arg2: tensor<32x32x512x64xbf16>) -> tensor<32x32x512x64xbf16> {
    %o = attn.attention %arg0, %arg1, %arg2 causal(top_left) schedule(<blockM = 64, mmaWarps = 4, producerWarps = 1, qStages = 2, qInRegisters = 0, splitMasked = 0, persistent = dynamic, workgroupsPerSm = 4>) : tensor<32x32x512x64xbf16>, tensor<32x32x512x64xbf16>, tensor<32x32x512x64xbf16>
    return %o : tensor<32x32x512x64xbf16>
  }
  // 384 TFLOP/s.
  func.func @head_64_causal_1024(%arg0: tensor<16x32x1024x64xbf16>, %arg1: tensor<16x32x1024x64xbf16>, %arg2: tensor<16x32x1024x64xbf16>) -> tensor<16x32x1024x64xbf16> {
    %o = attn.attention %arg0, %arg1, %arg2 causal(top_left) schedule(<blockM = 64, mmaWarps = 4, producerWarps = 1, qStages = 2, qInRegisters = 0, splitMasked = 0, tileOrder = "across-heads", persistent = dynamic, workgroupsPerSm = 4>) : tensor<16x32x1024x64xbf16>, tensor<16x32x1024x64xbf16>, tensor<16x32x1024x64xbf16>
    return %o : tensor<16x32x1024x64xbf16>
  }
  // 416 TFLOP/s.
  func.func @head_64_causal_2048(%arg0: tensor<8x32x2048x64xbf16>, %arg1: tensor<8x32x2048x64xbf16>, %arg2: tensor<8x32x2048x64xbf16>) -> tensor<8x32x2048x64xbf16> {
    %o = attn.attention %arg0, %arg1, %arg2 causal(top_left) schedule(<blockM = 192, blockN = 128, numWarps = 12, mmaWarps = 4, producerWarps = 4, qStages = 2, qInRegisters = 0, oInShared = buffer, overlap = "ping-pong", rescale = 8, tileOrder = "across-heads", persistent = dynamic>) : tensor<8x32x2048x64xbf16>, tensor<8x32x2048x64xbf16>, tensor<8x32x2048x64xbf16>
    return %o : tensor<8x32x2048x64xbf16>
  }
  // 456 TFLOP/s.
  func.func @head_64_causal_4096(%arg0: tensor<4x32x4096x64xbf16>, %arg1: tensor<4x32x4096x64xbf16>, %arg2: tensor<4x32x4096x64xbf16>) -> tensor<4x32x4096x64xbf16> {
    %o = attn.attention %arg0, %arg1, %arg2 causal(top_left) schedule(<blockM = 192, blockN = 128, numWarps = 12, mmaWarps = 4, producerWarps = 4, qStages = 2, qInRegisters = 0, oInShared = buffer, overlap = "ping-pong", rescale = 8, tileOrder = "across-heads", persistent = dynamic>) : tensor<4x32x4096x64xbf16>, tensor<4x32x4096x64xbf16>, tensor<4x32x4096x64xbf16>
    return %o : tensor<4x32x4096x64xbf16>
  }
  // 505 TFLOP/s.
  func.func @head_64_causal_8192(%arg0: tensor<2x32x8192x64xbf16>, %arg1: tensor<2x32x8192x64xbf16>, %arg2: tensor<2x32x8192x64xbf16>) -> tensor<2x32x8192x64xbf16> {
    %o = attn.attention %arg0, %arg1, %arg2 causal(top_left) schedule(<blockM = 192, blockN = 128, numWarps = 12, mmaWarps = 4, producerWarps = 4, qStages = 2, qInRegisters = 0, oInShared = buffer, overlap = "ping-pong", rescale = 8, tileOrder = "across-heads", persistent = dynamic>) : tensor<2x32x8192x64xbf16>, tensor<2x32x8192x64xbf16>, tensor<2x32x8192x64xbf16>
    return %o : tensor<2x32x8192x64xbf16>
  }
  // 509 TFLOP/s.
  func.func @head_64_causal_16384(%arg0: tensor<1x32x16384x64xbf16>, %arg1: tensor<1x32x16384x64xbf16>, %arg2: tensor<1x32x16384x64xbf16>) -> tensor<1x32x16384x64xbf16> {
    %o = attn.attention %arg0, %arg1, %arg2 causal(top_left) schedule(<blockM = 192, blockN = 128, numWarps = 12, mmaWarps = 4, producerWarps = 4, qStages = 2, qInRegisters = 0, oInShared = buffer, overlap = "ping-pong", rescale = 8, tileOrder = "across-heads", persistent = dynamic>) : tensor<1x32x16384x64xbf16>, tensor<1x32x16384x64xbf16>, tensor<1x32x16384x64xbf16>
    return %o : tensor<1x32x16384x64xbf16>
  }
  // 551 TFLOP/s.
  func.func @head_128_full_512(%arg0: tensor<32x16x512x128xbf16>, %arg1: tensor<32x16x512x128xbf16>, %arg2: tensor<32x16x512x128xbf16>) -> tensor<32x16x512x128xbf16> {
    %o = attn.attention %arg0, %arg1, %arg2 schedule(<blockN = 128, numWarps = 8, mmaWarps = 4, producerWarps = 4, qStages = 2, qInRegisters = 0, oInShared = buffer, overlap = "ping-pong", tileOrder = ascending, persistent = static, cluster = 2>) : tensor<32x16x512x128xbf16>, tensor<32x16x512x128xbf16>, tensor<32x16x512x128xbf16>
    return %o : tensor<32x16x512x128xbf16>
  }
  // 615 TFLOP/s.
  func.func @head_128_full_1024(%arg0: tensor<16x16x1024x128xbf16>, %arg1: tensor<16x16x1024x128xbf16>, %arg2: tensor<16x16x1024x128xbf16>) -> tensor<16x16x1024x128xbf16> {
    %o = attn.attention %arg0, %arg1, %arg2 schedule(<blockN = 128, numWarps = 8, mmaWarps = 4, producerWarps = 4, qStages = 2, qInRegisters = 0, oInShared = buffer, overlap = "ping-pong", tileOrder = ascending, persistent = static, cluster = 2, lateKeys = 32, strengthReduction = 1>) : tensor<16x16x1024x128xbf16>, tensor<16x16x1024x128xbf16>, tensor<16x16x1024x128xbf16>
    return %o : tensor<16x16x1024x128xbf16>
  }
  // 648 TFLOP/s.
  func.func @head_128_full_2048(%arg0: tensor<8x16x2048x128xbf16>, %arg1: tensor<8x16x2048x128xbf16>, %arg2: tensor<8x16x2048x128xbf16>) -> tensor<8x16x2048x128xbf16> {
    %o = attn.attention %arg0, %arg1, %arg2 schedule(<blockM = 192, blockN = 80, numWarps = 12, mmaWarps = 4, producerWarps = 4, qStages = 2, vStages = 4, qInRegisters = 0, overlap = softmax, rescale = 8, tileOrder = ascending, persistent = dynamic, assembler = plain>) : tensor<8x16x2048x128xbf16>, tensor<8x16x2048x128xbf16>, tensor<8x16x2048x128xbf16>
    return %o : tensor<8x16x2048x128xbf16>
  }
  // 663 TFLOP/s.
  func.func @head_128_full_4096(%arg0: tensor<4x16x4096x128xbf16>, %arg1: tensor<4x16x4096x128xbf16>, %arg2: tensor<4x16x4096x128xbf16>) -> tensor<4x16x4096x128xbf16> {
    %o = attn.attention %arg0, %arg1, %arg2 schedule(<blockM = 192, blockN = 80, numWarps = 12, mmaWarps = 4, producerWarps = 4, qStages = 2, vStages = 4, qInRegisters = 0, overlap = softmax, rescale = 8, tileOrder = ascending, persistent = dynamic, assembler = plain>) : tensor<4x16x4096x128xbf16>, tensor<4x16x4096x128xbf16>, tensor<4x16x4096x128xbf16>
    return %o : tensor<4x16x4096x128xbf16>
  }
  // 688 TFLOP/s.
  func.func @head_128_full_8192(%arg0: tensor<2x16x8192x128xbf16>, %arg1: tensor<2x16x8192x128xbf16>, %arg2: tensor<2x16x8192x128xbf16>) -> tensor<2x16x8192x128xbf16> {
    %o = attn.attention %arg0, %arg1, %arg2 schedule(<blockM = 192, blockN = 80, numWarps = 12, mmaWarps = 4, producerWarps = 4, qStages = 2, vStages = 4, qInRegisters = 0, overlap = softmax, rescale = 8, tileOrder = ascending, persistent = dynamic, assembler = plain>) : tensor<2x16x8192x128xbf16>, tensor<2x16x8192x128xbf16>, tensor<2x16x8192x128xbf16>
    return %o : tensor<2x16x8192x128xbf16>
  }
  // 686 TFLOP/s.
  func.func @head_128_full_16384(%arg0: tensor<1x16x16384x128xbf16>, %arg1: tensor<1x16x16384x128xbf16>, %arg2: tensor<1x16x16384x128xbf16>) -> tensor<1x16x16384x128xbf16> {
    %o = attn.attention %arg0, %arg1, %arg2 schedule(<blockM = 192, blockN = 80, numWarps = 12, mmaWarps = 4, producerWarps = 4, qStages = 2, vStages = 4, qInRegisters = 0, overlap = softmax, rescale = 8, tileOrder = ascending, persistent = dynamic, assembler = plain>) : tensor<1x16x16384x128xbf16>, tensor<1x16x16384x128xbf16>, tensor<1x16x16384x128xbf16>
    return %o : tensor<1x16x16384x128xbf16>
  }
  // 359 TFLOP/s.
  func.func @head_128_causal_512(%arg0: tensor<32x16x512x128xbf16>, %arg1: tensor<32x16x512x128xbf16>, %arg2: tensor<32x16x512x128xbf16>) -> tensor<32x16x512x128xbf16> {
    %o = attn.attention %arg0, %arg1, %arg2 causal(top_left) schedule(<blockN = 128, numWarps = 8, mmaWarps = 4, producerWarps = 4, qStages = 2, qInRegisters = 0, oInShared = buffer, overlap = "ping-pong", persistent = dynamic, lateKeys = 32, assembler = plain>) : tensor<32x16x512x128xbf16>, tensor<32x16x512x128xbf16>, tensor<32x16x512x128xbf16>
    return %o : tensor<32x16x512x128xbf16>
  }
  // 476 TFLOP/s.
  func.func @head_128_causal_1024(%arg0: tensor<16x16x1024x128xbf16>, %arg1: tensor<16x16x1024x128xbf16>, %arg2: tensor<16x16x1024x128xbf16>) -> tensor<16x16x1024x128xbf16> {
    %o = attn.attention %arg0, %arg1, %arg2 causal(top_left) schedule(<blockN = 128, numWarps = 8, mmaWarps = 4, producerWarps = 4, qStages = 2, qInRegisters = 0, oInShared = buffer, overlap = "ping-pong", tileOrder = "across-heads", persistent = dynamic, lateKeys = 32, assembler = plain>) : tensor<16x16x1024x128xbf16>, tensor<16x16x1024x128xbf16>, tensor<16x16x1024x128xbf16>
    return %o : tensor<16x16x1024x128xbf16>
  }
  // 563 TFLOP/s.
  func.func @head_128_causal_2048(%arg0: tensor<8x16x2048x128xbf16>, %arg1: tensor<8x16x2048x128xbf16>, %arg2: tensor<8x16x2048x128xbf16>) -> tensor<8x16x2048x128xbf16> {
    %o = attn.attention %arg0, %arg1, %arg2 causal(top_left) schedule(<blockN = 128, numWarps = 8, mmaWarps = 4, producerWarps = 4, qStages = 2, qInRegisters = 0, oInShared = buffer, overlap = "ping-pong", tileOrder = "across-heads", persistent = dynamic, lateKeys = 32, assembler = plain>) : tensor<8x16x2048x128xbf16>, tensor<8x16x2048x128xbf16>, tensor<8x16x2048x128xbf16>
    return %o : tensor<8x16x2048x128xbf16>
  }
  // 611 TFLOP/s.
  func.func @head_128_causal_4096(%arg0: tensor<4x16x4096x128xbf16>, %arg1: tensor<4x16x4096x128xbf16>, %arg2: tensor<4x16x4096x128xbf16>) -> tensor<4x16x4096x128xbf16> {
    %o = attn.attention %arg0, %arg1, %arg2 causal(top_left) schedule(<blockN = 128, numWarps = 8, mmaWarps = 4, producerWarps = 4, qStages = 2, qInRegisters = 0, oInShared = buffer, overlap = "ping-pong", tileOrder = "across-heads", persistent = dynamic, lateKeys = 32, assembler = plain>) : tensor<4x16x4096x128xbf16>, tensor<4x16x4096x128xbf16>, tensor<4x16x4096x128xbf16>
    return %o : tensor<4x16x4096x128xbf16>
  }
  // 656 TFLOP/s.
  func.func @head_128_causal_8192(%arg0: tensor<2x16x8192x128xbf16>, %arg1: tensor<2x16x8192x128xbf16>, %arg2: tensor<2x16x8192x128xbf16>) -> tensor<2x16x8192x128xbf16> {
    %o = attn.attention %arg0, %arg1, %arg2 causal(top_left) schedule(<blockN = 128, numWarps = 8, mmaWarps = 4, producerWarps = 4, qStages = 2, qInRegisters = 0, oInShared = buffer, overlap = "ping-pong", tileOrder = "across-heads", persistent = dynamic, lateKeys = 32, assembler = plain>) : tensor<2x16x8192x128xbf16>, tensor<2x16x8192x128xbf16>, tensor<2x16x8192x128xbf16>
    return %o : tensor<2x16x8192x128xbf16>
  }
  // 672 TFLOP/s.
  func.func @head_128_causal_16384(%arg0: tensor<1x16x16384x128xbf16>, %arg1: tensor<1x16x16384x128xbf16>, %arg2: tensor<1x16x16384x128xbf16>) -> tensor<1x16x16384x128xbf16> {
    %o = attn.attention %arg0, %arg1, %arg2 causal(top_left) schedule(<blockN = 128, numWarps = 8, mmaWarps = 4, producerWarps = 4, qStages = 2, qInRegisters = 0, oInShared = buffer, overlap = "ping-pong", tileOrder = "across-heads", persistent = dynamic, lateKeys = 32, assembler = plain>) : tensor<1x16x16384x128xbf16>, tensor<1x16x16384x128xbf16>, tensor<1x16x16384x128xbf16>
    return %o : tensor<1x16x16384x128xbf16>
  }
  // 562 TFLOP/s.
  func.func @head_256_full_512(%arg0: tensor<32x8x512x256xbf16>, %arg1: tensor<32x8x512x256xbf16>, %arg2: tensor<32x8x512x256xbf16>) -> tensor<32x8x512x256xbf16> {
    %o = attn.attention %arg0, %arg1, %arg2 schedule(<numWarps = 8, mmaWarps = 4, producerWarps = 4, qInRegisters = 0, overlap = "ping-pong", rescale = 8, splitMasked = 0, tileOrder = ascending, persistent = static, assembler = plain>) : tensor<32x8x512x256xbf16>, tensor<32x8x512x256xbf16>, tensor<32x8x512x256xbf16>
    return %o : tensor<32x8x512x256xbf16>
  }
  // 751 TFLOP/s.
  func.func @head_256_full_4096(%arg0: tensor<4x8x4096x256xbf16>, %arg1: tensor<4x8x4096x256xbf16>, %arg2: tensor<4x8x4096x256xbf16>) -> tensor<4x8x4096x256xbf16> {
    %o = attn.attention %arg0, %arg1, %arg2 schedule(<numWarps = 8, mmaWarps = 4, producerWarps = 4, qInRegisters = 0, overlap = "ping-pong", rescale = 8, splitMasked = 0, tileOrder = ascending, persistent = static, assembler = plain>) : tensor<4x8x4096x256xbf16>, tensor<4x8x4096x256xbf16>, tensor<4x8x4096x256xbf16>
    return %o : tensor<4x8x4096x256xbf16>
  }
  // 754 TFLOP/s.
  func.func @head_256_full_16384(%arg0: tensor<1x8x16384x256xbf16>, %arg1: tensor<1x8x16384x256xbf16>, %arg2: tensor<1x8x16384x256xbf16>) -> tensor<1x8x16384x256xbf16> {
    %o = attn.attention %arg0, %arg1, %arg2 schedule(<blockN = 80, numWarps = 8, mmaWarps = 4, producerWarps = 4, qInRegisters = 0, overlap = "ping-pong", rescale = 8, assembler = plain>) : tensor<1x8x16384x256xbf16>, tensor<1x8x16384x256xbf16>, tensor<1x8x16384x256xbf16>
    return %o : tensor<1x8x16384x256xbf16>
  }
  // 363 TFLOP/s.
  func.func @head_256_causal_512(%arg0: tensor<32x8x512x256xbf16>, %arg1: tensor<32x8x512x256xbf16>, %arg2: tensor<32x8x512x256xbf16>) -> tensor<32x8x512x256xbf16> {
    %o = attn.attention %arg0, %arg1, %arg2 causal(top_left) schedule(<numWarps = 8, mmaWarps = 4, producerWarps = 4, qInRegisters = 0, overlap = softmax, rescale = 8, persistent = dynamic, assembler = sparing>) : tensor<32x8x512x256xbf16>, tensor<32x8x512x256xbf16>, tensor<32x8x512x256xbf16>
    return %o : tensor<32x8x512x256xbf16>
  }
  // 669 TFLOP/s.
  func.func @head_256_causal_4096(%arg0: tensor<4x8x4096x256xbf16>, %arg1: tensor<4x8x4096x256xbf16>, %arg2: tensor<4x8x4096x256xbf16>) -> tensor<4x8x4096x256xbf16> {
    %o = attn.attention %arg0, %arg1, %arg2 causal(top_left) schedule(<numWarps = 8, mmaWarps = 4, producerWarps = 4, qInRegisters = 0, overlap = softmax, rescale = 8, tileOrder = "across-heads", assembler = sparing>) : tensor<4x8x4096x256xbf16>, tensor<4x8x4096x256xbf16>, tensor<4x8x4096x256xbf16>
    return %o : tensor<4x8x4096x256xbf16>
  }
  // 737 TFLOP/s.
  func.func @head_256_causal_16384(%arg0: tensor<1x8x16384x256xbf16>, %arg1: tensor<1x8x16384x256xbf16>, %arg2: tensor<1x8x16384x256xbf16>) -> tensor<1x8x16384x256xbf16> {
    %o = attn.attention %arg0, %arg1, %arg2 causal(top_left) schedule(<numWarps = 8, mmaWarps = 4, producerWarps = 4, qInRegisters = 0, overlap = softmax, rescale = 8, tileOrder = "across-heads", assembler = sparing>) : tensor<1x8x16384x256xbf16>, tensor<1x8x16384x256xbf16>, tensor<1x8x16384x256xbf16>
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
