// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attune-emit-binary: kernels in LLVM dialect become gpu.binary ops. All are
// compiled before anything is replaced or written.

#include "attune/Conversion/Manifest.h"
#include "attune/Conversion/Passes.h"
#include "attune/Runtime/ArtifactWriter.h"
#include "attune/Target/TargetRegistry.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringSet.h"

namespace attune {
#define GEN_PASS_DEF_ATTUNEEMITBINARYPASS
#include "attune/Conversion/Passes.h.inc"
} // namespace attune

using namespace mlir;
using namespace attune;

namespace {
struct CompiledKernel {
  gpu::GPUModuleOp module;
  LLVM::LLVMFuncOp function;
  DictionaryAttr manifest;
  Binary binary;
};

struct AttuneEmitBinary
    : attune::impl::AttuneEmitBinaryPassBase<AttuneEmitBinary> {
  using AttuneEmitBinaryPassBase::AttuneEmitBinaryPassBase;

  void runOnOperation() override;

private:
  LogicalResult compile(CompiledKernel &kernel);
  LogicalResult writeArtifacts(ArrayRef<CompiledKernel> kernels);
};
} // namespace

/// The one kernel of a module.
static FailureOr<LLVM::LLVMFuncOp> findKernel(gpu::GPUModuleOp module) {
  SmallVector<LLVM::LLVMFuncOp> kernels;
  for (auto function : module.getOps<LLVM::LLVMFuncOp>())
    if (function->hasAttr(gpu::GPUDialect::getKernelFuncAttrName()) ||
        function->hasAttr("nvvm.kernel") || function->hasAttr("rocdl.kernel"))
      kernels.push_back(function);
  if (kernels.size() != 1)
    return module.emitOpError()
           << "expects one kernel in LLVM dialect, but got " << kernels.size();
  return kernels.front();
}

LogicalResult AttuneEmitBinary::compile(CompiledKernel &kernel) {
  gpu::GPUModuleOp module = kernel.module;
  FailureOr<LLVM::LLVMFuncOp> function = findKernel(module);
  if (failed(function))
    return failure();
  kernel.function = *function;
  auto target = tile::TargetAttr::lookup(module);
  if (!target)
    return module.emitOpError()
           << "expects a '" << tile::TileDialect::kTargetAttrName
           << "' attribute on a module around it; run attune-attach-target "
              "first";
  const TargetModel *model = getTargetModel(target.getFamily());
  if (!model)
    return module.emitOpError()
           << "expects a family of chips that this build knows, but got '"
           << target.getFamily() << "'";
  auto manifest =
      kernel.function->getAttrOfType<DictionaryAttr>(kManifestAttrName);
  kernel.function->removeAttr(kManifestAttrName);

  BinaryOptions options;
  options.format = format;
  options.objectOptional = !requireObject;
  options.assemblerPath = ptxas;
  FailureOr<Binary> binary = model->serialize(module, target, options);
  if (failed(binary))
    return failure();
  kernel.binary = std::move(*binary);
  kernel.manifest = completeManifest(manifest, kernel.function.getNameAttr(),
                                     target.getChip(), kernel.binary.resources);
  return success();
}

LogicalResult
AttuneEmitBinary::writeArtifacts(ArrayRef<CompiledKernel> kernels) {
  ArtifactWriter writer(outputDir);
  llvm::StringSet<> names;
  for (const CompiledKernel &kernel : kernels) {
    gpu::GPUModuleOp module = kernel.module;
    LLVM::LLVMFuncOp function = kernel.function;
    std::string name = function.getName().str();
    if (!names.insert(name).second)
      return module.emitOpError()
             << "expects kernels with different names where files are written, "
                "but got two of '"
             << name << "'";
    const Binary &binary = kernel.binary;
    llvm::json::Value manifest = toJSON(kernel.manifest);
    llvm::json::Object files;
    auto add = [&](StringRef kind, StringRef suffix,
                   StringRef content) -> llvm::Error {
      if (content.empty())
        return llvm::Error::success();
      std::string file = (name + "." + suffix).str();
      files[kind] = file;
      return writer.add(file, content);
    };
    auto writeAll = [&]() -> llvm::Error {
      if (auto error = add("assembly", binary.assemblySuffix, binary.assembly))
        return error;
      if (auto error = add("object", binary.objectSuffix, binary.object))
        return error;
      (*manifest.getAsObject())["files"] = std::move(files);
      std::string text;
      llvm::raw_string_ostream(text) << llvm::formatv("{0:2}\n", manifest);
      return writer.add(name + ".json", text);
    };
    if (auto error = writeAll())
      return module.emitOpError() << llvm::toString(std::move(error));
  }
  if (auto error = writer.commit())
    return getOperation().emitError() << llvm::toString(std::move(error));
  return success();
}

void AttuneEmitBinary::runOnOperation() {
  SmallVector<CompiledKernel, 0> kernels;
  for (auto module : getOperation().getOps<gpu::GPUModuleOp>()) {
    CompiledKernel &kernel = kernels.emplace_back();
    kernel.module = module;
    if (failed(compile(kernel)))
      return signalPassFailure();
  }
  if (!outputDir.empty() && failed(writeArtifacts(kernels)))
    return signalPassFailure();
  for (CompiledKernel &kernel : kernels) {
    gpu::GPUModuleOp module = kernel.module;
    OpBuilder builder(module);
    bool hasObject = !kernel.binary.object.empty();
    // Only what is the same in every run goes into the object: no times.
    auto metadata = gpu::KernelMetadataAttr::get(kernel.function);
    auto object = gpu::ObjectAttr::get(
        module.getTargetsAttr()[0],
        hasObject ? gpu::CompilationTarget::Binary
                  : gpu::CompilationTarget::Assembly,
        builder.getStringAttr(hasObject ? kernel.binary.object
                                        : kernel.binary.assembly),
        /*properties=*/nullptr,
        gpu::KernelTableAttr::get(&getContext(), {metadata}));
    auto binary = gpu::BinaryOp::create(
        builder, module.getLoc(), module.getName(),
        /*offloadingHandler=*/Attribute(), ArrayRef<Attribute>{object});
    binary->setAttr(kManifestAttrName, kernel.manifest);
    module.erase();
  }
}
