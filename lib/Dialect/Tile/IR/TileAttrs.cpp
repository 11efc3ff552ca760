// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Layouts, swizzles and the description of a chip.

#include "attune/Dialect/Tile/IR/Tile.h"
#include "attune/Dialect/Tile/IR/Widening.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;
using namespace attune;
using namespace attune::tile;

/// Parses and prints `[4, 8, 16]`.
static ParseResult parseIntegerList(AsmParser &parser,
                                    SmallVector<int64_t> &values) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
    return parser.parseInteger(values.emplace_back());
  });
}

static void printIntegerList(AsmPrinter &printer, ArrayRef<int64_t> values) {
  printer << '[';
  llvm::interleaveComma(values, printer);
  printer << ']';
}

/// Parses and prints a list of #tile.mma_atom.
static ParseResult parseAtomList(AsmParser &parser,
                                 SmallVector<MmaAtomAttr> &atoms) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
    return parser.parseAttribute(atoms.emplace_back());
  });
}

static void printAtomList(AsmPrinter &printer, ArrayRef<MmaAtomAttr> atoms) {
  printer << '[';
  llvm::interleaveComma(atoms, printer);
  printer << ']';
}

#include "attune/Dialect/Tile/IR/TileEnums.cpp.inc"

/// Parses and prints `, registers = 240, threads = one, teams = 2`, each part
/// of which may be left out.
static ParseResult parseRoleDetails(AsmParser &parser, int64_t &registers,
                                    RoleThreads &threads, int64_t &teams) {
  teams = 1;
  if (failed(parser.parseOptionalComma()))
    return success();
  if (succeeded(parser.parseOptionalKeyword("registers"))) {
    if (parser.parseEqual() || parser.parseInteger(registers))
      return failure();
    if (failed(parser.parseOptionalComma()))
      return success();
  }
  if (succeeded(parser.parseOptionalKeyword("threads"))) {
    if (parser.parseEqual())
      return failure();
    FailureOr<RoleThreads> parsed = FieldParser<RoleThreads>::parse(parser);
    if (failed(parsed))
      return failure();
    threads = *parsed;
    if (failed(parser.parseOptionalComma()))
      return success();
  }
  return failure(parser.parseKeyword("teams") || parser.parseEqual() ||
                 parser.parseInteger(teams));
}

static void printRoleDetails(AsmPrinter &printer, int64_t registers,
                             RoleThreads threads, int64_t teams) {
  if (registers)
    printer << ", registers = " << registers;
  if (threads != RoleThreads::All)
    printer << ", threads = " << stringifyRoleThreads(threads);
  if (teams != 1)
    printer << ", teams = " << teams;
}

#define GET_ATTRDEF_CLASSES
#include "attune/Dialect/Tile/IR/TileAttrs.cpp.inc"

void TileDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "attune/Dialect/Tile/IR/TileAttrs.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// LayoutAttr
//===----------------------------------------------------------------------===//

static int64_t product(ArrayRef<Mode> modes) {
  int64_t size = 1;
  for (const Mode &mode : modes)
    size *= mode.extent;
  return size;
}

/// Drops modes of extent 1 and merges neighbours that continue each other.
static SmallVector<Mode> normalize(ArrayRef<Mode> modes) {
  SmallVector<Mode> result;
  for (Mode mode : modes) {
    if (mode.extent == 1)
      continue;
    if (mode.stride == 0)
      mode.dim = 0;
    if (!result.empty() && result.back().dim == mode.dim &&
        result.back().stride * result.back().extent == mode.stride)
      result.back().extent *= mode.extent;
    else
      result.push_back(mode);
  }
  return result;
}

LayoutAttr LayoutAttr::getNormal(MLIRContext *context, ArrayRef<Mode> registers,
                                 ArrayRef<Mode> lanes, ArrayRef<Mode> warps) {
  return get(context, normalize(registers), normalize(lanes), normalize(warps));
}

int64_t LayoutAttr::getNumRegisters() const { return product(getRegisters()); }
int64_t LayoutAttr::getNumLanes() const { return product(getLanes()); }
int64_t LayoutAttr::getNumWarps() const { return product(getWarps()); }

SmallVector<int64_t, 2> LayoutAttr::getRegisterCoordinates(int64_t reg,
                                                           int64_t rank) const {
  SmallVector<int64_t, 2> coordinates(rank, 0);
  for (const Mode &mode : getRegisters()) {
    coordinates[mode.dim] += (reg % mode.extent) * mode.stride;
    reg /= mode.extent;
  }
  return coordinates;
}

