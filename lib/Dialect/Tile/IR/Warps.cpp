// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Roles are in the order of the warps.

#include "attune/Dialect/Tile/IR/Warps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace attune;
using namespace attune::tile;

LogicalResult RoleAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               StringRef name, int64_t warps, int64_t registers,
                               RoleThreads threads, int64_t teams) {
  if (name.empty())
    return emitError() << "expects a role with a name";
  if (warps < 1)
    return emitError() << "expects role '" << name
                       << "' to have at least one warp, but got " << warps;
  if (registers < 0)
    return emitError() << "expects registers of role '" << name
                       << "', or 0 for those that it starts with, but got "
                       << registers;
  if (teams < 1 || warps % teams != 0)
    return emitError() << "expects the " << warps << " warps of role '" << name
                       << "' to be teams of as many each, but got " << teams
                       << " teams";
  if (threads == RoleThreads::One && teams != 1)
    return emitError() << "expects one team in role '" << name
                       << "', of which one thread runs the program, but got "
                       << teams;
  return success();
}

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

RoleAttr tile::findRole(ArrayAttr roles, StringRef name, RoleThreads threads) {
  for (auto role : roles.getAsRange<RoleAttr>())
    if (role.getName() == name && role.getThreads() == threads)
      return role;
  return {};
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
      range = WarpRange::get(first, role);
      break;
    }
    first += role.getWarps();
  }
  return range;
}

bool tile::isOfOneTeam(Operation *op) {
  for (; op && !isa<SpecializeOp>(op); op = op->getParentOp())
    if (auto branch = dyn_cast_or_null<scf::IfOp>(op->getParentOp());
        branch && branch.getCondition().getDefiningOp<IsTurnOp>() &&
        op->getBlock() == branch.thenBlock())
      return true;
  return false;
}

Operation *tile::findUseInRole(BufferOp buffer) {
  for (Operation *user : buffer->getUsers())
    if (RoleAttr role = getRole(user);
        role && role.getThreads() == RoleThreads::All)
      return user;
  return nullptr;
}

bool tile::crossesWarps(LayoutAttr layout, int64_t dim) {
  return llvm::any_of(layout.getWarps(), [dim](const Mode &mode) {
    return mode.dim == dim && mode.stride != 0;
  });
}

int64_t SpecializeOp::getFirstWarp(unsigned i) {
  int64_t first = 0;
  for (unsigned before = 0; before < i; ++before)
    first += getRole(before).getWarps();
  return first;
}

unsigned SpecializeOp::getRoleOf(Operation *op) {
  for (auto [i, program] : llvm::enumerate(getPrograms()))
    if (program.isAncestor(op->getParentRegion()))
      return i;
  llvm_unreachable("expects an op in one of the programs");
}

ParseResult SpecializeOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<Attribute> roles;
  do {
    RoleAttr role;
    Region *program = result.addRegion();
    if (parser.parseCustomAttributeWithFallback(role) ||
        parser.parseRegion(*program))
      return failure();
    // A role may have nothing to do.
    if (program->empty())
      program->emplaceBlock();
    roles.push_back(role);
  } while (succeeded(parser.parseOptionalComma()));
  result.addAttribute(getRolesAttrName(result.name),
                      parser.getBuilder().getArrayAttr(roles));
  return parser.parseOptionalAttrDict(result.attributes);
}

void SpecializeOp::print(OpAsmPrinter &printer) {
  llvm::interleave(
      llvm::zip_equal(getRoles(), getPrograms()), printer.getStream(),
      [&](auto role) {
        printer << ' ';
        printer.printStrippedAttrOrType(cast<RoleAttr>(std::get<0>(role)));
        printer << ' ';
        printer.printRegion(std::get<1>(role));
      },
      ",");
  printer.printOptionalAttrDict((*this)->getAttrs(), {getRolesAttrName()});
}

LogicalResult SpecializeOp::verify() {
  if (getRoles().size() != getPrograms().size())
    return emitOpError() << "expects a program for each of "
                         << getRoles().size() << " roles, but got "
                         << getPrograms().size();
  if (getRoles().size() < 2)
    return emitOpError() << "expects at least two roles, but got "
                         << getRoles().size();
  auto roles = llvm::to_vector(getRoles().getAsRange<RoleAttr>());
  llvm::StringSet<> names;
  for (RoleAttr role : roles)
    if (!names.insert(role.getName()).second)
      return emitOpError() << "expects roles of different names, but got two '"
                           << role.getName() << "'";
  auto hasRegisters = [](RoleAttr role) { return role.getRegisters() != 0; };
  if (llvm::any_of(roles, hasRegisters) && !llvm::all_of(roles, hasRegisters))
    return emitOpError() << "expects registers of all roles or of none";
  if (llvm::none_of(roles, [](RoleAttr role) {
        return role.getThreads() == RoleThreads::All;
      }))
    return emitOpError()
           << "expects a role of which all threads run the program";
  if (!isa<FunctionOpInterface>((*this)->getParentOp()))
    return emitOpError() << "expects to stand in the body of the kernel";
  return success();
}
