// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Roles are in the order of the warps.

#include "attune/Dialect/Tile/IR/Warps.h"

using namespace mlir;
using namespace attune;
using namespace attune::tile;

std::optional<int64_t> tile::getWorkgroupWarps(gpu::GPUFuncOp kernel) {
  auto target = TargetAttr::lookup(kernel);
  std::optional<ArrayRef<int32_t>> block = kernel.getKnownBlockSize();
  if (!target || !block || (*block)[0] % target.getLanes() != 0 ||
      (*block)[1] != 1 || (*block)[2] != 1)
    return std::nullopt;
  return (*block)[0] / target.getLanes();
}

ArrayAttr tile::getRoles(gpu::GPUFuncOp kernel) {
  for (auto roles : kernel.getBody().getOps<SpecializeOp>())
    return roles.getRoles();
  if (auto planned =
          kernel->getAttrOfType<ArrayAttr>(TileDialect::kRolesAttrName))
    return planned;
  return ArrayAttr::get(kernel.getContext(), {});
}

RoleAttr tile::getRole(Operation *op) {
  auto roles = op->getParentOfType<SpecializeOp>();
  return roles ? roles.getRole(roles.getRoleOf(op)) : RoleAttr();
}

std::optional<WarpRange> tile::getWarps(Operation *op) {
  auto kernel = dyn_cast<gpu::GPUFuncOp>(op);
  if (!kernel)
    kernel = op->getParentOfType<gpu::GPUFuncOp>();
  std::optional<int64_t> all = getWorkgroupWarps(kernel);
  if (!all)
    return std::nullopt;
  RoleAttr own = getRole(op);
  WarpRange range{0, *all};
  int64_t first = 0;
  for (auto role : getRoles(kernel).getAsRange<RoleAttr>()) {
    if (own ? role == own : role.getThreads() == RoleThreads::All) {
      range = {first, role.getWarps()};
      break;
    }
    first += role.getWarps();
  }
  return range;
}

bool tile::crossesWarps(LayoutAttr layout, int64_t dim) {
  return llvm::any_of(layout.getWarps(), [dim](const Mode &mode) {
    return mode.dim == dim && mode.stride != 0;
  });
}
