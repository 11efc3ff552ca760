// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arithmetic from lanes to coordinates.

#include "KernelContext.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include <numeric>

using namespace mlir;
using namespace attune;
using tile::LayoutAttr;
using tile::Mode;

KernelContext KernelContext::get(gpu::GPUFuncOp kernel, tile::TargetAttr target,
                                 const TargetModel *model) {
  KernelContext context{target, model, (*kernel.getKnownBlockSize())[0], {}};
  for (auto roles : kernel.getBody().getOps<tile::SpecializeOp>())
    llvm::append_range(context.roles,
                       roles.getRoles().getAsRange<tile::RoleAttr>());
  for (int32_t size :
       kernel.getKnownClusterSize().value_or(ArrayRef<int32_t>()))
    context.cluster *= size;
  context.warpgroupWarps = target.getWarpgroupWarps();
  context.storesAsync =
      kernel->walk([](tile::StoreAsyncOp) { return WalkResult::interrupt(); })
          .wasInterrupted();
  return context;
}

tile::WarpRange KernelContext::getWarps(Operation *op) const {
  return getWarps(tile::getRole(op));
}

tile::WarpRange KernelContext::getWarps(OpBuilder &builder) const {
  Region *region = builder.getInsertionBlock()->getParent();
  auto specialize = dyn_cast<tile::SpecializeOp>(region->getParentOp());
  return specialize ? getWarps(specialize.getRole(region->getRegionNumber()))
                    : getWarps(region->getParentOp());
}

tile::WarpRange KernelContext::getWarps(tile::RoleAttr own) const {
  tile::WarpRange range{0, threads / target.getLanes()};
  if (roles.empty())
    return range;
  int64_t first = 0;
  for (tile::RoleAttr role : roles) {
    if (own ? role == own : role.getThreads() == tile::RoleThreads::All)
      return tile::WarpRange::get(first, role);
    first += role.getWarps();
  }
  return range;
}

bool attune::isOfOneThread(Operation *op) {
  tile::RoleAttr role = tile::getRole(op);
  return role && role.getThreads() == tile::RoleThreads::One;
}

int64_t KernelContext::countArrivals(ArrayRef<Operation *> ops) const {
  int64_t count = 0;
  llvm::SmallPtrSet<Attribute, 4> counted;
  for (Operation *op : ops)
    if (counted.insert(tile::getRole(op)).second) {
      tile::WarpRange warps = getWarps(op);
      if (isOfOneThread(op))
        ++count;
      else
        count += warps.count * (tile::isOfOneTeam(op) ? 1 : warps.teams);
    }
  // A barrier that nobody comes to is one all the same.
  return std::max<int64_t>(count, 1);
}

int64_t KernelContext::countWarpgroups() const {
  if (roles.empty())
    return countWarpgroups(tile::WarpRange{0, threads / target.getLanes()});
  return countWarpgroupsBefore({threads / target.getLanes(), 0});
}

int64_t KernelContext::countWarpgroupsBefore(tile::WarpRange warps) const {
  int64_t first = 0, count = 0;
  for (tile::RoleAttr role : roles) {
    if (first >= warps.first)
      break;
    if (role.getThreads() == tile::RoleThreads::All)
      count +=
          role.getTeams() * countWarpgroups(tile::WarpRange::get(first, role));
    first += role.getWarps();
  }
  return count;
}

Value attune::constant(OpBuilder &b, Location loc, int64_t value) {
  return arith::ConstantIndexOp::create(b, loc, value);
}

Value attune::laneNumber(OpBuilder &b, Location loc,
                         const KernelContext &context) {
  Value thread = gpu::ThreadIdOp::create(b, loc, gpu::Dimension::x);
  return b.createOrFold<arith::RemUIOp>(
      loc, thread, constant(b, loc, context.target.getLanes()));
}

