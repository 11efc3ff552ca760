// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// test-outline-sum makes two kernels of a linalg.reduce: a second client of the
// outliner, with a workspace between the kernels and one that must be zero.
// A plugin of its own, for it brings a copy of the launch dialect.

#include "attune/Conversion/KernelOutliner.h"
#include "attune/Conversion/RegionClone.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace attune;

static constexpr int64_t kThreads = 32, kChunk = 64;

namespace {
/// What both kernels speak of.
struct Buffers {
  Value in, partial, count, out;
};

struct TestOutlineSum : PassWrapper<TestOutlineSum, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TestOutlineSum)

  StringRef getArgument() const override { return "test-outline-sum"; }
  StringRef getDescription() const override {
    return "Outlines each linalg.reduce of the columns of a matrix, a sum, as "
           "two kernels";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<launch::LaunchDialect, bufferization::BufferizationDialect,
                    gpu::GPUDialect, memref::MemRefDialect, scf::SCFDialect>();
  }
  void runOnOperation() override;
};
} // namespace

/// The row of this thread; what `emit` emits is done where there is one.
static void forRow(ImplicitLocOpBuilder &b, Value tile, Value rows,
                   function_ref<void(ImplicitLocOpBuilder &, Value row)> emit) {
  Value thread = gpu::ThreadIdOp::create(b, gpu::Dimension::x);
  Value threads = arith::ConstantIndexOp::create(b, kThreads);
  Value row =
      arith::AddIOp::create(b, arith::MulIOp::create(b, tile, threads), thread);
  Value exists = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, row, rows);
  scf::IfOp::create(b, exists, [&](OpBuilder &inner, Location loc) {
    ImplicitLocOpBuilder nested(loc, inner);
    emit(nested, row);
    scf::YieldOp::create(nested);
  });
}

static std::string getKernelName(Operation *op, StringRef part) {
  auto function = op->getParentOfType<FunctionOpInterface>();
  return (function.getName() + "_" + part).str();
}

/// partial[row, chunk] = sum of a chunk of a row; ++count[row].
static void addPartial(linalg::ReduceOp op, KernelOutliner &outliner,
                       const Buffers &buffers) {
  OutlinedKernel &kernel = outliner.addKernel(getKernelName(op, "partial"));
  Value in = kernel.addArgument(buffers.in);
  SetVector<Value> captured;
  getUsedValuesDefinedAbove(op->getRegions(), captured);
  for (Value value : captured)
    kernel.capture(value);
  Value partial = kernel.addArgument(buffers.partial, launch::Access::Write);
  Value count = kernel.addArgument(buffers.count);
  kernel.setBlock(kThreads);
  kernel.setGrid({1, {{buffers.in, 0, kThreads}, {buffers.in, 1, kChunk}}});

  ImplicitLocOpBuilder b(op.getLoc(), kernel.getBody());
  Value rows = b.createOrFold<memref::DimOp>(in, 0);
  Value columns = b.createOrFold<memref::DimOp>(in, 1);
  Value width = arith::ConstantIndexOp::create(b, kChunk);
  Value chunks = arith::CeilDivUIOp::create(b, columns, width);
  Value block = gpu::BlockIdOp::create(b, gpu::Dimension::x);
  Value tile = arith::DivUIOp::create(b, block, chunks);
  Value chunk = arith::RemUIOp::create(b, block, chunks);
  Value begin = arith::MulIOp::create(b, chunk, width);
  Value end = arith::MinUIOp::create(b, arith::AddIOp::create(b, begin, width),
                                     columns);
  forRow(b, tile, rows, [&](ImplicitLocOpBuilder &b, Value row) {
    Value step = arith::ConstantIndexOp::create(b, 1);
    Value zero = arith::ConstantOp::create(b, b.getF32FloatAttr(0));
    auto loop = scf::ForOp::create(
        b, begin, end, step, zero,
        [&](OpBuilder &inner, Location loc, Value column, ValueRange sum) {
          IRMapping mapping = kernel.getMapping();
          Block &combiner = op.getCombiner().front();
          mapping.map(
              combiner.getArgument(0),
              memref::LoadOp::create(inner, loc, in, ValueRange{row, column}));
          mapping.map(combiner.getArgument(1), sum[0]);
          scf::YieldOp::create(
              inner, loc, inlineOntoBuffers(inner, op.getCombiner(), mapping));
        });
    memref::StoreOp::create(b, loop.getResult(0), partial,
                            ValueRange{row, chunk});
    Value one = arith::ConstantOp::create(b, b.getI32IntegerAttr(1));
    memref::AtomicRMWOp::create(b, arith::AtomicRMWKind::addi, one, count,
                                ValueRange{row});
  });
}

