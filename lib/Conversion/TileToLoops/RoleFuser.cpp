// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each role runs until it waits for another one.

#include "RoleFuser.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace attune;

namespace {

class RoleFuser {
public:
  RoleFuser(ArrayRef<Region *> programs,
            function_ref<void(OpBuilder &, Value)> expect);
  LogicalResult fuse(ArrayRef<Block *> blocks);

private:
  /// Of a channel, in one block of each role.
  struct Traffic {
    int64_t puts = 0;
    llvm::SmallVector<int64_t> gets, releases;
  };
  using Channels = llvm::MapVector<Value, Traffic>;

  /// Whether several roles use a channel.
  bool isShared(Value channel) const;
  /// Whether roles go through the loop, or branch, together.
  bool isMeeting(Operation &op) const;
  Traffic &find(Channels &channels, Value channel) const;
  /// Whether this op of a role need not wait for others.
  bool canRun(Operation &op, size_t role, ArrayRef<Block *> blocks,
              Channels &channels) const;
  /// Counts an op that runs; whether it is a release that others follow.
  bool countOrDrop(Operation &op, size_t role, Channels &channels) const;
  LogicalResult fuseMeetings(ArrayRef<Operation *> ops);
  LogicalResult fuseLoops(ArrayRef<Operation *> ops);
  LogicalResult fuseWhiles(ArrayRef<Operation *> ops);
  LogicalResult fuseBranches(ArrayRef<Operation *> ops);
  void expectEqual(OpBuilder &b, Location loc, Value left, Value right);

  function_ref<void(OpBuilder &, Value)> expect;
  /// Roles that use a channel, and those that release its elements.
  llvm::DenseMap<Value, llvm::SmallVector<bool>> users, releasing;
};

} // namespace

/// Whether threads of a role put what they write.
static bool isPut(Operation *op) {
  return isa<tile::PutTileOp, tile::RestageOp>(op);
}

/// The channel of which an op puts, gets or releases an element.
static Value getChannel(Operation *op) {
  return isPut(op) || isa<tile::GetOp, tile::ReleaseOp>(op) ? op->getOperand(0)
                                                            : Value();
}

RoleFuser::RoleFuser(ArrayRef<Region *> programs,
                     function_ref<void(OpBuilder &, Value)> expect)
    : expect(expect) {
  for (auto [role, program] : llvm::enumerate(programs))
    program->walk([&, role = role](Operation *op) {
      Value channel = getChannel(op);
      if (!channel)
        return;
      for (auto *each : {&users, &releasing})
        (*each)[channel].resize(programs.size());
      users[channel][role] = true;
      if (isa<tile::ReleaseOp>(op))
        releasing[channel][role] = true;
    });
}

bool RoleFuser::isShared(Value channel) const {
  auto roles = users.find(channel);
  return roles != users.end() && llvm::count(roles->second, true) > 1;
}

bool RoleFuser::isMeeting(Operation &op) const {
  if (!isa<scf::ForOp, scf::WhileOp, scf::IfOp>(op))
    return false;
  return op
      .walk([&](Operation *inner) {
        Value channel = getChannel(inner);
        return channel && isShared(channel) ? WalkResult::interrupt()
                                            : WalkResult::advance();
      })
      .wasInterrupted();
}

RoleFuser::Traffic &RoleFuser::find(Channels &channels, Value channel) const {
  Traffic &traffic = channels[channel];
  size_t roles = users.find(channel)->second.size();
  traffic.gets.resize(roles);
  traffic.releases.resize(roles);
  return traffic;
}

/// Whether one of these blocks puts computed elements.
static bool isPutIn(Value channel, ArrayRef<Block *> blocks) {
  return llvm::any_of(channel.getUsers(), [&](Operation *user) {
    return isPut(user) && llvm::is_contained(blocks, user->getBlock());
  });
}

bool RoleFuser::canRun(Operation &op, size_t role, ArrayRef<Block *> blocks,
                       Channels &channels) const {
  Value channel = getChannel(&op);
  if (!channel || !isShared(channel) || !isPutIn(channel, blocks))
    return true;
  Traffic &traffic = find(channels, channel);
  if (isa<tile::GetOp>(op))
    return traffic.gets[role] < traffic.puts;
  if (isa<tile::ReleaseOp>(op))
    return true;
  int64_t stages = cast<tile::ChannelType>(channel.getType()).getStages();
  return llvm::all_of(
      llvm::enumerate(releasing.find(channel)->second), [&](auto reader) {
        return !reader.value() ||
               traffic.puts - traffic.releases[reader.index()] < stages;
      });
}

