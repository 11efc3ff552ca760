// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// convert-kernel-to-host: what all families share, which is memory, control
// flow and the shell of the kernel.

#include "HostOps.h"
#include "attune/Conversion/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cstddef>

namespace attune {
#define GEN_PASS_DEF_CONVERTKERNELTOHOSTPASS
#include "attune/Conversion/Passes.h.inc"
} // namespace attune

using namespace mlir;
using namespace attune;

/// The number of workgroup memory, on all chips.
static constexpr unsigned kSharedSpace = 3;

namespace {
struct ConvertKernelToHost
    : attune::impl::ConvertKernelToHostPassBase<ConvertKernelToHost> {
  using ConvertKernelToHostPassBase::ConvertKernelToHostPassBase;

  void runOnOperation() override;

private:
  void placeSharedArrays();
  void convertSignature(LLVM::LLVMFuncOp function, HostRewriter &rewriter);
  LogicalResult convertBody(LLVM::LLVMFuncOp function, const HostOps &ops,
                            HostRewriter &rewriter);
  LogicalResult convert(Operation *op, const HostOps &ops,
                        HostRewriter &rewriter);
  /// Whether the op reads or writes memory, or orders who does.
  bool convertAccess(Operation *op, HostRewriter &rewriter);
  void checkAccess(Operation *op, OpOperand &address, Type type,
                   uint64_t alignment, uint32_t flags, HostRewriter &rewriter);
  void countStep(Operation *terminator, HostRewriter &rewriter);

  /// Offsets of arrays in workgroup memory.
  llvm::StringMap<uint64_t> sharedOffsets;
};
} // namespace

static bool isKernel(LLVM::LLVMFuncOp function) {
  return function->hasAttr(gpu::GPUDialect::getKernelFuncAttrName()) ||
         function->hasAttr("nvvm.kernel") || function->hasAttr("rocdl.kernel");
}

void ConvertKernelToHost::placeSharedArrays() {
  DataLayout layout(getOperation());
  sharedOffsets.clear();
  // An array of size 0 is the dynamic memory, behind all static arrays.
  SmallVector<LLVM::GlobalOp> arrays, dynamicArrays;
  for (auto global : getOperation().getOps<LLVM::GlobalOp>())
    if (global.getAddrSpace() == kSharedSpace)
      (layout.getTypeSize(global.getType()) == 0 ? dynamicArrays : arrays)
          .push_back(global);
  llvm::append_range(arrays, dynamicArrays);
  uint64_t offset = 0, staticBytes = 0;
  for (LLVM::GlobalOp array : arrays) {
    uint64_t alignment = array.getAlignment().value_or(
        layout.getTypeABIAlignment(array.getType()));
    offset = llvm::alignTo(offset, std::max<uint64_t>(alignment, 1));
    sharedOffsets[array.getSymName()] = offset;
    offset += layout.getTypeSize(array.getType());
    staticBytes = offset;
    array->erase();
  }
  getOperation()->setAttr(
      kStaticSharedAttrName,
      Builder(&getContext()).getI64IntegerAttr(staticBytes));
}

/// Attributes of a chip's dialects would change how the function is translated.
static void removeForeignAttributes(LLVM::LLVMFuncOp function) {
  for (NamedAttribute attribute :
       llvm::to_vector(function->getDiscardableAttrs()))
    if (attribute.getName() != gpu::GPUDialect::getKernelFuncAttrName() &&
        attribute.getName().strref().contains('.'))
      function->removeDiscardableAttr(attribute.getName());
  for (StringRef name : {"arg_attrs", "res_attrs", "target_cpu",
                         "target_features", "passthrough"})
    function->removeAttr(name);
  function.setCConv(LLVM::CConv::C);
  function.setLinkage(LLVM::Linkage::External);
}

