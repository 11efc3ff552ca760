// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Devices and kernels of attune-c/Runtime.h, the host executor among them, and
// tensors of any framework as DLPack describes them. Raises RuntimeError where
// the runtime fails.

#include "Runtime.h"
#include "Bindings.h"
#include "attune-c/Executor.h"
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <optional>

namespace nb = nanobind;
using namespace attune;
using namespace attune::python;

static void raise(const AttuneError &error) {
  throw std::runtime_error(error.text);
}

static std::optional<AttuneDataType> findType(int code, int bits) {
  using nb::dlpack::dtype_code;
  switch (static_cast<dtype_code>(code)) {
  case dtype_code::Bfloat:
    return AttuneDataTypeBF16;
  case dtype_code::Float:
    if (bits == 16)
      return AttuneDataTypeF16;
    if (bits == 32)
      return AttuneDataTypeF32;
    if (bits == 64)
      return AttuneDataTypeF64;
    return std::nullopt;
  case dtype_code::Int:
  case dtype_code::UInt:
    if (bits == 8)
      return AttuneDataTypeI8;
    if (bits == 16)
      return AttuneDataTypeI16;
    if (bits == 32)
      return AttuneDataTypeI32;
    if (bits == 64)
      return AttuneDataTypeI64;
    return std::nullopt;
  case dtype_code::Float8_E4M3FN:
    return AttuneDataTypeF8E4M3FN;
  case dtype_code::Float8_E5M2:
    return AttuneDataTypeF8E5M2;
  case dtype_code::Float8_E4M3FNUZ:
    return AttuneDataTypeF8E4M3FNUZ;
  case dtype_code::Float8_E5M2FNUZ:
    return AttuneDataTypeF8E5M2FNUZ;
  default:
    return std::nullopt;
  }
}

template <typename Array>
static void describe(Tensor &tensor, const Array &array) {
  tensor.address = reinterpret_cast<uint64_t>(array.data());
  for (size_t dim = 0; dim < array.ndim(); ++dim) {
    tensor.sizes.push_back(static_cast<int64_t>(array.shape(dim)));
    tensor.strides.push_back(array.stride(dim));
  }
  tensor.deviceType = array.device_type();
  tensor.deviceNumber = array.device_id();
  tensor.code = array.dtype().code;
  tensor.bits = array.dtype().bits;
  tensor.type = findType(tensor.code, tensor.bits);
}

std::optional<Tensor> Tensor::from(nb::handle array, bool writable,
                                   std::optional<AttuneDataType> dtype) {
  Tensor tensor;
  if (writable) {
    nb::ndarray<> view;
    if (!nb::try_cast(array, view))
      return std::nullopt;
    describe(tensor, view);
  } else {
    nb::ndarray<nb::ro> view;
    if (!nb::try_cast(array, view))
      return std::nullopt;
    describe(tensor, view);
  }
  if (dtype)
    tensor.type = dtype;
  tensor.owner = nb::borrow(array);
  return tensor;
}

std::vector<int64_t>
attune::python::makeStrides(const std::vector<int64_t> &sizes) {
  std::vector<int64_t> strides(sizes.size());
  int64_t stride = 1;
  for (size_t dim = sizes.size(); dim-- > 0;) {
    strides[dim] = stride;
    stride *= std::max<int64_t>(sizes[dim], 1);
  }
  return strides;
}

Tensor Tensor::fromMemory(uint64_t address, std::vector<int64_t> sizes,
                          int code, int bits, int deviceType,
                          int deviceNumber) {
  Tensor tensor;
  tensor.address = address;
  tensor.strides = makeStrides(sizes);
  tensor.sizes = std::move(sizes);
  tensor.code = code;
  tensor.bits = bits;
  tensor.deviceType = deviceType;
  tensor.deviceNumber = deviceNumber;
  tensor.type = findType(code, bits);
  return tensor;
}

