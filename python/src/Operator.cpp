// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels of PyTorch's operator attune::attention that repeat calls which were
// made before, called by its dispatcher with nothing of Python in between. All
// other calls go to two operators of the same arguments whose kernels are
// Python's (_torch.py): attention_compute for tensors that are memory, and
// attention_record where PyTorch may have to record, trace or transform.

#include "Bindings.h"
#include "KnownCalls.h"
#include "PyTorch.h"
#include <nanobind/stl/pair.h>
#include <stdexcept>

namespace nb = nanobind;
using namespace attune;
using namespace attune::python;

namespace pybind11 {
/// What PyTorch's bindings turn into a Python exception by its own function.
/// Declared as pybind11 has it, whose type this is known by.
class __attribute__((visibility("default"))) builtin_exception
    : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
  virtual void set_error() const = 0;
};
} // namespace pybind11

namespace {
/// An exception of Python on its way through PyTorch.
class PythonError : public pybind11::builtin_exception {
public:
  PythonError(std::shared_ptr<PyObject> error, const std::string &text)
      : builtin_exception(text), error(std::move(error)) {}

  /// With the interpreter's lock.
  void set_error() const override {
    PyErr_SetObject(reinterpret_cast<PyObject *>(Py_TYPE(error.get())),
                    error.get());
  }

private:
  std::shared_ptr<PyObject> error;
};

/// Places of the operator's arguments on the stack.
enum Place : size_t {
  kFirstTensor = 0,
  kNumRequired = 3,
  kNumTensors = 5,
  kCausal = kNumTensors,
  kWindow,
  kSoftcap,
  kScale,
  kReturnLse,
  kLayout,
  kChip,
  kNumArguments
};

/// Of the PyTorch that the extension's functions and types are for.
constexpr uint64_t kVersion = uint64_t(2) << 56 | uint64_t(10) << 48;
constexpr size_t kNumResults = 2;
} // namespace

/// Set before the kernels are.
static const PyTorch *torch = nullptr;
/// What a kernel in Python raised in this thread, instead of to the dispatcher,
/// whose C functions forget all but the text.
static thread_local std::shared_ptr<PyObject> kept;

static void check(TorchError error) {
  if (error)
    throw std::runtime_error("attune: PyTorch refuses what its own operator "
                             "passed on");
}

/// Null for None.
static TorchValue *getOptional(TorchValue value) {
  return reinterpret_cast<TorchValue *>(value);
}

static void *toPointer(TorchValue value) {
  return reinterpret_cast<void *>(value);
}

static bool readText(TorchValue value, std::string_view &text) {
  size_t length = 0;
  const char *data = nullptr;
  if (torch->getStringLength(toPointer(value), &length) ||
      torch->getStringData(toPointer(value), &data))
    return false;
  text = {data, length};
  return true;
}

static void readNumber(TorchValue value, bool &isThere, double &number) {
  const TorchValue *bits = getOptional(value);
  isThere = bits != nullptr;
  if (bits)
    std::copy_n(reinterpret_cast<const char *>(bits), sizeof(number),
                reinterpret_cast<char *>(&number));
}

static bool readWindow(TorchValue value, Options &options) {
  const TorchValue *list = getOptional(value);
  options.hasWindow = list != nullptr;
  if (!list)
    return true;
  size_t size = 0;
  if (torch->getListSize(toPointer(*list), &size) || size != 2)
    return false;
  for (size_t i = 0; i < 2; ++i) {
    TorchValue side;
    if (torch->getListItem(toPointer(*list), i, &side))
      return false;
    options.window[i] = static_cast<int64_t>(side);
    if (options.window[i] < -1 || options.window[i] > INT32_MAX)
      return false;
  }
  return true;
}

static bool readOptions(const TorchValue *stack, Options &options) {
  options.isCausal = (stack[kCausal] & 1) != 0;
  options.hasLse = (stack[kReturnLse] & 1) != 0;
  readNumber(stack[kSoftcap], options.hasSoftcap, options.softcap);
  readNumber(stack[kScale], options.hasScale, options.scale);
  std::string_view layout, chip;
  const TorchValue *chipName = getOptional(stack[kChip]);
  return readWindow(stack[kWindow], options) &&
         readText(stack[kLayout], layout) && options.setLayout(layout) &&
         (!chipName || (readText(*chipName, chip) && options.setChip(chip)));
}

/// The tensor at a place, or null.
static TorchTensor getTensor(const TorchValue *stack, size_t place) {
  if (place < kNumRequired)
    return toPointer(stack[place]);
  const TorchValue *tensor = getOptional(stack[place]);
  return tensor ? toPointer(*tensor) : nullptr;
}