bool RoleFuser::countOrDrop(Operation &op, size_t role,
                            Channels &channels) const {
  Value channel = getChannel(&op);
  if (!channel || !isShared(channel))
    return false;
  Traffic &traffic = find(channels, channel);
  if (isPut(&op))
    ++traffic.puts;
  else if (isa<tile::GetOp>(op))
    ++traffic.gets[role];
  else {
    int64_t number = ++traffic.releases[role];
    return llvm::any_of(
        llvm::enumerate(releasing.find(channel)->second), [&](auto other) {
          return other.value() && traffic.releases[other.index()] < number;
        });
  }
  return false;
}

LogicalResult RoleFuser::fuse(ArrayRef<Block *> blocks) {
  Channels channels;
  SmallVector<Block::iterator> next;
  for (Block *block : blocks)
    next.push_back(block->begin());
  auto isDone = [&](size_t role) {
    return next[role] == blocks[role]->end() ||
           next[role]->hasTrait<OpTrait::IsTerminator>();
  };
  while (true) {
    bool runs = false;
    for (size_t role = 0; role < blocks.size(); ++role)
      while (!isDone(role) && !isMeeting(*next[role]) &&
             canRun(*next[role], role, blocks, channels)) {
        Operation &op = *next[role]++;
        runs = true;
        if (countOrDrop(op, role, channels))
          op.erase();
        else if (role > 0)
          op.moveBefore(blocks.front(), next.front());
      }
    if (runs)
      continue;
    SmallVector<Operation *> meetings;
    Operation *waiting = nullptr;
    for (size_t role = 0; role < blocks.size(); ++role) {
      if (isDone(role))
        continue;
      waiting = &*next[role];
      if (isMeeting(*waiting))
        meetings.push_back(&*next[role]++);
    }
    if (!waiting)
      return success();
    if (meetings.size() < blocks.size())
      return waiting->emitOpError()
             << "expects roles that all come to what it waits for";
    if (failed(fuseMeetings(meetings)))
      return failure();
  }
}

LogicalResult RoleFuser::fuseMeetings(ArrayRef<Operation *> ops) {
  if (llvm::all_of(ops, llvm::IsaPred<scf::ForOp>))
    return fuseLoops(ops);
  if (llvm::all_of(ops, llvm::IsaPred<scf::WhileOp>))
    return fuseWhiles(ops);
  if (llvm::all_of(ops, llvm::IsaPred<scf::IfOp>))
    return fuseBranches(ops);
  return ops.front()->emitOpError()
         << "expects roles that meet in loops, or in branches, alike";
}

void RoleFuser::expectEqual(OpBuilder &b, Location loc, Value left,
                            Value right) {
  if (left != right)
    expect(b, arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, left,
                                    right));
}

/// Gives the results of all ops to those who use them.
static void replaceAll(ArrayRef<Operation *> ops, ResultRange results) {
  for (Operation *op : ops) {
    op->replaceAllUsesWith(results.take_front(op->getNumResults()));
    results = results.drop_front(op->getNumResults());
  }
  for (Operation *op : ops)
    op->erase();
}

/// What the blocks yield, from the first one, which has the ops of all of them;
/// the others end there.
static void yieldAll(ArrayRef<Block *> blocks) {
  SmallVector<Value> yielded;
  for (Block *block : blocks)
    llvm::append_range(yielded, block->getTerminator()->getOperands());
  blocks.front()->getTerminator()->setOperands(yielded);
}

