// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How rows lie in the banks of shared memory.

#include "attune/Dialect/Tile/IR/Tile.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;
using namespace attune::tile;

/// Width of the widest shared-memory access and bytes that all banks deliver at
/// once: eight accesses of 16 bytes fill the 128 bytes of 32 banks.
static constexpr int64_t kChunkBytes = 16;
static constexpr int64_t kChunksPerBankRow = 8;

/// Rows that start 2^t chunks apart (modulo all banks, of `chunksOfBanks`)
/// repeat after `chunksOfBanks` / 2^t rows; those that collide get a different
/// permutation of 2^t neighbours.
static SwizzleAttr permute(MLIRContext *context, int64_t columns,
                           int64_t vector, int64_t chunksOfBanks) {
  int64_t chunks = columns / vector;
  int64_t bits = 0, most = llvm::Log2_64(chunksOfBanks);
  while (bits < most && chunks % (int64_t(2) << bits) == 0)
    ++bits;
  return SwizzleAttr::get(context, vector, bits, /*shift=*/most - bits,
                          /*swizzle_atom=*/0, /*padding=*/0,
                          /*transposed=*/false);
}

SwizzleAttr SwizzleAttr::getForRow(MLIRContext *context, int64_t columns,
                                   int64_t elementBytes) {
  int64_t vector = std::max<int64_t>(1, kChunkBytes / elementBytes);
  while (columns % vector != 0)
    vector /= 2;
  return permute(context, columns, vector, kChunksPerBankRow);
}

SwizzleAttr SwizzleAttr::getForChunks(MLIRContext *context, int64_t columns,
                                      int64_t elementBytes, int64_t chunk) {
  constexpr int64_t kBankBytes = 256;
  return permute(context, columns, chunk,
                 std::max<int64_t>(1, kBankBytes / (chunk * elementBytes)));
}

SwizzleAttr SwizzleAttr::getPadded(MLIRContext *context, int64_t length,
                                   int64_t elementBytes, int64_t padding,
                                   bool transposed) {
  int64_t vector = std::gcd(std::max<int64_t>(1, kChunkBytes / elementBytes),
                            std::gcd(length, padding));
  return get(context, vector, /*bits=*/0, /*shift=*/0, /*swizzle_atom=*/0,
             padding, transposed);
}

SwizzleAttr SwizzleAttr::getForSwizzleAtom(MLIRContext *context,
                                           int64_t atomColumns,
                                           int64_t elementBytes) {
  SwizzleAttr row = getForRow(context, atomColumns, elementBytes);
  return get(context, row.getVector(), row.getBits(), row.getShift(),
             atomColumns, /*padding=*/0, /*transposed=*/false);
}

SwizzleAttr SwizzleAttr::withPairs() const {
  return get(getContext(), getVector(), getBits(), getShift(), getSwizzleAtom(),
             getPadding(), getTransposed(), /*paired=*/true);
}

int64_t SwizzleAttr::getPermutedBytes(unsigned elementBits) const {
  return getBits() ? getSwizzleAtom() * elementBits / 8 : 0;
}

LogicalResult SwizzleAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                  int64_t vector, int64_t bits, int64_t shift,
                                  int64_t atomColumns, int64_t padding,
                                  bool transposed, bool paired) {
  constexpr int64_t kMaxVector = 65536;
  if (vector < 1 || vector > kMaxVector || bits < 0 || bits > 8 || shift < 0 ||
      shift > 8)
    return emitError() << "expects a vector of 1 to " << kMaxVector
                       << " elements, and bits and shift in [0, 8], but got "
                       << vector << ", " << bits << " and " << shift;
  if (atomColumns < 0 ||
      (atomColumns > 0 && atomColumns % (vector << bits) != 0))
    return emitError() << "expects swizzle atoms of a multiple of the "
                       << (vector << bits)
                       << " elements that the swizzle permutes, but got "
                       << atomColumns;
  if (padding < 0 || padding > kMaxVector || padding % vector != 0)
    return emitError() << "expects a padding of up to " << kMaxVector
                       << " elements in multiples of the vector's " << vector
                       << ", but got " << padding;
  if (atomColumns && (padding || transposed))
    return emitError() << "expects neither padding nor 'transposed' of swizzle "
                          "atoms, but got a padding of "
                       << padding;
  // Pairs stay in a chunk.
  constexpr int64_t kPaired = 16;
  if (paired && (!atomColumns || vector % kPaired != 0))
    return emitError() << "expects swizzle atoms and a vector of a multiple of "
                       << kPaired << " elements where 'paired', but got atoms "
                       << "of " << atomColumns << " and a vector of " << vector;
  return success();
}
