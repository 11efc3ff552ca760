// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiles, verifies and times programs. No candidate is timed before its
// results were compared with those of the payload without a script.

#include "attune/Tuning/ProgramHandler.h"
#include "attune/InitAllDialects.h"
#include "attune/InitAllPasses.h"
#include "attune/Tuning/DeviceLock.h"
#include "attune/Tuning/ErrorText.h"
#include "attune/Tuning/ProgramVerifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/Base64.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Signals.h"
#include <chrono>

using namespace mlir;
using namespace attune;
using namespace attune::tuning;
namespace json = llvm::json;

void tuning::registerPassesOnce() {
  static bool registered = (registerAllPasses(), true);
  (void)registered;
}

static llvm::Expected<OpPassManager> parsePipeline(llvm::StringRef pipeline) {
  registerPassesOnce();
  std::string message;
  llvm::raw_string_ostream os(message);
  FailureOr<OpPassManager> parsed = parsePassPipeline(pipeline, os);
  if (failed(parsed))
    return llvm::createStringError(llvm::StringRef(message).trim());
  if (parsed->getOpAnchorName() != ModuleOp::getOperationName() &&
      parsed->getOpAnchorName() != OpPassManager::getAnyOpAnchorName())
    return llvm::createStringError("expects 'builtin.module(...)', but got '" +
                                   parsed->getOpAnchorName() + "(...)'");
  return std::move(*parsed);
}

llvm::Error tuning::checkPipeline(MLIRContext *context, llvm::StringRef option,
                                  llvm::StringRef pipeline) {
  ErrorText errors(context);
  llvm::Expected<OpPassManager> parsed = parsePipeline(pipeline);
  if (!parsed)
    return llvm::createStringError(
        "cannot read " + option + ": " +
        (errors.get().empty() ? "" : errors.get() + "; ") +
        llvm::toString(parsed.takeError()));
  bool interprets = llvm::any_of(*parsed, [](Pass &pass) {
    return pass.getArgument() == "transform-interpreter";
  });
  if (interprets)
    return llvm::createStringError(
        "expects " + option +
        " without transform-interpreter, for the script is applied before it");
  return llvm::Error::success();
}

/// Lowers a module, which gets a message where that fails.
static llvm::Expected<HostObject> lower(ModuleOp module,
                                        llvm::StringRef pipeline,
                                        llvm::StringRef entry,
                                        const ErrorText &errors) {
  llvm::Expected<OpPassManager> parsed = parsePipeline(pipeline);
  if (!parsed)
    return parsed.takeError();
  PassManager manager(module.getContext());
  static_cast<OpPassManager &>(manager) = std::move(*parsed);
  if (failed(manager.run(module)))
    return llvm::createStringError(errors.get().empty()
                                       ? "the pipeline failed without a message"
                                       : errors.get());
  return compileForHost(module, entry);
}

json::Value tuning::compileProgram(CandidateRequest &candidate) {
  const ProgramRecipe &recipe = *candidate.getRecipe();
  llvm::Expected<HostObject> object =
      lower(candidate.getModule(), recipe.pipeline, recipe.entry,
            candidate.getErrors());
  if (!object)
    return json::Object{
        {"status", tuning::toString(Status::CompileError)},
        {"message", json::fixUTF8(llvm::toString(object.takeError()))}};
  return json::Object{
      {"status", tuning::toString(Status::Ok)},
      {"hash", makeProblemKey(object->bytes)},
      {"binary",
       json::Object{{"object", llvm::encodeBase64(object->bytes)},
                    {"results_are_arguments", object->resultsAreArguments}}}};
}

namespace {
class ProgramWorker {
public:
  explicit ProgramWorker(std::string path) : path(std::move(path)) {}

  llvm::Expected<json::Value> start();
  json::Value handle(const json::Value &request);

private:
  /// A class of inputs, and what the reference makes of it.
  struct Inputs {
    ProgramInputs kind;
    std::vector<Tensor> values;
    std::unique_ptr<ProgramVerifier> verifier;
  };

  llvm::Expected<std::vector<Tensor>> run(HostCall &call,
                                          const std::vector<Tensor> &inputs);
  /// Null where results are right.
  json::Value verify(HostCall &call);
  json::Value prove(HostCall &call, int64_t runs);
  json::Value measure(HostCall &call, std::optional<double> stopAboveNs);
  json::Value fail(Status status, llvm::StringRef message) const;

  std::string path;
  ProgramRecipe recipe;
  HostSignature signature;
  std::vector<Inputs> inputs;
};
} // namespace

