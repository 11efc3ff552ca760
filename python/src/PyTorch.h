// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions of the PyTorch that is in this process, found by name: the
// extension is linked to none, and serves all versions. First those of its
// stable ABI (torch/csrc/stable/c/shim.h and what that includes, since 2.10),
// then some of which C++ alone has names. Where one is missing, what needs it
// is done in Python. Below is how tensors of a call are read and made by them.

#ifndef ATTUNE_PYTHON_SRC_PYTORCH_H
#define ATTUNE_PYTHON_SRC_PYTORCH_H

#include "KnownCalls.h"
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace attune::python {

/// at::Tensor *, which is owned.
using TorchTensor = void *;
/// An argument or result of an operator: a number, or a pointer to what is
/// owned.
using TorchValue = uint64_t;
/// Gets arguments, and puts results in their place.
using TorchKernel = void (*)(TorchValue *stack, uint64_t numArguments,
                             uint64_t numResults);
/// 0 is success.
using TorchError = int32_t;

struct PyTorch {
  /// Of the stable ABI. `libraries` handles are to live on.
  TorchError (*openLibrary)(const char *name, const char *dispatchKey,
                            const char *file, uint32_t line, void **library);
  TorchError (*implement)(void *library, const char *name, TorchKernel kernel,
                          uint64_t version);
  TorchError (*call)(const char *name, const char *overload, TorchValue *stack,
                     uint64_t version);
  TorchError (*getSizes)(TorchTensor, int64_t **);
  TorchError (*getStrides)(TorchTensor, int64_t **);
  TorchError (*getRank)(TorchTensor, int64_t *);
  TorchError (*getType)(TorchTensor, int32_t *);
  TorchError (*getData)(TorchTensor, void **);
  TorchError (*getDeviceType)(TorchTensor, int32_t *);
  TorchError (*getDeviceNumber)(TorchTensor, int32_t *);
  TorchError (*allocate)(int64_t rank, const int64_t *sizes,
                         const int64_t *strides, int32_t type,
                         int32_t deviceType, int32_t deviceNumber,
                         TorchTensor *);
  TorchError (*releaseTensor)(TorchTensor);
  TorchError (*releaseString)(void *);
  TorchError (*releaseList)(void *);
  TorchError (*getStringLength)(void *, size_t *);
  TorchError (*getStringData)(void *, const char **);
  TorchError (*getListSize)(void *, size_t *);
  TorchError (*getListItem)(void *, size_t, TorchValue *);
  TorchError (*view)(void *data, int64_t rank, const int64_t *sizes,
                     const int64_t *strides, int64_t offset, int32_t type,
                     int32_t deviceType, int32_t deviceNumber, TorchTensor *);
  /// Types of elements that results have, and of devices.
  int32_t f16, bf16, f32, i8, u8, i32, cpu, cuda;
  bool isROCm;
  bool (*recordsGradients)();
  /// Null without CUDA.
  TorchError (*getStream)(int32_t deviceNumber, void **stream);

  /// Of C++: how many modes there are, of operators and of functions.
  int64_t (*countModes)();
  int64_t (*countFunctionModes)();
  /// A std::vector of the transforms of torch.func that run.
  const void *const *(*getTransforms)();
  bool (*casts)(int8_t deviceType);
  /// A level of derivatives of forward mode, of which the first has number 0;
  /// null where there is none.
  std::shared_ptr<void> (*findForwardLevel)(uint64_t number);
  /// Whether operators on a tensor are Python's, of an at::Tensor.
  bool (*hasDispatch)(const void *);
  /// Of a c10::TensorImpl, to which an at::Tensor is a pointer.
  bool (*requiresGradient)(const void *);
  /// A new reference to Python's object of an at::TensorBase.
  PyObject *(*wrap)(const void *);
  /// Of Python: torch.Tensor, and behind how many bytes objects of that class
  /// have the at::Tensor; null where that was not found. Parameters, which are
  /// tensors with another name, have it there as well.
  PyTypeObject *objectType, *parameterType;
  size_t objectPlace;

  /// Null where functions of the stable ABI are missing. With the
  /// interpreter's lock.
  static const PyTorch *find();

  /// That of a Python object, which keeps it, or null if that is of another
  /// class than these themselves.
  TorchTensor getTensor(PyObject *object) const {
    PyTypeObject *type = Py_TYPE(object);
    return type == objectType || type == parameterType
               ? reinterpret_cast<char *>(object) + objectPlace
               : nullptr;
  }
  /// Whether it is a tensor that can be part of a known call.
  bool read(TorchTensor tensor, View &view) const;
  /// That of a type of DLPack's for results and workspaces, or -1.
  int32_t findType(uint8_t code, uint8_t bits) const;
  /// A new tensor on the device of `like`; null where there is none, which is
  /// said where calls are checked.
  TorchTensor make(const View &like, const Call::Memory &memory) const;

  /// Whether the functions of C++ are there.
  bool seesState() const {
    return countModes && countFunctionModes && getTransforms && casts &&
           findForwardLevel && hasDispatch && requiresGradient;
  }
  /// Whether nothing traces, transforms or differentiates what operators do,
  /// but by backward mode.
  bool isUndisturbed() const {
    const void *const *transforms = getTransforms();
    return countModes() == 0 && transforms[0] == transforms[1] &&
           !findForwardLevel(0);
  }
  bool needsGradient(TorchTensor tensor) const {
    return requiresGradient(*static_cast<const void *const *>(tensor));
  }
};

/// Results or workspaces of a launch. What is not taken goes with it.
class TorchTensors {
public:
  explicit TorchTensors(const PyTorch &torch) : torch(torch) {}
  ~TorchTensors() {
    for (size_t i = 0; i < count; ++i)
      if (tensors[i])
        torch.releaseTensor(tensors[i]);
  }
  TorchTensors(const TorchTensors &) = delete;
  TorchTensors &operator=(const TorchTensors &) = delete;

  /// Makes them, and adds where they are; whether all could be made.
  bool make(const View &like, const std::vector<Call::Memory> &memories,
            Addresses &addresses) {
    for (const Call::Memory &memory : memories) {
      void *data = nullptr;
      TorchTensor made = torch.make(like, memory);
      if (!made)
        return false;
      tensors[count++] = made;
      if (torch.getData(made, &data))
        return false;
      addresses.add(reinterpret_cast<uint64_t>(data));
    }
    return true;
  }
  TorchTensor get(size_t number) const { return tensors[number]; }
  TorchTensor take(size_t number) {
    return std::exchange(tensors[number], nullptr);
  }

private:
  const PyTorch &torch;
  size_t count = 0;
  /// Beside those of a call, one without elements.
  std::array<TorchTensor, kMaxMade + 1> tensors;
};

} // namespace attune::python

#endif // ATTUNE_PYTHON_SRC_PYTORCH_H
