// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the main functions of the tools have in common: --version, and errors
// that LLVM calls fatal.

#ifndef ATTUNE_TOOLS_TOOLMAIN_H
#define ATTUNE_TOOLS_TOOLMAIN_H

#include "attune/Runtime/ExitCode.h"
#include <string>

namespace attune {

/// Lets --version print the versions of the tool and of LLVM. Before options
/// are parsed. `tool` is a literal.
void setToolVersion(const char *tool);

/// Makes what LLVM calls fatal (a full disk, no memory, an instruction that a
/// back end cannot select) an error like any other: a message and exit code 1,
/// with no output left at `outputPath`. Once in a process; both arguments live
/// as long as that.
void reportFatalErrors(const char *tool,
                       const std::string *outputPath = nullptr);

} // namespace attune

#endif // ATTUNE_TOOLS_TOOLMAIN_H
