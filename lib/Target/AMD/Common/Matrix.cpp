// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matrix instructions, with the operands exchanged.

#include "AMD.h"
#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace attune;

int64_t amd::MFMATarget::countInstructions(tile::MmaAtomAttr atom) const {
  // Of numbers of 8 bits, a lane has eight in all families.
  constexpr int64_t kFloat8Depth = 16;
  bool isFloat8 = atom.getLhsType().getIntOrFloatBitWidth() == 8;
  return atom.getK() / (isFloat8 ? kFloat8Depth : getDepth());
}

Value amd::MFMATarget::emitMma(OpBuilder &b, Location loc,
                               tile::MmaAtomAttr atom, Value lhs, Value rhs,
                               Value acc) const {
  int64_t count = countInstructions(atom), depth = atom.getK() / count;
  int64_t size = cast<VectorType>(lhs.getType()).getNumElements() / count;
  auto part = [&](Value operand, int64_t number) -> Value {
    if (count == 1)
      return operand;
    return vector::ExtractStridedSliceOp::create(
        b, loc, operand, ArrayRef<int64_t>{number * size},
        ArrayRef<int64_t>{size}, ArrayRef<int64_t>{1});
  };
  for (int64_t i = 0; i < count; ++i)
    acc = amdgpu::MFMAOp::create(
        b, loc, acc.getType(), static_cast<uint32_t>(atom.getN()),
        static_cast<uint32_t>(atom.getM()), static_cast<uint32_t>(depth),
        /*blocks=*/1, /*sourceA=*/part(rhs, i), /*sourceB=*/part(lhs, i), acc);
  return acc;
}

Value amd::WMMATarget::emitMma(OpBuilder &b, Location loc,
                               tile::MmaAtomAttr atom, Value lhs, Value rhs,
                               Value acc) const {
  return amdgpu::WMMAOp::create(
      b, loc, acc.getType(), static_cast<uint32_t>(atom.getN()),
      static_cast<uint32_t>(atom.getM()), static_cast<uint32_t>(atom.getK()),
      /*sourceA=*/rhs, /*sourceB=*/lhs, acc);
}
