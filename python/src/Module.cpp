// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Modules of MLIR. Each has a context of its own, so that modules in different
// threads know nothing of each other. Nothing here raises what a user did
// wrong: it is returned as text, one `file:line:column: error: text` a line.

#include "IR.h"
#include "attune-c/Attn.h"
#include "attune-c/Compile.h"
#include "attune-c/Dialects.h"
#include "attune-c/HostCode.h"
#include "attune-c/Schedule.h"
#include "mlir-c/BuiltinTypes.h"
#include "mlir-c/Pass.h"
#include <memory>
#include <mutex>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>
#include <optional>
#include <tuple>
#include <vector>

namespace nb = nanobind;
using namespace attune::python;

namespace {
/// Name of the entry, image, whether that is assembly, manifest.
using CompiledKernel = std::tuple<std::string, nb::bytes, bool, std::string>;

/// The tunables of a schedule with their values, the time that is predicted,
/// and each legal schedule that differs in one tunable: that, its value, time.
using Costs =
    std::tuple<std::vector<std::pair<std::string, std::string>>, double,
               std::vector<std::tuple<std::string, std::string, double>>>;

/// Address, sizes, and strides in elements.
using MemRef =
    std::tuple<uintptr_t, std::vector<int64_t>, std::vector<int64_t>>;

/// A function as code for the CPU.
class HostCode {
public:
  explicit HostCode(AttuneHostCode code) : code(code) {}
  ~HostCode() { attuneHostCodeDestroy(code); }
  HostCode(const HostCode &) = delete;
  HostCode &operator=(const HostCode &) = delete;

  /// Calls it with memrefs: each is its address, sizes and strides.
  void call(const std::vector<MemRef> &memrefs) const;

private:
  AttuneHostCode code;
};

class Module {
public:
  explicit Module(NodeRef node) : node(std::move(node)) { get(); }

  const NodeRef &getNode() const { return node; }
  std::string print(bool generic, bool locations) const;
  nb::bytes getBytecode() const;
  std::tuple<bool, std::string> run(const std::string &pipeline);
  std::tuple<bool, std::string, std::vector<CompiledKernel>,
             std::vector<std::string>>
  compile(const std::string &chip, const std::string &format,
          const std::string &assembler, unsigned sms,
          const std::vector<std::string> &tuningSpecs);
  /// Null, and what was said, where the module is not in LLVM dialect. It is
  /// changed.
  std::pair<std::unique_ptr<HostCode>, std::string>
  compileForHost(const std::string &function);
  /// No tunables, and what was said, where there are no costs.
  std::pair<Costs, std::string>
  getScheduleCosts(const std::vector<std::pair<std::string, int64_t>> &sizes);

private:
  /// Raises ValueError where it was erased, or is another operation.
  MlirModule get() const {
    MlirModule module = mlirModuleFromOperation(node->get());
    if (mlirModuleIsNull(module))
      throw nb::value_error(
          "expects a 'builtin.module', but got another operation");
    return module;
  }
  /// What changes a module erases operations without asking.
  MlirModule getUnheld() const {
    if (node->context().nodes.size() != 1)
      throw nb::value_error(
          "expects a module of whose operations none is held");
    return get();
  }
  Context &context() const { return node->context(); }

  NodeRef node;
};

using MadeModule = std::pair<std::unique_ptr<Module>, std::string>;
} // namespace

/// The module, if there is one, and what was said about it.
static MadeModule finish(const ContextRef &context, MlirModule module) {
  std::string said = context->takeDiagnostics();
  if (mlirModuleIsNull(module))
    return {nullptr, said};
  NodeRef node = addTop(context, mlirModuleGetOperation(module));
  return {std::make_unique<Module>(node), said};
}

static MadeModule parse(nb::bytes source, const std::string &name,
                        std::optional<ContextRef> into) {
  std::string text(source.c_str(), source.size());
  ContextRef context = into ? *into : std::make_shared<Context>();
  MlirModule module;
  // Whoever has the context does not wait for the interpreter.
  std::unique_lock<std::mutex> lock(context->mutex, std::defer_lock);
  {
    nb::gil_scoped_release released;
    lock.lock();
    module = attuneModuleParse(context->get(), toRef(text), toRef(name));
  }
  return finish(context, module);
}

