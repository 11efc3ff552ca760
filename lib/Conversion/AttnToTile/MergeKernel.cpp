// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Of parts with results O_c and logarithms L_c of their sums of exponentials,
// L = log(sum_c exp(L_c) + exp(sink)) and O = sum_c exp(L_c - L) O_c. Parts are
// added in order, so that results have equal bits in each launch, and all of a
// row are loaded before the first is needed, or where it is not known how many
// there are, some at a time.

#include "MergeKernel.h"
#include "GradientRows.h"
#include "NarrowRows.h"
#include "OnlineSoftmax.h"
#include "TileOrder.h"
#include "Views.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/RuntimeVerifiableOpInterface.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attune;
using tile::TileType;

static constexpr double kLog2E = 1.4426950408889634074;
static constexpr double kLn2 = 0.69314718055994530942;
static constexpr double kLowest = -std::numeric_limits<double>::infinity();

/// Of split keys, rows of a tile, one for each warp: there are few of them,
/// which many warps read at once.
static constexpr int64_t kMergeRows = 4;

namespace {
/// Kernel-side buffers.
struct MergeOperands {
  /// One for each part, with the dimensions of `partOrder`.
  SmallVector<KeyParts> parts;
  StringRef partOrder;
  /// Where the only part has slots: whose they are. Null where it has not.
  Value sharers;
  /// Null where there are none.
  Value sinks, queryLengths, resultScales;
  Value output, lse;
};

class MergeBuilder {
public:
  MergeBuilder(OpBuilder &builder, Location loc, StringRef order,
               const MergeOperands &operands, int64_t rows, int64_t columns)
      : b(loc, builder), order(order), operands(operands), rows(rows),
        rowType(TileType::get({rows}, b.getF32Type())),
        tileType(TileType::get({rows, columns}, b.getF32Type())) {}

  void build();

private:
  /// Of some parts: the largest logarithm, and with that or 0 subtracted from
  /// logarithms, the sums of exponentials and of results times these.
  struct State {
    Value log, total, sum;
  };
  /// A part, if it is there: without a condition, it is. Results are null of
  /// sinks.
  struct Part {
    Value log, output;
  };
  /// Finds the rows of the workgroup.
  void locate();
  /// Adds parts, and those before them unless these are null.
  State add(ArrayRef<Part> parts, const State &before);
  State addSlots();
  /// Those that are of the same batch, or of the same head, in buffers of
  /// elements and of numbers.
  Value viewRows(StringRef dims, Value buffer, Value batch);
  Value viewRowNumbers(Value buffer, Value batch);
  /// Of a batch, or of a slot, of which there is nothing without `exists`.
  Part loadPart(const KeyParts &part, Value batch, Value exists = {});
  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(b, value);
  }
  /// `x`, but 0 for -inf: what a row that sees no key is shifted by.
  Value finite(Value x);
  /// exp(x - shift)
  Value weigh(Value x, Value shift);
  Value loadSinks();
  /// The head of a row of the tile.
  Value getHead(OpBuilder &inner, Location loc, Value row, Value heads);
  /// sum + weight * part, but for weights of 0, whose parts may hold anything.
  Value addPart(Value sum, Value weight, Value part);
  void store(Value sum, Value total, Value shift);

  TileBuilder b;
  StringRef order;
  const MergeOperands &operands;
  int64_t rows;
  TileType rowType, tileType;
  /// Whether rows are of heads, which have one query each.
  bool alongHeads = false;
  Value batch, head, firstRow;
};
} // namespace

void MergeBuilder::locate() {
  auto type = cast<MemRefType>(operands.output.getType());
  alongHeads = type.getDimSize(static_cast<int64_t>(order.find('s'))) == 1;
  auto size = [&](char dim) -> Value {
    return b.createOrFold<memref::DimOp>(operands.output,
                                         static_cast<int64_t>(order.find(dim)));
  };
  Value perTile = constant(rows);
  Value tiles =
      b.createOrFold<arith::CeilDivUIOp>(size(alongHeads ? 'h' : 's'), perTile);
  Value heads = alongHeads ? constant(1) : size('h');
  QueryTile tile =
      orderByHead(b, gpu::BlockIdOp::create(b, gpu::Dimension::x).getResult(),
                  {tiles, heads, heads, size('b')}, /*lastFirst=*/false);
  batch = tile.batch;
  head = alongHeads ? constant(0) : tile.headQ;
  firstRow = arith::MulIOp::create(b, tile.tile, perTile);
}

