// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attune-tune from C. It is a part of libAttune.so as well.

#include "attune-c/Tune.h"

int attuneTuneMain(int argc, char **argv);

int attuneTune(int argc, char **argv) { return attuneTuneMain(argc, argv); }
