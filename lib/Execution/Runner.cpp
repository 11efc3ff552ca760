// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs a program and its reference on the same inputs. Results are read back
// and freed before the next program runs, so that a device holds the tensors of
// one at a time.

#include "attune/Execution/Runner.h"
#include "attune/Dialect/Attn/Transforms/Transforms.h"
#include "attune/Execution/DerivedInputs.h"
#include "attune/Execution/HostReference.h"
#include "attune/Execution/Stage.h"
#include "attune/Runtime/Npy.h"
#include "attune/Schedule/Transforms/Passes.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Parallel.h"
#include <cstring>
#include <unistd.h>

using namespace mlir;
using namespace attune;

std::string ResultCheck::explain() const {
  return llvm::formatv("{0}: {1} (error {2:e3}, allowed {3:e3}, element {4})",
                       name, comparison.reason, comparison.maxError,
                       comparison.tolerance, comparison.worst);
}

bool attune::isCompiled(ModuleOp module) {
  return !module.getOps<gpu::BinaryOp>().empty() ||
         !module.getOps<gpu::GPUModuleOp>().empty();
}

SmallVector<func::FuncOp> attune::getSourceFunctions(ModuleOp module) {
  ModuleOp holder = module;
  for (auto nested : module.getOps<ModuleOp>())
    if (nested->hasAttr(kSourceAttrName))
      holder = nested;
  SmallVector<func::FuncOp> functions;
  for (auto function : holder.getOps<func::FuncOp>())
    if (hasTunableOp(function))
      functions.push_back(function);
  return functions;
}

FailureOr<std::unique_ptr<Runner>>
Runner::create(func::FuncOp source, Device &device, const ProblemSizes &sizes,
               uint64_t seed, ReferencePlace place, InputFiles files,
               StringRef inputClass,
               std::shared_ptr<CompiledReferences> compiled) {
  if (!compiled)
    compiled =
        std::make_shared<CompiledReferences>(source, device.getInfo().chip);
  std::unique_ptr<Runner> runner(new Runner(source, device, seed, place,
                                            std::move(files), inputClass,
                                            std::move(compiled)));
  FailureOr<Problem> problem = analyzeProblem(source, sizes);
  if (failed(problem))
    return failure();
  runner->problem = std::move(*problem);
  SmallVector<StringRef> classes = getInputClasses(source);
  if (!llvm::is_contained(classes, inputClass))
    return source.emitError()
           << "expects an input class of " << llvm::join(classes, ", ")
           << ", but got '" << inputClass << "'";
  if (failed(runner->makeInputs()))
    return failure();
  return runner;
}

/// The first element of a tensor, as an attribute of `type`.
static Attribute toAttribute(const Tensor &tensor, Type type) {
  double value = tensor.load(0);
  if (isa<FloatType>(type))
    return FloatAttr::get(type, value);
  return IntegerAttr::get(type, static_cast<int64_t>(value));
}

FailureOr<std::vector<Tensor>> Runner::makeArguments() {
  std::vector<Tensor> tensors(problem.arguments.size());
  for (auto [index, argument] : llvm::enumerate(problem.arguments))
    if (!files.count(index))
      tensors[index] = makeInput(argument, index, seed, inputClass);
  for (const auto &[index, path] : files) {
    auto tensor = readNpy(path, problem.arguments[index].shape);
    if (!tensor)
      return source.emitError() << "argument " << index << ": "
                                << llvm::toString(tensor.takeError());
    tensors[index] = std::move(*tensor);
  }
  for (const auto &[index, tensor] : derived)
    tensors[index] = tensor;
  return tensors;
}

