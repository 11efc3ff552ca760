// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Of parts with results O_c and logarithms L_c of their sums of exponentials,
// L = log(sum_c exp(L_c) + exp(sink)) and O = sum_c exp(L_c - L) O_c. Parts are
// added in order, so that results have equal bits in each launch, and all of a
// row are loaded before the first is needed, or where there are many or it is
// not known how many, some at a time.

#include "MergeParts.h"
#include "GradientRows.h"
#include "NarrowRows.h"
#include "OnlineSoftmax.h"
#include "Views.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;
using namespace attune;
using tile::TileType;

namespace {
class MergeBuilder {
public:
  MergeBuilder(OpBuilder &builder, Location loc, StringRef order,
               const MergeOperands &operands, const MergeRows &own)
      : b(loc, builder), order(order), operands(operands), own(own),
        rowType(TileType::get({own.rows}, b.getF32Type())),
        tileType(TileType::get({own.rows, own.columns}, b.getF32Type())) {}

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
  /// Adds parts, and those before them unless these are null.
  State add(ArrayRef<Part> parts, const State &before);
  State addSlots(Value count);
  /// Of all parts of split keys and of sinks, which may be null, what add()
  /// makes of them, but that some are loaded at a time.
  State addInTurn(Value sinks);
  /// Adds parts to the sums, with logarithms less `shift`.
  void accumulate(ArrayRef<Part> parts, Value shift, State &state);
  Value takeLarger(Value x, Value y);
  /// Who shares the keys of the rows: the first one, or how many there are.
  Value loadSharers(int64_t part);
  /// One of split keys.
  KeyParts getSplit(OpFoldResult number) {
    return {viewPart(b, operands.splits.output, number),
            viewPart(b, operands.splits.lse, number)};
  }
  Value loadLog(const KeyParts &part, Value batch) {
    return loadNumbers(b, own.rows, own.viewNumbers(b, part.lse, batch),
                       own.first);
  }
  /// Of a batch, or of a slot, of which there is nothing without `exists`.
  Part loadPart(const KeyParts &part, Value batch, Value exists = {});
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
  const MergeRows &own;
  TileType rowType, tileType;
};
} // namespace

MergeBuilder::Part MergeBuilder::loadPart(const KeyParts &part, Value batch,
                                          Value exists) {
  Value view = own.viewRows(b, operands.partOrder, part.output, batch);
  if (exists) {
    Value all = b.createOrFold<memref::DimOp>(view, 0);
    view = limitRows(b, view,
                     arith::SelectOp::create(b, exists, all, constant(b, 0)));
  }
  Part loaded;
  // Rows first: numbers are held by who has their rows.
  loaded.output =
      createLoad(b, tileType.withElementType(getElementTypeOrSelf(part.output)),
                 view, ValueRange{own.first, constant(b, 0)});
  loaded.log = loadLog(part, batch);
  if (exists)
    loaded.log = b.map(
        rowType, loaded.log,
        [&](OpBuilder &inner, Location loc, ValueRange args) -> Value {
          return arith::SelectOp::create(inner, loc, exists, args[0],
                                         constantF32(inner, loc, -kInfinity));
        });
  return loaded;
}

static Value isLowest(OpBuilder &inner, Location loc, Value x) {
  return arith::CmpFOp::create(inner, loc, arith::CmpFPredicate::OEQ, x,
                               constantF32(inner, loc, -kInfinity));
}

Value MergeBuilder::finite(Value x) {
  return b.map(
      rowType, x, [](OpBuilder &inner, Location loc, ValueRange args) -> Value {
        return arith::SelectOp::create(inner, loc,
                                       isLowest(inner, loc, args[0]),
                                       constantF32(inner, loc, 0), args[0]);
      });
}

Value MergeBuilder::weigh(Value x, Value shift) {
  return b.map(rowType, {x, shift},
               [](OpBuilder &inner, Location loc, ValueRange args) -> Value {
                 Value difference =
                     arith::SubFOp::create(inner, loc, args[0], args[1]);
                 Value exponent = arith::MulFOp::create(
                     inner, loc, difference,
                     constantF32(inner, loc, llvm::numbers::log2e));
                 return math::Exp2Op::create(inner, loc, exponent,
                                             arith::FastMathFlags::afn);
               });
}

