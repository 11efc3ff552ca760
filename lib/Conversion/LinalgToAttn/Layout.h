// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which loops of two contractions are batch, heads, queries, keys and head
// size, and how tensors are brought into the four dimensions of attn.attention.

#ifndef ATTUNE_LIB_CONVERSION_LINALGTOATTN_LAYOUT_H
#define ATTUNE_LIB_CONVERSION_LINALGTOATTN_LAYOUT_H

#include "AttentionMatch.h"
#include "mlir/IR/Builders.h"
#include <array>
#include <map>

namespace attune::raising {

/// What a dimension of a tensor is made of, outermost first; nothing where its
/// size is 1.
using DimDigits = llvm::SmallVector<Digit, 2>;
using TensorDigits = llvm::SmallVector<DimDigits, 4>;

/// The indices of score and mask regions, in their order.
enum class Position : unsigned { Batch, Head, Query, Key };
constexpr unsigned kNumPositions = 4;

class Layout {
public:
  /// Nothing where the loops are not those of attention; `why` says why.
  static std::optional<Layout> get(const AttentionMatch &match,
                                   ElementBuilder &elements, Mismatch &why);

  /// `order` of attn.attention: the one that transposes the fewest tensors.
  llvm::StringRef getOrder() const { return order; }
  /// The operands, reshaped and where need be transposed.
  mlir::Value makeQuery(mlir::OpBuilder &builder, mlir::Location loc) const;
  mlir::Value makeKey(mlir::OpBuilder &builder, mlir::Location loc) const;
  mlir::Value makeValue(mlir::OpBuilder &builder, mlir::Location loc) const;
  /// The result of attn.attention as the tensor that it replaces.
  mlir::Value restoreResult(mlir::OpBuilder &builder, mlir::Location loc,
                            mlir::Value result) const;
  /// The logarithm of the sum, which is batch x heads x queries, likewise.
  mlir::Value restoreLse(mlir::OpBuilder &builder, mlir::Location loc,
                         mlir::Value lse) const;
  /// The sinks, one for each query head; null if there are none.
  mlir::Value makeSinks(mlir::OpBuilder &builder, mlir::Location loc) const;
  /// The variable for an index of the regions, and its size.
  unsigned getVariable(Position position) const {
    return variables[static_cast<unsigned>(position)];
  }
  int64_t getSize(Position position) const;
  /// What a loop is in terms of the indices of the regions.
  const IndexSum *getIndex(unsigned loop) const {
    auto found = loops.find(loop);
    return found == loops.end() ? nullptr : &found->second;
  }

private:
  /// The digits of the dimensions of a tensor that is in `order`.
  enum class Tensor : unsigned { Query, Key, Value, Result };
  TensorDigits arrange(Tensor tensor, llvm::StringRef order) const;
  std::optional<TensorDigits> refine(const TensorRead &read) const;
  std::optional<DimDigits> refine(const Digit &digit) const;
  void addCuts(const TensorRead &read);
  bool classify(const AttentionMatch &match, Mismatch &why);
  bool classifyRows(const AttentionMatch &match, Mismatch &why);
  void chooseOrder();
  void numberLoops(ElementBuilder &elements, mlir::linalg::LinalgOp op);

  mlir::Value make(mlir::OpBuilder &builder, mlir::Location loc,
                   Tensor tensor) const;

  /// Where digits of a variable begin, in ascending order.
  std::map<unsigned, llvm::SmallVector<int64_t>> cuts;
  std::array<TensorRead, 4> reads;
  std::array<TensorDigits, 4> tensors;
  /// The logarithm of the sum and the tensor of sinks, where there are any; or
  /// the sink of all heads.
  TensorRead lse, sinks;
  TensorDigits lseDigits, sinkDigits;
  std::optional<double> constantSink;
  DimDigits batch, keyHeads, group, queries, keys, headDims, valueDims;
  std::string order;
  std::array<unsigned, kNumPositions> variables{};
  std::map<unsigned, IndexSum> loops;
};

} // namespace attune::raising

#endif // ATTUNE_LIB_CONVERSION_LINALGTOATTN_LAYOUT_H
