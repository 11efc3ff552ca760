// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a score or mask region may not contain, capture or yield.
//
// RUN: attune-opt %s --split-input-file --verify-diagnostics

func.func @attention_c14_arguments(%q: tensor<1x2x8x16xf16>) {
  // expected-error @below {{expects the score region to take ('f32', 'index', 'index', 'index', 'index'), but got ('f16', 'index', 'index', 'index', 'index')}}
  %o = "attn.attention"(%q, %q, %q) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>}> ({
  ^bb0(%s: f16, %b: index, %h: index, %m: index, %n: index):
    %y = arith.extf %s : f16 to f32
    "attn.yield"(%y) : (f32) -> ()
  }, {}) : (tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>) -> tensor<1x2x8x16xf16>
  return
}

// -----

func.func @attention_c14_yield(%q: tensor<1x2x8x16xf16>) {
  %o = attn.attention %q, %q, %q score (%s, %b, %h, %m, %n) {
    %y = arith.cmpi slt, %m, %n : index
    // expected-error @below {{expects the score region to yield f32, but got 'i1'}}
    attn.yield %y : i1
  } : tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>
  return
}

// -----

func.func @attention_c15_yield(%q: tensor<1x2x8x16xf16>, %x: f32) {
  %o = attn.attention %q, %q, %q mask (%b, %h, %m, %n) {
    // expected-error @below {{expects the mask region to yield i1, but got 'f32'}}
    attn.yield %x : f32
  } : tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>
  return
}

// -----

func.func @attention_c15_argument_count(%q: tensor<1x2x8x16xf16>) {
  // expected-error @below {{expects 4 arguments (b, h, m, n), but got 2}}
  %o = attn.attention %q, %q, %q mask (%m, %n) {
    %y = arith.cmpi slt, %m, %n : index
    attn.yield %y : i1
  } : tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>
  return
}

// -----

func.func @attention_c15_terminator(%q: tensor<1x2x8x16xf16>) {
  // expected-error @below {{expects the mask region to end in attn.yield}}
  %o = "attn.attention"(%q, %q, %q) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>}> ({}, {
  ^bb0(%b: index, %h: index, %m: index, %n: index):
    "llvm.unreachable"() : () -> ()
  }) : (tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>) -> tensor<1x2x8x16xf16>
  return
}

// -----

func.func private @f(f32) -> f32

func.func @attention_c16_call(%q: tensor<1x2x8x16xf16>) {
  %o = attn.attention %q, %q, %q score (%s, %b, %h, %m, %n) {
    // expected-error @below {{expects an op of arith or math on scalars, tensor.extract or tensor.dim in a region of attn.attention, but got 'func.call'}}
    %y = func.call @f(%s) : (f32) -> f32
    attn.yield %y : f32
  } : tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>
  return
}

// -----

func.func @attention_c16_nested_region(%q: tensor<1x2x8x16xf16>, %p: i1) {
  %o = attn.attention %q, %q, %q score (%s, %b, %h, %m, %n) {
    // expected-error @below {{but got 'scf.if'}}
    %y = scf.if %p -> f32 {
      scf.yield %s : f32
    } else {
      scf.yield %s : f32
    }
    attn.yield %y : f32
  } : tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>
  return
}

// -----

func.func @attention_c16_memory(%q: tensor<1x2x8x16xf16>, %buffer: memref<8xf32>) {
  %o = attn.attention %q, %q, %q score (%s, %b, %h, %m, %n) {
    // expected-error @below {{but got 'memref.load'}}
    %y = memref.load %buffer[%m] : memref<8xf32>
    attn.yield %y : f32
  } : tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>
  return
}

// -----

func.func @attention_c16_vector(%q: tensor<1x2x8x16xf16>, %x: vector<4xf32>) {
  %o = attn.attention %q, %q, %q score (%s, %b, %h, %m, %n) {
    // expected-error @below {{expects an op of arith or math on scalars, tensor.extract or tensor.dim in a region of attn.attention, but got 'arith.addf'}}
    %y = arith.addf %x, %x : vector<4xf32>
    attn.yield %s : f32
  } : tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>
  return
}

// -----

func.func @attention_c17_capture(%q: tensor<1x2x8x16xf16>, %table: tensor<8xcomplex<f32>>) {
  %o = attn.attention %q, %q, %q score (%s, %b, %h, %m, %n) {
    %zero = arith.constant 0 : index
    // expected-error @below {{expects a captured value to be a scalar or a ranked tensor of scalars, but got 'tensor<8xcomplex<f32>>'}}
    %size = tensor.dim %table, %zero : tensor<8xcomplex<f32>>
    attn.yield %s : f32
  } : tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>
  return
}

// -----

func.func @attention_c17_unranked(%q: tensor<1x2x8x16xf16>, %table: tensor<*xf32>) {
  %o = attn.attention %q, %q, %q mask (%b, %h, %m, %n) {
    %zero = arith.constant 0 : index
    // expected-error @below {{expects a captured value to be a scalar or a ranked tensor of scalars, but got 'tensor<*xf32>'}}
    %size = tensor.dim %table, %zero : tensor<*xf32>
    %y = arith.cmpi slt, %n, %size : index
    attn.yield %y : i1
  } : tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>
  return
}

// -----

func.func @attention_c20(%q: tensor<1x2x64x16xf16>, %k: tensor<1x2x96x16xf16>, %doc: tensor<95xi32>) {
  // expected-error @+1 {{expects dimension 0 of a tensor that a region reads to have at least as many elements as there are keys, but got 95 and 96}}
  %o = attn.attention %q, %k, %k mask (%b, %h, %m, %n) {
    %i = tensor.extract %doc[%m] : tensor<95xi32>
    %j = tensor.extract %doc[%n] : tensor<95xi32>
    %same = arith.cmpi eq, %i, %j : i32
    attn.yield %same : i1
  } : tensor<1x2x64x16xf16>, tensor<1x2x96x16xf16>, tensor<1x2x96x16xf16>
  return
}
