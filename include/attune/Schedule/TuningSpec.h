// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tuning specs: modules with attention ops that have the schedules a search
// found. attune-tune writes them, and attn-apply-tuning-spec reads them.

#ifndef ATTUNE_SCHEDULE_TUNINGSPEC_H
#define ATTUNE_SCHEDULE_TUNINGSPEC_H

#include "llvm/ADT/StringRef.h"

namespace attune {

/// The attribute of a module that names the chip its schedules were tuned for.
inline constexpr llvm::StringLiteral kTunedForAttrName = "attn.tuned_for";

} // namespace attune

#endif // ATTUNE_SCHEDULE_TUNINGSPEC_H