Value MergeBuilder::loadSinks() {
  return b.map(
      rowType, ValueRange(),
      [&](OpBuilder &inner, Location loc, ValueRange args) -> Value {
        auto [head, query] = own.locate(inner, loc, args[0]);
        Value sink = memref::LoadOp::create(inner, loc, operands.sinks, head);
        if (!own.length)
          return sink;
        // Queries that are not there have no sink either.
        Value exists = arith::CmpIOp::create(
            inner, loc, arith::CmpIPredicate::slt, query, own.length);
        return arith::SelectOp::create(inner, loc, exists, sink,
                                       constantF32(inner, loc, -kInfinity));
      });
}

Value MergeBuilder::addPart(Value sum, Value weight, Value part) {
  return b.map(
      tileType, {sum, b.broadcast(weight, tileType), part},
      [](OpBuilder &inner, Location loc, ValueRange args) -> Value {
        Value zero = constantF32(inner, loc, 0);
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
        Value zero = constantF32(inner, loc, 0);
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
    auto getHead = [&](OpBuilder &inner, Location loc, Value row) {
      return own.locate(inner, loc, row).first;
    };
    Value scales = loadResultScales(b, operands.resultScales,
                                    static_cast<int64_t>(order.find('h')),
                                    own.rows, getHead);
    result =
        roundToNarrow(b, result, invert(b, scales), /*zeros=*/Value(), narrow);
  }
  tile::StoreOp::create(b, result,
                        own.viewRows(b, order, operands.output, own.batch),
                        ValueRange{own.first, constant(b, 0)},
                        /*accumulate=*/false, tile::StorePath::Direct);
  if (!operands.lse)
    return;
  // The logarithm of 0 is that of no key.
  Value lse =
      b.map(rowType, {shift, total},
            [](OpBuilder &inner, Location loc, ValueRange args) -> Value {
              Value log = arith::MulFOp::create(
                  inner, loc, math::Log2Op::create(inner, loc, args[1]),
                  constantF32(inner, loc, llvm::numbers::ln2));
              return arith::AddFOp::create(inner, loc, args[0], log);
            });
  tile::StoreOp::create(b, lse, own.viewNumbers(b, operands.lse, own.batch),
                        own.first, /*accumulate=*/false,
                        tile::StorePath::Direct);
}

Value MergeBuilder::takeLarger(Value x, Value y) {
  return b.map(rowType, {x, y},
               [](OpBuilder &inner, Location loc, ValueRange args) -> Value {
                 return arith::MaxNumFOp::create(inner, loc, args[0], args[1]);
               });
}

void MergeBuilder::accumulate(ArrayRef<Part> parts, Value shift, State &state) {
  for (const Part &part : parts) {
    Value weight = weigh(part.log, shift);
    state.total =
        b.map(rowType, {state.total, weight},
              [](OpBuilder &inner, Location loc, ValueRange args) -> Value {
                return arith::AddFOp::create(inner, loc, args[0], args[1]);
              });
    if (part.output)
      state.sum = addPart(state.sum, weight, part.output);
  }
}

MergeBuilder::State MergeBuilder::add(ArrayRef<Part> parts,
                                      const State &before) {
  State state;
  state.log = before.log ? before.log : parts.front().log;
  for (const Part &part : before.log ? parts : parts.drop_front())
    state.log = takeLarger(state.log, part.log);
  Value shift = finite(state.log);
  if (before.log) {
    auto multiply = [&](TileType type, Value x, Value y) {
      return b.map(
          type, {x, y},
          [](OpBuilder &inner, Location loc, ValueRange args) -> Value {
            return arith::MulFOp::create(inner, loc, args[0], args[1]);
          });
    };
    Value factor = weigh(before.log, shift);
    state.total = multiply(rowType, before.total, factor);
    state.sum = multiply(tileType, before.sum, b.broadcast(factor, tileType));
  } else {
    state.total = b.fill(rowType, 0);
    state.sum = b.fill(tileType, 0);
  }
  accumulate(parts, shift, state);
  return state;
}

MergeBuilder::State MergeBuilder::addInTurn(Value sinks) {
  // A logarithm takes one register.
  constexpr int64_t kMostLogs = 32;
  auto visit = [&](int64_t atOnce, ValueRange initial, auto addSome) {
    auto loop =
        scf::ForOp::create(b, constant(b, 0), constant(b, operands.numSplits),
                           constant(b, atOnce), initial);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    SmallVector<KeyParts> parts;
    for (int64_t i = 0; i < atOnce; ++i)
      parts.push_back(getSplit(
          arith::AddIOp::create(b, loop.getInductionVar(), constant(b, i))
              .getResult()));
    scf::YieldOp::create(b, addSome(parts, loop.getRegionIterArgs()));
    return loop.getResults();
  };
  State state;
  state.log = visit(std::gcd(operands.numSplits, kMostLogs),
                    b.fill(rowType, -kInfinity),
                    [&](ArrayRef<KeyParts> parts, ValueRange before) {
                      SmallVector<Value> logs;
                      for (const KeyParts &part : parts)
                        logs.push_back(loadLog(part, own.batch));
                      Value largest = before.front();
                      for (Value log : logs)
                        largest = takeLarger(largest, log);
                      return SmallVector<Value>{largest};
                    })
                  .front();
  if (sinks)
    state.log = takeLarger(state.log, sinks);
  Value shift = finite(state.log);
  ValueRange sums = visit(operands.atOnce,
                          ValueRange{b.fill(rowType, 0), b.fill(tileType, 0)},
                          [&](ArrayRef<KeyParts> parts, ValueRange before) {
                            SmallVector<Part> loaded;
                            for (const KeyParts &part : parts)
                              loaded.push_back(loadPart(part, own.batch));
                            State next{Value(), before[0], before[1]};
                            accumulate(loaded, shift, next);
                            return SmallVector<Value>{next.total, next.sum};
                          });
  state.total = sums[0];
  state.sum = sums[1];
  if (sinks)
    accumulate({{sinks, Value()}}, shift, state);
  return state;
}

Value MergeBuilder::loadSharers(int64_t part) {
  Value place = constant(b, part), row = constant(b, 0);
  Value number = memref::LoadOp::create(
      b, operands.sharers, ValueRange{place, own.batch, own.sharedHead, row});
  Value word = arith::FPToUIOp::create(b, b.getI32Type(), number);
  return arith::IndexCastUIOp::create(b, b.getIndexType(), word);
}

MergeBuilder::State MergeBuilder::addSlots(Value count) {
  // As many as a lane has registers for.
  constexpr int64_t kElements = 2048, kMost = 16;
  int64_t width =
      std::clamp<int64_t>(kElements / tileType.getShape()[1], 1, kMost);
  const KeyParts &slots = operands.parts.front();
  Value first = arith::AddIOp::create(b, own.batch, loadSharers(0));
  State initial{b.fill(rowType, -kInfinity), b.fill(rowType, 0),
                b.fill(tileType, 0)};
  auto loop =
      scf::ForOp::create(b, constant(b, 0), count, constant(b, width),
                         ValueRange{initial.log, initial.total, initial.sum});
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  SmallVector<Part> parts;
  for (int64_t i = 0; i < width; ++i) {
    Value number =
        arith::AddIOp::create(b, loop.getInductionVar(), constant(b, i));
    Value exists =
        arith::CmpIOp::create(b, arith::CmpIPredicate::ult, number, count);
    Value slot = arith::AddIOp::create(
        b, first, arith::SelectOp::create(b, exists, number, constant(b, 0)));
    parts.push_back(loadPart(slots, slot, exists));
  }
  ValueRange before = loop.getRegionIterArgs();
  State next = add(parts, {before[0], before[1], before[2]});
  scf::YieldOp::create(b, ValueRange{next.log, next.total, next.sum});
  return {loop.getResult(0), loop.getResult(1), loop.getResult(2)};
}

void MergeBuilder::build() {
  // A sink counts once, like a part whose result is 0.
  State state;
  SmallVector<Part> parts;
  if (operands.numSplits > operands.atOnce) {
    state = addInTurn(operands.sinks ? loadSinks() : Value());
    return store(state.sum, state.total, finite(state.log));
  }
  if (operands.sharers) {
    // Who has all keys of a tile has stored its result.
    Value count = loadSharers(1);
    Value isShared = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, count,
                                           constant(b, 1));
    auto branch = scf::IfOp::create(b, isShared, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    state = addSlots(count);
    return store(state.sum, state.total, finite(state.log));
  }
  for (const KeyParts &part : operands.parts)
    parts.push_back(loadPart(part, own.batch));
  for (int64_t number = 0; number < operands.numSplits; ++number)
    parts.push_back(loadPart(getSplit(b.getIndexAttr(number)), own.batch));
  if (operands.sinks)
    parts.push_back({loadSinks(), Value()});
  if (!parts.empty())
    state = add(parts, state);
  store(state.sum, state.total, finite(state.log));
}

void attune::buildMerge(OpBuilder &builder, Location loc, StringRef order,
                        const MergeOperands &operands, const MergeRows &own) {
  MergeBuilder(builder, loc, order, operands, own).build();
}
