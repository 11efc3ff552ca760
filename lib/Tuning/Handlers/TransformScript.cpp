// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Takes scripts out of modules, and puts them in.

#include "attune/Tuning/TransformScript.h"
#include "mlir/Dialect/Transform/Transforms/TransformInterpreterUtils.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace attune;
using namespace attune::tuning;
using transform::NamedSequenceOp;
using transform::TransformDialect;

NamedSequenceOp tuning::findScript(ModuleOp module) {
  NamedSequenceOp found;
  module->walk([&](NamedSequenceOp sequence) {
    if (sequence.getSymName() !=
        TransformDialect::kTransformEntryPointSymbolName)
      return WalkResult::advance();
    found = sequence;
    return WalkResult::interrupt();
  });
  return found;
}

static bool holdsSequences(Operation *op) {
  return op->walk([](NamedSequenceOp) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

OwningOpRef<ModuleOp> tuning::copyPayload(ModuleOp module) {
  OwningOpRef<ModuleOp> payload = module.clone();
  payload->walk([](NamedSequenceOp sequence) { sequence.erase(); });
  // Modules that were there for their sequences.
  for (auto nested : llvm::make_early_inc_range(payload->getOps<ModuleOp>()))
    if (nested.getBody()->empty() &&
        nested->hasAttr(TransformDialect::kWithNamedSequenceAttrName))
      nested.erase();
  (*payload)->removeAttr(TransformDialect::kWithNamedSequenceAttrName);
  return payload;
}

OwningOpRef<ModuleOp> tuning::copyScript(ModuleOp module) {
  OwningOpRef<ModuleOp> script = module.clone();
  for (Operation &op : llvm::make_early_inc_range(*script->getBody()))
    if (!holdsSequences(&op))
      op.erase();
  return script;
}

void tuning::addScript(ModuleOp module, ModuleOp script) {
  for (Operation &op : *script.getBody())
    module.push_back(op.clone());
  module->setAttr(TransformDialect::kWithNamedSequenceAttrName,
                  UnitAttr::get(module.getContext()));
}

LogicalResult tuning::applyScript(ModuleOp payload, ModuleOp script) {
  return transform::applyTransformNamedSequence(payload, findScript(script),
                                                /*transformModule=*/ModuleOp(),
                                                transform::TransformOptions());
}

// Each line of a recipe is a comment of MLIR.
static constexpr llvm::StringRef kEntry = "// entry: ",
                                 kPipeline = "// pipeline: ",
                                 kReference = "// reference: ",
                                 kLibraries = "// libraries: ";

std::string ProgramRecipe::print() const {
  std::string text;
  llvm::raw_string_ostream(text)
      << kEntry << entry << "\n"
      << kPipeline << pipeline << "\n"
      << kReference << reference << "\n"
      << kLibraries << llvm::join(libraries, ",") << "\n";
  return text;
}

std::optional<ProgramRecipe> ProgramRecipe::parse(llvm::StringRef text) {
  auto take = [&](llvm::StringRef head) -> std::optional<std::string> {
    llvm::StringRef line = text.take_until([](char c) { return c == '\n'; });
    text = text.drop_front(std::min(line.size() + 1, text.size()));
    if (!line.consume_front(head))
      return std::nullopt;
    return line.str();
  };
  auto entry = take(kEntry), pipeline = take(kPipeline),
       reference = take(kReference), libraries = take(kLibraries);
  if (!entry || !pipeline || !reference || !libraries)
    return std::nullopt;
  ProgramRecipe recipe{*entry, *pipeline, *reference, {}};
  llvm::SmallVector<llvm::StringRef> paths;
  llvm::StringRef(*libraries).split(paths, ',', -1, /*KeepEmpty=*/false);
  for (llvm::StringRef path : paths)
    recipe.libraries.push_back(path.str());
  return recipe;
}

std::string tuning::printModule(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream os(text);
  module.print(os);
  os << "\n";
  return text;
}

std::string tuning::makeProblemKey(llvm::StringRef text) {
  llvm::XXH128_hash_t hash =
      llvm::xxh3_128bits(llvm::arrayRefFromStringRef(text));
  return llvm::utohexstr(hash.high64, true, 16) +
         llvm::utohexstr(hash.low64, true, 16);
}
