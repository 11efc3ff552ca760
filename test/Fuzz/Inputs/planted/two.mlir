// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What planted.test starts from.
//
// RUN: attune-opt %s --canonicalize
func.func @first(%a: index) -> index {
  %b = arith.addi %a, %a : index
  return %b : index
}
func.func @second(%a: index) -> index {
  return %a : index
}
