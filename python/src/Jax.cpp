// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Custom calls of programs that XLA compiles for JAX. An attribute says what is
// to be computed, operands and results are XLA's buffers, and what is queued
// goes to XLA's stream. A call that was made before needs no Python; others go
// to attune_mlir._jax.

#include "Bindings.h"
#include "KnownCalls.h"
#include "XLA.h"
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <string>
#include <unordered_map>

namespace nb = nanobind;
using namespace attune;
using namespace attune::python;

/// Of attune_mlir's calls, apart from those that Python counts.
static constexpr uint32_t kFirstKind = uint32_t(1) << 31;

template <typename Arguments> static Arguments makeArguments() {
  Arguments arguments = {};
  arguments.header.size = sizeof(Arguments);
  return arguments;
}

static xla::Error *makeError(const xla::API *api, const char *message) {
  auto arguments = makeArguments<xla::CreateError>();
  arguments.message = message;
  arguments.code = xla::kInternal;
  return api->createError(&arguments);
}

static void check(const xla::API *api, xla::Error *error) {
  if (!error)
    return;
  auto asked = makeArguments<xla::GetMessage>();
  asked.error = error;
  api->getMessage(&asked);
  std::string text = asked.message ? asked.message : "XLA fails";
  auto given = makeArguments<xla::DestroyError>();
  given.error = error;
  api->destroyError(&given);
  throw std::runtime_error(text);
}

namespace {
/// What XLA calls an element's type, and DLPack's code and bits of it.
struct Element {
  int32_t type;
  uint8_t code, bits;
};

/// Memory that XLA lends for what is queued by one call: what is queued behind
/// it on the stream may have it next.
class Scratch {
public:
  explicit Scratch(const xla::Frame &frame)
      : api(frame.api), context(frame.context) {}
  ~Scratch() {
    for (const auto &[data, numBytes] : lent) {
      auto arguments = makeArguments<xla::Free>();
      arguments.context = context;
      arguments.numBytes = numBytes;
      arguments.data = data;
      if (xla::Error *error = api->free(&arguments)) {
        auto given = makeArguments<xla::DestroyError>();
        given.error = error;
        api->destroyError(&given);
      }
    }
  }
  Scratch(const Scratch &) = delete;
  Scratch &operator=(const Scratch &) = delete;

  uint64_t allocate(size_t numBytes) {
    auto arguments = makeArguments<xla::Allocate>();
    arguments.context = context;
    arguments.numBytes = numBytes;
    arguments.alignment = 1;
    check(api, api->allocate(&arguments));
    lent.emplace_back(arguments.data, numBytes);
    return reinterpret_cast<uint64_t>(arguments.data);
  }

private:
  const xla::API *api;
  xla::Context *context;
  std::vector<std::pair<void *, size_t>> lent;
};

/// A call, as Python sees it while it lasts.
class XLACall {
public:
  XLACall(const xla::Frame &frame, int32_t deviceType);

  /// Null where it is not known.
  std::shared_ptr<Call> find() const {
    return isKnowable ? KnownCalls::get().find(key) : nullptr;
  }
  void launch(Call &call);
  Tensor allocate(int64_t numBytes);
  bool learn(std::vector<size_t> places, const std::vector<size_t> &written,
             const std::vector<Tensor> &tensors,
             const std::shared_ptr<Kernel> &kernel) const;
  /// XLA's memory is not ours any more.
  void end() { scratch.reset(); }

  int32_t deviceType, deviceNumber = 0;
  void *stream = nullptr;
  std::string text;
  std::vector<Tensor> operands, results;

private:
  void readBuffers(const xla::Buffers &buffers, std::vector<Tensor> &tensors);

  std::unique_ptr<Scratch> scratch;
  Key key;
  bool isKnowable = true;
};
} // namespace

static constexpr Element kElements[] = {
    {1, kBool, 8},     {2, kInt, 8},     {3, kInt, 16},    {4, kInt, 32},
    {5, kInt, 64},     {6, kUInt, 8},    {7, kUInt, 16},   {8, kUInt, 32},
    {9, kUInt, 64},    {10, kFloat, 16}, {11, kFloat, 32}, {12, kFloat, 64},
    {16, kBFloat, 16}, {19, 12, 8},      {20, 10, 8},      {24, 13, 8},
    {25, 11, 8}};

