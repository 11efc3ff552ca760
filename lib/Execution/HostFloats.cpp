// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conversions of 16-bit floats, which LLVM's code calls where the processor has
// none and a C library need not have either.

#include "HostHeap.h"
#include "attune/Runtime/DataType.h"
#include "llvm/ADT/bit.h"

using namespace attune;

template <DataType type, typename Narrow, typename Wide>
static Narrow narrow(Wide value) {
  uint16_t bits;
  storeElement(type, &bits, static_cast<double>(value));
  return llvm::bit_cast<Narrow>(bits);
}

static float widen(_Float16 value) {
  return static_cast<float>(loadElement(DataType::F16, &value));
}

HostSymbols attune::getHostFloatSymbols() {
  return {{"__truncsfhf2",
           reinterpret_cast<void *>(&narrow<DataType::F16, _Float16, float>)},
          {"__truncdfhf2",
           reinterpret_cast<void *>(&narrow<DataType::F16, _Float16, double>)},
          {"__truncsfbf2",
           reinterpret_cast<void *>(&narrow<DataType::BF16, __bf16, float>)},
          {"__truncdfbf2",
           reinterpret_cast<void *>(&narrow<DataType::BF16, __bf16, double>)},
          {"__extendhfsf2", reinterpret_cast<void *>(&widen)}};
}
