// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Registration of the tile dialect, and what its attributes on ops of others
// must be.

#include "attune/Dialect/Tile/IR/Tile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace attune::tile;

#include "attune/Dialect/Tile/IR/TileDialect.cpp.inc"

void TileDialect::initialize() {
  registerAttributes();
  registerTypes();
  addOperations<
#define GET_OP_LIST
#include "attune/Dialect/Tile/IR/TileOps.cpp.inc"
      >();
}

static bool isRoleArray(Attribute value) {
  auto roles = dyn_cast<ArrayAttr>(value);
  return roles && !roles.empty() && llvm::all_of(roles, [](Attribute role) {
           return isa<RoleAttr>(role);
         });
}

/// Whether it is an i64 of at least `least`.
static bool isNumber(Attribute value, int64_t least) {
  auto number = dyn_cast<IntegerAttr>(value);
  return number && number.getType().isInteger(64) && number.getInt() >= least;
}

static bool isPositive(Attribute value) { return isNumber(value, 1); }

namespace {
/// What an attribute of ours on an op of another dialect must be.
struct AttrRule {
  StringRef name;
  bool (*isOwner)(Operation *);
  StringRef owner;
  bool (*isValue)(Attribute);
  StringRef value;
};
} // namespace

LogicalResult TileDialect::verifyOperationAttribute(Operation *op,
                                                    NamedAttribute attr) {
  auto isKernel = [](Operation *owner) { return isa<gpu::GPUFuncOp>(owner); };
  auto isLoop = [](Operation *owner) { return isa<scf::ForOp>(owner); };
  auto isMma = [](Operation *owner) { return isa<MmaOp, MmaAsyncOp>(owner); };
  auto isAny = [](Operation *) { return true; };
  auto isUnit = [](Attribute value) { return isa<UnitAttr>(value); };
  const StringRef kMmas = "'tile.mma' or 'tile.mma_async'";
  const AttrRule rules[] = {
      {kTargetAttrName, isAny, "an op",
       [](Attribute value) { return isa<TargetAttr>(value); },
       "a #tile.target"},
      {kRolesAttrName, isKernel, "'gpu.func'", isRoleArray,
       "an array of #tile.role"},
      {kResidencyAttrName, isKernel, "'gpu.func'", isPositive,
       "a positive i64"},
      {kKeepCountersAttrName, isKernel, "'gpu.func'", isUnit, "a unit"},
      {kAssemblerAttrName, isKernel, "'gpu.func'",
       [](Attribute value) {
         auto name = dyn_cast<StringAttr>(value);
         return name && (name == "sparing" || name == "plain");
       },
       "\"sparing\" or \"plain\""},
      {kSharedBytesAttrName, isKernel, "'gpu.func'",
       [](Attribute value) { return isNumber(value, 0); },
       "an i64 of at least 0"},
      // Conversions of math.exp2 keep it.
      {kFmaShareAttrName, isAny, "an op",
       [](Attribute value) {
         return isPositive(value) && cast<IntegerAttr>(value).getInt() <= 16;
       },
       "an i64 from 1 to 16"},
      // Conversions of arith.truncf keep it, too.
      {kLooseRoundingAttrName, isAny, "an op", isUnit, "a unit"},
      {kOverlapAttrName, isLoop, "'scf.for'",
       [](Attribute value) { return isa<OverlapAttr>(value); },
       "an #tile.overlap"},
      {kChainAttrName, isLoop, "'scf.for'", isUnit, "a unit"},
      {kDeferWaitsAttrName, isLoop, "'scf.for'", isUnit, "a unit"},
      {kIssueAheadAttrName, isLoop, "'scf.for'", isUnit, "a unit"},
      {kIssueLateAttrName, isLoop, "'scf.for'", isPositive, "a positive i64"},
      {kPingPongAttrName, isLoop, "'scf.for'", isUnit, "a unit"},
      {kRaisePriorityAttrName, isMma, kMmas, isUnit, "a unit"},
      {kIssueGroupsAttrName, isMma, kMmas, isUnit, "a unit"},
      {kTakeTurnsAttrName, isLoop, "'scf.for'", isUnit, "a unit"},
      {kSplitAttrName, isLoop, "'scf.for'", isUnit, "a unit"},
      {kUnrollAttrName, isLoop, "'scf.for'", isPositive, "a positive i64"},
      {kDynamicAttrName, isLoop, "'scf.for'", isUnit, "a unit"},
  };
  for (const AttrRule &rule : rules) {
    if (attr.getName() != rule.name)
      continue;
    if (!rule.isOwner(op))
      return op->emitOpError() << "expects '" << rule.name << "' on "
                               << rule.owner << ", but got it on this";
    if (!rule.isValue(attr.getValue()))
      return op->emitOpError() << "expects '" << rule.name << "' to be "
                               << rule.value << ", but got " << attr.getValue();
  }
  return success();
}

LogicalResult TileDialect::verifyRegionArgAttribute(Operation *op,
                                                    unsigned region,
                                                    unsigned number,
                                                    NamedAttribute attr) {
  bool isDivisor = attr.getName() == kDivisorAttrName;
  if (!isDivisor && attr.getName() != kWorkCounterAttrName)
    return success();
  StringRef name = attr.getName().getValue();
  auto kernel = dyn_cast<gpu::GPUFuncOp>(op);
  if (!kernel)
    return op->emitOpError() << "expects '" << name
                             << "' on an argument of 'gpu.func', but got it on "
                                "one of this";
  Type type = kernel.getArgumentTypes()[number];
  auto counter =
      MemRefType::get({1}, IntegerType::get(op->getContext(), /*width=*/32));
  if (isDivisor ? !isa<MemRefType>(type) : type != counter)
    return op->emitOpError()
           << "expects '" << name << "' on an argument "
           << (isDivisor ? "that is a memref" : "of type 'memref<1xi32>'")
           << ", but got it on " << type;
  if (isDivisor ? !isPositive(attr.getValue())
                : !isa<UnitAttr>(attr.getValue()))
    return op->emitOpError() << "expects '" << name << "' to be "
                             << (isDivisor ? "a positive i64" : "a unit")
                             << ", but got " << attr.getValue();
  return success();
}
