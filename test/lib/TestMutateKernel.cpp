// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// test-mutate-kernel plants one fault of a kind that lowerings have had into a
// kernel in LLVM dialect, so that a test can see who finds it.

#include "TestPasses.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace {

/// Changes the op and returns true, or returns false where it has nothing to
/// change. Nothing is changed where `apply` is false.
using Mutation = bool (*)(Operation *op, bool apply);

} // namespace

static bool erase(Operation *op, bool apply) {
  if (apply)
    op->erase();
  return true;
}

static bool replaceByOperand(Operation *op, unsigned operand, bool apply) {
  if (apply) {
    op->getResult(0).replaceAllUsesWith(op->getOperand(operand));
    op->erase();
  }
  return true;
}

static bool swapOperands(Operation *op, unsigned first, unsigned second,
                         bool apply) {
  Value a = op->getOperand(first), b = op->getOperand(second);
  if (a == b)
    return false;
  if (apply) {
    op->setOperand(first, b);
    op->setOperand(second, a);
  }
  return true;
}

static void addBytes(OpOperand &address, int32_t bytes) {
  OpBuilder b(address.getOwner());
  address.set(LLVM::GEPOp::create(
      b, address.getOwner()->getLoc(), address.get().getType(), b.getI8Type(),
      address.get(), ArrayRef<LLVM::GEPArg>{bytes}));
}

static bool isShared(Value address) {
  return cast<LLVM::LLVMPointerType>(address.getType()).getAddressSpace() == 3;
}

template <typename... OpTys> static bool dropOp(Operation *op, bool apply) {
  return isa<OpTys...>(op) && erase(op, apply);
}

/// The dialect is linked to attune-opt: here its ops have names alone.
static bool isWGMMA(Operation *op, StringRef name) {
  return op->getName().getDialectNamespace() == "wgmma" &&
         op->getName().stripDialect() == name;
}

static bool isProduct(Operation *op) {
  return isa<NVVM::WgmmaMmaAsyncOp>(op) || isWGMMA(op, "mma_async");
}

/// Loads that an s_waitcnt leaves under way; none where it waits for something
/// else.
static std::optional<uint32_t> getLoads(ROCDL::SWaitcntOp wait) {
  uint32_t fields = wait.getBitfield();
  uint32_t loads = (fields & 0xf) | (fields >> 10 & 0x30);
  return loads == 0x3f ? std::nullopt : std::optional<uint32_t>(loads);
}

static bool dropWait(Operation *op, bool apply) {
  auto wait = dyn_cast<ROCDL::SWaitcntOp>(op);
  return ((wait && getLoads(wait)) ||
          isa<NVVM::CpAsyncWaitGroupOp, NVVM::CpAsyncBulkWaitGroupOp,
              NVVM::MBarrierTryWaitParityOp>(op)) &&
         erase(op, apply);
}

static bool lateWait(Operation *op, bool apply) {
  if (auto wait = dyn_cast<ROCDL::SWaitcntOp>(op)) {
    std::optional<uint32_t> loads = getLoads(wait);
    if (loads && apply)
      wait.setBitfield((wait.getBitfield() & ~0xc00fU) | ((*loads + 1) & 0xf) |
                       ((*loads + 1) & 0x30) << 10);
    return loads.has_value();
  }
  if (auto wait = dyn_cast<NVVM::CpAsyncWaitGroupOp>(op)) {
    if (apply)
      wait.setN(wait.getN() + 1);
    return true;
  }
  if (!isWGMMA(op, "wait_group"))
    return false;
  auto group = op->getAttrOfType<IntegerAttr>("group");
  if (apply)
    op->setAttr("group", IntegerAttr::get(group.getType(), group.getInt() + 1));
  return true;
}

/// The box of another row, or in another place.
template <bool target> static bool moveBox(Operation *op, bool apply) {
  auto load = dyn_cast<NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp>(op);
  if (!load || !apply)
    return bool(load);
  if (target) {
    addBytes(load.getDstMemMutable(), 128);
    return true;
  }
  OpBuilder b(op);
  Value one = LLVM::ConstantOp::create(b, op->getLoc(), b.getI32Type(), 1);
  OpOperand &row = load.getCoordinatesMutable()[1];
  row.set(LLVM::AddOp::create(b, op->getLoc(), row.get(), one));
  return true;
}

