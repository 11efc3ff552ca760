// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From LLVM dialect to PTX with LLVM's back end, and from PTX to a cubin with
// ptxas. Upstream's own way to a cubin drops the report of a successful
// assembler run, so ptxas is called here.

#include "MachineCode.h"
#include "NVIDIA.h"
#include "Ptxas.h"
#include "SharedPointer.h"
#include "attune/Dialect/Tile/IR/Tile.h"
#include "attune/Dialect/WGMMA/IR/WGMMA.h"
#include "attune/Target/AssemblyEmitter.h"
#include "mlir/Conversion/NVVMToLLVM/NVVMToLLVM.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Target/LLVM/NVVM/Utils.h"
#include "mlir/Transforms/DialectConversion.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/Threading.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Scalar.h"

using namespace mlir;
using namespace attune;

static constexpr StringLiteral kTriple = "nvptx64-nvidia-cuda";

static constexpr StringLiteral kMultiplyWide = "mul.wide.u32 $0, $1, $2;",
                               kMove = "mov.b64 $0, $1;",
                               kMaskAndTurn = "lop3.b32 $0, $1, $2, $3, 0x6a;";
static constexpr StringLiteral
    kCopyNeighbours = "cp.async.cg.shared.global.L2::128B [$0], [$1], 16, $2;",
    kCopyAllNeighbours = "cp.async.cg.shared.global.L2::128B [$0], [$1], 16;";
/// PTX ISA, "red", since 8.1.
static constexpr StringLiteral kAddRun =
    "red.relaxed.gpu.global.add.v4.f32 [$0+$1], {$2, $3, $4, $5};";

unsigned nvidia::getCapability(StringRef chip) {
  unsigned capability;
  chip.consume_front("sm_");
  return chip.consumeInteger(10, capability) ? 0 : capability;
}

/// Inline assembly cannot say in LLVM dialect that it must not move into
/// divergent code, which most NVVM ops that become inline assembly need.
static void markInlineAsmConvergent(llvm::Module &module) {
  for (llvm::Function &function : module)
    for (llvm::Instruction &instruction : llvm::instructions(function))
      if (auto *call = dyn_cast<llvm::CallBase>(&instruction);
          call && call->isInlineAsm() &&
          !llvm::is_contained(
              {kMultiplyWide, kMove},
              cast<llvm::InlineAsm>(call->getCalledOperand())->getAsmString()))
        call->addFnAttr(llvm::Attribute::Convergent);
}

/// Whether a value follows from constants and symbols alone.
static bool isFixed(Value value) {
  Operation *op = value.getDefiningOp();
  return op && isMemoryEffectFree(op) &&
         llvm::all_of(op->getOperands(), isFixed);
}

/// Whether control comes back to a block that it has left.
static bool isInLoop(Block *block) {
  SetVector<Block *> reached;
  reached.insert_range(block->getSuccessors());
  for (size_t i = 0; i < reached.size() && !reached.contains(block); ++i)
    reached.insert_range(reached[i]->getSuccessors());
  return reached.contains(block);
}