Value attune::warpNumber(OpBuilder &b, Location loc,
                         const KernelContext &context) {
  Value thread = gpu::ThreadIdOp::create(b, loc, gpu::Dimension::x);
  Value warp = b.createOrFold<arith::DivUIOp>(
      loc, thread, constant(b, loc, context.target.getLanes()));
  auto [first, count, teams] = context.getWarps(b);
  if (first)
    warp = b.createOrFold<arith::SubIOp>(loc, warp, constant(b, loc, first));
  return teams > 1 ? b.createOrFold<arith::RemUIOp>(loc, warp,
                                                    constant(b, loc, count))
                   : warp;
}

/// Adds the digits of `number` that move along `dim`, each times its stride.
static Value sumOfDigits(OpBuilder &b, Location loc,
                         function_ref<Value()> number, ArrayRef<Mode> modes,
                         int64_t dim, Value sum) {
  int64_t below = 1;
  for (auto [i, mode] : llvm::enumerate(modes)) {
    if (mode.dim == dim && mode.stride != 0) {
      Value digit = number();
      if (below != 1)
        digit =
            b.createOrFold<arith::DivUIOp>(loc, digit, constant(b, loc, below));
      if (i + 1 != modes.size())
        digit = b.createOrFold<arith::RemUIOp>(loc, digit,
                                               constant(b, loc, mode.extent));
      Value step = b.createOrFold<arith::MulIOp>(loc, digit,
                                                 constant(b, loc, mode.stride));
      sum = sum ? b.createOrFold<arith::AddIOp>(loc, sum, step) : step;
    }
    below *= mode.extent;
  }
  return sum;
}

Value attune::laneCoordinate(OpBuilder &b, Location loc,
                             const KernelContext &context, LayoutAttr layout,
                             int64_t dim) {
  Value sum = sumOfDigits(
      b, loc, [&] { return laneNumber(b, loc, context); }, layout.getLanes(),
      dim, Value());
  return sumOfDigits(
      b, loc, [&] { return warpNumber(b, loc, context); }, layout.getWarps(),
      dim, sum);
}

VectorType attune::laneVectorType(tile::TileType type) {
  return VectorType::get(type.getRegisterLayout().getNumRegisters(),
                         type.getElementType());
}

Value attune::shuffleElement(OpBuilder &b, Location loc, Value element,
                             Value number, Value width, gpu::ShuffleMode mode) {
  Type type = element.getType();
  unsigned bits = type.getIntOrFloatBitWidth();
  // Shuffles move whole registers.
  Type word = b.getIntegerType(bits);
  element = arith::BitcastOp::create(b, loc, word, element);
  if (bits == 16)
    element = arith::ExtUIOp::create(b, loc, b.getI32Type(), element);
  element = gpu::ShuffleOp::create(b, loc, element, number, width, mode)
                .getShuffleResult();
  if (bits == 16)
    element = arith::TruncIOp::create(b, loc, word, element);
  return arith::BitcastOp::create(b, loc, type, element);
}

int64_t attune::knownDivisor(Value index) {
  constexpr int64_t kNothing = 1;
  if (std::optional<int64_t> value = getConstantIntValue(index))
    return std::abs(*value);
  if (auto product = index.getDefiningOp<arith::MulIOp>())
    return knownDivisor(product.getLhs()) * knownDivisor(product.getRhs());
  if (auto sum = index.getDefiningOp<arith::AddIOp>())
    return std::gcd(knownDivisor(sum.getLhs()), knownDivisor(sum.getRhs()));
  if (auto argument = dyn_cast<BlockArgument>(index))
    if (auto loop =
            dyn_cast_or_null<scf::ForOp>(argument.getOwner()->getParentOp()))
      if (argument == loop.getInductionVar())
        return std::gcd(knownDivisor(loop.getLowerBound()),
                        knownDivisor(loop.getStep()));
  return kNothing;
}

bool attune::fitsInto(int64_t extent, int64_t size, Value first) {
  if (ShapedType::isDynamic(size))
    return false;
  std::optional<int64_t> start = getConstantIntValue(first);
  return start && *start >= 0 && *start + extent <= size;
}
