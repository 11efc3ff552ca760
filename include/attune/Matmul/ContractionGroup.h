// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What becomes one kernel: contractions, and the elementwise ops around them as
// one region over scalars.

#ifndef ATTUNE_MATMUL_CONTRACTIONGROUP_H
#define ATTUNE_MATMUL_CONTRACTIONGROUP_H

#include "attune/Matmul/Contraction.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/SetVector.h"
#include <memory>

namespace attune::matmul {

/// A sum that the epilogue reads.
struct Accumulator {
  unsigned contraction = 0;
  /// Whether it is that of the partner's column (see ContractionGroup).
  bool ofPartner = false;
};

/// A tensor of which the epilogue reads an element, or a scalar.
struct EpilogueOperand {
  TensorAccess access;
  bool ofPartner = false;
};

/// Contractions of the same left operand and the same sizes, and what is made
/// of their sums, element by element:
///
///   results[b, m, n] = epilogue(sums, elements of operands, b, m, n)
///
/// Where columns are rotated in pairs (rotary embedding), the epilogue also
/// reads sums and elements at the partner's column: with s the partner stride,
/// n + s where (n floordiv s) is even, and n - s where it is odd.
///
/// Elementwise ops are taken in where they
/// - are linalg ops, named or not, with parallel loops only, whose loops are
///   dimensions of the group's value, each once: reading it by a permutation;
/// - read other tensors as matrices, vectors or scalars: by loops, each once,
///   or at 0;
/// - are the only users of the group's value, but for `tensor.dim`;
/// - have a body of scalar ops without side effects or regions.
/// Between them, `tensor.expand_shape` and `tensor.collapse_shape` may split
/// and join columns and rows.
///
/// Rotary embedding is accepted as such an op that reads the value twice, the
/// second time at 1 - d for one loop d of size 2: after an expand_shape of the
/// columns to (n / 2, 2) for pairs of neighbours, or (heads, 2, size / 2) for
/// halves of a head.
class ContractionGroup {
public:
  ContractionGroup() = default;
  ContractionGroup(ContractionGroup &&) = default;
  ContractionGroup &operator=(ContractionGroup &&) = default;

  /// One, or two for a gate.
  llvm::SmallVector<Contraction, 2> contractions;
  llvm::SmallVector<Accumulator> accumulators;
  llvm::SmallVector<EpilogueOperand> operands;
  /// One for each result of the last op.
  llvm::SmallVector<TensorAccess, 1> results;
  std::optional<int64_t> partnerStride;
  /// All ops of the group in the order of their block: what makes operands of
  /// contractions, these themselves, and elementwise ops.
  llvm::SetVector<mlir::Operation *> ops;
  /// Why no further op is in the group; empty if there is none that could be.
  std::string stop;

  int64_t getSize(Dim dim) const { return contractions[0].getSize(dim); }
  /// The last op, in whose place a kernel computes all of them.
  mlir::Operation *getRoot() const { return ops.back(); }
  /// Whether the epilogue leaves sums as they are, but for a cast.
  bool isEpilogueTrivial() const;
  /// Whether the epilogue is exact on small integers, up to its last rounding.
  bool isEpilogueExact() const;

  /// Its arguments are batch, m and n as indices, then the accumulators in f32,
  /// then elements of the operands in their types.
  mlir::Block &getEpilogue() const { return *epilogue; }
  /// Clones the epilogue at the builder. `indices` are batch, m and n. Gives
  /// one value for each result, in its type.
  llvm::SmallVector<mlir::Value>
  inlineEpilogue(mlir::OpBuilder &builder, mlir::ValueRange indices,
                 mlir::ValueRange accumulators,
                 mlir::ValueRange operands) const;
  /// For those who clone op by op.
  void mapArguments(mlir::IRMapping &mapping, mlir::ValueRange indices,
                    mlir::ValueRange accumulators,
                    mlir::ValueRange operands) const;

private:
  friend class GroupBuilder;
  /// Stands nowhere: the ops of the group stay as they are.
  std::unique_ptr<mlir::Block> epilogue;
};

/// The column of the partner of `n`.
mlir::Value emitPartner(mlir::OpBuilder &builder, mlir::Location loc,
                        mlir::Value n, int64_t partnerStride);

/// The groups in `block`, in the order of their first contraction. The same IR
/// gives the same groups. An op is in at most one of them, but for ops that
/// only make operands: these may have other readers, too.
std::vector<ContractionGroup> findContractionGroups(mlir::Block &block);
/// Those in all blocks of `root`.
std::vector<ContractionGroup> findContractionGroups(mlir::Operation *root);

/// A function `matmul` with copies of the group's ops alone, which takes what
/// they use and returns what they give. Its arguments begin with the left
/// operand, the right operands, and then those that the epilogue reads; a
/// tensor that is used twice is one argument. Equal groups give equal modules,
/// wherever they stand, and the group of the copy is that of the original.
mlir::OwningOpRef<mlir::ModuleOp> isolate(const ContractionGroup &group);

} // namespace attune::matmul

#endif // ATTUNE_MATMUL_CONTRACTIONGROUP_H
