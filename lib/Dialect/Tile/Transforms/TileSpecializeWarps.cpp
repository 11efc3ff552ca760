// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Splits a kernel into the warps that copy and those that compute. What several
// of them need of the kernel's control flow and arithmetic, each computes.

#include "RoleSlice.h"
#include "attune/Dialect/Tile/IR/Warps.h"
#include "attune/Dialect/Tile/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"

namespace attune::tile {
#define GEN_PASS_DEF_TILESPECIALIZEWARPSPASS
#include "attune/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace attune::tile

using namespace mlir;
using namespace attune;
using namespace attune::tile;

namespace {

struct TileSpecializeWarps
    : tile::impl::TileSpecializeWarpsPassBase<TileSpecializeWarps> {
  void runOnOperation() override;
};

/// Writes a producer's program: its puts of the consumer's region, the control
/// flow around them, and the arithmetic that they read.
class ProducerBuilder {
public:
  /// `isOwn` says which puts are the producer's.
  ProducerBuilder(Region &consumer, OpBuilder &builder,
                  function_ref<bool(PutOp)> isOwn)
      : consumer(consumer), b(builder), isOwn(isOwn) {}

  LogicalResult copyPuts(Block &from);

private:
  LogicalResult copyLoop(scf::ForOp loop);
  LogicalResult copyBranch(scf::IfOp branch);
  LogicalResult copyBlock(Block &from, Block *to);
  /// Makes the value available to the producer.
  LogicalResult require(Value value);

