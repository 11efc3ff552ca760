// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What tensor maps can say: the conditions of cuTensorMapEncodeTiled, which
// answers with a number where one does not hold.

#include "attune/Runtime/Launch.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"

using namespace attune;
using llvm::Error;
using llvm::Expected;
using llvm::Twine;

/// What addresses, strides and rows of boxes are multiples of.
static constexpr int64_t kChunkBytes = 16;
static constexpr size_t kMostDimensions = 5;
static constexpr int64_t kMostSize = int64_t(1) << 32;
static constexpr int64_t kMostStride = int64_t(1) << 40;
static constexpr int64_t kMostInBox = 256;

static Error refuse(const Twine &expected, const Twine &got) {
  return llvm::createStringError("expects a tensor map of " + expected +
                                 ", but got " + got);
}

Error TensorMapRequest::check() const {
  size_t rank = sizes.size();
  if (rank < 1 || rank > kMostDimensions)
    return refuse("1 to " + Twine(kMostDimensions) + " dimensions",
                  Twine(rank));
  if (strides.size() != rank || box.size() != rank)
    return refuse("as many strides and box sizes as dimensions, " + Twine(rank),
                  Twine(strides.size()) + " and " + Twine(box.size()));
  if (address % kChunkBytes != 0)
    return refuse("an address that is a multiple of " + Twine(kChunkBytes) +
                      " bytes",
                  "0x" + llvm::utohexstr(address));
  for (int64_t size : sizes)
    if (size < 1 || size > kMostSize)
      return refuse("1 to " + Twine(kMostSize) + " elements in each dimension",
                    Twine(size));
  if (strides.back() != 1)
    return refuse("a last stride of 1", Twine(strides.back()));
  int64_t elementBytes = getBytes(type);
  for (int64_t stride : llvm::drop_end(strides))
    if (stride < 0 || stride >= kMostStride / elementBytes ||
        stride * elementBytes % kChunkBytes != 0)
      return refuse("strides that are multiples of " + Twine(kChunkBytes) +
                        " bytes below " + Twine(kMostStride),
                    Twine(stride) + " elements of " + Twine(elementBytes));
  for (int64_t size : box)
    if (size < 1 || size > kMostInBox)
      return refuse("a box of 1 to " + Twine(kMostInBox) +
                        " elements in each dimension",
                    Twine(size));
  if (!llvm::is_contained({0, 32, 64, 128}, swizzleBytes))
    return refuse("a swizzle of 0, 32, 64 or 128 bytes", Twine(swizzleBytes));
  int64_t rowBytes = box.back() * elementBytes;
  if (rowBytes % kChunkBytes != 0 ||
      (swizzleBytes != 0 && rowBytes > swizzleBytes))
    return refuse("rows of the box that are a multiple of " +
                      Twine(kChunkBytes) + " bytes" +
                      (swizzleBytes
                           ? " and at most the swizzle's " + Twine(swizzleBytes)
                           : Twine()),
                  Twine(rowBytes));
  return Error::success();
}

Expected<TensorMap> attune::encodeTensorMap(Device &device,
                                            const KernelArgument &buffer,
                                            llvm::ArrayRef<int64_t> box,
                                            int64_t swizzleBytes) {
  TensorMapRequest request;
  request.address = buffer.address;
  request.type = buffer.shape.type;
  for (int64_t size : buffer.shape.sizes)
    request.sizes.push_back(std::max<int64_t>(size, 1));
  request.strides.assign(buffer.shape.strides.begin(),
                         buffer.shape.strides.end());
  // There is no map of nothing, but a kernel takes one even where it finds
  // nothing to do.
  if (llvm::is_contained(buffer.shape.sizes, 0)) {
    request.strides.assign(request.sizes.size(), kChunkBytes);
    request.strides.back() = 1;
  }
  request.box.assign(box.begin(), box.end());
  request.swizzleBytes = swizzleBytes;
  return device.encodeTensorMap(request);
}
