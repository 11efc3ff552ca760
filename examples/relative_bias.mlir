// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A learned bias for each head and distance, as in T5, read by the score region.
// Distances beyond the table share its ends.

func.func @attention(%q: tensor<4x12x1024x64xf16>, %k: tensor<4x12x1024x64xf16>, %v: tensor<4x12x1024x64xf16>,
                     %bias: tensor<12x257xf16>) -> tensor<4x12x1024x64xf16> {
  %o = attn.attention %q, %k, %v scale(1.0) score (%s, %b, %h, %m, %n) {
    %first = arith.constant 0 : index
    %middle = arith.constant 128 : index
    %last = arith.constant 256 : index
    %distance = arith.subi %n, %m : index
    %shifted = arith.addi %distance, %middle : index
    %low = arith.maxsi %shifted, %first : index
    %place = arith.minsi %low, %last : index
    %half = tensor.extract %bias[%h, %place] : tensor<12x257xf16>
    %addend = arith.extf %half : f16 to f32
    %y = arith.addf %s, %addend : f32
    attn.yield %y : f32
  } : tensor<4x12x1024x64xf16>, tensor<4x12x1024x64xf16>, tensor<4x12x1024x64xf16>
  return %o : tensor<4x12x1024x64xf16>
}
