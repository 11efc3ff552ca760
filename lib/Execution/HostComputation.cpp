// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From the device to the CPU and back: slow, and as right as upstream's passes.

#include "HostComputation.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include <cstring>

using namespace mlir;
using namespace attune;

// The others are what the interpreter knows without compiling anything.
bool attune::isComputedOnHost(Operation *op) {
  return TensorFunction::isSupported(op) &&
         !isa<arith::ConstantOp, scf::IfOp, tensor::CastOp,
              tensor::CollapseShapeOp, tensor::EmptyOp, tensor::ExpandShapeOp>(
             op);
}

FailureOr<std::unique_ptr<HostComputation>>
HostComputation::create(Operation *op, std::vector<Datum> inputs,
                        Device &device) {
  auto function = TensorFunction::compile(op);
  if (failed(function))
    return op->emitError() << "expects an op that upstream's passes compile "
                              "for the CPU, to be executed between kernels";
  return std::unique_ptr<HostComputation>(
      new HostComputation(std::move(*function), std::move(inputs), device));
}

/// A scalar as a tensor of rank 0.
static llvm::Expected<Tensor> makeTensor(Attribute scalar) {
  auto typed = dyn_cast_or_null<TypedAttr>(scalar);
  std::string name;
  if (typed)
    llvm::raw_string_ostream(name) << typed.getType();
  std::optional<DataType> type = parseDataType(name);
  if (!type)
    return llvm::createStringError(
        "expects scalars that are known on the host, of known types");
  Tensor tensor(TensorShape::contiguous(*type, {}));
  auto number = dyn_cast<FloatAttr>(scalar);
  uint64_t bits = number ? number.getValue().bitcastToAPInt().getZExtValue()
                         : cast<IntegerAttr>(scalar).getValue().getZExtValue();
  std::memcpy(tensor.bytes.data(), &bits, tensor.bytes.size());
  return tensor;
}

Tensor attune::toTensor(TensorShape shape, DenseElementsAttr elements) {
  Tensor tensor(std::move(shape));
  int64_t offset = 0, bytes = getBytes(tensor.shape.type);
  if (isa<FloatType>(elements.getElementType()))
    for (const APFloat &element : elements.getValues<APFloat>()) {
      APFloat value = element;
      bool lossy;
      value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                    &lossy);
      tensor.store(offset++, value.convertToDouble());
    }
  else
    for (const APInt &element : elements.getValues<APInt>()) {
      uint64_t bits = element.getZExtValue();
      std::memcpy(&tensor.bytes[bytes * offset++], &bits, bytes);
    }
  return tensor;
}

llvm::Error HostComputation::run() {
  std::vector<Tensor> tensors;
  for (const Datum &input : inputs) {
    auto tensor =
        input.tensor ? input.tensor->read() : makeTensor(input.scalar);
    if (!tensor)
      return tensor.takeError();
    tensors.push_back(std::move(*tensor));
  }
  auto computed = function->call(tensors);
  if (!computed)
    return computed.takeError();
  for (auto [index, tensor] : llvm::enumerate(*computed)) {
    if (index < results.size()) {
      if (auto error = device.copyToDevice(
              results[index]->getAddress(), tensor.bytes.data(),
              static_cast<int64_t>(tensor.bytes.size())))
        return error;
      continue;
    }
    auto result = DeviceTensor::create(device, tensor);
    if (!result)
      return result.takeError();
    results.push_back(std::move(*result));
  }
  return llvm::Error::success();
}
