// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "BlockedLayout.h"
#include <numeric>

using namespace mlir;
using namespace attune;
using namespace attune::tile;

int64_t attune::tile::getWidestRun(TileType type) {
  constexpr int64_t kWidestAccessBits = 128, kIndexBits = 64;
  Type element = type.getElementType();
  int64_t bits =
      element.isIndex() ? kIndexBits : element.getIntOrFloatBitWidth();
  return kWidestAccessBits / std::max<int64_t>(bits, 8);
}

LayoutAttr
attune::tile::getBlockedLayout(function_ref<InFlightDiagnostic()> emitError,
                               TileType type, int64_t lanes, int64_t warps,
                               bool warpsAlongColumns) {
  ArrayRef<int64_t> shape = type.getShape();
  int64_t rows = shape[0], columns = type.getRank() == 2 ? shape[1] : 1;
  int64_t run = std::gcd(columns, std::max<int64_t>(getWidestRun(type), 1));
  // What is left over when all rows and columns are assigned is the same again.
  int64_t runs = columns / run,
          warpsOfRow = warpsAlongColumns ? std::gcd(runs, warps) : 1,
          lanesOfRow = std::gcd(runs / warpsOfRow, lanes),
          lanesOfRows = std::gcd(rows, lanes / lanesOfRow),
          idleLanes = lanes / lanesOfRow / lanesOfRows,
          warpsOfRows =
              warpsAlongColumns ? 1 : std::gcd(rows / lanesOfRows, warps),
          ofRow = lanesOfRow * warpsOfRow;
  SmallVector<Mode> registers{
      {run, 1, 1},
      {runs / ofRow, 1, run * ofRow},
      {rows / lanesOfRows / warpsOfRows, 0, lanesOfRows * warpsOfRows}};
  SmallVector<Mode> laneModes{
      {lanesOfRow, 1, run}, {lanesOfRows, 0, 1}, {idleLanes, 0, 0}};
  SmallVector<Mode> warpModes{{warpsOfRow, 1, run * lanesOfRow},
                              {warpsOfRows, 0, lanesOfRows},
                              {warps / warpsOfRow / warpsOfRows, 0, 0}};
  if (failed(LayoutAttr::verify(emitError, registers, laneModes, warpModes)))
    return {};
  auto layout =
      LayoutAttr::getNormal(type.getContext(), registers, laneModes, warpModes);
  return type.getRank() == 1 ? layout.dropDim(1) : layout;
}
