// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds groups: ops in the order of their block, each offered to the groups
// whose value it reads.

#include "attune/Matmul/ContractionGroup.h"
#include "GroupBuilder.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace attune::matmul;

void attune::matmul::sortByPosition(llvm::SetVector<Operation *> &ops) {
  SmallVector<Operation *> sorted = llvm::to_vector(ops);
  llvm::sort(sorted,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  ops = llvm::SetVector<Operation *>(sorted.begin(), sorted.end());
}

namespace {
/// The groups of one block while they grow.
class Finder {
public:
  explicit Finder(Block &block) : block(block) {}
  std::vector<ContractionGroup> find();

private:
  void offer(Operation &op);
  SmallVector<GroupBuilder *> getReadGroups(Operation &op);
  std::string extend(ArrayRef<GroupBuilder *> groups, Operation &op);

  Block &block;
  GroupBuilder::Operations taken, producers;
  std::vector<std::unique_ptr<GroupBuilder>> builders;
};
} // namespace

/// Open groups whose value `op` reads, in order.
SmallVector<GroupBuilder *> Finder::getReadGroups(Operation &op) {
  SmallVector<GroupBuilder *> groups;
  for (const auto &builder : builders)
    if (builder->isOpen() &&
        llvm::is_contained(op.getOperands(), builder->getValue()))
      groups.push_back(builder.get());
  return groups;
}

/// Takes `op` into the last of `groups`, together with the first for a gate.
/// Gives the reason if that is not possible.
std::string Finder::extend(ArrayRef<GroupBuilder *> groups, Operation &op) {
  std::string why;
  GroupBuilder &last = *groups.back();
  if (producers.contains(&op))
    return "it makes an operand of another contraction";
  if (!last.isReadBy(&op))
    return "the value has other users";
  if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op)) {
    (void)last.fuseReshape(&op, why);
    return why;
  }
  auto elementwise = dyn_cast<linalg::LinalgOp>(op);
  if (!elementwise)
    return ("expects an op of linalg, but got " + op.getName().getStringRef())
        .str();
  if (groups.size() == 2 && groups[0]->isReadBy(&op) &&
      succeeded(groups[0]->fuseGate(last, elementwise, why)))
    return {};
  if (succeeded(last.fuse(elementwise, why)))
    return {};
  return why;
}

void Finder::offer(Operation &op) {
  SmallVector<GroupBuilder *> groups = getReadGroups(op);
  if (groups.empty() || isa<tensor::DimOp>(op) ||
      op.hasTrait<OpTrait::IsTerminator>())
    return;
  std::string why = extend(groups, op);
  for (GroupBuilder *group : groups)
    if (group->isOpen() &&
        llvm::is_contained(op.getOperands(), group->getValue()))
      group->close(
          op.getName().getStringRef() + ": " +
          (why.empty() ? "it is in the group of another contraction" : why));
}

std::vector<ContractionGroup> Finder::find() {
  llvm::MapVector<Operation *, Contraction> contractions;
  for (Operation &op : block)
    if (FailureOr<Contraction> found = matchContraction(&op);
        succeeded(found)) {
      producers.insert_range(found->producers);
      contractions.insert({&op, std::move(*found)});
    }
  for (Operation &op : block) {
    offer(op);
    if (auto *found = contractions.find(&op); found != contractions.end())
      builders.push_back(
          std::make_unique<GroupBuilder>(std::move(found->second), taken));
  }
  std::vector<ContractionGroup> groups;
  for (const auto &builder : builders)
    if (!builder->isMerged())
      groups.push_back(builder->finish());
  return groups;
}

std::vector<ContractionGroup>
attune::matmul::findContractionGroups(Block &block) {
  return Finder(block).find();
}

std::vector<ContractionGroup>
attune::matmul::findContractionGroups(Operation *root) {
  std::vector<ContractionGroup> groups;
  root->walk<WalkOrder::PreOrder>([&](Block *block) {
    llvm::move(findContractionGroups(*block), std::back_inserter(groups));
  });
  return groups;
}