llvm::Expected<json::Value> ProgramWorker::start() {
  // A candidate that crashes is no bug of the compiler, and says nothing by its
  // stack.
  llvm::sys::unregisterHandlers();
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                          /*RequiresNullTerminator=*/false,
                                          /*IsVolatile=*/true);
  if (!file)
    return llvm::createStringError("cannot read the problem");
  std::optional<ProgramRecipe> read =
      ProgramRecipe::parse((*file)->getBuffer());
  if (!read)
    return llvm::createStringError("expects a recipe at the problem's head");
  recipe = std::move(*read);

  DialectRegistry registry;
  registerAllDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  ErrorText errors(&context);
  auto module =
      parseSourceString<ModuleOp>((*file)->getBuffer(), ParserConfig(&context));
  if (!module)
    return llvm::createStringError("cannot read the problem: " + errors.get());
  OwningOpRef<ModuleOp> payload = copyPayload(*module);
  auto function = payload->lookupSymbol<func::FuncOp>(recipe.entry);
  FailureOr<HostSignature> found = HostSignature::get(function);
  if (failed(found))
    return llvm::createStringError(errors.get());
  signature = std::move(*found);
  uint64_t reduction = countReduction(*payload, signature);

  requestHostInterface(function);
  auto cannot = [](llvm::Error error) {
    return llvm::createStringError(
        "cannot compute the reference, which is the input without the script "
        "after --reference-pipeline: " +
        llvm::toString(std::move(error)));
  };
  llvm::Expected<HostObject> object =
      lower(*payload, recipe.reference, recipe.entry, errors);
  if (!object)
    return cannot(object.takeError());
  auto code = HostCode::load(*object, recipe.libraries);
  if (!code)
    return cannot(code.takeError());
  HostCall call(signature, **code);
  for (ProgramInputs kind : {ProgramInputs::Normal, ProgramInputs::Exact}) {
    Inputs made{kind, makeInputs(signature, kind, reduction), nullptr};
    auto results = run(call, made.values);
    if (!results)
      return cannot(results.takeError());
    made.verifier =
        std::make_unique<ProgramVerifier>(std::move(*results), kind, reduction);
    inputs.push_back(std::move(made));
  }
  return json::Object();
}

llvm::Expected<std::vector<Tensor>>
ProgramWorker::run(HostCall &call, const std::vector<Tensor> &values) {
  call.setInputs(values, /*poison=*/true);
  call.run();
  auto results = call.readResults();
  call.release();
  return results;
}

json::Value ProgramWorker::fail(Status status, llvm::StringRef message) const {
  return json::Object{{"status", tuning::toString(status)},
                      {"message", json::fixUTF8(message)},
                      {"retire", true}};
}

json::Value ProgramWorker::verify(HostCall &call) {
  for (const Inputs &given : inputs) {
    auto results = run(call, given.values);
    if (!results)
      return fail(Status::RunError, llvm::toString(results.takeError()));
    if (std::string wrong = given.verifier->findError(*results); !wrong.empty())
      return fail(Status::WrongResult,
                  wrong + " (" + toString(given.kind).str() + " inputs)");
  }
  return nullptr;
}

json::Value ProgramWorker::prove(HostCall &call, int64_t runs) {
  const std::vector<Tensor> &values = inputs.front().values;
  std::vector<Tensor> first;
  for (int64_t i = 0; i < runs; ++i) {
    auto results = run(call, values);
    if (!results)
      return fail(Status::RunError, llvm::toString(results.takeError()));
    if (i == 0)
      first = *results;
    for (auto [a, b] : llvm::zip_equal(first, *results))
      if (a.bytes != b.bytes)
        return fail(Status::WrongResult,
                    "expects the same bits of each run, but got others");
  }
  return json::Object{{"status", tuning::toString(Status::Ok)}};
}

json::Value ProgramWorker::measure(HostCall &call,
                                   std::optional<double> stopAboveNs) {
  using Clock = std::chrono::steady_clock;
  // Nobody waits for minutes to know a program's time to a thousandth.
  constexpr double mostNs = 2e9;
  constexpr size_t fewest = 5, most = 30, warmUps = 2;
  std::vector<double> samples;
  double total = 0;
  for (size_t i = 0; i < warmUps + most; ++i) {
    call.setInputs(inputs.front().values, /*poison=*/false);
    Clock::time_point start = Clock::now();
    call.run();
    double time =
        std::chrono::duration<double, std::nano>(Clock::now() - start).count();
    call.release();
    // Where a run takes long, none is wasted.
    total += time;
    if (i < warmUps && total < mostNs / fewest)
      continue;
    samples.push_back(std::max(time, 1.0));
    bool isEnough = samples.size() >= fewest;
    if (isEnough && (total > mostNs ||
                     (stopAboveNs && summarize(samples).median > *stopAboveNs)))
      break;
  }
  // What is right once may be wrong after many runs.
  if (json::Value wrong = verify(call); wrong.getAsObject())
    return wrong;
  return json::Object{{"status", tuning::toString(Status::Ok)},
                      {"samples", json::Array(samples)}};
}

json::Value ProgramWorker::handle(const json::Value &request) {
  const json::Object *object = request.getAsObject();
  const json::Object *binary = object ? object->getObject("binary") : nullptr;
  std::vector<char> bytes;
  if (!binary || llvm::errorToBool(llvm::decodeBase64(
                     binary->getString("object").value_or("!"), bytes)))
    return fail(Status::RunError, "expects a binary in a request");
  HostObject compiled{
      std::string(bytes.begin(), bytes.end()),
      binary->getBoolean("results_are_arguments").value_or(false)};
  auto code = HostCode::load(compiled, recipe.libraries);
  if (!code)
    return fail(Status::RunError,
                "cannot load the program; what it calls may be in a library "
                "that --shared-libs does not name: " +
                    llvm::toString(code.takeError()));
  HostCall call(signature, **code);
  if (std::optional<int64_t> runs = object->getInteger("prove")) {
    if (json::Value wrong = verify(call); wrong.getAsObject())
      return wrong;
    return prove(call, *runs);
  }
  if (json::Value wrong = verify(call); wrong.getAsObject())
    return wrong;
  return measure(call, object->getNumber("stop_above_ns"));
}

WorkerHandlers tuning::makeProgramHandlers(std::string problem) {
  auto worker = std::make_shared<ProgramWorker>(std::move(problem));
  WorkerHandlers handlers;
  handlers.start = [worker] { return worker->start(); };
  handlers.handle = [worker](const json::Value &request) {
    return worker->handle(request);
  };
  return takeTurns(std::move(handlers), "cpu", 0);
}
