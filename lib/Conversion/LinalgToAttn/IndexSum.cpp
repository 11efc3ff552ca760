// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums of digits, and how reshapes split and join them.

#include "IndexSum.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace attune::raising;

int64_t attune::raising::multiplySizes(int64_t a, int64_t b) {
  return ShapedType::isDynamic(a) || ShapedType::isDynamic(b)
             ? ShapedType::kDynamic
             : a * b;
}

IndexSum IndexSum::get(unsigned variable, int64_t size) {
  return get(Digit{variable, 1, size});
}

IndexSum IndexSum::get(const Digit &digit) {
  IndexSum sum;
  sum.terms.push_back({1, digit});
  sum.normalize();
  return sum;
}

bool IndexSum::dependsOn(unsigned variable) const {
  return llvm::any_of(
      terms, [&](const Term &term) { return term.digit.variable == variable; });
}

/// Orders the terms, adds those of the same digit, and joins digits that count
/// on in each other.
void IndexSum::normalize() {
  llvm::sort(terms, [](const Term &a, const Term &b) {
    return std::tuple(a.digit.variable, b.digit.stride, b.digit.size) <
           std::tuple(b.digit.variable, a.digit.stride, a.digit.size);
  });
  SmallVector<Term, 2> joined;
  for (const Term &term : terms) {
    // A digit of one value is 0.
    if (term.digit.size == 1 || term.factor == 0)
      continue;
    if (!joined.empty()) {
      Term &outer = joined.back();
      if (outer.digit == term.digit) {
        outer.factor += term.factor;
        if (outer.factor == 0)
          joined.pop_back();
        continue;
      }
      bool countsOn =
          outer.digit.variable == term.digit.variable &&
          ShapedType::isStatic(term.digit.size) &&
          term.digit.stride * term.digit.size == outer.digit.stride &&
          term.factor * term.digit.size == outer.factor;
      if (countsOn) {
        outer = {term.factor,
                 {term.digit.variable, term.digit.stride,
                  multiplySizes(outer.digit.size, term.digit.size)}};
        continue;
      }
    }
    joined.push_back(term);
  }
  terms = std::move(joined);
}

IndexSum IndexSum::plus(const IndexSum &other, int64_t factor) const {
  IndexSum sum = *this;
  sum.constant += factor * other.constant;
  for (const Term &term : other.terms)
    sum.terms.push_back({factor * term.factor, term.digit});
  sum.normalize();
  return sum;
}

std::optional<std::pair<IndexSum, IndexSum>>
IndexSum::divide(int64_t divisor) const {
  if (divisor <= 0 || constant < 0)
    return std::nullopt;
  IndexSum quotient(constant / divisor), remainder(constant % divisor);
  int64_t largest = remainder.constant;
  for (const Term &term : terms) {
    if (term.factor < 0)
      return std::nullopt;
    if (term.factor % divisor == 0) {
      quotient.terms.push_back({term.factor / divisor, term.digit});
      continue;
    }
    Term low = term;
    bool isWithin = ShapedType::isStatic(term.digit.size) &&
                    term.factor * term.digit.size <= divisor;
    if (!isWithin) {
      // The digit is cut where it reaches the divisor.
      int64_t cut = divisor / term.factor;
      bool isDynamic = ShapedType::isDynamic(term.digit.size);
      if (divisor % term.factor != 0 ||
          (!isDynamic && term.digit.size % cut != 0))
        return std::nullopt;
      low.digit.size = cut;
      quotient.terms.push_back(
          {1,
           {term.digit.variable, term.digit.stride * cut,
            isDynamic ? ShapedType::kDynamic : term.digit.size / cut}});
    }
    remainder.terms.push_back(low);
    largest += low.factor * (low.digit.size - 1);
  }
  if (largest >= divisor)
    return std::nullopt;
  quotient.normalize();
  remainder.normalize();
  return std::pair(quotient, remainder);
}

std::optional<IndexSum>
IndexSum::substitute(llvm::function_ref<const IndexSum *(unsigned)> get) const {
  IndexSum sum(constant);
  for (const Term &term : terms) {
    const IndexSum *replacement = get(term.digit.variable);
    std::optional<IndexSum> digit = IndexSum::get(term.digit);
    if (replacement) {
      digit = *replacement;
      if (term.digit.stride != 1) {
        auto divided = digit->divide(term.digit.stride);
        if (!divided)
          return std::nullopt;
        digit = divided->first;
      }
      if (ShapedType::isStatic(term.digit.size)) {
        auto divided = digit->divide(term.digit.size);
        if (!divided)
          return std::nullopt;
        digit = divided->second;
      }
    }
    sum = sum.plus(*digit, term.factor);
  }
  return sum;
}