Value MergeBuilder::viewRows(StringRef dims, Value buffer, Value batch) {
  return viewHeads(b, dims, buffer, batch, head,
                   alongHeads ? std::nullopt : std::optional<int64_t>(1));
}

Value MergeBuilder::viewRowNumbers(Value buffer, Value batch) {
  if (!alongHeads)
    return viewNumbers(b, buffer, batch, head);
  return memref::CollapseShapeOp::create(
      b, viewNumbers(b, buffer, batch, /*head=*/Value()),
      ArrayRef<ReassociationIndices>{{0, 1}});
}

MergeBuilder::Part MergeBuilder::loadPart(const KeyParts &part, Value batch,
                                          Value exists) {
  Value view = viewRows(operands.partOrder, part.output, batch);
  if (exists) {
    Value all = b.createOrFold<memref::DimOp>(view, 0);
    view = limitRows(b, view,
                     arith::SelectOp::create(b, exists, all, constant(0)));
  }
  Part loaded;
  // Rows first: numbers are held by who has their rows.
  loaded.output =
      createLoad(b, tileType.withElementType(getElementTypeOrSelf(part.output)),
                 view, ValueRange{firstRow, constant(0)});
  loaded.log = loadNumbers(b, rows, viewRowNumbers(part.lse, batch), firstRow);
  if (exists)
    loaded.log =
        b.map(rowType, loaded.log,
              [&](OpBuilder &inner, Location loc, ValueRange args) -> Value {
                return arith::SelectOp::create(
                    inner, loc, exists, args[0],
                    TileBuilder::constant(inner, loc, kLowest));
              });
  return loaded;
}

static Value isLowest(OpBuilder &inner, Location loc, Value x) {
  return arith::CmpFOp::create(inner, loc, arith::CmpFPredicate::OEQ, x,
                               TileBuilder::constant(inner, loc, kLowest));
}

Value MergeBuilder::finite(Value x) {
  return b.map(rowType, x,
               [](OpBuilder &inner, Location loc, ValueRange args) -> Value {
                 return arith::SelectOp::create(
                     inner, loc, isLowest(inner, loc, args[0]),
                     TileBuilder::constant(inner, loc, 0), args[0]);
               });
}

Value MergeBuilder::weigh(Value x, Value shift) {
  return b.map(
      rowType, {x, shift},
      [](OpBuilder &inner, Location loc, ValueRange args) -> Value {
        Value difference = arith::SubFOp::create(inner, loc, args[0], args[1]);
        Value exponent = arith::MulFOp::create(
            inner, loc, difference, TileBuilder::constant(inner, loc, kLog2E));
        return math::Exp2Op::create(inner, loc, exponent,
                                    arith::FastMathFlags::afn);
      });
}

Value MergeBuilder::getHead(OpBuilder &inner, Location loc, Value row,
                            Value heads) {
  return alongHeads
             ? elementPosition(inner, loc, firstRow, row, heads, /*clamp=*/true)
             : head;
}

Value MergeBuilder::loadSinks() {
  // Queries that are not there have no sink either.
  Value length;
  if (operands.queryLengths)
    length = arith::IndexCastOp::create(
        b, b.getIndexType(),
        memref::LoadOp::create(b, operands.queryLengths, batch));
  return b.map(rowType, ValueRange(),
               [&](OpBuilder &inner, Location loc, ValueRange args) -> Value {
                 Value place = getHead(
                     inner, loc, args[0],
                     inner.createOrFold<memref::DimOp>(loc, operands.sinks, 0));
                 Value sink =
                     memref::LoadOp::create(inner, loc, operands.sinks, place);
                 if (!length)
                   return sink;
                 // Where rows are of heads, each is the first query of its own.
                 Value row = arith::ConstantIndexOp::create(inner, loc, 0);
                 if (!alongHeads)
                   row = arith::AddIOp::create(inner, loc, firstRow, args[0]);
                 Value exists = arith::CmpIOp::create(
                     inner, loc, arith::CmpIPredicate::slt, row, length);
                 return arith::SelectOp::create(
                     inner, loc, exists, sink,
                     TileBuilder::constant(inner, loc, kLowest));
               });
}

