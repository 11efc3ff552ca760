// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes reproducers, whole or not at all.

#include "attune/Tuning/Reproducer.h"
#include "attune/Runtime/ArtifactWriter.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/xxhash.h"

using namespace attune::tuning;

/// A function's name may hold anything; a file's name should not.
static std::string makeFileName(llvm::StringRef name) {
  std::string file = name.str();
  for (char &c : file)
    if (!llvm::isAlnum(c) && c != '_' && c != '.')
      c = '_';
  return file;
}

std::string attune::tuning::quoteForShell(llvm::StringRef argument) {
  auto isPlain = [](char c) {
    return llvm::isAlnum(c) || llvm::StringRef("_-./=:,+@%").contains(c);
  };
  if (!argument.empty() && llvm::all_of(argument, isPlain))
    return argument.str();
  std::string quoted = "'";
  for (char c : argument)
    quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

llvm::Expected<std::string> attune::tuning::writeReproducer(
    llvm::StringRef dir, llvm::StringRef name, llvm::StringRef chip,
    llvm::StringRef module, const Result &result, bool executed,
    const std::function<std::string(llvm::StringRef)> &getCommand) {
  if (std::error_code code = llvm::sys::fs::create_directories(dir))
    return llvm::createStringError(code, "cannot make folder '" + dir +
                                             "': " + code.message());
  llvm::SmallString<128> path(dir);
  llvm::sys::path::append(
      path, llvm::formatv("{0}-{1}-{2:x-8}.mlir", makeFileName(name),
                          toString(result.status),
                          uint32_t(llvm::xxh3_64bits(module)))
                .str());
  std::string file = llvm::sys::path::filename(path).str();
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "// " << toString(result.status) << " at stage "
     << toString(result.stage) << ":\n";
  for (llvm::StringRef line : llvm::split(result.message, '\n'))
    os << "//   " << line << "\n";
  if (getCommand)
    os << "// Reproduce with: " << getCommand(file) << "\n";
  else if (result.stage == Stage::Compile)
    os << "// Reproduce with: attune-opt " << file
       << " --attune-compile=\"chip=" << chip << "\" -o /dev/null\n";
  else if (executed)
    os << "// Reproduce with: attune-opt " << file
       << " --attune-compile=\"chip=" << chip
       << " sms=1 format=llvm\" | attune-run --device=host --host-seed="
       << getHostSeed(result.binaryHash) << "\n";
  else
    os << "// Reproduce with: attune-run " << file << " --chip=" << chip
       << " --verify --bench\n";
  os << module << "\n";
  if (llvm::Error error = writeFile(path, text))
    return error;
  return std::string(path);
}
