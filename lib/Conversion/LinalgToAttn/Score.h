// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What happens to scores between the two contractions, as attributes and
// regions of attn.attention.

#ifndef ATTUNE_LIB_CONVERSION_LINALGTOATTN_SCORE_H
#define ATTUNE_LIB_CONVERSION_LINALGTOATTN_SCORE_H

#include "Layout.h"
#include "attune/Dialect/Attn/IR/Attn.h"

namespace attune::raising {

class Score {
public:
  /// Takes the score of `match` apart; nothing where an index cannot be said in
  /// terms of those of the regions.
  static std::optional<Score> get(const AttentionMatch &match,
                                  const Layout &layout,
                                  ElementBuilder &elements);

  bool hasFiniteScale() const { return std::isfinite(scale); }
  /// Sets attributes and regions of an op that has none yet.
  void apply(mlir::RewriterBase &rewriter, attn::AttentionOp op) const;

private:
  Score(const Layout &layout, ElementBuilder &elements)
      : layout(&layout), elements(&elements) {}

  const Element *takeMasks(const Element *score);
  const Element *takeBias(const Element *bias);
  void takeScale();
  void addCondition(const Element *condition);
  const Element *getDiagonal(const Element *load, bool isMask) const;
  bool takeBand(const Element *condition);
  void setBands(attn::AttentionOp op) const;
  void chooseBands();
  const Element *makeBand(int64_t offset, bool isUpper) const;

  const Layout *layout;
  ElementBuilder *elements;
  double scale = 1;
  std::optional<double> softcap;
  /// What the argument of the score region is, and what it yields.
  const Element *argument = nullptr, *score = nullptr;
  const Element *dot = nullptr;
  /// A key is visible where all of them hold.
  llvm::SmallVector<const Element *> conditions;
  /// A key is visible where m + lower <= n <= m + upper.
  std::optional<int64_t> lower, upper;
  attn::CausalAttr causal;
  attn::WindowAttr window;
};

} // namespace attune::raising

#endif // ATTUNE_LIB_CONVERSION_LINALGTOATTN_SCORE_H
