// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes from C.

#include "attune-c/Passes.h"
#include "attune/Conversion/Passes.h"
#include "attune/Dialect/Attn/Transforms/Passes.h"
#include "attune/Dialect/Tile/Transforms/Passes.h"
#include "attune/Matmul/Passes.h"
#include "attune/Schedule/Transforms/Passes.h"
#include "mlir/CAPI/Pass.h"

using namespace attune;
using namespace attune::attn;
using namespace attune::matmul;
using namespace attune::tile;

// Functions in C have no namespace, so groups have the project's name there.
static void registerAttuneAttnPasses() { registerAttnPasses(); }
static void registerAttuneConversionPasses() { registerConversionPasses(); }
static void registerAttuneMatmulPasses() { registerMatmulPasses(); }
static void registerAttuneSchedulePasses() { registerSchedulePasses(); }
static void registerAttuneTilePasses() { registerTilePasses(); }

#include "attune/Conversion/Passes.capi.cpp.inc"
#include "attune/Dialect/Attn/Transforms/Passes.capi.cpp.inc"
#include "attune/Dialect/Tile/Transforms/Passes.capi.cpp.inc"
#include "attune/Matmul/Passes.capi.cpp.inc"
#include "attune/Schedule/Transforms/Passes.capi.cpp.inc"
