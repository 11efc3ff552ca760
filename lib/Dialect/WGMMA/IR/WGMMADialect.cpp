// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Registration of the wgmma dialect, and the verifiers of its ops.

#include "attune/Dialect/WGMMA/IR/WGMMA.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace attune::wgmma;

#include "attune/Dialect/WGMMA/IR/WGMMADialect.cpp.inc"

#define GET_OP_CLASSES
#include "attune/Dialect/WGMMA/IR/WGMMAOps.cpp.inc"

/// Registers of one thread: 64 rows of 32 bytes of the left operand, over 128
/// threads.
static constexpr size_t kLeftRegisters = 4;
static constexpr int kLargestGroup = 7;

void WGMMADialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "attune/Dialect/WGMMA/IR/WGMMAOps.cpp.inc"
      >();
}

static bool isStructOfF32(Type type) {
  return llvm::all_of(cast<LLVM::LLVMStructType>(type).getBody(),
                      llvm::IsaPred<Float32Type>);
}

LogicalResult MmaAsyncOp::inferReturnTypes(MLIRContext *,
                                           std::optional<Location>,
                                           ValueRange operands, DictionaryAttr,
                                           OpaqueProperties, RegionRange,
                                           SmallVectorImpl<Type> &types) {
  types.push_back(operands.back().getType());
  return success();
}

LogicalResult MmaAsyncOp::verify() {
  NVVM::MMAShapeAttr shape = getShape();
  if (getType() != NVVM::WGMMATypes::bf16 &&
      getType() != NVVM::WGMMATypes::f16 && !isOf8Bits())
    return emitOpError() << "expects bf16, f16, e4m3 or e5m2, but got "
                         << NVVM::stringifyWGMMATypes(getType());
  int depth = isOf8Bits() ? 32 : 16;
  if (shape.getM() != 64 || shape.getK() != depth || shape.getN() < 8 ||
      shape.getN() > 256 || shape.getN() % 8 != 0)
    return emitOpError() << "expects m = 64, n = 8 to 256 in steps of 8, and k "
                            "= "
                         << depth << ", but got m = " << shape.getM()
                         << ", n = " << shape.getN()
                         << ", and k = " << shape.getK();
  if (isOf8Bits() && getLayoutB() == NVVM::MMALayout::row)
    return emitOpError() << "expects a right operand of 8 bits in layout col, "
                            "but got row";
  if (getA().size() != kLeftRegisters)
    return emitOpError() << "expects " << kLeftRegisters
                         << " registers of the left operand, but got "
                         << getA().size();
  auto accumulator = cast<LLVM::LLVMStructType>(getInouts().getType());
  size_t elements = shape.getN() / 2;
  if (!isStructOfF32(accumulator) || accumulator.getBody().size() != elements)
    return emitOpError() << "expects an accumulator of " << elements
                         << " f32, but got " << accumulator;
  return success();
}

LogicalResult WaitGroupOp::inferReturnTypes(MLIRContext *,
                                            std::optional<Location>,
                                            ValueRange operands, DictionaryAttr,
                                            OpaqueProperties, RegionRange,
                                            SmallVectorImpl<Type> &types) {
  llvm::append_range(types, operands.getTypes());
  return success();
}

LogicalResult WaitGroupOp::verify() {
  int64_t group = getGroupAttr().getInt();
  if (group < 0 || group > kLargestGroup)
    return emitOpError() << "expects 0 to " << kLargestGroup
                         << " groups under way, but got " << group;
  for (Type type : getInouts().getTypes())
    if (!isStructOfF32(type))
      return emitOpError() << "expects structs of f32, but got " << type;
  return success();
}
