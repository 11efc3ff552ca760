// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the pieces of a box are.

#include "HostTensorMap.h"
#include "llvm/ADT/STLExtras.h"
#include <cstring>

using namespace attune;
using llvm::ArrayRef;
using llvm::Expected;

/// Pieces that a swizzle moves.
static constexpr int64_t kChunkBytes = 16;
/// The row of a swizzle's pattern is told by the address in units of this.
static constexpr uint32_t kPatternRowBytes = 128;

Expected<TensorMap> HostTensorMap::encode(const TensorMapRequest &request) {
  if (auto error = request.check())
    return std::move(error);
  HostTensorMap map;
  map.rank = static_cast<uint32_t>(request.sizes.size());
  map.address = request.address;
  map.elementBytes = static_cast<uint32_t>(getBytes(request.type));
  map.swizzleBytes = static_cast<uint32_t>(request.swizzleBytes);
  for (uint32_t dim = 0; dim < map.rank; ++dim) {
    uint32_t from = map.rank - 1 - dim;
    map.sizes[dim] = static_cast<uint64_t>(request.sizes[from]);
    map.box[dim] = static_cast<uint16_t>(request.box[from]);
    if (dim > 0)
      map.strides[dim - 1] =
          static_cast<uint64_t>(request.strides[from]) * map.elementBytes;
  }
  TensorMap bytes;
  std::memcpy(bytes.data(), &map, sizeof(map));
  return bytes;
}

std::optional<HostTensorMap> HostTensorMap::decode(const void *bytes) {
  HostTensorMap map;
  std::memcpy(&map, bytes, sizeof(map));
  if (map.magic != kMagic || map.version != kVersion)
    return std::nullopt;
  return map;
}

uint32_t HostTensorMap::getBoxRows() const {
  uint32_t rows = 1;
  for (uint32_t dim = 1; dim < rank; ++dim)
    rows *= box[dim];
  return rows;
}

llvm::SmallVector<BoxPiece> attune::cutBox(const HostTensorMap &map,
                                           ArrayRef<int32_t> coordinates,
                                           uint32_t shared) {
  llvm::SmallVector<BoxPiece> pieces;
  const int64_t rowBytes = map.getBoxRowBytes();
  // Of a row, the bytes that lie in the tensor.
  int64_t first = int64_t(coordinates[0]) * map.elementBytes;
  int64_t begin = std::clamp<int64_t>(-first, 0, rowBytes);
  int64_t end = std::clamp<int64_t>(
      static_cast<int64_t>(map.sizes[0]) * map.elementBytes - first, begin,
      rowBytes);
  uint32_t patternMask =
      map.swizzleBytes ? map.swizzleBytes / kChunkBytes - 1 : 0;
  for (uint32_t row = 0, rows = map.getBoxRows(); row < rows; ++row) {
    uint64_t global = map.address + static_cast<uint64_t>(first);
    bool isInside = end > begin;
    for (uint32_t dim = 1, rest = row; dim < map.rank; ++dim) {
      int64_t index = int64_t(coordinates[dim]) + rest % map.box[dim];
      rest /= map.box[dim];
      isInside &= index >= 0 && index < static_cast<int64_t>(map.sizes[dim]);
      global += static_cast<uint64_t>(index) * map.strides[dim - 1];
    }
    for (int64_t chunk = 0; chunk < rowBytes; chunk += kChunkBytes) {
      uint32_t place =
          shared + row * map.getRowPitch() + static_cast<uint32_t>(chunk);
      place ^= (place / kPatternRowBytes & patternMask) * kChunkBytes;
      // Before, in and behind the tensor.
      int64_t edges[] = {chunk, std::clamp(begin, chunk, chunk + kChunkBytes),
                         std::clamp(end, chunk, chunk + kChunkBytes),
                         chunk + kChunkBytes};
      if (!isInside)
        edges[1] = edges[2] = edges[3];
      for (int part = 0; part < 3; ++part)
        if (edges[part + 1] > edges[part])
          pieces.push_back(
              {place + static_cast<uint32_t>(edges[part] - chunk),
               static_cast<uint32_t>(edges[part + 1] - edges[part]),
               part == 1 ? global + static_cast<uint64_t>(edges[part]) : 0});
    }
  }
  return pieces;
}
