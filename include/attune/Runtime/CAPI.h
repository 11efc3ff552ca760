// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the C functions of this and other libraries share.

#ifndef ATTUNE_RUNTIME_CAPI_H
#define ATTUNE_RUNTIME_CAPI_H

#include "attune-c/Runtime.h"
#include "attune/Runtime/Device.h"

struct AttuneDevice {
  std::unique_ptr<attune::Device> device;
};

namespace attune {

/// Says why something failed, where somebody wants to know.
void report(llvm::Error error, AttuneError *target);

} // namespace attune

#endif // ATTUNE_RUNTIME_CAPI_H