/// The attribute, which is the only one.
static std::string_view readText(const xla::Attributes &attributes) {
  if (attributes.count != 1 || attributes.kinds[0] != xla::kTextKind)
    throw std::runtime_error("expects one attribute, a string that says what "
                             "is to be computed");
  const auto *text = static_cast<const xla::Text *>(attributes.values[0]);
  return {text->data, text->length};
}

/// The number of calls with this text, in this process.
static uint32_t getKind(const std::string &text) {
  static std::mutex mutex;
  static auto *kinds = new std::unordered_map<std::string, uint32_t>();
  std::lock_guard<std::mutex> lock(mutex);
  return kinds->emplace(text, kFirstKind + kinds->size()).first->second;
}

static Options makeOptions(const std::string &text) {
  Options options;
  options.kind = getKind(text);
  return options;
}

XLACall::XLACall(const xla::Frame &frame, int32_t deviceType)
    : deviceType(deviceType), text(readText(frame.attributes)),
      scratch(std::make_unique<Scratch>(frame)), key(makeOptions(text)) {
  if (deviceType != kDeviceCPU) {
    auto ordinal = makeArguments<xla::GetOrdinal>();
    ordinal.context = frame.context;
    check(frame.api, frame.api->getOrdinal(&ordinal));
    deviceNumber = ordinal.ordinal;
    auto queue = makeArguments<xla::GetStream>();
    queue.context = frame.context;
    check(frame.api, frame.api->getStream(&queue));
    stream = queue.stream;
  }
  readBuffers(frame.operands, operands);
  readBuffers(frame.results, results);
  isKnowable = operands.size() <= kMaxInputs && results.size() <= kMaxMade;
  for (Tensor &tensor : operands) {
    View view = {};
    view.data = reinterpret_cast<void *>(tensor.address);
    view.deviceType = deviceType;
    view.deviceNumber = deviceNumber;
    view.rank = static_cast<int32_t>(tensor.sizes.size());
    view.type = tensor.code << 8 | tensor.bits;
    view.sizes = tensor.sizes.data();
    view.strides = tensor.strides.data();
    isKnowable = isKnowable && key.addTensor(view);
  }
  key.add(reinterpret_cast<intptr_t>(stream));
}

void XLACall::readBuffers(const xla::Buffers &buffers,
                          std::vector<Tensor> &tensors) {
  for (int64_t i = 0; i < buffers.count; ++i) {
    const xla::Buffer &buffer = *buffers.items[i];
    const auto *element = std::find_if(
        std::begin(kElements), std::end(kElements),
        [&](const Element &known) { return known.type == buffer.type; });
    if (buffers.kinds[i] != xla::kBufferKind || element == std::end(kElements))
      throw std::runtime_error("expects buffers of types that DLPack has");
    tensors.push_back(Tensor::fromMemory(
        reinterpret_cast<uint64_t>(buffer.data),
        std::vector<int64_t>(buffer.sizes, buffer.sizes + buffer.rank),
        element->code, element->bits, deviceType, deviceNumber));
  }
}

void XLACall::launch(Call &call) {
  Addresses addresses;
  for (const std::vector<Tensor> *tensors : {&operands, &results})
    for (const Tensor &tensor : *tensors)
      addresses.add(tensor.address);
  for (const Call::Memory &memory : call.getWorkspaces())
    addresses.add(scratch->allocate(static_cast<size_t>(memory.sizes.front())));
  AttuneError error = {};
  if (!call.launch(addresses, stream, error))
    throw std::runtime_error(error.text);
}

Tensor XLACall::allocate(int64_t numBytes) {
  if (!scratch)
    throw std::runtime_error("expects a call that lasts, but it has ended");
  uint64_t address = scratch->allocate(static_cast<size_t>(numBytes));
  return Tensor::fromMemory(address, {numBytes}, kUInt, /*bits=*/8, deviceType,
                            deviceNumber);
}

bool XLACall::learn(std::vector<size_t> places,
                    const std::vector<size_t> &written,
                    const std::vector<Tensor> &tensors,
                    const std::shared_ptr<Kernel> &kernel) const {
  if (!isKnowable || places.size() != operands.size() ||
      written.size() != results.size())
    return false;
  std::shared_ptr<Call> call =
      Call::make(kernel, tensors, std::move(places), written);
  if (!call || (call->keepsMemory() && isCapturing(deviceType, stream)))
    return false;
  KnownCalls::get().add(key, std::move(call));
  return true;
}

