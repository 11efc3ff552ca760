// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The fast way of a call of attention: tensors that differ in nothing but
// their contents and addresses from those of an earlier call need no checks,
// and no search for a kernel. Tensors are read, results made and the stream
// found through the table that a framework has for it in C, DLPack's exchange
// API, so that nothing of Python runs in between.

#include "Bindings.h"
#include "Runtime.h"
#include <algorithm>
#include <array>
#include <nanobind/stl/vector.h>
#include <unordered_map>

namespace nb = nanobind;
using namespace attune;
using namespace attune::python;

namespace {
/// DLTensor, as DLPack 1 lays it out.
struct View {
  void *data;
  int32_t deviceType, deviceNumber;
  int32_t rank;
  uint8_t code, bits;
  uint16_t lanes;
  int64_t *sizes, *strides;
  uint64_t offset;
};

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

constexpr size_t kNumInputs = 3, kRank = 4;
constexpr int kDeviceCPU = 1;
/// Of each input: type, device, alignment, sizes and strides. Then the stream.
constexpr size_t kWordsPerInput = 2 + 2 * kRank;
using Key = std::array<int64_t, kNumInputs * kWordsPerInput + 1>;

struct HashKey {
  size_t operator()(const Key &key) const {
    uint64_t hash = 14695981039346656037u;
    for (int64_t word : key)
      hash = (hash ^ static_cast<uint64_t>(word)) * 1099511628211u;
    return hash ^ (hash >> 32);
  }
};

/// A call as it was made.
struct Call {
  nb::object kernelOwner;
  const runtime::Kernel *kernel;
  /// Of all arguments, in the kernel's order; those of workspaces are theirs.
  std::vector<Tensor> tensors;
  std::vector<AttuneArgument> arguments;
  /// Places of query, key and value, and of the results.
  std::vector<size_t> inputs, outputs;
  /// Launches of the last addresses, which come back in loops. Preparing one
  /// makes tensor maps.
  struct Prepared {
    std::array<uint64_t, kNumInputs + 2> addresses;
    runtime::Launch launch;
  };
  std::array<Prepared, 4> prepared;
  size_t next = 0;

  /// Null and an error if it cannot be prepared.
  const runtime::Launch &prepare(AttuneError &error);
};

/// Calls of one set of options.
class KnownCalls {
public:
  KnownCalls() = default;
  KnownCalls(const KnownCalls &) = delete;
  KnownCalls &operator=(const KnownCalls &) = delete;

  bool add(nb::handle query, nb::handle key, nb::handle value,
           const std::vector<Tensor> &tensors, nb::handle kernel,
           uintptr_t stream);
  /// The results, None for a call that is not known, or null and an exception.
  PyObject *launch(PyObject *const *inputs);

private:
  /// Whether all are of one class, and fit into a key.
  bool describe(PyObject *const *inputs, Key &key, View *views) const;
  nb::object makeOutput(const Tensor &like, const View &query,
                        AttuneArgument &argument) const;

  /// More are forgotten together: lengths that never come back stay few.
  static constexpr size_t kMaxCalls = 4096;
  /// The class of tensors that `exchange` is for.
  nb::object kind;
  const Exchange *exchange = nullptr;
  std::unordered_map<Key, Call, HashKey> calls;
};
} // namespace

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

bool KnownCalls::describe(PyObject *const *inputs, Key &key,
                          View *views) const {
  int64_t *word = key.data();
  for (size_t i = 0; i < kNumInputs; ++i) {
    if (reinterpret_cast<PyObject *>(Py_TYPE(inputs[i])) != kind.ptr())
      return false;
    View &view = views[i];
    if (exchange->viewPython(inputs[i], &view) != 0) {
      PyErr_Clear(); // what is wrong is said where calls are checked
      return false;
    }
    if (view.rank != static_cast<int32_t>(kRank) || view.lanes != 1)
      return false;
    uint64_t address = reinterpret_cast<uint64_t>(view.data) + view.offset;
    *word++ = int64_t(view.code) << 56 | int64_t(view.bits) << 48 |
              int64_t(view.deviceType) << 32 | uint32_t(view.deviceNumber);
    *word++ = static_cast<int64_t>(address % 16);
    word = std::copy_n(view.sizes, kRank, word);
    word = std::copy_n(view.strides, kRank, word);
  }
  void *stream = nullptr;
  if (views[0].deviceType != kDeviceCPU &&
      exchange->getStream(views[0].deviceType, views[0].deviceNumber,
                          &stream) != 0) {
    PyErr_Clear();
    return false;
  }
  *word = reinterpret_cast<intptr_t>(stream);
  return true;
}