SmallVector<int64_t, 2> LayoutAttr::getShape(int64_t rank) const {
  SmallVector<int64_t, 2> shape(rank, 1);
  for (ArrayRef<Mode> modes : {getRegisters(), getLanes(), getWarps()})
    for (const Mode &mode : modes)
      if (mode.dim < rank)
        shape[mode.dim] += (mode.extent - 1) * mode.stride;
  return shape;
}

LayoutAttr LayoutAttr::dropDim(int64_t dim) const {
  auto replicate = [&](ArrayRef<Mode> modes) {
    SmallVector<Mode> result;
    for (Mode mode : modes) {
      if (mode.dim == dim)
        mode = {mode.extent, 0, 0};
      else if (mode.dim > dim)
        --mode.dim;
      result.push_back(mode);
    }
    return result;
  };
  SmallVector<Mode> registers;
  for (const Mode &mode : replicate(getRegisters()))
    if (mode.stride != 0)
      registers.push_back(mode);
  return getNormal(getContext(), registers, replicate(getLanes()),
                   replicate(getWarps()));
}

LayoutAttr LayoutAttr::asRow() const {
  auto move = [](ArrayRef<Mode> modes) {
    SmallVector<Mode> moved(modes);
    for (Mode &mode : moved)
      mode.dim = mode.stride != 0 ? 1 : 0;
    return moved;
  };
  return getNormal(getContext(), move(getRegisters()), move(getLanes()),
                   move(getWarps()));
}

LayoutAttr LayoutAttr::getPartialColumns() const {
  SmallVector<Mode> registers, lanes(getLanes());
  for (const Mode &mode : getRegisters())
    if (mode.dim == 0)
      registers.push_back(mode);
  int64_t columns = 1;
  for (Mode &mode : lanes)
    if (mode.dim == 1 && mode.stride != 0) {
      mode.stride = columns;
      columns *= mode.extent;
    }
  return getNormal(getContext(), registers, lanes, getWarps());
}

LayoutAttr LayoutAttr::getWithRuns(int64_t run) const {
  SmallVector<Mode> registers(getRegisters()), lanes(getLanes());
  if (registers.empty() || registers[0].dim != 1 || registers[0].stride != 1 ||
      run % registers[0].extent != 0)
    return *this;
  // A column is `a + length * (lane + shared * group)`: lanes give their lowest
  // digits for those of the groups.
  int64_t length = registers[0].extent;
  auto *lane = llvm::find_if(lanes, [&](const Mode &mode) {
    return mode.dim == 1 && mode.stride == length;
  });
  if (lane == lanes.end())
    return *this;
  int64_t shared = lane->extent;
  auto *group = llvm::find_if(registers, [&](const Mode &mode) {
    return mode.dim == 1 && mode.stride == length * shared;
  });
  if (group == registers.end())
    return *this;
  int64_t moved = std::gcd(std::gcd(run / length, shared), group->extent);
  if (moved == 1)
    return *this;
  *group = {group->extent / moved, 1, group->stride * moved};
  registers.insert(registers.begin() + 1, Mode{moved, 1, length});
  *lane = {shared / moved, 1, length * moved};
  lanes.insert(lane, Mode{moved, 1, length * shared});
  return getNormal(getContext(), registers, lanes, getWarps());
}

LayoutAttr LayoutAttr::transpose() const {
  auto swap = [](ArrayRef<Mode> modes) {
    SmallVector<Mode> result(modes);
    for (Mode &mode : result)
      mode.dim = 1 - mode.dim;
    return result;
  };
  return getNormal(getContext(), swap(getRegisters()), swap(getLanes()),
                   swap(getWarps()));
}

std::optional<std::pair<LayoutAttr, int64_t>>
LayoutAttr::deinterleave(int64_t dim, int64_t block, int64_t parts) const {
  int64_t apart = 0;
  // Cuts each mode into what counts within a block, what counts parts, and what
  // counts blocks of one part.
  auto cut = [&](ArrayRef<Mode> modes,
                 bool isRegister) -> std::optional<SmallVector<Mode>> {
    SmallVector<Mode> result;
    int64_t below = 1;
    for (const Mode &mode : modes) {
      int64_t extent = mode.extent, stride = mode.stride;
      if (mode.dim != dim || stride == 0) {
        result.push_back(mode);
        below *= extent;
        continue;
      }
      auto take = [&](int64_t count, int64_t resultStride) {
        if (resultStride)
          result.push_back({count, dim, resultStride});
        extent /= count;
        stride *= count;
        below *= count;
      };
      if (stride < block) {
        int64_t count = std::min(extent, block / stride);
        if (block % stride != 0 || extent % count != 0)
          return std::nullopt;
        take(count, stride);
      }
      if (extent > 1 && stride < block * parts) {
        if (!isRegister || stride != block || extent % parts != 0)
          return std::nullopt;
        apart = below;
        take(parts, 0);
      }
      if (extent == 1)
        continue;
      if (stride % (block * parts) != 0)
        return std::nullopt;
      take(extent, stride / parts);
    }
    return result;
  };
  std::optional<SmallVector<Mode>> registers = cut(getRegisters(), true),
                                   lanes = cut(getLanes(), false),
                                   warps = cut(getWarps(), false);
  if (!registers || !lanes || !warps || !apart)
    return std::nullopt;
  return std::pair(getNormal(getContext(), *registers, *lanes, *warps), apart);
}

