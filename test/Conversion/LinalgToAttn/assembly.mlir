// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention that is raised becomes the same kernels, letter by letter, as attention that is written by hand.
//
// RUN: rm -rf %t && split-file %s %t
// RUN: attune-opt %t/linalg.mlir --attune-compile="chip=sm_90a format=isa" --emit-assembly -o %t/linalg.ptx
// RUN: attune-opt %t/attn.mlir --attune-compile="chip=sm_90a format=isa" --emit-assembly -o %t/attn.ptx
// RUN: grep -c "\.visible \.entry" %t/attn.ptx | FileCheck %s
// CHECK: 8
// RUN: diff %t/attn.ptx %t/linalg.ptx

//--- linalg.mlir
#q = affine_map<(b, h, m, n, d) -> (b, h, m, d)>
#k = affine_map<(b, h, m, n, d) -> (b, h, n, d)>
#kg = affine_map<(b, h, m, n, d) -> (b, h floordiv 2, n, d)>
#s = affine_map<(b, h, m, n, d) -> (b, h, m, n)>
#all = affine_map<(b, h, m, n) -> (b, h, m, n)>

func.func @plain(%q: tensor<2x4x256x64xf16>, %k: tensor<2x4x256x64xf16>, %v: tensor<2x4x256x64xf16>) -> tensor<2x4x256x64xf16> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %se = tensor.empty() : tensor<2x4x256x256xf32>
  %sf = linalg.fill ins(%zero : f32) outs(%se : tensor<2x4x256x256xf32>) -> tensor<2x4x256x256xf32>
  %dots = linalg.generic {indexing_maps = [#q, #k, #s], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
    ins(%q, %k : tensor<2x4x256x64xf16>, tensor<2x4x256x64xf16>) outs(%sf : tensor<2x4x256x256xf32>) {
  ^bb0(%x: f16, %y: f16, %acc: f32):
    %xw = arith.extf %x : f16 to f32
    %yw = arith.extf %y : f16 to f32
    %p = arith.mulf %xw, %yw : f32
    %t = arith.addf %acc, %p : f32
    linalg.yield %t : f32
  } -> tensor<2x4x256x256xf32>
  %s = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%dots : tensor<2x4x256x256xf32>) outs(%se : tensor<2x4x256x256xf32>) {
  ^bb0(%x: f32, %acc: f32):
    %c = arith.constant 0.125 : f32
    %scaled = arith.mulf %x, %c : f32
    linalg.yield %scaled : f32
  } -> tensor<2x4x256x256xf32>
  %p = linalg.softmax dimension(3) ins(%s : tensor<2x4x256x256xf32>) outs(%se : tensor<2x4x256x256xf32>) -> tensor<2x4x256x256xf32>
  %oe = tensor.empty() : tensor<2x4x256x64xf32>
  %of = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x4x256x64xf32>) -> tensor<2x4x256x64xf32>
  %o = linalg.generic {indexing_maps = [#s, #k, #q], iterator_types = ["parallel", "parallel", "parallel", "reduction", "parallel"]}
    ins(%p, %v : tensor<2x4x256x256xf32>, tensor<2x4x256x64xf16>) outs(%of : tensor<2x4x256x64xf32>) {
  ^bb0(%x: f32, %y: f16, %acc: f32):
    %yw = arith.extf %y : f16 to f32
    %p1 = arith.mulf %x, %yw : f32
    %t = arith.addf %acc, %p1 : f32
    linalg.yield %t : f32
  } -> tensor<2x4x256x64xf32>
  %h = arith.truncf %o : tensor<2x4x256x64xf32> to tensor<2x4x256x64xf16>
  return %h : tensor<2x4x256x64xf16>
}

func.func @causal(%q: tensor<2x4x256x64xf16>, %k: tensor<2x4x256x64xf16>, %v: tensor<2x4x256x64xf16>) -> tensor<2x4x256x64xf16> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %se = tensor.empty() : tensor<2x4x256x256xf32>
  %sf = linalg.fill ins(%zero : f32) outs(%se : tensor<2x4x256x256xf32>) -> tensor<2x4x256x256xf32>
  %dots = linalg.generic {indexing_maps = [#q, #k, #s], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
    ins(%q, %k : tensor<2x4x256x64xf16>, tensor<2x4x256x64xf16>) outs(%sf : tensor<2x4x256x256xf32>) {
  ^bb0(%x: f16, %y: f16, %acc: f32):
    %xw = arith.extf %x : f16 to f32
    %yw = arith.extf %y : f16 to f32
    %p = arith.mulf %xw, %yw : f32
    %t = arith.addf %acc, %p : f32
    linalg.yield %t : f32
  } -> tensor<2x4x256x256xf32>
  %s = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%dots : tensor<2x4x256x256xf32>) outs(%se : tensor<2x4x256x256xf32>) {
  ^bb0(%x: f32, %acc: f32):
    %c = arith.constant 0.125 : f32
    %scaled = arith.mulf %x, %c : f32
    %m = linalg.index 2 : index
    %n = linalg.index 3 : index
    %sees = arith.cmpi sle, %n, %m : index
    %masked = arith.select %sees, %scaled, %low : f32
    linalg.yield %masked : f32
  } -> tensor<2x4x256x256xf32>
  %p = linalg.softmax dimension(3) ins(%s : tensor<2x4x256x256xf32>) outs(%se : tensor<2x4x256x256xf32>) -> tensor<2x4x256x256xf32>
  %oe = tensor.empty() : tensor<2x4x256x64xf32>
  %of = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x4x256x64xf32>) -> tensor<2x4x256x64xf32>
  %o = linalg.generic {indexing_maps = [#s, #k, #q], iterator_types = ["parallel", "parallel", "parallel", "reduction", "parallel"]}
    ins(%p, %v : tensor<2x4x256x256xf32>, tensor<2x4x256x64xf16>) outs(%of : tensor<2x4x256x64xf32>) {
  ^bb0(%x: f32, %y: f16, %acc: f32):
    %yw = arith.extf %y : f16 to f32
    %p1 = arith.mulf %x, %yw : f32
    %t = arith.addf %acc, %p1 : f32
    linalg.yield %t : f32
  } -> tensor<2x4x256x64xf32>
  %h = arith.truncf %o : tensor<2x4x256x64xf32> to tensor<2x4x256x64xf16>
  return %h : tensor<2x4x256x64xf16>
}

func.func @grouped(%q: tensor<2x4x256x64xf16>, %k: tensor<2x2x256x64xf16>, %v: tensor<2x2x256x64xf16>) -> tensor<2x4x256x64xf16> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %se = tensor.empty() : tensor<2x4x256x256xf32>
  %sf = linalg.fill ins(%zero : f32) outs(%se : tensor<2x4x256x256xf32>) -> tensor<2x4x256x256xf32>
  %dots = linalg.generic {indexing_maps = [#q, #kg, #s], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
    ins(%q, %k : tensor<2x4x256x64xf16>, tensor<2x2x256x64xf16>) outs(%sf : tensor<2x4x256x256xf32>) {
  ^bb0(%x: f16, %y: f16, %acc: f32):
    %xw = arith.extf %x : f16 to f32
    %yw = arith.extf %y : f16 to f32
    %p = arith.mulf %xw, %yw : f32
    %t = arith.addf %acc, %p : f32
    linalg.yield %t : f32
  } -> tensor<2x4x256x256xf32>
  %s = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%dots : tensor<2x4x256x256xf32>) outs(%se : tensor<2x4x256x256xf32>) {
  ^bb0(%x: f32, %acc: f32):
    %c = arith.constant 0.125 : f32
    %scaled = arith.mulf %x, %c : f32
    linalg.yield %scaled : f32
  } -> tensor<2x4x256x256xf32>
  %p = linalg.softmax dimension(3) ins(%s : tensor<2x4x256x256xf32>) outs(%se : tensor<2x4x256x256xf32>) -> tensor<2x4x256x256xf32>
  %oe = tensor.empty() : tensor<2x4x256x64xf32>
  %of = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x4x256x64xf32>) -> tensor<2x4x256x64xf32>
  %o = linalg.generic {indexing_maps = [#s, #kg, #q], iterator_types = ["parallel", "parallel", "parallel", "reduction", "parallel"]}
    ins(%p, %v : tensor<2x4x256x256xf32>, tensor<2x2x256x64xf16>) outs(%of : tensor<2x4x256x64xf32>) {
  ^bb0(%x: f32, %y: f16, %acc: f32):
    %yw = arith.extf %y : f16 to f32
    %p1 = arith.mulf %x, %yw : f32
    %t = arith.addf %acc, %p1 : f32
    linalg.yield %t : f32
  } -> tensor<2x4x256x64xf32>
  %h = arith.truncf %o : tensor<2x4x256x64xf32> to tensor<2x4x256x64xf16>
  return %h : tensor<2x4x256x64xf16>
}

func.func @divided(%q: tensor<2x4x256x64xf16>, %k: tensor<2x4x256x64xf16>, %v: tensor<2x4x256x64xf16>) -> tensor<2x4x256x64xf16> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %se = tensor.empty() : tensor<2x4x256x256xf32>
  %sf = linalg.fill ins(%zero : f32) outs(%se : tensor<2x4x256x256xf32>) -> tensor<2x4x256x256xf32>
  %dots = linalg.generic {indexing_maps = [#q, #k, #s], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
    ins(%q, %k : tensor<2x4x256x64xf16>, tensor<2x4x256x64xf16>) outs(%sf : tensor<2x4x256x256xf32>) {
  ^bb0(%x: f16, %y: f16, %acc: f32):
    %xw = arith.extf %x : f16 to f32
    %yw = arith.extf %y : f16 to f32
    %p = arith.mulf %xw, %yw : f32
    %t = arith.addf %acc, %p : f32
    linalg.yield %t : f32
  } -> tensor<2x4x256x256xf32>
  %s = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%dots : tensor<2x4x256x256xf32>) outs(%se : tensor<2x4x256x256xf32>) {
  ^bb0(%x: f32, %acc: f32):
    %c = arith.constant 8.0 : f32
    %scaled = arith.divf %x, %c : f32
    linalg.yield %scaled : f32
  } -> tensor<2x4x256x256xf32>
  %p = linalg.softmax dimension(3) ins(%s : tensor<2x4x256x256xf32>) outs(%se : tensor<2x4x256x256xf32>) -> tensor<2x4x256x256xf32>
  %oe = tensor.empty() : tensor<2x4x256x64xf32>
  %of = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x4x256x64xf32>) -> tensor<2x4x256x64xf32>
  %o = linalg.generic {indexing_maps = [#s, #k, #q], iterator_types = ["parallel", "parallel", "parallel", "reduction", "parallel"]}
    ins(%p, %v : tensor<2x4x256x256xf32>, tensor<2x4x256x64xf16>) outs(%of : tensor<2x4x256x64xf32>) {
  ^bb0(%x: f32, %y: f16, %acc: f32):
    %yw = arith.extf %y : f16 to f32
    %p1 = arith.mulf %x, %yw : f32
    %t = arith.addf %acc, %p1 : f32
    linalg.yield %t : f32
  } -> tensor<2x4x256x64xf32>
  %h = arith.truncf %o : tensor<2x4x256x64xf32> to tensor<2x4x256x64xf16>
  return %h : tensor<2x4x256x64xf16>
}

func.func @capped(%q: tensor<2x4x256x64xf16>, %k: tensor<2x4x256x64xf16>, %v: tensor<2x4x256x64xf16>) -> tensor<2x4x256x64xf16> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %se = tensor.empty() : tensor<2x4x256x256xf32>
  %sf = linalg.fill ins(%zero : f32) outs(%se : tensor<2x4x256x256xf32>) -> tensor<2x4x256x256xf32>
  %dots = linalg.generic {indexing_maps = [#q, #k, #s], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
    ins(%q, %k : tensor<2x4x256x64xf16>, tensor<2x4x256x64xf16>) outs(%sf : tensor<2x4x256x256xf32>) {
  ^bb0(%x: f16, %y: f16, %acc: f32):
    %xw = arith.extf %x : f16 to f32
    %yw = arith.extf %y : f16 to f32
    %p = arith.mulf %xw, %yw : f32
    %t = arith.addf %acc, %p : f32
    linalg.yield %t : f32
  } -> tensor<2x4x256x256xf32>
  %s = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%dots : tensor<2x4x256x256xf32>) outs(%se : tensor<2x4x256x256xf32>) {
  ^bb0(%x: f32, %acc: f32):
    %c = arith.constant 0.125 : f32
    %scaled = arith.mulf %x, %c : f32
    %cap = arith.constant 30.0 : f32
    %c1 = arith.divf %scaled, %cap : f32
    %c2 = math.tanh %c1 : f32
    %c3 = arith.mulf %c2, %cap : f32
    linalg.yield %c3 : f32
  } -> tensor<2x4x256x256xf32>
  %p = linalg.softmax dimension(3) ins(%s : tensor<2x4x256x256xf32>) outs(%se : tensor<2x4x256x256xf32>) -> tensor<2x4x256x256xf32>
  %oe = tensor.empty() : tensor<2x4x256x64xf32>
  %of = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x4x256x64xf32>) -> tensor<2x4x256x64xf32>
  %o = linalg.generic {indexing_maps = [#s, #k, #q], iterator_types = ["parallel", "parallel", "parallel", "reduction", "parallel"]}
    ins(%p, %v : tensor<2x4x256x256xf32>, tensor<2x4x256x64xf16>) outs(%of : tensor<2x4x256x64xf32>) {
  ^bb0(%x: f32, %y: f16, %acc: f32):
    %yw = arith.extf %y : f16 to f32
    %p1 = arith.mulf %x, %yw : f32
    %t = arith.addf %acc, %p1 : f32
    linalg.yield %t : f32
  } -> tensor<2x4x256x64xf32>
  %h = arith.truncf %o : tensor<2x4x256x64xf32> to tensor<2x4x256x64xf16>
  return %h : tensor<2x4x256x64xf16>
}

func.func @window(%q: tensor<2x4x256x64xf16>, %k: tensor<2x4x256x64xf16>, %v: tensor<2x4x256x64xf16>) -> tensor<2x4x256x64xf16> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %se = tensor.empty() : tensor<2x4x256x256xf32>
  %sf = linalg.fill ins(%zero : f32) outs(%se : tensor<2x4x256x256xf32>) -> tensor<2x4x256x256xf32>
  %dots = linalg.generic {indexing_maps = [#q, #k, #s], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
    ins(%q, %k : tensor<2x4x256x64xf16>, tensor<2x4x256x64xf16>) outs(%sf : tensor<2x4x256x256xf32>) {
  ^bb0(%x: f16, %y: f16, %acc: f32):
    %xw = arith.extf %x : f16 to f32
    %yw = arith.extf %y : f16 to f32
    %p = arith.mulf %xw, %yw : f32
    %t = arith.addf %acc, %p : f32
    linalg.yield %t : f32
  } -> tensor<2x4x256x256xf32>
  %s = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%dots : tensor<2x4x256x256xf32>) outs(%se : tensor<2x4x256x256xf32>) {
  ^bb0(%x: f32, %acc: f32):
    %c = arith.constant 0.125 : f32
    %scaled = arith.mulf %x, %c : f32
    %m = linalg.index 2 : index
    %n = linalg.index 3 : index
    %reach = arith.constant 32 : index
    %distance = arith.subi %m, %n : index
    %near = arith.cmpi slt, %distance, %reach : index
    %behind = arith.cmpi ule, %n, %m : index
    %sees = arith.andi %near, %behind : i1
    %masked = arith.select %sees, %scaled, %low : f32
    linalg.yield %masked : f32
  } -> tensor<2x4x256x256xf32>
  %p = linalg.softmax dimension(3) ins(%s : tensor<2x4x256x256xf32>) outs(%se : tensor<2x4x256x256xf32>) -> tensor<2x4x256x256xf32>
  %oe = tensor.empty() : tensor<2x4x256x64xf32>
  %of = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x4x256x64xf32>) -> tensor<2x4x256x64xf32>
  %o = linalg.generic {indexing_maps = [#s, #k, #q], iterator_types = ["parallel", "parallel", "parallel", "reduction", "parallel"]}
    ins(%p, %v : tensor<2x4x256x256xf32>, tensor<2x4x256x64xf16>) outs(%of : tensor<2x4x256x64xf32>) {
  ^bb0(%x: f32, %y: f16, %acc: f32):
    %yw = arith.extf %y : f16 to f32
    %p1 = arith.mulf %x, %yw : f32
    %t = arith.addf %acc, %p1 : f32
    linalg.yield %t : f32
  } -> tensor<2x4x256x64xf32>
  %h = arith.truncf %o : tensor<2x4x256x64xf32> to tensor<2x4x256x64xf16>
  return %h : tensor<2x4x256x64xf16>
}

func.func @bias(%q: tensor<2x4x256x64xf16>, %k: tensor<2x4x256x64xf16>, %v: tensor<2x4x256x64xf16>, %bias: tensor<4x256x256xf16>) -> tensor<2x4x256x64xf16> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %se = tensor.empty() : tensor<2x4x256x256xf32>
  %sf = linalg.fill ins(%zero : f32) outs(%se : tensor<2x4x256x256xf32>) -> tensor<2x4x256x256xf32>
  %dots = linalg.generic {indexing_maps = [#q, #k, #s], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
    ins(%q, %k : tensor<2x4x256x64xf16>, tensor<2x4x256x64xf16>) outs(%sf : tensor<2x4x256x256xf32>) {
  ^bb0(%x: f16, %y: f16, %acc: f32):
    %xw = arith.extf %x : f16 to f32
    %yw = arith.extf %y : f16 to f32
    %p = arith.mulf %xw, %yw : f32
    %t = arith.addf %acc, %p : f32
    linalg.yield %t : f32
  } -> tensor<2x4x256x256xf32>
  %s = linalg.generic {indexing_maps = [#all, affine_map<(b, h, m, n) -> (h, m, n)>, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%dots, %bias : tensor<2x4x256x256xf32>, tensor<4x256x256xf16>) outs(%se : tensor<2x4x256x256xf32>) {
  ^bb0(%x: f32, %a: f16, %acc: f32):
    %c = arith.constant 0.125 : f32
    %scaled = arith.mulf %x, %c : f32
    %wide = arith.extf %a : f16 to f32
    %sum = arith.addf %wide, %scaled : f32
    linalg.yield %sum : f32
  } -> tensor<2x4x256x256xf32>
  %p = linalg.softmax dimension(3) ins(%s : tensor<2x4x256x256xf32>) outs(%se : tensor<2x4x256x256xf32>) -> tensor<2x4x256x256xf32>
  %oe = tensor.empty() : tensor<2x4x256x64xf32>
  %of = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x4x256x64xf32>) -> tensor<2x4x256x64xf32>
  %o = linalg.generic {indexing_maps = [#s, #k, #q], iterator_types = ["parallel", "parallel", "parallel", "reduction", "parallel"]}
    ins(%p, %v : tensor<2x4x256x256xf32>, tensor<2x4x256x64xf16>) outs(%of : tensor<2x4x256x64xf32>) {
  ^bb0(%x: f32, %y: f16, %acc: f32):
    %yw = arith.extf %y : f16 to f32
    %p1 = arith.mulf %x, %yw : f32
    %t = arith.addf %acc, %p1 : f32
    linalg.yield %t : f32
  } -> tensor<2x4x256x64xf32>
  %h = arith.truncf %o : tensor<2x4x256x64xf32> to tensor<2x4x256x64xf16>
  return %h : tensor<2x4x256x64xf16>
}

func.func @documents(%q: tensor<2x4x256x64xf16>, %k: tensor<2x4x256x64xf16>, %v: tensor<2x4x256x64xf16>, %document: tensor<2x256xi32>) -> tensor<2x4x256x64xf16> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %se = tensor.empty() : tensor<2x4x256x256xf32>
  %sf = linalg.fill ins(%zero : f32) outs(%se : tensor<2x4x256x256xf32>) -> tensor<2x4x256x256xf32>
  %dots = linalg.generic {indexing_maps = [#q, #k, #s], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
    ins(%q, %k : tensor<2x4x256x64xf16>, tensor<2x4x256x64xf16>) outs(%sf : tensor<2x4x256x256xf32>) {
  ^bb0(%x: f16, %y: f16, %acc: f32):
    %xw = arith.extf %x : f16 to f32
    %yw = arith.extf %y : f16 to f32
    %p = arith.mulf %xw, %yw : f32
    %t = arith.addf %acc, %p : f32
    linalg.yield %t : f32
  } -> tensor<2x4x256x256xf32>
  %s = linalg.generic {indexing_maps = [#all, affine_map<(b, h, m, n) -> (b, m)>, affine_map<(b, h, m, n) -> (b, n)>, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%dots, %document, %document : tensor<2x4x256x256xf32>, tensor<2x256xi32>, tensor<2x256xi32>) outs(%se : tensor<2x4x256x256xf32>) {
  ^bb0(%x: f32, %dm: i32, %dn: i32, %acc: f32):
    %c = arith.constant 0.125 : f32
    %scaled = arith.mulf %x, %c : f32
    %m = linalg.index 2 : index
    %n = linalg.index 3 : index
    %same = arith.cmpi eq, %dm, %dn : i32
    %behind = arith.cmpi sge, %m, %n : index
    %sees = arith.andi %same, %behind : i1
    %masked = arith.select %sees, %scaled, %low : f32
    linalg.yield %masked : f32
  } -> tensor<2x4x256x256xf32>
  %p = linalg.softmax dimension(3) ins(%s : tensor<2x4x256x256xf32>) outs(%se : tensor<2x4x256x256xf32>) -> tensor<2x4x256x256xf32>
  %oe = tensor.empty() : tensor<2x4x256x64xf32>
  %of = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x4x256x64xf32>) -> tensor<2x4x256x64xf32>
  %o = linalg.generic {indexing_maps = [#s, #k, #q], iterator_types = ["parallel", "parallel", "parallel", "reduction", "parallel"]}
    ins(%p, %v : tensor<2x4x256x256xf32>, tensor<2x4x256x64xf16>) outs(%of : tensor<2x4x256x64xf32>) {
  ^bb0(%x: f32, %y: f16, %acc: f32):
    %yw = arith.extf %y : f16 to f32
    %p1 = arith.mulf %x, %yw : f32
    %t = arith.addf %acc, %p1 : f32
    linalg.yield %t : f32
  } -> tensor<2x4x256x64xf32>
  %h = arith.truncf %o : tensor<2x4x256x64xf32> to tensor<2x4x256x64xf16>
  return %h : tensor<2x4x256x64xf16>
}

//--- attn.mlir
func.func @plain(%q: tensor<2x4x256x64xf16>, %k: tensor<2x4x256x64xf16>, %v: tensor<2x4x256x64xf16>) -> tensor<2x4x256x64xf16> {
  %o = attn.attention %q, %k, %v
    : tensor<2x4x256x64xf16>, tensor<2x4x256x64xf16>, tensor<2x4x256x64xf16>
  return %o : tensor<2x4x256x64xf16>
}

func.func @causal(%q: tensor<2x4x256x64xf16>, %k: tensor<2x4x256x64xf16>, %v: tensor<2x4x256x64xf16>) -> tensor<2x4x256x64xf16> {
  %o = attn.attention %q, %k, %v causal(top_left)
    : tensor<2x4x256x64xf16>, tensor<2x4x256x64xf16>, tensor<2x4x256x64xf16>
  return %o : tensor<2x4x256x64xf16>
}

func.func @grouped(%q: tensor<2x4x256x64xf16>, %k: tensor<2x2x256x64xf16>, %v: tensor<2x2x256x64xf16>) -> tensor<2x4x256x64xf16> {
  %o = attn.attention %q, %k, %v
    : tensor<2x4x256x64xf16>, tensor<2x2x256x64xf16>, tensor<2x2x256x64xf16>
  return %o : tensor<2x4x256x64xf16>
}

func.func @divided(%q: tensor<2x4x256x64xf16>, %k: tensor<2x4x256x64xf16>, %v: tensor<2x4x256x64xf16>) -> tensor<2x4x256x64xf16> {
  %o = attn.attention %q, %k, %v
    : tensor<2x4x256x64xf16>, tensor<2x4x256x64xf16>, tensor<2x4x256x64xf16>
  return %o : tensor<2x4x256x64xf16>
}

func.func @capped(%q: tensor<2x4x256x64xf16>, %k: tensor<2x4x256x64xf16>, %v: tensor<2x4x256x64xf16>) -> tensor<2x4x256x64xf16> {
  %o = attn.attention %q, %k, %v softcap(3.000000e+01)
    : tensor<2x4x256x64xf16>, tensor<2x4x256x64xf16>, tensor<2x4x256x64xf16>
  return %o : tensor<2x4x256x64xf16>
}

func.func @window(%q: tensor<2x4x256x64xf16>, %k: tensor<2x4x256x64xf16>, %v: tensor<2x4x256x64xf16>) -> tensor<2x4x256x64xf16> {
  %o = attn.attention %q, %k, %v causal(top_left) window(31, ?, top_left)
    : tensor<2x4x256x64xf16>, tensor<2x4x256x64xf16>, tensor<2x4x256x64xf16>
  return %o : tensor<2x4x256x64xf16>
}

func.func @bias(%q: tensor<2x4x256x64xf16>, %k: tensor<2x4x256x64xf16>, %v: tensor<2x4x256x64xf16>, %bias: tensor<4x256x256xf16>) -> tensor<2x4x256x64xf16> {
  %o = attn.attention %q, %k, %v score (%s, %b, %h, %m, %n) {
    %narrow = tensor.extract %bias[%h, %m, %n] : tensor<4x256x256xf16>
    %a = arith.extf %narrow : f16 to f32
    %sum = arith.addf %a, %s : f32
    attn.yield %sum : f32
  } : tensor<2x4x256x64xf16>, tensor<2x4x256x64xf16>, tensor<2x4x256x64xf16>
  return %o : tensor<2x4x256x64xf16>
}

func.func @documents(%q: tensor<2x4x256x64xf16>, %k: tensor<2x4x256x64xf16>, %v: tensor<2x4x256x64xf16>, %document: tensor<2x256xi32>) -> tensor<2x4x256x64xf16> {
  %o = attn.attention %q, %k, %v causal(top_left) mask (%b, %h, %m, %n) {
    %dm = tensor.extract %document[%b, %m] : tensor<2x256xi32>
    %dn = tensor.extract %document[%b, %n] : tensor<2x256xi32>
    %same = arith.cmpi eq, %dm, %dn : i32
    attn.yield %same : i1
  } : tensor<2x4x256x64xf16>, tensor<2x4x256x64xf16>, tensor<2x4x256x64xf16>
  return %o : tensor<2x4x256x64xf16>
}
