// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// NumPy's file format for one array, versions 1 to 3, little-endian and
// row-major. NumPy has no bf16: such tensors are written as uint16, and read
// from uint16 or from the two raw bytes (V2) that its extensions write.

#ifndef ATTUNE_RUNTIME_NPY_H
#define ATTUNE_RUNTIME_NPY_H

#include "attune/Runtime/Tensor.h"
#include <string>

namespace attune {

/// Reads the array in the file `path` into a tensor of `shape`, whose sizes and
/// type it must have; strides may differ. Errors name the file.
llvm::Expected<Tensor> readNpy(llvm::StringRef path, const TensorShape &shape);

/// The content of a file with the elements of `tensor`.
std::string writeNpy(const Tensor &tensor);

} // namespace attune

#endif // ATTUNE_RUNTIME_NPY_H
