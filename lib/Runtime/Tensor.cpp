// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arithmetic on sizes and strides.

#include "attune/Runtime/Tensor.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Parallel.h"
#include "llvm/Support/raw_ostream.h"

using namespace attune;

TensorShape TensorShape::contiguous(DataType type,
                                    llvm::ArrayRef<int64_t> sizes) {
  TensorShape shape;
  shape.type = type;
  shape.sizes.assign(sizes.begin(), sizes.end());
  shape.strides.resize(sizes.size());
  int64_t stride = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    shape.strides[i] = stride;
    // A product too large is found by check().
    if (llvm::MulOverflow(stride, std::max<int64_t>(sizes[i], 1), stride))
      stride = INT64_MAX;
  }
  return shape;
}

llvm::Error TensorShape::check() const {
  // Far more than any device has, and far from overflow in what follows.
  constexpr int64_t maxBytes = int64_t(1) << 46;
  int64_t last = 0;
  for (auto [size, stride] : llvm::zip_equal(sizes, strides)) {
    if (size < 0)
      return llvm::createStringError("expects sizes of at least 0, but got " +
                                     llvm::Twine(size));
    if (stride < 0)
      return llvm::createStringError("expects strides of at least 0, but got " +
                                     llvm::Twine(stride));
    int64_t extent;
    if (llvm::MulOverflow(std::max<int64_t>(size - 1, 0), stride, extent) ||
        llvm::AddOverflow(last, extent, last) || last > maxBytes)
      return llvm::createStringError("expects at most " +
                                     llvm::Twine(maxBytes) +
                                     " bytes in a tensor, but got " + str());
  }
  return llvm::Error::success();
}

int64_t TensorShape::getNumElements() const {
  int64_t product = 1;
  for (int64_t size : sizes)
    product *= size;
  return product;
}

int64_t TensorShape::getSpan() const {
  int64_t last = 0;
  for (auto [size, stride] : llvm::zip_equal(sizes, strides)) {
    if (size == 0)
      return 0;
    last += (size - 1) * stride;
  }
  return last + 1;
}

bool TensorShape::isContiguous() const {
  int64_t expected = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    if (sizes[i] != 1 && strides[i] != expected)
      return false;
    expected *= sizes[i];
  }
  return true;
}

std::string TensorShape::str() const {
  std::string text;
  llvm::raw_string_ostream stream(text);
  for (int64_t size : sizes)
    stream << size << 'x';
  stream << getName(type);
  return text;
}

void TensorShape::forEachOffset(
    llvm::function_ref<void(int64_t offset)> visit) const {
  if (getNumElements() == 0)
    return;
  llvm::SmallVector<int64_t, 4> index(sizes.size(), 0);
  int64_t offset = 0;
  while (true) {
    visit(offset);
    size_t dim = sizes.size();
    while (dim-- > 0) {
      offset += strides[dim];
      if (++index[dim] < sizes[dim])
        break;
      offset -= index[dim] * strides[dim];
      index[dim] = 0;
    }
    if (dim == static_cast<size_t>(-1))
      return;
  }
}

void TensorShape::forEachPiece(
    llvm::function_ref<void(const TensorShape &piece, int64_t offset,
                            int64_t before)>
        visit) const {
  // Leading dimensions are taken apart, one after the other, unless what is in
  // them overlaps or the pieces would be too many.
  constexpr int64_t kEnough = 64, kMost = 1 << 20;
  TensorShape piece = *this, lead;
  lead.type = type;
  while (piece.sizes.size() > 1 && lead.getNumElements() < kEnough &&
         lead.getNumElements() * piece.sizes.front() <= kMost) {
    TensorShape inner = piece;
    inner.sizes.erase(inner.sizes.begin());
    inner.strides.erase(inner.strides.begin());
    if (piece.strides.front() < inner.getSpan())
      break;
    lead.sizes.push_back(piece.sizes.front());
    lead.strides.push_back(piece.strides.front());
    piece = std::move(inner);
  }
  std::vector<int64_t> offsets;
  lead.forEachOffset([&](int64_t offset) { offsets.push_back(offset); });
  llvm::parallelFor(0, offsets.size(), [&](size_t number) {
    visit(piece, offsets[number],
          static_cast<int64_t>(number) * piece.getNumElements());
  });
}

Tensor Tensor::unpack(int64_t dim) const {
  constexpr int kBits = 4, kSign = 8;
  llvm::SmallVector<int64_t, 4> sizes(shape.sizes);
  sizes[dim] *= 2;
  Tensor unpacked(TensorShape::contiguous(shape.type, sizes));
  int64_t block = 1;
  for (int64_t size : llvm::ArrayRef(shape.sizes).drop_front(dim))
    block *= size;
  int64_t number = 0;
  shape.forEachOffset([&](int64_t offset) {
    int byte = static_cast<int>(load(offset)) & 0xff;
    int64_t place = number / block * 2 * block + number % block;
    for (int part : {byte & 15, byte >> kBits}) {
      unpacked.store(place, (part ^ kSign) - kSign);
      place += block;
    }
    ++number;
  });
  return unpacked;
}

std::vector<float> Tensor::toFloats() const {
  std::vector<float> values;
  if (shape.isContiguous()) {
    values.resize(shape.getNumElements());
    loadElements(shape.type, bytes.data(), shape.getNumElements(),
                 values.data());
    return values;
  }
  values.reserve(shape.getNumElements());
  shape.forEachOffset([&](int64_t offset) {
    values.push_back(static_cast<float>(load(offset)));
  });
  return values;
}
