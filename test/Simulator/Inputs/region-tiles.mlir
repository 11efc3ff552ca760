// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

!q = tensor<2x2x150x64xbf16>
!k = tensor<2x1x200x64xbf16>

// Added to scores of the heads of a group under a causal mask, and multiplied by what batches have.
func.func @narrow(%q: !q, %k: !k, %v: !k, %bias: tensor<2x150x200xbf16>, %factors: tensor<2x150x200xf32>) -> !q {
  %o = attn.attention %q, %k, %v causal(bottom_right) score (%s, %b, %h, %m, %n) {
    %x = tensor.extract %bias[%h, %m, %n] : tensor<2x150x200xbf16>
    %y = tensor.extract %factors[%b, %m, %n] : tensor<2x150x200xf32>
    %f = arith.extf %x : bf16 to f32
    %p = arith.mulf %f, %y : f32
    %r = arith.addf %s, %p : f32
    attn.yield %r : f32
  } : !q, !k, !k -> !q
  return %o : !q
}

// A mask of bytes beside another one.
func.func @masked(%q: !q, %k: !k, %v: !k, %seen: tensor<2x2x150x208xi8>) -> !q {
  %o = attn.attention %q, %k, %v mask (%b, %h, %m, %n) {
    %zero = arith.constant 0 : i8
    %x = tensor.extract %seen[%b, %h, %m, %n] : tensor<2x2x150x208xi8>
    %is = arith.cmpi sgt, %x, %zero : i8
    %before = arith.cmpi uge, %m, %n : index
    %r = arith.ori %is, %before : i1
    attn.yield %r : i1
  } : !q, !k, !k -> !q
  return %o : !q
}

// Rows of a tensor that is larger than there are queries and keys, sizes known when it runs.
!wide = tensor<?x3x?x128xf16>
!rows = tensor<3x?x?xf16, #attn.strided<[?, ?, 1], divisor = 8>>
func.func @wide(%q: !wide, %k: !wide, %v: !wide, %bias: !rows) -> !wide {
  %o = attn.attention %q, %k, %v score (%s, %b, %h, %m, %n) {
    %x = tensor.extract %bias[%h, %m, %n] : !rows
    %f = arith.extf %x : f16 to f32
    %r = arith.addf %s, %f : f32
    attn.yield %r : f32
  } : !wide, !wide, !wide -> !wide
  return %o : !wide
}
