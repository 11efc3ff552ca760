// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads requests.

#include "attune/Tuning/CandidateRequest.h"
#include "attune/Tuning/AttentionProblem.h"
#include "mlir/Parser/Parser.h"

using namespace mlir;
using namespace attune;
using namespace attune::tuning;
namespace json = llvm::json;

CandidateRequest::CandidateRequest(const DialectRegistry &registry)
    : context(registry, MLIRContext::Threading::DISABLED),
      handler(&context, [this](Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() == DiagnosticSeverity::Error) {
          errors += (errors.empty() ? "" : "\n") + diagnostic.str();
          for (Diagnostic &note : diagnostic.getNotes())
            errors += "\nnote: " + note.str();
        }
        return success();
      }) {
  context.printOpOnDiagnostic(false);
}

json::Value CandidateRequest::makeFailure(Status status,
                                          llvm::StringRef message) const {
  return json::Object{
      {"status", toString(status)},
      {"message", json::fixUTF8(errors.empty() ? message : errors)}};
}

std::optional<Point> tuning::readSchedule(const json::Object *schedule) {
  if (!schedule)
    return std::nullopt;
  return makeScheduleSpace().fromJSON(*schedule);
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
  std::optional<Point> point = readSchedule(schedule);
  if (!point)
    return "expects a value for each knob in the schedule";
  module = parseSourceString<ModuleOp>(*problem, ParserConfig(&context));
  if (!module)
    return errors;
  module->walk([&](attn::AttentionOp op) { setSchedule(op, *point); });
  chip = chipName->str();
  return "";
}
