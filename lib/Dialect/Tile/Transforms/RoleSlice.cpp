// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A backward slice. What a role has put and another one gets ends at the
// channel: only the one that computes it has what it is computed from.

#include "RoleSlice.h"
#include "attune/Dialect/Tile/IR/Tile.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace attune;
using namespace attune::tile;

namespace {

class RoleSlice {
public:
  RoleSlice(Region &program, function_ref<bool(Operation *)> isOwn)
      : program(program), isOwn(isOwn) {}
  void run();

private:
  /// Marks what ops with effects need.
  void markAnchors(Region &region);
  void mark(Operation *op);
  void mark(Value value);
  /// Marks what the value `number` of a loop is carried from.
  void markCarried(scf::ForOp loop, unsigned number);
  void markWork();
  /// Whether what is waited for may be issued by a marked op.
  bool isOfMarked(Value pending);
  void prune(Block &block);
  void prune(scf::ForOp loop);
  void prune(scf::IfOp branch);

  Region &program;
  function_ref<bool(Operation *)> isOwn;
  llvm::DenseSet<Operation *> ops;
  llvm::DenseSet<Value> values;
  SmallVector<Value> work;
};

} // namespace

/// Whether roles differ in what they run of its regions.
static bool isControlFlow(Operation *op) {
  return isa<scf::ForOp, scf::IfOp>(op);
}

/// Whether the op is there for its results alone: it computes, reads, or waits.
static bool isForResults(Operation *op) {
  if (isa<GetOp, MmaAsyncOp, WaitOp>(op))
    return true;
  auto effects = getEffectsRecursively(op);
  return effects &&
         llvm::all_of(*effects, [](const MemoryEffects::EffectInstance &each) {
           return isa<MemoryEffects::Read, MemoryEffects::Allocate>(
               each.getEffect());
         });
}

void RoleSlice::markAnchors(Region &region) {
  for (Operation &op : region.getOps()) {
    if (isControlFlow(&op)) {
      for (Region &inner : op.getRegions())
        markAnchors(inner);
    } else if (!op.hasTrait<OpTrait::IsTerminator>() && !isForResults(&op) &&
               !isa<PutOp, ReleaseOp, WaitReadsOp>(op) && isOwn(&op)) {
      mark(&op);
    }
  }
}

void RoleSlice::mark(Operation *op) {
  if (!ops.insert(op).second)
    return;
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    for (Value bound :
         {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()})
      mark(bound);
  } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
    mark(branch.getCondition());
  } else if (auto release = dyn_cast<ReleaseOp>(op)) {
    // What it comes behind is not computed for that alone.
    mark(release.getElement());
  } else {
    SetVector<Value> read(op->operand_begin(), op->operand_end());
    getUsedValuesDefinedAbove(op->getRegions(), read);
    for (Value value : read)
      mark(value);
  }
  if (auto get = dyn_cast<GetOp>(op))
    for (Operation *user : get.getChannel().getUsers())
      if (isa<GetOp, ReleaseOp>(user) &&
          program.isAncestor(user->getParentRegion()))
        mark(user);
  Operation *parent = op->getParentOp();
  if (op->getParentRegion() != &program)
    mark(parent);
}

void RoleSlice::mark(Value value) {
  if (program.isAncestor(value.getParentRegion()) &&
      values.insert(value).second)
    work.push_back(value);
}

void RoleSlice::markCarried(scf::ForOp loop, unsigned number) {
  mark(loop);
  mark(loop.getInitArgs()[number]);
  mark(loop.getRegionIterArg(number));
  mark(loop.getYieldedValues()[number]);
}

void RoleSlice::markWork() {
  while (!work.empty()) {
    Value value = work.pop_back_val();
    auto argument = dyn_cast<BlockArgument>(value);
    Operation *op =
        argument ? argument.getOwner()->getParentOp() : value.getDefiningOp();
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      if (value == loop.getInductionVar())
        mark(loop);
      else
        markCarried(loop, argument ? argument.getArgNumber() -
                                         loop.getNumInductionVars()
                                   : cast<OpResult>(value).getResultNumber());
      continue;
    }
    mark(op);
    if (auto branch = dyn_cast<scf::IfOp>(op))
      for (scf::YieldOp yield : {branch.thenYield(), branch.elseYield()})
        mark(yield.getOperand(cast<OpResult>(value).getResultNumber()));
  }
}

/// The values of these whose results, or arguments, are marked.
static SmallVector<Value> select(ValueRange from, ValueRange marks,
                                 const llvm::DenseSet<Value> &values) {
  SmallVector<Value> selected;
  for (auto [value, mark] : llvm::zip_equal(from, marks))
    if (values.contains(mark))
      selected.push_back(value);
  return selected;
}

