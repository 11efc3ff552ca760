// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matmuls as text, for tests that compile or compare many of them.

#ifndef ATTUNE_UNITTESTS_SCHEDULE_MATMULTEXT_H
#define ATTUNE_UNITTESTS_SCHEDULE_MATMULTEXT_H

#include <string>

namespace attune {

/// A product of two matrices, or of one with two others, joined as by a gate.
struct MatmulText {
  /// "?" where not known; no batch where that is empty.
  std::string batch, m = "256", n = "256", k = "256";
  std::string element = "f16", result = "f16";
  bool transposeA = false, transposeB = false, gate = false;

  std::string getTensor(const std::string &rows, const std::string &columns,
                        const std::string &type) const {
    return "tensor<" + (batch.empty() ? "" : batch + "x") + rows + "x" +
           columns + "x" + type + ">";
  }

  std::string print() const {
    std::string a = transposeA ? getTensor(k, m, element)
                               : getTensor(m, k, element),
                b = transposeB ? getTensor(n, k, element)
                               : getTensor(k, n, element),
                sums = getTensor(m, n, "f32"), r = getTensor(m, n, result);
    bool hasBatch = !batch.empty();
    std::string dims, sizes;
    auto addDim = [&](const std::string &size, const char *tensor, int dim) {
      if (size != "?")
        return;
      std::string name = std::string("%d") + tensor + std::to_string(dim);
      dims += "%i" + name.substr(1) + " = arith.constant " +
              std::to_string(dim) + " : index\n" + name + " = tensor.dim %" +
              tensor + ", %i" + name.substr(1) + " : " +
              (*tensor == 'a' ? a : b) + "\n";
      sizes += (sizes.empty() ? "" : ", ") + name;
    };
    if (hasBatch)
      addDim(batch, "a", 0);
    addDim(m, "a", hasBatch + transposeA);
    addDim(n, "b", hasBatch + !transposeB);

    std::string loops = hasBatch ? "(g, m, n, k)" : "(m, n, k)",
                prefix = hasBatch ? "(g, " : "(";
    auto map = [&](const char *indices) {
      return "affine_map<" + loops + " -> " + prefix + indices + ")>";
    };
    std::string maps = "[" + map(transposeA ? "k, m" : "m, k") + ", " +
                       map(transposeB ? "n, k" : "k, n") + ", " + map("m, n") +
                       "]";
    auto multiply = [&](const char *name, const char *rhs) {
      return std::string(name) + " = linalg." + (hasBatch ? "batch_" : "") +
             "matmul indexing_maps = " + maps + " ins(%a, " + rhs + " : " + a +
             ", " + b + ") outs(%init : " + sums + ") -> " + sums + "\n";
    };
    std::string text =
        "func.func @f(%a: " + a + ", %b: " + b + ", %c: " + b + ") -> " + r +
        " {\n%zero = arith.constant 0.0 : f32\n" + dims +
        "%empty = tensor.empty(" + sizes + ") : " + sums +
        "\n%init = linalg.fill ins(%zero : f32) outs(%empty : " + sums +
        ") -> " + sums + "\n" + multiply("%x", "%b");
    std::string value = "%x";
    if (gate) {
      text += multiply("%y", "%c") + "%g = linalg.mul ins(%x, %y : " + sums +
              ", " + sums + ") outs(%empty : " + sums + ") -> " + sums + "\n";
      value = "%g";
    }
    if (result != "f32") {
      text += "%out = tensor.empty(" + sizes + ") : " + r +
              "\n%cast = linalg.map ins(" + value + " : " + sums +
              ") outs(%out : " + r + ") (%in: f32, %old: " + result +
              ") {\n%t = arith.truncf %in : f32 to " + result +
              "\nlinalg.yield %t : " + result + "\n}\n";
      value = "%cast";
    }
    return text + "return " + value + " : " + r + "\n}";
  }
};

} // namespace attune

#endif // ATTUNE_UNITTESTS_SCHEDULE_MATMULTEXT_H
