// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attune-emit-binary: kernels in LLVM dialect become gpu.binary ops. All are
// compiled before anything is replaced or written.

#include "attune/Conversion/Passes.h"
#include "attune/Dialect/Launch/IR/Launch.h"
#include "attune/Runtime/ArtifactWriter.h"
#include "attune/Runtime/Manifest.h"
#include "attune/Target/TargetRegistry.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

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
  launch::ManifestAttr manifest;
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

static DictionaryAttr toAttribute(MLIRContext *context,
                                  const KernelResources &resources,
                                  const std::optional<LoopCost> &loop) {
  Builder builder(context);
  NamedAttrList list;
  auto add = [&](StringRef name, std::optional<int64_t> value) {
    if (value)
      list.set(name, builder.getI64IntegerAttr(*value));
  };
  add("registers", resources.registers);
  add("scalar_registers", resources.scalarRegisters);
  add("scalar_spills", resources.scalarSpills);
  add("spill_store_bytes", resources.spillStoreBytes);
  add("spill_load_bytes", resources.spillLoadBytes);
  add("stack_bytes", resources.stackBytes);
  add("static_shared_bytes", resources.staticSharedBytes);
  add("serialized_multiplies", resources.serializedMultiplies);
  if (loop) {
    auto addRounded = [&](StringRef name, double value) {
      add(name, std::llround(value));
    };
    add("loop_warps", loop->warps);
    addRounded("loop_matrix_clocks", loop->matrix);
    addRounded("loop_vector_clocks", loop->vector);
    addRounded("loop_exp_clocks", loop->exponentials);
    addRounded("loop_shared_clocks", loop->shared);
    addRounded("loop_conflict_clocks", loop->conflicts);
    addRounded("loop_cache_clocks", loop->cache);
    addRounded("loop_alone_clocks", loop->alone);
    addRounded("loop_wait_clocks", loop->waits);
    addRounded("loop_flops_per_clock", loop->flopsPerClock);
    addRounded("loop_tflops", loop->teraflops);
  }
  if (!resources.warnings.empty()) {
    SmallVector<StringRef> warnings(resources.warnings.begin(),
                                    resources.warnings.end());
    list.set("warnings", builder.getStrArrayAttr(warnings));
  }
  return list.getDictionary(context);
}

/// Says what bounds the main loop, by the target's model.
static void remarkOnLoop(LLVM::LLVMFuncOp kernel, const LoopCost &loop) {
  if (!kernel.getContext()->getRemarkEngine())
    return;
  const std::pair<StringRef, double> parts[] = {
      {"matrix instructions", loop.matrix},
      {"vector instructions", loop.vector},
      {"shared memory", loop.shared},
      {"the cache", loop.cache},
      {"the time of one warp", loop.alone}};
  StringRef bound = llvm::max_element(parts, llvm::less_second())->first;
  remark::analysis(kernel.getLoc(), remark::RemarkOpts::name("main-loop")
                                        .category("loop")
                                        .function(kernel.getName()))
      << llvm::formatv(
             "an iteration of {0} warps of an SM takes a scheduler {1:F0} "
             "clocks of matrix instructions, {2:F0} of vector ones ({3:F0} of "
             "exponentials), {4:F0} of shared memory ({5:F0} of conflicts of "
             "banks) and {6:F0} of the cache, and one warp {7:F0} ({8:F0} of "
             "waits): bound by {9}, {10:F0} TFLOP/s",
             loop.warps, loop.matrix, loop.vector, loop.exponentials,
             loop.shared, loop.conflicts, loop.cache, loop.alone, loop.waits,
             bound, loop.teraflops)
             .str();
}

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
  launch::ManifestAttr manifest = launch::getManifest(kernel.function);
  if (!manifest)
    manifest = launch::ManifestAttr::get(&getContext());
  kernel.function->removeAttr(launch::LaunchDialect::kManifestAttrName);

  BinaryOptions options;
  options.format = format;
  options.objectOptional = !requireObject;
  options.assemblerPath = ptxas;
  FailureOr<Binary> binary = model->serialize(module, target, options);
  if (failed(binary))
    return failure();
  kernel.binary = std::move(*binary);
  int64_t threads = manifest.getBlock() ? 1 : 0;
  if (threads)
    for (int64_t size : manifest.getBlock().asArrayRef())
      threads *= size;
  std::optional<LoopCost> loop =
      model->predictLoop(kernel.binary, target, threads,
                         kernel.binary.resources.staticSharedBytes.value_or(0) +
                             manifest.getSharedBytes());
  if (loop)
    remarkOnLoop(kernel.function, *loop);
  kernel.manifest = manifest.withBinary(
      kernel.function.getNameAttr(),
      StringAttr::get(&getContext(), target.getChip()),
      toAttribute(&getContext(), kernel.binary.resources, loop));
  return success();
}

static llvm::Error writeJSON(ArtifactWriter &writer, const Twine &name,
                             const llvm::json::Value &value) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::formatv("{0:2}\n", value);
  return writer.add((name + ".json").str(), text);
}

/// The files of one kernel.
static llvm::Error write(ArtifactWriter &writer, const CompiledKernel &kernel,
                         StringRef name) {
  const Binary &binary = kernel.binary;
  llvm::json::Object files;
  auto add = [&](StringRef kind, StringRef suffix,
                 StringRef content) -> llvm::Error {
    if (content.empty())
      return llvm::Error::success();
    std::string file = (name + "." + suffix).str();
    files[kind] = file;
    return writer.add(file, content);
  };
  if (auto error = add("assembly", binary.assemblySuffix, binary.assembly))
    return error;
  if (auto error = add("object", binary.objectSuffix, binary.object))
    return error;
  llvm::json::Value manifest = kernel.manifest.toJSON();
  (*manifest.getAsObject())["files"] = std::move(files);
  return writeJSON(writer, name, manifest);
}

LogicalResult
AttuneEmitBinary::writeArtifacts(ArrayRef<CompiledKernel> kernels) {
  ArtifactWriter writer(outputDir);
  llvm::StringSet<> names;
  auto take = [&](Operation *op, StringRef name) -> LogicalResult {
    if (names.insert(name).second)
      return success();
    return op->emitOpError()
           << "expects kernels and sequences with different names where files "
              "are written, but got two of '"
           << name << "'";
  };
  for (const CompiledKernel &kernel : kernels) {
    gpu::GPUModuleOp module = kernel.module;
    LLVM::LLVMFuncOp function = kernel.function;
    if (failed(take(module, function.getName())))
      return failure();
    if (auto error = write(writer, kernel, function.getName()))
      return module.emitOpError() << llvm::toString(std::move(error));
  }
  for (auto function : getOperation().getOps<FunctionOpInterface>())
    for (launch::SequenceAttr sequence : launch::getSequences(function)) {
      if (failed(take(function, sequence.getName())))
        return failure();
      if (auto error = writeJSON(writer, sequence.getName(),
                                 sequence.toSequence().toJSON()))
        return function.emitOpError() << llvm::toString(std::move(error));
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
    launch::setManifest(binary, kernel.manifest);
    module.erase();
  }
  // Each binary says its chip; nobody reads the description after it.
  getOperation()->removeAttr(tile::TileDialect::kTargetAttrName);
}
