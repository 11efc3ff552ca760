// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Devices, tensors and kernels as the extension has them.

#ifndef ATTUNE_PYTHON_SRC_RUNTIME_H
#define ATTUNE_PYTHON_SRC_RUNTIME_H

#include "attune-c/RuntimeCXX.h"
#include <memory>
#include <nanobind/nanobind.h>
#include <optional>
#include <string>
#include <vector>

namespace attune::python {

struct Device {
  runtime::Device handle;
};

/// Those of an array in row-major order without gaps.
std::vector<int64_t> makeStrides(const std::vector<int64_t> &sizes);

/// Memory of a framework, which stays alive with it.
class Tensor {
public:
  /// `dtype` is what the elements are where a framework's DLPack cannot say.
  static std::optional<Tensor> from(nanobind::handle array, bool writable,
                                    std::optional<AttuneDataType> dtype);

  /// An array in row-major order without gaps that has no owner. Types are
  /// those of DLPack.
  static Tensor fromMemory(uint64_t address, std::vector<int64_t> sizes,
                           int code, int bits, int deviceType,
                           int deviceNumber);

  /// As kernels take it. `argument` is used before the tensor goes.
  AttuneArgument getArgument(bool isWorkspace) const;

  /// Who has its memory.
  const nanobind::object &getOwner() const { return owner; }

  uint64_t address = 0;
  std::vector<int64_t> sizes, strides;
  int deviceType = 0, deviceNumber = 0;
  int code = 0, bits = 0;
  std::optional<AttuneDataType> type;

private:
  nanobind::object owner;
};

class Kernel {
public:
  Kernel(std::shared_ptr<Device> device, nanobind::bytes image,
         const std::string &manifest);

  /// Kernels of one device as one, which runs them as a sequence says.
  static Kernel makeSequence(const std::vector<const Kernel *> &kernels,
                             const std::string &sequence);

  size_t getNumArguments() const {
    return attuneRuntimeGetNumArguments(handle.get());
  }
  AttuneArgumentInfo getArgument(size_t pos) const;
  /// Of the workspace at `pos`; the tensors of workspaces are not read.
  int64_t getWorkspaceBytes(const std::vector<Tensor> &tensors,
                            size_t pos) const;
  void launch(const std::vector<Tensor> &tensors, uintptr_t stream) const;

  const runtime::Kernel &getHandle() const { return handle; }

private:
  Kernel() = default;
  std::vector<AttuneArgument>
  getArguments(const std::vector<Tensor> &tensors) const;

  std::shared_ptr<Device> device;
  runtime::Kernel handle;
};

} // namespace attune::python

#endif // ATTUNE_PYTHON_SRC_RUNTIME_H