static bool dropArrival(Operation *op, bool apply) {
  return isa<NVVM::MBarrierArriveOp, NVVM::MBarrierArriveExpectTxOp>(op) &&
         op->use_empty() && erase(op, apply);
}

/// Waits for the phase before or behind the one that is meant.
static bool wrongParity(Operation *op, bool apply) {
  auto wait = dyn_cast<NVVM::MBarrierTryWaitParityOp>(op);
  if (wait && apply) {
    OpBuilder b(op);
    Value one = LLVM::ConstantOp::create(b, op->getLoc(), b.getI32Type(), 1);
    OpOperand &parity = op->getOpOperand(1);
    parity.set(LLVM::XOrOp::create(b, op->getLoc(), parity.get(), one));
  }
  return bool(wait);
}

static bool wrongBytes(Operation *op, bool apply) {
  auto expect = dyn_cast<NVVM::MBarrierArriveExpectTxOp>(op);
  if (expect && apply) {
    OpBuilder b(op);
    Value more = LLVM::ConstantOp::create(b, op->getLoc(), b.getI32Type(), 16);
    expect.getTxcountMutable().assign(
        LLVM::AddOp::create(b, op->getLoc(), expect.getTxcount(), more));
  }
  return bool(expect);
}

template <unsigned operand, int32_t bytes>
static bool moveCopy(Operation *op, bool apply) {
  bool isTarget = operand == 0 && isa<ROCDL::RawPtrBufferLoadLdsOp>(op);
  if (!isTarget && !isa<NVVM::CpAsyncOp>(op))
    return false;
  if (apply)
    addBytes(op->getOpOperand(isTarget ? 1 : operand), bytes);
  return true;
}

/// All copies at once: most of them never meet the end of a tensor.
static bool readTail(Operation *op, bool apply) {
  bool any = false;
  if (isa<LLVM::LLVMFuncOp>(op))
    op->walk([&](NVVM::CpAsyncOp copy) {
      any |= bool(copy.getCpSize());
      if (apply)
        copy.getCpSizeMutable().clear();
    });
  return any;
}

static bool swapLhs(Operation *op, bool apply) {
  if (isWGMMA(op, "mma_async"))
    return swapOperands(op, 1, 2, apply);
  auto mma = dyn_cast<NVVM::MmaOp>(op);
  return mma && mma.getOperandA().size() > 2 && swapOperands(op, 1, 2, apply);
}

static bool swapRhs(Operation *op, bool apply) {
  auto mma = dyn_cast<NVVM::MmaOp>(op);
  unsigned first = mma ? mma.getOperandA().size() : 0;
  return mma && mma.getOperandB().size() == 2 &&
         swapOperands(op, first, first + 1, apply);
}

static bool swapFactors(Operation *op, bool apply) {
  StringRef name = op->getName().getStringRef();
  return (name.starts_with("rocdl.mfma") || name.starts_with("rocdl.wmma")) &&
         swapOperands(op, 0, 1, apply);
}

static bool forgetSum(Operation *op, bool apply) {
  StringRef name = op->getName().getStringRef();
  unsigned first = 0, count = 1;
  if (auto mma = dyn_cast<NVVM::MmaOp>(op)) {
    first = mma.getOperandA().size() + mma.getOperandB().size();
    count = mma.getOperandC().size();
  } else if (name.starts_with("rocdl.mfma") || name.starts_with("rocdl.wmma")) {
    first = 2;
  } else if (isProduct(op)) {
    auto one = NVVM::WGMMAScaleOutAttr::get(op->getContext(),
                                            NVVM::WGMMAScaleOut::one),
         zero = NVVM::WGMMAScaleOutAttr::get(op->getContext(),
                                             NVVM::WGMMAScaleOut::zero);
    bool adds = op->getAttr("scaleD") == one;
    if (adds && apply)
      op->setAttr("scaleD", zero);
    return adds;
  } else {
    return false;
  }
  Value sum = op->getOperand(first);
  if (matchPattern(sum, m_Constant()))
    return false;
  if (!apply)
    return true;
  OpBuilder b(op);
  Value zero = LLVM::ZeroOp::create(b, op->getLoc(), sum.getType());
  for (unsigned index = first; index < first + count; ++index)
    op->setOperand(index, zero);
  return true;
}