LogicalResult RoleFuser::fuseLoops(ArrayRef<Operation *> ops) {
  auto first = cast<scf::ForOp>(ops.front());
  Location loc = first.getLoc();
  // Bounds of all roles are there in front of the first one's loop.
  OpBuilder b(first);
  SmallVector<Value> initial;
  SmallVector<Block *> bodies;
  for (Operation *op : ops) {
    auto loop = cast<scf::ForOp>(op);
    expectEqual(b, loc, first.getLowerBound(), loop.getLowerBound());
    expectEqual(b, loc, first.getUpperBound(), loop.getUpperBound());
    expectEqual(b, loc, first.getStep(), loop.getStep());
    llvm::append_range(initial, loop.getInitArgs());
    bodies.push_back(loop.getBody());
  }
  if (failed(fuse(bodies)))
    return failure();
  yieldAll(bodies);
  auto fused =
      scf::ForOp::create(b, loc, first.getLowerBound(), first.getUpperBound(),
                         first.getStep(), initial);
  Block *body = fused.getBody();
  body->clear();
  body->getOperations().splice(body->end(), bodies.front()->getOperations());
  auto arguments = ValueRange(fused.getRegionIterArgs());
  for (Operation *op : ops) {
    auto loop = cast<scf::ForOp>(op);
    loop.getInductionVar().replaceAllUsesWith(fused.getInductionVar());
    for (Value argument : loop.getRegionIterArgs()) {
      argument.replaceAllUsesWith(arguments.front());
      arguments = arguments.drop_front();
    }
  }
  replaceAll(ops, fused.getResults());
  return success();
}

/// Gives `to` the ops of the first of these blocks, and what they have for
/// arguments in the place of all of theirs.
static void takeOps(Block *to, ArrayRef<Block *> from) {
  to->getOperations().splice(to->end(), from.front()->getOperations());
  auto arguments = ValueRange(to->getArguments());
  for (Block *block : from)
    for (Value argument : block->getArguments()) {
      argument.replaceAllUsesWith(arguments.front());
      arguments = arguments.drop_front();
    }
}

LogicalResult RoleFuser::fuseWhiles(ArrayRef<Operation *> ops) {
  auto first = cast<scf::WhileOp>(ops.front());
  Location loc = first.getLoc();
  SmallVector<Value> initial, passed;
  SmallVector<Type> types;
  SmallVector<Block *> before, after;
  for (Operation *op : ops) {
    auto loop = cast<scf::WhileOp>(op);
    llvm::append_range(initial, loop.getInits());
    llvm::append_range(types, loop.getResultTypes());
    before.push_back(loop.getBeforeBody());
    after.push_back(loop.getAfterBody());
  }
  if (failed(fuse(before)) || failed(fuse(after)))
    return failure();
  scf::ConditionOp condition = first.getConditionOp();
  OpBuilder b(condition);
  for (Operation *op : ops) {
    scf::ConditionOp other = cast<scf::WhileOp>(op).getConditionOp();
    expectEqual(b, loc, condition.getCondition(), other.getCondition());
    llvm::append_range(passed, other.getArgs());
  }
  condition.getArgsMutable().assign(passed);
  yieldAll(after);
  b.setInsertionPoint(first);
  auto fused = scf::WhileOp::create(b, loc, types, initial, nullptr, nullptr);
  takeOps(fused.getBeforeBody(), before);
  takeOps(fused.getAfterBody(), after);
  replaceAll(ops, fused.getResults());
  return success();
}

LogicalResult RoleFuser::fuseBranches(ArrayRef<Operation *> ops) {
  auto first = cast<scf::IfOp>(ops.front());
  OpBuilder b(first);
  SmallVector<Type> types;
  for (Operation *op : ops) {
    auto branch = cast<scf::IfOp>(op);
    if (branch.getElseRegion().empty() != first.getElseRegion().empty())
      return op->emitOpError() << "expects roles that meet in branches alike";
    expectEqual(b, first.getLoc(), first.getCondition(), branch.getCondition());
    llvm::append_range(types, branch.getResultTypes());
  }
  auto fused = scf::IfOp::create(b, first.getLoc(), types, first.getCondition(),
                                 /*addThenBlock=*/false,
                                 /*addElseBlock=*/false);
  for (unsigned i = 0, count = first->getNumRegions(); i < count; ++i) {
    SmallVector<Block *> blocks;
    for (Operation *op : ops)
      if (!op->getRegion(i).empty())
        blocks.push_back(&op->getRegion(i).front());
    if (blocks.empty())
      continue;
    if (failed(fuse(blocks)))
      return failure();
    yieldAll(blocks);
    fused->getRegion(i).takeBody(first->getRegion(i));
  }
  replaceAll(ops, fused.getResults());
  return success();
}

LogicalResult attune::fuseRoles(Region &first, ArrayRef<Region *> others,
                                function_ref<void(OpBuilder &, Value)> expect) {
  SmallVector<Region *> programs{&first};
  llvm::append_range(programs, others);
  SmallVector<Block *> blocks;
  for (Region *program : programs)
    blocks.push_back(&program->front());
  return RoleFuser(programs, expect).fuse(blocks);
}