std::optional<SmallVector<Digit>> IndexSum::getDigits() const {
  if (constant != 0)
    return std::nullopt;
  SmallVector<Term, 2> sorted(terms);
  llvm::sort(sorted,
             [](const Term &a, const Term &b) { return a.factor < b.factor; });
  int64_t next = 1;
  SmallVector<Digit> digits;
  for (const Term &term : sorted) {
    // Behind a dynamic size no factor is known.
    if (term.factor != next)
      return std::nullopt;
    next = multiplySizes(next, term.digit.size);
    digits.push_back(term.digit);
  }
  std::reverse(digits.begin(), digits.end());
  return digits;
}

void IndexSum::profile(llvm::FoldingSetNodeID &id) const {
  id.AddInteger(constant);
  id.AddInteger(terms.size());
  for (const Term &term : terms) {
    id.AddInteger(term.factor);
    id.AddInteger(term.digit.variable);
    id.AddInteger(term.digit.stride);
    id.AddInteger(term.digit.size);
  }
}

std::optional<SmallVector<IndexSum>>
attune::raising::collapseIndices(ArrayRef<IndexSum> indices,
                                 ArrayRef<int64_t> sizes,
                                 ArrayRef<ReassociationIndices> groups) {
  SmallVector<IndexSum> collapsed;
  for (const ReassociationIndices &group : groups) {
    IndexSum sum;
    int64_t factor = 1;
    for (int64_t dim : llvm::reverse(group)) {
      if (sizes[dim] == 1)
        continue;
      if (ShapedType::isDynamic(factor))
        return std::nullopt;
      sum = sum.plus(indices[dim], factor);
      factor = multiplySizes(factor, sizes[dim]);
    }
    collapsed.push_back(sum);
  }
  return collapsed;
}

std::optional<SmallVector<IndexSum>>
attune::raising::expandIndices(ArrayRef<IndexSum> indices,
                               ArrayRef<int64_t> sizes,
                               ArrayRef<ReassociationIndices> groups) {
  SmallVector<IndexSum> expanded(sizes.size());
  for (auto [index, group] : llvm::zip_equal(indices, groups)) {
    // The outermost one that counts takes what is left.
    const auto *outermost =
        llvm::find_if(group, [&](int64_t dim) { return sizes[dim] != 1; });
    if (outermost == group.end())
      continue;
    IndexSum rest = index;
    for (const auto *dim = group.end() - 1; dim != outermost; --dim) {
      if (ShapedType::isDynamic(sizes[*dim]))
        return std::nullopt;
      auto divided = rest.divide(sizes[*dim]);
      if (!divided)
        return std::nullopt;
      expanded[*dim] = divided->second;
      rest = divided->first;
    }
    expanded[*outermost] = rest;
  }
  return expanded;
}

std::optional<IndexSum> attune::raising::evaluate(AffineExpr expression,
                                                  ArrayRef<IndexSum> dims) {
  if (auto dim = dyn_cast<AffineDimExpr>(expression))
    return dims[dim.getPosition()];
  if (auto constant = dyn_cast<AffineConstantExpr>(expression))
    return IndexSum(constant.getValue());
  auto binary = dyn_cast<AffineBinaryOpExpr>(expression);
  if (!binary)
    return std::nullopt;
  std::optional<IndexSum> lhs = evaluate(binary.getLHS(), dims),
                          rhs = evaluate(binary.getRHS(), dims);
  if (!lhs || !rhs)
    return std::nullopt;
  if (expression.getKind() == AffineExprKind::Add)
    return lhs->plus(*rhs);
  if (!rhs->isConstant())
    return std::nullopt;
  if (expression.getKind() == AffineExprKind::Mul)
    return lhs->times(rhs->getConstant());
  auto divided = lhs->divide(rhs->getConstant());
  if (!divided || expression.getKind() == AffineExprKind::CeilDiv)
    return std::nullopt;
  return expression.getKind() == AffineExprKind::Mod ? divided->second
                                                     : divided->first;
}