static bool transposeMatrix(Operation *op, bool apply) {
  if (isProduct(op)) {
    auto layout = op->getAttrOfType<NVVM::MMALayoutAttr>("layoutB");
    if (apply)
      op->setAttr("layoutB", NVVM::MMALayoutAttr::get(
                                 op->getContext(),
                                 layout.getValue() == NVVM::MMALayout::row
                                     ? NVVM::MMALayout::col
                                     : NVVM::MMALayout::row));
    return true;
  }
  auto load = dyn_cast<NVVM::LdMatrixOp>(op);
  if (load && apply)
    load.setLayout(load.getLayout() == NVVM::MMALayout::row
                       ? NVVM::MMALayout::col
                       : NVVM::MMALayout::row);
  return bool(load);
}

static bool moveMatrix(Operation *op, bool apply) {
  if (isProduct(op)) {
    if (!apply)
      return true;
    for (OpOperand &operand : op->getOpOperands())
      if (operand.get().getType().isInteger(64)) {
        // Descriptors count in units of 16 bytes.
        OpBuilder b(op);
        Value two =
            LLVM::ConstantOp::create(b, op->getLoc(), b.getI64Type(), 2);
        operand.set(LLVM::AddOp::create(b, op->getLoc(), operand.get(), two));
        return true;
      }
  }
  auto load = dyn_cast<NVVM::LdMatrixOp>(op);
  if (load && apply)
    addBytes(load.getPtrMutable(), 16);
  return bool(load);
}

static bool dropSwizzle(Operation *op, bool apply) {
  auto phase = dyn_cast<LLVM::XOrOp>(op);
  return phase && phase.getType().isInteger(64) &&
         replaceByOperand(op, 0, apply);
}

/// But for a shuffle from one lane to all, of what all have: it tells the
/// compiler that they do.
static bool wrongLane(Operation *op, bool apply) {
  Value offset;
  if (auto shuffle = dyn_cast<NVVM::ShflOp>(op);
      shuffle && shuffle.getKind() != NVVM::ShflKind::idx)
    offset = shuffle.getOffset();
  else if (auto permute = dyn_cast<ROCDL::DsBpermuteOp>(op))
    offset = permute.getIndex();
  else
    return false;
  if (!apply)
    return true;
  OpBuilder b(op);
  Value more = LLVM::ConstantOp::create(b, op->getLoc(), b.getI32Type(), 4);
  Value moved = LLVM::AddOp::create(b, op->getLoc(), offset, more);
  op->replaceUsesOfWith(offset, moved);
  return true;
}

static bool negateBranch(Operation *op, bool apply) {
  auto branch = dyn_cast<LLVM::CondBrOp>(op);
  if (!branch)
    return false;
  if (apply) {
    OpBuilder b(op);
    Value one = LLVM::ConstantOp::create(b, op->getLoc(), b.getI1Type(), 1);
    branch.getConditionMutable().assign(
        LLVM::XOrOp::create(b, op->getLoc(), branch.getCondition(), one));
  }
  return true;
}

/// Bounds of loops and masks. Other comparisons may be off by one: of signs in
/// divisions that round down, as 0 has no remainder; of rows of blocks that
/// never meet the end of a tensor; of blocks to fetch, as one too many lands in
/// a slot that nobody reads.
static bool offByOne(Operation *op, bool apply) {
  auto compare = dyn_cast<LLVM::ICmpOp>(op);
  if (!compare || (!isa<VectorType>(compare.getLhs().getType()) &&
                   !isa<BlockArgument>(compare.getLhs())))
    return false;
  LLVM::ICmpPredicate predicate = compare.getPredicate();
  switch (predicate) {
  case LLVM::ICmpPredicate::slt:
    predicate = LLVM::ICmpPredicate::sle;
    break;
  case LLVM::ICmpPredicate::sle:
    predicate = LLVM::ICmpPredicate::slt;
    break;
  case LLVM::ICmpPredicate::sgt:
    predicate = LLVM::ICmpPredicate::sge;
    break;
  case LLVM::ICmpPredicate::sge:
    predicate = LLVM::ICmpPredicate::sgt;
    break;
  case LLVM::ICmpPredicate::ult:
    predicate = LLVM::ICmpPredicate::ule;
    break;
  default:
    return false;
  }
  if (apply)
    compare.setPredicate(predicate);
  return true;
}

