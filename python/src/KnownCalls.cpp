// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The fast way of a call of attention, or of its gradients: tensors that differ
// in nothing but their contents and addresses from those of an earlier call
// need no checks, and no search for a kernel. Tensors are read, results made
// and the stream found through the table that a framework has for it in C,
// DLPack's exchange API, so that nothing of Python runs in between.

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

constexpr size_t kMaxInputs = 7, kMaxRank = 4;
constexpr int kDeviceCPU = 1;
/// kDLUInt of DLPack.
constexpr uint8_t kUInt = 1;
/// Of each input: type and device, alignment and rank, sizes and strides.
/// Behind them the stream.
constexpr size_t kWordsPerInput = 2 + 2 * kMaxRank;

struct Key {
  size_t size = 0;
  std::array<int64_t, kMaxInputs * kWordsPerInput + 1> words;

  bool operator==(const Key &other) const {
    return size == other.size &&
           std::equal(words.begin(), words.begin() + size, other.words.begin());
  }
};

struct HashKey {
  size_t operator()(const Key &key) const {
    uint64_t hash = 14695981039346656037u;
    for (size_t i = 0; i < key.size; ++i)
      hash = (hash ^ static_cast<uint64_t>(key.words[i])) * 1099511628211u;
    return hash ^ (hash >> 32);
  }
};

/// A call as it was made.
struct Call {
  nb::object kernelOwner;
  const runtime::Kernel *kernel;
  /// Of all arguments, in the kernel's order; those that a kernel leaves as it
  /// found them are theirs.
  std::vector<Tensor> tensors;
  std::vector<AttuneArgument> arguments;
  /// Places of the inputs and of the results, in their order.
  std::vector<size_t> inputs, outputs;
  /// Memory that each launch has anew, as tensors of bytes, and what its
  /// address is a multiple of.
  struct Workspace {
    size_t place;
    int64_t bytes, alignment;
  };
  std::vector<Workspace> workspaces;
  /// Launches of the last addresses, which come back in loops. Preparing one
  /// makes tensor maps.
  struct Prepared {
    std::vector<uint64_t> addresses;
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

