// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Registration from C.

#include "attune-c/Dialects.h"
#include "attune/Dialect/WGMMA/IR/WGMMA.h"
#include "attune/InitAllDialects.h"
#include "attune/InitAllPasses.h"
#include "mlir/CAPI/Registration.h"

MLIR_DEFINE_CAPI_DIALECT_REGISTRATION(Attn, attn, attune::attn::AttnDialect)
MLIR_DEFINE_CAPI_DIALECT_REGISTRATION(Launch, launch,
                                      attune::launch::LaunchDialect)
MLIR_DEFINE_CAPI_DIALECT_REGISTRATION(Schedule, schedule,
                                      attune::schedule::ScheduleDialect)
MLIR_DEFINE_CAPI_DIALECT_REGISTRATION(Tile, tile, attune::tile::TileDialect)
MLIR_DEFINE_CAPI_DIALECT_REGISTRATION(WGMMA, wgmma, attune::wgmma::WGMMADialect)

void attuneRegisterDialects(MlirDialectRegistry registry) {
  attune::registerAttuneDialects(*unwrap(registry));
}

void attuneRegisterAllDialects(MlirDialectRegistry registry) {
  attune::registerAllDialects(*unwrap(registry));
}

void attuneRegisterPasses(void) { attune::registerAttunePasses(); }

void attuneRegisterAllPasses(void) { attune::registerAllPasses(); }
