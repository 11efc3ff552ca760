// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads requests.

#include "attune/Tuning/CandidateRequest.h"
#include "attune/Execution/HostCode.h"
#include "attune/Tuning/ProgramHandler.h"
#include "attune/Tuning/ScriptSpace.h"
#include "attune/Tuning/TunableTask.h"
#include "mlir/Parser/Parser.h"

using namespace mlir;
using namespace attune;
using namespace attune::tuning;
namespace json = llvm::json;

CandidateRequest::CandidateRequest(const DialectRegistry &registry)
    : context(registry, MLIRContext::Threading::DISABLED), errors(&context) {}

json::Value CandidateRequest::makeFailure(Status status,
                                          llvm::StringRef message) const {
  return json::Object{
      {"status", toString(status)},
      {"message",
       json::fixUTF8(errors.get().empty() ? message : errors.get())}};
}

std::optional<Point> tuning::readSchedule(const KnobSet &set,
                                          const json::Object *schedule) {
  if (!schedule)
    return std::nullopt;
  return makeSpace(set).fromJSON(*schedule);
}

std::string CandidateRequest::transform(const json::Object &schedule) {
  registerPassesOnce();
  OwningOpRef<ModuleOp> script = copyScript(*module);
  module = copyPayload(*module);
  if (recipe) {
    auto function = module->lookupSymbol<func::FuncOp>(recipe->entry);
    if (!function)
      return "expects a function '" + recipe->entry + "' in the problem";
    requestHostInterface(function);
  }
  FailureOr<ScriptSpace> space = ScriptSpace::create(*script);
  if (failed(space))
    return errors.get();
  std::optional<Point> point = space->getSpace().fromJSON(schedule);
  if (!point)
    return "expects an option for each knob of the script";
  space->select(*point);
  if (failed(applyScript(*module, *script)))
    return errors.get().empty() ? "the script failed without a message"
                                : errors.get();
  return "";
}

std::string CandidateRequest::read(const json::Value &request) {
  const json::Object *object = request.getAsObject();
  std::optional<llvm::StringRef> problem, chipName;
  const json::Object *schedule = nullptr;
  if (object) {
    problem = object->getString("problem");
    chipName = object->getString("chip");
    schedule = object->getObject("schedule");
  }
  if (!problem || !chipName || !schedule)
    return "expects a problem, a chip and a schedule in a request";
  chip = chipName->str();
  recipe = ProgramRecipe::parse(*problem);
  module = parseSourceString<ModuleOp>(*problem, ParserConfig(&context));
  if (!module)
    return errors.get();
  if (findScript(*module))
    return transform(*schedule);
  if (!hasTunableOp(*module))
    return "expects an op that can be tuned in the problem";
  TunableOpInterface op = getIsolatedOp(*module);
  std::optional<Point> point = readSchedule(op.getKnobSet(), schedule);
  if (!point)
    return "expects a value for each knob in the schedule";
  setSchedule(op, *point);
  return "";
}
