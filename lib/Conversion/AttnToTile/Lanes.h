// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What lanes of a warp tell each other.

#ifndef ATTUNE_LIB_CONVERSION_ATTNTOTILE_LANES_H
#define ATTUNE_LIB_CONVERSION_ATTNTOTILE_LANES_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace attune {

/// Emits the i32 of the lane of that distance, of so many lanes.
inline mlir::Value exchangeLanes(mlir::ImplicitLocOpBuilder &b,
                                 mlir::Value value, int64_t distance,
                                 int64_t lanes) {
  return mlir::gpu::ShuffleOp::create(b, value, static_cast<int32_t>(distance),
                                      static_cast<int32_t>(lanes),
                                      mlir::gpu::ShuffleMode::XOR)
      .getShuffleResult();
}

/// Emits what the op makes of the values of all lanes, for all of them.
template <typename OpTy>
mlir::Value combineLanes(mlir::ImplicitLocOpBuilder &b, mlir::Value value,
                         int64_t lanes) {
  for (int64_t distance = 1; distance < lanes; distance *= 2)
    value = OpTy::create(b, value, exchangeLanes(b, value, distance, lanes));
  return value;
}

} // namespace attune

#endif // ATTUNE_LIB_CONVERSION_ATTNTOTILE_LANES_H