static bool swapSelect(Operation *op, bool apply) {
  return isa<LLVM::SelectOp>(op) && swapOperands(op, 1, 2, apply);
}

static bool dropExp(Operation *op, bool apply) {
  auto call = dyn_cast<LLVM::CallIntrinsicOp>(op);
  return (isa<LLVM::Exp2Op>(op) ||
          (call && call.getIntrin() == "llvm.amdgcn.exp2")) &&
         replaceByOperand(op, 0, apply);
}

/// The factor that rescales what was summed before the maximum grew.
static bool dropScale(Operation *op, bool apply) {
  return isa<LLVM::FMulOp>(op) && replaceByOperand(op, 0, apply);
}

/// A multiple of how often a loop has run, plus something. What a thread or a
/// workgroup does first is free: they may change places.
static bool isLoopIndex(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<LLVM::AddOp, LLVM::SubOp, LLVM::SDivOp, LLVM::UDivOp,
             LLVM::TruncOp>(op))
      return false;
    value = op->getOperand(0);
  }
  return !cast<BlockArgument>(value).getOwner()->isEntryBlock();
}

/// The next slot of a ring.
static bool wrongStage(Operation *op, bool apply) {
  auto remainder = dyn_cast<LLVM::URemOp>(op);
  APInt slots;
  if (!remainder || !matchPattern(remainder.getRhs(), m_ConstantInt(&slots)) ||
      slots.ult(2) || slots.ugt(4) || !isLoopIndex(remainder.getLhs()))
    return false;
  if (apply) {
    OpBuilder b(op);
    Value one =
        LLVM::ConstantOp::create(b, op->getLoc(), remainder.getType(),
                                 b.getIntegerAttr(remainder.getType(), 1));
    remainder.getLhsMutable().assign(
        LLVM::AddOp::create(b, op->getLoc(), remainder.getLhs(), one));
  }
  return true;
}

template <bool shared> static bool dropStore(Operation *op, bool apply) {
  auto store = dyn_cast<LLVM::StoreOp>(op);
  return store && isShared(store.getAddr()) == shared && erase(op, apply);
}

template <bool shared> static bool moveStore(Operation *op, bool apply) {
  auto store = dyn_cast<LLVM::StoreOp>(op);
  if (!store || isShared(store.getAddr()) != shared)
    return false;
  if (apply)
    addBytes(store.getAddrMutable(), 16);
  return true;
}

/// A load through a buffer resource, whose bounds it still keeps.
static bool moveBufferLoad(ROCDL::RawPtrBufferLoadOp load, bool apply) {
  if (apply) {
    OpBuilder b(load);
    Value more = LLVM::ConstantOp::create(b, load.getLoc(), b.getI32Type(), 16);
    load.getOffsetMutable().assign(
        LLVM::AddOp::create(b, load.getLoc(), load.getOffset(), more));
  }
  return true;
}

template <bool shared> static bool moveLoad(Operation *op, bool apply) {
  if (auto load = dyn_cast<ROCDL::RawPtrBufferLoadOp>(op); load && !shared)
    return moveBufferLoad(load, apply);
  auto load = dyn_cast<LLVM::LoadOp>(op);
  if (!load || isShared(load.getAddr()) != shared)
    return false;
  if (apply)
    addBytes(load.getAddrMutable(), 16);
  return true;
}

/// The one at the start, whose two halves stand together, or the one at the
/// end, at which warps arrive in several places.
static bool dropClusterBarrier(Operation *op, bool apply) {
  if (!isa<NVVM::ClusterWaitOp>(op))
    return false;
  if (!apply)
    return true;
  if (auto first =
          dyn_cast_or_null<NVVM::ClusterArriveRelaxedOp>(op->getPrevNode()))
    first.erase();
  else
    op->getParentOfType<LLVM::LLVMFuncOp>().walk(
        [](NVVM::ClusterArriveOp arrival) { arrival.erase(); });
  return erase(op, apply);
}

/// Arrives at a barrier of the first workgroup, whichever is meant.
static bool wrongWorkgroup(Operation *op, bool apply) {
  auto map = dyn_cast<NVVM::MapaOp>(op);
  if (map && apply) {
    OpBuilder b(op);
    op->setOperand(
        1, LLVM::ConstantOp::create(b, op->getLoc(), b.getI32Type(), 0));
  }
  return bool(map);
}

