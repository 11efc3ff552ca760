// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiles candidates in a worker process, by the same pipeline as attune-opt
// or by that of their recipe.

#include "attune/Tuning/CompileHandler.h"
#include "attune/Dialect/Launch/IR/Launch.h"
#include "attune/InitAllDialects.h"
#include "attune/Pipelines/Pipelines.h"
#include "attune/Runtime/Manifest.h"
#include "attune/Tuning/ProgramHandler.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
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

/// What one kernel needs.
static Resources getResources(launch::ManifestAttr manifest) {
  Resources resources;
  auto report = [&](StringRef key) -> std::optional<int64_t> {
    auto value = manifest.getResources()
                     ? manifest.getResources().getAs<IntegerAttr>(key)
                     : IntegerAttr();
    return value ? std::optional(value.getInt()) : std::nullopt;
  };
  resources.registers = report("registers");
  if (std::optional<int64_t> stores = report("spill_store_bytes"))
    resources.spillBytes = *stores + report("spill_load_bytes").value_or(0);
  resources.sharedBytes =
      report("static_shared_bytes").value_or(0) + manifest.getSharedBytes();
  resources.serializedMultiplies = report("serialized_multiplies");
  resources.loopFlopsPerClock = report("loop_flops_per_clock");
  if (manifest.getResources())
    for (NamedAttribute entry : manifest.getResources()) {
      StringRef name = entry.getName();
      auto value = dyn_cast<IntegerAttr>(entry.getValue());
      if (value && name.consume_front("loop_") && name != "flops_per_clock")
        resources.loopTerms[name.str()] = value.getInt();
    }
  int64_t threads = 1;
  for (int64_t size : manifest.getBlock().asArrayRef())
    threads *= size;
  resources.threads = threads;
  return resources;
}

/// Describes the binaries that a compiled problem holds.
static json::Value describe(ModuleOp module) {
  // What the device is given decides whether two candidates are one: the code
  // and how it is launched, but not what the assembler had to say about it.
  std::string identity;
  std::optional<Resources> resources;
  for (auto binary : module.getOps<gpu::BinaryOp>()) {
    launch::ManifestAttr manifest = launch::getManifest(binary);
    if (!manifest || binary.getObjects().size() != 1)
      return makeError(llvm::formatv("expects one object and a manifest of "
                                     "kernel '{0}', but got {1} objects and {2}"
                                     " manifest",
                                     binary.getName(),
                                     binary.getObjects().size(),
                                     manifest ? "a" : "no")
                           .str());
    auto object = cast<gpu::ObjectAttr>(binary.getObjects()[0]);
    json::Value launch = manifest.toJSON();
    launch.getAsObject()->erase("resources");
    identity += llvm::formatv("{0}\n", launch).str();
    identity += object.getObject().getValue();
    if (!resources)
      resources.emplace();
    resources->add(getResources(manifest));
  }
  if (!resources)
    return makeError("expects kernels of the problem, but got none");
  for (auto function : module.getOps<func::FuncOp>())
    for (launch::SequenceAttr sequence : launch::getSequences(function))
      identity += llvm::formatv("{0}\n", sequence.toSequence().toJSON()).str();
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
                      {"resources", toJSON(*resources)},
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
