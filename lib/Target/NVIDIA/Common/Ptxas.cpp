// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The report of ptxas is prose for people; the phrases read here have been the
// same since CUDA 5. What it does not say stays absent.

#include "Ptxas.h"
#include "NVIDIA.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Chrono.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"

using namespace attune;
using llvm::StringRef;

std::string nvidia::findPtxas(StringRef requested) {
  if (!requested.empty())
    return llvm::sys::fs::can_execute(requested) ? requested.str() : "";
  if (auto found = llvm::sys::findProgramByName("ptxas"))
    return *found;
  for (const char *variable : {"CUDA_HOME", "CUDA_PATH", "CUDA_ROOT"}) {
    std::optional<std::string> root = llvm::sys::Process::GetEnv(variable);
    if (!root || root->empty())
      continue;
    llvm::SmallString<128> path(*root);
    llvm::sys::path::append(path, "bin", "ptxas");
    if (llvm::sys::fs::can_execute(path))
      return path.str().str();
  }
  return "";
}

std::string nvidia::getToolchain(const BinaryOptions &options) {
  std::string path = findPtxas(options.assemblerPath);
  llvm::sys::fs::file_status status;
  if (path.empty() || llvm::sys::fs::status(path, status))
    return "no ptxas";
  // Another version installed over this one has another size or date.
  return llvm::formatv("{0} {1} {2}", path, status.getSize(),
                       llvm::sys::toTimeT(status.getLastModificationTime()))
      .str();
}

/// The number that stands right before `phrase`.
static std::optional<int64_t> numberBefore(StringRef line, StringRef phrase) {
  size_t position = line.find(phrase);
  if (position == StringRef::npos)
    return std::nullopt;
  StringRef before = line.take_front(position).rtrim();
  StringRef digits = before.take_back(
      before.size() - (before.find_last_not_of("0123456789") + 1));
  int64_t value;
  if (digits.getAsInteger(10, value))
    return std::nullopt;
  return value;
}

static void keepLargest(std::optional<int64_t> &kept,
                        std::optional<int64_t> value) {
  if (value)
    kept = std::max(kept.value_or(*value), *value);
}

KernelResources nvidia::parsePtxasReport(StringRef report) {
  KernelResources resources;
  for (StringRef line : llvm::split(report, '\n')) {
    line = line.trim();
    keepLargest(resources.stackBytes, numberBefore(line, "bytes stack frame"));
    keepLargest(resources.spillStoreBytes,
                numberBefore(line, "bytes spill stores"));
    keepLargest(resources.spillLoadBytes,
                numberBefore(line, "bytes spill loads"));
    if (auto registers = numberBefore(line, "registers")) {
      keepLargest(resources.registers, registers);
      // Named only where there is some.
      keepLargest(resources.staticSharedBytes,
                  numberBefore(line, "bytes smem").value_or(0));
    }
    // Notices about wgmma and setmaxnreg are `info` lines with a number C75xx.
    if (line.contains("wgmma") && line.contains("are serialized"))
      resources.serializedMultiplies =
          resources.serializedMultiplies.value_or(0) + 1;
    if (line.contains("warning") || line.contains("(C75"))
      resources.warnings.push_back(line.str());
  }
  return resources;
}