/// Copies to the own workgroup alone.
static bool dropMulticast(Operation *op, bool apply) {
  auto load = dyn_cast<NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp>(op);
  if (!load || !load.getMulticastMask())
    return false;
  if (apply)
    load.getMulticastMaskMutable().clear();
  return true;
}

static const std::pair<StringRef, Mutation> kMutations[] = {
    {"drop-barrier",
     dropOp<NVVM::Barrier0Op, NVVM::BarrierOp, NVVM::BarrierArriveOp,
            ROCDL::BarrierOp, ROCDL::SBarrierOp>},
    {"drop-cluster-barrier", dropClusterBarrier},
    {"wrong-workgroup", wrongWorkgroup},
    {"drop-multicast", dropMulticast},
    {"drop-fence", dropOp<NVVM::WgmmaFenceAlignedOp, NVVM::FenceProxyOp,
                          NVVM::FenceMbarrierInitOp>},
    {"drop-commit",
     dropOp<NVVM::CpAsyncCommitGroupOp, NVVM::CpAsyncBulkCommitGroupOp,
            NVVM::WgmmaGroupSyncAlignedOp>},
    {"drop-wait", dropWait},
    {"late-wait", lateWait},
    {"drop-init", dropOp<NVVM::MBarrierInitOp>},
    {"drop-arrive", dropArrival},
    {"wrong-parity", wrongParity},
    {"wrong-bytes", wrongBytes},
    {"drop-copy",
     dropOp<NVVM::CpAsyncOp, NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp,
            NVVM::CpAsyncBulkTensorSharedCTAToGlobalOp, NVVM::StMatrixOp,
            ROCDL::RawPtrBufferLoadLdsOp>},
    {"move-box-target", moveBox<true>},
    {"move-box-source", moveBox<false>},
    {"move-copy-target", moveCopy<0, 16>},
    {"move-copy-source", moveCopy<1, 16>},
    {"read-tail", readTail},
    {"swap-lhs", swapLhs},
    {"swap-rhs", swapRhs},
    {"swap-factors", swapFactors},
    {"forget-sum", forgetSum},
    {"transpose-matrix", transposeMatrix},
    {"move-matrix", moveMatrix},
    {"drop-swizzle", dropSwizzle},
    {"wrong-lane", wrongLane},
    {"negate-branch", negateBranch},
    {"off-by-one", offByOne},
    {"swap-select", swapSelect},
    {"drop-exp", dropExp},
    {"drop-scale", dropScale},
    {"wrong-stage", wrongStage},
    {"drop-store", dropStore<false>},
    {"drop-shared-store", dropStore<true>},
    {"move-store", moveStore<false>},
    {"move-shared-store", moveStore<true>},
    {"move-load", moveLoad<false>},
    {"move-shared-load", moveLoad<true>},
};

namespace {
struct TestMutateKernel
    : PassWrapper<TestMutateKernel, OperationPass<gpu::GPUModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TestMutateKernel)

  TestMutateKernel() = default;
  TestMutateKernel(const TestMutateKernel &other) : PassWrapper(other) {}

  StringRef getArgument() const override { return "test-mutate-kernel"; }
  StringRef getDescription() const override {
    return "Plants one fault into a kernel in LLVM dialect";
  }

  void runOnOperation() override {
    for (auto [name, mutation] : kMutations) {
      SmallVector<Operation *> places;
      getOperation().walk([&, mutation = mutation](Operation *op) {
        if (mutation(op, /*apply=*/false))
          places.push_back(op);
      });
      if (kind.empty() && !places.empty())
        llvm::outs() << name << ' ' << places.size() << '\n';
      if (kind != name)
        continue;
      if (number < places.size()) {
        mutation(places[number], /*apply=*/true);
        return;
      }
    }
    if (!kind.empty()) {
      emitError(getOperation().getLoc())
          << "expects a mutation that the kernel has a place for, but got '"
          << kind << "' " << number;
      signalPassFailure();
    }
  }

  Option<std::string> kind{
      *this, "kind",
      llvm::cl::desc("What to change; if empty, prints how many places there "
                     "are for each change.")};
  Option<unsigned> number{*this, "number",
                          llvm::cl::desc("Which of the places."),
                          llvm::cl::init(0)};
};
} // namespace

void attune::test::registerTestMutateKernelPass() {
  PassRegistration<TestMutateKernel>();
}
