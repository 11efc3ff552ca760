// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Buffers for MLIR's types.

#include "attune/Dialect/Attn/IR/Attn.h"
#include "attune/Execution/HostProgram.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attune;

/// Elements from the first to the last along the dimensions whose stride is
/// known already.
static int64_t getKnownSpan(const TensorShape &shape,
                            ArrayRef<int64_t> strides) {
  int64_t span = 1;
  for (auto [size, stride] : llvm::zip_equal(shape.sizes, strides))
    if (!ShapedType::isDynamic(stride))
      span += std::max<int64_t>(size - 1, 0) * stride;
  return span;
}

/// Chooses strides that are known at run time only, innermost first, so that
/// dimensions do not overlap and rows have a gap between them: a kernel that
/// supposes contiguous data then goes wrong.
static void chooseDynamicStrides(TensorShape &shape, int64_t divisor) {
  SmallVector<int64_t, 4> strides(shape.strides);
  for (size_t dim = strides.size(); dim-- > 0;)
    if (ShapedType::isDynamic(strides[dim]))
      strides[dim] =
          llvm::alignTo(getKnownSpan(shape, strides), divisor) + divisor;
  shape.strides.assign(strides.begin(), strides.end());
}

FailureOr<TensorShape> attune::getTensorShape(Operation *op, ShapedType type,
                                              ArrayRef<int64_t> dynamicSizes) {
  std::string element;
  llvm::raw_string_ostream(element) << type.getElementType();
  std::optional<DataType> dataType = parseDataType(element);
  if (!dataType || !type.hasRank())
    return op->emitError()
           << "expects tensors of known rank and of f8E4M3FN, f8E5M2, "
              "f8E4M3FNUZ, f8E5M2FNUZ, f16, bf16, f32, f64, i1, i8, i16, i32, "
              "i64 or index to run, but got "
           << type;
  SmallVector<int64_t> sizes(type.getShape());
  for (int64_t &size : sizes)
    if (ShapedType::isDynamic(size)) {
      assert(!dynamicSizes.empty() && "one size for each dynamic dimension");
      size = dynamicSizes.front();
      dynamicSizes = dynamicSizes.drop_front();
    }
  TensorShape shape = TensorShape::contiguous(*dataType, sizes);
  if (auto memref = dyn_cast<MemRefType>(type)) {
    SmallVector<int64_t> strides;
    int64_t offset;
    if (memref.getLayout().isIdentity())
      return shape;
    if (failed(memref.getStridesAndOffset(strides, offset)) || offset != 0)
      return op->emitError()
             << "expects a strided layout without an offset to run, but got "
             << type;
    shape.strides.assign(strides.begin(), strides.end());
    chooseDynamicStrides(shape, /*divisor=*/1);
  } else if (auto tensor = dyn_cast<RankedTensorType>(type)) {
    auto strided = dyn_cast_or_null<attn::StridedAttr>(tensor.getEncoding());
    if (!strided)
      return shape;
    shape.strides.assign(strided.getStrides().begin(),
                         strided.getStrides().end());
    chooseDynamicStrides(shape, strided.getDivisor());
  }
  return shape;
}
