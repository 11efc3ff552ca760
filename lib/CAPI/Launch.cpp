// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Manifests and sequences from C.

#include "attune-c/Launch.h"
#include "attune/Dialect/Launch/IR/Launch.h"
#include "attune/Runtime/Manifest.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace attune;

static launch::ManifestAttr getManifest(MlirAttribute attr) {
  return cast<launch::ManifestAttr>(unwrap(attr));
}

static MlirStringRef getText(StringAttr attr) {
  return wrap(attr ? attr.getValue() : StringRef());
}

bool attuneAttributeIsAManifest(MlirAttribute attr) {
  return isa<launch::ManifestAttr>(unwrap(attr));
}

MlirStringRef attuneManifestAttrGetKernel(MlirAttribute manifest) {
  return getText(getManifest(manifest).getKernel());
}

MlirStringRef attuneManifestAttrGetChip(MlirAttribute manifest) {
  return getText(getManifest(manifest).getChip());
}

intptr_t attuneManifestAttrGetNumArguments(MlirAttribute manifest) {
  ArrayAttr arguments = getManifest(manifest).getArguments();
  return arguments ? static_cast<intptr_t>(arguments.size()) : -1;
}

MlirAttribute attuneManifestAttrGetArgument(MlirAttribute manifest,
                                            intptr_t pos) {
  return wrap(getManifest(manifest).getArguments()[pos]);
}

int64_t attuneManifestAttrGetBlock(MlirAttribute manifest, intptr_t dim) {
  return getManifest(manifest).getBlock()[dim];
}

int64_t attuneManifestAttrGetSharedBytes(MlirAttribute manifest) {
  return getManifest(manifest).getSharedBytes();
}

bool attuneAttributeIsASequence(MlirAttribute attr) {
  return isa<launch::SequenceAttr>(unwrap(attr));
}

void attuneLaunchAttrPrintJSON(MlirAttribute attr, MlirStringCallback callback,
                               void *userData) {
  auto manifest = dyn_cast<launch::ManifestAttr>(unwrap(attr));
  llvm::json::Value json =
      manifest ? manifest.toJSON()
               : cast<launch::SequenceAttr>(unwrap(attr)).toSequence().toJSON();
  std::string text = llvm::formatv("{0:2}", json).str();
  callback(wrap(StringRef(text)), userData);
}
