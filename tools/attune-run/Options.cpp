// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Numbers on the command line.

#include "Options.h"
#include "llvm/ADT/StringExtras.h"

using namespace attune;
using namespace attune::run;
using llvm::StringRef;

/// Sizes beyond this are mistakes; attention refuses them too.
static constexpr int64_t kMaxSize = 2147483647;

static llvm::Expected<int64_t> parseSize(StringRef option, StringRef text) {
  int64_t size;
  if (text.getAsInteger(10, size) || size < 0 || size > kMaxSize)
    return llvm::createStringError("--" + option + " expects a size of 0 to " +
                                   llvm::Twine(kMaxSize) + ", but got '" +
                                   text + "'");
  return size;
}

llvm::Expected<ProblemSizes> Options::getSizes() const {
  ProblemSizes sizes;
  struct Entry {
    StringRef name;
    StringRef text;
    std::optional<int64_t> *size;
  };
  const Entry entries[] = {{"batch", batch, &sizes.batch},
                           {"heads", heads, &sizes.heads},
                           {"kv-heads", kvHeads, &sizes.kvHeads},
                           {"seq-q", seqQ, &sizes.seqQ},
                           {"seq-k", seqK, &sizes.seqK}};
  for (const Entry &entry : entries) {
    if (entry.text.empty())
      continue;
    auto size = parseSize(entry.name, entry.text);
    if (!size)
      return size.takeError();
    *entry.size = *size;
  }
  for (StringRef text : shapes) {
    auto [argument, list] = text.split('=');
    unsigned index;
    if (list.empty() || argument.getAsInteger(10, index))
      return llvm::createStringError(
          "--shape expects <argument>=<size>x<size>..., but got '" + text +
          "'");
    for (StringRef part : llvm::split(list, 'x')) {
      auto size = parseSize("shape", part);
      if (!size)
        return size.takeError();
      sizes.shapes[index].push_back(*size);
    }
  }
  return sizes;
}

llvm::Expected<InputFiles> Options::getInputs() const {
  InputFiles files;
  for (StringRef text : inputs) {
    auto [argument, path] = text.split('=');
    unsigned index;
    if (path.empty() || argument.getAsInteger(10, index))
      return llvm::createStringError(
          "--input expects <argument>=<file>, but got '" + text + "'");
    if (!files.try_emplace(index, path.str()).second)
      return llvm::createStringError("--input expects one file for an "
                                     "argument, but got two for argument " +
                                     argument);
  }
  return files;
}

HostOptions Options::getHostOptions() const {
  HostOptions host;
  if (!checks.empty()) {
    host.checks = 0;
    for (HostCheck check : checks)
      host.checks |= static_cast<unsigned>(check);
  }
  host.counts = counts;
  host.seed = hostSeed;
  host.maxLanes = maxLanes;
  host.maxSteps = maxSteps;
  return host;
}