LogicalResult Runner::checkMemory() {
  int64_t needed = 0;
  for (const ProblemArgument &argument : problem.arguments)
    needed += argument.shape.getSpanBytes();
  int64_t memory = int64_t(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  if (needed <= memory)
    return success();
  return source.emitError()
         << "expects arguments that fit into the " << (memory >> 20)
         << " MiB of this machine's memory, but they have " << (needed >> 20)
         << " MiB";
}

LogicalResult Runner::makeInputs() {
  for (const auto &[index, path] : files)
    if (index >= problem.arguments.size())
      return source.emitError()
             << "expects files for arguments 0 to "
             << static_cast<int64_t>(problem.arguments.size()) - 1
             << ", but got '" << path << "' for argument " << index;
  for (auto [index, argument] : llvm::enumerate(problem.arguments)) {
    if (!argument.isTensor) {
      Type type = source.getArgumentTypes()[index];
      std::string name;
      llvm::raw_string_ostream(name) << type;
      std::optional<DataType> dataType = parseDataType(name);
      if (!dataType)
        return source.emitError()
               << "expects scalars of known types to run, but got " << type;
      argument.shape = TensorShape::contiguous(*dataType, {});
    }
    if (auto error = argument.shape.check())
      return source.emitError() << llvm::toString(std::move(error));
  }
  if (failed(checkMemory()))
    return failure();
  auto tensors = makeArguments();
  if (failed(tensors))
    return failure();
  for (auto [index, value] : llvm::enumerate(*tensors)) {
    if (!problem.arguments[index].isTensor) {
      inputs.push_back(
          {nullptr, toAttribute(value, source.getArgumentTypes()[index])});
      continue;
    }
    auto tensor = DeviceTensor::create(device, value);
    if (!tensor)
      return source.emitError() << llvm::toString(tensor.takeError());
    inputs.push_back({std::move(*tensor), {}});
  }
  return deriveArguments();
}

LogicalResult Runner::deriveArguments() {
  DerivedInputs derivation = deriveInputs(
      source, [&](unsigned index) { return files.count(index) != 0; });
  if (!derivation.function)
    return success();
  CompiledReferences compiled(*derivation.function, device.getInfo().chip);
  auto values =
      runReference(*derivation.function, compiled, ReferenceRun::Exact);
  if (failed(values))
    return failure();
  for (auto [index, elements] :
       llvm::zip_equal(derivation.arguments, *values)) {
    Tensor tensor(problem.arguments[index].shape);
    size_t position = 0;
    tensor.shape.forEachOffset([&, &elements = elements](int64_t offset) {
      tensor.store(offset, elements[position++]);
    });
    auto input = DeviceTensor::create(device, tensor);
    if (!input)
      return source.emitError() << llvm::toString(input.takeError());
    inputs[index].tensor = std::move(*input);
    derived.emplace(index, std::move(tensor));
  }
  return success();
}

FailureOr<HostRun> Runner::runFunction(ModuleOp compiled,
                                       HostProgram &program) {
  auto function = compiled.lookupSymbol<func::FuncOp>(source.getName());
  if (!function)
    return compiled.emitError()
           << "expects a function '" << source.getName() << "'";
  return program.run(function, inputs);
}

FailureOr<std::vector<Tensor>> Runner::runOnTensors(ModuleOp module) {
  auto function = module.lookupSymbol<func::FuncOp>(source.getName());
  if (!function)
    return module.emitError()
           << "expects a function '" << source.getName() << "'";
  auto arguments = makeArguments();
  if (failed(arguments))
    return failure();
  auto values = runReferenceOnHost(function, *arguments, ReferenceRun::Exact);
  if (failed(values))
    return failure();
  std::vector<Tensor> tensors;
  for (ArrayRef<float> elements : *values) {
    Tensor &tensor = tensors.emplace_back(TensorShape::contiguous(
        DataType::F32, static_cast<int64_t>(elements.size())));
    for (auto [offset, element] : llvm::enumerate(elements))
      tensor.store(offset, element);
  }
  return tensors;
}

FailureOr<Runner::Started> Runner::start(ModuleOp compiled) {
  Started started;
  if (device.getKernelFormat() == KernelFormat::IR &&
      getStage(compiled) != Stage::LLVM) {
    auto lowered = lowerForHost(compiled);
    if (failed(lowered))
      return failure();
    started.lowered = std::move(*lowered);
    compiled = *started.lowered;
  }
  auto program = HostProgram::load(compiled, device);
  if (failed(program))
    return failure();
  started.program = std::move(*program);
  FailureOr<HostRun> run = runFunction(compiled, *started.program);
  if (failed(run))
    return failure();
  started.run = std::move(*run);
  return started;
}

FailureOr<std::vector<Tensor>> Runner::runAndRead(ModuleOp compiled) {
  if (device.getKernelFormat() == KernelFormat::IR &&
      getStage(compiled) == Stage::Tensors)
    return runOnTensors(compiled);
  FailureOr<Started> started = start(compiled);
  if (failed(started))
    return failure();
  return read(started->run);
}

FailureOr<std::vector<Tensor>> Runner::read(const HostRun &run) {
  std::vector<Tensor> tensors;
  for (const Datum &result : run.getResults()) {
    if (!result.tensor)
      return source.emitError() << "expects tensors as results to run";
    auto tensor = result.tensor->read();
    if (!tensor)
      return source.emitError() << llvm::toString(tensor.takeError());
    tensors.push_back(std::move(*tensor));
  }
  return tensors;
}

FailureOr<std::vector<std::vector<float>>>
Runner::runReference(func::FuncOp function, CompiledReferences &compiled,
                     ReferenceRun run) {
  if (place == ReferencePlace::Device) {
    FailureOr<ModuleOp> module = compiled.get(run);
    if (failed(module))
      return failure();
    auto tensors = runAndRead(*module);
    if (failed(tensors))
      return failure();
    std::vector<std::vector<float>> values;
    for (const Tensor &tensor : *tensors)
      values.push_back(tensor.toFloats());
    return values;
  }
  auto tensors = makeArguments();
  if (failed(tensors))
    return failure();
  return runReferenceOnHost(function, *tensors, run);
}

/// That of the op whose result it is, which may have been moved.
static ResultCheckRule getCheckRule(func::FuncOp source, Value returned) {
  std::optional<ResultCheckRule> rule;
  auto find = [&](Value value) {
    source.walk([&](TunableOpInterface op) {
      rule = op.getCheckRule(value);
      return rule ? WalkResult::interrupt() : WalkResult::advance();
    });
    return rule.has_value();
  };
  for (Value value = returned; !find(value);) {
    Operation *definition = value.getDefiningOp();
    if (!definition || !attn::movesElements(definition))
      return getRoundingRule(returned.getType());
    value = definition->getOperand(0);
  }
  return *rule;
}

LogicalResult Runner::computeReference() {
  if (!references.empty())
    return success();
  auto exact = runReference(source, *compiledReferences, ReferenceRun::Exact);
  if (failed(exact))
    return failure();
  auto bound = runReference(source, *compiledReferences, ReferenceRun::Bound);
  if (failed(bound))
    return failure();
  Operation *terminator = source.front().getTerminator();
  for (auto [index, values] : llvm::enumerate(*exact)) {
    Value returned = terminator->getOperand(index);
    ResultCheckRule rule = getCheckRule(source, returned);
    std::string name = "result " + std::to_string(index);
    if (!rule.label.empty())
      name += " (" + rule.label.str() + ")";
    references.push_back(
        {std::move(name),
         rule.makeReference(std::move(values), (*bound)[index]),
         rule.packedDim});
    if (tolerance)
      references.back().reference.tolerance = *tolerance;
  }
  return success();
}

FailureOr<std::vector<ResultCheck>> Runner::verify(ModuleOp compiled) {
  // The candidate runs first: what it leaves behind cannot be the reference's.
  auto read = runAndRead(compiled);
  if (failed(read) || failed(computeReference()))
    return failure();
  results = std::move(*read);
  if (results.size() != references.size())
    return source.emitError() << "expects " << references.size()
                              << " results, but got " << results.size();
  std::vector<ResultCheck> checks;
  for (auto [result, expected] : llvm::zip_equal(results, references)) {
    // What computes on tensors has them unpacked.
    bool isPacked = expected.packedDim && result.shape.type == DataType::I8;
    checks.push_back(
        {expected.name,
         compare(isPacked ? result.unpack(*expected.packedDim) : result,
                 expected.reference)});
  }
  return checks;
}

/// Whether `bytes` are those of the tensor, gaps included. A piece on each
/// SM.
static bool areEqual(ArrayRef<char> bytes, const Tensor &tensor) {
  constexpr size_t kPiece = size_t(1) << 20;
  return llvm::parallelTransformReduce(
             llvm::seq<size_t>(0, llvm::divideCeil(bytes.size(), kPiece)), 0,
             std::plus<int>(), [&](size_t piece) -> int {
               ArrayRef<char> part = bytes.drop_front(piece * kPiece);
               return std::memcmp(part.data(), &tensor.bytes[piece * kPiece],
                                  std::min(kPiece, part.size())) != 0;
             }) == 0;
}

FailureOr<unsigned> Runner::countUnequal(ModuleOp compiled, unsigned launches) {
  FailureOr<Started> started = start(compiled);
  if (failed(started))
    return failure();
  HostRun &run = started->run;
  unsigned unequal = 0;
  // One buffer for all: most of the time would go into fresh pages.
  std::vector<char> bytes;
  for (unsigned launch = 0; launch < launches; ++launch) {
    auto fail = [&](llvm::Error error) {
      return source.emitError() << llvm::toString(std::move(error));
    };
    for (const Datum &result : run.getResults())
      if (auto error = result.tensor->poison())
        return fail(std::move(error));
    if (auto error = run.relaunch(/*computes=*/true))
      return fail(std::move(error));
    bool equal = true;
    for (auto [result, expected] : llvm::zip_equal(run.getResults(), results)) {
      bytes.resize(expected.bytes.size());
      if (auto error =
              device.copyToHost(bytes.data(), result.tensor->getAddress(),
                                static_cast<int64_t>(bytes.size())))
        return fail(std::move(error));
      equal &= areEqual(bytes, expected);
    }
    unequal += !equal;
  }
  // What was written around the results.
  if (failed(read(run)))
    return failure();
  return unequal;
}

llvm::Error Runner::checkInputs() {
  auto expected = makeArguments();
  if (failed(expected))
    return llvm::createStringError("cannot make the arguments once more");
  for (auto [index, input] : llvm::enumerate(inputs)) {
    if (!input.tensor)
      continue;
    auto tensor = input.tensor->read();
    if (!tensor)
      return tensor.takeError();
    const Tensor &original = (*expected)[index];
    auto getWord = [](const Tensor &from, int64_t offset) {
      int64_t width = getBytes(from.shape.type);
      return StringRef(&from.bytes[offset * width], width);
    };
    bool intact = true;
    original.shape.forEachOffset([&](int64_t offset) {
      intact &= getWord(*tensor, offset) == getWord(original, offset);
    });
    if (!intact)
      return llvm::createStringError("a kernel wrote to argument " +
                                     Twine(index));
  }
  return llvm::Error::success();
}

FailureOr<Timing> Runner::time(ModuleOp compiled, BenchmarkOptions options,
                               ModuleOp baseline) {
  FailureOr<Started> started = start(compiled), other = Started();
  if (failed(started))
    return failure();
  auto launchBaseline = [&] { return other->run.relaunch(); };
  if (baseline && options.heater) {
    other = start(baseline);
    if (failed(other))
      return failure();
    options.baseline = launchBaseline;
  }
  auto timing =
      benchmark(device, [&] { return started->run.relaunch(); }, options);
  if (!timing) {
    compiled.emitError() << llvm::toString(timing.takeError());
    return failure();
  }
  Conditions &conditions = timing->conditions;
  if (conditions.energyJoules && problem.work.flops > 0)
    conditions.picojoulesPerFlop =
        *conditions.energyJoules * 1e12 / problem.work.flops;
  return std::move(*timing);
}
