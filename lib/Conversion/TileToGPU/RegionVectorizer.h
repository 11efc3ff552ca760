// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The scalar region of a tile.map as operations on the registers of a thread;
// what depends on the row or the column alone is computed, or read, once for
// each of these, and what is the same everywhere once. Positions are 32-bit
// integers in vectors.

#ifndef ATTUNE_LIB_CONVERSION_TILETOGPU_REGIONVECTORIZER_H
#define ATTUNE_LIB_CONVERSION_TILETOGPU_REGIONVECTORIZER_H

#include "KernelContext.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace attune {

/// Which registers of a thread hold different values, as the number of a
/// Partition: bit 0 is set where these depend on the row, bit 1 on the column,
/// and both where they are a tile's. Numbers from 4 on are of those that depend
/// on a part of a position.
enum Varies : unsigned { Nowhere = 0, Everywhere = 3 };

/// The first registers with values of their own, and for each register the
/// number of the one with its value.
struct Partition {
  llvm::SmallVector<int64_t> registers, places;
};

/// What became of a scalar of the region: itself where it is the same in all
/// registers, and else a vector, of an element for each different one.
struct Lanewise {
  mlir::Value value;
  unsigned varies = Nowhere;
  /// Of 32-bit integers that are a number of the thread's, null for 0, and one
  /// for each element besides.
  mlir::Value base;
  llvm::SmallVector<int32_t> offsets;
  /// Of such that are an element's row, or column, plus what is the same in all
  /// elements: bit 0, or bit 1, is set, and the bits that the rest may have.
  /// Where both are, or rows are subtracted, they are no such numbers.
  unsigned dims = 0;
  uint64_t rest = 0;
};

/// For each register, whether an element is kept, as the highest bit of a byte
/// of one of these words.
struct DrawnBits {
  llvm::SmallVector<mlir::Value> words;
  llvm::SmallVector<std::pair<unsigned, unsigned>> places;
};

/// The lanes of which each makes a call of random numbers for both: those whose
/// numbers differ in this digit, and whose elements in bit 0 of the coordinate
/// along this dimension alone.
struct LanePair {
  int64_t dim, distance;
};

/// Nothing where registers or lanes do not hold the bits of coordinates so that
/// they could.
std::optional<LanePair> findLanePair(tile::LayoutAttr layout, int64_t rank);

/// Bits that an index, or what it was narrowed to, may have.
uint64_t getPossibleBits(mlir::Value index);
/// Those of a sum.
uint64_t getPossibleBits(uint64_t lhs, uint64_t rhs);

/// Turns the scalar ops of one region into vector ops.
class RegionVectorizer {
public:
  /// For so many registers of the tile, from the number `first` on.
  RegionVectorizer(mlir::OpBuilder &builder, tile::TileType type, int64_t first,
                   int64_t count);

  mlir::LogicalResult run(tile::MapOp op, mlir::ValueRange inputs,
                          const KernelContext &context);
  mlir::Value result;

private:
  /// Positions are computed in 32 bits: sequences are shorter than 2^31.
  mlir::Type elementType(mlir::Type scalar) {
    return scalar.isIndex() ? b.getI32Type() : scalar;
  }
  mlir::VectorType vectorType(mlir::Type scalar, unsigned varies) {
    return mlir::VectorType::get(getNumElements(varies), elementType(scalar));
  }
  int64_t getNumElements(unsigned varies) const {
    return static_cast<int64_t>(partitions[varies].registers.size());
  }
  /// The scalar as 32-bit integer, if it is an index.
  mlir::Value narrow(mlir::Value scalar);
  unsigned findVaries(mlir::ValueRange scalars);
  /// What differs where one or the other does.
  unsigned join(unsigned lhs, unsigned rhs);
  /// Registers vary with the numbers that they have here.
  template <typename NumbersT> unsigned findPartition(const NumbersT &numbers);
  /// The vector for a scalar of the region or from outside, with the elements
  /// of what varies so.
  mlir::Value lookup(mlir::Value scalar, unsigned varies);
  void map(mlir::Value scalar, Lanewise lanewise) {
    known[scalar] = std::move(lanewise);
  }
  void mapPosition(mlir::BlockArgument argument, unsigned dim, mlir::Value own);
  mlir::LogicalResult convert(mlir::Operation &op,
                              const KernelContext &context);
  /// The same operation on vectors of what varies so.
  mlir::Operation *createOnVectors(mlir::Operation &op,
                                   mlir::ValueRange operands, unsigned varies);
  /// Whether each element of the tile is one thread's alone.
  bool isSpread(const KernelContext &context, tile::MapOp map) const;
  mlir::LogicalResult addToElements(mlir::memref::AtomicRMWOp op,
                                    const KernelContext &context);
  /// Indices of the `number`th of what varies so.
  llvm::SmallVector<mlir::Value> getPlace(mlir::ValueRange indices,
                                          unsigned varies, int64_t number);
  /// See Dropout.cpp.
  mlir::LogicalResult draw(tile::IsKeptOp op, const KernelContext &context);
  bool drawInPairs(tile::IsKeptOp op, const KernelContext &context);
  /// The thread's own place in the tile, along the dimension of a position that
  /// is as much further for all threads; null of others.
  mlir::Value findOwnPlace(const Lanewise &position, tile::IsKeptOp op);
  mlir::Value takeKept(mlir::Operation &op, const KernelContext &context);
  mlir::Value convertCast(mlir::Operation &op, unsigned varies);
  mlir::Value convertPosition(mlir::arith::SIToFPOp op,
                              const Lanewise &position);
  mlir::Value loadElements(mlir::memref::LoadOp load, unsigned varies);
  /// What is known of the sum or difference of positions, which varies less
  /// than these where some are equal.
  void addPositions(mlir::Operation &op, Lanewise &sum);
  /// The bits of a position that a constant has, if those of the thread and
  /// those of the register are not mixed.
  std::optional<Lanewise> takeBits(mlir::arith::AndIOp op);
  std::optional<Lanewise> findPosition(mlir::Value scalar, unsigned varies);

  mlir::OpBuilder &b;
  mlir::Location loc;
  tile::LayoutAttr layout;
  int64_t rank, first;
  llvm::SmallVector<Partition> partitions{4};
  llvm::DenseMap<mlir::Value, Lanewise> known;
  llvm::DenseMap<std::pair<mlir::Value, unsigned>, mlir::Value> expanded;
  llvm::DenseMap<mlir::Value, DrawnBits> drawn;
  /// What is_kept was expanded to: scalars that are known above.
  llvm::SmallVector<std::unique_ptr<mlir::Block>> expansions;
};

} // namespace attune

#endif // ATTUNE_LIB_CONVERSION_TILETOGPU_REGIONVECTORIZER_H
