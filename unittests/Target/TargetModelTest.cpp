// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A chip that copies TMA boxes and has barriers in shared memory and roles, but
// no MMA of warpgroups and no registers to exchange: what it has is enough for
// kernels that ask for no more, and what it lacks is refused at the op.

#include "NVIDIA/Common/Baseline.h"
#include "NVIDIA/Common/MBarriers.h"
#include "NVIDIA/Common/TensorCopyEngine.h"
#include "attune/Conversion/Passes.h"
#include "attune/Dialect/Tile/Transforms/Passes.h"
#include "attune/Target/TargetRegistry.h"
#include "attune/Target/WarpRoles.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace attune;

namespace {

/// The first thread of a warp is as good as any.
class FirstThreadRoles : public WarpRoles {
public:
  Value electThread(OpBuilder &b, Location loc) const override {
    Value lane = gpu::LaneIdOp::create(b, loc, b.getIndexType(), nullptr);
    Value zero = arith::ConstantIndexOp::create(b, loc, 0);
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, lane, zero);
  }
  std::optional<RegisterLimits> getRegisterLimits() const override {
    return std::nullopt;
  }
  void setRegisters(OpBuilder &, Location, int64_t, bool) const override {
    FAIL() << "has no registers to exchange";
  }
};

/// As a chip's own folder would have it.
class CopyTarget : public nvidia::BaselineTarget {
public:
  const CopyEngine *getCopyEngine() const override { return &copyEngine; }
  const Barriers *getBarriers() const override { return &barriers; }
  const WarpRoles *getWarpRoles() const override { return &roles; }

private:
  nvidia::TensorCopyEngine copyEngine;
  nvidia::MBarriers barriers;
  FirstThreadRoles roles;
};

class TargetModelTest : public testing::Test {
protected:
  TargetModelTest() {
    registerTargetModel("Copy", std::make_unique<CopyTarget>());
    registerTargetModel("Bare", std::make_unique<nvidia::BaselineTarget>());
    DialectRegistry registry;
    registerTargetDialects(registry);
    registry
        .insert<arith::ArithDialect, func::FuncDialect, gpu::GPUDialect,
                memref::MemRefDialect, scf::SCFDialect, tile::TileDialect>();
    context.appendDialectRegistry(registry);
  }

  /// The kernel for that family, lowered; what was said is in `diagnostics`.
  OwningOpRef<ModuleOp> convert(StringRef family, StringRef body) {
    std::string text =
        ("!c = !tile.channel<32x64xf16, stages = 2, swizzle_atom = 64>\n"
         "!t = !tile.tile<32x64xf16, shared, #tile.swizzle<vector = 8, "
         "bits = 3, shift = 0, swizzle_atom = 64>>\n"
         "#l = #tile.layout<registers = [[2, 1, 1], [2, 0, 8], [2, 1, 8]], "
         "lanes = [[4, 1, 2], [8, 0, 1]], warps = [[4, 0, 16]]>\n"
         "#atom = #tile.mma_atom<name = \"group\", m = 64, n = 16, k = 16, "
         "lhsType = f16, rhsType = f16, accType = f32, lhs = #l, rhs = "
         "#tile.layout<registers = [[16, 0, 1], [16, 1, 1]], lanes = "
         "[[32, 0, 0]], warps = [[4, 0, 0]]>, acc = #l>\n"
         "!p = !tile.tile<16x16xf16, shared, #tile.swizzle<vector = 8, "
         "bits = 1, shift = 2, swizzle_atom = 16>>\n"
         "!acc = !tile.tile<64x16xf32, registers, #l>\n"
         "!lhs = !tile.tile<64x16xf16, registers, #l>\n"
         "module attributes {tile.target = #tile.target<chip = \"toy\", "
         "family = \"" +
         family +
         "\", lanes = 32, sms = 1, shared = 65536, shared_per_sm = 65536, "
         "registers = 255, registers_per_sm = 65536, max_threads = 1024, "
         "max_threads_per_sm = 1024, copy_sync = none, copy_widths = [], "
         "tma_box_bytes = 128, mma = []>} { gpu.module @kernels {\n"
         "gpu.func @kernel(%in: memref<32x64xf16>, %out: memref<32x64xf16>, "
         "%a: !lhs, %b: !p, %s: !acc) kernel attributes {known_block_size = "
         "array<i32: 256, 1, 1>} {\n"
         "%c0 = arith.constant 0 : index\n" +
         body + "gpu.return } } }")
            .str();
    diagnostics.clear();
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      diagnostics += diagnostic.str() + "\n";
      return success();
    });
    auto module = parseSourceString<ModuleOp>(text, &context);
    if (!module)
      return nullptr;
    PassManager manager(&context);
    manager.nest<gpu::GPUModuleOp>().addNestedPass<gpu::GPUFuncOp>(
        tile::createTileAllocateSharedPass());
    manager.addPass(createConvertTileToGPUPass());
    return failed(manager.run(*module)) ? nullptr : std::move(module);
  }

  MLIRContext context;
  std::string diagnostics;
};

