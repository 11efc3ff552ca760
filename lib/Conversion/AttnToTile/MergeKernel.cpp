// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Of parts with results O_c and logarithms L_c of their sums of exponentials,
// L = log(sum_c exp(L_c) + exp(sink)) and O = sum_c exp(L_c - L) O_c. Parts are
// added in order, so that results have equal bits in each launch, and all of a
// row are loaded before the first is needed.

#include "MergeKernel.h"
#include "GradientRows.h"
#include "OnlineSoftmax.h"
#include "TileOrder.h"
#include "Views.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
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
static constexpr int64_t kMergeRows = 4, kMergeWarps = 4;

namespace {
/// Kernel-side buffers.
struct MergeOperands {
  /// One for each part, with the dimensions of `partOrder`.
  SmallVector<KeyParts> parts;
  StringRef partOrder;
  /// Null where there are none.
  Value sinks, queryLengths;
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
  /// Finds the rows of the workgroup.
  void locate();
  /// Those that are of the same batch, or of the same head, in buffers of
  /// elements and of numbers.
  Value viewRows(StringRef dims, Value buffer);
  Value viewRowNumbers(Value buffer);
  Value loadPart(Value output);
  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(b, value);
  }
  /// `x`, but 0 for -inf: what a row that sees no key is shifted by.
  Value finite(Value x);
  /// exp(x - shift)
  Value weigh(Value x, Value shift);
  Value loadSinks();
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

Value MergeBuilder::viewRows(StringRef dims, Value buffer) {
  return viewHeads(b, dims, buffer, batch, head,
                   alongHeads ? std::nullopt : std::optional<int64_t>(1));
}

Value MergeBuilder::viewRowNumbers(Value buffer) {
  if (!alongHeads)
    return viewNumbers(b, buffer, batch, head);
  return memref::CollapseShapeOp::create(
      b, viewNumbers(b, buffer, batch, /*head=*/Value()),
      ArrayRef<ReassociationIndices>{{0, 1}});
}

Value MergeBuilder::loadPart(Value output) {
  return createLoad(b, tileType.withElementType(getElementTypeOrSelf(output)),
                    viewRows(operands.partOrder, output),
                    ValueRange{firstRow, constant(0)});
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

Value MergeBuilder::loadSinks() {
  // Queries that are not there have no sink either.
  Value length;
  if (operands.queryLengths)
    length = arith::IndexCastOp::create(
        b, b.getIndexType(),
        memref::LoadOp::create(b, operands.queryLengths, batch));
  return b.map(rowType, ValueRange(),
               [&](OpBuilder &inner, Location loc, ValueRange args) -> Value {
                 Value place = head;
                 if (alongHeads)
                   place = elementPosition(inner, loc, firstRow, args[0],
                                           inner.createOrFold<memref::DimOp>(
                                               loc, operands.sinks, 0),
                                           /*clamp=*/true);
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
  Type element = getElementTypeOrSelf(operands.output);
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
  tile::StoreOp::create(b, result, viewRows(order, operands.output),
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
  tile::StoreOp::create(b, lse, viewRowNumbers(operands.lse), firstRow,
                        /*accumulate=*/false, tile::StorePath::Direct);
}

void MergeBuilder::build() {
  locate();
  SmallVector<Value> logs, outputs;
  for (const KeyParts &part : operands.parts) {
    // Rows first: numbers are held by who has their rows.
    outputs.push_back(loadPart(part.output));
    logs.push_back(loadNumbers(b, rows, viewRowNumbers(part.lse), firstRow));
  }
  // A sink counts once, like a part whose result is 0.
  if (operands.sinks)
    logs.push_back(loadSinks());
  Value shift = logs.front();
  for (Value log : ArrayRef(logs).drop_front())
    shift =
        b.map(rowType, {shift, log},
              [](OpBuilder &inner, Location loc, ValueRange args) -> Value {
                return arith::MaxNumFOp::create(inner, loc, args[0], args[1]);
              });
  shift = finite(shift);
  Value total = b.fill(rowType, 0), sum = b.fill(tileType, 0);
  for (auto [number, log] : llvm::enumerate(logs)) {
    Value weight = weigh(log, shift);
    total = b.map(rowType, {total, weight},
                  [](OpBuilder &inner, Location loc, ValueRange args) -> Value {
                    return arith::AddFOp::create(inner, loc, args[0], args[1]);
                  });
    if (number < outputs.size())
      sum = addPart(sum, weight, outputs[number]);
  }
  store(sum, total, shift);
}

KeyParts attune::makeKeyParts(attn::AttentionOp op, KernelOutliner &outliner) {
  Value query = outliner.getInput(op.getQuery(), "query");
  SmallVector<HostProduct, 3> sizes{
      HostProduct{op.getScheduleAttr().getSplitK()}};
  for (int64_t dim : {op.getBatchPos(), op.getHeadPos(), op.getSeqPos()})
    sizes.push_back({1, {{query, dim}}});
  auto make = [&](StringRef name) {
    return outliner.makeWorkspace({name.str(),
                                   Float32Type::get(op.getContext()), sizes,
                                   /*alignment=*/16});
  };
  KeyParts parts;
  parts.lse = make("part_lse");
  sizes.push_back(HostProduct{op.getHeadDimV()});
  parts.output = make("part_output");
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
                            const KeyParts &parts, int64_t columns,
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
  for (int64_t part = 0; part < op.getScheduleAttr().getSplitK(); ++part) {
    OpFoldResult number = body.getIndexAttr(part);
    operands.parts.push_back(
        {viewPart(body, outputs, number), viewPart(body, logs, number)});
  }
  if (op.getSinks())
    operands.sinks = addRead(outliner.getInput(op.getSinks(), "sinks"));
  if (op.getSinks() && op.getQueryLengths())
    operands.queryLengths =
        addRead(outliner.getInput(op.getQueryLengths(), "query_lengths"));
  Value output = outliner.makeOutput(cast<OpResult>(op.getResult()), "output");
  operands.output = kernel.addArgument(output);
  if (op.getLse())
    operands.lse = kernel.addArgument(
        outliner.makeOutput(cast<OpResult>(op.getLse()), "lse"));
  MergeBuilder(kernel.getBody(), op.getLoc(), op.getOrder(), operands,
               kMergeRows, columns)
      .build();
  setLaunch(kernel, output, op.getOrder(), kMergeRows, kMergeWarps * lanes);
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