Value MergeBuilder::addPart(Value sum, Value weight, Value part) {
  return b.map(
      tileType, {sum, b.broadcast(weight, tileType), part},
      [](OpBuilder &inner, Location loc, ValueRange args) -> Value {
        Value zero = TileBuilder::constant(inner, loc, 0);
        Value isEmpty = arith::CmpFOp::create(
            inner, loc, arith::CmpFPredicate::OEQ, args[1], zero);
        Value element = args[2];
        if (!element.getType().isF32())
          element =
              arith::ExtFOp::create(inner, loc, inner.getF32Type(), element);
        element = arith::SelectOp::create(inner, loc, isEmpty, zero, element);
        return math::FmaOp::create(inner, loc, args[1], element, args[0]);
      });
}

void MergeBuilder::store(Value sum, Value total, Value shift) {
  Type narrow = getElementTypeOrSelf(operands.output),
       element = operands.resultScales ? b.getF32Type() : narrow;
  Value result = b.map(
      tileType.withElementType(element), {sum, b.broadcast(total, tileType)},
      [&](OpBuilder &inner, Location loc, ValueRange args) -> Value {
        Value zero = TileBuilder::constant(inner, loc, 0);
        Value isEmpty = arith::CmpFOp::create(
            inner, loc, arith::CmpFPredicate::OEQ, args[1], zero);
        Value quotient = arith::DivFOp::create(inner, loc, args[0], args[1]);
        Value value =
            arith::SelectOp::create(inner, loc, isEmpty, zero, quotient);
        if (element.isF32())
          return value;
        return arith::TruncFOp::create(inner, loc, element, value);
      });
  if (operands.resultScales) {
    auto headPos = static_cast<int64_t>(order.find('h'));
    auto getHeadOfRow = [&](OpBuilder &inner, Location loc, Value row) {
      return getHead(inner, loc, row,
                     inner.createOrFold<memref::DimOp>(
                         loc, operands.resultScales, headPos));
    };
    Value scales =
        loadResultScales(b, operands.resultScales, headPos, rows, getHeadOfRow);
    result =
        roundToNarrow(b, result, invert(b, scales), /*zeros=*/Value(), narrow);
  }
  tile::StoreOp::create(b, result, viewRows(order, operands.output, batch),
                        ValueRange{firstRow, constant(0)},
                        /*accumulate=*/false, tile::StorePath::Direct);
  if (!operands.lse)
    return;
  // The logarithm of 0 is that of no key.
  Value lse =
      b.map(rowType, {shift, total},
            [](OpBuilder &inner, Location loc, ValueRange args) -> Value {
              Value log = arith::MulFOp::create(
                  inner, loc, math::Log2Op::create(inner, loc, args[1]),
                  TileBuilder::constant(inner, loc, kLn2));
              return arith::AddFOp::create(inner, loc, args[0], log);
            });
  tile::StoreOp::create(b, lse, viewRowNumbers(operands.lse, batch), firstRow,
                        /*accumulate=*/false, tile::StorePath::Direct);
}

MergeBuilder::State MergeBuilder::add(ArrayRef<Part> parts,
                                      const State &before) {
  auto combine = [&](TileType type, ValueRange inputs, auto makeOp) {
    return b.map(type, inputs,
                 [&](OpBuilder &inner, Location loc, ValueRange args) -> Value {
                   return makeOp(inner, loc, args[0], args[1]);
                 });
  };
  auto takeLarger = [](OpBuilder &inner, Location loc, Value x,
                       Value y) -> Value {
    return arith::MaxNumFOp::create(inner, loc, x, y);
  };
  auto multiply = [](OpBuilder &inner, Location loc, Value x,
                     Value y) -> Value {
    return arith::MulFOp::create(inner, loc, x, y);
  };
  auto sum = [](OpBuilder &inner, Location loc, Value x, Value y) -> Value {
    return arith::AddFOp::create(inner, loc, x, y);
  };
  State state;
  state.log = before.log ? before.log : parts.front().log;
  for (const Part &part : before.log ? parts : parts.drop_front())
    state.log = combine(rowType, {state.log, part.log}, takeLarger);
  Value shift = finite(state.log);
  if (before.log) {
    Value factor = weigh(before.log, shift);
    state.total = combine(rowType, {before.total, factor}, multiply);
    state.sum = combine(tileType, {before.sum, b.broadcast(factor, tileType)},
                        multiply);
  } else {
    state.total = b.fill(rowType, 0);
    state.sum = b.fill(tileType, 0);
  }
  for (const Part &part : parts) {
    Value weight = weigh(part.log, shift);
    state.total = combine(rowType, {state.total, weight}, sum);
    if (part.output)
      state.sum = addPart(state.sum, weight, part.output);
  }
  return state;
}