/// Keeps where shared memory starts in a register that is set once, at the
/// kernel's start, where in a loop one lane of a warp arrives at a barrier
/// whose address is fixed, as that of a ring of one slot is. As a constant, the
/// assembler computes it again in that lane's branch, and all that follows from
/// it then counts as different between lanes: loops, slots, and the descriptors
/// of warpgroup MMAs, each of which is moved to a register of the warp in front
/// of its instruction. Other kernels have no use for that register.
static void keepStartOfSharedMemory(LLVM::LLVMFuncOp kernel) {
  SmallVector<LLVM::AddressOfOp> starts;
  bool multiplies = false, arrivesAtFixed = false;
  kernel.walk([&](Operation *op) {
    multiplies |= isa<NVVM::WgmmaFenceAlignedOp>(op);
    if (auto arrive = dyn_cast<NVVM::MBarrierArriveOp>(op))
      arrivesAtFixed |=
          isFixed(arrive.getAddr()) && isInLoop(arrive->getBlock());
    auto start = dyn_cast<LLVM::AddressOfOp>(op);
    if (start &&
        cast<LLVM::LLVMPointerType>(start.getType()).getAddressSpace() ==
            nvidia::kSharedSpace)
      starts.push_back(start);
  });
  auto names = llvm::map_range(starts, [](LLVM::AddressOfOp start) {
    return start.getGlobalNameAttr().getAttr();
  });
  if (!multiplies || !arrivesAtFixed || starts.empty() ||
      !llvm::all_equal(names))
    return;
  OpBuilder b = OpBuilder::atBlockBegin(&kernel.getBody().front());
  Location loc = kernel.getLoc();
  Value start = b.clone(*starts.front())->getResult(0);
  Value kept = LLVM::InlineAsmOp::create(
                   b, loc, start.getType(), start, kMove, "=l,l",
                   /*has_side_effects=*/false, /*is_align_stack=*/false,
                   LLVM::TailCallKind::None,
                   /*asm_dialect=*/LLVM::AsmDialectAttr(),
                   /*operand_attrs=*/ArrayAttr())
                   .getResult(0);
  for (LLVM::AddressOfOp before : starts) {
    before.replaceAllUsesWith(kept);
    before.erase();
  }
}

/// Makes both halves of a product by one instruction, for which there is no
/// intrinsic.
static void multiplyWide(LLVM::CallIntrinsicOp high) {
  if (high.getIntrin() != nvidia::kMultiplyHigh)
    return;
  ValueRange factors = high.getArgs();
  auto users =
      llvm::make_filter_range(factors[0].getUsers(), [&](Operation *user) {
        return isa<LLVM::MulOp>(user) && user->getOperands() == factors &&
               user->getBlock() == high->getBlock();
      });
  if (users.empty())
    return;
  auto low = cast<LLVM::MulOp>(*users.begin());
  Operation *first = low->isBeforeInBlock(high) ? low : high.getOperation();
  OpBuilder b(first);
  Location loc = high.getLoc();
  Value product =
      LLVM::InlineAsmOp::create(
          b, loc, b.getI64Type(), factors, kMultiplyWide, "=l,r,r",
          /*has_side_effects=*/false, /*is_align_stack=*/false,
          LLVM::TailCallKind::None, /*asm_dialect=*/LLVM::AsmDialectAttr(),
          /*operand_attrs=*/ArrayAttr())
          .getResult(0);
  auto truncate = [&](Value half) -> Value {
    return LLVM::TruncOp::create(b, loc, b.getI32Type(), half);
  };
  Value bits = LLVM::ConstantOp::create(b, loc, b.getI64IntegerAttr(32));
  Value upper = truncate(LLVM::LShrOp::create(b, loc, product, bits));
  low.replaceAllUsesWith(truncate(product));
  high.getResult(0).replaceAllUsesWith(upper);
  low.erase();
  high.erase();
}

/// Expands the ops that have no intrinsic.
static LogicalResult convertToIntrinsics(gpu::GPUModuleOp module) {
  SmallVector<LLVM::CallIntrinsicOp> calls;
  module.walk([&](LLVM::CallIntrinsicOp call) { calls.push_back(call); });
  llvm::for_each(calls, multiplyWide);
  for (auto kernel : module.getOps<LLVM::LLVMFuncOp>())
    if (!kernel.isExternal())
      keepStartOfSharedMemory(kernel);
  MLIRContext *context = module.getContext();
  RewritePatternSet patterns(context);
  populateNVVMToLLVMConversionPatterns(patterns);
  nvidia::populateWGMMAToLLVM(patterns);
  ConversionTarget target(*context);
  target.addLegalDialect<LLVM::LLVMDialect>();
  target.addIllegalDialect<wgmma::WGMMADialect>();
  return applyPartialConversion(module, target, std::move(patterns));
}