static MadeModule makeAttention(
    std::tuple<int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t>
        sizes,
    bool isBF16, const std::string &order, bool causal, bool topLeft,
    std::optional<std::pair<int64_t, int64_t>> window,
    std::optional<float> softcap, std::optional<float> scale, bool alibi,
    bool sinks, bool lse, bool strided, std::optional<float> dropout) {
  auto context = std::make_shared<Context>();
  auto sizeOrDynamic = [](int64_t size) {
    return size < 0 ? mlirShapedTypeGetDynamicSize() : size;
  };
  AttuneAttentionProblem problem = {};
  problem.batch = sizeOrDynamic(std::get<0>(sizes));
  problem.headsQ = sizeOrDynamic(std::get<1>(sizes));
  problem.headsKV = sizeOrDynamic(std::get<2>(sizes));
  problem.seqQ = sizeOrDynamic(std::get<3>(sizes));
  problem.seqK = sizeOrDynamic(std::get<4>(sizes));
  problem.headDimQK = std::get<5>(sizes);
  problem.headDimV = std::get<6>(sizes);
  problem.element = isBF16 ? AttuneDataTypeBF16 : AttuneDataTypeF16;
  problem.order = toRef(order);
  problem.isCausal = causal;
  problem.alignment =
      topLeft ? AttuneAlignmentTopLeft : AttuneAlignmentBottomRight;
  problem.hasWindow = window.has_value();
  if (window)
    std::tie(problem.windowLeft, problem.windowRight) = *window;
  problem.hasSoftcap = softcap.has_value();
  problem.softcap = softcap.value_or(0);
  problem.hasScale = scale.has_value();
  problem.scale = scale.value_or(0);
  problem.hasAlibi = alibi;
  problem.hasSinks = sinks;
  problem.hasLse = lse;
  problem.isStrided = strided;
  problem.hasDropout = dropout.has_value();
  problem.dropout = dropout.value_or(0);
  MlirModule module;
  {
    nb::gil_scoped_release released;
    module = attuneAttentionCreateModule(context->get(), &problem);
  }
  return finish(context, module);
}

std::string Module::print(bool generic, bool locations) const {
  nb::gil_scoped_release released;
  std::lock_guard<std::mutex> lock(context().mutex);
  return printOperation(mlirModuleGetOperation(get()), generic, locations) +
         "\n";
}

nb::bytes Module::getBytecode() const {
  std::string bytes;
  {
    nb::gil_scoped_release released;
    std::lock_guard<std::mutex> lock(context().mutex);
    mlirOperationWriteBytecode(mlirModuleGetOperation(get()), append, &bytes);
  }
  return toBytes(bytes);
}

std::tuple<bool, std::string> Module::run(const std::string &pipeline) {
  MlirModule module = getUnheld();
  nb::gil_scoped_release released;
  static std::once_flag registered;
  std::call_once(registered, attuneRegisterAllPasses);
  std::lock_guard<std::mutex> lock(context().mutex);
  std::string errors;
  MlirPassManager manager = mlirPassManagerCreate(context().get());
  bool ok = mlirLogicalResultIsSuccess(
      mlirParsePassPipeline(mlirPassManagerGetAsOpPassManager(manager),
                            toRef(pipeline), append, &errors));
  if (!ok)
    errors = "error: " + errors + "\n";
  else
    ok = mlirLogicalResultIsSuccess(
        mlirPassManagerRunOnOp(manager, mlirModuleGetOperation(module)));
  mlirPassManagerDestroy(manager);
  return {ok, errors + context().takeDiagnostics()};
}

std::tuple<bool, std::string, std::vector<CompiledKernel>,
           std::vector<std::string>>
Module::compile(const std::string &chip, const std::string &format,
                const std::string &assembler, unsigned sms,
                const std::vector<std::string> &tuningSpecs) {
  std::vector<MlirStringRef> specs;
  for (const std::string &spec : tuningSpecs)
    specs.push_back(toRef(spec));
  AttuneCompileOptions options = {};
  options.chip = toRef(chip);
  options.format = toRef(format);
  options.assembler = toRef(assembler);
  options.sms = sms;
  options.numTuningSpecs = static_cast<intptr_t>(specs.size());
  options.tuningSpecs = specs.data();
  AttuneCompileResult result;
  {
    nb::gil_scoped_release released;
    std::lock_guard<std::mutex> lock(context().mutex);
    result = attuneCompile(get(), &options);
  }
  std::vector<CompiledKernel> kernels;
  for (intptr_t i = 0; i < attuneCompileResultGetNumKernels(result); ++i) {
    MlirStringRef image = attuneCompileResultGetKernelImage(result, i);
    kernels.emplace_back(
        toString(attuneCompileResultGetKernelName(result, i)),
        toBytes({image.data, image.length}),
        attuneCompileResultIsKernelAssembly(result, i),
        toString(attuneCompileResultGetKernelManifest(result, i)));
  }
  std::vector<std::string> sequences;
  for (intptr_t i = 0; i < attuneCompileResultGetNumSequences(result); ++i)
    sequences.push_back(toString(attuneCompileResultGetSequence(result, i)));
  bool ok = attuneCompileResultIsSuccess(result);
  std::string said = toString(attuneCompileResultGetDiagnostics(result));
  attuneCompileResultDestroy(result);
  return {ok, said, std::move(kernels), std::move(sequences)};
}