  Region &consumer;
  OpBuilder &b;
  function_ref<bool(PutOp)> isOwn;
  IRMapping mapping;
};

} // namespace

static bool holds(Operation &op, function_ref<bool(Operation *)> test) {
  return op
      .walk([&](Operation *inner) {
        return test(inner) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Whether an op computes numbers of others and of memory and does nothing
/// else, with control flow inside or without.
static bool isArithmetic(Operation *op) {
  return !op->walk([](Operation *inner) {
              return isa<memref::LoadOp>(inner) ||
                             inner->hasTrait<OpTrait::IsTerminator>() ||
                             inner->hasTrait<
                                 OpTrait::HasRecursiveMemoryEffects>() ||
                             isMemoryEffectFree(inner)
                         ? WalkResult::advance()
                         : WalkResult::interrupt();
            }).wasInterrupted();
}

LogicalResult ProducerBuilder::require(Value value) {
  Operation *op = value.getDefiningOp();
  if (mapping.contains(value) || !consumer.isAncestor(value.getParentRegion()))
    return success();
  if (!op || !isArithmetic(op))
    return emitError(value.getLoc())
           << "expects what a put reads to be computed by arithmetic, but got "
           << value;
  SetVector<Value> operands(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op->getRegions(), operands);
  for (Value operand : operands)
    if (failed(require(operand)))
      return failure();
  b.clone(*op, mapping);
  return success();
}

LogicalResult ProducerBuilder::copyBlock(Block &from, Block *to) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(to->getTerminator());
  // What is computed in there is not seen outside.
  IRMapping outside = mapping;
  LogicalResult copied = copyPuts(from);
  mapping = outside;
  return copied;
}

LogicalResult ProducerBuilder::copyLoop(scf::ForOp loop) {
  for (Value bound :
       {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()})
    if (failed(require(bound)))
      return failure();
  // Of what the loop carries, counts are the producer's business too.
  SmallVector<unsigned> counts;
  SmallVector<Value> initial;
  for (auto [i, value] : llvm::enumerate(loop.getInitArgs()))
    if (value.getType().isIndex()) {
      if (failed(require(value)))
        return failure();
      counts.push_back(i);
      initial.push_back(mapping.lookupOrDefault(value));
    }
  auto copy = scf::ForOp::create(
      b, loop.getLoc(), mapping.lookupOrDefault(loop.getLowerBound()),
      mapping.lookupOrDefault(loop.getUpperBound()),
      mapping.lookupOrDefault(loop.getStep()), initial);
  copy->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  mapping.map(loop.getInductionVar(), copy.getInductionVar());
  for (auto [i, argument] : llvm::zip_equal(counts, copy.getRegionIterArgs()))
    mapping.map(loop.getRegionIterArg(i), argument);
  if (counts.empty())
    return copyBlock(*loop.getBody(), copy.getBody());
  OpBuilder::InsertionGuard guard(b);
  IRMapping outside = mapping;
  b.setInsertionPointToStart(copy.getBody());
  if (failed(copyPuts(*loop.getBody())))
    return failure();
  SmallVector<Value> yielded;
  for (unsigned i : counts) {
    Value value = loop.getYieldedValues()[i];
    if (failed(require(value)))
      return failure();
    yielded.push_back(mapping.lookupOrDefault(value));
  }
  scf::YieldOp::create(b, loop.getLoc(), yielded);
  mapping = outside;
  return success();
}

LogicalResult ProducerBuilder::copyBranch(scf::IfOp branch) {
  if (failed(require(branch.getCondition())))
    return failure();
  auto copy = scf::IfOp::create(
      b, branch.getLoc(), mapping.lookupOrDefault(branch.getCondition()),
      /*withElseRegion=*/branch.elseBlock() != nullptr);
  if (failed(copyBlock(*branch.thenBlock(), copy.thenBlock())))
    return failure();
  return branch.elseBlock() ? copyBlock(*branch.elseBlock(), copy.elseBlock())
                            : success();
}

LogicalResult ProducerBuilder::copyPuts(Block &from) {
  for (Operation &op : from) {
    if (!holds(op, [&](Operation *inner) {
          auto put = dyn_cast<PutOp>(inner);
          return put && isOwn(put);
        }))
      continue;
    LogicalResult copied = success();
    if (auto put = dyn_cast<PutOp>(op)) {
      for (Value operand : put->getOperands())
        if (failed(require(operand)))
          return failure();
      b.clone(op, mapping);
    } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
      copied = copyLoop(loop);
    } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
      copied = copyBranch(branch);
    } else {
      return op.emitOpError()
             << "expects puts in loops and branches alone, but got one in this";
    }
    if (failed(copied))
      return failure();
  }
  return success();
}

/// That this pass can carry out the plan.
static LogicalResult checkPlan(gpu::GPUFuncOp kernel,
                               ArrayRef<RoleAttr> roles) {
  auto hasRoleOf = [&](RoleThreads threads) {
    return llvm::any_of(
        roles, [&](RoleAttr role) { return role.getThreads() == threads; });
  };
  if (hasRoleOf(RoleThreads::All) && hasRoleOf(RoleThreads::One))
    return success();
  return emitError(kernel.getLoc())
         << "expects a role of which all threads run the program, and one of "
            "which one thread does, in '"
         << TileDialect::kRolesAttrName << "'";
}

/// The role that an op names; nothing where it names none, or cannot.
static std::optional<StringRef> getNamedRole(Operation *op) {
  return llvm::TypeSwitch<Operation *, std::optional<StringRef>>(op)
      .Case<PutOp, PutTileOp, RestageOp, StoreOp, StoreAsyncOp, OrderedOp>(
          [](auto own) { return own.getRole(); })
      .Default([](Operation *) { return std::nullopt; });
}

/// That each op names a role that can run it, or none.
static LogicalResult checkNames(Region &body, ArrayAttr roles) {
  WalkResult result = body.walk([&](Operation *op) {
    std::optional<StringRef> name = getNamedRole(op);
    bool isCopy = isa<PutOp, StoreAsyncOp, OrderedOp>(op);
    RoleThreads threads = isCopy ? RoleThreads::One : RoleThreads::All;
    if (!name || findRole(roles, *name, threads))
      return WalkResult::advance();
    op->emitOpError() << "expects a role of which "
                      << (isCopy ? "one thread runs" : "all threads run")
                      << " the program, but got '" << *name << "'";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

/// Gives each role of one thread its puts of the whole program.
static LogicalResult copyPuts(SpecializeOp specialize, Region &whole) {
  SmallVector<RoleAttr> roles(specialize.getRoles().getAsRange<RoleAttr>());
  const auto *issuer = llvm::find_if(roles, [](RoleAttr role) {
    return role.getThreads() == RoleThreads::One;
  });
  OpBuilder b(specialize);
  for (auto [role, program] :
       llvm::zip_equal(roles, specialize.getPrograms())) {
    if (role.getThreads() == RoleThreads::All)
      continue;
    auto isOwn = [&, role = role](PutOp put) {
      return put.getRole().value_or(issuer->getName()) == role.getName();
    };
    b.setInsertionPointToStart(&program.front());
    if (failed(ProducerBuilder(whole, b, isOwn).copyPuts(whole.front())))
      return failure();
  }
  SmallVector<PutOp> puts;
  whole.walk([&](PutOp put) { puts.push_back(put); });
  for (PutOp put : puts)
    put.erase();
  return success();
}

/// Gives each role of all threads what is its own of the whole program, which
/// the first one of them has, and to one of one thread what names it and is no
/// put.
static void divide(SpecializeOp specialize, Region &whole) {
  llvm::StringSet<> named;
  whole.walk([&](Operation *op) {
    if (!isa<StoreAsyncOp, OrderedOp>(op))
      return;
    if (std::optional<StringRef> name = getNamedRole(op))
      named.insert(*name);
  });
  SmallVector<std::pair<RoleAttr, Region *>> dividing;
  for (auto [i, program] : llvm::enumerate(specialize.getPrograms()))
    if (RoleAttr role = specialize.getRole(i);
        role.getThreads() == RoleThreads::All || named.contains(role.getName()))
      dividing.emplace_back(role, &program);
  if (dividing.size() == 1)
    return;
  for (auto [role, program] : dividing) {
    if (program == &whole)
      continue;
    program->getBlocks().clear();
    IRMapping mapping;
    whole.cloneInto(program, mapping);
  }
  const auto *found = llvm::find_if(dividing, [](auto &each) {
    return each.first.getThreads() == RoleThreads::All;
  });
  StringRef first = found->first.getName();
  for (auto [role, program] : dividing)
    keepSlice(*program, [&, role = role](Operation *op) {
      return getNamedRole(op).value_or(first) == role.getName();
    });
}

void TileSpecializeWarps::runOnOperation() {
  gpu::GPUFuncOp kernel = getOperation();
  auto plan = dyn_cast_or_null<ArrayAttr>(
      kernel->removeAttr(TileDialect::kRolesAttrName));
  if (!plan)
    return;
  auto roles = llvm::to_vector(plan.getAsRange<RoleAttr>());
  if (failed(checkPlan(kernel, roles)) ||
      failed(checkNames(kernel.getBody(), plan)))
    return signalPassFailure();
  Block &body = kernel.getBody().front();
  SmallVector<ChannelOp> channels(body.getOps<ChannelOp>());
  for (ChannelOp channel : llvm::reverse(channels))
    channel->moveBefore(&body, body.begin());
  // Everything from the first use of a channel on is of one of the roles.
  auto usesChannel = [](Operation *op) {
    return isa<PutOp, PutTileOp, GetOp>(op);
  };
  auto first = llvm::find_if(body.getOperations(), [&](Operation &op) {
    return holds(op, usesChannel);
  });
  if (first == body.end())
    return;

  OpBuilder b(&*first);
  auto specialize =
      SpecializeOp::create(b, kernel.getLoc(), plan, roles.size());
  for (Region &program : specialize.getPrograms())
    b.createBlock(&program);
  const auto *computing = llvm::find_if(roles, [](RoleAttr role) {
    return role.getThreads() == RoleThreads::All;
  });
  Region &whole = specialize.getPrograms()[computing - roles.begin()];
  whole.front().getOperations().splice(
      whole.front().end(), body.getOperations(),
      std::next(specialize->getIterator()), std::prev(body.end()));
  if (failed(copyPuts(specialize, whole)))
    return signalPassFailure();
  divide(specialize, whole);
}
