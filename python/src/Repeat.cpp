// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Python's way to calls that were made before. Tensors are PyTorch's, which are
// read and made by functions of its own, so that nothing of Python runs in
// between.

#include "Bindings.h"
#include "KnownCalls.h"
#include "PyTorch.h"
#include <cmath>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace attune;
using namespace attune::python;

namespace {
/// Arguments as Python passes them.
struct Arguments {
  Options options;
  PyObject *const *inputs;
  size_t numInputs;
};
} // namespace

/// kind, causal, window, softcap, scale, return_lse, layout, chip, dropout_p,
/// max_seqlen_q, max_seqlen_k.
static constexpr size_t kNumOptions = 11;

static bool readText(PyObject *object, std::string_view &text) {
  if (!PyUnicode_Check(object))
    return false;
  Py_ssize_t length = 0;
  const char *data = PyUnicode_AsUTF8AndSize(object, &length);
  if (!data) {
    PyErr_Clear();
    return false;
  }
  text = {data, static_cast<size_t>(length)};
  return true;
}

/// Of None, an integer or a floating-point number; others are errors or rare.
static bool readNumber(PyObject *object, bool &isThere, double &number) {
  isThere = object != Py_None;
  if (!isThere)
    return true;
  if (PyBool_Check(object) || !(PyFloat_Check(object) || PyLong_Check(object)))
    return false;
  number = PyFloat_AsDouble(object);
  if (PyErr_Occurred()) {
    PyErr_Clear();
    return false;
  }
  return std::isfinite(number);
}

static bool readWindow(PyObject *object, Options &options) {
  options.hasWindow = object != Py_None;
  if (!options.hasWindow)
    return true;
  bool isTuple = PyTuple_Check(object);
  if (!isTuple && !PyList_Check(object))
    return false;
  if (PySequence_Size(object) != 2)
    return false;
  for (Py_ssize_t i = 0; i < 2; ++i) {
    PyObject *side =
        isTuple ? PyTuple_GetItem(object, i) : PyList_GetItem(object, i);
    if (!side || !PyLong_Check(side))
      return false;
    int overflow = 0;
    options.window[i] = PyLong_AsLongLongAndOverflow(side, &overflow);
    if (overflow || options.window[i] < -1 || options.window[i] > INT32_MAX)
      return false;
  }
  return true;
}

/// Of None or an integer that is exactly that; others are read, or refused,
/// where calls are checked.
static bool readLength(PyObject *object, int32_t &length) {
  if (object == Py_None)
    return true;
  if (!PyLong_CheckExact(object))
    return false;
  int overflow = 0;
  int64_t given = PyLong_AsLongLongAndOverflow(object, &overflow);
  length = static_cast<int32_t>(roundLength(given));
  return !overflow && given >= 0;
}

/// Whether they are of a kind that can be known.
static bool readOptions(PyObject *const *arguments, Options &options) {
  options.kind = static_cast<uint32_t>(PyLong_AsUnsignedLongMask(arguments[0]));
  int isCausal = PyObject_IsTrue(arguments[1]);
  int hasLse = PyObject_IsTrue(arguments[5]);
  if (isCausal < 0 || hasLse < 0) {
    PyErr_Clear();
    return false;
  }
  options.isCausal = isCausal == 1;
  options.hasLse = hasLse == 1;
  std::string_view layout, chip;
  bool hasDropout = false;
  return readNumber(arguments[8], hasDropout, options.dropout) && hasDropout &&
         readLength(arguments[9], options.longest[0]) &&
         readLength(arguments[10], options.longest[1]) &&
         readWindow(arguments[2], options) &&
         readNumber(arguments[3], options.hasSoftcap, options.softcap) &&
         readNumber(arguments[4], options.hasScale, options.scale) &&
         readText(arguments[6], layout) && options.setLayout(layout) &&
         (arguments[7] == Py_None ||
          (readText(arguments[7], chip) && options.setChip(chip)));
}

