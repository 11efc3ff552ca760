// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// convert-kernel-to-host, LLVM IR, and LLVM's JIT at the level that compiles
// fastest: a kernel is run for a few workgroups, and most of them are long.

#include "HostKernel.h"
#include "Runtime.h"
#include "attune/Conversion/Passes.h"
#include "attune/Dialect/Launch/IR/Launch.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ExecutionEngine/Orc/ExecutionUtils.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/TargetSelect.h"

using namespace mlir;
using namespace attune;
using llvm::Error;
using llvm::Expected;

/// The reason stands in diagnostics.
static Error makeError(StringRef name) {
  return llvm::createStringError(
      "expects a kernel that can be executed on the host, but '" + name +
      "' cannot");
}

static Expected<std::unique_ptr<llvm::orc::LLJIT>> createJIT() {
  static bool initialised = !llvm::InitializeNativeTarget() &&
                            !llvm::InitializeNativeTargetAsmPrinter();
  if (!initialised)
    return llvm::createStringError(
        "expects a build of LLVM with a back end for this machine");
  auto builder = llvm::orc::JITTargetMachineBuilder::detectHost();
  if (!builder)
    return builder.takeError();
  builder->setCodeGenOptLevel(llvm::CodeGenOptLevel::None);
  auto jit = llvm::orc::LLJITBuilder()
                 .setJITTargetMachineBuilder(std::move(*builder))
                 .create();
  if (!jit)
    return jit.takeError();
  llvm::orc::SymbolMap symbols;
  for (auto list : {getCommonHostFunctions(), getNVVMHostFunctions(),
                    getMBarrierHostFunctions(), getWarpgroupHostFunctions(),
                    getROCDLHostFunctions()})
    for (const HostFunction &function : list)
      symbols[(*jit)->mangleAndIntern(function.name)] = {
          llvm::orc::ExecutorAddr::fromPtr(function.address),
          llvm::JITSymbolFlags::Exported};
  if (auto error = (*jit)->getMainJITDylib().define(
          llvm::orc::absoluteSymbols(std::move(symbols))))
    return std::move(error);
  // exp2f and its like.
  auto process = llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
      (*jit)->getDataLayout().getGlobalPrefix());
  if (!process)
    return process.takeError();
  (*jit)->getMainJITDylib().addGenerator(std::move(*process));
  return jit;
}

/// Compiles `module`, which has been converted.
static Error compile(HostKernel &kernel, gpu::GPUModuleOp module) {
  auto jit = createJIT();
  if (!jit)
    return jit.takeError();
  kernel.jit = std::move(*jit);
  auto context = std::make_unique<llvm::LLVMContext>();
  std::unique_ptr<llvm::Module> llvmModule =
      translateModuleToLLVMIR(module, *context);
  if (!llvmModule)
    return makeError(kernel.name);
  llvmModule->setDataLayout(kernel.jit->getDataLayout());
  llvmModule->setTargetTriple(kernel.jit->getTargetTriple());
  if (auto error = kernel.jit->addIRModule(llvm::orc::ThreadSafeModule(
          std::move(llvmModule), std::move(context))))
    return error;
  auto address = kernel.jit->lookup(kernel.name);
  if (!address)
    return address.takeError();
  kernel.function = address->toPtr<void (*)(HostThread *)>();
  return Error::success();
}

Expected<std::unique_ptr<HostKernel>>
HostKernel::load(MLIRContext &context, StringRef image, StringRef name,
                 const HostOptions &options) {
  DialectRegistry registry;
  registerBuiltinDialectTranslation(registry);
  registerGPUDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  context.appendDialectRegistry(registry);

  auto kernel = std::make_unique<HostKernel>();
  kernel->name = name.str();
  kernel->holder = parseSourceString<ModuleOp>(image, ParserConfig(&context));
  if (!kernel->holder)
    return makeError(name);
  auto modules = kernel->holder->getOps<gpu::GPUModuleOp>();
  if (!llvm::hasSingleElement(modules))
    return llvm::createStringError(
        "expects one gpu.module as the image of a kernel for the host");
  kernel->module = *modules.begin();
  kernel->module.walk<WalkOrder::PreOrder>(
      [&](Operation *op) { kernel->sites.push_back(op); });
  auto function = kernel->module.lookupSymbol<LLVM::LLVMFuncOp>(name);
  if (!function)
    return llvm::createStringError("expects a kernel '" + name +
                                   "' in LLVM dialect, but there is none");
  if (launch::ManifestAttr manifest = launch::getManifest(function)) {
    if (manifest.getArguments())
      kernel->manifest = manifest.toManifest();
    kernel->threadsInOne = manifest.getThreadsInOne();
  }
  kernel->numParameters = function.getNumArguments();
  for (size_t index : llvm::seq(kernel->numParameters)) {
    auto type = function.getArgAttrOfType<TypeAttr>(
        index, LLVM::LLVMDialect::getByValAttrName());
    if (type && DataLayout(kernel->module).getTypeSize(type.getValue()) ==
                    sizeof(TensorMap))
      kernel->tensorMaps.push_back(index);
  }
  if (auto size = function->getAttrOfType<DenseI32ArrayAttr>(
          NVVM::NVVMDialect::getClusterDimAttrName())) {
    ArrayRef<int32_t> extents = size.asArrayRef();
    if (extents.empty() || extents.front() < 1 ||
        llvm::any_of(extents.drop_front(), [](int32_t n) { return n != 1; })) {
      function.emitError()
          << "expects clusters along x alone to be executed on "
             "the host, but got "
          << size;
      return makeError(name);
    }
    kernel->clusterSize = extents.front();
  }
  std::optional<StringRef> denormals = function.getDenormalFpMathF32();
  kernel->flushDenormals = denormals && denormals->starts_with("preserve-sign");

  OwningOpRef<ModuleOp> converted = kernel->holder->clone();
  ConvertKernelToHostPassOptions passOptions;
  passOptions.checkAccesses = options.checks != 0 || options.counts;
  passOptions.countMath = options.counts;
  PassManager pm(&context);
  pm.enableVerifier(false);
  pm.addNestedPass<gpu::GPUModuleOp>(
      createConvertKernelToHostPass(passOptions));
  if (failed(pm.run(*converted)))
    return makeError(name);
  gpu::GPUModuleOp hostModule = *converted->getOps<gpu::GPUModuleOp>().begin();
  if (auto bytes =
          hostModule->getAttrOfType<IntegerAttr>(kStaticSharedAttrName))
    kernel->staticSharedBytes = bytes.getInt();
  if (auto error = compile(*kernel, hostModule))
    return std::move(error);
  return kernel;
}
