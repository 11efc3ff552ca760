// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions of the PyTorch that is in this process, found by name: the
// extension is linked to none, and serves all versions. First those of its
// stable ABI (torch/csrc/stable/c/shim.h and what that includes, since 2.10),
// then some of which C++ alone has names. Where one is missing, what needs it
// is done in Python.

#ifndef ATTUNE_PYTHON_SRC_PYTORCH_H
#define ATTUNE_PYTHON_SRC_PYTORCH_H

#include <cstddef>
#include <cstdint>
#include <memory>

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
  /// Types of elements and devices.
  int32_t f16, bf16, f32, cpu, cuda;
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

  /// Null where functions of the stable ABI are missing.
  static const PyTorch *find();

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

} // namespace attune::python

#endif // ATTUNE_PYTHON_SRC_PYTORCH_H