void RoleSlice::prune(scf::ForOp loop) {
  ValueRange arguments = loop.getRegionIterArgs();
  SmallVector<Value> initial = select(loop.getInitArgs(), arguments, values),
                     kept = select(arguments, arguments, values),
                     results = select(loop.getResults(), arguments, values);
  if (kept.size() == arguments.size())
    return prune(*loop.getBody());
  auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
  for (auto [i, argument] : llvm::enumerate(arguments))
    if (!values.contains(argument))
      yield.setOperand(i, argument);
  prune(*loop.getBody());
  SmallVector<Value> yielded = select(yield.getOperands(), arguments, values);
  OpBuilder b(loop);
  auto pruned =
      scf::ForOp::create(b, loop.getLoc(), loop.getLowerBound(),
                         loop.getUpperBound(), loop.getStep(), initial);
  pruned->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  if (initial.empty())
    pruned.getBody()->getTerminator()->erase();
  b.setInsertionPoint(yield);
  scf::YieldOp::create(b, yield.getLoc(), yielded);
  yield.erase();
  Block *body = pruned.getBody();
  body->getOperations().splice(body->end(), loop.getBody()->getOperations());
  loop.getInductionVar().replaceAllUsesWith(pruned.getInductionVar());
  for (auto [before, after] : llvm::zip_equal(kept, pruned.getRegionIterArgs()))
    before.replaceAllUsesWith(after);
  for (auto [before, after] : llvm::zip_equal(results, pruned.getResults()))
    before.replaceAllUsesWith(after);
  loop.erase();
}

void RoleSlice::prune(scf::IfOp branch) {
  ValueRange all = branch.getResults();
  SmallVector<Value> results = select(all, all, values);
  for (Region &region : branch->getRegions()) {
    if (region.empty())
      continue;
    auto yield = cast<scf::YieldOp>(region.front().getTerminator());
    yield.getResultsMutable().assign(select(yield.getOperands(), all, values));
    prune(region.front());
  }
  if (results.size() == all.size())
    return;
  OpBuilder b(branch);
  auto pruned = scf::IfOp::create(
      b, branch.getLoc(), ValueRange(results).getTypes(), branch.getCondition(),
      /*addThenBlock=*/false, /*addElseBlock=*/false);
  for (auto [to, from] :
       llvm::zip_equal(pruned->getRegions(), branch->getRegions()))
    to.takeBody(from);
  for (auto [before, after] : llvm::zip_equal(results, pruned.getResults()))
    before.replaceAllUsesWith(after);
  branch.erase();
}

void RoleSlice::prune(Block &block) {
  for (Operation &op :
       llvm::make_early_inc_range(llvm::reverse(block.getOperations()))) {
    if (op.hasTrait<OpTrait::IsTerminator>())
      continue;
    if (!ops.contains(&op)) {
      op.erase();
    } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
      prune(loop);
    } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
      prune(branch);
    }
  }
}

bool RoleSlice::isOfMarked(Value pending) {
  SetVector<Value> sources;
  sources.insert(pending);
  for (size_t i = 0; i < sources.size(); ++i) {
    Value value = sources[i];
    auto argument = dyn_cast<BlockArgument>(value);
    Operation *op =
        argument ? argument.getOwner()->getParentOp() : value.getDefiningOp();
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      unsigned number =
          argument ? argument.getArgNumber() - loop.getNumInductionVars()
                   : cast<OpResult>(value).getResultNumber();
      sources.insert(loop.getInitArgs()[number]);
      sources.insert(loop.getYieldedValues()[number]);
    } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
      for (scf::YieldOp yield : {branch.thenYield(), branch.elseYield()})
        sources.insert(
            yield.getOperand(cast<OpResult>(value).getResultNumber()));
    } else if (ops.contains(op) && !isa<DoneOp>(op)) {
      return true;
    }
  }
  return false;
}

/// The op behind which the element that `get` gives is read no more, among
/// those that are pending and are waited for in its block; null where that is
/// not known.
static Operation *findLastRead(GetOp get) {
  Block *block = get->getBlock();
  Operation *last = get;
  SmallVector<Operation *> readers(get->getUsers());
  llvm::SmallPtrSet<Operation *, 8> seen;
  while (!readers.empty()) {
    Operation *reader = readers.pop_back_val();
    if (!seen.insert(reader).second)
      continue;
    if (reader->getBlock() != block || isa<WaitReadsOp, StoreAsyncOp>(reader))
      return nullptr;
    if (isa<MmaAsyncOp>(reader))
      llvm::append_range(readers, reader->getUsers());
    else if (last->isBeforeInBlock(reader))
      last = reader;
  }
  return last;
}

/// Moves a release of what others read for longer to behind the own last read.
static void hoist(ReleaseOp release) {
  if (!release.getAfter().empty())
    return;
  Operation *last = nullptr;
  for (Operation *user : release.getChannel().getUsers()) {
    auto get = dyn_cast<GetOp>(user);
    if (!get || get.getElement() != release.getElement())
      continue;
    Operation *read =
        get->getBlock() == release->getBlock() ? findLastRead(get) : nullptr;
    if (!read)
      return;
    if (!last || last->isBeforeInBlock(read))
      last = read;
  }
  if (last && last->isBeforeInBlock(release))
    release->moveAfter(last);
}

void RoleSlice::run() {
  markAnchors(program);
  markWork();
  // Nobody waits for what is not issued.
  program.walk([&](WaitReadsOp wait) {
    if (isOfMarked(wait.getPending()))
      mark(wait);
  });
  markWork();
  program.walk([&](ReleaseOp release) {
    release.getAfterMutable().assign(llvm::to_vector(
        llvm::make_filter_range(release.getAfter(), [&](Value value) {
          return values.contains(value);
        })));
  });
  prune(program.front());
  program.walk(hoist);
}

void tile::keepSlice(Region &program, function_ref<bool(Operation *)> isOwn) {
  RoleSlice(program, isOwn).run();
}
