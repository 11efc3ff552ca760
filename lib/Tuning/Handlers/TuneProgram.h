// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The search of a function that a transform script and a pipeline make a
// program for the CPU, whatever it computes.

#ifndef ATTUNE_TUNING_HANDLERS_TUNEPROGRAM_H
#define ATTUNE_TUNING_HANDLERS_TUNEPROGRAM_H

#include "attune/Tuning/TuneFile.h"

namespace attune::tuning {

/// What tuneFile() does where there is a pipeline.
llvm::Error tuneProgram(const TuneFileOptions &options,
                        const volatile sig_atomic_t &interrupted);

} // namespace attune::tuning

#endif // ATTUNE_TUNING_HANDLERS_TUNEPROGRAM_H