MergeBuilder::State MergeBuilder::addSlots() {
  // As many as a lane has registers for.
  constexpr int64_t kElements = 2048, kMost = 16;
  int64_t width =
      std::clamp<int64_t>(kElements / tileType.getShape()[1], 1, kMost);
  const KeyParts &slots = operands.parts.front();
  auto getNumber = [&](int64_t part) -> Value {
    Value place = constant(part), row = constant(0);
    Value number = memref::LoadOp::create(
        b, operands.sharers,
        ValueRange{place, batch, alongHeads ? firstRow : head, row});
    Value word = arith::FPToUIOp::create(b, b.getI32Type(), number);
    return arith::IndexCastUIOp::create(b, b.getIndexType(), word);
  };
  Value first = arith::AddIOp::create(b, batch, getNumber(0)),
        count = getNumber(1);
  State initial{b.fill(rowType, kLowest), b.fill(rowType, 0),
                b.fill(tileType, 0)};
  auto loop =
      scf::ForOp::create(b, constant(0), count, constant(width),
                         ValueRange{initial.log, initial.total, initial.sum});
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  SmallVector<Part> parts;
  for (int64_t i = 0; i < width; ++i) {
    Value number =
        arith::AddIOp::create(b, loop.getInductionVar(), constant(i));
    Value exists =
        arith::CmpIOp::create(b, arith::CmpIPredicate::ult, number, count);
    Value slot = arith::AddIOp::create(
        b, first, arith::SelectOp::create(b, exists, number, constant(0)));
    parts.push_back(loadPart(slots, slot, exists));
  }
  ValueRange before = loop.getRegionIterArgs();
  State next = add(parts, {before[0], before[1], before[2]});
  scf::YieldOp::create(b, ValueRange{next.log, next.total, next.sum});
  return {loop.getResult(0), loop.getResult(1), loop.getResult(2)};
}

void MergeBuilder::build() {
  locate();
  State state;
  SmallVector<Part> parts;
  if (operands.sharers)
    state = addSlots();
  else
    for (const KeyParts &part : operands.parts)
      parts.push_back(loadPart(part, batch));
  // A sink counts once, like a part whose result is 0.
  if (operands.sinks)
    parts.push_back({loadSinks(), Value()});
  if (!parts.empty())
    state = add(parts, state);
  store(state.sum, state.total, finite(state.log));
}

KeyParts attune::makeKeyParts(attn::AttentionOp op, const KernelSizes &sizes,
                              KernelOutliner &outliner) {
  Value query = outliner.getInput(op.getQuery(), "query");
  SmallVector<HostProduct, 3> extents;
  HostFactor slots{query, op.getBatchPos()};
  // StepShare says which.
  slots.moreNumber = sizes.sharers;
  if (!sizes.sharers)
    extents.push_back(HostProduct{op.getScheduleAttr().getSplitK()});
  extents.push_back({1, {slots}});
  for (int64_t dim : {op.getHeadPos(), op.getSeqPos()})
    extents.push_back({1, {{query, dim}}});
  Type f32 = Float32Type::get(op.getContext());
  auto make = [&](StringRef name, auto sizes) {
    return outliner.makeWorkspace(
        {name.str(), f32, std::move(sizes), /*alignment=*/16});
  };
  KeyParts parts;
  parts.lse = make("part_lse", extents);
  if (sizes.sharers) {
    SmallVector<HostProduct, 3> ofRows{HostProduct{2}};
    for (int64_t dim : {op.getBatchPos(), op.getHeadPos(), op.getSeqPos()})
      ofRows.push_back({1, {{query, dim}}});
    parts.sharers = make("part_sharers", ofRows);
  }
  extents.push_back(HostProduct{op.getHeadDimV()});
  parts.output = make("part_output", extents);
  return parts;
}

/// One workgroup for each tile of rows.
static void setLaunch(OutlinedKernel &kernel, Value output, StringRef order,
                      int64_t rows, int64_t threads) {
  auto position = [&](char dim) {
    return static_cast<int64_t>(order.find(dim));
  };
  bool alongHeads =
      cast<MemRefType>(output.getType()).getDimSize(position('s')) == 1;
  HostProduct grid;
  grid.factors.push_back({output, position(alongHeads ? 'h' : 's'), rows});
  if (!alongHeads)
    grid.factors.push_back({output, position('h')});
  grid.factors.push_back({output, position('b')});
  kernel.setGrid(std::move(grid));
  kernel.setBlock(threads);
}