AttuneArgument Tensor::getArgument(bool isWorkspace) const {
  AttuneArgument argument = {};
  argument.address = address;
  if (type)
    argument.type = *type;
  if (isWorkspace)
    return argument;
  argument.rank = sizes.size();
  argument.sizes = sizes.data();
  argument.strides = strides.data();
  return argument;
}

Kernel::Kernel(std::shared_ptr<Device> given, nb::bytes image,
               const std::string &manifest)
    : device(std::move(given)) {
  AttuneError error = {};
  std::string_view bytes(image.c_str(), image.size());
  {
    nb::gil_scoped_release released;
    handle = runtime::loadKernel(device->handle, bytes, manifest, error);
  }
  if (!handle)
    raise(error);
}

Kernel Kernel::makeSequence(const std::vector<const Kernel *> &kernels,
                            const std::string &sequence) {
  std::vector<const AttuneKernel *> handles;
  for (const Kernel *kernel : kernels)
    handles.push_back(kernel->handle.get());
  AttuneError error = {};
  Kernel made;
  made.handle = runtime::loadSequence(handles, sequence, error);
  if (!made.handle)
    raise(error);
  made.device = kernels.front()->device;
  return made;
}

AttuneArgumentInfo Kernel::getArgument(size_t pos) const {
  if (pos >= getNumArguments())
    throw nb::index_error("expects the number of an argument");
  return attuneRuntimeGetArgument(handle.get(), pos);
}

std::vector<AttuneArgument>
Kernel::getArguments(const std::vector<Tensor> &tensors) const {
  std::vector<AttuneArgument> arguments;
  for (size_t i = 0; i < tensors.size(); ++i)
    arguments.push_back(tensors[i].getArgument(
        i < getNumArguments() &&
        attuneRuntimeGetArgument(handle.get(), i).access ==
            AttuneAccessWorkspace));
  return arguments;
}

int64_t Kernel::getWorkspaceBytes(const std::vector<Tensor> &tensors,
                                  size_t pos) const {
  if (getArgument(pos).access != AttuneAccessWorkspace)
    throw nb::value_error("expects the number of a workspace");
  AttuneError error = {};
  std::vector<AttuneArgument> arguments = getArguments(tensors);
  int64_t bytes = attuneRuntimeGetWorkspaceBytes(handle.get(), arguments.data(),
                                                 arguments.size(), pos, &error);
  if (bytes < 0)
    raise(error);
  return bytes;
}

void Kernel::launch(const std::vector<Tensor> &tensors,
                    uintptr_t stream) const {
  AttuneError error = {};
  std::vector<AttuneArgument> arguments = getArguments(tensors);
  bool launched;
  {
    nb::gil_scoped_release released;
    runtime::Launch prepared = runtime::prepare(handle, arguments, error);
    launched =
        prepared &&
        runtime::launch(prepared, reinterpret_cast<void *>(stream), error);
  }
  if (!launched)
    raise(error);
}

static std::shared_ptr<Device> own(AttuneDevice *opened,
                                   const AttuneError &error) {
  if (!opened)
    raise(error);
  return std::make_shared<Device>(Device{runtime::Device(opened)});
}