std::optional<LayoutAttr> LayoutAttr::interleave(int64_t dim, int64_t block,
                                                 int64_t parts) const {
  bool isCut = true;
  // What counts blocks counts those of all parts.
  auto spread = [&](ArrayRef<Mode> modes) {
    SmallVector<Mode> result;
    for (auto [extent, of, stride] : modes) {
      int64_t within = extent;
      if (of == dim && stride != 0) {
        within = std::clamp<int64_t>(block / stride, 1, extent);
        if (stride >= block)
          within = 1;
        isCut &= extent % within == 0 &&
                 (stride < block ? block % stride : stride % block) == 0;
      }
      result.push_back({within, of, stride});
      result.push_back({extent / within, of, stride * within * parts});
    }
    return result;
  };
  SmallVector<Mode> registers = spread(getRegisters()),
                    lanes = spread(getLanes()), warps = spread(getWarps());
  registers.push_back({parts, dim, block});
  if (!isCut)
    return std::nullopt;
  return getNormal(getContext(), registers, lanes, warps);
}

int64_t LayoutAttr::getRunByThreads(int64_t elementBytes) const {
  constexpr int64_t kRunBytes = 16;
  return std::gcd(kRunBytes / elementBytes, getNumRegisters());
}

LayoutAttr LayoutAttr::withRegisterModes(ArrayRef<Mode> modes) const {
  SmallVector<Mode> registers(getRegisters());
  registers.append(modes.begin(), modes.end());
  return getNormal(getContext(), registers, getLanes(), getWarps());
}

LayoutAttr LayoutAttr::withWarpModes(ArrayRef<Mode> modes) const {
  SmallVector<Mode> warps(getWarps());
  warps.append(modes.begin(), modes.end());
  return getNormal(getContext(), getRegisters(), getLanes(), warps);
}

LayoutAttr LayoutAttr::repeat(ArrayRef<int64_t> shape, int64_t alongRows,
                              int64_t alongColumns, int64_t replicas,
                              std::array<int64_t, 2> distance) const {
  SmallVector<int64_t, 2> own = getShape(2);
  auto count = [&](unsigned dim) {
    return (distance[dim] ? distance[dim] : shape[dim]) / own[dim];
  };
  return withRegisterModes({{count(1), 1, own[1]}, {count(0), 0, own[0]}})
      .withWarpModes({{alongRows, 0, distance[0]},
                      {alongColumns, 1, distance[1]},
                      {replicas, 0, 0}});
}

LogicalResult LayoutAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 ArrayRef<Mode> registers, ArrayRef<Mode> lanes,
                                 ArrayRef<Mode> warps) {
  // No chip comes near; what is unrolled or counted over them stays small.
  constexpr int64_t kMaxCount = 65536;
  constexpr int64_t kMaxStride = std::numeric_limits<int32_t>::max();
  for (ArrayRef<Mode> modes : {registers, lanes, warps}) {
    int64_t count = 1;
    for (const Mode &mode : modes) {
      if (mode.extent < 1)
        return emitError() << "expects positive extents in a layout, but got "
                           << mode.extent;
      if (llvm::MulOverflow(count, mode.extent, count) || count > kMaxCount)
        return emitError() << "expects at most " << kMaxCount
                           << " registers, lanes and warps each in a layout, "
                              "but got extents up to "
                           << mode.extent;
      if (mode.dim < 0 || mode.dim > 1)
        return emitError() << "expects dimension 0 or 1 in a layout, but got "
                           << mode.dim;
      if (mode.stride < 0 || mode.stride > kMaxStride)
        return emitError() << "expects strides of 0 to " << kMaxStride
                           << " in a layout, but got " << mode.stride;
    }
  }
  return success();
}

