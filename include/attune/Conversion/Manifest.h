// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The manifest of a kernel while it is IR: a dictionary on the kernel function,
// later on its gpu.binary. attune/Runtime/Manifest.h reads its JSON form.

#ifndef ATTUNE_CONVERSION_MANIFEST_H
#define ATTUNE_CONVERSION_MANIFEST_H

#include "attune/Target/Binary.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/Support/JSON.h"

namespace attune {

/// Says how a kernel is called. attn-to-tile writes `arguments`, `grid` and
/// `block`, convert-tile-to-gpu `shared_bytes`, attune-emit-binary `kernel`,
/// `chip` and `resources`.
inline constexpr llvm::StringLiteral kManifestAttrName = "attune.manifest";
/// Written by tile-to-loops: how many threads were made one, so that the host
/// executor can tell the work of a launch.
inline constexpr llvm::StringLiteral kThreadsInOneName = "threads_in_one";

/// `manifest`, which may be null, with what is known after compilation.
mlir::DictionaryAttr completeManifest(mlir::DictionaryAttr manifest,
                                      mlir::StringAttr kernel,
                                      llvm::StringRef chip,
                                      const KernelResources &resources);

/// Dictionaries, arrays, strings and numbers as JSON.
llvm::json::Value toJSON(mlir::Attribute attribute);

} // namespace attune

#endif // ATTUNE_CONVERSION_MANIFEST_H