void attune::python::bindRuntime(nb::module_ &scope) {
  nb::enum_<AttuneDataType>(scope, "DataType")
      .value("F16", AttuneDataTypeF16)
      .value("BF16", AttuneDataTypeBF16)
      .value("F32", AttuneDataTypeF32)
      .value("F64", AttuneDataTypeF64)
      .value("I1", AttuneDataTypeI1)
      .value("I8", AttuneDataTypeI8)
      .value("I16", AttuneDataTypeI16)
      .value("I32", AttuneDataTypeI32)
      .value("I64", AttuneDataTypeI64)
      .value("F8E4M3FN", AttuneDataTypeF8E4M3FN)
      .value("F8E5M2", AttuneDataTypeF8E5M2)
      .value("F8E4M3FNUZ", AttuneDataTypeF8E4M3FNUZ)
      .value("F8E5M2FNUZ", AttuneDataTypeF8E5M2FNUZ);
  nb::class_<Tensor>(scope, "Tensor")
      .def_static("from_array", &Tensor::from, nb::arg("array").none(),
                  nb::arg("writable"), nb::arg("dtype").none(),
                  "None for what DLPack does not describe, or for a read-only "
                  "array that has to be writable.")
      .def_static("from_memory", &Tensor::fromMemory, nb::arg("address"),
                  nb::arg("shape"), nb::arg("code"), nb::arg("bits"),
                  nb::arg("device_type"), nb::arg("device_number"),
                  "A row-major array of the device, which nobody gives back.")
      .def_ro("address", &Tensor::address)
      .def_rw("shape", &Tensor::sizes)
      .def_rw("strides", &Tensor::strides)
      .def_ro("device_type", &Tensor::deviceType)
      .def_ro("device_number", &Tensor::deviceNumber)
      .def_ro("code", &Tensor::code)
      .def_ro("bits", &Tensor::bits)
      .def_rw("dtype", &Tensor::type);
  nb::class_<AttuneArgumentInfo>(scope, "Argument")
      .def_prop_ro(
          "name",
          [](const AttuneArgumentInfo &info) { return std::string(info.name); })
      .def_ro("dtype", &AttuneArgumentInfo::type)
      .def_ro("rank", &AttuneArgumentInfo::rank)
      .def_ro("alignment", &AttuneArgumentInfo::alignment)
      .def_prop_ro("is_workspace",
                   [](const AttuneArgumentInfo &info) {
                     return info.access == AttuneAccessWorkspace;
                   })
      .def_prop_ro("is_zero",
                   [](const AttuneArgumentInfo &info) {
                     return info.zero != AttuneZeroNever;
                   })
      .def_prop_ro("is_restored", [](const AttuneArgumentInfo &info) {
        return info.zero == AttuneZeroOnce;
      });
  nb::class_<Device>(scope, "Device")
      .def_prop_ro("chip",
                   [](const Device &device) {
                     return std::string(
                         attuneRuntimeGetChip(device.handle.get()));
                   })
      .def(
          "allocate_zeros",
          [](const Device &device, size_t numBytes) {
            AttuneError error = {};
            uint64_t address = attuneRuntimeAllocateZeros(device.handle.get(),
                                                          numBytes, &error);
            if (!address)
              raise(error);
            return address;
          },
          nb::arg("num_bytes"), nb::call_guard<nb::gil_scoped_release>(),
          "Where so many bytes are that are 0 for what is queued from now on; "
          "nobody gives them back.");
  scope.def(
      "open_device",
      [](const std::string &kind, int ordinal) {
        AttuneError error = {};
        return own(attuneRuntimeOpenDevice(kind.c_str(), ordinal, &error),
                   error);
      },
      nb::arg("kind"), nb::arg("ordinal"));
  scope.def(
      "open_executor",
      [](const std::string &chip, int64_t maxThreads) {
        AttuneError error = {};
        return own(attuneExecutorOpen(toRef(chip), maxThreads, &error), error);
      },
      nb::arg("chip"), nb::arg("max_threads"));
  nb::class_<Kernel>(scope, "Kernel")
      .def(nb::init<std::shared_ptr<Device>, nb::bytes, const std::string &>(),
           nb::arg("device"), nb::arg("image"), nb::arg("manifest"))
      .def_static("make_sequence", &Kernel::makeSequence, nb::arg("kernels"),
                  nb::arg("sequence"))
      .def_prop_ro("num_arguments", &Kernel::getNumArguments)
      .def("argument", &Kernel::getArgument, nb::arg("pos"),
           nb::keep_alive<0, 1>())
      .def("workspace_bytes", &Kernel::getWorkspaceBytes, nb::arg("tensors"),
           nb::arg("pos"))
      .def("launch", &Kernel::launch, nb::arg("tensors"), nb::arg("stream"));
}
