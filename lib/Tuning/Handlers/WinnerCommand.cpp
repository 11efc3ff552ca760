// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Spells options of attune-run and attune-tune.

#include "WinnerCommand.h"
#include "attune/Tuning/Reproducer.h"
#include "llvm/ADT/StringExtras.h"

using namespace attune::tuning;

std::string attune::tuning::makeOption(llvm::StringRef name,
                                       llvm::StringRef value) {
  return value.empty() ? "" : " --" + name.str() + "=" + quoteForShell(value);
}

/// The state of the chip, if it is not the default.
static std::string makeState(const TuneFileOptions &options) {
  return options.state == TuneFileOptions().state
             ? ""
             : makeOption("state", attune::toString(options.state));
}

std::string attune::tuning::makeRunCommand(const TuneFileOptions &options,
                                           llvm::StringRef file,
                                           llvm::StringRef chip) {
  std::string command = "attune-run";
  if (!file.empty())
    command += " " + quoteForShell(file);
  if (options.device == "cuda" || options.device == "hip")
    command += makeOption("device", options.device);
  if (int ordinal = options.ordinals.front())
    command += makeOption("device-number", std::to_string(ordinal));
  command += makeOption("chip", chip) + makeOption("ptxas", options.assembler);
  for (const auto &[name, size] : options.sizes)
    command += makeOption(name, std::to_string(size));
  return command + " --verify --bench" + makeState(options);
}

std::string attune::tuning::makeSearchCommand(const TuneFileOptions &options,
                                              llvm::StringRef chip) {
  std::string command = "attune-tune " + quoteForShell(options.input) +
                        makeOption("script", options.script) +
                        makeOption("device", options.device);
  if (int ordinal = options.ordinals.front())
    command += makeOption("gpus", std::to_string(ordinal));
  command +=
      makeOption("chip", chip) + makeOption("assembler", options.assembler);
  for (const auto &[name, size] : options.sizes)
    command += makeOption("size", name + "=" + std::to_string(size));
  return command + makeState(options);
}

std::string attune::tuning::makeOnly(const Space &space,
                                     llvm::ArrayRef<int64_t> point) {
  std::vector<std::string> values;
  for (auto [knob, value] : llvm::zip_equal(space.getKnobs(), point))
    values.push_back(knob.name + "=" + knob.spell(value));
  // Commas separate the values of an option.
  if (llvm::any_of(values,
                   [](llvm::StringRef value) { return value.contains(','); }))
    return "";
  return makeOption("only", llvm::join(values, ","));
}
