// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The chips and families that this build knows. Targets.def is generated from
// the folders below lib/Target.

#include "attune/Target/TargetRegistry.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include <mutex>

using namespace mlir;
using namespace attune;

#define ATTUNE_FAMILY(family)                                                  \
  namespace attune {                                                           \
  std::unique_ptr<TargetModel> create##family##TargetModel();                  \
  void register##family##Dialects(DialectRegistry &registry);                  \
  }
#define ATTUNE_CHIP(chip, description)
#include "attune/Target/Targets.def"
#undef ATTUNE_FAMILY
#undef ATTUNE_CHIP

namespace {
struct Chip {
  StringRef name;
  StringRef description;
};
} // namespace

static ArrayRef<Chip> getChips() {
  static const Chip chips[] = {
#define ATTUNE_FAMILY(family)
#define ATTUNE_CHIP(chip, description) {chip, description},
#include "attune/Target/Targets.def"
#undef ATTUNE_FAMILY
#undef ATTUNE_CHIP
  };
  return chips;
}

namespace {
struct Models {
  std::mutex mutex;
  llvm::StringMap<std::unique_ptr<TargetModel>> models;

  Models() {
#define ATTUNE_FAMILY(family) models[#family] = create##family##TargetModel();
#define ATTUNE_CHIP(chip, description)
#include "attune/Target/Targets.def"
#undef ATTUNE_FAMILY
#undef ATTUNE_CHIP
  }
};
} // namespace

static Models &getModels() {
  static Models models;
  return models;
}

SmallVector<StringRef> attune::getChipNames() {
  SmallVector<StringRef> names = llvm::map_to_vector(
      getChips(), [](const Chip &chip) { return chip.name; });
  llvm::sort(names);
  return names;
}

bool attune::runsOn(StringRef chip, StringRef device) {
  return chip.consume_front(device) && !llvm::any_of(chip, llvm::isDigit);
}

StringRef attune::getChipOf(StringRef device) {
  StringRef best = device;
  for (StringRef chip : getChipNames())
    if (runsOn(chip, device) && chip.size() > best.size())
      best = chip;
  return best;
}

const TargetModel *attune::getTargetModel(StringRef family) {
  Models &registry = getModels();
  std::lock_guard<std::mutex> lock(registry.mutex);
  auto it = registry.models.find(family);
  return it == registry.models.end() ? nullptr : it->second.get();
}

void attune::registerTargetModel(StringRef family,
                                 std::unique_ptr<TargetModel> model) {
  Models &registry = getModels();
  std::lock_guard<std::mutex> lock(registry.mutex);
  registry.models[family] = std::move(model);
}

FailureOr<tile::TargetAttr>
attune::getTarget(MLIRContext *context, StringRef chip,
                  function_ref<InFlightDiagnostic()> emitError) {
  for (const Chip &known : getChips()) {
    if (known.name != chip)
      continue;
    context->loadDialect<tile::TileDialect>();
    OwningOpRef<ModuleOp> module =
        parseSourceString<ModuleOp>(known.description, context);
    assert(module && "descriptions of chips are tested");
    return (*module)->getAttrOfType<tile::TargetAttr>(
        tile::TileDialect::kTargetAttrName);
  }
  InFlightDiagnostic diagnostic = emitError();
  diagnostic << "expects a known chip (";
  llvm::interleaveComma(getChipNames(), diagnostic);
  diagnostic << "), but got '" << chip << "'";
  return diagnostic;
}

void attune::registerTargetDialects(DialectRegistry &registry) {
#define ATTUNE_FAMILY(family) register##family##Dialects(registry);
#define ATTUNE_CHIP(chip, description)
#include "attune/Target/Targets.def"
#undef ATTUNE_FAMILY
#undef ATTUNE_CHIP
}
