// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Schedules for one H200: bf16, 16384 tokens, hidden 2048. Each is the fastest
// of what a search of 11 seconds found and of three or four that were written by
// hand, measured in one run; docs/Measurements.md has the figures beside those
// of other kernels. Lengths that are not listed get the closest one's.

module attributes {attn.tuned_for = "sm_90a"} {
  // 397 TFLOP/s, found.
  func.func @head_64_full_512(%arg0: tensor<32x32x512x64xbf16>, %arg1: tensor<32x32x512x64xbf16>, %arg2: tensor<32x32x512x64xbf16>) -> tensor<32x32x512x64xbf16> {
    %o = attn.attention %arg0, %arg1, %arg2 schedule(<blockM = 64, mmaWarps = 4, producerWarps = 4, qInRegisters = 0, tileOrder = 0, persistent = 2, minBlocksPerCore = 4>) : tensor<32x32x512x64xbf16>, tensor<32x32x512x64xbf16>, tensor<32x32x512x64xbf16>
    return %o : tensor<32x32x512x64xbf16>
  }
  // 438 TFLOP/s, by hand.
  func.func @head_64_full_1024(%arg0: tensor<16x32x1024x64xbf16>, %arg1: tensor<16x32x1024x64xbf16>, %arg2: tensor<16x32x1024x64xbf16>) -> tensor<16x32x1024x64xbf16> {
    %o = attn.attention %arg0, %arg1, %arg2 schedule(<blockM = 64, mmaWarps = 4, producerWarps = 4, qInRegisters = 0, overlap = 1, minBlocksPerCore = 3>) : tensor<16x32x1024x64xbf16>, tensor<16x32x1024x64xbf16>, tensor<16x32x1024x64xbf16>
    return %o : tensor<16x32x1024x64xbf16>
  }
  // 493 TFLOP/s, by hand.
  func.func @head_64_full_2048(%arg0: tensor<8x32x2048x64xbf16>, %arg1: tensor<8x32x2048x64xbf16>, %arg2: tensor<8x32x2048x64xbf16>) -> tensor<8x32x2048x64xbf16> {
    %o = attn.attention %arg0, %arg1, %arg2 schedule(<blockM = 192, blockN = 128, numWarps = 12, mmaWarps = 4, producerWarps = 4, qStages = 2, qInRegisters = 0, overlap = 2, tileOrder = 2, persistent = 2>) : tensor<8x32x2048x64xbf16>, tensor<8x32x2048x64xbf16>, tensor<8x32x2048x64xbf16>
    return %o : tensor<8x32x2048x64xbf16>
  }
  // 525 TFLOP/s, by hand.
  func.func @head_64_full_4096(%arg0: tensor<4x32x4096x64xbf16>, %arg1: tensor<4x32x4096x64xbf16>, %arg2: tensor<4x32x4096x64xbf16>) -> tensor<4x32x4096x64xbf16> {
    %o = attn.attention %arg0, %arg1, %arg2 schedule(<blockM = 192, blockN = 128, numWarps = 12, mmaWarps = 4, producerWarps = 4, qInRegisters = 0, overlap = 1, tileOrder = 2>) : tensor<4x32x4096x64xbf16>, tensor<4x32x4096x64xbf16>, tensor<4x32x4096x64xbf16>
    return %o : tensor<4x32x4096x64xbf16>
  }
  // 543 TFLOP/s, by hand.
  func.func @head_64_full_8192(%arg0: tensor<2x32x8192x64xbf16>, %arg1: tensor<2x32x8192x64xbf16>, %arg2: tensor<2x32x8192x64xbf16>) -> tensor<2x32x8192x64xbf16> {
    %o = attn.attention %arg0, %arg1, %arg2 schedule(<blockM = 192, blockN = 128, numWarps = 12, mmaWarps = 4, producerWarps = 4, qInRegisters = 0, overlap = 1, tileOrder = 2>) : tensor<2x32x8192x64xbf16>, tensor<2x32x8192x64xbf16>, tensor<2x32x8192x64xbf16>
    return %o : tensor<2x32x8192x64xbf16>
  }
  // 277 TFLOP/s, by hand.
  func.func @head_64_causal_512(%arg0: tensor<32x32x512x64xbf16>, %arg1: tensor<32x32x512x64xbf16>, %arg2: tensor<32x32x512x64xbf16>) -> tensor<32x32x512x64xbf16> {
    %o = attn.attention %arg0, %arg1, %arg2 causal(top_left) schedule(<blockM = 64, mmaWarps = 4, producerWarps = 4, qInRegisters = 0, overlap = 1, minBlocksPerCore = 3>) : tensor<32x32x512x64xbf16>, tensor<32x32x512x64xbf16>, tensor<32x32x512x64xbf16>
    return %o : tensor<32x32x512x64xbf16>
  }
  // 355 TFLOP/s, by hand.
  func.func @head_64_causal_1024(%arg0: tensor<16x32x1024x64xbf16>, %arg1: tensor<16x32x1024x64xbf16>, %arg2: tensor<16x32x1024x64xbf16>) -> tensor<16x32x1024x64xbf16> {
    %o = attn.attention %arg0, %arg1, %arg2 causal(top_left) schedule(<blockM = 64, mmaWarps = 4, producerWarps = 4, qInRegisters = 0, overlap = 1, minBlocksPerCore = 3>) : tensor<16x32x1024x64xbf16>, tensor<16x32x1024x64xbf16>, tensor<16x32x1024x64xbf16>
    return %o : tensor<16x32x1024x64xbf16>
  }
  // 418 TFLOP/s, by hand.
  func.func @head_64_causal_2048(%arg0: tensor<8x32x2048x64xbf16>, %arg1: tensor<8x32x2048x64xbf16>, %arg2: tensor<8x32x2048x64xbf16>) -> tensor<8x32x2048x64xbf16> {
    %o = attn.attention %arg0, %arg1, %arg2 causal(top_left) schedule(<blockM = 192, blockN = 128, numWarps = 12, mmaWarps = 4, producerWarps = 4, qStages = 2, qInRegisters = 0, overlap = 2, tileOrder = 2, persistent = 2>) : tensor<8x32x2048x64xbf16>, tensor<8x32x2048x64xbf16>, tensor<8x32x2048x64xbf16>
    return %o : tensor<8x32x2048x64xbf16>
  }
  // 472 TFLOP/s, by hand.
  func.func @head_64_causal_4096(%arg0: tensor<4x32x4096x64xbf16>, %arg1: tensor<4x32x4096x64xbf16>, %arg2: tensor<4x32x4096x64xbf16>) -> tensor<4x32x4096x64xbf16> {
    %o = attn.attention %arg0, %arg1, %arg2 causal(top_left) schedule(<blockM = 192, blockN = 128, numWarps = 12, mmaWarps = 4, producerWarps = 4, qStages = 2, qInRegisters = 0, overlap = 2, tileOrder = 2, persistent = 2>) : tensor<4x32x4096x64xbf16>, tensor<4x32x4096x64xbf16>, tensor<4x32x4096x64xbf16>
    return %o : tensor<4x32x4096x64xbf16>
  }
  // 525 TFLOP/s, by hand.
  func.func @head_64_causal_8192(%arg0: tensor<2x32x8192x64xbf16>, %arg1: tensor<2x32x8192x64xbf16>, %arg2: tensor<2x32x8192x64xbf16>) -> tensor<2x32x8192x64xbf16> {
    %o = attn.attention %arg0, %arg1, %arg2 causal(top_left) schedule(<blockM = 192, blockN = 128, numWarps = 12, mmaWarps = 4, producerWarps = 4, qStages = 2, qInRegisters = 0, overlap = 2, tileOrder = 2, persistent = 2>) : tensor<2x32x8192x64xbf16>, tensor<2x32x8192x64xbf16>, tensor<2x32x8192x64xbf16>
    return %o : tensor<2x32x8192x64xbf16>
  }
  // 480 TFLOP/s, by hand.
  func.func @head_128_full_512(%arg0: tensor<32x16x512x128xbf16>, %arg1: tensor<32x16x512x128xbf16>, %arg2: tensor<32x16x512x128xbf16>) -> tensor<32x16x512x128xbf16> {
    %o = attn.attention %arg0, %arg1, %arg2 schedule(<blockN = 128, numWarps = 8, mmaWarps = 4, producerWarps = 4, qStages = 2, qInRegisters = 0, overlap = 2, tileOrder = 2, persistent = 2>) : tensor<32x16x512x128xbf16>, tensor<32x16x512x128xbf16>, tensor<32x16x512x128xbf16>
    return %o : tensor<32x16x512x128xbf16>
  }
  // 569 TFLOP/s, found.
  func.func @head_128_full_1024(%arg0: tensor<16x16x1024x128xbf16>, %arg1: tensor<16x16x1024x128xbf16>, %arg2: tensor<16x16x1024x128xbf16>) -> tensor<16x16x1024x128xbf16> {
    %o = attn.attention %arg0, %arg1, %arg2 schedule(<blockN = 128, numWarps = 8, mmaWarps = 4, producerWarps = 4, qInRegisters = 0, overlap = 2>) : tensor<16x16x1024x128xbf16>, tensor<16x16x1024x128xbf16>, tensor<16x16x1024x128xbf16>
    return %o : tensor<16x16x1024x128xbf16>
  }
  // 644 TFLOP/s, found.
  func.func @head_128_full_2048(%arg0: tensor<8x16x2048x128xbf16>, %arg1: tensor<8x16x2048x128xbf16>, %arg2: tensor<8x16x2048x128xbf16>) -> tensor<8x16x2048x128xbf16> {
    %o = attn.attention %arg0, %arg1, %arg2 schedule(<blockN = 128, numWarps = 8, mmaWarps = 4, producerWarps = 4, qInRegisters = 0, overlap = 2>) : tensor<8x16x2048x128xbf16>, tensor<8x16x2048x128xbf16>, tensor<8x16x2048x128xbf16>
    return %o : tensor<8x16x2048x128xbf16>
  }
  // 681 TFLOP/s, found.
  func.func @head_128_full_4096(%arg0: tensor<4x16x4096x128xbf16>, %arg1: tensor<4x16x4096x128xbf16>, %arg2: tensor<4x16x4096x128xbf16>) -> tensor<4x16x4096x128xbf16> {
    %o = attn.attention %arg0, %arg1, %arg2 schedule(<blockN = 128, numWarps = 8, mmaWarps = 4, producerWarps = 4, qInRegisters = 0, overlap = 2>) : tensor<4x16x4096x128xbf16>, tensor<4x16x4096x128xbf16>, tensor<4x16x4096x128xbf16>
    return %o : tensor<4x16x4096x128xbf16>
  }
  // 701 TFLOP/s, found.
  func.func @head_128_full_8192(%arg0: tensor<2x16x8192x128xbf16>, %arg1: tensor<2x16x8192x128xbf16>, %arg2: tensor<2x16x8192x128xbf16>) -> tensor<2x16x8192x128xbf16> {
    %o = attn.attention %arg0, %arg1, %arg2 schedule(<blockN = 128, numWarps = 8, mmaWarps = 4, producerWarps = 4, qInRegisters = 0, overlap = 2>) : tensor<2x16x8192x128xbf16>, tensor<2x16x8192x128xbf16>, tensor<2x16x8192x128xbf16>
    return %o : tensor<2x16x8192x128xbf16>
  }
  // 702 TFLOP/s, found.
  func.func @head_128_full_16384(%arg0: tensor<1x16x16384x128xbf16>, %arg1: tensor<1x16x16384x128xbf16>, %arg2: tensor<1x16x16384x128xbf16>) -> tensor<1x16x16384x128xbf16> {
    %o = attn.attention %arg0, %arg1, %arg2 schedule(<blockM = 192, blockN = 128, numWarps = 12, mmaWarps = 4, producerWarps = 4, vStages = 3, qInRegisters = 0, persistent = 1>) : tensor<1x16x16384x128xbf16>, tensor<1x16x16384x128xbf16>, tensor<1x16x16384x128xbf16>
    return %o : tensor<1x16x16384x128xbf16>
  }
  // 330 TFLOP/s, by hand.
  func.func @head_128_causal_512(%arg0: tensor<32x16x512x128xbf16>, %arg1: tensor<32x16x512x128xbf16>, %arg2: tensor<32x16x512x128xbf16>) -> tensor<32x16x512x128xbf16> {
    %o = attn.attention %arg0, %arg1, %arg2 causal(top_left) schedule(<blockN = 128, numWarps = 8, mmaWarps = 4, producerWarps = 4, qStages = 2, qInRegisters = 0, overlap = 2, tileOrder = 2, persistent = 2>) : tensor<32x16x512x128xbf16>, tensor<32x16x512x128xbf16>, tensor<32x16x512x128xbf16>
    return %o : tensor<32x16x512x128xbf16>
  }
  // 476 TFLOP/s, by hand.
  func.func @head_128_causal_1024(%arg0: tensor<16x16x1024x128xbf16>, %arg1: tensor<16x16x1024x128xbf16>, %arg2: tensor<16x16x1024x128xbf16>) -> tensor<16x16x1024x128xbf16> {
    %o = attn.attention %arg0, %arg1, %arg2 causal(top_left) schedule(<blockN = 128, numWarps = 8, mmaWarps = 4, producerWarps = 4, qStages = 2, qInRegisters = 0, overlap = 2, tileOrder = 2, persistent = 2>) : tensor<16x16x1024x128xbf16>, tensor<16x16x1024x128xbf16>, tensor<16x16x1024x128xbf16>
    return %o : tensor<16x16x1024x128xbf16>
  }
  // 587 TFLOP/s, by hand.
  func.func @head_128_causal_2048(%arg0: tensor<8x16x2048x128xbf16>, %arg1: tensor<8x16x2048x128xbf16>, %arg2: tensor<8x16x2048x128xbf16>) -> tensor<8x16x2048x128xbf16> {
    %o = attn.attention %arg0, %arg1, %arg2 causal(top_left) schedule(<blockN = 128, numWarps = 8, mmaWarps = 4, producerWarps = 4, qStages = 2, qInRegisters = 0, overlap = 1, tileOrder = 2, persistent = 2>) : tensor<8x16x2048x128xbf16>, tensor<8x16x2048x128xbf16>, tensor<8x16x2048x128xbf16>
    return %o : tensor<8x16x2048x128xbf16>
  }
  // 657 TFLOP/s, by hand.
  func.func @head_128_causal_4096(%arg0: tensor<4x16x4096x128xbf16>, %arg1: tensor<4x16x4096x128xbf16>, %arg2: tensor<4x16x4096x128xbf16>) -> tensor<4x16x4096x128xbf16> {
    %o = attn.attention %arg0, %arg1, %arg2 causal(top_left) schedule(<blockN = 128, numWarps = 8, mmaWarps = 4, producerWarps = 4, qStages = 2, qInRegisters = 0, overlap = 1, tileOrder = 2, persistent = 2>) : tensor<4x16x4096x128xbf16>, tensor<4x16x4096x128xbf16>, tensor<4x16x4096x128xbf16>
    return %o : tensor<4x16x4096x128xbf16>
  }
  // 697 TFLOP/s, by hand.
  func.func @head_128_causal_8192(%arg0: tensor<2x16x8192x128xbf16>, %arg1: tensor<2x16x8192x128xbf16>, %arg2: tensor<2x16x8192x128xbf16>) -> tensor<2x16x8192x128xbf16> {
    %o = attn.attention %arg0, %arg1, %arg2 causal(top_left) schedule(<blockN = 128, numWarps = 8, mmaWarps = 4, producerWarps = 4, qStages = 2, qInRegisters = 0, overlap = 1, tileOrder = 2, persistent = 2>) : tensor<2x16x8192x128xbf16>, tensor<2x16x8192x128xbf16>, tensor<2x16x8192x128xbf16>
    return %o : tensor<2x16x8192x128xbf16>
  }
}
