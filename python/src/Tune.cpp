// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The search, as a program beside the extension. It starts itself again as its
// workers, which the interpreter could not be.

#include "attune-c/Tune.h"

int main(int argc, char **argv) { return attuneTune(argc, argv); }
