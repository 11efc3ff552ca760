// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads RUN lines. Commands that start others, or name files that are not the
// test itself, are left out: a changed one must not touch anything.

#include "Seeds.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/StringSaver.h"

using namespace attune::fuzz;
using llvm::StringRef;

/// The commands of the RUN lines of a test, without pipes and what is behind
/// them.
static std::vector<std::string> readCommands(StringRef text) {
  std::vector<std::string> commands;
  std::string line;
  while (!text.empty()) {
    StringRef current;
    std::tie(current, text) = text.split('\n');
    size_t at = current.find("RUN:");
    if (at == StringRef::npos)
      continue;
    current = current.drop_front(at + 4).trim();
    bool continues = current.consume_back("\\");
    line += current.str() + " ";
    if (continues)
      continue;
    // Not quotes, which may hold any of these.
    char quote = 0;
    std::string command;
    for (char c : line) {
      if (quote ? c == quote : (c == '"' || c == '\''))
        quote = quote ? 0 : c;
      if (!quote && (c == '|' || c == ';' || c == '&')) {
        commands.push_back(std::move(command));
        command.clear();
      } else {
        command += c;
      }
    }
    commands.push_back(std::move(command));
    line.clear();
  }
  return commands;
}

static std::vector<std::string> splitWords(StringRef command) {
  llvm::BumpPtrAllocator allocator;
  llvm::StringSaver saver(allocator);
  llvm::SmallVector<const char *> words;
  llvm::cl::TokenizeGNUCommandLine(command, saver, words);
  return {words.begin(), words.end()};
}

/// The tool and its arguments, with the test as `input.mlir`; nothing if a
/// command is none of ours, or must not be changed.
static std::vector<std::string> readArguments(StringRef command) {
  command = command.trim();
  command.consume_front("not ");
  while (command.trim().consume_front("%{"))
    command = command.split('}').second;
  std::vector<std::string> words = splitWords(command.split(" > ").first);
  static constexpr StringRef tools[] = {"attune-gen", "attune-opt",
                                        "attune-run", "attune-tune"};
  if (words.empty() || !llvm::is_contained(tools, words.front()))
    return {};
  static constexpr StringRef unfit[] = {"--launcher", "--assembler", "--ptxas",
                                        "--load", "--shared-libs"};
  std::vector<std::string> arguments;
  for (StringRef word : words) {
    if (word.starts_with("2>") || word.starts_with("<"))
      continue;
    if (llvm::any_of(unfit,
                     [&](StringRef name) { return word.starts_with(name); }))
      return {};
    std::string argument = word.str();
    size_t at;
    while ((at = argument.find("%s")) != std::string::npos)
      argument.replace(at, 2, "input.mlir");
    while ((at = argument.find("%t")) != std::string::npos)
      argument.replace(at, 2, "out");
    if (StringRef(argument).contains('%') || StringRef(argument).contains('/'))
      return {};
    arguments.push_back(std::move(argument));
  }
  return arguments;
}

/// Whether an argument of attune-opt is a pass or a pipeline, as far as a name
/// tells.
static bool isPass(StringRef argument) {
  static constexpr StringRef others[] = {"-split-input-file",
                                         "-verify-diagnostics",
                                         "-mlir-",
                                         "-emit-",
                                         "-remarks-",
                                         "-allow-unregistered",
                                         "-o",
                                         "-show-",
                                         "-no-implicit",
                                         "-verify-each",
                                         "-dump-",
                                         "-debug",
                                         "-verify-roundtrip",
                                         "-help",
                                         "-version"};
  argument.consume_front("-");
  if (!argument.starts_with("-"))
    return false;
  return llvm::none_of(
      others, [&](StringRef name) { return argument.starts_with(name); });
}

static void readTest(StringRef path, StringRef text, Seeds &seeds) {
  std::vector<std::vector<std::string>> runs;
  for (const std::string &command : readCommands(text)) {
    std::vector<std::string> words = readArguments(command);
    if (words.empty())
      continue;
    if (words.front() == "attune-opt") {
      std::vector<std::string> passes;
      for (const std::string &word : words) {
        std::string pass =
            StringRef(word).starts_with("--") ? word : "-" + word;
        if (StringRef(word).starts_with("-") && isPass(pass))
          passes.push_back(pass);
      }
      llvm::append_range(seeds.passes, passes);
      runs.push_back(std::move(passes));
    }
    seeds.commands.push_back({text.str(), std::move(words), true, path.str()});
  }
  if (!path.ends_with(".mlir"))
    return;
  if (runs.empty())
    runs.emplace_back();
  llvm::SmallVector<StringRef> chunks;
  text.split(chunks, "// -----");
  size_t next = 0;
  for (StringRef chunk : chunks)
    if (!chunk.trim().empty() && chunk.size() < 20000)
      seeds.programs.push_back(
          {chunk.str(), runs[next++ % runs.size()], false, path.str()});
}

llvm::Expected<Seeds>
attune::fuzz::readSeeds(llvm::ArrayRef<std::string> folders) {
  std::vector<std::string> paths;
  for (const std::string &folder : folders) {
    std::error_code error;
    for (llvm::sys::fs::recursive_directory_iterator file(folder, error), end;
         file != end && !error; file.increment(error))
      if (StringRef(file->path()).ends_with(".mlir") ||
          StringRef(file->path()).ends_with(".test"))
        paths.push_back(file->path());
    if (error)
      return llvm::createStringError(error, "expects a folder, but got '%s'",
                                     folder.c_str());
  }
  llvm::sort(paths);
  Seeds seeds;
  for (const std::string &path : paths) {
    auto buffer = llvm::MemoryBuffer::getFile(path);
    if (!buffer)
      return llvm::createStringError(buffer.getError(), "cannot read '%s'",
                                     path.c_str());
    readTest(path, (*buffer)->getBuffer(), seeds);
  }
  llvm::sort(seeds.passes);
  seeds.passes.erase(llvm::unique(seeds.passes), seeds.passes.end());
  if (seeds.programs.empty() || seeds.commands.empty())
    return llvm::createStringError(
        "expects tests with programs and commands below the folders");
  return seeds;
}
