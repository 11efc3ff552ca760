// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensor maps of the host executor, and the boxes that they cut out of a
// tensor (PTX ISA, "Tensors", "Tensor Swizzling Modes"; CUDA driver API,
// cuTensorMapEncodeTiled).
//
// Held against a chip: swizzles of 128 bytes with rows that fill it and boxes
// at multiples of 1024 bytes, zeros beyond the tensor, and that what lies there
// counts as bytes that came. All else is from the documents alone.

#ifndef ATTUNE_LIB_SIMULATOR_HOSTTENSORMAP_H
#define ATTUNE_LIB_SIMULATOR_HOSTTENSORMAP_H

#include "attune/Runtime/Device.h"

namespace attune {

/// The 128 bytes that HostDevice::encodeTensorMap() makes; those of a driver
/// are its secret. Dimensions are numbered from the innermost one, as the
/// coordinates of copies are.
struct HostTensorMap {
  static constexpr uint32_t kMaxRank = 5;
  static constexpr uint64_t kMagic = 0x50414d4e55545441; // "ATTUNMAP"
  static constexpr uint32_t kVersion = 1;

  uint64_t magic = kMagic;
  uint32_t version = kVersion;
  uint32_t rank = 0;
  uint64_t address = 0;
  uint32_t elementBytes = 0;
  /// 0, 32, 64 or 128.
  uint32_t swizzleBytes = 0;
  /// Elements.
  uint64_t sizes[kMaxRank] = {};
  /// Bytes from one index to the next of all dimensions but the innermost,
  /// whose elements follow each other.
  uint64_t strides[kMaxRank - 1] = {};
  /// Elements.
  uint16_t box[kMaxRank] = {};
  uint16_t reserved[7] = {};

  /// Fails where cuTensorMapEncodeTiled does.
  static llvm::Expected<TensorMap> encode(const TensorMapRequest &request);
  /// Nothing where the bytes are not those of a map.
  static std::optional<HostTensorMap> decode(const void *bytes);

  uint32_t getBoxRowBytes() const { return box[0] * elementBytes; }
  /// Bytes of workgroup memory between two rows of a box: a swizzle fills
  /// up what the row leaves of its span.
  uint32_t getRowPitch() const {
    return swizzleBytes ? swizzleBytes : getBoxRowBytes();
  }
  uint32_t getBoxRows() const;
  /// What a copy moves and completes, whether or not it lies in the tensor.
  uint32_t getTmaBoxBytes() const { return getBoxRows() * getBoxRowBytes(); }
  /// Of workgroup memory, with what the swizzle fills up.
  uint32_t getSharedBytes() const { return getBoxRows() * getRowPitch(); }
};
static_assert(sizeof(HostTensorMap) == sizeof(TensorMap));

/// A part of a box that is contiguous in both memories.
struct BoxPiece {
  /// Offset in workgroup memory.
  uint32_t shared = 0;
  uint32_t bytes = 0;
  /// 0 where it lies outside of the tensor.
  uint64_t global = 0;
};

/// The pieces of the box at `coordinates`, whose copy in workgroup memory
/// starts at offset `shared`. The swizzle goes by addresses, so a box that does
/// not start at a multiple of its pattern is permuted as on a chip.
llvm::SmallVector<BoxPiece> cutBox(const HostTensorMap &map,
                                   llvm::ArrayRef<int32_t> coordinates,
                                   uint32_t shared);

} // namespace attune

#endif // ATTUNE_LIB_SIMULATOR_HOSTTENSORMAP_H
