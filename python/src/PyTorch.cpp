// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "PyTorch.h"
#include <cstring>
#include <dlfcn.h>
#include <initializer_list>

using namespace attune::python;

/// Of one of PyTorch's libraries, which are found only if they are loaded.
static void *findSymbol(const char *name) {
  for (const char *library :
       {"libtorch_cpu.so", "libc10.so", "libtorch_cuda.so", "libtorch_hip.so",
        "libtorch_python.so"})
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
         find(torch.view, "aoti_torch_create_tensor_from_blob") &&
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
         findNumber(torch.i8, "aoti_torch_dtype_int8") &&
         findNumber(torch.u8, "aoti_torch_dtype_uint8") &&
         findNumber(torch.i32, "aoti_torch_dtype_int32") &&
         findNumber(torch.cpu, "aoti_torch_device_type_cpu") &&
         findNumber(torch.cuda, "aoti_torch_device_type_cuda") &&
         find(torch.recordsGradients, "aoti_torch_grad_mode_is_enabled");
}

/// Where Python's objects have their tensors, as one of a tensor that is known
/// shows: right behind what all objects have, or behind a flag as well.
static void findObjects(PyTorch &torch) {
  // The second takes it by value, which is by reference to a class that has a
  // destructor.
  if (!find(torch.wrap, "_Z16THPVariable_WrapRKN2at10TensorBaseE") &&
      !find(torch.wrap, "_Z16THPVariable_WrapN2at10TensorBaseE"))
    return;
  static float element;
  int64_t one = 1;
  TorchTensor tensor = nullptr;
  // No mode of Python's sees how it is made.
  if (torch.view(&element, 1, &one, &one, 0, torch.f32, torch.cpu, 0, &tensor))
    return;
  const void *known = *static_cast<void **>(tensor);
  if (PyObject *object = torch.wrap(tensor)) {
    for (size_t place : {sizeof(PyObject), sizeof(PyObject) + sizeof(void *)}) {
      const void *found;
      std::memcpy(&found, reinterpret_cast<char *>(object) + place,
                  sizeof(found));
      if (found != known)
        continue;
      torch.objectType = Py_TYPE(object);
      torch.objectPlace = place;
      if (void *parameter = findSymbol("ParameterClass"))
        torch.parameterType = *static_cast<PyTypeObject **>(parameter);
      break;
    }
    Py_DECREF(object);
  }
  torch.releaseTensor(tensor);
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
    findObjects(torch);
    if (void *hip = dlopen("libtorch_hip.so", RTLD_LAZY | RTLD_NOLOAD)) {
      torch.isROCm = true;
      dlclose(hip);
    }
    return &torch;
  }();
  return found;
}

bool PyTorch::read(TorchTensor tensor, View &view) const {
  int32_t type, device;
  int64_t rank;
  if (getType(tensor, &type) || getRank(tensor, &rank) ||
      getSizes(tensor, &view.sizes) || getStrides(tensor, &view.strides) ||
      getData(tensor, &view.data) || getDeviceType(tensor, &device) ||
      getDeviceNumber(tensor, &view.deviceNumber))
    return false;
  bool isCPU = device == cpu;
  if (!isCPU && (device != cuda || !getStream))
    return false;
  if (isCPU)
    view.deviceNumber = 0;
  view.deviceType = isCPU ? kDeviceCPU : isROCm ? kDeviceROCm : kDeviceCUDA;
  view.type = type;
  view.rank = static_cast<int32_t>(rank);
  return rank <= static_cast<int64_t>(kMaxRank) && view.data;
}

int32_t PyTorch::findType(uint8_t code, uint8_t bits) const {
  if (bits == 8)
    return code == kUInt ? u8 : code == kInt ? i8 : -1;
  if (code == kInt && bits == 32)
    return i32;
  if (code == kBFloat && bits == 16)
    return bf16;
  if (code != kFloat || (bits != 16 && bits != 32))
    return -1;
  return bits == 16 ? f16 : f32;
}

TorchTensor PyTorch::make(const View &like, const Call::Memory &memory) const {
  TorchTensor made = nullptr;
  auto rank = static_cast<int64_t>(memory.sizes.size());
  if (allocate(rank, memory.sizes.data(), memory.strides.data(),
               findType(memory.code, memory.bits),
               like.deviceType == kDeviceCPU ? cpu : cuda, like.deviceNumber,
               &made))
    return nullptr;
  return made;
}
