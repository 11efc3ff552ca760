// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What an element of a tensor is, as an expression of scalars: whatever ops of
// whatever spelling compute the tensor, equal elements are one expression.

#ifndef ATTUNE_LIB_CONVERSION_LINALGTOATTN_ELEMENT_H
#define ATTUNE_LIB_CONVERSION_LINALGTOATTN_ELEMENT_H

#include "IndexSum.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"
#include <deque>

namespace attune::raising {

/// A node of an expression. Nodes are unique: equal pointers are equal
/// expressions. Floats of at most 32 bits are all f32, so that casts between
/// them are nothing.
struct Element : llvm::FoldingSetNode {
  enum class Kind {
    /// `constant`: an attribute of a scalar.
    Constant,
    /// `index`, as an integer of `type`.
    Index,
    /// An element of `value`, a tensor, at `operands`.
    Load,
    /// `value`, a scalar.
    Scalar,
    /// The op `name` with `attributes` of `operands`.
    Op
  } kind;
  mlir::Type type;
  mlir::Attribute constant;
  IndexSum index;
  mlir::Value value;
  std::optional<mlir::OperationName> name;
  mlir::DictionaryAttr attributes;
  llvm::SmallVector<const Element *, 4> operands;

  // NOLINTNEXTLINE(readability-identifier-naming): llvm::FoldingSet calls it
  void Profile(llvm::FoldingSetNodeID &id) const;

  bool isOp(llvm::StringRef op) const {
    return kind == Kind::Op && name->getStringRef() == op;
  }
  bool isLoad() const { return kind == Kind::Load; }
  /// The value of a constant float.
  std::optional<double> getFloat() const;
  /// The value of a constant i1.
  std::optional<bool> getBool() const;
  /// The indices of a load, if they are sums.
  std::optional<llvm::SmallVector<IndexSum>> getIndices() const;
  /// The first part of it, itself included, for which `predicate` holds; null
  /// if there is none.
  const Element *
  find(llvm::function_ref<bool(const Element *)> predicate) const;
  /// Whether it depends on a variable.
  bool dependsOn(unsigned variable) const;
  bool dependsOnAny() const;
  /// Whether `other` is a part of it.
  bool contains(const Element *other) const;
};

/// Integers of so many bits count: no index, nor a difference of two, is wider.
bool isCounting(mlir::Type type);

/// A reduction by an op of linalg, of which one element is asked for.
struct ReductionOfElements {
  mlir::linalg::LinalgOp op;
  /// The loops that are reduced over, of more than one iteration.
  llvm::SmallVector<unsigned, 1> variables;
  /// Their iterations.
  llvm::SmallVector<int64_t, 1> sizes;
  const Element *term;
  /// What the reduction begins with.
  const Element *init;
};

/// Owns expressions and makes them.
class ElementBuilder {
public:
  explicit ElementBuilder(mlir::MLIRContext *context) : context(context) {}

  /// The element of `tensor` at `indices`, computed from tensors that are no
  /// elementwise function of others.
  const Element *get(mlir::Value tensor, llvm::ArrayRef<IndexSum> indices);
  /// The same, computed from the operands of the op that makes the tensor. The
  /// load itself where that op is not elementwise.
  const Element *getOneLevel(mlir::Value tensor,
                             llvm::ArrayRef<IndexSum> indices);
  /// The reduction by the op `combiner` that a load reads; its terms read loads
  /// of the op's operands, or with `inlined` what these are computed from.
  std::optional<ReductionOfElements>
  getReduction(const Element *load, llvm::StringRef combiner, bool inlined);
  std::optional<ReductionOfElements> getSum(const Element *load, bool inlined) {
    return getReduction(load, "arith.addf", inlined);
  }
  /// With other indices in place of variables; null if that is not possible.
  /// What is loaded there is computed from tensors as get() does.
  const Element *substitute(const Element *element,
                            llvm::function_ref<const IndexSum *(unsigned)> get);

  /// `element` with `made` in place of `old`.
  const Element *replace(const Element *element, const Element *old,
                         const Element *made);

  const Element *makeIndex(const IndexSum &index, mlir::Type type);
  const Element *makeFloat(double value);
  const Element *makeBool(bool value);
  const Element *makeLoad(mlir::Value tensor, llvm::ArrayRef<IndexSum> indices);
  /// Folds what is constant, and integers that are sums of indices.
  const Element *makeOp(mlir::OperationName name,
                        mlir::DictionaryAttr attributes, mlir::Type type,
                        llvm::ArrayRef<const Element *> operands);
  const Element *makeOp(llvm::StringRef name, mlir::Type type,
                        llvm::ArrayRef<const Element *> operands);
  const Element *makeNot(const Element *condition);

  /// A variable for a loop of an op: always the same one for the same loop.
  unsigned getVariable(mlir::Operation *op, unsigned loop);
  mlir::MLIRContext *getContext() const { return context; }

private:
  const Element *unique(Element element);
  /// `root` anew from what `leaf` makes of its parts, or leaves as they are.
  const Element *
  rebuild(const Element *root,
          llvm::function_ref<const Element *(const Element *)> leaf);
  const Element *makeConstant(mlir::Attribute constant, mlir::Type type);
  const Element *fold(llvm::StringRef name, mlir::DictionaryAttr attributes,
                      mlir::Type type,
                      llvm::ArrayRef<const Element *> operands);
  const Element *expand(mlir::Value tensor, llvm::ArrayRef<IndexSum> indices);
  const Element *expandConstant(mlir::DenseElementsAttr constant,
                                llvm::ArrayRef<IndexSum> indices);
  const Element *read(mlir::Value value, llvm::ArrayRef<IndexSum> indices);
  const Element *readOperand(mlir::linalg::LinalgOp op,
                             mlir::OpOperand &operand,
                             llvm::ArrayRef<IndexSum> loops);
  const Element *expandLinalg(mlir::linalg::LinalgOp op, mlir::OpResult result,
                              llvm::ArrayRef<IndexSum> indices);
  const Element *expandParts(mlir::Operation *op,
                             llvm::ArrayRef<IndexSum> indices);
  /// Whether `index` lies below `bound` for all that its variables count;
  /// nothing where that differs.
  std::optional<bool> isBelow(const IndexSum &index, int64_t bound);
  const Element *makeProduct(const Element *element, double factor);
  const Element *expandElementwise(mlir::Operation *op,
                                   llvm::ArrayRef<IndexSum> indices);
  /// A scalar in the body of an op whose arguments `getArgument` gives.
  const Element *getScalar(
      mlir::Value value, mlir::Block *body, llvm::ArrayRef<IndexSum> loops,
      llvm::function_ref<const Element *(mlir::BlockArgument)> getArgument);
  const Element *getScalarOp(mlir::Operation *op,
                             llvm::ArrayRef<const Element *> operands);

  mlir::MLIRContext *context;
  std::deque<Element> elements;
  llvm::FoldingSet<Element> known;
  llvm::DenseMap<const Element *, const Element *> expanded;
  llvm::DenseMap<std::pair<mlir::Operation *, unsigned>, unsigned> variables;
  /// Whether operands are read as they are.
  bool isOneLevel = false;
};

} // namespace attune::raising

#endif // ATTUNE_LIB_CONVERSION_LINALGTOATTN_ELEMENT_H
