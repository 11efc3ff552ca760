// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensors in host memory: a type, sizes, strides and bytes.

#ifndef ATTUNE_RUNTIME_TENSOR_H
#define ATTUNE_RUNTIME_TENSOR_H

#include "attune/Runtime/DataType.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include <vector>

namespace attune {

/// How elements lie in a buffer. Sizes and strides count elements.
struct TensorShape {
  DataType type = DataType::F32;
  llvm::SmallVector<int64_t, 4> sizes;
  llvm::SmallVector<int64_t, 4> strides;

  /// Row-major, without gaps.
  static TensorShape contiguous(DataType type, llvm::ArrayRef<int64_t> sizes);

  /// Fails where sizes or strides are negative, or where the buffer would be
  /// larger than a process can address.
  llvm::Error check() const;
  int64_t getNumElements() const;
  /// Elements from the first to the last, those in gaps included.
  int64_t getSpan() const;
  int64_t getSpanBytes() const { return getSpan() * getBytes(type); }
  /// Whether elements are in row-major order without gaps.
  bool isContiguous() const;
  /// "2x4x?xbf16"-like text for messages.
  std::string str() const;

  /// Calls `visit(offset)` for each element, row-major.
  void forEachOffset(llvm::function_ref<void(int64_t offset)> visit) const;

  /// Calls `visit` on all cores at a time, for pieces that make up the whole:
  /// with the shape of a piece, the offset of its first element, and how many
  /// elements come before that one, row-major.
  void forEachPiece(llvm::function_ref<void(const TensorShape &piece,
                                            int64_t offset, int64_t before)>
                        visit) const;
};

struct Tensor {
  TensorShape shape;
  std::vector<char> bytes;

  Tensor() = default;
  explicit Tensor(TensorShape shape)
      : shape(std::move(shape)), bytes(this->shape.getSpanBytes()) {}

  double load(int64_t offset) const {
    return loadElement(shape.type, &bytes[offset * getBytes(shape.type)]);
  }
  void store(int64_t offset, double value) {
    storeElement(shape.type, &bytes[offset * getBytes(shape.type)], value);
  }
  /// The elements in row-major order.
  std::vector<float> toFloats() const;
  /// Of an i8, the two signed integers of 4 bits of each byte: along this
  /// dimension, first those of all lower bits.
  Tensor unpack(int64_t dim) const;
};

} // namespace attune

#endif // ATTUNE_RUNTIME_TENSOR_H
