// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elements that are stored in fewer bits than they are multiplied in.

#ifndef ATTUNE_DIALECT_TILE_IR_WIDENING_H
#define ATTUNE_DIALECT_TILE_IR_WIDENING_H

#include "mlir/IR/Builders.h"

namespace attune::tile {

/// Whether floats of type `to` can stand for numbers of fewer bits, `from`:
/// floats or signed integers. That each has an equal one is the caller's to
/// know: f16 and bf16 have all of 8 bits.
bool canWiden(mlir::Type from, mlir::Type to);

/// `value`, a number or a vector of numbers, in elements of `type`, for which
/// canWiden holds or which is its own.
mlir::Value widen(mlir::OpBuilder &builder, mlir::Location loc,
                  mlir::Value value, mlir::Type type);

/// Of bytes that hold two signed integers of 4 bits each, the lower or the
/// upper ones, as i8: a number or a vector of numbers.
mlir::Value unpack(mlir::OpBuilder &builder, mlir::Location loc,
                   mlir::Value bytes, bool upper);

/// The same, each 8 more and times a power of 2, in elements of `type`, which
/// has all of them.
mlir::Value unpackNaturals(mlir::OpBuilder &builder, mlir::Location loc,
                           mlir::Value bytes, bool upper, int64_t exponent,
                           mlir::Type type);

} // namespace attune::tile

#endif // ATTUNE_DIALECT_TILE_IR_WIDENING_H
