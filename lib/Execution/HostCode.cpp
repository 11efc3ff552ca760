// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LLVM's back end for the CPU at one end, its JIT linker at the other. The code
// is called through MLIR's C interface: pointers to descriptors of memrefs.

#include "attune/Execution/HostCode.h"
#include "HostHeap.h"
#include "attune/Execution/HostProgram.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/ExecutionEngine/ExecutionEngine.h"
#include "mlir/ExecutionEngine/OptUtils.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/OpenMP/OpenMPToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ExecutionEngine/Orc/CompileUtils.h"
#include "llvm/ExecutionEngine/Orc/ExecutionUtils.h"
#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

using namespace mlir;
using namespace attune;

static constexpr StringRef kEntryName = "attune_entry";

static llvm::Error initializeBackEnd() {
  static bool failed = llvm::InitializeNativeTarget() ||
                       llvm::InitializeNativeTargetAsmPrinter();
  if (failed)
    return llvm::createStringError(
        "expects a build of LLVM with a back end for this machine");
  return llvm::Error::success();
}

FailureOr<HostSignature> HostSignature::get(func::FuncOp function) {
  HostSignature signature;
  auto read = [&](Type type) -> FailureOr<HostValue> {
    auto shaped = dyn_cast<ShapedType>(type);
    if (shaped && isa<RankedTensorType, MemRefType>(type)) {
      if (!shaped.hasStaticShape())
        return function.emitError()
               << "expects static sizes of what '" << function.getName()
               << "' takes and returns, but got " << type;
      FailureOr<TensorShape> shape = getTensorShape(function, shaped);
      if (failed(shape))
        return failure();
      auto kind = isa<MemRefType>(type) ? HostValue::Kind::MemRef
                                        : HostValue::Kind::Tensor;
      return HostValue{kind, *shape, shaped.getElementType().isIndex()};
    }
    std::string name;
    llvm::raw_string_ostream(name) << type;
    std::optional<DataType> element = parseDataType(name);
    if (!element)
      return function.emitError()
             << "expects tensors, memrefs, integers and floats as what '"
             << function.getName() << "' takes and returns, but got " << type;
    return HostValue{HostValue::Kind::Scalar,
                     TensorShape::contiguous(*element, {}), type.isIndex()};
  };
  for (Type type : function.getArgumentTypes()) {
    FailureOr<HostValue> value = read(type);
    if (failed(value))
      return failure();
    signature.arguments.push_back(std::move(*value));
  }
  for (Type type : function.getResultTypes()) {
    FailureOr<HostValue> value = read(type);
    if (failed(value))
      return failure();
    signature.results.push_back(std::move(*value));
  }
  return signature;
}

void attune::requestHostInterface(func::FuncOp function) {
  function->setAttr(LLVM::LLVMDialect::getEmitCWrapperAttrName(),
                    UnitAttr::get(function.getContext()));
}

/// Adds `void attune_entry(void **arguments)`, which takes a pointer to each
/// argument of `callee`, and one to its result if it has one.
static void addEntry(ModuleOp module, LLVM::LLVMFuncOp callee) {
  MLIRContext *context = module.getContext();
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  Location loc = callee.getLoc();
  auto pointer = LLVM::LLVMPointerType::get(context);
  auto type =
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context), {pointer});
  auto entry = LLVM::LLVMFuncOp::create(builder, loc, kEntryName, type);
  Block *block = entry.addEntryBlock(builder);
  builder.setInsertionPointToStart(block);
  int32_t next = 0;
  auto load = [&] {
    Value slot = LLVM::GEPOp::create(builder, loc, pointer, pointer,
                                     block->getArgument(0),
                                     ArrayRef<LLVM::GEPArg>{next++});
    return LLVM::LoadOp::create(builder, loc, pointer, slot).getResult();
  };
  SmallVector<Value> operands;
  for (Type parameter : callee.getArgumentTypes())
    operands.push_back(LLVM::LoadOp::create(builder, loc, parameter, load()));
  auto call = LLVM::CallOp::create(builder, loc, callee, operands);
  if (call->getNumResults() == 1)
    LLVM::StoreOp::create(builder, loc, call.getResult(), load());
  LLVM::ReturnOp::create(builder, loc, ValueRange());
}

