// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A test that names no pass.
//
// RUN: attune-opt %s
func.func @same(%a: index) -> index {
  return %a : index
}