void HostCode::call(const std::vector<MemRef> &memrefs) const {
  // A descriptor is the address twice, an offset, sizes, strides.
  std::vector<std::vector<int64_t>> descriptors;
  for (const auto &[address, sizes, strides] : memrefs) {
    auto pointer = static_cast<int64_t>(address);
    std::vector<int64_t> words = {pointer, pointer, 0};
    words.insert(words.end(), sizes.begin(), sizes.end());
    words.insert(words.end(), strides.begin(), strides.end());
    descriptors.push_back(std::move(words));
  }
  std::vector<void *> pointers, arguments;
  for (std::vector<int64_t> &words : descriptors)
    pointers.push_back(words.data());
  for (void *&pointer : pointers)
    arguments.push_back(&pointer);
  nb::gil_scoped_release released;
  attuneHostCodeCall(code, arguments.data());
}

std::pair<std::unique_ptr<HostCode>, std::string>
Module::compileForHost(const std::string &function) {
  MlirModule module = getUnheld();
  nb::gil_scoped_release released;
  std::lock_guard<std::mutex> lock(context().mutex);
  AttuneHostCode code = attuneHostCodeCompile(module, toRef(function));
  if (!code.ptr)
    return {nullptr, context().takeDiagnostics()};
  return {std::make_unique<HostCode>(code), ""};
}

static Costs getCosts(AttuneCostModel model) {
  MlirAttribute schedule = attuneCostModelGetSchedule(model);
  if (mlirAttributeIsNull(schedule))
    return {};
  Costs costs;
  auto &[values, predicted, neighbours] = costs;
  predicted = attuneCostModelPredict(model, schedule, -1, -1);
  intptr_t set = attuneScheduleAttrGetKnobSet(schedule);
  for (intptr_t knob = 0; knob < attuneKnobSetGetNumKnobs(set); ++knob) {
    MlirStringRef name = attuneKnobSetGetKnob(set, knob);
    std::string value;
    attuneScheduleAttrPrintValue(schedule, knob, append, &value);
    values.emplace_back(toString(name), value);
    for (intptr_t i = 0; i < attuneKnobSetGetNumValues(set, knob); ++i) {
      std::string other;
      attuneKnobSetPrintValue(set, knob, i, append, &other);
      MlirAttribute changed =
          attuneScheduleAttrWith(schedule, name, toRef(other));
      if (other != value && attuneCostModelIsLegal(model, changed))
        neighbours.emplace_back(toString(name), other,
                                attuneCostModelPredict(model, changed, -1, -1));
    }
  }
  return costs;
}

std::pair<Costs, std::string> Module::getScheduleCosts(
    const std::vector<std::pair<std::string, int64_t>> &sizes) {
  nb::gil_scoped_release released;
  std::lock_guard<std::mutex> lock(context().mutex);
  std::vector<AttuneSize> known;
  for (const auto &[name, value] : sizes)
    known.push_back({toRef(name), value});
  AttuneCostModel model = attuneCostModelCreate(
      get(), static_cast<intptr_t>(known.size()), known.data());
  if (!model.ptr)
    return {Costs(), context().takeDiagnostics()};
  Costs costs = getCosts(model);
  attuneCostModelDestroy(model);
  return {costs, "error: expects an op with a schedule\n"};
}

void attune::python::bindModules(nb::module_ &scope) {
  nb::class_<HostCode>(scope, "HostCode")
      .def("call", &HostCode::call, nb::arg("memrefs"),
           "Memrefs are addresses, sizes and strides in elements.");
  nb::class_<Module>(scope, "Module")
      .def(
          "__init__",
          [](Module *self, const Operation &op) { new (self) Module(op.node); },
          nb::arg("operation"))
      .def_prop_ro("operation",
                   [](const Module &self) { return Operation{self.getNode()}; })
      .def("compile_for_host", &Module::compileForHost, nb::arg("function"),
           "The code, or None and what was said.")
      .def("print", &Module::print, nb::arg("generic"), nb::arg("locations"))
      .def("bytecode", &Module::getBytecode)
      .def("run", &Module::run, nb::arg("pipeline"))
      .def("compile", &Module::compile, nb::arg("chip"), nb::arg("format"),
           nb::arg("assembler"), nb::arg("sms"), nb::arg("tuning_specs"))
      .def("schedule_costs", &Module::getScheduleCosts, nb::arg("sizes"),
           "Tunables with their values, nanoseconds (negative where there is "
           "no model), legal schedules that differ in one value; and what was "
           "said where there are none.");
  scope.def("parse", parse, nb::arg("source"), nb::arg("name"),
            nb::arg("context").none() = nb::none());
  scope.def("attention_module", makeAttention, nb::arg("sizes"),
            nb::arg("is_bf16"), nb::arg("order"), nb::arg("causal"),
            nb::arg("top_left"), nb::arg("window").none(),
            nb::arg("softcap").none(), nb::arg("scale").none(),
            nb::arg("alibi"), nb::arg("sinks"), nb::arg("lse"),
            nb::arg("strided"), nb::arg("dropout").none(),
            "Sizes: batch, heads of query, heads of key, length of query, of "
            "key, head dimension of key, of value; -1 is dynamic.");
}