bool KnownCalls::add(nb::handle query, nb::handle key, nb::handle value,
                     const std::vector<Tensor> &tensors, nb::handle kernel,
                     uintptr_t stream) {
  nb::object found = nb::borrow(query.type());
  if (!kind.is_valid() || !kind.is(found)) {
    calls.clear();
    kind = found;
    exchange = findExchange(kind);
  }
  PyObject *inputs[] = {query.ptr(), key.ptr(), value.ptr()};
  View views[kNumInputs];
  Key described;
  if (!exchange || !describe(inputs, described, views) ||
      described.back() != static_cast<int64_t>(stream))
    return false;

  const runtime::Kernel &handle = nb::cast<const Kernel &>(kernel).getHandle();
  Call call;
  call.kernelOwner = nb::borrow(kernel);
  call.kernel = &handle;
  call.tensors = tensors;
  for (size_t i = 0; i < tensors.size(); ++i) {
    AttuneArgumentInfo info = attuneRuntimeGetArgument(handle.get(), i);
    if (info.access == AttuneAccessRead)
      call.inputs.push_back(i);
    else if (info.access == AttuneAccessWrite)
      call.outputs.push_back(i);
    else if (info.access != AttuneAccessWorkspace ||
             info.zero == AttuneZeroEachLaunch)
      return false;
  }
  if (call.inputs.size() != kNumInputs || call.outputs.empty() ||
      call.outputs.size() > 2)
    return false;
  if (calls.size() >= kMaxCalls)
    calls.clear();
  auto [place, isNew] = calls.insert_or_assign(described, std::move(call));
  Call &kept = place->second;
  for (size_t i = 0; i < kept.tensors.size(); ++i)
    kept.arguments.push_back(kept.tensors[i].getArgument(
        attuneRuntimeGetArgument(handle.get(), i).access ==
        AttuneAccessWorkspace));
  // Of these, sizes and strides are what is needed later.
  for (std::vector<size_t> *places : {&kept.inputs, &kept.outputs})
    for (size_t at : *places)
      kept.tensors[at].release();
  return true;
}

const runtime::Launch &Call::prepare(AttuneError &error) {
  std::array<uint64_t, kNumInputs + 2> addresses = {};
  size_t count = 0;
  for (const std::vector<size_t> *places : {&inputs, &outputs})
    for (size_t at : *places)
      addresses[count++] = arguments[at].address;
  for (const Prepared &known : prepared)
    if (known.launch && known.addresses == addresses)
      return known.launch;
  Prepared &made = prepared[next++ % prepared.size()];
  made = {addresses, runtime::prepare(*kernel, arguments, error)};
  return made.launch;
}

static void setError(void *, const char *, const char *message) {
  if (!PyErr_Occurred())
    PyErr_SetString(PyExc_RuntimeError, message);
}

nb::object KnownCalls::makeOutput(const Tensor &like, const View &query,
                                  AttuneArgument &argument) const {
  View prototype = {};
  prototype.deviceType = query.deviceType;
  prototype.deviceNumber = query.deviceNumber;
  prototype.rank = static_cast<int32_t>(like.sizes.size());
  prototype.code = static_cast<uint8_t>(like.code);
  prototype.bits = static_cast<uint8_t>(like.bits);
  prototype.lanes = 1;
  prototype.sizes = const_cast<int64_t *>(like.sizes.data());
  void *tensor = nullptr, *made = nullptr;
  if (exchange->allocate(&prototype, &tensor, nullptr, setError) != 0 ||
      exchange->toPython(tensor, &made) != 0)
    return {};
  nb::object object = nb::steal(static_cast<PyObject *>(made));
  View view;
  if (exchange->viewPython(made, &view) != 0)
    return {};
  argument.address = reinterpret_cast<uint64_t>(view.data) + view.offset;
  return object;
}

PyObject *KnownCalls::launch(PyObject *const *inputs) {
  Key key;
  View views[kNumInputs];
  if (!exchange || !describe(inputs, key, views))
    return nb::none().release().ptr();
  auto found = calls.find(key);
  if (found == calls.end())
    return nb::none().release().ptr();
  Call &call = found->second;
  for (size_t i = 0; i < kNumInputs; ++i)
    call.arguments[call.inputs[i]].address =
        reinterpret_cast<uint64_t>(views[i].data) + views[i].offset;
  nb::object outputs[2];
  for (size_t i = 0; i < call.outputs.size(); ++i) {
    size_t at = call.outputs[i];
    outputs[i] = makeOutput(call.tensors[at], views[0], call.arguments[at]);
    if (!outputs[i].is_valid())
      return nullptr;
  }
  AttuneError error = {};
  const runtime::Launch &prepared = call.prepare(error);
  if (!prepared ||
      !runtime::launch(prepared, reinterpret_cast<void *>(key.back()), error)) {
    PyErr_SetString(PyExc_RuntimeError, error.text);
    return nullptr;
  }
  if (call.outputs.size() == 1)
    return outputs[0].release().ptr();
  return PyTuple_Pack(2, outputs[0].ptr(), outputs[1].ptr());
}

/// launch_known(calls, query, key, value), without what nanobind does for
/// functions of any kind.
static PyObject *launchKnown(PyObject *, PyObject *const *arguments,
                             Py_ssize_t count) {
  if (count != 1 + kNumInputs ||
      !nb::isinstance<KnownCalls>(nb::handle(arguments[0]))) {
    PyErr_SetString(PyExc_TypeError,
                    "expects KnownCalls, query, key and value");
    return nullptr;
  }
  return nb::inst_ptr<KnownCalls>(nb::handle(arguments[0]))
      ->launch(arguments + 1);
}

void attune::python::bindKnownCalls(nb::module_ &scope) {
  nb::class_<KnownCalls>(scope, "KnownCalls")
      .def(nb::init<>())
      .def("add", &KnownCalls::add, nb::arg("query"), nb::arg("key"),
           nb::arg("value"), nb::arg("tensors"), nb::arg("kernel"),
           nb::arg("stream"),
           "Whether the call can be made by launch_known from now on.");
  static PyMethodDef definition = {
      "launch_known",
      reinterpret_cast<PyCFunction>(reinterpret_cast<void *>(launchKnown)),
      METH_FASTCALL,
      "launch_known(calls, query, key, value): the results of a call like one "
      "that was added, or None."};
  nb::object function =
      nb::steal(PyCFunction_NewEx(&definition, nullptr, nullptr));
  nb::setattr(scope, "launch_known", function);
}
