// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Index arithmetic that sees through reshapes: sums of parts of loops.

#ifndef ATTUNE_LIB_CONVERSION_LINALGTOATTN_INDEXSUM_H
#define ATTUNE_LIB_CONVERSION_LINALGTOATTN_INDEXSUM_H

#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"
#include "mlir/IR/AffineExpr.h"
#include "llvm/ADT/FoldingSet.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>

namespace attune::raising {

/// (variable floordiv stride) mod size. Variables are numbered, and count from
/// 0. A size is dynamic (ShapedType::kDynamic) only where nothing of the
/// variable lies above the digit, so that no modulus is needed.
struct Digit {
  unsigned variable;
  int64_t stride, size;

  bool operator==(const Digit &other) const {
    return variable == other.variable && stride == other.stride &&
           size == other.size;
  }
};

/// constant + sum of factor * digit, in a normal form: equal sums of the same
/// variables are equal member by member. (AffineExpr does not know how large
/// variables are, and so cannot undo a reshape by another one.)
class IndexSum {
public:
  struct Term {
    int64_t factor;
    Digit digit;
    bool operator==(const Term &other) const {
      return factor == other.factor && digit == other.digit;
    }
  };

  IndexSum() = default;
  explicit IndexSum(int64_t constant) : constant(constant) {}
  /// The whole of a variable.
  static IndexSum get(unsigned variable, int64_t size);
  static IndexSum get(const Digit &digit);

  llvm::ArrayRef<Term> getTerms() const { return terms; }
  int64_t getConstant() const { return constant; }
  bool isConstant() const { return terms.empty(); }
  bool dependsOn(unsigned variable) const;
  bool operator==(const IndexSum &other) const {
    return constant == other.constant && terms == other.terms;
  }

  /// this + factor * other.
  IndexSum plus(const IndexSum &other, int64_t factor = 1) const;
  IndexSum times(int64_t factor) const {
    return IndexSum().plus(*this, factor);
  }
  /// Quotient and remainder; nothing where these are no such sums. A sum that
  /// may be negative has none.
  std::optional<std::pair<IndexSum, IndexSum>> divide(int64_t divisor) const;
  /// With other indices in place of variables. `get` gives null for those that
  /// stay.
  std::optional<IndexSum>
  substitute(llvm::function_ref<const IndexSum *(unsigned)> get) const;
  /// The digits, outermost first, if the sum counts through them from 0
  /// without a gap, as the index of a dimension made of them does.
  std::optional<llvm::SmallVector<Digit>> getDigits() const;

  void profile(llvm::FoldingSetNodeID &id) const;

private:
  void normalize();

  llvm::SmallVector<Term, 2> terms;
  int64_t constant = 0;
};

/// A product of sizes, dynamic if one of them is.
int64_t multiplySizes(int64_t a, int64_t b);

/// The index in a tensor of one dimension for each group of dimensions of these
/// sizes, as tensor.collapse_shape makes it of `indices`; and the indices in
/// the tensor that this was made of. Nothing where an unknown size is needed.
std::optional<llvm::SmallVector<IndexSum>>
collapseIndices(llvm::ArrayRef<IndexSum> indices, llvm::ArrayRef<int64_t> sizes,
                llvm::ArrayRef<mlir::ReassociationIndices> groups);
std::optional<llvm::SmallVector<IndexSum>>
expandIndices(llvm::ArrayRef<IndexSum> indices, llvm::ArrayRef<int64_t> sizes,
              llvm::ArrayRef<mlir::ReassociationIndices> groups);

/// An affine expression of `dims`; nothing if it is no such sum.
std::optional<IndexSum> evaluate(mlir::AffineExpr expression,
                                 llvm::ArrayRef<IndexSum> dims);

} // namespace attune::raising

#endif // ATTUNE_LIB_CONVERSION_LINALGTOATTN_INDEXSUM_H