void ConvertKernelToHost::convertSignature(LLVM::LLVMFuncOp function,
                                           HostRewriter &rewriter) {
  auto pointer = LLVM::LLVMPointerType::get(&getContext());
  bool kernel = isKernel(function);
  SmallVector<bool> isByValue;
  for (unsigned index : llvm::seq(function.getNumArguments()))
    isByValue.push_back(static_cast<bool>(
        function.getArgAttr(index, LLVM::LLVMDialect::getByValAttrName())));
  removeForeignAttributes(function);
  Block &entry = function.front();
  auto type = function.getFunctionType();
  SmallVector<Type> parameters{pointer};
  if (!kernel)
    llvm::append_range(parameters, type.getParams());
  function.setFunctionType(
      LLVM::LLVMFunctionType::get(type.getReturnType(), parameters));
  rewriter.thread =
      entry.insertArgument(unsigned(0), pointer, function.getLoc());
  if (!kernel)
    return;
  Operation *first = &entry.front();
  Location loc = function.getLoc();
  Value list;
  for (BlockArgument argument : entry.getArguments().drop_front()) {
    if (argument.use_empty())
      continue;
    if (!list) {
      Value slot = rewriter.field(first, offsetof(HostThread, arguments));
      list = LLVM::LoadOp::create(rewriter.at(first), loc, pointer, slot);
    }
    OpBuilder &b = rewriter.at(first);
    Value slot =
        LLVM::GEPOp::create(b, loc, pointer, pointer, list,
                            ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(
                                argument.getArgNumber() - 1)});
    Value address = LLVM::LoadOp::create(b, loc, pointer, slot);
    // What is passed by value is a pointer to it within the kernel, too.
    argument.replaceAllUsesWith(
        isByValue[argument.getArgNumber() - 1]
            ? address
            : LLVM::LoadOp::create(b, loc, argument.getType(), address));
  }
  entry.eraseArguments(1, entry.getNumArguments() - 1);
}

/// Whether `address` comes from an llvm.alloca, be it through the descriptor of
/// a memref. Such memory is the thread's own, and the runtime knows no more of
/// it.
static bool isOnStack(Value address) {
  while (Operation *op = address.getDefiningOp()) {
    if (isa<LLVM::AllocaOp>(op))
      return true;
    auto extract = dyn_cast<LLVM::ExtractValueOp>(op);
    if (!extract && !isa<LLVM::GEPOp, LLVM::AddrSpaceCastOp>(op))
      return false;
    address = op->getOperand(0);
    if (!extract)
      continue;
    auto insert = address.getDefiningOp<LLVM::InsertValueOp>();
    while (insert && insert.getPosition() != extract.getPosition())
      insert = insert.getContainer().getDefiningOp<LLVM::InsertValueOp>();
    if (!insert)
      return false;
    address = insert.getValue();
  }
  return false;
}

/// Redirects an access to the address that the runtime allows.
void ConvertKernelToHost::checkAccess(Operation *op, OpOperand &address,
                                      Type type, uint64_t alignment,
                                      uint32_t flags, HostRewriter &rewriter) {
  if (!checkAccesses || isOnStack(address.get()))
    return;
  DataLayout layout(getOperation());
  auto pointer = cast<LLVM::LLVMPointerType>(address.get().getType());
  auto generic = LLVM::LLVMPointerType::get(&getContext());
  if (pointer.getAddressSpace() == kSharedSpace)
    flags |= kHostAccessShared;
  if (alignment == 0)
    alignment = layout.getTypeABIAlignment(type);
  Value plain = address.get();
  if (pointer != generic)
    plain = LLVM::AddrSpaceCastOp::create(rewriter.at(op), op->getLoc(),
                                          generic, plain);
  Value allowed =
      rewriter
          .call(
              op, "attuneHostAccess",
              {plain,
               rewriter.i32(op, static_cast<int64_t>(layout.getTypeSize(type))),
               rewriter.i32(op, static_cast<int64_t>(alignment)),
               rewriter.i32(op, flags)},
              generic)
          .getResult();
  if (pointer != generic)
    allowed = LLVM::AddrSpaceCastOp::create(rewriter.at(op), op->getLoc(),
                                            pointer, allowed);
  address.set(allowed);
}

/// Loops end in a branch to a block that stands before it.
void ConvertKernelToHost::countStep(Operation *terminator,
                                    HostRewriter &rewriter) {
  Block *block = terminator->getBlock();
  for (Block *successor : terminator->getSuccessors())
    for (Block *above = block; above; above = above->getPrevNode())
      if (above == successor) {
        rewriter.call(terminator, "attuneHostStep", {});
        return;
      }
}

