// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What warps must be that have programs of their own, or go by turns.

#include "KernelChecks.h"
#include "attune/Target/WarpRoles.h"

using namespace mlir;
using namespace attune;

LogicalResult attune::checkPart(Operation *op, const KernelContext &context,
                                const void *part, StringRef what) {
  if (part)
    return success();
  return op->emitOpError() << "expects a target with " << what << ", but got '"
                           << context.target.getChip() << "'";
}

LogicalResult attune::checkBarriers(Operation *op,
                                    const KernelContext &context) {
  return checkPart(op, context, context.model->getBarriers(),
                   "barriers in shared memory");
}

/// That the chip gives its roles what they ask for.
static LogicalResult checkRegisters(tile::SpecializeOp op,
                                    std::optional<RegisterLimits> limits,
                                    const KernelContext &context) {
  StringRef chip = context.target.getChip();
  for (auto [i, role] :
       llvm::enumerate(op.getRoles().getAsRange<tile::RoleAttr>())) {
    int64_t registers = role.getRegisters();
    if (!registers)
      continue;
    if (!limits)
      return op.emitOpError() << "expects roles without registers on '" << chip
                              << "', which exchanges none, but got " << role;
    if (registers % limits->step != 0 || registers < limits->fewest ||
        registers > limits->most)
      return op.emitOpError() << "expects registers of a role on '" << chip
                              << "' in multiples of " << limits->step
                              << " from " << limits->fewest << " to "
                              << limits->most << ", but got " << role;
    int64_t first = op.getFirstWarp(i);
    // Neighbours may ask for as many together.
    auto isWhole = [&, ofRole = registers](int64_t warp, size_t neighbour) {
      return warp % limits->warps == 0 ||
             (neighbour < op.getRoles().size() &&
              op.getRole(neighbour).getRegisters() == ofRole);
    };
    if (!isWhole(first, i - 1) || !isWhole(first + role.getWarps(), i + 1))
      return op.emitOpError()
             << "expects roles of which each " << limits->warps
             << " warps ask for registers together on '" << chip
             << "', but got " << role << " from warp " << first;
  }
  return success();
}

LogicalResult attune::checkRoles(tile::SpecializeOp op,
                                 const KernelContext &context) {
  const WarpRoles *model = context.model->getWarpRoles();
  if (failed(checkPart(op, context, model, "roles of warps")))
    return failure();
  if (failed(checkRegisters(op, model->getRegisterLimits(), context)))
    return failure();
  int64_t wanted = op.getFirstWarp(op.getRoles().size()),
          there = context.threads / context.target.getLanes();
  if (wanted != there)
    return op.emitOpError() << "expects a workgroup of the " << wanted
                            << " warps of all roles, but got " << there;
  return success();
}

LogicalResult attune::checkPingPong(Operation *op, uint64_t groups,
                                    const KernelContext &context) {
  // Without barriers of their own, two halves meet where all threads do.
  bool isOfHalves = !context.model->getBarriers() &&
                    context.model->schedulesMmas() && groups == 2;
  if (!isOfHalves && failed(checkBarriers(op, context)))
    return failure();
  auto warps = static_cast<uint64_t>(context.getWarps(op).getAll()),
       teams = static_cast<uint64_t>(context.getWarps(op).teams);
  if (warps % groups != 0)
    return op->emitOpError() << "expects groups of as many warps each, but got "
                             << groups << " of " << warps;
  if (teams == 1 || teams == groups)
    return success();
  return op->emitOpError() << "expects as many groups as the role has teams, "
                           << teams << ", but got " << groups;
}

/// One thread assigns, and all other roles learn of it.
LogicalResult attune::checkScheduler(Operation *op, Value scheduler,
                                     const KernelContext &context) {
  if (failed(checkBarriers(op, context)))
    return failure();
  if (!scheduler.getDefiningOp<tile::SchedulerOp>())
    return op->emitOpError()
           << "expects a tile scheduler that 'tile.scheduler' makes";
  bool ofOne = isa<tile::FetchWorkOp>(op);
  if (ofOne ? !isOfOneThread(op) : !tile::getRole(op))
    return op->emitOpError()
           << "expects to stand in a role"
           << (ofOne ? " of which one thread runs the program" : "");
  return success();
}

/// Chips without barriers of a part of the warps have no roles.
LogicalResult attune::checkBarrier(tile::BarrierOp op,
                                   const KernelContext &context) {
  if (isOfOneThread(op))
    return op.emitOpError() << "expects to stand in a role of which all "
                               "threads run the program";
  return tile::getRole(op) ? checkBarriers(op, context) : success();
}

/// The warps meet in it, or one thread waits for its own copies.
LogicalResult attune::checkOrdered(tile::OrderedOp op) {
  if (isOfOneThread(op))
    return success();
  for (auto store : op.getBody().getOps<tile::StoreAsyncOp>())
    return store.emitOpError() << "expects to stand in a role of which one "
                                  "thread runs the program, for it is in "
                                  "'tile.ordered'";
  return success();
}

/// All threads of the role come to it together.
LogicalResult attune::checkJoin(tile::JoinOp op, const KernelContext &context) {
  if (failed(checkPlace(op, op.getOffset())))
    return failure();
  tile::RoleAttr role = tile::getRole(op);
  if (!role)
    return success();
  if (role.getThreads() == tile::RoleThreads::One)
    return op.emitOpError() << "expects to stand in a role of which all "
                               "threads run the program";
  if (int64_t teams = context.getWarps(op).teams; teams > 1)
    return op.emitOpError() << "expects to stand in a role of one team, but "
                               "got one of "
                            << teams;
  return checkBarriers(op, context);
}
