// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Python's way to calls that were made before. Tensors are read, results made
// and the stream found through the table that a framework has for it in C,
// DLPack's exchange API, so that nothing of Python runs in between.

#include "Bindings.h"
#include "KnownCalls.h"
#include "PyTorch.h"
#include <cmath>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/vector.h>
#include <utility>

namespace nb = nanobind;
using namespace attune;
using namespace attune::python;

namespace {
/// DLPackExchangeAPI, as DLPack 1.3 lays it out. Results are 0, or else a
/// Python exception is set.
struct Exchange {
  uint32_t major, minor;
  const void *previous;
  int (*allocate)(View *prototype, void **out, void *context,
                  void (*setError)(void *context, const char *kind,
                                   const char *message));
  int (*fromPython)(void *object, void **out);
  int (*toPython)(void *tensor, void **object);
  /// May be null.
  int (*viewPython)(void *object, View *out);
  int (*getStream)(int32_t deviceType, int32_t deviceNumber, void **stream);
};

/// DLManagedTensorVersioned, as DLPack 1 lays it out.
struct Managed {
  uint32_t major, minor;
  void *context;
  void (*destroy)(Managed *);
  uint64_t flags;
  View view;
};

/// Arrays that were made for a launch. What is not taken goes with it.
class Arrays {
public:
  Arrays() = default;
  ~Arrays() {
    for (size_t i = 0; i < count; ++i)
      Py_XDECREF(arrays[i]);
  }
  Arrays(const Arrays &) = delete;
  Arrays &operator=(const Arrays &) = delete;

  void add(PyObject *array) { arrays[count++] = array; }
  PyObject *take(size_t number) {
    return std::exchange(arrays[number], nullptr);
  }
  size_t size() const { return count; }

private:
  size_t count = 0;
  std::array<PyObject *, kMaxMade> arrays;
};

/// The class of arrays that was seen last, and its table.
struct Kind {
  nb::object type;
  const Exchange *exchange = nullptr;
};

/// Arguments as Python passes them.
struct Arguments {
  Options options;
  PyObject *const *inputs;
  size_t numInputs;
};
} // namespace

/// kind, causal, window, softcap, scale, return_lse, layout, chip.
static constexpr size_t kNumOptions = 8;

/// With the interpreter's lock.
static Kind &getKind() {
  static auto *kind = new Kind();
  return *kind;
}

/// The table of a class, or null.
static const Exchange *findExchange(nb::handle kind) {
  nb::object capsule =
      nb::getattr(kind, "__dlpack_c_exchange_api__", nb::none());
  if (!PyCapsule_IsValid(capsule.ptr(), "dlpack_exchange_api"))
    return nullptr;
  auto *found = static_cast<const Exchange *>(
      PyCapsule_GetPointer(capsule.ptr(), "dlpack_exchange_api"));
  return found->major == 1 && found->viewPython ? found : nullptr;
}

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
  return readWindow(arguments[2], options) &&
         readNumber(arguments[3], options.hasSoftcap, options.softcap) &&
         readNumber(arguments[4], options.hasScale, options.scale) &&
         readText(arguments[6], layout) && options.setLayout(layout) &&
         (arguments[7] == Py_None ||
          (readText(arguments[7], chip) && options.setChip(chip)));
}

/// Adds the tensors, which are of one class or None, and the stream of the
/// first, which is returned.
static bool addInputs(Key &key, PyObject *const *inputs, size_t count,
                      Addresses &addresses, View &first, void *&stream) {
  const Kind &kind = getKind();
  for (size_t i = 0; i < count; ++i) {
    if (inputs[i] == Py_None) {
      key.addNone();
      continue;
    }
    View view;
    if (reinterpret_cast<PyObject *>(Py_TYPE(inputs[i])) != kind.type.ptr() ||
        kind.exchange->viewPython(inputs[i], &view) != 0) {
      PyErr_Clear(); // what is wrong is said where calls are checked
      return false;
    }
    if (!key.addTensor(view))
      return false;
    addresses.add(view.getAddress());
    if (i == 0)
      first = view;
  }
  stream = nullptr;
  if (first.deviceType != kDeviceCPU &&
      kind.exchange->getStream(first.deviceType, first.deviceNumber, &stream) !=
          0) {
    PyErr_Clear();
    return false;
  }
  key.add(reinterpret_cast<intptr_t>(stream));
  return true;
}

static void setError(void *, const char *, const char *message) {
  if (!PyErr_Occurred())
    PyErr_SetString(PyExc_RuntimeError, message);
}

/// Makes a tensor on the device of `like`; false, and an exception, without.
static bool allocate(const View &like, const Call::Memory &memory,
                     Addresses &addresses, Arrays &arrays) {
  const Exchange *exchange = getKind().exchange;
  View prototype = {};
  prototype.deviceType = like.deviceType;
  prototype.deviceNumber = like.deviceNumber;
  prototype.rank = static_cast<int32_t>(memory.sizes.size());
  prototype.code = memory.code;
  prototype.bits = memory.bits;
  prototype.lanes = 1;
  prototype.sizes = const_cast<int64_t *>(memory.sizes.data());
  void *tensor = nullptr, *made = nullptr;
  if (exchange->allocate(&prototype, &tensor, nullptr, setError) != 0)
    return false;
  addresses.add(static_cast<const Managed *>(tensor)->view.getAddress());
  if (exchange->toPython(tensor, &made) != 0)
    return false;
  arrays.add(static_cast<PyObject *>(made));
  return true;
}

