// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Swizzles of tensor maps, as the runtime takes them.

#ifndef ATTUNE_CONVERSION_SWIZZLEBYTES_H
#define ATTUNE_CONVERSION_SWIZZLEBYTES_H

#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"

namespace attune {

/// Bytes of the rows that a swizzle permutes; 0 for none.
inline int64_t getSwizzleBytes(mlir::nvgpu::TensorMapSwizzleKind swizzle) {
  switch (swizzle) {
  case mlir::nvgpu::TensorMapSwizzleKind::SWIZZLE_NONE:
    return 0;
  case mlir::nvgpu::TensorMapSwizzleKind::SWIZZLE_32B:
    return 32;
  case mlir::nvgpu::TensorMapSwizzleKind::SWIZZLE_64B:
    return 64;
  case mlir::nvgpu::TensorMapSwizzleKind::SWIZZLE_128B:
    return 128;
  }
  llvm_unreachable("a swizzle of no known width");
}

} // namespace attune

#endif // ATTUNE_CONVERSION_SWIZZLEBYTES_H