/// out[row] = sum of partial[row], or -1 where not all chunks were counted.
static void addTotal(linalg::ReduceOp op, KernelOutliner &outliner,
                     const Buffers &buffers) {
  OutlinedKernel &kernel = outliner.addKernel(getKernelName(op, "total"));
  Value partial = kernel.addArgument(buffers.partial, launch::Access::Read);
  Value count = kernel.addArgument(buffers.count, launch::Access::Read);
  Value out = kernel.addArgument(buffers.out);
  kernel.setBlock(kThreads);
  kernel.setGrid({1, {{buffers.out, 0, kThreads}}});

  ImplicitLocOpBuilder b(op.getLoc(), kernel.getBody());
  Value rows = b.createOrFold<memref::DimOp>(partial, 0);
  Value chunks = b.createOrFold<memref::DimOp>(partial, 1);
  Value tile = gpu::BlockIdOp::create(b, gpu::Dimension::x);
  forRow(b, tile, rows, [&](ImplicitLocOpBuilder &b, Value row) {
    Value zero = arith::ConstantIndexOp::create(b, 0);
    Value step = arith::ConstantIndexOp::create(b, 1);
    Value none = arith::ConstantOp::create(b, b.getF32FloatAttr(0));
    auto loop = scf::ForOp::create(
        b, zero, chunks, step, none,
        [&](OpBuilder &inner, Location loc, Value chunk, ValueRange sum) {
          Value next = memref::LoadOp::create(inner, loc, partial,
                                              ValueRange{row, chunk});
          scf::YieldOp::create(
              inner, loc,
              ValueRange(arith::AddFOp::create(inner, loc, sum[0], next)));
        });
    Value counted = memref::LoadOp::create(b, count, ValueRange{row});
    Value expected = arith::IndexCastOp::create(b, b.getI32Type(), chunks);
    Value all =
        arith::CmpIOp::create(b, arith::CmpIPredicate::eq, counted, expected);
    Value wrong = arith::ConstantOp::create(b, b.getF32FloatAttr(-1));
    memref::StoreOp::create(
        b, arith::SelectOp::create(b, all, loop.getResult(0), wrong), out,
        ValueRange{row});
  });
}

void TestOutlineSum::runOnOperation() {
  SymbolTable symbols(getOperation());
  SmallVector<linalg::ReduceOp> ops;
  getOperation().walk([&](linalg::ReduceOp op) { ops.push_back(op); });
  for (linalg::ReduceOp op : ops) {
    KernelOutliner outliner(op, symbols);
    Builder b(op.getContext());
    Buffers buffers;
    buffers.in = outliner.getInput(op.getInputs()[0], "in");
    HostProduct rows{1, {{buffers.in, 0}}};
    buffers.partial =
        outliner.makeWorkspace({"partial",
                                b.getF32Type(),
                                {rows, {1, {{buffers.in, 1, kChunk}}}},
                                /*alignment=*/16});
    buffers.count = outliner.makeWorkspace({"count",
                                            b.getI32Type(),
                                            {rows},
                                            /*alignment=*/4,
                                            launch::Contents::Zero});
    buffers.out = outliner.makeOutput(op->getResult(0), "out");
    addPartial(op, outliner, buffers);
    addTotal(op, outliner, buffers);
    outliner.finish();
  }
}

extern "C" LLVM_ATTRIBUTE_WEAK DialectPluginLibraryInfo
mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "AttuneTestOutliner", LLVM_VERSION_STRING,
          [](DialectRegistry *registry) {
            registry->insert<launch::LaunchDialect>();
          }};
}

extern "C" LLVM_ATTRIBUTE_WEAK PassPluginLibraryInfo mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "AttuneTestOutliner", LLVM_VERSION_STRING,
          [] { PassRegistration<TestOutlineSum>(); }};
}
