// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Options of tools that are a file or a folder.

#ifndef ATTUNE_TOOLS_PATHOPTION_H
#define ATTUNE_TOOLS_PATHOPTION_H

#include "llvm/Support/CommandLine.h"

namespace attune {

/// Tells an empty path, such as that of a script's variable which is not set,
/// from an option that is not given.
struct PathParser : llvm::cl::parser<std::string> {
  using parser::parser;

  bool parse(llvm::cl::Option &option, llvm::StringRef name,
             llvm::StringRef text, std::string &path) {
    if (text.empty())
      return option.error("expects a path, but got nothing", name);
    return parser::parse(option, name, text, path);
  }
};

using PathOption =
    llvm::cl::opt<std::string, /*ExternalStorage=*/false, PathParser>;

} // namespace attune

#endif // ATTUNE_TOOLS_PATHOPTION_H
