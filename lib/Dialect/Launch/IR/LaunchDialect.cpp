// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Registration of the launch dialect, and what its attributes say of the ops
// that they are on.

#include "attune/Dialect/Launch/IR/Launch.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attune::launch;

#include "attune/Dialect/Launch/IR/LaunchDialect.cpp.inc"

void LaunchDialect::initialize() { registerAttributes(); }

/// Whether the type is that of a buffer of `rank` dimensions.
static bool isBuffer(Type type, Type element, int64_t rank) {
  auto buffer = dyn_cast<MemRefType>(type);
  return buffer && buffer.getElementType() == element &&
         buffer.getRank() == rank;
}

/// Whether an argument of the kernel is what the manifest says; of what a
/// tensor map is to a chip, nothing is known here.
static bool matches(Type type, Attribute argument) {
  return TypeSwitch<Attribute, bool>(argument)
      .Case([&](BufferAttr buffer) { return type == buffer.getType(); })
      .Case([&](WorkspaceAttr workspace) {
        return isBuffer(type, workspace.getType(), workspace.getSizes().size());
      })
      .Case([&](ScalarAttr scalar) { return type == scalar.getType(); })
      .Case([&](TensorMapAttr) {
        return !isa<MemRefType>(type) && !type.isIntOrIndexOrFloat();
      })
      .Default(false);
}

static LogicalResult verifyArguments(gpu::GPUFuncOp kernel,
                                     ManifestAttr manifest) {
  ArrayAttr arguments = manifest.getArguments();
  if (!arguments)
    return success();
  // Behind the arguments come buffers in workgroup memory.
  ArrayRef<Type> types = kernel.getFunctionType().getInputs();
  if (types.size() != arguments.size())
    return kernel.emitOpError()
           << "expects a manifest of its " << types.size()
           << " arguments, but got one of " << arguments.size();
  for (auto [index, type] : llvm::enumerate(types))
    if (!matches(type, arguments[index]))
      return kernel.emitOpError()
             << "expects a manifest of argument " << index << ", a " << type
             << ", but got " << arguments[index];
  return success();
}

static LogicalResult verifySequences(Operation *op, Attribute value) {
  auto sequences = dyn_cast<ArrayAttr>(value);
  if (!isa<FunctionOpInterface>(op) || !sequences ||
      !llvm::all_of(sequences, llvm::IsaPred<SequenceAttr>))
    return op->emitOpError()
           << "expects '" << LaunchDialect::kSequencesAttrName
           << "' to be an array of #launch.sequence on a function, but got "
           << value;
  return success();
}

LogicalResult LaunchDialect::verifyOperationAttribute(Operation *op,
                                                      NamedAttribute named) {
  Attribute value = named.getValue();
  if (named.getName() == kSequencesAttrName)
    return verifySequences(op, value);
  if (named.getName() == kFollowsAttrName ||
      named.getName() == kPrecedesAttrName) {
    if (isa<gpu::GPUFuncOp>(op) && isa<UnitAttr>(value))
      return success();
    return op->emitOpError()
           << "expects '" << named.getName().getValue()
           << "' to be a unit attribute on a gpu.func, but got " << value;
  }
  if (named.getName() == kRestoredAttrName) {
    if (isa<gpu::MemsetOp>(op) && isa<UnitAttr>(value))
      return success();
    return op->emitOpError() << "expects '" << kRestoredAttrName
                             << "' to be a unit attribute on a gpu.memset, but "
                                "got "
                             << value;
  }
  if (named.getName() != kManifestAttrName)
    return op->emitOpError()
           << "expects '" << kManifestAttrName << "', '" << kSequencesAttrName
           << "', '" << kRestoredAttrName << "', '" << kFollowsAttrName
           << "' or '" << kPrecedesAttrName << "', but got '"
           << named.getName().getValue() << "'";
  auto manifest = dyn_cast<ManifestAttr>(value);
  if (!manifest || !isa<FunctionOpInterface, gpu::BinaryOp>(op))
    return op->emitOpError() << "expects '" << kManifestAttrName
                             << "' to be a #launch.manifest on a kernel or a "
                                "gpu.binary, but got "
                             << value;
  if (auto kernel = dyn_cast<gpu::GPUFuncOp>(op))
    return verifyArguments(kernel, manifest);
  return success();
}

ManifestAttr attune::launch::getManifest(Operation *op) {
  return op->getAttrOfType<ManifestAttr>(LaunchDialect::kManifestAttrName);
}

void attune::launch::setManifest(Operation *op, ManifestAttr manifest) {
  op->setAttr(LaunchDialect::kManifestAttrName, manifest);
}

SmallVector<SequenceAttr> attune::launch::getSequences(Operation *function) {
  SmallVector<SequenceAttr> sequences;
  if (auto list =
          function->getAttrOfType<ArrayAttr>(LaunchDialect::kSequencesAttrName))
    llvm::append_range(sequences, list.getAsRange<SequenceAttr>());
  return sequences;
}