static bool isExponential(Operation *op) {
  auto call = dyn_cast<LLVM::CallIntrinsicOp>(op);
  return isa<LLVM::Exp2Op>(op) ||
         (call && (call.getIntrin().starts_with("llvm.nvvm.ex2.") ||
                   call.getIntrin() == "llvm.amdgcn.exp2"));
}

/// Whether threads of other workgroups see what is ordered in that scope: of
/// the system, unless it says less.
static bool isOfDevice(std::optional<StringRef> scope) {
  return !scope || !llvm::is_contained(
                       {"workgroup", "block", "cluster", "wavefront", "warp",
                        "singlethread"},
                       scope->take_until([](char c) { return c == '-'; }));
}

/// What an access is by its order.
static uint32_t getFlags(LLVM::AtomicOrdering ordering,
                         std::optional<StringRef> scope) {
  if (ordering == LLVM::AtomicOrdering::not_atomic)
    return 0;
  if (!isOfDevice(scope))
    return kHostAccessAtomic;
  switch (ordering) {
  case LLVM::AtomicOrdering::acquire:
    return kHostAccessAtomic | kHostAccessAcquire;
  case LLVM::AtomicOrdering::release:
    return kHostAccessAtomic | kHostAccessRelease;
  case LLVM::AtomicOrdering::acq_rel:
  case LLVM::AtomicOrdering::seq_cst:
    return kHostAccessAtomic | kHostAccessAcquire | kHostAccessRelease;
  default:
    return kHostAccessAtomic;
  }
}

/// Adds the elements of a vector one by one, each of which is atomic, and not
/// all together.
static void addElements(LLVM::AtomicRMWOp atomic) {
  auto type = dyn_cast<VectorType>(atomic.getVal().getType());
  if (!type)
    return;
  OpBuilder b(atomic);
  Location loc = atomic.getLoc();
  Type element = type.getElementType();
  for (int32_t i : llvm::seq(static_cast<int32_t>(type.getNumElements()))) {
    Value number = LLVM::ConstantOp::create(b, loc, b.getI32IntegerAttr(i));
    Value part =
        LLVM::ExtractElementOp::create(b, loc, atomic.getVal(), number);
    Value place =
        LLVM::GEPOp::create(b, loc, atomic.getPtr().getType(), element,
                            atomic.getPtr(), ArrayRef<LLVM::GEPArg>{i});
    LLVM::AtomicRMWOp::create(b, loc, atomic.getBinOp(), place, part,
                              atomic.getOrdering());
  }
  atomic.erase();
}

bool ConvertKernelToHost::convertAccess(Operation *op, HostRewriter &rewriter) {
  // They are aligned to 1 so that the CPU allows those that were reported.
  return TypeSwitch<Operation *, bool>(op)
      .Case([&](LLVM::LoadOp load) {
        checkAccess(op, load.getAddrMutable(), load.getType(),
                    load.getAlignment().value_or(0),
                    getFlags(load.getOrdering(), load.getSyncscope()),
                    rewriter);
        // An atomic one would be a call of a function that locks.
        if (load.getOrdering() == LLVM::AtomicOrdering::not_atomic)
          load.setAlignment(1);
        return true;
      })
      .Case([&](LLVM::StoreOp store) {
        checkAccess(op, store.getAddrMutable(), store.getValue().getType(),
                    store.getAlignment().value_or(0),
                    kHostAccessWrite |
                        getFlags(store.getOrdering(), store.getSyncscope()),
                    rewriter);
        store.setAlignment(1);
        return true;
      })
      .Case([&](LLVM::AtomicRMWOp atomic) {
        checkAccess(op, atomic.getPtrMutable(), atomic.getType(),
                    atomic.getAlignment().value_or(0),
                    kHostAccessWrite |
                        getFlags(atomic.getOrdering(), atomic.getSyncscope()),
                    rewriter);
        addElements(atomic);
        return true;
      })
      .Case([&](LLVM::FenceOp fence) {
        if (isOfDevice(fence.getSyncscope()))
          rewriter.call(op, "attuneHostFenceDevice", {});
        return true;
      })
      .Default([](Operation *) { return false; });
}

