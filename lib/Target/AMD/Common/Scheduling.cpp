// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How waves issue what they multiply: priorities, which the hardware obeys, and
// groups, which LLVM's scheduler does.

#include "AMD.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"

using namespace mlir;
using namespace attune;

/// Of four priorities, waves have the lowest.
void amd::AMDTarget::emitPriority(OpBuilder &b, Location loc,
                                  bool isRaised) const {
  ROCDL::SetPrioOp::create(b, loc, b.getI16IntegerAttr(isRaised ? 1 : 0));
}

/// A read of shared memory, a matrix instruction and what is issued while it
/// runs, as ROCm/FlyDSL schedules its attention. LLVM leaves out what there
/// is none of in the block.
void amd::AMDTarget::emitIssueGroups(OpBuilder &b, Location loc,
                                     tile::MmaAtomAttr atom,
                                     int64_t count) const {
  // Bits of SchedGroup in LLVM's AMDGPUIGroupLP.cpp.
  constexpr int32_t kSharedRead = 0x100, kMatrix = 0x8, kVector = 0x2;
  constexpr int32_t kBeside = 4;
  auto add = [&](int32_t kind, int32_t size) {
    ROCDL::SchedGroupBarrier::create(b, loc, b.getI32IntegerAttr(kind),
                                     b.getI32IntegerAttr(size),
                                     /*groupId=*/b.getI32IntegerAttr(0));
  };
  for (int64_t i = 0; i < count * countInstructions(atom); ++i) {
    add(kSharedRead, 1);
    add(kMatrix, 1);
    add(kVector, kBeside);
  }
}
