// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiles candidates in a worker process, by the same pipeline as attune-opt.
// Each request gets a context of its own: a context never forgets an attribute,
// and what one candidate left behind must not change the next.

#include "attune/Tuning/CompileHandler.h"
#include "attune/Conversion/Manifest.h"
#include "attune/InitAllDialects.h"
#include "attune/Pipelines/Pipelines.h"
#include "attune/Tuning/AttentionProblem.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
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

/// The point that a request names, knob by knob.
static std::optional<Point> readSchedule(const Space &space,
                                         const json::Object &schedule) {
  Point point;
  for (const Knob &knob : space.getKnobs()) {
    std::optional<int64_t> value = schedule.getInteger(knob.name);
    if (!value || !llvm::is_contained(knob.domain, *value))
      return std::nullopt;
    point.push_back(*value);
  }
  return point;
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
  const json::Object *object = request.getAsObject();
  std::optional<llvm::StringRef> problem, chip;
  const json::Object *schedule = nullptr;
  if (object) {
    problem = object->getString("problem");
    chip = object->getString("chip");
    schedule = object->getObject("schedule");
  }
  if (!problem || !chip || !schedule)
    return makeError("expects a problem, a chip and a schedule in a request");
  std::optional<Point> point = readSchedule(makeScheduleSpace(), *schedule);
  if (!point)
    return makeError("expects a value for each knob in the schedule");

  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  std::string errors;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error) {
      errors += (errors.empty() ? "" : "\n") + diagnostic.str();
      for (Diagnostic &note : diagnostic.getNotes())
        errors += "\nnote: " + note.str();
    }
    return success();
  });
  OwningOpRef<ModuleOp> module =
      parseSourceString<ModuleOp>(*problem, ParserConfig(&context));
  if (!module)
    return makeError(errors);
  module->walk([&](attn::AttentionOp op) { setSchedule(op, *point); });

  PassManager manager(&context);
  CompileOptions options;
  options.chip = chip->str();
  options.assembler = assembler.str();
  buildCompilePipeline(manager, options);
  if (failed(manager.run(*module)))
    return makeError(errors.empty() ? "the pipeline failed without a message"
                                    : errors);
  return describe(*module);
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
