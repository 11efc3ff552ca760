// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which weights dropout keeps, as arithmetic: references and kernels have the
// same, and so drop the same ones. By Philox 4x32-10 (Salmon et al., "Parallel
// random numbers: as easy as 1, 2, 3", SC 2011).

#ifndef ATTUNE_SUPPORT_PHILOX_H
#define ATTUNE_SUPPORT_PHILOX_H

#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Value.h"
#include <array>

namespace attune {

/// How many equal steps the probability of dropout has.
inline constexpr int64_t kDropoutSteps = 256;

/// What random numbers are drawn from, words of 32 bits.
struct PhiloxSeed {
  mlir::Value key[2], offset;
};

/// Of the 16 weights of a call: the word is selected by this bit of the query
/// and of the key, and the byte of the word by that one.
inline constexpr int64_t kWordBit = 1, kByteBit = 8;

/// The number of the word, and that of the byte, the lowest one being 0.
inline int64_t getWordNumber(bool ofQuery, bool ofKey) {
  return 2 * static_cast<int64_t>(ofQuery) + static_cast<int64_t>(ofKey);
}
inline int64_t getByteNumber(bool ofQuery, bool ofKey) {
  return 3 - getWordNumber(ofQuery, ofKey);
}

class Philox : public mlir::ImplicitLocOpBuilder {
public:
  using ImplicitLocOpBuilder::ImplicitLocOpBuilder;
  using Words = std::array<mlir::Value, 4>;

  mlir::Value word(uint32_t value);

  /// The words of a call, of the weights whose query and key have these numbers
  /// but for the bits that select a word and a byte.
  Words draw(const PhiloxSeed &seed, mlir::Value head, mlir::Value query,
             mlir::Value key);
  /// Whether the weight of a query and a key, both indices, is kept, of so many
  /// of kDropoutSteps that are dropped.
  mlir::Value isKept(const PhiloxSeed &seed, mlir::Value head,
                     mlir::Value query, mlir::Value key, int64_t threshold);
  /// Compares all bytes of a word with the threshold: the highest bit of each
  /// says whether its weight is kept. The others say nothing.
  mlir::Value compareBytes(mlir::Value word, int64_t threshold);

private:
  struct State {
    Words counter;
    mlir::Value keys[2];
  };
  /// What nine of the ten rounds leave.
  State mixUp(const PhiloxSeed &seed, mlir::Value head, mlir::Value query,
              mlir::Value key);
  mlir::Value index(int64_t value);
  mlir::Value toWord(mlir::Value index);
  mlir::Value select(mlir::Value condition, mlir::Value ifTrue,
                     mlir::Value ifFalse);
  /// The upper and the lower half of a product.
  std::pair<mlir::Value, mlir::Value> multiply(mlir::Value factor,
                                               mlir::Value number);
  mlir::Value mix(mlir::Value first, mlir::Value second, mlir::Value key);
  /// Whether a bit of an index is set.
  mlir::Value hasBit(mlir::Value position, int64_t bit);
};

} // namespace attune

#endif // ATTUNE_SUPPORT_PHILOX_H
