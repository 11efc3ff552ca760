// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: attune-opt %s --split-input-file --verify-diagnostics --attune-bufferize-host

func.func @not_compiled(%q: tensor<1x1x64x64xf16>) -> tensor<1x1x64x64xf16> {
  // expected-error @below {{op was not bufferized}}
  %o = attn.attention %q, %q, %q : tensor<1x1x64x64xf16>, tensor<1x1x64x64xf16>, tensor<1x1x64x64xf16>
  return %o : tensor<1x1x64x64xf16>
}

// -----

func.func @may_alias(%buffer: memref<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{to_tensor ops without `restrict` are not supported by One-Shot Analysis}}
  %tensor = bufferization.to_tensor %buffer : memref<8xf32> to tensor<8xf32>
  return %tensor : tensor<8xf32>
}
