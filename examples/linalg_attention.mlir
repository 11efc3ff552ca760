// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Causal attention as a framework spells it out in linalg, with heads of keys
// and values repeated for the four query heads that share each: it becomes one
// attn.attention, which reads keys and values as they are (docs/Raising.md).

#scores = affine_map<(b, h, m, n) -> (b, h, m, n)>
#rows = affine_map<(b, h, m, n) -> (b, h, m)>

func.func @attention(%q: tensor<2x1024x16x64xf16>, %k: tensor<2x1024x4x64xf16>,
                     %v: tensor<2x1024x4x64xf16>) -> tensor<2x1024x16x64xf16> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32

  // Heads of keys and values, four times each.
  %repeated = tensor.empty() : tensor<2x1024x4x4x64xf16>
  %kb = linalg.broadcast ins(%k : tensor<2x1024x4x64xf16>) outs(%repeated : tensor<2x1024x4x4x64xf16>) dimensions = [3]
  %kr = tensor.collapse_shape %kb [[0], [1], [2, 3], [4]] : tensor<2x1024x4x4x64xf16> into tensor<2x1024x16x64xf16>
  %vb = linalg.broadcast ins(%v : tensor<2x1024x4x64xf16>) outs(%repeated : tensor<2x1024x4x4x64xf16>) dimensions = [3]
  %vr = tensor.collapse_shape %vb [[0], [1], [2, 3], [4]] : tensor<2x1024x4x4x64xf16> into tensor<2x1024x16x64xf16>

  // Scores, divided by the root of the head size, and -inf for later keys.
  %se = tensor.empty() : tensor<2x16x1024x1024xf32>
  %sf = linalg.fill ins(%zero : f32) outs(%se : tensor<2x16x1024x1024xf32>) -> tensor<2x16x1024x1024xf32>
  %s = linalg.contract indexing_maps = [affine_map<(b, h, m, n, d) -> (b, m, h, d)>, affine_map<(b, h, m, n, d) -> (b, n, h, d)>,
                                        affine_map<(b, h, m, n, d) -> (b, h, m, n)>]
    ins(%q, %kr : tensor<2x1024x16x64xf16>, tensor<2x1024x16x64xf16>) outs(%sf : tensor<2x16x1024x1024xf32>) -> tensor<2x16x1024x1024xf32>
  %masked = linalg.generic {indexing_maps = [#scores, #scores], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%s : tensor<2x16x1024x1024xf32>) outs(%se : tensor<2x16x1024x1024xf32>) {
  ^bb0(%x: f32, %unused: f32):
    %root = arith.constant 8.0 : f32
    %scaled = arith.divf %x, %root : f32
    %m = linalg.index 2 : index
    %n = linalg.index 3 : index
    %later = arith.cmpi ugt, %n, %m : index
    %y = arith.select %later, %low, %scaled : f32
    linalg.yield %y : f32
  } -> tensor<2x16x1024x1024xf32>

  // Softmax.
  %re = tensor.empty() : tensor<2x16x1024xf32>
  %rf = linalg.fill ins(%low : f32) outs(%re : tensor<2x16x1024xf32>) -> tensor<2x16x1024xf32>
  %largest = linalg.reduce { arith.maximumf } ins(%masked : tensor<2x16x1024x1024xf32>) outs(%rf : tensor<2x16x1024xf32>) dimensions = [3]
  %e = linalg.generic {indexing_maps = [#scores, #rows, #scores], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%masked, %largest : tensor<2x16x1024x1024xf32>, tensor<2x16x1024xf32>) outs(%se : tensor<2x16x1024x1024xf32>) {
  ^bb0(%x: f32, %max: f32, %unused: f32):
    %shifted = arith.subf %x, %max : f32
    %y = math.exp %shifted : f32
    linalg.yield %y : f32
  } -> tensor<2x16x1024x1024xf32>
  %zf = linalg.fill ins(%zero : f32) outs(%re : tensor<2x16x1024xf32>) -> tensor<2x16x1024xf32>
  %sum = linalg.reduce { arith.addf } ins(%e : tensor<2x16x1024x1024xf32>) outs(%zf : tensor<2x16x1024xf32>) dimensions = [3]
  %we = tensor.empty() : tensor<2x16x1024x1024xf16>
  %w = linalg.generic {indexing_maps = [#scores, #rows, #scores], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%e, %sum : tensor<2x16x1024x1024xf32>, tensor<2x16x1024xf32>) outs(%we : tensor<2x16x1024x1024xf16>) {
  ^bb0(%x: f32, %total: f32, %unused: f16):
    %quotient = arith.divf %x, %total : f32
    %y = arith.truncf %quotient : f32 to f16
    linalg.yield %y : f16
  } -> tensor<2x16x1024x1024xf16>

  %oe = tensor.empty() : tensor<2x1024x16x64xf32>
  %of = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x1024x16x64xf32>) -> tensor<2x1024x16x64xf32>
  %o = linalg.contract indexing_maps = [affine_map<(b, h, m, n, d) -> (b, h, m, n)>, affine_map<(b, h, m, n, d) -> (b, n, h, d)>,
                                        affine_map<(b, h, m, n, d) -> (b, m, h, d)>]
    ins(%w, %vr : tensor<2x16x1024x1024xf16>, tensor<2x1024x16x64xf16>) outs(%of : tensor<2x1024x16x64xf32>) -> tensor<2x1024x16x64xf32>
  %o16 = arith.truncf %o : tensor<2x1024x16x64xf32> to tensor<2x1024x16x64xf16>
  return %o16 : tensor<2x1024x16x64xf16>
}
