// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chips by name. The list is generated from the folders below lib/Target.

#ifndef ATTUNE_TARGET_TARGETREGISTRY_H
#define ATTUNE_TARGET_TARGETREGISTRY_H

#include "attune/Target/TargetModel.h"

namespace attune {

/// The #tile.target of a chip, parsed from its description. An unknown name is
/// an error that lists the known ones; there is no default chip.
mlir::FailureOr<tile::TargetAttr>
getTarget(mlir::MLIRContext *context, llvm::StringRef chip,
          llvm::function_ref<mlir::InFlightDiagnostic()> emitError);

/// Names of all chips, sorted.
llvm::SmallVector<llvm::StringRef> getChipNames();

/// Whether code for `chip` runs on a device that calls itself `device`: the
/// same name, or that with letters for features of exactly this chip.
bool runsOn(llvm::StringRef chip, llvm::StringRef device);

/// The chip to compile for where there is a device: the one with most features
/// of those that run on it; its own name if this build knows none.
llvm::StringRef getChipOf(llvm::StringRef device);

/// The behaviour of a family; null if it is not registered.
const TargetModel *getTargetModel(llvm::StringRef family);

/// Adds a family. Targets of the project are there from the start; tests add
/// their own.
void registerTargetModel(llvm::StringRef family,
                         std::unique_ptr<TargetModel> model);

/// Registers the dialects and interfaces that lowering and serialization need.
void registerTargetDialects(mlir::DialectRegistry &registry);

} // namespace attune

#endif // ATTUNE_TARGET_TARGETREGISTRY_H
