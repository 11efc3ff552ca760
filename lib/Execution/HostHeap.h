// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The memory that code on the CPU allocates. Who reads what it never wrote must
// not find a zero by chance, and who never frees must not fill the machine:
// upstream's pipelines free nothing unless they are asked to.

#ifndef ATTUNE_LIB_EXECUTION_HOSTHEAP_H
#define ATTUNE_LIB_EXECUTION_HOSTHEAP_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

namespace attune {

/// What is written to memory that holds no value yet: NaN in each float type.
constexpr unsigned char kPoisonByte = 0xff;

using HostSymbols = llvm::SmallVector<std::pair<llvm::StringRef, void *>>;

/// `malloc`, `free` and `aligned_alloc` that note what they give.
HostSymbols getHostHeapSymbols();

/// Conversions of 16-bit floats.
HostSymbols getHostFloatSymbols();

/// These, and the functions of MLIR's runtime that its lowering calls.
HostSymbols getHostRuntimeSymbols();

/// Whether memory is poisoned before it is given.
void setHostHeapPoison(bool poison);

/// Frees what was given and not freed.
void releaseHostHeap();

} // namespace attune

#endif // ATTUNE_LIB_EXECUTION_HOSTHEAP_H