void attune::addMergeKernel(attn::AttentionOp op, KernelOutliner &outliner,
                            const KeyParts &parts, const KernelSizes &sizes,
                            int64_t lanes) {
  StringRef function = op->getParentOfType<func::FuncOp>().getName();
  OutlinedKernel &kernel = outliner.addKernel((function + "_merge").str());
  auto addRead = [&](Value value) {
    return kernel.addArgument(value, launch::Access::Read);
  };
  MergeOperands operands;
  operands.partOrder = kPartOrder;
  Value outputs = addRead(parts.output), logs = addRead(parts.lse);
  ImplicitLocOpBuilder body(op.getLoc(), kernel.getBody());
  int64_t rows = kMergeRows;
  if (parts.sharers) {
    operands.sharers = addRead(parts.sharers);
    operands.parts.push_back({outputs, logs});
    // Rows of one head, or of heads with the same keys.
    if (op.getSeqQ() == 1)
      rows = std::gcd(rows, sizes.members * sizes.heads);
  } else {
    for (int64_t part = 0; part < op.getScheduleAttr().getSplitK(); ++part) {
      OpFoldResult number = body.getIndexAttr(part);
      operands.parts.push_back(
          {viewPart(body, outputs, number), viewPart(body, logs, number)});
    }
  }
  if (op.getSinks())
    operands.sinks = addRead(outliner.getInput(op.getSinks(), "sinks"));
  if (op.getSinks() && op.getQueryLengths())
    operands.queryLengths =
        addRead(outliner.getInput(op.getQueryLengths(), "query_lengths"));
  if (op.getResultScales())
    operands.resultScales =
        addRead(outliner.getInput(op.getResultScales(), "result_scales"));
  Value output = outliner.makeOutput(cast<OpResult>(op.getResult()), "output");
  operands.output = kernel.addArgument(output);
  if (op.getLse())
    operands.lse = kernel.addArgument(
        outliner.makeOutput(cast<OpResult>(op.getLse()), "lse"));
  MergeBuilder(kernel.getBody(), op.getLoc(), op.getOrder(), operands, rows,
               sizes.headDimV)
      .build();
  setLaunch(kernel, output, op.getOrder(), rows, rows * lanes);
}

void attune::outlineMerge(attn::MergeOp op, tile::TargetAttr target,
                          SymbolTable &symbols) {
  OpBuilder host(op);
  cast<RuntimeVerifiableOpInterface>(*op).generateRuntimeVerification(
      host, op.getLoc(),
      [](Operation *, StringRef message) { return message.str(); });
  KernelOutliner outliner(op, symbols);
  StringRef function = op->getParentOfType<func::FuncOp>().getName();
  OutlinedKernel &kernel = outliner.addKernel((function + "_merge").str());
  MergeOperands operands;
  operands.partOrder = op.getOrder();
  for (auto [number, part, lse] :
       llvm::enumerate(op.getParts(), op.getLses())) {
    std::string name = "part" + std::to_string(number);
    Value output = kernel.addArgument(outliner.getInput(part, name));
    operands.parts.push_back(
        {output, kernel.addArgument(outliner.getInput(lse, name + "_lse"))});
  }
  Value output = outliner.makeOutput(cast<OpResult>(op.getResult()), "output");
  operands.output = kernel.addArgument(output);
  if (op.getLse())
    operands.lse = kernel.addArgument(
        outliner.makeOutput(cast<OpResult>(op.getLse()), "lse"));
  // Lanes read 16 bytes each, so that a warp has as many rows as it can read at
  // once.
  constexpr int64_t kReadBytes = 16;
  int64_t lanes = target.getLanes(),
          run = kReadBytes * 8 / op.getPartType().getElementTypeBitWidth(),
          columns = std::max<int64_t>(llvm::PowerOf2Ceil(op.getHeadDim()), run),
          lanesOfRow = std::min(columns / run, lanes);
  int64_t warps = op.getScheduleAttr().getNumWarps(),
          rows = warps * (lanes / lanesOfRow);
  MergeBuilder(kernel.getBody(), op.getLoc(), op.getOrder(), operands, rows,
               columns)
      .build();
  setLaunch(kernel, output, op.getOrder(), rows, warps * lanes);
  outliner.finish();
}
