// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the lanes of a wave decide together.

#include "AMD.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"

using namespace mlir;
using namespace attune;

Value amd::AMDTarget::emitAny(OpBuilder &b, Location loc,
                              tile::TargetAttr target, Value condition) const {
  Type mask = b.getIntegerType(target.getLanes());
  Value lanes = ROCDL::BallotOp::create(b, loc, mask, condition);
  Value none = arith::ConstantOp::create(b, loc, b.getZeroAttr(mask));
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, lanes, none);
}