/// The results, one or a tuple; None for a call that is not known, or null and
/// an exception.
static PyObject *launch(const Options &options, PyObject *const *inputs,
                        size_t count) {
  Key key(options);
  View first = {};
  void *stream;
  Addresses addresses;
  if (!getKind().exchange ||
      !addInputs(key, inputs, count, addresses, first, stream))
    return nb::none().release().ptr();
  std::shared_ptr<Call> call = KnownCalls::get().find(key);
  if (!call || (call->keepsMemory() && isCapturing(first.deviceType, stream)))
    return nb::none().release().ptr();
  Arrays results, lent;
  for (const Call::Memory &memory : call->getResults())
    if (!allocate(first, memory, addresses, results))
      return nullptr;
  for (const Call::Memory &memory : call->getWorkspaces())
    if (!allocate(first, memory, addresses, lent))
      return nullptr;
  AttuneError error = {};
  if (!call->launch(addresses, stream, error)) {
    PyErr_SetString(PyExc_RuntimeError, error.text);
    return nullptr;
  }
  if (results.size() == 1)
    return results.take(0);
  PyObject *tuple = PyTuple_New(static_cast<Py_ssize_t>(results.size()));
  for (size_t i = 0; tuple && i < results.size(); ++i)
    PyTuple_SetItem(tuple, static_cast<Py_ssize_t>(i), results.take(i));
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

/// launch_known(options..., inputs...), without what nanobind does for
/// functions of any kind.
static PyObject *launchKnown(PyObject *, PyObject *const *arguments,
                             Py_ssize_t count) {
  Arguments read;
  bool isKnown;
  if (!readArguments(arguments, count, read, isKnown))
    return nullptr;
  if (!isKnown)
    return nb::none().release().ptr();
  return launch(read.options, read.inputs, read.numInputs);
}

/// Whether PyTorch records, casts, traces or transforms a call, or would call
/// something else for it. Of exact tensors, which `launch` makes sure of.
static bool isDisturbed(const PyTorch &torch, PyObject *const *inputs,
                        size_t count) {
  if (!torch.isUndisturbed() || torch.countFunctionModes() != 0 ||
      torch.casts(static_cast<int8_t>(torch.cpu)) ||
      torch.casts(static_cast<int8_t>(torch.cuda)))
    return true;
  if (!torch.recordsGradients())
    return false;
  static PyObject *name = PyUnicode_InternFromString("requires_grad");
  for (size_t i = 0; i < count; ++i) {
    if (inputs[i] == Py_None)
      continue;
    PyObject *found = PyObject_GetAttr(inputs[i], name);
    Py_XDECREF(found);
    if (found != Py_False) {
      PyErr_Clear();
      return true;
    }
  }
  return false;
}

static PyObject *repeat(PyObject *, PyObject *const *arguments,
                        Py_ssize_t count) {
  Arguments read;
  bool isKnown;
  if (!readArguments(arguments, count, read, isKnown))
    return nullptr;
  const PyTorch *torch = PyTorch::find();
  if (!isKnown || !torch || !torch->seesState() ||
      isDisturbed(*torch, read.inputs, read.numInputs))
    return nb::none().release().ptr();
  return launch(read.options, read.inputs, read.numInputs);
}

static bool addKnown(const nb::tuple &options,
                     const std::vector<nb::object> &inputs,
                     const std::vector<size_t> &places,
                     const std::vector<size_t> &results,
                     const std::vector<Tensor> &tensors,
                     const std::shared_ptr<Kernel> &kernel, uintptr_t stream) {
  Options read;
  std::vector<PyObject *> given, arrays;
  for (nb::handle option : options)
    given.push_back(option.ptr());
  for (const nb::object &input : inputs)
    arrays.push_back(input.ptr());
  if (given.size() != kNumOptions || arrays.empty() ||
      arrays.size() > kMaxInputs || !readOptions(given.data(), read))
    return false;
  Kind &kind = getKind();
  if (nb::object type = nb::borrow(inputs.front().type());
      !kind.type.is_valid() || !kind.type.is(type)) {
    kind.exchange = findExchange(type);
    kind.type = std::move(type);
  }
  Key key(read);
  View first = {};
  void *current;
  Addresses addresses;
  if (!kind.exchange ||
      !addInputs(key, arrays.data(), arrays.size(), addresses, first,
                 current) ||
      reinterpret_cast<uintptr_t>(current) != stream)
    return false;
  std::shared_ptr<Call> call = Call::make(kernel, tensors, places, results);
  if (!call || (call->keepsMemory() && isCapturing(first.deviceType, current)))
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
            nb::arg("kernel"), nb::arg("stream"),
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
  static PyMethodDef known = {
      "launch_known",
      reinterpret_cast<PyCFunction>(reinterpret_cast<void *>(launchKnown)),
      METH_FASTCALL,
      "launch_known(kind, causal, window, softcap, scale, return_lse, layout, "
      "chip, inputs...): the results of a call like one that was added, or "
      "None."};
  static PyMethodDef checked = {
      "repeat", reinterpret_cast<PyCFunction>(reinterpret_cast<void *>(repeat)),
      METH_FASTCALL,
      "The same for tensors of PyTorch, and None where it records, casts, "
      "traces or transforms, or cannot tell."};
  define(scope, known);
  define(scope, checked);
}
