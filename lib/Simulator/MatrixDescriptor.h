// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the elements of a matrix stand in workgroup memory that a descriptor
// points to (PTX ISA, "Asynchronous Warpgroup Level Matrix Shared Memory
// Layout"), for elements of 16 bits, and K-major ones of 8.
//
// Held against a chip by kernels that gave right results there: swizzles of 128
// bytes, with matrices that start at multiples of 1024 bytes. K-major: 1024
// bytes from 8 rows to the next, no use of the leading offset, and 32 bytes
// further for the next 16 along K. Transposed: 1024 bytes from 8 along K to the
// next, the leading offset to the next 64 columns, and 2048 bytes further for
// the next 16 along K. Other swizzles, and none, are from the document alone.

#ifndef ATTUNE_LIB_SIMULATOR_MATRIXDESCRIPTOR_H
#define ATTUNE_LIB_SIMULATOR_MATRIXDESCRIPTOR_H

#include <cstdint>

namespace attune {

/// Memory is made of pieces of 16 bytes. A core matrix is 8 rows of
/// a piece each; rows run along K if the matrix is K-major, and along M or N if
/// it is transposed.
struct MatrixDescriptor {
  static constexpr uint32_t kPieceBytes = 16;
  /// Addresses are counted modulo this: those of workgroup memory, whose low
  /// bits are the offset (HostThread::shared).
  static constexpr uint32_t kWindow = uint32_t(1) << 18;

  /// Bytes.
  uint32_t start, leading, stride;
  uint32_t baseOffset;
  /// Pieces in a row of the swizzle's pattern: 1, 2, 4 or 8. The pattern has 8
  /// such rows.
  uint32_t pieces;
  /// Whether bits are set that mean nothing.
  bool hasUnknownBits;

  MatrixDescriptor() = default;
  explicit MatrixDescriptor(uint64_t bits) {
    auto field = [&](unsigned shift, unsigned width) {
      return static_cast<uint32_t>(bits >> shift &
                                   ((uint64_t(1) << width) - 1));
    };
    start = field(0, 14) * kPieceBytes;
    leading = field(16, 14) * kPieceBytes;
    stride = field(32, 14) * kPieceBytes;
    baseOffset = field(49, 3);
    constexpr uint32_t kPieces[] = {1, 8, 4, 2};
    pieces = kPieces[field(62, 2)];
    hasUnknownBits =
        field(14, 2) || field(30, 2) || field(46, 3) || field(52, 10);
  }

  uint32_t getPatternBytes() const { return 8 * pieces * kPieceBytes; }

  /// Offset in workgroup memory of an element of so many bytes: `index` along M
  /// or N, `k` along K.
  uint32_t getAddress(uint32_t index, uint32_t k, bool isTransposed,
                      uint32_t bytes) const {
    uint32_t along = isTransposed ? index : k,
             across = isTransposed ? k : index;
    uint32_t pieceElements = kPieceBytes / bytes;
    uint32_t piece = along / pieceElements, group = across / 8;
    uint32_t rowBytes = pieces * kPieceBytes;
    uint32_t address =
        start + across % 8 * rowBytes + along % pieceElements * bytes;
    if (pieces == 1)
      // Without a swizzle, the leading offset steps along K in both cases.
      address += isTransposed ? piece * stride + group * leading
                              : piece * leading + group * stride;
    else
      address += piece % pieces * kPieceBytes + piece / pieces * leading +
                 group * stride;
    // The row of the pattern changes the number of the piece.
    address ^= (address / 128 & (pieces - 1)) * kPieceBytes;
    return address % kWindow;
  }
};

} // namespace attune

#endif // ATTUNE_LIB_SIMULATOR_MATRIXDESCRIPTOR_H
