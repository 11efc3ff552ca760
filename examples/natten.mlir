// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Neighbourhood attention on an image of 64 x 64 tokens: a token sees the 7 x 7
// square around it, which is moved inward where it would leave the image.

func.func @attention(%q: tensor<2x8x4096x64xf16>, %k: tensor<2x8x4096x64xf16>, %v: tensor<2x8x4096x64xf16>)
    -> tensor<2x8x4096x64xf16> {
  %o = attn.attention %q, %k, %v mask (%b, %h, %m, %n) {
    %width = arith.constant 64 : index
    %reach = arith.constant 3 : index
    %last_centre = arith.constant 60 : index
    %m_row = arith.divui %m, %width : index
    %m_column = arith.remui %m, %width : index
    %n_row = arith.divui %n, %width : index
    %n_column = arith.remui %n, %width : index
    %row_low = arith.maxsi %m_row, %reach : index
    %row = arith.minsi %row_low, %last_centre : index
    %column_low = arith.maxsi %m_column, %reach : index
    %column = arith.minsi %column_low, %last_centre : index
    %down = arith.subi %row, %n_row : index
    %right = arith.subi %column, %n_column : index
    %rows = math.absi %down : index
    %columns = math.absi %right : index
    %row_near = arith.cmpi sle, %rows, %reach : index
    %column_near = arith.cmpi sle, %columns, %reach : index
    %near = arith.andi %row_near, %column_near : i1
    attn.yield %near : i1
  } : tensor<2x8x4096x64xf16>, tensor<2x8x4096x64xf16>, tensor<2x8x4096x64xf16>
  return %o : tensor<2x8x4096x64xf16>
}