static ParseResult parseModes(AsmParser &parser, StringRef keyword,
                              SmallVectorImpl<Mode> &modes) {
  if (parser.parseKeyword(keyword) || parser.parseEqual())
    return failure();
  return parser.parseCommaSeparatedList(
      AsmParser::Delimiter::Square, [&]() -> ParseResult {
        Mode &mode = modes.emplace_back();
        return failure(
            parser.parseLSquare() || parser.parseInteger(mode.extent) ||
            parser.parseComma() || parser.parseInteger(mode.dim) ||
            parser.parseComma() || parser.parseInteger(mode.stride) ||
            parser.parseRSquare());
      });
}

static void printModes(AsmPrinter &printer, StringRef keyword,
                       ArrayRef<Mode> modes) {
  printer << keyword << " = [";
  llvm::interleaveComma(modes, printer, [&](const Mode &mode) {
    printer << '[' << mode.extent << ", " << mode.dim << ", " << mode.stride
            << ']';
  });
  printer << ']';
}

Attribute LayoutAttr::parse(AsmParser &parser, Type) {
  SmallVector<Mode> registers, lanes, warps;
  if (parser.parseLess() || parseModes(parser, "registers", registers) ||
      parser.parseComma() || parseModes(parser, "lanes", lanes) ||
      parser.parseComma() || parseModes(parser, "warps", warps) ||
      parser.parseGreater())
    return {};
  auto emitError = [&] { return parser.emitError(parser.getNameLoc()); };
  if (failed(verify(emitError, registers, lanes, warps)))
    return {};
  return getNormal(parser.getContext(), registers, lanes, warps);
}

void LayoutAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printModes(printer, "registers", getRegisters());
  printer << ", ";
  printModes(printer, "lanes", getLanes());
  printer << ", ";
  printModes(printer, "warps", getWarps());
  printer << '>';
}

//===----------------------------------------------------------------------===//
// MmaAtomAttr, TargetAttr
//===----------------------------------------------------------------------===//

LayoutAttr MmaAtomAttr::getAccLayout(ArrayRef<int64_t> shape, int64_t alongRows,
                                     int64_t alongColumns,
                                     int64_t replicas) const {
  return getAcc().repeat(shape, alongRows, alongColumns, replicas,
                         {shape[0] / alongRows, shape[1] / alongColumns});
}

bool MmaAtomAttr::isPaired() const {
  ArrayRef<Mode> registers = getLhs().getRegisters();
  return getWarps() > 1 && registers.size() > 1 &&
         registers[0] == Mode{2, 1, 1} && registers[1] == Mode{2, 1, 8};
}

bool MmaAtomAttr::readsColumns() const {
  constexpr unsigned kBits = 8;
  return getWarps() > 1 && getRhsType().getIntOrFloatBitWidth() == kBits;
}

LogicalResult MmaAtomAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                  StringRef name, int64_t m, int64_t n,
                                  int64_t k, Type, Type, Type, LayoutAttr lhs,
                                  LayoutAttr rhs, LayoutAttr acc, bool,
                                  DenseI64ArrayAttr unitExponents) {
  if (unitExponents && unitExponents.size() != 2)
    return emitError() << "expects unit_exponents of 2 parts, but got "
                       << unitExponents.size();
  struct Operand {
    StringRef name;
    LayoutAttr layout;
    int64_t rows, columns;
  };
  for (const Operand &operand :
       {Operand{"lhs", lhs, m, k}, Operand{"rhs", rhs, k, n},
        Operand{"acc", acc, m, n}}) {
    SmallVector<int64_t, 2> shape = operand.layout.getShape(2);
    if (shape[0] != operand.rows || shape[1] != operand.columns)
      return emitError() << "expects the " << operand.name << " layout of '"
                         << name << "' to cover " << operand.rows << "x"
                         << operand.columns << ", but got " << shape[0] << "x"
                         << shape[1];
    if (operand.layout.getNumLanes() != acc.getNumLanes())
      return emitError() << "expects the " << operand.name << " layout of '"
                         << name << "' to use " << acc.getNumLanes()
                         << " lanes, but got " << operand.layout.getNumLanes();
    if (operand.layout.getNumWarps() != acc.getNumWarps())
      return emitError() << "expects the " << operand.name << " layout of '"
                         << name << "' to use " << acc.getNumWarps()
                         << " warps, but got " << operand.layout.getNumWarps();
  }
  return success();
}