/// Compares floats of type bf16 as f32. LLVM does so in bf16 once it has
/// optimized, and writes '.ftz' to that, which PTX does not have ("setp").
static void widenComparisons(llvm::Module &module) {
  for (llvm::Function &function : module)
    for (llvm::Instruction &instruction : llvm::instructions(function)) {
      auto *compare = dyn_cast<llvm::FCmpInst>(&instruction);
      if (!compare ||
          !compare->getOperand(0)->getType()->getScalarType()->isBFloatTy())
        continue;
      llvm::IRBuilder<> b(compare);
      for (llvm::Use &operand : compare->operands()) {
        llvm::Type *type = operand->getType();
        operand.set(
            b.CreateFPExt(operand, type->getWithNewType(b.getFloatTy())));
      }
    }
}

/// The word that a constant is, if both of its halves are the same.
static llvm::ConstantInt *getRepeated(llvm::Value *value) {
  constexpr unsigned kWord = 32, kHalf = 16;
  auto *constant = dyn_cast<llvm::ConstantInt>(value);
  return constant && constant->getType()->isIntegerTy(kWord) &&
                 constant->getValue() == constant->getValue().rotl(kHalf)
             ? constant
             : nullptr;
}

/// Masks both halves of words and turns some of their bits by one instruction,
/// as what widens integers does: (word & mask) ^ turned. An instruction has
/// room for one constant, so that ptxas leaves two as they are; told to make
/// one, it keeps the other constant in a register.
static void maskAndTurn(llvm::Module &module) {
  SmallVector<llvm::BinaryOperator *> turned;
  for (llvm::Function &function : module)
    for (llvm::Instruction &instruction : llvm::instructions(function))
      // LLVM takes one that turns no bit of the mask for 'or'.
      if (llvm::is_contained({llvm::Instruction::Xor, llvm::Instruction::Or},
                             instruction.getOpcode()))
        turned.push_back(cast<llvm::BinaryOperator>(&instruction));
  for (llvm::BinaryOperator *turn : turned) {
    auto *masked = dyn_cast<llvm::BinaryOperator>(turn->getOperand(0));
    llvm::ConstantInt *bits = getRepeated(turn->getOperand(1));
    if (!bits || !masked || !masked->hasOneUse() ||
        masked->getOpcode() != llvm::Instruction::And)
      continue;
    llvm::ConstantInt *mask = getRepeated(masked->getOperand(1));
    bool isOr = turn->getOpcode() == llvm::Instruction::Or;
    if (!mask || (isOr && mask->getValue().intersects(bits->getValue())))
      continue;
    llvm::Type *word = turn->getType();
    auto *type = llvm::FunctionType::get(word, {word, word, word}, false);
    llvm::IRBuilder<> b(turn);
    turn->replaceAllUsesWith(
        b.CreateCall(llvm::InlineAsm::get(type, kMaskAndTurn, "=r,r,n,n",
                                          /*hasSideEffects=*/false),
                     {masked->getOperand(0), mask, bits}));
    turn->eraseFromParent();
    masked->eraseFromParent();
  }
}

/// Lets copies of 16 bytes past registers fetch what is beside them in 128
/// bytes of memory into the second-level cache (PTX ISA, "cp.async",
/// since 7.4), for which there is no intrinsic. Another warp wants it: where
/// the row of a head has 64 bytes, and those of other heads follow, memory
/// otherwise gives them one by one.
static void fetchNeighbours(llvm::Module &module) {
  SmallVector<llvm::IntrinsicInst *> copies;
  for (llvm::Function &function : module)
    for (llvm::Instruction &instruction : llvm::instructions(function))
      if (auto *call = dyn_cast<llvm::IntrinsicInst>(&instruction);
          call && llvm::is_contained(
                      {llvm::Intrinsic::nvvm_cp_async_cg_shared_global_16,
                       llvm::Intrinsic::nvvm_cp_async_cg_shared_global_16_s},
                      call->getIntrinsicID()))
        copies.push_back(call);
  for (llvm::IntrinsicInst *copy : copies) {
    bool hasSize = copy->arg_size() > 2;
    llvm::IRBuilder<> b(copy);
    b.CreateCall(
        llvm::InlineAsm::get(copy->getFunctionType(),
                             hasSize ? kCopyNeighbours : kCopyAllNeighbours,
                             hasSize ? "l,l,r,~{memory}" : "l,l,~{memory}",
                             /*hasSideEffects=*/true),
        SmallVector<llvm::Value *, 3>(copy->args()));
    copy->eraseFromParent();
  }
}

