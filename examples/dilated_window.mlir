// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A dilated sliding window: of the 255 keys before it, each query sees every
// fourth.

func.func @attention(%q: tensor<2x16x4096x64xbf16>, %k: tensor<2x16x4096x64xbf16>, %v: tensor<2x16x4096x64xbf16>)
    -> tensor<2x16x4096x64xbf16> {
  %o = attn.attention %q, %k, %v window(255, 0, top_left) mask (%b, %h, %m, %n) {
    %step = arith.constant 4 : index
    %zero = arith.constant 0 : index
    %distance = arith.subi %m, %n : index
    %phase = arith.remsi %distance, %step : index
    %visible = arith.cmpi eq, %phase, %zero : index
    attn.yield %visible : i1
  } : tensor<2x16x4096x64xbf16>, tensor<2x16x4096x64xbf16>, tensor<2x16x4096x64xbf16>
  return %o : tensor<2x16x4096x64xbf16>
}
