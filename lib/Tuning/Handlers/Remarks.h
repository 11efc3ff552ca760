// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a search found, as upstream's optimization remarks at the ops that were
// tuned: these have categories to choose by and a format for other tools, which
// plain diagnostics have not. Of category `winner` is the winner, of category
// `sensitivity` what became of other values of its knobs.

#ifndef ATTUNE_TUNING_HANDLERS_REMARKS_H
#define ATTUNE_TUNING_HANDLERS_REMARKS_H

#include "attune/Tuning/TuneFile.h"
#include "mlir/IR/Location.h"

namespace attune::tuning {

/// Lets a context emit the remarks that the options ask for; none by default.
llvm::Error enableRemarks(mlir::MLIRContext &context,
                          const TuneFileOptions &options);

/// Emits the remarks on a search with a winner: those on all of it at `place`,
/// those on a knob, by its number, at each of `getKnobPlaces`.
void emitRemarks(const Task &task, const Space &space, const Outcome &outcome,
                 mlir::Location place,
                 llvm::function_ref<llvm::SmallVector<mlir::Location>(size_t)>
                     getKnobPlaces);

} // namespace attune::tuning

#endif // ATTUNE_TUNING_HANDLERS_REMARKS_H