LogicalResult RatesAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                int64_t clock, int64_t mma, int64_t groupMma,
                                int64_t exp, int64_t issue, int64_t shared,
                                int64_t cache, int64_t memory) {
  for (auto [name, value] : {std::pair<StringRef, int64_t>{"clock", clock},
                             {"mma", mma},
                             {"exp", exp},
                             {"issue", issue},
                             {"shared", shared},
                             {"cache", cache},
                             {"memory", memory}})
    if (value < 1)
      return emitError() << "expects a positive '" << name << "', but got "
                         << value;
  if (groupMma < 0)
    return emitError() << "expects 'group_mma' to be 0 or positive, but got "
                       << groupMma;
  return success();
}

RatesAttr RatesAttr::getDefault(MLIRContext *context) {
  return get(context, /*clock=*/1700, /*mma=*/1024, /*group_mma=*/4096,
             /*exp=*/16, /*issue=*/128, /*shared=*/128, /*cache=*/48,
             /*memory=*/1000);
}

LogicalResult TargetAttr::verify(
    function_ref<InFlightDiagnostic()> emitError, StringRef chip,
    StringRef family, int64_t lanes, int64_t sms, int64_t shared,
    int64_t sharedPerSm, int64_t registers, int64_t registersPerSm,
    int64_t maxThreads, int64_t maxThreadsPerSm, CopySync copySync,
    ArrayRef<int64_t> copyWidths, int64_t tmaBoxBytes, int64_t tmaBoxAlignment,
    int64_t schedulers, int64_t registerStep, WarpgroupsAttr warpgroups,
    int64_t cache, int64_t caches, RatesAttr rates, ArrayRef<MmaAtomAttr> mma) {
  for (auto [name, value] : {std::pair<StringRef, int64_t>{"lanes", lanes},
                             {"sms", sms},
                             {"shared", shared},
                             {"shared_per_sm", sharedPerSm},
                             {"registers", registers},
                             {"registers_per_sm", registersPerSm},
                             {"max_threads", maxThreads},
                             {"max_threads_per_sm", maxThreadsPerSm},
                             {"tma_box_alignment", tmaBoxAlignment},
                             {"schedulers", schedulers},
                             {"register_step", registerStep},
                             {"caches", caches}})
    if (value < 1)
      return emitError() << "expects a positive '" << name << "', but got "
                         << value;
  if ((copySync == CopySync::None) != copyWidths.empty())
    return emitError()
           << "expects copy_widths exactly where copy_sync is not 'none'";
  for (MmaAtomAttr atom : mma)
    if (atom.getAcc().getNumLanes() != lanes)
      return emitError() << "expects atoms of " << lanes << " lanes, but got "
                         << atom.getAcc().getNumLanes() << " in '"
                         << atom.getName() << "'";
  return success();
}

TargetAttr TargetAttr::lookup(Operation *op) {
  for (; op; op = op->getParentOp())
    if (auto target =
            op->getAttrOfType<TargetAttr>(TileDialect::kTargetAttrName))
      return target;
  return {};
}

TargetAttr TargetAttr::withSms(int64_t sms) const {
  return get(getContext(), getChip(), getFamily(), getLanes(), sms, getShared(),
             getSharedPerSm(), getRegisters(), getRegistersPerSm(),
             getMaxThreads(), getMaxThreadsPerSm(), getCopySync(),
             getCopyWidths(), getTmaBoxBytes(), getTmaBoxAlignment(),
             getSchedulers(), getRegisterStep(), getWarpgroups(), getCache(),
             getCaches(), getRates(), getMma());
}

MmaAtomAttr TargetAttr::findAtom(Type lhs, Type rhs, Type acc,
                                 MmaScope scope) const {
  for (MmaAtomAttr atom : getMma())
    if (atom.getLhsType() == lhs && atom.getRhsType() == rhs &&
        atom.getAccType() == acc && atom.getScope() == scope)
      return atom;
  // Operands of a warp pass through its registers, where they can be widened,
  // and those of a warpgroup through shared memory (tile.restage).
  if (!canWiden(lhs, rhs) && !canWiden(rhs, lhs))
    return {};
  Type wide = canWiden(lhs, rhs) ? rhs : lhs;
  return findAtom(wide, wide, acc, scope);
}

int64_t TargetAttr::getWarpgroupWarps() const {
  int64_t warps = 1;
  for (MmaAtomAttr atom : getMma())
    warps = std::max(warps, atom.getWarps());
  return warps;
}

int64_t TargetAttr::getSwizzleAtom(int64_t columns, Type elementType) const {
  if (!getTmaBoxBytes())
    return 0;
  int64_t elementBytes = elementType.getIntOrFloatBitWidth() / 8;
  return std::gcd(columns, getTmaBoxBytes() / elementBytes);
}
