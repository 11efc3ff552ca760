// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Modules from text, and attuneCompile: the pipeline on a clone of the module,
// whose binaries and manifests are then copied out of the IR.

#include "attune-c/Compile.h"
#include "attune/Dialect/Launch/IR/Launch.h"
#include "attune/Dialect/Tile/IR/Tile.h"
#include "attune/InitAllDialects.h"
#include "attune/Pipelines/Pipelines.h"
#include "attune/Runtime/Manifest.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/CAPI/Diagnostics.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace attune;

namespace {
struct CompiledKernel {
  std::string name, image, manifest;
  bool isAssembly;
};

struct CompileResult {
  bool isSuccess = false;
  std::string diagnostics;
  std::vector<CompiledKernel> kernels;
  std::vector<std::string> sequences;
};
} // namespace

static CompileResult *unwrap(AttuneCompileResult result) {
  return static_cast<CompileResult *>(result.ptr);
}

/// `file:line:column: error: text`, as tools print it, and the notes.
static void append(std::string &text, Diagnostic &diagnostic) {
  llvm::raw_string_ostream stream(text);
  if (auto place = diagnostic.getLocation()->findInstanceOf<FileLineColLoc>())
    stream << place.getFilename().getValue() << ":" << place.getLine() << ":"
           << place.getColumn() << ": ";
  static constexpr StringLiteral kinds[] = {"note", "warning", "error",
                                            "remark"};
  stream << kinds[static_cast<size_t>(diagnostic.getSeverity())] << ": "
         << diagnostic << "\n";
  for (Diagnostic &note : diagnostic.getNotes())
    append(text, note);
}

static LogicalResult readOptions(const AttuneCompileOptions &given,
                                 MLIRContext *context,
                                 CompileOptions &options) {
  options.chip = unwrap(given.chip).str();
  options.assembler = unwrap(given.assembler).str();
  options.sms = given.sms;
  for (intptr_t i = 0; i < given.numTuningSpecs; ++i)
    options.tuningSpecs.push_back(unwrap(given.tuningSpecs[i]).str());
  StringRef format = unwrap(given.format);
  auto parsed = llvm::StringSwitch<std::optional<CompileFormat>>(format)
                    .Cases({"", "bin"}, CompileFormat::Object)
                    .Case("isa", CompileFormat::Assembly)
                    .Case("llvm", CompileFormat::LLVM)
                    .Default(std::nullopt);
  if (!parsed)
    return emitError(UnknownLoc::get(context))
           << "expects the format bin, isa or llvm, but got '" << format << "'";
  options.format = *parsed;
  return success();
}

/// Kernels in LLVM dialect: each module of them stands alone, with its target.
static LogicalResult collectIR(ModuleOp module, CompileResult &result) {
  for (auto holder : module.getOps<gpu::GPUModuleOp>()) {
    auto target = tile::TargetAttr::lookup(holder);
    OwningOpRef<gpu::GPUModuleOp> copy = holder.clone();
    (*copy)->setAttr(tile::TileDialect::kTargetAttrName, target);
    std::string image;
    llvm::raw_string_ostream stream(image);
    if (failed(writeBytecodeToFile(*copy, stream)))
      return holder.emitOpError() << "expects ops that have bytecode";
    for (auto function : holder.getOps<LLVM::LLVMFuncOp>()) {
      launch::ManifestAttr manifest = launch::getManifest(function);
      if (!manifest)
        continue;
      // As an object's, which says what it is of.
      manifest = manifest.withBinary(
          function.getNameAttr(),
          StringAttr::get(module.getContext(), target.getChip()), {});
      result.kernels.push_back({function.getName().str(), image,
                                llvm::formatv("{0:2}", manifest.toJSON()).str(),
                                /*isAssembly=*/false});
    }
  }
  return success();
}

static LogicalResult collect(ModuleOp module, CompileResult &result) {
  if (failed(collectIR(module, result)))
    return failure();
  for (auto binary : module.getOps<gpu::BinaryOp>()) {
    launch::ManifestAttr manifest = launch::getManifest(binary);
    // What others compiled.
    if (!manifest)
      continue;
    auto object = cast<gpu::ObjectAttr>(binary.getObjects()[0]);
    result.kernels.push_back(
        {manifest.toManifest().kernel, object.getObject().getValue().str(),
         llvm::formatv("{0:2}", manifest.toJSON()).str(),
         object.getFormat() == gpu::CompilationTarget::Assembly});
  }
  for (auto function : module.getOps<FunctionOpInterface>())
    for (launch::SequenceAttr sequence : launch::getSequences(function))
      result.sequences.push_back(
          llvm::formatv("{0:2}", sequence.toSequence().toJSON()).str());
  return success();
}

MlirModule attuneModuleParse(MlirContext context, MlirStringRef source,
                             MlirStringRef name) {
  // An empty text may have no address, which the parser reads from.
  StringRef text = source.length ? unwrap(source) : "";
  return wrap(parseSourceString<ModuleOp>(text, ParserConfig(unwrap(context)),
                                          unwrap(name))
                  .release());
}

AttuneCompileResult attuneCompile(MlirModule module,
                                  const AttuneCompileOptions *options) {
  auto result = std::make_unique<CompileResult>();
  MLIRContext *context = unwrap(module).getContext();
  ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
    append(result->diagnostics, diagnostic);
  });
  DialectRegistry registry;
  registerAllDialects(registry);
  context->appendDialectRegistry(registry);

  CompileOptions pipeline;
  OwningOpRef<ModuleOp> clone = unwrap(module).clone();
  PassManager passes(context);
  if (succeeded(readOptions(*options, context, pipeline))) {
    buildCompilePipeline(passes, pipeline);
    result->isSuccess =
        succeeded(passes.run(*clone)) && succeeded(collect(*clone, *result));
  }
  return {result.release()};
}

void attuneCompileResultDestroy(AttuneCompileResult result) {
  delete unwrap(result);
}

bool attuneCompileResultIsSuccess(AttuneCompileResult result) {
  return unwrap(result)->isSuccess;
}

MlirStringRef attuneCompileResultGetDiagnostics(AttuneCompileResult result) {
  return wrap(StringRef(unwrap(result)->diagnostics));
}

intptr_t attuneCompileResultGetNumKernels(AttuneCompileResult result) {
  return unwrap(result)->kernels.size();
}

MlirStringRef attuneCompileResultGetKernelName(AttuneCompileResult result,
                                               intptr_t pos) {
  return wrap(StringRef(unwrap(result)->kernels[pos].name));
}

MlirStringRef attuneCompileResultGetKernelImage(AttuneCompileResult result,
                                                intptr_t pos) {
  return wrap(StringRef(unwrap(result)->kernels[pos].image));
}

bool attuneCompileResultIsKernelAssembly(AttuneCompileResult result,
                                         intptr_t pos) {
  return unwrap(result)->kernels[pos].isAssembly;
}

MlirStringRef attuneCompileResultGetKernelManifest(AttuneCompileResult result,
                                                   intptr_t pos) {
  return wrap(StringRef(unwrap(result)->kernels[pos].manifest));
}

intptr_t attuneCompileResultGetNumSequences(AttuneCompileResult result) {
  return unwrap(result)->sequences.size();
}

MlirStringRef attuneCompileResultGetSequence(AttuneCompileResult result,
                                             intptr_t pos) {
  return wrap(StringRef(unwrap(result)->sequences[pos]));
}

void attuneDiagnosticPrint(MlirDiagnostic diagnostic,
                           MlirStringCallback callback, void *userData) {
  std::string text;
  append(text, unwrap(diagnostic));
  callback(wrap(StringRef(text)), userData);
}
