// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Another project finds the installed package, compiles against it and runs.
//
// RUN: rm -rf %t && %cmake --install %attune_build --prefix %t/installed > %t.install
// RUN: %cmake -S %S/consumer -B %t/build -G Ninja -DCMAKE_BUILD_TYPE=Release -DAttune_DIR=%t/installed/lib/cmake/Attune
// RUN: %cmake --build %t/build
// RUN: %t/build/consumer %s | FileCheck %s
//
// The build tree is as good as an installed one.
// RUN: %cmake -S %S/consumer -B %t/build-tree -G Ninja -DCMAKE_BUILD_TYPE=Release -DAttune_DIR=%attune_build/lib/cmake/Attune
// RUN: %cmake --build %t/build-tree
// RUN: %t/build-tree/consumer %s | FileCheck %s
//
// The installed tools run, and the search space comes with them.
// RUN: %t/installed/bin/attune-opt %s -o /dev/null
// RUN: FileCheck %s --check-prefix=SPACE < %t/installed/share/attune/knobs.json
// SPACE: "name": "block-m"

// CHECK: attn.attention
// CHECK-SAME: schedule(
func.func @consumer(%q: tensor<1x8x256x64xf16>, %k: tensor<1x2x256x64xf16>, %v: tensor<1x2x256x64xf16>) -> tensor<1x8x256x64xf16> {
  %o = attn.attention %q, %k, %v causal(top_left)
     : tensor<1x8x256x64xf16>, tensor<1x2x256x64xf16>, tensor<1x2x256x64xf16>
  return %o : tensor<1x8x256x64xf16>
}