/// Adds runs of four elements to memory by one instruction, which LLVM does not
/// know. Runs of a thread have places that differ by constants.
static void addRuns(llvm::Module &module) {
  SmallVector<llvm::AtomicRMWInst *> adds;
  for (llvm::Function &function : module)
    for (llvm::Instruction &instruction : llvm::instructions(function))
      if (auto *add = dyn_cast<llvm::AtomicRMWInst>(&instruction);
          add && add->getType()->isVectorTy())
        adds.push_back(add);
  const llvm::DataLayout &layout = module.getDataLayout();
  for (llvm::AtomicRMWInst *add : adds) {
    llvm::IRBuilder<> b(add);
    llvm::Value *place = add->getPointerOperand();
    llvm::APInt offset(layout.getIndexTypeSizeInBits(place->getType()), 0);
    llvm::Value *base = place->stripAndAccumulateConstantOffsets(
        layout, offset, /*AllowNonInbounds=*/true);
    SmallVector<llvm::Value *> operands{base, b.getInt(offset)};
    for (unsigned i : llvm::seq(4U))
      operands.push_back(b.CreateExtractElement(add->getValOperand(), i));
    SmallVector<llvm::Type *> types;
    for (llvm::Value *operand : operands)
      types.push_back(operand->getType());
    auto *type = llvm::FunctionType::get(b.getVoidTy(), types, false);
    b.CreateCall(llvm::InlineAsm::get(type, kAddRun, "l,n,f,f,f,f,~{memory}",
                                      /*hasSideEffects=*/true),
                 operands);
    add->eraseFromParent();
  }
}

namespace {
/// Leaves loops the counters that they have. LLVM makes others of what follows
/// from these, as the slots of rings do, for which ptxas has instructions of a
/// warp: it then orders what is around them in another way, by which kernels
/// were up to 7 percent slower, and seldom faster.
class PassesKeepingCounters : public llvm::legacy::PassManager {
  std::unique_ptr<llvm::Pass> reduction{llvm::createLoopStrengthReducePass()};
  void add(llvm::Pass *pass) override {
    if (pass->getPassID() == reduction->getPassID())
      delete pass;
    else
      llvm::legacy::PassManager::add(pass);
  }
};

class PTXEmitter : public AssemblyEmitter<NVVM::SerializeGPUModuleBase> {
public:
  using AssemblyEmitter::AssemblyEmitter;

private:
  void handleModulePreLink(llvm::Module &llvmModule) override {
    AssemblyEmitter::handleModulePreLink(llvmModule);
    markInlineAsmConvergent(llvmModule);
  }
  LogicalResult optimizeModule(llvm::Module &llvmModule, int level) override;
  FailureOr<SmallVector<char, 0>>
  moduleToObject(llvm::Module &llvmModule) override {
    addRuns(llvmModule);
    widenComparisons(llvmModule);
    maskAndTurn(llvmModule);
    // The first chip whose oldest PTX version has it.
    constexpr unsigned kFirstThatFetches = 87;
    if (nvidia::getCapability(getTarget().getChip()) >= kFirstThatFetches)
      fetchNeighbours(llvmModule);
    return AssemblyEmitter::moduleToObject(llvmModule);
  }
  std::unique_ptr<llvm::legacy::PassManager>
  makePasses(const llvm::Module &llvmModule) override {
    bool keepsCounters =
        llvm::any_of(llvmModule, [](const llvm::Function &function) {
          return function.hasFnAttribute(
              tile::TileDialect::kKeepCountersAttrName);
        });
    if (keepsCounters)
      return std::make_unique<PassesKeepingCounters>();
    return AssemblyEmitter::makePasses(llvmModule);
  }
};
} // namespace

