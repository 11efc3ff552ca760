// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What host code may not hold, so that no pattern has to say it.

#include "HostOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attune;

static LogicalResult check(gpu::LaunchFuncOp op) {
  if (!op.getAsyncDependencies().empty() || op.getAsyncToken() ||
      op.hasClusterSize())
    return op.emitOpError()
           << "expects a launch without clusters and async tokens";
  return success();
}

static LogicalResult check(gpu::MemsetOp op) {
  if (!op.getAsyncDependencies().empty() || op.getAsyncToken())
    return op.emitOpError() << "expects a fill without async tokens";
  if (!matchPattern(op.getValue(), m_Zero()) &&
      !matchPattern(op.getValue(), m_PosZeroFloat()))
    return op.emitOpError() << "expects zero as the value";
  auto type = dyn_cast<MemRefType>(op.getDst().getType());
  if (!type || !type.getLayout().isIdentity())
    return op.emitOpError()
           << "expects a buffer in row-major order without gaps, but got "
           << op.getDst().getType();
  return success();
}

static LogicalResult check(memref::AllocOp op) {
  if (op.getType().getLayout().isIdentity())
    return success();
  return op.emitOpError()
         << "expects a buffer in row-major order without gaps, but got "
         << op.getType();
}

static LogicalResult check(nvgpu::TmaCreateDescriptorOp op) {
  nvgpu::TensorMapDescriptorType type = op.getTensorMap().getType();
  if (type.getOob() == nvgpu::TensorMapOOBKind::OOB_ZERO)
    return success();
  return op.emitOpError() << "expects 'oob = zero', but got " << type;
}

static LogicalResult check(func::FuncOp op) {
  for (Type type : op.getResultTypes())
    if (!isa<IntegerType, IndexType, FloatType>(type))
      return op.emitOpError() << "expects results that are scalars, but got "
                              << type << "; run attune-bufferize-host first";
  return success();
}

/// Memory on the host looks like that on the device.
static LogicalResult checkAccesses(Operation *op) {
  if (isa<memref::AllocaOp, memref::GetGlobalOp>(op))
    return op->emitOpError()
           << "expects buffers on the device, as memref.alloc makes them";
  auto effects = dyn_cast<MemoryEffectOpInterface>(op);
  if (!effects)
    return success();
  SmallVector<MemoryEffects::EffectInstance> all;
  effects.getEffects(all);
  for (const MemoryEffects::EffectInstance &effect : all)
    if (isa<MemoryEffects::Read, MemoryEffects::Write>(effect.getEffect()) &&
        effect.getValue() && isa<BaseMemRefType>(effect.getValue().getType()))
      return op->emitOpError() << "expects kernels alone to read and write "
                                  "memory of the device";
  return success();
}

static LogicalResult check(Operation *op) {
  for (Type type :
       llvm::concat<const Type>(SmallVector<Type>(op->getOperandTypes()),
                                SmallVector<Type>(op->getResultTypes())))
    if (isa<TensorType>(type))
      return op->emitOpError() << "expects buffers, but got " << type
                               << "; run attune-bufferize-host first";
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case<gpu::LaunchFuncOp, gpu::MemsetOp, memref::AllocOp,
            nvgpu::TmaCreateDescriptorOp, func::FuncOp>(
          [](auto op) { return check(op); })
      .Case([](func::ConstantOp op) {
        return op.emitOpError() << "expects functions to be called by name: "
                                   "they take a context as well";
      })
      .Case([](gpu::GPUModuleOp op) {
        return op.emitOpError() << "expects kernels in a gpu.binary; run "
                                   "attune-emit-binary first";
      })
      .Default(checkAccesses);
}

LogicalResult attune::checkHostCode(ModuleOp module) {
  WalkResult result = module.walk<WalkOrder::PreOrder>(
      [](Operation *op) -> WalkResult { return check(op); });
  return failure(result.wasInterrupted());
}
