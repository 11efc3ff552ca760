// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads scripts, and writes winners back into them.

#include "ScriptTask.h"
#include "WinnerCommand.h"
#include "attune/Tuning/Reproducer.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

using namespace mlir;
using namespace attune::tuning;

llvm::Expected<std::unique_ptr<ScriptTask>>
ScriptTask::create(const TuneFileOptions &options, ModuleOp input) {
  std::unique_ptr<ScriptTask> task(new ScriptTask(options, input.getContext()));
  bool isInInput = static_cast<bool>(findScript(input));
  if (isInInput && !options.script.empty())
    return llvm::createStringError("expects one transform script, but got one "
                                   "in '" +
                                   options.input + "' and one in '" +
                                   options.script + "'");
  std::string name = isInInput ? options.input : options.script;
  if (isInInput)
    task->file = input.clone();
  else if (!options.script.empty())
    task->file = parseSourceFile<ModuleOp>(options.script, task->sources,
                                           ParserConfig(input.getContext()));
  if (!task->file && !options.script.empty())
    return llvm::createStringError("cannot read '" + options.script + "'");
  if (!task->file || !findScript(*task->file))
    return llvm::createStringError(
        "expects a transform.named_sequence @__transform_main in '" +
        (options.script.empty() ? options.input + "' or in --script"
                                : options.script + "'") +
        ", but there is none");
  task->payload = copyPayload(input);
  task->script = copyScript(*task->file);
  FailureOr<ScriptSpace> space = ScriptSpace::create(*task->script);
  if (failed(space))
    return llvm::createStringError("cannot search the script in '" + name +
                                   "'");
  task->space = std::move(*space);
  return task;
}

llvm::Error ScriptTask::complete(Task &task, ModuleOp problem,
                                 std::string head) const {
  OwningOpRef<ModuleOp> bare = copyScript(*script);
  ScriptSpace::unselect(*bare);
  OwningOpRef<ModuleOp> both = problem.clone();
  addScript(*both, *bare);
  if (failed(verify(*both)))
    return llvm::createStringError(
        "expects a script that can stand beside its payload");
  task.text = head + printModule(*both);
  task.key = makeProblemKey(task.text);
  if (!task.kind.empty())
    task.kind = makeProblemKey(task.kind + printModule(*bare));
  // Schedules of ops are no points of the script.
  task.seeds.clear();
  Point selected = space->getSpace().getDefault();
  task.baseline.clear();
  if (!space->makeLegality()(Probe(selected)))
    task.baseline = selected;
  task.print = [this, problem](llvm::ArrayRef<int64_t> point) {
    return print(problem, point);
  };
  return llvm::Error::success();
}

/// Selects the options of a point in a copy of a module with a script.
static OwningOpRef<ModuleOp> select(ModuleOp module,
                                    llvm::ArrayRef<int64_t> point) {
  OwningOpRef<ModuleOp> copy = module.clone();
  FailureOr<ScriptSpace> space = ScriptSpace::create(*copy);
  assert(succeeded(space) && "a script that was read before");
  space->select(point);
  return copy;
}

std::string ScriptTask::print(ModuleOp problem,
                              llvm::ArrayRef<int64_t> point) const {
  OwningOpRef<ModuleOp> both = problem.clone();
  OwningOpRef<ModuleOp> selected = select(*script, point);
  addScript(*both, *selected);
  return printModule(*both);
}

std::string ScriptTask::printWinner(llvm::ArrayRef<int64_t> point) const {
  return printModule(*select(*file, point));
}

std::string ScriptTask::getCommand(llvm::StringRef tool) const {
  if (options.script.empty())
    return tool.str() + " " + quoteForShell(options.output) +
           " --transform-interpreter";
  return tool.str() + " " + quoteForShell(options.input) +
         makeOption("transform-preload-library",
                    "transform-library-paths=" + options.output) +
         " --transform-interpreter";
}
