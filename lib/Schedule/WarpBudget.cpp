// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How registers are divided.

#include "attune/Schedule/WarpBudget.h"
#include "llvm/Support/MathExtras.h"

using namespace attune;
using tile::TargetAttr;

/// Each scheduler of an SM has its share of the registers, and warps are
/// assigned to them one by one: one with more warps than the others has fewer
/// registers for each, and the assembler gives all threads what fits there.
int64_t WarpBudget::getRegistersAtEntry(TargetAttr target) const {
  int64_t warps = workgroups * (computing + producing);
  int64_t threads =
      llvm::alignTo(warps, target.getSchedulers()) * target.getLanes();
  return std::min(
      target.getRegisters(),
      static_cast<int64_t>(llvm::alignDown(target.getRegistersPerSm() / threads,
                                           target.getRegisterStep())));
}

std::optional<RoleRegisters>
WarpBudget::getRoleRegisters(TargetAttr target) const {
  tile::WarpgroupsAttr warpgroups = target.getWarpgroups();
  if (!warpgroups || !producing || producing % together != 0)
    return std::nullopt;
  // Roles divide what the workgroup started with. A warpgroup that asks for
  // more waits for ever, though the SM may have it.
  int64_t all = getRegistersAtEntry(target) * getThreads(target);
  int64_t consumers = computing * target.getLanes() - getScoreThreads(target),
          producers = producing * target.getLanes();
  all -= getScoreThreads(target) * ofScores;
  auto share = [&](int64_t registers, int64_t threads) {
    return std::min(static_cast<int64_t>(llvm::alignDown(
                        registers / threads, target.getRegisterStep())),
                    warpgroups.getMostRegisters());
  };
  int64_t least = std::max(
      ofLoading, isPersistent ? warpgroups.getPersistentProducerRegisters()
                              : warpgroups.getProducerRegisters());
  int64_t consumer = share(all - producers * least, consumers);
  if (restaging) {
    int64_t wanted =
        std::max(ofRestaging, warpgroups.getPersistentProducerRegisters());
    int64_t fewer = share(all - producers * wanted, consumers);
    if (needed <= fewer || ofRestaging)
      consumer = fewer;
  }
  // What is too little for another step of the consumers is the producer's.
  return RoleRegisters{share(all - consumers * consumer, producers), consumer};
}

int64_t WarpBudget::getRegisterLimit(TargetAttr target) const {
  if (std::optional<RoleRegisters> roles = getRoleRegisters(target))
    return std::min(target.getRegisters(), roles->consumer);
  return getRegistersAtEntry(target);
}

void WarpBudget::mark(mlir::Operation *kernel, TargetAttr target) const {
  using Tile = tile::TileDialect;
  mlir::Builder b(kernel->getContext());
  kernel->setAttr(Tile::kResidencyAttrName, b.getI64IntegerAttr(workgroups));
  if (keepsCounters)
    kernel->setAttr(Tile::kKeepCountersAttrName, b.getUnitAttr());
  if (assembler != schedule::Assembler::Thorough)
    kernel->setAttr(Tile::kAssemblerAttrName,
                    b.getStringAttr(schedule::stringifyAssembler(assembler)));
  if (!producing)
    return;
  RoleRegisters registers =
      getRoleRegisters(target).value_or(RoleRegisters{0, 0});
  auto makeRole = [&](llvm::StringRef name, int64_t warps, int64_t count,
                      tile::RoleThreads threads,
                      int64_t ofRole) -> mlir::Attribute {
    return tile::RoleAttr::get(b.getContext(), name, warps, count, threads,
                               ofRole);
  };
  llvm::SmallVector<mlir::Attribute> all;
  for (int64_t i = 0; i < roles; ++i)
    all.push_back(makeRole(getRoleName(i), computing / roles,
                           roles > 1 && i == 0 ? ofScores : registers.consumer,
                           tile::RoleThreads::All, teams));
  int64_t storing = stores ? producing / 2 : 0,
          loading = producing - restaging - storing;
  if (restaging)
    all.push_back(makeRole("restage", restaging, registers.producer,
                           tile::RoleThreads::All, /*ofRole=*/1));
  all.push_back(makeRole("load", loading, registers.producer,
                         tile::RoleThreads::One, /*ofRole=*/1));
  if (storing)
    all.push_back(makeRole(kStoringRole, storing, registers.producer,
                           tile::RoleThreads::One, /*ofRole=*/1));
  kernel->setAttr(Tile::kRolesAttrName, b.getArrayAttr(all));
}

std::string WarpBudget::getRoleName(int64_t number) {
  return number ? "compute" + std::to_string(number) : "compute";
}