template <typename OpTy> int64_t count(ModuleOp module) {
  int64_t found = 0;
  module.walk([&](OpTy) { ++found; });
  return found;
}

const char *const kCopy = R"(
  %c = tile.channel : !c
  tile.specialize <"store", warps = 4> {
    %t = tile.get %c[%c0] : !c -> !t
    %stored = tile.store_async %t, %out[%c0, %c0] : !t, memref<32x64xf16>
    tile.wait_reads %stored : !tile.token
    tile.release %c[%c0] : !c
  }, <"load", warps = 4, threads = one> {
    tile.put %c[%c0], %in[%c0, %c0] : !c, memref<32x64xf16>
  }
)";

} // namespace

TEST_F(TargetModelTest, CopiesWithoutWarpgroups) {
  OwningOpRef<ModuleOp> module = convert("Copy", kCopy);
  ASSERT_TRUE(module) << diagnostics;
  EXPECT_EQ(count<NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp>(*module), 1);
  EXPECT_EQ(count<NVVM::CpAsyncBulkTensorSharedCTAToGlobalOp>(*module), 1);
  EXPECT_EQ(count<NVVM::MBarrierTryWaitParityOp>(*module), 2);
  // Both its roles are there, and registers stay where they are.
  EXPECT_EQ(count<gpu::LaneIdOp>(*module), 1);
  EXPECT_EQ(count<NVVM::SetMaxRegisterOp>(*module), 0);
}

TEST_F(TargetModelTest, RefusesCopiesWithoutTheParts) {
  EXPECT_FALSE(convert("Bare", kCopy));
  EXPECT_NE(diagnostics.find("'tile.channel' op expects a target with barriers "
                             "in shared memory, but got 'toy'"),
            std::string::npos)
      << diagnostics;
}

TEST_F(TargetModelTest, RefusesMmasOfWarpgroups) {
  EXPECT_FALSE(convert(
      "Copy",
      "%d = tile.mma %a, %b, %s scope warpgroup {atom = #atom} : !lhs, !p, "
      "!acc\n"));
  EXPECT_NE(diagnostics.find("'tile.mma' op expects a target with a matrix "
                             "unit that warpgroups issue to, but got 'toy'"),
            std::string::npos)
      << diagnostics;
}

TEST_F(TargetModelTest, RefusesRegistersOfRoles) {
  EXPECT_FALSE(convert("Copy", R"(
    tile.specialize <"compute", warps = 4, registers = 240> {
    }, <"load", warps = 4, registers = 24, threads = one> {
    }
  )"));
  EXPECT_NE(diagnostics.find("expects roles without registers on 'toy', which "
                             "exchanges none, but got"),
            std::string::npos)
      << diagnostics;
}

TEST_F(TargetModelTest, KnowsTheFirstLaneOfAnyChip) {
  OpBuilder b(&context);
  context.loadAllAvailableDialects();
  Location loc = b.getUnknownLoc();
  OwningOpRef<ModuleOp> module = ModuleOp::create(b, loc);
  b.setInsertionPointToStart(module->getBody());
  Value index = arith::ConstantIndexOp::create(b, loc, 3);
  auto target = tile::TargetAttr::lookup(*convert("Copy", "tile.sync_warp\n"));
  // What TargetModel gives a chip that says nothing, and what NVIDIA's say.
  CopyTarget model;
  Value general = model.TargetModel::emitFirstLane(b, loc, target, index);
  EXPECT_TRUE(general.getType().isIndex());
  EXPECT_EQ(count<gpu::ShuffleOp>(*module), 1);
  Value own = model.emitFirstLane(b, loc, target, index);
  EXPECT_TRUE(own.getType().isIndex());
  EXPECT_EQ(count<NVVM::ShflOp>(*module), 1);
}