  /// `places` are those of the inputs among the kernel's `tensors`, `results`
  /// those of what is returned.
  bool add(const std::vector<nb::object> &inputs,
           const std::vector<size_t> &places,
           const std::vector<size_t> &results,
           const std::vector<Tensor> &tensors, nb::handle kernel,
           uintptr_t stream);
  /// The results, one or a tuple; None for a call that is not known, or null
  /// and an exception.
  PyObject *launch(PyObject *const *inputs, size_t count);

private:
  /// Whether all are of one class, and fit into a key.
  bool describe(PyObject *const *inputs, size_t count, Key &key,
                View *views) const;
  /// A new tensor on the device of `like`; null, and an exception, without.
  nb::object allocate(const View &like, uint8_t code, uint8_t bits,
                      const std::vector<int64_t> &sizes,
                      uint64_t &address) const;

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

bool KnownCalls::describe(PyObject *const *inputs, size_t count, Key &key,
                          View *views) const {
  int64_t *word = key.words.data();
  for (size_t i = 0; i < count; ++i) {
    if (reinterpret_cast<PyObject *>(Py_TYPE(inputs[i])) != kind.ptr())
      return false;
    View &view = views[i];
    if (exchange->viewPython(inputs[i], &view) != 0) {
      PyErr_Clear(); // what is wrong is said where calls are checked
      return false;
    }
    if (view.rank > static_cast<int32_t>(kMaxRank) || view.lanes != 1)
      return false;
    uint64_t address = reinterpret_cast<uint64_t>(view.data) + view.offset;
    *word++ = int64_t(view.code) << 56 | int64_t(view.bits) << 48 |
              int64_t(view.deviceType) << 32 | uint32_t(view.deviceNumber);
    *word++ = static_cast<int64_t>(address % 16) << 8 | view.rank;
    word = std::copy_n(view.sizes, view.rank, word);
    word = std::copy_n(view.strides, view.rank, word);
  }
  void *stream = nullptr;
  if (views[0].deviceType != kDeviceCPU &&
      exchange->getStream(views[0].deviceType, views[0].deviceNumber,
                          &stream) != 0) {
    PyErr_Clear();
    return false;
  }
  *word++ = reinterpret_cast<intptr_t>(stream);
  key.size = static_cast<size_t>(word - key.words.data());
  return true;
}

bool KnownCalls::add(const std::vector<nb::object> &inputs,
                     const std::vector<size_t> &places,
                     const std::vector<size_t> &results,
                     const std::vector<Tensor> &tensors, nb::handle kernel,
                     uintptr_t stream) {
  if (inputs.empty() || inputs.size() > kMaxInputs)
    return false;
  nb::object found = nb::borrow(inputs.front().type());
  if (!kind.is_valid() || !kind.is(found)) {
    calls.clear();
    kind = found;
    exchange = findExchange(kind);
  }
  std::vector<PyObject *> objects;
  for (const nb::object &input : inputs)
    objects.push_back(input.ptr());
  View views[kMaxInputs];
  Key described;
  if (!exchange ||
      !describe(objects.data(), objects.size(), described, views) ||
      described.words[described.size - 1] != static_cast<int64_t>(stream))
    return false;

  const Kernel &known = nb::cast<const Kernel &>(kernel);
  const runtime::Kernel &handle = known.getHandle();
  Call call;
  call.kernelOwner = nb::borrow(kernel);
  call.kernel = &handle;
  call.tensors = tensors;
  call.inputs = places;
  call.outputs = results;
  std::vector<bool> isGiven(tensors.size());
  for (const std::vector<size_t> *numbers : {&places, &results})
    for (size_t place : *numbers)
      isGiven.at(place) = true;
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (isGiven[i])
      continue;
    AttuneArgumentInfo info = attuneRuntimeGetArgument(handle.get(), i);
    if (info.access != AttuneAccessWorkspace ||
        info.zero == AttuneZeroEachLaunch)
      return false;
    if (info.zero == AttuneZeroNever)
      call.workspaces.push_back(
          {i, known.getWorkspaceBytes(tensors, i), info.alignment});
  }
  if (calls.size() >= kMaxCalls)
    calls.clear();
  auto [place, isNew] = calls.insert_or_assign(described, std::move(call));
  Call &kept = place->second;
  for (size_t i = 0; i < kept.tensors.size(); ++i)
    kept.arguments.push_back(kept.tensors[i].getArgument(
        attuneRuntimeGetArgument(handle.get(), i).access ==
        AttuneAccessWorkspace));
  // Of these, sizes and strides are what is needed later.
  for (size_t i = 0; i < kept.tensors.size(); ++i)
    if (isGiven[i])
      kept.tensors[i].release();
  for (const Call::Workspace &workspace : kept.workspaces)
    kept.tensors[workspace.place].release();
  return true;
}

const runtime::Launch &Call::prepare(AttuneError &error) {
  auto isSame = [&](const Prepared &known) {
    if (!known.launch)
      return false;
    for (size_t i = 0; i < arguments.size(); ++i)
      if (known.addresses[i] != arguments[i].address)
        return false;
    return true;
  };
  for (const Prepared &known : prepared)
    if (isSame(known))
      return known.launch;
  Prepared &made = prepared[next++ % prepared.size()];
  made.addresses.clear();
  for (const AttuneArgument &argument : arguments)
    made.addresses.push_back(argument.address);
  made.launch = runtime::prepare(*kernel, arguments, error);
  return made.launch;
}

static void setError(void *, const char *, const char *message) {
  if (!PyErr_Occurred())
    PyErr_SetString(PyExc_RuntimeError, message);
}

nb::object KnownCalls::allocate(const View &like, uint8_t code, uint8_t bits,
                                const std::vector<int64_t> &sizes,
                                uint64_t &address) const {
  View prototype = {};
  prototype.deviceType = like.deviceType;
  prototype.deviceNumber = like.deviceNumber;
  prototype.rank = static_cast<int32_t>(sizes.size());
  prototype.code = code;
  prototype.bits = bits;
  prototype.lanes = 1;
  prototype.sizes = const_cast<int64_t *>(sizes.data());
  void *tensor = nullptr, *made = nullptr;
  if (exchange->allocate(&prototype, &tensor, nullptr, setError) != 0 ||
      exchange->toPython(tensor, &made) != 0)
    return {};
  nb::object object = nb::steal(static_cast<PyObject *>(made));
  View view;
  if (exchange->viewPython(made, &view) != 0)
    return {};
  address = reinterpret_cast<uint64_t>(view.data) + view.offset;
  return object;
}

PyObject *KnownCalls::launch(PyObject *const *inputs, size_t count) {
  Key key;
  View views[kMaxInputs];
  if (!exchange || !describe(inputs, count, key, views))
    return nb::none().release().ptr();
  auto found = calls.find(key);
  if (found == calls.end())
    return nb::none().release().ptr();
  Call &call = found->second;
  for (size_t i = 0; i < count; ++i)
    call.arguments[call.inputs[i]].address =
        reinterpret_cast<uint64_t>(views[i].data) + views[i].offset;
  std::vector<nb::object> outputs, lent;
  for (size_t place : call.outputs) {
    const Tensor &like = call.tensors[place];
    outputs.push_back(allocate(views[0], static_cast<uint8_t>(like.code),
                               static_cast<uint8_t>(like.bits), like.sizes,
                               call.arguments[place].address));
    if (!outputs.back().is_valid())
      return nullptr;
  }
  for (const Call::Workspace &workspace : call.workspaces) {
    uint64_t &address = call.arguments[workspace.place].address;
    lent.push_back(allocate(views[0], kUInt, 8,
                            {workspace.bytes + workspace.alignment}, address));
    if (!lent.back().is_valid())
      return nullptr;
    auto alignment = static_cast<uint64_t>(workspace.alignment);
    address = (address + alignment - 1) / alignment * alignment;
  }
  AttuneError error = {};
  const runtime::Launch &prepared = call.prepare(error);
  auto stream = key.words[key.size - 1];
  if (!prepared ||
      !runtime::launch(prepared, reinterpret_cast<void *>(stream), error)) {
    PyErr_SetString(PyExc_RuntimeError, error.text);
    return nullptr;
  }
  if (outputs.size() == 1)
    return outputs.front().release().ptr();
  PyObject *results = PyTuple_New(static_cast<Py_ssize_t>(outputs.size()));
  for (size_t i = 0; results && i < outputs.size(); ++i)
    PyTuple_SetItem(results, static_cast<Py_ssize_t>(i),
                    outputs[i].release().ptr());
  return results;
}

/// launch_known(calls, inputs...), without what nanobind does for
/// functions of any kind.
static PyObject *launchKnown(PyObject *, PyObject *const *arguments,
                             Py_ssize_t count) {
  auto numInputs = static_cast<size_t>(std::max<Py_ssize_t>(count - 1, 0));
  if (numInputs == 0 || numInputs > kMaxInputs ||
      !nb::isinstance<KnownCalls>(nb::handle(arguments[0]))) {
    PyErr_SetString(PyExc_TypeError, "expects KnownCalls and arrays");
    return nullptr;
  }
  return nb::inst_ptr<KnownCalls>(nb::handle(arguments[0]))
      ->launch(arguments + 1, numInputs);
}

void attune::python::bindKnownCalls(nb::module_ &scope) {
  nb::class_<KnownCalls>(scope, "KnownCalls")
      .def(nb::init<>())
      .def("add", &KnownCalls::add, nb::arg("inputs"), nb::arg("places"),
           nb::arg("results"), nb::arg("tensors"), nb::arg("kernel"),
           nb::arg("stream"),
           "Whether the call can be made by launch_known from now on.");
  static PyMethodDef definition = {
      "launch_known",
      reinterpret_cast<PyCFunction>(reinterpret_cast<void *>(launchKnown)),
      METH_FASTCALL,
      "launch_known(calls, inputs...): the results of a call like one "
      "that was added, or None."};
  nb::object function =
      nb::steal(PyCFunction_NewEx(&definition, nullptr, nullptr));
  nb::setattr(scope, "launch_known", function);
}