/// Has Python make a call that is not known.
static void callPython(std::unique_ptr<XLACall> given) {
  if (!Py_IsInitialized())
    throw std::runtime_error("expects a running interpreter, but Python ends");
  nb::gil_scoped_acquire held;
  XLACall &call = *given;
  nb::object seen = nb::cast(given.release(), nb::rv_policy::take_ownership);
  std::string said;
  try {
    nb::object module = nb::module_::import_("attune_mlir._jax");
    said = nb::cast<std::string>(module.attr("run")(seen));
  } catch (const std::exception &error) {
    said = error.what();
  }
  call.end();
  if (!said.empty())
    throw std::runtime_error(said);
}

/// What XLA has is at least what this is for.
static bool hasVersion(const xla::Frame &frame) {
  const xla::Version &version = frame.api->version;
  return version.major == xla::kMajor && version.minor >= xla::kMinor &&
         frame.api->header.size >= sizeof(xla::API) &&
         frame.header.size >= sizeof(xla::Frame);
}

static xla::Error *run(xla::Frame *frame, int32_t deviceType) {
  const xla::API *api = frame->api;
  if (!hasVersion(*frame)) {
    auto print = [](int major, int minor) {
      return std::to_string(major) + "." + std::to_string(minor);
    };
    std::string text =
        "expects XLA's FFI of version " + print(xla::kMajor, xla::kMinor) +
        ", or a later one of " + std::to_string(xla::kMajor) + ", but got " +
        print(api->version.major, api->version.minor);
    return makeError(api, text.c_str());
  }
  // XLA asks what this is for before it calls it.
  if (const xla::Extension *extension = frame->header.extensions;
      extension && extension->kind == xla::kMetadataExtension) {
    xla::Metadata &metadata =
        *reinterpret_cast<const xla::MetadataExtension *>(extension)->metadata;
    metadata.version = makeArguments<xla::Version>();
    metadata.version.major = xla::kMajor;
    metadata.version.minor = xla::kMinor;
    metadata.traits = 0;
    metadata.stateType = 0;
    return nullptr;
  }
  if (frame->stage != xla::kExecute)
    return makeError(api, "expects a call in the stage of execution");
  try {
    auto call = std::make_unique<XLACall>(*frame, deviceType);
    std::shared_ptr<Call> known = call->find();
    if (known &&
        !(known->keepsMemory() && isCapturing(deviceType, call->stream)))
      call->launch(*known);
    else
      callPython(std::move(call));
    return nullptr;
  } catch (const std::exception &error) {
    return makeError(api, error.what());
  }
}

template <int32_t deviceType> static xla::Error *handle(xla::Frame *frame) {
  return run(frame, deviceType);
}

static nb::capsule getHandler(int32_t deviceType) {
  auto wrap = [](xla::Error *(*handler)(xla::Frame *)) {
    return nb::capsule(reinterpret_cast<void *>(handler));
  };
  switch (deviceType) {
  case kDeviceCPU:
    return wrap(handle<kDeviceCPU>);
  case kDeviceCUDA:
    return wrap(handle<kDeviceCUDA>);
  case kDeviceROCm:
    return wrap(handle<kDeviceROCm>);
  default:
    throw nb::value_error("expects DLPack's type of a CPU, CUDA or ROCm");
  }
}

void attune::python::bindJax(nb::module_ &scope) {
  nb::class_<XLACall>(scope, "XLACall")
      .def_ro("text", &XLACall::text)
      .def_ro("operands", &XLACall::operands)
      .def_ro("results", &XLACall::results)
      .def_prop_ro("stream",
                   [](const XLACall &call) {
                     return reinterpret_cast<uintptr_t>(call.stream);
                   })
      .def("allocate", &XLACall::allocate, nb::arg("num_bytes"),
           "Bytes of the device, which XLA takes back when the call ends.")
      .def("learn", &XLACall::learn, nb::arg("places"), nb::arg("written"),
           nb::arg("tensors"), nb::arg("kernel"),
           "Whether calls like this are made without Python from now on.");
  scope.def("xla_handler", getHandler, nb::arg("device_type"),
            "What XLA calls, for a platform of this device type of DLPack.");
}
