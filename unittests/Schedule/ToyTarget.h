// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A chip that does not exist, with limits that tests of legality move.

#ifndef ATTUNE_UNITTESTS_SCHEDULE_TOYTARGET_H
#define ATTUNE_UNITTESTS_SCHEDULE_TOYTARGET_H

#include "attune/Dialect/Tile/IR/Tile.h"

namespace attune {

/// 4 lanes, 2x2x2 instructions, small limits.
struct Limits {
  int64_t shared = 1 << 20;
  int64_t sharedPerSm = 1 << 20;
  int64_t registers = 1 << 16;
  int64_t registersPerSm = 1 << 20;
  int64_t maxThreads = 1024;
  int64_t maxThreadsPerSm = 1024;
  int64_t rows = 2, columns = 2, depth = 2;
  /// Whether four warps too can multiply, 64x2x2 in rows of 128 bytes.
  bool groups = false;
  /// Whether the chip says what these may take.
  bool groupLimits = true;
};

inline Limits withGroups() {
  Limits limits;
  limits.groups = true;
  return limits;
}

inline tile::WarpgroupsAttr makeToyWarpgroups(mlir::MLIRContext *context) {
  return tile::WarpgroupsAttr::get(
      context, /*mostRegisters=*/256, /*producerRegisters=*/24,
      /*persistentProducerRegisters=*/32, /*mostColumns=*/256,
      /*besideMultiply=*/32, /*fewestRegisters=*/80);
}

inline tile::MmaAtomAttr makeToyAtom(mlir::MLIRContext *context,
                                     const Limits &limits) {
  auto half = mlir::Float16Type::get(context);
  auto layout = [&](int64_t rows, int64_t columns) {
    return tile::LayoutAttr::getNormal(context,
                                       {{rows / 2, 0, 2}, {columns / 2, 1, 2}},
                                       {{2, 0, 1}, {2, 1, 1}}, {});
  };
  return tile::MmaAtomAttr::get(
      context, "toy", limits.rows, limits.columns, limits.depth, half, half,
      mlir::Float32Type::get(context), layout(limits.rows, limits.depth),
      layout(limits.depth, limits.columns), layout(limits.rows, limits.columns),
      /*transposes=*/false, /*unitExponents=*/{});
}

inline tile::MmaAtomAttr makeToyGroupAtom(mlir::MLIRContext *context) {
  auto half = mlir::Float16Type::get(context);
  auto rows = tile::LayoutAttr::getNormal(context, {{8, 0, 2}},
                                          {{2, 0, 1}, {2, 1, 1}}, {{4, 0, 16}});
  auto all = tile::LayoutAttr::getNormal(context, {}, {{2, 0, 1}, {2, 1, 1}},
                                         {{4, 0, 0}});
  return tile::MmaAtomAttr::get(
      context, "group", 64, 2, 2, half, half, mlir::Float32Type::get(context),
      rows, all, rows, /*transposes=*/false, /*unitExponents=*/{});
}

inline tile::TargetAttr makeToyTarget(mlir::MLIRContext *context,
                                      const Limits &limits) {
  llvm::SmallVector<tile::MmaAtomAttr> atoms{makeToyAtom(context, limits)};
  if (limits.groups)
    atoms.push_back(makeToyGroupAtom(context));
  return tile::TargetAttr::get(
      context, "toy", "Toy", /*lanes=*/4, /*sms=*/1, limits.shared,
      limits.sharedPerSm, limits.registers, limits.registersPerSm,
      limits.maxThreads, limits.maxThreadsPerSm, tile::CopySync::None, {},
      /*tmaBoxBytes=*/limits.groups ? 128 : 0, /*tmaBoxAlignment=*/16,
      /*schedulers=*/4, /*registerStep=*/8,
      limits.groups && limits.groupLimits ? makeToyWarpgroups(context)
                                          : tile::WarpgroupsAttr(),
      /*cache=*/0, /*caches=*/1, tile::RatesAttr::getDefault(context), atoms);
}

} // namespace attune

#endif // ATTUNE_UNITTESTS_SCHEDULE_TOYTARGET_H
