// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: attune-opt %s -split-input-file -verify-diagnostics

!registers = !llvm.struct<(f32, f32, f32, f32)>
llvm.func @rows(%a: i32, %b: i64, %acc: !registers) {
  // expected-error @below {{expects m = 64, n = 8 to 256 in steps of 8, and k = 16, but got m = 32, n = 8, and k = 16}}
  %0 = wgmma.mma_async [%a, %a, %a, %a], %b, %acc, <m = 32, n = 8, k = 16>, <bf16>, D [<one>], B [<row>] : !registers
  llvm.return
}

// -----

!registers = !llvm.struct<(f32, f32, f32, f32)>
llvm.func @columns(%a: i32, %b: i64, %acc: !registers) {
  // expected-error @below {{expects m = 64, n = 8 to 256 in steps of 8, and k = 16, but got m = 64, n = 12, and k = 16}}
  %0 = wgmma.mma_async [%a, %a, %a, %a], %b, %acc, <m = 64, n = 12, k = 16>, <bf16>, D [<one>], B [<row>] : !registers
  llvm.return
}

// -----

!registers = !llvm.struct<(f32, f32, f32, f32)>
llvm.func @no_columns(%a: i32, %b: i64, %acc: !registers) {
  // expected-error @below {{but got m = 64, n = 0, and k = 16}}
  %0 = wgmma.mma_async [%a, %a, %a, %a], %b, %acc, <m = 64, n = 0, k = 16>, <bf16>, D [<one>], B [<row>] : !registers
  llvm.return
}

// -----

!registers = !llvm.struct<(f32, f32, f32, f32)>
llvm.func @too_many_columns(%a: i32, %b: i64, %acc: !registers) {
  // expected-error @below {{but got m = 64, n = 264, and k = 16}}
  %0 = wgmma.mma_async [%a, %a, %a, %a], %b, %acc, <m = 64, n = 264, k = 16>, <bf16>, D [<one>], B [<row>] : !registers
  llvm.return
}

// -----

!registers = !llvm.struct<(f32, f32, f32, f32)>
llvm.func @depth(%a: i32, %b: i64, %acc: !registers) {
  // expected-error @below {{but got m = 64, n = 8, and k = 32}}
  %0 = wgmma.mma_async [%a, %a, %a, %a], %b, %acc, <m = 64, n = 8, k = 32>, <bf16>, D [<one>], B [<row>] : !registers
  llvm.return
}

// -----

!registers = !llvm.struct<(f32, f32, f32, f32)>
llvm.func @type(%a: i32, %b: i64, %acc: !registers) {
  // expected-error @below {{expects bf16, f16, e4m3 or e5m2, but got tf32}}
  %0 = wgmma.mma_async [%a, %a, %a, %a], %b, %acc, <m = 64, n = 8, k = 16>, <tf32>, D [<one>], B [<row>] : !registers
  llvm.return
}

// -----

!registers = !llvm.struct<(f32, f32, f32, f32)>
llvm.func @depth_of_8_bits(%a: i32, %b: i64, %acc: !registers) {
  // expected-error @below {{expects m = 64, n = 8 to 256 in steps of 8, and k = 32, but got m = 64, n = 8, and k = 16}}
  %0 = wgmma.mma_async [%a, %a, %a, %a], %b, %acc, <m = 64, n = 8, k = 16>, <e4m3>, D [<one>], B [<col>] : !registers
  llvm.return
}

// -----

!registers = !llvm.struct<(f32, f32, f32, f32)>
llvm.func @rows_of_8_bits(%a: i32, %b: i64, %acc: !registers) {
  // expected-error @below {{expects a right operand of 8 bits in layout col, but got row}}
  %0 = wgmma.mma_async [%a, %a, %a, %a], %b, %acc, <m = 64, n = 8, k = 32>, <e5m2>, D [<one>], B [<row>] : !registers
  llvm.return
}

// -----

!registers = !llvm.struct<(f32, f32, f32, f32)>
llvm.func @left(%a: i32, %b: i64, %acc: !registers) {
  // expected-error @below {{expects 4 registers of the left operand, but got 3}}
  %0 = wgmma.mma_async [%a, %a, %a], %b, %acc, <m = 64, n = 8, k = 16>, <bf16>, D [<one>], B [<row>] : !registers
  llvm.return
}

// -----

!registers = !llvm.struct<(f32, f32, f32)>
llvm.func @accumulator(%a: i32, %b: i64, %acc: !registers) {
  // expected-error @below {{expects an accumulator of 4 f32, but got '!llvm.struct<(f32, f32, f32)>'}}
  %0 = wgmma.mma_async [%a, %a, %a, %a], %b, %acc, <m = 64, n = 8, k = 16>, <bf16>, D [<one>], B [<row>] : !registers
  llvm.return
}

// -----

!registers = !llvm.struct<(f32, f32, f32, f16)>
llvm.func @element(%a: i32, %b: i64, %acc: !registers) {
  // expected-error @below {{expects an accumulator of 4 f32, but got '!llvm.struct<(f32, f32, f32, f16)>'}}
  %0 = wgmma.mma_async [%a, %a, %a, %a], %b, %acc, <m = 64, n = 8, k = 16>, <bf16>, D [<one>], B [<row>] : !registers
  llvm.return
}

// -----

llvm.func @group() {
  // expected-error @below {{expects 0 to 7 groups under way, but got 8}}
  wgmma.wait_group 8
  llvm.return
}

// -----

llvm.func @negative_group() {
  // expected-error @below {{expects 0 to 7 groups under way, but got -1}}
  wgmma.wait_group -1
  llvm.return
}

// -----

llvm.func @not_f32(%x: !llvm.struct<(f32, i32)>) {
  // expected-error @below {{expects structs of f32, but got '!llvm.struct<(f32, i32)>'}}
  %0 = wgmma.wait_group 0, %x : !llvm.struct<(f32, i32)>
  llvm.return
}

// -----

llvm.func @results(%x: !llvm.struct<(f32)>) {
  // expected-error @below {{'wgmma.wait_group' op failed to infer returned types}}
  // expected-error @below {{'wgmma.wait_group' op inferred type(s) '!llvm.struct<(f32)>' are incompatible with return type(s) of operation '!llvm.struct<(f32, f32)>'}}
  %0 = "wgmma.wait_group"(%x) {group = 0 : i32} : (!llvm.struct<(f32)>) -> !llvm.struct<(f32, f32)>
  llvm.return
}

// -----

llvm.func @no_operands() {
  // expected-error @below {{'wgmma.mma_async' op expected 2 or more operands, but found 0}}
  %0 = "wgmma.mma_async"() {shape = #nvvm.shape<m = 64, n = 8, k = 16>, type = #nvvm.wgmma_type<bf16>,
      scaleD = #nvvm.wgmma_scale_out<one>, layoutB = #nvvm.mma_layout<row>} : () -> !llvm.struct<(f32)>
  llvm.return
}