static llvm::Error checkLowered(ModuleOp module) {
  Operation *other = nullptr;
  module->walk<WalkOrder::PreOrder>([&](Operation *op) {
    StringRef dialect = op->getName().getDialectNamespace();
    if (isa<ModuleOp>(op) || dialect == "llvm" || dialect == "omp")
      return WalkResult::advance();
    other = op;
    return WalkResult::interrupt();
  });
  if (!other)
    return llvm::Error::success();
  std::string name;
  if (auto symbol = dyn_cast<SymbolOpInterface>(other))
    name = (" @" + symbol.getName()).str();
  return llvm::createStringError(
      llvm::formatv("expects a pipeline that ends in LLVM dialect, to be "
                    "executed on the CPU, but got '{0}'{1} after it",
                    other->getName(), name)
          .str());
}

llvm::Expected<HostObject> attune::compileForHost(ModuleOp module,
                                                  StringRef function) {
  if (llvm::Error error = initializeBackEnd())
    return error;
  if (llvm::Error error = checkLowered(module))
    return error;
  auto plain = module.lookupSymbol<LLVM::LLVMFuncOp>(function);
  auto callee =
      module.lookupSymbol<LLVM::LLVMFuncOp>(("_mlir_ciface_" + function).str());
  if (!plain || !callee)
    return llvm::createStringError(
        "expects function '" + function +
        "' with a C interface after the pipeline, as convert-func-to-llvm "
        "makes one of 'llvm.emit_c_interface', but there is none");
  addEntry(module, callee);
  registerBuiltinDialectTranslation(*module.getContext());
  registerLLVMDialectTranslation(*module.getContext());
  registerOpenMPDialectTranslation(*module.getContext());
  HostObject object;
  object.resultsAreArguments =
      isa<LLVM::LLVMVoidType>(plain.getFunctionType().getReturnType());

  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> translated =
      translateModuleToLLVMIR(module, context);
  if (!translated)
    return llvm::createStringError("cannot translate the module to LLVM IR");
  auto builder = llvm::orc::JITTargetMachineBuilder::detectHost();
  if (!builder)
    return builder.takeError();
  builder->setRelocationModel(llvm::Reloc::PIC_);
  builder->setCodeGenOptLevel(llvm::CodeGenOptLevel::Aggressive);
  auto machine = builder->createTargetMachine();
  if (!machine)
    return machine.takeError();
  ExecutionEngine::setupTargetTripleAndDataLayout(translated.get(),
                                                  machine->get());
  auto optimize = makeOptimizingTransformer(/*optLevel=*/3, /*sizeLevel=*/0,
                                            machine->get());
  if (llvm::Error error = optimize(translated.get()))
    return error;
  auto compiled = llvm::orc::SimpleCompiler(**machine)(*translated);
  if (!compiled)
    return compiled.takeError();
  object.bytes = (*compiled)->getBuffer().str();
  return object;
}

struct HostCode::Jit {
  std::unique_ptr<llvm::orc::LLJIT> jit;
};

HostCode::~HostCode() = default;

llvm::Expected<std::unique_ptr<HostCode>>
HostCode::load(const HostObject &object, ArrayRef<std::string> libraries) {
  if (llvm::Error error = initializeBackEnd())
    return error;
  auto jit = llvm::orc::LLJITBuilder().create();
  if (!jit)
    return jit.takeError();
  llvm::orc::JITDylib &dylib = (*jit)->getMainJITDylib();
  llvm::orc::SymbolMap symbols;
  HostSymbols functions = getHostHeapSymbols();
  llvm::append_range(functions, getHostRuntimeSymbols());
  for (auto [name, address] : functions)
    symbols[(*jit)->mangleAndIntern(name)] = {
        llvm::orc::ExecutorAddr::fromPtr(address),
        llvm::JITSymbolFlags::Exported | llvm::JITSymbolFlags::Callable};
  if (llvm::Error error =
          dylib.define(llvm::orc::absoluteSymbols(std::move(symbols))))
    return error;
  for (const std::string &library : libraries) {
    auto generator = llvm::orc::DynamicLibrarySearchGenerator::Load(
        library.c_str(), (*jit)->getDataLayout().getGlobalPrefix());
    if (!generator)
      return generator.takeError();
    dylib.addGenerator(std::move(*generator));
  }
  if (llvm::Error error = (*jit)->addObjectFile(
          llvm::MemoryBuffer::getMemBufferCopy(object.bytes, "candidate")))
    return error;
  auto entry = (*jit)->lookup(kEntryName);
  if (!entry)
    return entry.takeError();
  std::unique_ptr<HostCode> code(new HostCode);
  code->jit = std::make_unique<Jit>(Jit{std::move(*jit)});
  code->entry = entry->toPtr<void (*)(void **)>();
  code->resultsAreArguments = object.resultsAreArguments;
  return code;
}
