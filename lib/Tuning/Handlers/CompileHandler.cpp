// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiles candidates in a worker process, by the same pipeline as attune-opt
// or by that of their recipe.

#include "attune/Tuning/CompileHandler.h"
#include "attune/Conversion/Manifest.h"
#include "attune/InitAllDialects.h"
#include "attune/Pipelines/Pipelines.h"
#include "attune/Tuning/ProgramHandler.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Base64.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace attune;
using namespace attune::tuning;
namespace json = llvm::json;

static json::Value makeError(llvm::StringRef message) {
  return json::Object{{"status", "compile-error"},
                      {"message", json::fixUTF8(message)}};
}

static json::Object makeResources(const json::Object &manifest) {
  Resources resources;
  if (const json::Object *reported = manifest.getObject("resources")) {
    resources.registers = reported->getInteger("registers");
    if (std::optional<int64_t> stores =
            reported->getInteger("spill_store_bytes"))
      resources.spillBytes =
          *stores + reported->getInteger("spill_load_bytes").value_or(0);
    resources.sharedBytes = reported->getInteger("static_shared_bytes");
    resources.serializedMultiplies =
        reported->getInteger("serialized_multiplies");
  }
  if (std::optional<int64_t> bytes = manifest.getInteger("shared_bytes"))
    resources.sharedBytes = resources.sharedBytes.value_or(0) + *bytes;
  if (const json::Array *block = manifest.getArray("block")) {
    int64_t threads = 1;
    for (const json::Value &size : *block)
      threads *= size.getAsInteger().value_or(1);
    resources.threads = threads;
  }
  return toJSON(resources);
}

/// Describes the one binary that a compiled problem holds.
static json::Value describe(ModuleOp module) {
  llvm::SmallVector<gpu::BinaryOp> binaries(module.getOps<gpu::BinaryOp>());
  if (binaries.size() != 1 || binaries[0].getObjects().size() != 1)
    return makeError(
        llvm::formatv("expects one kernel of the problem, but got {0}",
                      binaries.size())
            .str());
  auto object = cast<gpu::ObjectAttr>(binaries[0].getObjects()[0]);
  auto manifestAttr =
      binaries[0]->getAttrOfType<DictionaryAttr>(kManifestAttrName);
  if (!manifestAttr)
    return makeError("expects a manifest on the kernel, but got none");
  json::Value manifest = attune::toJSON(manifestAttr);
  json::Object resources = makeResources(*manifest.getAsObject());

  // What the device is given decides whether two candidates are one: the code
  // and how it is launched, but not what the assembler had to say about it.
  llvm::StringRef code = object.getObject().getValue();
  json::Object launch = *manifest.getAsObject();
  launch.erase("resources");
  std::string identity =
      llvm::formatv("{0}\n", json::Value(std::move(launch))).str() + code.str();
  llvm::XXH128_hash_t hash =
      llvm::xxh3_128bits(llvm::arrayRefFromStringRef(identity));

  // A device worker has the problem already.
  for (auto nested : llvm::make_early_inc_range(module.getOps<ModuleOp>()))
    nested.erase();
  std::string bytecode;
  llvm::raw_string_ostream os(bytecode);
  if (failed(writeBytecodeToFile(module, os)))
    return makeError("cannot write the compiled module");
  return json::Object{{"status", "ok"},
                      {"hash", llvm::utohexstr(hash.high64, true, 16) +
                                   llvm::utohexstr(hash.low64, true, 16)},
                      {"resources", std::move(resources)},
                      {"binary", llvm::encodeBase64(bytecode)}};
}

static json::Value compile(const DialectRegistry &registry,
                           llvm::StringRef assembler,
                           const json::Value &request) {
  CandidateRequest candidate(registry);
  if (std::string wrong = candidate.read(request); !wrong.empty())
    return makeError(wrong);
  if (candidate.getRecipe())
    return compileProgram(candidate);
  ModuleOp module = candidate.getModule();
  PassManager manager(module.getContext());
  CompileOptions options;
  options.chip = candidate.getChip().str();
  options.assembler = assembler.str();
  buildCompilePipeline(manager, options);
  if (failed(manager.run(module)))
    return candidate.makeFailure(Status::CompileError,
                                 "the pipeline failed without a message");
  return describe(module);
}

WorkerHandlers tuning::makeCompileHandlers(std::string assembler) {
  auto registry = std::make_shared<DialectRegistry>();
  registerAllDialects(*registry);
  WorkerHandlers handlers;
  handlers.handle =
      [registry, assembler = std::move(assembler)](const json::Value &request) {
        return compile(*registry, assembler, request);
      };
  return handlers;
}
