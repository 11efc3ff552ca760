// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Element types of buffers, and single elements as numbers.

#ifndef ATTUNE_RUNTIME_DATATYPE_H
#define ATTUNE_RUNTIME_DATATYPE_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>

namespace attune {

enum class DataType {
  F16,
  BF16,
  F32,
  F64,
  I1,
  I8,
  I16,
  I32,
  I64,
  F8E4M3FN,
  F8E5M2,
  F8E4M3FNUZ,
  F8E5M2FNUZ
};

/// The type as MLIR spells it; `index` is I64. Empty for any other name.
std::optional<DataType> parseDataType(llvm::StringRef name);
llvm::StringRef getName(DataType type);
int64_t getBytes(DataType type);
bool isFloat(DataType type);
/// The largest finite number of a type of floats.
double getLargest(DataType type);

/// Reads one element. Integers beyond 2^53 lose their last bits.
double loadElement(DataType type, const void *element);
/// Reads `count` neighbours, as f32.
void loadElements(DataType type, const void *elements, int64_t count,
                  float *values);
/// Writes one element, rounded to the nearest value, ties to even. Of 8 bits it
/// is at most the largest finite number.
void storeElement(DataType type, void *element, double value);

/// `value` as the type would hold it.
double roundTo(DataType type, double value);

} // namespace attune

#endif // ATTUNE_RUNTIME_DATATYPE_H