/// As upstream does it at this level, but without looking for scalars that may
/// become vectors: kernels have vectors where the chip does, and chains of
/// insertions into those of a tile cost that pass many times what all else
/// does (6.5 of 6.6 seconds of a latent over pages).
LogicalResult PTXEmitter::optimizeModule(llvm::Module &llvmModule, int) {
  FailureOr<llvm::TargetMachine *> machine = getOrCreateTargetMachine();
  if (failed(machine))
    return failure();
  (*machine)->setOptLevel(llvm::CodeGenOptLevel::Aggressive);
  llvm::PipelineTuningOptions tuning;
  tuning.LoopUnrolling = tuning.LoopInterleaving = tuning.LoopVectorization =
      true;
  tuning.SLPVectorization = false;
  llvm::PassBuilder builder(*machine, tuning);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager calls;
  llvm::ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(calls);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, calls, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3)
      .run(llvmModule, modules);
  return success();
}

/// Upstream's constructor looks for the CUDA toolkit's device library and,
/// where there is none, reports an error and goes on. A kernel that calls none
/// of it compiles on a machine without the toolkit, and silently.
static PTXEmitter createEmitter(gpu::GPUModuleOp module,
                                NVVM::NVVMTargetAttr target) {
  uint64_t thread = llvm::get_threadid();
  ScopedDiagnosticHandler ignore(module.getContext(), [&](Diagnostic &) {
    return success(llvm::get_threadid() == thread);
  });
  return PTXEmitter(*module, target);
}

/// The oldest PTX version that has all instructions. An empty list of features
/// makes LLVM choose the oldest one that knows the chip, which every driver
/// that knows the chip accepts; it has the conversions and multiplies of 8-bit
/// floats where it came later than these did (PTX ISA, "cvt", "mma").
static StringRef getFeatures(gpu::GPUModuleOp module, StringRef chip) {
  constexpr unsigned kHopper = 90, kBlackwell = 100;
  unsigned capability = nvidia::getCapability(chip);
  if (!capability || capability >= kBlackwell)
    return "";
  StringRef features = "";
  module.walk([&](Operation *op) {
    auto add = dyn_cast<LLVM::AtomicRMWOp>(op);
    bool isRun = add && isa<VectorType>(add.getVal().getType());
    if (isRun ||
        (isa<NVVM::ConvertF8x2ToF16x2Op, NVVM::ConvertF32x2ToF8x2Op>(op) &&
         capability < kHopper))
      features = "+ptx81";
    auto call = dyn_cast<LLVM::CallIntrinsicOp>(op);
    if (!call || !call.getIntrin().starts_with("llvm.nvvm.mma.m16n8k32."))
      return WalkResult::advance();
    features = "+ptx84";
    return WalkResult::interrupt();
  });
  return features;
}

static FailureOr<std::string> translateToPTX(gpu::GPUModuleOp module,
                                             StringRef chip) {
  auto target =
      NVVM::NVVMTargetAttr::get(module.getContext(), /*optLevel=*/3, kTriple,
                                chip, getFeatures(module, chip));
  module.setTargetsAttr(ArrayAttr::get(module.getContext(), {target}));
  if (failed(convertToIntrinsics(module)) ||
      failed(target.verifyTarget(module)))
    return failure();
  PTXEmitter emitter = createEmitter(module, target);
  return emitAssembly(module, emitter);
}

