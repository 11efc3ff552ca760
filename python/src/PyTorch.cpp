// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "PyTorch.h"
#include <dlfcn.h>
#include <initializer_list>

using namespace attune::python;

/// Of one of PyTorch's libraries, which are found only if they are loaded.
static void *findSymbol(const char *name) {
  for (const char *library :
       {"libtorch_cpu.so", "libc10.so", "libtorch_cuda.so", "libtorch_hip.so"})
    if (void *handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD)) {
      void *found = dlsym(handle, name);
      dlclose(handle);
      if (found)
        return found;
    }
  return nullptr;
}

template <typename Function>
static bool find(Function &function, const char *name) {
  function = reinterpret_cast<Function>(findSymbol(name));
  return function != nullptr;
}

/// What a function without arguments returns.
static bool findNumber(int32_t &number, const char *name) {
  int32_t (*function)() = nullptr;
  if (find(function, name))
    number = function();
  return function != nullptr;
}

static bool findStable(PyTorch &torch) {
  find(torch.getStream, "aoti_torch_get_current_cuda_stream");
  return find(torch.openLibrary, "aoti_torch_library_init_impl") &&
         find(torch.implement, "torch_library_impl") &&
         find(torch.call, "torch_call_dispatcher") &&
         find(torch.getSizes, "aoti_torch_get_sizes") &&
         find(torch.getStrides, "aoti_torch_get_strides") &&
         find(torch.getRank, "aoti_torch_get_dim") &&
         find(torch.getType, "aoti_torch_get_dtype") &&
         find(torch.getData, "aoti_torch_get_data_ptr") &&
         find(torch.getDeviceType, "aoti_torch_get_device_type") &&
         find(torch.getDeviceNumber, "aoti_torch_get_device_index") &&
         find(torch.allocate, "aoti_torch_empty_strided") &&
         find(torch.releaseTensor, "aoti_torch_delete_tensor_object") &&
         find(torch.releaseString, "torch_delete_string") &&
         find(torch.releaseList, "torch_delete_list") &&
         find(torch.getStringLength, "torch_string_length") &&
         find(torch.getStringData, "torch_string_c_str") &&
         find(torch.getListSize, "torch_list_size") &&
         find(torch.getListItem, "torch_list_get_item") &&
         findNumber(torch.f16, "aoti_torch_dtype_float16") &&
         findNumber(torch.bf16, "aoti_torch_dtype_bfloat16") &&
         findNumber(torch.f32, "aoti_torch_dtype_float32") &&
         findNumber(torch.cpu, "aoti_torch_device_type_cpu") &&
         findNumber(torch.cuda, "aoti_torch_device_type_cuda") &&
         find(torch.recordsGradients, "aoti_torch_grad_mode_is_enabled");
}

const PyTorch *PyTorch::find() {
  static const PyTorch *found = []() -> const PyTorch * {
    static PyTorch torch = {};
    if (!findStable(torch))
      return nullptr;
    ::find(torch.countModes, "_ZN3c104impl20TorchDispatchModeTLS9stack_lenEv");
    ::find(torch.countFunctionModes,
           "_ZN2at4impl22PythonTorchFunctionTLS9stack_lenEv");
    ::find(torch.getTransforms, "_ZN2at9functorch20getDynamicLayerStackEv");
    ::find(torch.casts,
           "_ZN2at8autocast19is_autocast_enabledEN3c1010DeviceTypeE");
    ::find(torch.findForwardLevel,
           "_ZN5torch8autograd14ForwardADLevel14try_get_by_idxEm");
    ::find(torch.hasDispatch, "_ZN2at4impl19tensor_has_dispatchERKNS_6TensorE");
    ::find(torch.requiresGradient, "_ZNK3c1010TensorImpl13requires_gradEv");
    return &torch;
  }();
  return found;
}