/// Adds the tensors, which are None or of PyTorch's own class, and the stream
/// of the first, which is returned.
static bool addInputs(const PyTorch &torch, Key &key, PyObject *const *inputs,
                      size_t count, Addresses &addresses, View &first,
                      void *&stream) {
  for (size_t i = 0; i < count; ++i) {
    if (inputs[i] == Py_None) {
      key.addNone();
      continue;
    }
    View view;
    TorchTensor tensor = torch.getTensor(inputs[i]);
    // What is wrong is said where calls are checked.
    if (!tensor || !torch.read(tensor, view) || !key.addTensor(view))
      return false;
    addresses.add(view.getAddress());
    if (i == 0)
      first = view;
  }
  stream = nullptr;
  if (first.deviceType != kDeviceCPU &&
      torch.getStream(first.deviceNumber, &stream))
    return false;
  key.add(reinterpret_cast<intptr_t>(stream));
  return true;
}

/// The results, one or a tuple; None for a call that is not known, or null and
/// an exception.
static PyObject *launch(const PyTorch &torch, const Arguments &read) {
  Key key(read.options);
  View first = {};
  void *stream;
  Addresses addresses;
  if (read.inputs[0] == Py_None ||
      !addInputs(torch, key, read.inputs, read.numInputs, addresses, first,
                 stream))
    return nb::none().release().ptr();
  std::shared_ptr<Call> call = KnownCalls::get().find(key);
  TorchTensors results(torch), lent(torch);
  if (!call || (call->keepsMemory() && isCapturing(first.deviceType, stream)) ||
      !results.make(first, call->getResults(), addresses) ||
      !lent.make(first, call->getWorkspaces(), addresses))
    return nb::none().release().ptr();
  AttuneError error = {};
  if (!call->launch(addresses, stream, error)) {
    PyErr_SetString(PyExc_RuntimeError, error.text);
    return nullptr;
  }
  size_t count = call->getResults().size();
  if (count == 1)
    return torch.wrap(results.get(0));
  PyObject *tuple = PyTuple_New(static_cast<Py_ssize_t>(count));
  for (size_t i = 0; tuple && i < count; ++i)
    PyTuple_SetItem(tuple, static_cast<Py_ssize_t>(i),
                    torch.wrap(results.get(i)));
  return tuple;
}

static bool readArguments(PyObject *const *arguments, Py_ssize_t count,
                          Arguments &read, bool &isKnown) {
  auto numInputs = static_cast<size_t>(
      std::max<Py_ssize_t>(count - static_cast<Py_ssize_t>(kNumOptions), 0));
  if (numInputs == 0) {
    PyErr_SetString(PyExc_TypeError, "expects options and arrays");
    return false;
  }
  isKnown = numInputs <= kMaxInputs && readOptions(arguments, read.options);
  read.inputs = arguments + kNumOptions;
  read.numInputs = numInputs;
  return true;
}

/// Whether PyTorch casts, traces or transforms calls, or would call something
/// else for them, or does not say so.
static bool isDisturbed(const PyTorch &torch) {
  return !torch.seesState() || !torch.isUndisturbed() ||
         torch.countFunctionModes() != 0 ||
         torch.casts(static_cast<int8_t>(torch.cpu)) ||
         torch.casts(static_cast<int8_t>(torch.cuda));
}

/// The same of a call, and whether PyTorch records it.
static bool isDisturbed(const PyTorch &torch, const Arguments &read) {
  if (isDisturbed(torch))
    return true;
  if (!torch.recordsGradients())
    return false;
  for (size_t i = 0; i < read.numInputs; ++i) {
    TorchTensor tensor = torch.getTensor(read.inputs[i]);
    if (tensor && torch.needsGradient(tensor))
      return true;
  }
  return false;
}

