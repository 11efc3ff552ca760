// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tiles that lie in memory by threads: each warp reads or writes whole lines,
// in runs of 16 bytes a lane.

#include "KernelContext.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace attune;
using tile::LayoutAttr;

namespace {

/// Where a thread has the runs of a tile that begins with a row of a buffer.
struct ThreadRuns {
  ThreadRuns(OpBuilder &b, Location loc, const KernelContext &context,
             tile::TileType type, Value rows, Value firstRow)
      : loc(loc) {
    LayoutAttr layout = type.getRegisterLayout();
    Type element = type.getElementType();
    run = layout.getRunByThreads(element.getIntOrFloatBitWidth() / 8);
    count = layout.getNumRegisters() / run;
    vector = VectorType::get(run, element);
    buffer = memref::CollapseShapeOp::create(
        b, loc, rows, ArrayRef<ReassociationIndices>{{0, 1}});
    auto times = [&](Value number, int64_t factor) {
      return b.createOrFold<arith::MulIOp>(loc, number,
                                           constant(b, loc, factor));
    };
    auto add = [&](Value left, Value right) {
      return b.createOrFold<arith::AddIOp>(loc, left, right);
    };
    lanes = layout.getNumLanes();
    Value ofWarp =
        times(warpNumber(b, loc, context), layout.getNumRegisters() * lanes);
    Value ofLane = times(laneNumber(b, loc, context), run);
    first = add(times(firstRow, type.getShape()[1]), add(ofWarp, ofLane));
  }

  Value locate(OpBuilder &b, int64_t number) const {
    return b.createOrFold<arith::AddIOp>(
        loc, first, constant(b, loc, number * lanes * run));
  }

  llvm::MaybeAlign getAlignment() const {
    return llvm::MaybeAlign(run * vector.getElementTypeBitWidth() / 8);
  }

  Location loc;
  int64_t run, count, lanes;
  VectorType vector;
  Value buffer, first;
};

struct LoadByThreadsPattern : KernelPattern<tile::LoadOp> {
  LoadByThreadsPattern(TypeConverter &converter, MLIRContext *mlirContext,
                       const KernelContext &context)
      : KernelPattern(converter, mlirContext, context, /*benefit=*/2) {}
  LogicalResult matchAndRewrite(tile::LoadOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &b) const override {
    if (!op.getByThreads())
      return b.notifyMatchFailure(op, "the tile lies by rows");
    Location loc = op.getLoc();
    tile::TileType type = op.getResult().getType();
    ThreadRuns runs(b, loc, context, type, op.getSource(),
                    adaptor.getIndices()[0]);
    SmallVector<Value> elements;
    for (int64_t number : llvm::seq(runs.count)) {
      Value run = vector::LoadOp::create(
          b, loc, runs.vector, runs.buffer, runs.locate(b, number),
          /*nontemporal=*/false, runs.getAlignment());
      for (int64_t i : llvm::seq(runs.run))
        elements.push_back(vector::ExtractOp::create(b, loc, run, i));
    }
    b.replaceOpWithNewOp<vector::FromElementsOp>(op, laneVectorType(type),
                                                 elements);
    return success();
  }
};

struct StoreByThreadsPattern : KernelPattern<tile::StoreOp> {
  StoreByThreadsPattern(TypeConverter &converter, MLIRContext *mlirContext,
                        const KernelContext &context)
      : KernelPattern(converter, mlirContext, context, /*benefit=*/2) {}
  LogicalResult matchAndRewrite(tile::StoreOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &b) const override {
    if (!op.getByThreads())
      return b.notifyMatchFailure(op, "the tile lies by rows");
    Location loc = op.getLoc();
    tile::TileType type = op.getValue().getType();
    ThreadRuns runs(b, loc, context, type, op.getDestination(),
                    adaptor.getIndices()[0]);
    for (int64_t number : llvm::seq(runs.count)) {
      Value run = vector::ExtractStridedSliceOp::create(
          b, loc, adaptor.getValue(), ArrayRef<int64_t>{number * runs.run},
          ArrayRef<int64_t>{runs.run}, ArrayRef<int64_t>{1});
      Value place = runs.locate(b, number);
      if (!op.getAccumulate())
        vector::StoreOp::create(b, loc, run, runs.buffer, place,
                                /*nontemporal=*/false, runs.getAlignment());
      else if (context.model->addsRuns())
        tile::AddRunOp::create(b, loc, run, runs.buffer, place);
      else
        addElements(b, runs, run, place);
    }
    b.eraseOp(op);
    return success();
  }

private:
  static void addElements(OpBuilder &b, const ThreadRuns &runs, Value run,
                          Value place) {
    for (int64_t i : llvm::seq(runs.run)) {
      Value at = b.createOrFold<arith::AddIOp>(runs.loc, place,
                                               constant(b, runs.loc, i));
      memref::AtomicRMWOp::create(
          b, runs.loc, arith::AtomicRMWKind::addf,
          vector::ExtractOp::create(b, runs.loc, run, i), runs.buffer, at);
    }
  }
};

} // namespace

void attune::populateByThreadsPatterns(TypeConverter &converter,
                                       RewritePatternSet &patterns,
                                       const KernelContext &context) {
  patterns.add<LoadByThreadsPattern, StoreByThreadsPattern>(
      converter, patterns.getContext(), context);
}
