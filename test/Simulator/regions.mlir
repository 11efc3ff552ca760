// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Regions with captured tensors and functions of integers, on all families.
//
// RUN: attune-run %s --device=host --chip=sm_80 --function=neighbours | FileCheck %s
// RUN: attune-run %s --device=host --chip=gfx942 --function=neighbours | FileCheck %s
// RUN: attune-run %s --device=host --chip=gfx1100 --function=documents | FileCheck %s
// RUN: attune-run %s --device=host --chip=sm_90 --function=documents | FileCheck %s
// CHECK: right     result 0

!t = tensor<1x2x96x64xbf16>

// Keys at most two columns and one row of an image of 12 columns away.
func.func @neighbours(%q: !t, %k: !t, %v: !t) -> !t {
  %o = attn.attention %q, %k, %v mask (%b, %h, %m, %n) {
    %width = arith.constant 12 : index
    %m_row = arith.divui %m, %width : index
    %n_row = arith.divui %n, %width : index
    %m_column = arith.remui %m, %width : index
    %n_column = arith.remui %n, %width : index
    %rows = arith.subi %m_row, %n_row : index
    %columns = arith.subi %m_column, %n_column : index
    %down = math.absi %rows : index
    %right = math.absi %columns : index
    %one = arith.constant 1 : index
    %two = arith.constant 2 : index
    %near_row = arith.cmpi sle, %down, %one : index
    %near_column = arith.cmpi sle, %right, %two : index
    %near = arith.andi %near_row, %near_column : i1
    attn.yield %near : i1
  } : !t, !t, !t
  return %o : !t
}

func.func @documents(%q: !t, %k: !t, %v: !t, %ids: tensor<96xi32>, %bias: tensor<2x96xf32>) -> !t {
  %o = attn.attention %q, %k, %v score (%s, %b, %h, %m, %n) {
    %x = tensor.extract %bias[%h, %n] : tensor<2x96xf32>
    %y = arith.addf %s, %x : f32
    attn.yield %y : f32
  } mask (%b, %h, %m, %n) {
    %i = tensor.extract %ids[%m] : tensor<96xi32>
    %j = tensor.extract %ids[%n] : tensor<96xi32>
    %same = arith.cmpi eq, %i, %j : i32
    attn.yield %same : i1
  } : !t, !t, !t
  return %o : !t
}
