// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Registration of the tile dialect.

#include "attune/Dialect/Tile/IR/Tile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace attune::tile;

#include "attune/Dialect/Tile/IR/TileDialect.cpp.inc"

void TileDialect::initialize() {
  registerAttributes();
  registerTypes();
  addOperations<
#define GET_OP_LIST
#include "attune/Dialect/Tile/IR/TileOps.cpp.inc"
      >();
}