/// Both functions, (options..., inputs...), without what nanobind does for
/// functions of any kind.
template <bool checks>
static PyObject *repeat(PyObject *, PyObject *const *arguments,
                        Py_ssize_t count) {
  Arguments read;
  bool isKnown;
  if (!readArguments(arguments, count, read, isKnown))
    return nullptr;
  const PyTorch *torch = PyTorch::find();
  if (!isKnown || !torch || !torch->objectType ||
      (checks && isDisturbed(*torch, read)))
    return nb::none().release().ptr();
  return launch(*torch, read);
}

static bool addKnown(const nb::tuple &options,
                     const std::vector<nb::object> &inputs,
                     const std::vector<size_t> &places,
                     const std::vector<size_t> &results,
                     const std::vector<Tensor> &tensors,
                     const std::shared_ptr<Kernel> &kernel, uintptr_t stream,
                     bool isPacked) {
  Options read;
  std::vector<PyObject *> given, arrays;
  for (nb::handle option : options)
    given.push_back(option.ptr());
  for (const nb::object &input : inputs)
    arrays.push_back(input.ptr());
  if (given.size() != kNumOptions || arrays.empty() ||
      arrays.size() > kMaxInputs || !readOptions(given.data(), read))
    return false;
  const PyTorch *torch = PyTorch::find();
  Key key(read);
  View first = {};
  void *current;
  Addresses addresses;
  if (!torch || !torch->objectType ||
      !addInputs(*torch, key, arrays.data(), arrays.size(), addresses, first,
                 current) ||
      reinterpret_cast<uintptr_t>(current) != stream)
    return false;
  std::shared_ptr<Call> call =
      Call::make(kernel, tensors, places, results, isPacked);
  if (!call || (call->keepsMemory() && isCapturing(first.deviceType, current)))
    return false;
  for (const Call::Memory &memory : call->getResults())
    if (torch->findType(memory.code, memory.bits) < 0)
      return false;
  KnownCalls::get().add(key, std::move(call));
  return true;
}

static void define(nb::module_ &scope, PyMethodDef &definition) {
  nb::object function =
      nb::steal(PyCFunction_NewEx(&definition, nullptr, nullptr));
  nb::setattr(scope, definition.ml_name, function);
}

void attune::python::bindKnownCalls(nb::module_ &scope) {
  scope.def("add_known", addKnown, nb::arg("options"), nb::arg("inputs"),
            nb::arg("places"), nb::arg("results"), nb::arg("tensors"),
            nb::arg("kernel"), nb::arg("stream"), nb::arg("is_packed") = false,
            "Whether the call can be made by launch_known from now on.");
  scope.def(
      "get_capture",
      [](int32_t deviceType, uintptr_t stream) {
        return getCapture(deviceType, reinterpret_cast<void *>(stream));
      },
      nb::arg("device_type"), nb::arg("stream"),
      "The number of the graph that is captured from a stream; 0 without, and "
      "None where the driver does not say.");
  scope.def(
      "forget_known", [] { KnownCalls::get().clear(); },
      "Has the next calls look for their kernels again.");
  scope.def(
      "is_undisturbed",
      [] {
        const PyTorch *torch = PyTorch::find();
        return torch && !isDisturbed(*torch);
      },
      "Whether nothing but backward mode sees what is done with PyTorch's own "
      "tensors; False where that cannot be told.");
  scope.def("round_length", roundLength, nb::arg("length"),
            "The length of the bucket of lengths that share a schedule.");
  auto convert = [](auto *function) {
    return reinterpret_cast<PyCFunction>(reinterpret_cast<void *>(function));
  };
  static PyMethodDef known = {
      "launch_known", convert(repeat<false>), METH_FASTCALL,
      "launch_known(kind, causal, window, softcap, scale, return_lse, layout, "
      "chip, dropout_p, max_seqlen_q, max_seqlen_k, inputs...): the results of "
      "a call of PyTorch's tensors like one that was added, or None."};
  static PyMethodDef checked = {
      "repeat", convert(repeat<true>), METH_FASTCALL,
      "The same, and None where PyTorch records, casts, traces or transforms, "
      "or where that cannot be told."};
  define(scope, known);
  define(scope, checked);
}
