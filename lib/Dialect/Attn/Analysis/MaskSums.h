// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The integers that mask regions compare: sums of positions, of what is known
// before, and of what is computed of other sums, with the extremes that they
// have over a block.

#ifndef ATTUNE_LIB_DIALECT_ATTN_ANALYSIS_MASKSUMS_H
#define ATTUNE_LIB_DIALECT_ATTN_ANALYSIS_MASKSUMS_H

#include "attune/Dialect/Attn/Analysis/MaskRanges.h"
#include "mlir/Interfaces/InferIntRangeInterface.h"
#include "llvm/ADT/DynamicAPInt.h"
#include <deque>

namespace attune {

using llvm::DynamicAPInt;

/// No dimension is longer, and index arithmetic may be no wider.
constexpr int64_t kMaxPosition = std::numeric_limits<int32_t>::max();

/// What a number may be, both ends included.
struct NumberRange {
  DynamicAPInt low, high;

  bool fits(unsigned bits) const {
    NumberRange all = getSigned(bits);
    return low >= all.low && high <= all.high;
  }
  /// All that a signed integer of `bits` bits may be.
  static NumberRange getSigned(unsigned bits) {
    return {DynamicAPInt(llvm::APInt::getSignedMinValue(bits)),
            DynamicAPInt(llvm::APInt::getSignedMaxValue(bits))};
  }
};

struct Atom;

/// The sum of all `factor * atom`, and a constant. No factor is 0, and no atom
/// is there twice.
struct Sum {
  struct Term {
    const Atom *atom;
    DynamicAPInt factor;
  };
  llvm::SmallVector<Term, 3> terms;
  DynamicAPInt constant;

  Sum() = default;
  Sum(const DynamicAPInt &constant) : constant(constant) {}
  Sum(const Atom &atom) : terms{{&atom, DynamicAPInt(1)}} {}

  bool isConstant() const { return terms.empty(); }
  /// Of the block's positions, or of those along the other dimension.
  bool dependsOnPosition() const;
  bool dependsOnAlong() const;
};

Sum operator+(const Sum &a, const Sum &b);
Sum operator*(const Sum &sum, const DynamicAPInt &factor);
inline Sum operator-(const Sum &sum) { return sum * DynamicAPInt(-1); }
inline Sum operator-(const Sum &a, const Sum &b) { return a + -b; }
inline Sum operator+(const Sum &sum, int64_t constant) {
  return sum + Sum(DynamicAPInt(constant));
}

/// A number that is not a sum of others.
struct Atom {
  enum class Kind {
    /// The position along the other dimension, and the one in the block.
    Along,
    Across,
    /// `value`, known before.
    Fixed,
    /// The quotient of operands[0] by `divisor`, rounded down, and what is
    /// left: at least 0.
    Quotient,
    Remainder,
    /// The larger one of both operands.
    Largest,
    /// operands[0] where `value` holds, an i1 of the region, else operands[1].
    Choice
  };
  Kind kind;
  mlir::Value value;
  llvm::SmallVector<Sum, 2> operands;
  DynamicAPInt divisor;
  NumberRange range;
  bool dependsOnAlong = false, dependsOnAcross = false;
  /// Atoms that it is made of, each as often as it is used.
  int64_t size = 1;
};

/// Sums for the integers of a region, and code for their extremes.
class MaskSums {
public:
  MaskSums(mlir::OpBuilder &builder, mlir::Location loc, mlir::Block &block,
           const MaskBlock &positions, int64_t otherLength,
           const mlir::IRMapping &mapping, MaskCloner clone,
           llvm::SmallVectorImpl<MaskObstacle> *obstacles);

  /// `value` as a sum that holds for all positions; nothing if it is no such
  /// sum or may wrap around.
  std::optional<Sum> get(mlir::Value value);
  const Atom *getAlong() const { return along; }

  NumberRange getRange(const Sum &sum) const;
  /// All values of the sum fit in `bits`, and so do its parts in the arithmetic
  /// of the kernel.
  bool fits(const Sum &sum, unsigned bits) const;

  /// A sum that is compared with another one, bounded such that their
  /// difference does not wrap around and keeps its sign. Nothing where that
  /// cannot be.
  std::optional<Sum> saturate(const Sum &sum);
  /// Whether saturate() changes it.
  bool isCut(const Sum &sum) const;

  /// The quotient by a positive number, rounded down.
  Sum divide(const Sum &sum, const DynamicAPInt &divisor);

  /// The least, or the largest, that a sum is over the block. It must not
  /// depend on the position along the other dimension, and must fit in 64 bits.
  mlir::Value emit(const Sum &sum, bool largest);

  bool dependsOnPosition(mlir::Value value);
  /// A copy outside the region of a value that depends on neither m nor n, as
  /// an index.
  mlir::Value hoist(mlir::Value value);
  void blame(mlir::Operation *op, llvm::StringRef reason);
  size_t countObstacles() const { return obstacles ? obstacles->size() : 0; }

  /// What has to hold for the sums to hold: an i1; null for nothing.
  mlir::Value getAssumption() const { return assumption; }

private:
  /// get() for what depends on positions, before any check.
  std::optional<Sum> getOfOp(mlir::Operation *op);
  std::optional<Sum> getOfDivision(mlir::Operation *op, const Sum &dividend);
  std::optional<Sum> multiply(const Sum &a, const Sum &b);
  /// The quotient rounded toward zero.
  Sum truncate(const Sum &sum, const DynamicAPInt &divisor);
  Sum largest(const Sum &a, const Sum &b);
  Sum smallest(const Sum &a, const Sum &b) { return -largest(-a, -b); }
  Sum add(Atom atom);

  /// Bounds what is captured such that sums of a few do not wrap around in
  /// `bits`, and assumes that it is so.
  Sum assumeSmall(const Sum &sum, unsigned bits);
  bool isFixed(const Sum &sum) const;
  /// What is known of a value that depends on neither m nor n.
  mlir::ConstantIntRanges inferRange(mlir::Value value);
  mlir::Value emit(const Atom &atom, bool largest);
  mlir::Value emitQuotient(mlir::Value dividend, const Atom &atom);

  mlir::Value emitConstant(const DynamicAPInt &value);

  mlir::OpBuilder &builder;
  mlir::Location loc;
  mlir::Block &block;
  MaskBlock positions;
  mlir::IRMapping mapping;
  MaskCloner clone;
  llvm::SmallVectorImpl<MaskObstacle> *obstacles;
  std::deque<Atom> atoms;
  const Atom *along, *across;
  llvm::DenseMap<mlir::Value, std::optional<Sum>> known;
  llvm::DenseMap<mlir::Value, bool> depends;
  llvm::DenseMap<mlir::Value, mlir::ConstantIntRanges> inferred;
  mlir::Value assumption;
};

} // namespace attune

#endif // ATTUNE_LIB_DIALECT_ATTN_ANALYSIS_MASKSUMS_H
