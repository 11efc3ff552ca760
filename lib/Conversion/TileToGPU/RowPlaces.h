// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where rows of a padded tile in shared memory are.

#ifndef ATTUNE_LIB_CONVERSION_TILETOGPU_ROWPLACES_H
#define ATTUNE_LIB_CONVERSION_TILETOGPU_ROWPLACES_H

#include "KernelContext.h"
#include "attune/Target/SharedAddress.h"

namespace attune {

/// Rows are in the order of their numbers, or of the lanes that read them for
/// an MMA where these would meet in banks otherwise.
class RowPlaces {
public:
  /// Of a tile that is stored as so many rows, columns and what pads these.
  RowPlaces(const KernelContext &context, tile::SwizzleAttr swizzle,
            int64_t rows, int64_t rowLength, mlir::Type element);

  SplitIndex get(mlir::OpBuilder &builder, mlir::Location loc,
                 const SplitIndex &row) const;

private:
  int64_t getPlace(int64_t row) const;

  /// Bit i of a row's number is bit `bits[i]` of its place.
  llvm::SmallVector<unsigned> bits;
};

} // namespace attune

#endif // ATTUNE_LIB_CONVERSION_TILETOGPU_ROWPLACES_H
