// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A group while it grows.

#ifndef ATTUNE_LIB_MATMUL_GROUPBUILDER_H
#define ATTUNE_LIB_MATMUL_GROUPBUILDER_H

#include "attune/Matmul/ContractionGroup.h"
#include "mlir/IR/IRMapping.h"

namespace attune::matmul {

class GroupBuilder {
public:
  using Operations = llvm::DenseSet<mlir::Operation *>;

  /// A group of one contraction. `taken` are the ops that follow the
  /// contraction of any group.
  GroupBuilder(Contraction contraction, Operations &taken);

  /// The tensor that a further op would read.
  mlir::Value getValue() const { return value; }
  bool isOpen() const { return value && group.stop.empty(); }
  void close(const llvm::Twine &reason) { group.stop = reason.str(); }

  /// Takes in an elementwise op, a reshape or, for a gate, all of another group
  /// with `op`, which reads both. Leaves the group as it was, with a reason in
  /// `why`, where that is not possible.
  mlir::LogicalResult fuse(mlir::linalg::LinalgOp op, std::string &why);
  mlir::LogicalResult fuseReshape(mlir::Operation *op, std::string &why);
  mlir::LogicalResult fuseGate(GroupBuilder &other, mlir::linalg::LinalgOp op,
                               std::string &why);
  bool isMerged() const { return merged; }

  /// Whether only `op` reads the value.
  bool isReadBy(mlir::Operation *op) const;

  /// Nothing is added any more. Reshapes that nothing follows are left out.
  ContractionGroup finish();

  /// The position of the first contraction, and that of the last.
  mlir::Operation *getFirst() const { return group.contractions[0].op; }
  mlir::Operation *getLast() const { return group.contractions.back().op; }

private:
  /// How an op reads one of its inputs.
  struct Read {
    mlir::OpOperand *operand;
    enum { Unread, Value, Partner, Other } what = Unread;
    /// Of another tensor, with the cast that its element goes through.
    TensorAccess access;
    mlir::Operation *cast = nullptr;
    /// Ops that are passed on the way to it.
    llvm::SmallVector<mlir::Operation *, 2> passed;
  };
  struct Plan {
    llvm::SmallVector<Read> reads;
    llvm::SmallVector<Coordinate> loops;
    std::optional<int64_t> partnerStride;
  };

  mlir::LogicalResult plan(mlir::linalg::LinalgOp op, Plan &plan,
                           std::string &why);
  mlir::LogicalResult planLoops(mlir::linalg::LinalgOp op, Plan &plan,
                                std::string &why);
  mlir::LogicalResult planPartner(mlir::linalg::LinalgOp op,
                                  mlir::OpOperand &operand, Plan &plan,
                                  std::string &why);
  mlir::LogicalResult planRead(mlir::linalg::LinalgOp op, Read &read,
                               const Plan &plan, std::string &why);
  mlir::LogicalResult checkBody(mlir::linalg::LinalgOp op, const Plan &plan,
                                std::string &why);
  mlir::Value getElement(const TensorAccess &access, bool ofPartner);
  mlir::Value getAccumulator(unsigned contraction, bool ofPartner);
  void emit(mlir::linalg::LinalgOp op, const Plan &plan);
  /// What `element` would be in the partner's column.
  mlir::Value emitOfPartner(mlir::Value element, mlir::IRMapping &mapping);
  mlir::Value emitLoopIndex(const Coordinate &coordinate);

  mlir::LogicalResult canMerge(const GroupBuilder &other, std::string &why);
  void merge(GroupBuilder &other);
  const Space &getSpace() const { return group.contractions[0].space; }
  /// Makes `op` the last op.
  void append(mlir::Operation *op);

  ContractionGroup group;
  Operations &taken;
  mlir::OpBuilder builder;
  mlir::Value value;
  /// Whether another group has all of this one.
  bool merged = false;
  /// What follows the contraction, in order.
  llvm::SmallVector<mlir::Operation *> chain;
  /// Of tensors of the group, each with its element in the epilogue.
  struct Made {
    Coordinates coordinates;
    mlir::Value element;
  };
  llvm::DenseMap<mlir::Value, Made> made;
};

/// Makes the order of `ops` that of their block.
void sortByPosition(llvm::SetVector<mlir::Operation *> &ops);

/// Why a body cannot be taken over as scalars; empty if it can.
std::string checkScalarBody(mlir::Block &body);

/// Clones a scalar op at the builder. What is computed in 16 bits is computed
/// in f32 and rounded, which is what it means: no chip has more of it.
void cloneScalarOp(mlir::OpBuilder &builder, mlir::Operation &op,
                   mlir::IRMapping &mapping);

} // namespace attune::matmul

#endif // ATTUNE_LIB_MATMUL_GROUPBUILDER_H