/// The options of ptxas for what kernels of the module say of the assembler.
static ArrayRef<StringRef> getAssemblerOptions(gpu::GPUModuleOp module) {
  static constexpr StringRef thorough[] = {"-O3"},
                             sparing[] = {"-O3", "--register-usage-level=0"},
                             plain[] = {"-O1", "--register-usage-level=0"};
  auto name = StringAttr::get(module.getContext(),
                              tile::TileDialect::kAssemblerAttrName);
  StringRef how;
  for (auto function : module.getOps<LLVM::LLVMFuncOp>())
    if (ArrayAttr passed = function.getPassthroughAttr())
      for (auto pair : passed.getAsRange<Attribute>())
        if (auto both = dyn_cast<ArrayAttr>(pair); both && both[0] == name)
          how = cast<StringAttr>(both[1]);
  if (how == "sparing")
    return sparing;
  return how == "plain" ? ArrayRef<StringRef>(plain) : thorough;
}

/// Fills `binary.object` and `binary.resources` from `binary.assembly`.
static LogicalResult assemble(gpu::GPUModuleOp module, StringRef ptxas,
                              StringRef chip, Binary &binary) {
  auto source = ScratchFile::create(module, "ptx", binary.assembly);
  auto object = ScratchFile::create(module, "cubin");
  auto report = ScratchFile::create(module, "log");
  if (failed(source) || failed(object) || failed(report))
    return failure();
  std::string arch = ("-arch=" + chip).str();
  SmallVector<StringRef> arguments{ptxas, "-v", arch};
  llvm::append_range(arguments, getAssemblerOptions(module));
  arguments.append({source->getPath(), "-o", object->getPath()});
  std::optional<StringRef> redirects[] = {std::nullopt, report->getPath(),
                                          report->getPath()};
  std::string error;
  int code = llvm::sys::ExecuteAndWait(ptxas, arguments, /*Env=*/std::nullopt,
                                       redirects, /*SecondsToWait=*/0,
                                       /*MemoryLimit=*/0, &error);
  FailureOr<std::string> text = report->read(module);
  if (failed(text))
    return failure();
  if (code != 0) {
    InFlightDiagnostic diagnostic = module.emitError()
                                    << "expects '" << ptxas
                                    << "' to assemble the kernel, but it "
                                    << (code < 0 ? "failed: " + error
                                                 : "exited with code " +
                                                       std::to_string(code));
    if (!text->empty())
      diagnostic.attachNote() << "it said: " << StringRef(*text).rtrim();
    return diagnostic;
  }
  FailureOr<std::string> cubin = object->read(module);
  if (failed(cubin))
    return failure();
  if (auto found = nvidia::findMisalignedSpillInCubin(*cubin))
    return module.emitError()
           << "expects '" << ptxas
           << "' to write instructions that the chip has, but got " << *found
           << ", which ends a launch; a schedule that spills less avoids it";
  binary.object = std::move(*cubin);
  binary.resources = nvidia::parsePtxasReport(*text);
  return success();
}

FailureOr<Binary> nvidia::serialize(gpu::GPUModuleOp module, StringRef chip,
                                    const BinaryOptions &options) {
  NVVM::SerializeGPUModuleBase::init();
  if (failed(checkChip(module, kTriple, chip)))
    return failure();
  FailureOr<std::string> ptx = translateToPTX(module, chip);
  if (failed(ptx))
    return failure();
  Binary binary;
  binary.assembly = std::move(*ptx);
  binary.assemblySuffix = "ptx";
  binary.objectSuffix = "cubin";
  if (options.format == BinaryOptions::Format::Assembly)
    return binary;
  std::string ptxas = findPtxas(options.assemblerPath);
  if (!ptxas.empty()) {
    if (failed(assemble(module, ptxas, chip, binary)))
      return failure();
    return binary;
  }
  // A path that was asked for and is wrong is never optional.
  if (!options.assemblerPath.empty())
    return module.emitError()
           << "expects an executable at '" << options.assemblerPath
           << "', but there is none";
  if (!options.objectOptional)
    return module.emitError() << "expects ptxas in PATH, or in bin/ below "
                                 "CUDA_HOME, CUDA_PATH or CUDA_ROOT, but "
                                 "found none";
  module.emitRemark() << "no ptxas in PATH, CUDA_HOME, CUDA_PATH or CUDA_ROOT: "
                         "the binary holds PTX, which the driver assembles";
  return binary;
}
