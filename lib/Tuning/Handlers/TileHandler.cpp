// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels by what they are as tiles. Nothing behind that stage reads the
// schedule, for it is gone, so equal tiles become equal kernels.

#include "attune/Tuning/TileHandler.h"
#include "attune/Dialect/Launch/IR/Launch.h"
#include "attune/Dialect/Tile/IR/Tile.h"
#include "attune/InitAllDialects.h"
#include "attune/Pipelines/Pipelines.h"
#include "attune/Tuning/CandidateRequest.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace attune;
using namespace attune::tuning;
namespace json = llvm::json;

/// Removes what the host executor ignores.
static void dropFactsOfChip(ModuleOp module) {
  for (auto source : llvm::make_early_inc_range(module.getOps<ModuleOp>()))
    source.erase();
  module.walk([](gpu::GPUFuncOp kernel) {
    kernel->removeAttr(tile::TileDialect::kResidencyAttrName);
    kernel->removeAttr(tile::TileDialect::kKeepCountersAttrName);
    kernel->removeAttr(tile::TileDialect::kAssemblerAttrName);
    // The host side launches what the limit has been applied to.
    if (launch::ManifestAttr manifest = launch::getManifest(kernel))
      launch::setManifest(kernel, manifest.withoutGridLimit());
  });
  module.walk([&](tile::SpecializeOp roles) {
    SmallVector<Attribute> without;
    for (auto role : roles.getRoles().getAsRange<tile::RoleAttr>())
      without.push_back(tile::RoleAttr::get(
          role.getContext(), role.getName(), role.getWarps(), /*registers=*/0,
          role.getThreads(), role.getTeams()));
    roles.setRolesAttr(Builder(module.getContext()).getArrayAttr(without));
  });
}

LogicalResult tuning::lowerToTiles(ModuleOp module, StringRef chip) {
  PassManager manager(module.getContext());
  CompileOptions options;
  options.chip = chip.str();
  options.sms = 1;
  buildTensorsToTilePipeline(manager, options);
  buildTilePipeline(manager);
  if (failed(manager.run(module)))
    return failure();
  dropFactsOfChip(module);
  return success();
}

static json::Value identify(const DialectRegistry &registry,
                            const json::Value &request) {
  CandidateRequest candidate(registry);
  if (std::string wrong = candidate.read(request); !wrong.empty())
    return candidate.makeFailure(Status::CompileError, wrong);
  ModuleOp module = candidate.getModule();
  if (failed(lowerToTiles(module, candidate.getChip())))
    return candidate.makeFailure(Status::CompileError,
                                 "the pipeline failed without a message");
  std::string text;
  llvm::raw_string_ostream os(text);
  module.print(os);
  llvm::XXH128_hash_t hash =
      llvm::xxh3_128bits(llvm::arrayRefFromStringRef(text));
  return json::Object{{"status", toString(Status::Ok)},
                      {"hash", llvm::utohexstr(hash.high64, true, 16) +
                                   llvm::utohexstr(hash.low64, true, 16)}};
}

WorkerHandlers tuning::makeTileHandlers() {
  auto registry = std::make_shared<DialectRegistry>();
  registerAllDialects(*registry);
  WorkerHandlers handlers;
  handlers.handle = [registry](const json::Value &request) {
    return identify(*registry, request);
  };
  return handlers;
}