LogicalResult ConvertKernelToHost::convert(Operation *op, const HostOps &ops,
                                           HostRewriter &rewriter) {
  if (op->hasTrait<OpTrait::IsTerminator>())
    countStep(op, rewriter);
  if (countMath && isExponential(op)) {
    auto vector = dyn_cast<VectorType>(op->getResult(0).getType());
    rewriter.call(op, "attuneHostCountExp",
                  rewriter.i32(op, vector ? vector.getNumElements() : 1));
  }
  if (const HostOps::Rewrite *rewrite = ops.find(op))
    return (*rewrite)(op, rewriter);
  auto refuse = [&](const Twine &what) {
    return op->emitError() << "expects an op that the host executor models, "
                              "but got '"
                           << what << "'";
  };
  if (!isa<LLVM::LLVMDialect>(op->getDialect()))
    return refuse(op->getName().getStringRef());
  if (convertAccess(op, rewriter))
    return success();
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](LLVM::AddressOfOp address) {
        auto it = sharedOffsets.find(address.getGlobalName());
        if (it == sharedOffsets.end())
          return success();
        Value slot = rewriter.field(op, offsetof(HostThread, shared));
        Value base = LLVM::LoadOp::create(rewriter.at(op), op->getLoc(),
                                          address.getType(), slot);
        rewriter.replace(
            op, LLVM::GEPOp::create(
                    rewriter.at(op), op->getLoc(), address.getType(),
                    Builder(&getContext()).getI8Type(), base,
                    ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(it->second)}));
        return success();
      })
      .Case([&](LLVM::Trap) {
        rewriter.replaceWithCall(op, "attuneHostTrap");
        return success();
      })
      .Case([&](LLVM::CallOp call) -> LogicalResult {
        auto callee = call.getCallee();
        auto function =
            callee ? getOperation().lookupSymbol<LLVM::LLVMFuncOp>(*callee)
                   : LLVM::LLVMFuncOp();
        if (!function || function.isExternal())
          return refuse("llvm.call of a function without a body");
        SmallVector<Value> operands{rewriter.thread};
        llvm::append_range(operands, call.getCalleeOperands());
        call.getCalleeOperandsMutable().assign(operands);
        return success();
      })
      .Case([&](LLVM::CallIntrinsicOp call) -> LogicalResult {
        StringRef name = call.getIntrin();
        if (name.starts_with("llvm.nvvm.") || name.starts_with("llvm.amdgcn."))
          return refuse(name);
        return success();
      })
      .Case<LLVM::InlineAsmOp, LLVM::AtomicCmpXchgOp, LLVM::MemcpyOp,
            LLVM::MemmoveOp, LLVM::MemsetOp, LLVM::MaskedLoadOp,
            LLVM::MaskedStoreOp, LLVM::masked_gather, LLVM::masked_scatter>(
          [&](Operation *) { return refuse(op->getName().getStringRef()); })
      .Default([](Operation *) { return success(); });
}

LogicalResult ConvertKernelToHost::convertBody(LLVM::LLVMFuncOp function,
                                               const HostOps &ops,
                                               HostRewriter &rewriter) {
  // All that is refused is said at once.
  bool allConverted = true;
  SmallVector<Operation *> worklist;
  function.getBody().walk([&](Operation *op) { worklist.push_back(op); });
  convertSignature(function, rewriter);
  prepareMmas(function, rewriter);
  for (Operation *op : worklist)
    allConverted &= succeeded(convert(op, ops, rewriter));
  return success(allConverted);
}

void ConvertKernelToHost::runOnOperation() {
  llvm::DenseMap<Operation *, uint32_t> sites;
  uint32_t number = 0;
  getOperation().walk<WalkOrder::PreOrder>(
      [&](Operation *op) { sites[op] = number++; });
  HostOps ops;
  populateNVVMHostOps(ops);
  populateMBarrierHostOps(ops);
  populateWarpgroupHostOps(ops);
  populateROCDLHostOps(ops);
  HostRewriter rewriter(getOperation(), sites);
  placeSharedArrays();
  for (auto function :
       llvm::to_vector(getOperation().getOps<LLVM::LLVMFuncOp>()))
    if (!function.isExternal() && failed(convertBody(function, ops, rewriter)))
      return signalPassFailure();
}