/// What the arguments own.
static void releaseArguments(TorchValue *stack) {
  for (size_t place = kFirstTensor; place < kNumTensors; ++place)
    if (TorchTensor tensor = getTensor(stack, place))
      torch->releaseTensor(tensor);
  if (const TorchValue *window = getOptional(stack[kWindow]))
    torch->releaseList(toPointer(*window));
  torch->releaseString(toPointer(stack[kLayout]));
  if (const TorchValue *chip = getOptional(stack[kChip]))
    torch->releaseString(toPointer(*chip));
  for (size_t place :
       {size_t(kNumRequired), size_t(kNumRequired + 1), size_t(kWindow),
        size_t(kSoftcap), size_t(kScale), size_t(kChip)})
    delete getOptional(stack[place]);
}

/// Whether it was a known call. Puts its results on the stack.
static bool repeat(TorchValue *stack) {
  Options options;
  if (!readOptions(stack, options))
    return false;
  Key key(options);
  View first;
  Addresses addresses;
  for (size_t place = kFirstTensor; place < kNumTensors; ++place) {
    TorchTensor tensor = getTensor(stack, place);
    if (!tensor) {
      key.addNone();
      continue;
    }
    View view;
    if (!torch->read(tensor, view) || !key.addTensor(view))
      return false;
    addresses.add(view.getAddress());
    if (place == kFirstTensor)
      first = view;
  }
  key.addNone(); // what says which weights are dropped
  void *stream = nullptr;
  if (first.deviceType != kDeviceCPU)
    check(torch->getStream(first.deviceNumber, &stream));
  key.add(reinterpret_cast<intptr_t>(stream));
  std::shared_ptr<Call> call = KnownCalls::get().find(key);
  if (!call || (call->keepsMemory() && isCapturing(first.deviceType, stream)))
    return false;

  TorchTensors results(*torch), lent(*torch);
  static const std::vector<Call::Memory> noLse = {{0, kFloat, 32, {0}, {1}, 1}};
  Addresses unused;
  if (!results.make(first, call->getResults(), addresses) ||
      !lent.make(first, call->getWorkspaces(), addresses) ||
      (!options.hasLse && !results.make(first, noLse, unused)))
    return false;
  AttuneError error = {};
  if (!call->launch(addresses, stream, error))
    throw std::runtime_error(error.text);
  releaseArguments(stack);
  for (size_t number = 0; number < kNumResults; ++number)
    stack[number] = reinterpret_cast<TorchValue>(results.take(number));
  return true;
}

/// Calls an operator in Python with what is on the stack, and raises what that
/// raised.
static void callPython(const char *name, TorchValue *stack) {
  check(torch->call(name, "", stack, kVersion));
  if (!kept)
    return;
  for (size_t number = 0; number < kNumResults; ++number)
    torch->releaseTensor(toPointer(stack[number]));
  std::string text;
  std::shared_ptr<PyObject> error = std::exchange(kept, nullptr);
  {
    nb::gil_scoped_acquire held;
    text = nb::str(nb::handle(error.get())).c_str();
  }
  throw PythonError(std::move(error), text);
}

/// For tensors that are memory.
static void compute(TorchValue *stack, uint64_t, uint64_t) {
  if (!repeat(stack))
    callPython("attune::attention_compute", stack);
}

/// Where PyTorch would record a call.
static void record(TorchValue *stack, uint64_t, uint64_t) {
  bool isPlain = torch->isUndisturbed();
  bool records = torch->recordsGradients();
  for (size_t place = kFirstTensor; isPlain && place < kNumTensors; ++place)
    if (TorchTensor tensor = getTensor(stack, place))
      isPlain = !torch->hasDispatch(tensor) &&
                !(records && torch->needsGradient(tensor));
  if (!isPlain || !repeat(stack))
    callPython("attune::attention_record", stack);
}

/// Whether the operator has kernels of ours for tensors that are memory, and
/// where PyTorch would record.
static std::pair<bool, bool> registerOperator() {
  torch = PyTorch::find();
  if (!torch)
    return {false, false};
  auto implement = [](const char *dispatchKey, TorchKernel kernel) {
    void *library = nullptr; // to the end of the process
    return !torch->openLibrary("attune", dispatchKey, __FILE__, __LINE__,
                               &library) &&
           !torch->implement(library, "attention", kernel, kVersion);
  };
  bool computes = implement("CPU", compute) && implement("CUDA", compute);
  bool seesRecords = computes && torch->seesState() &&
                     implement("AutogradCPU", record) &&
                     implement("AutogradCUDA", record);
  return {computes, seesRecords};
}

void attune::python::bindOperator(nb::module_ &scope) {
  scope.def("register_operator", registerOperator,
            "Gives PyTorch's operator attune::attention kernels that repeat "
            "known calls: whether it has them for tensors that are memory, and "
            "where PyTorch would record.");
  scope.def(
      "keep_error",
      [](nb::object error) {
        kept = std::shared_ptr<PyObject>(error.release().ptr(),
                                         [](PyObject *object) {
                                           nb::gil_scoped_acquire held;
                                           Py_DECREF(object);
                                         });
      },
      nb::arg("error"),
      "Raises an exception where the operator was called that runs this.");
}
