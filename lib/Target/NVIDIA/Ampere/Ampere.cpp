// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chips that can do what all chips of the vendor can, and from which no more is
// asked.

#include "../Common/Baseline.h"

using namespace mlir;
using namespace attune;

namespace attune {
std::unique_ptr<TargetModel> createAmpereTargetModel() {
  return std::make_unique<nvidia::BaselineTarget>();
}
void registerAmpereDialects(DialectRegistry &registry) {
  nvidia::registerDialects(registry);
}
} // namespace attune
