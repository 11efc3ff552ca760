// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs one search after the other on one store.

#include "SearchRunner.h"
#include "attune/Runtime/ArtifactWriter.h"
#include "attune/Tuning/Recording.h"
#include "attune/Tuning/Report.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/WithColor.h"
#include "llvm/Support/xxhash.h"
#include <sys/ioctl.h>
#include <unistd.h>

using namespace attune;
using namespace attune::tuning;
namespace json = llvm::json;

llvm::Error SearchRunner::checkOptions() const {
  if (!llvm::is_contained(getStrategyNames(), options.strategy))
    return llvm::createStringError(
        llvm::formatv("expects a strategy of {0}, but got '{1}'",
                      llvm::join(getStrategyNames(), ", "), options.strategy)
            .str());
  for (const std::string &file :
       {options.output, options.report, options.remarksFile}) {
    if (file.empty() || file == "-")
      continue;
    llvm::StringRef parent = llvm::sys::path::parent_path(file);
    std::string folder = parent.empty() ? "." : parent.str();
    if (access(folder.c_str(), W_OK) < 0 || llvm::sys::fs::is_directory(file))
      return llvm::createStringError("cannot write '" + file +
                                     "': expects a file in a folder that "
                                     "exists and can be written");
    if (auto found = findWritableFile(file); !found)
      return found.takeError();
  }
  return llvm::Error::success();
}

llvm::Error SearchRunner::openStore() {
  auto opened = options.database.empty() ? Store::openInMemory()
                                         : Store::open(options.database);
  if (!opened)
    return opened.takeError();
  store = std::move(*opened);
  return llvm::Error::success();
}

std::string SearchRunner::describeCompiler() const {
  std::string compiler = LLVM_VERSION_STRING;
  if (auto executable =
          llvm::MemoryBuffer::getFile(options.executable, /*IsText=*/false,
                                      /*RequiresNullTerminator=*/false))
    compiler += " " + llvm::utohexstr(
                          llvm::xxh3_64bits((*executable)->getBuffer()), true);
  return compiler;
}

WorkerLimits SearchRunner::getCompileLimits() const {
  WorkerLimits limits;
  limits.requestSeconds = options.compileSeconds;
  limits.memoryBytes = options.compileMemoryBytes;
  return limits;
}

std::unique_ptr<Progress> SearchRunner::makeProgress() const {
  if (options.quiet)
    return createQuietProgress();
  struct winsize size = {};
  if (isatty(STDERR_FILENO) && ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0)
    return createTerminalProgress(llvm::errs(), size.ws_col ? size.ws_col : 80);
  return createPlainProgress(llvm::errs());
}

llvm::Expected<Outcome>
SearchRunner::run(const SearchSetup &setup, const LegalSpace &legal,
                  const Ranker *ranker, llvm::ArrayRef<double> scores,
                  llvm::ArrayRef<Point> recorded, SessionInfo &session) {
  std::vector<std::string> compile = {options.executable, "attune-tune"};
  llvm::append_range(compile, setup.compileWorker);
  WorkerPool compilers(
      std::vector<std::vector<std::string>>(options.jobs, compile),
      setup.compileLimits);
  llvm::Expected<WorkerPool *> devices = setup.openDevices();
  if (!devices)
    return devices.takeError();
  std::unique_ptr<Progress> progress = makeProgress();
  std::unique_ptr<Strategy> strategy =
      createStrategy(options.strategy, {setup.space, legal.points, options.seed,
                                        scores, recorded});
  TunerOptions search = options.search;
  search.state = parseChipState(setup.key.chipState);
  // What is left of it; with 0 the search would only look up.
  if (search.budgetSeconds.value_or(0) > 0) {
    std::chrono::duration<double> spent = Clock::now() - budgetStart;
    search.budgetSeconds =
        std::max(*search.budgetSeconds - spent.count(), 1e-3);
  }
  Tuner tuner(setup.task, setup.space, legal, *store, session, compilers,
              *devices, setup.checkers, ranker, *progress, search, interrupted);
  llvm::Expected<Outcome> outcome = tuner.run(*strategy);
  if (!outcome)
    return outcome.takeError();
  if (llvm::Error error = store->endSession(
          session, outcome->interrupted ? "interrupted" : "finished"))
    return error;
  return outcome;
}

llvm::Expected<std::optional<Outcome>>
SearchRunner::search(const SearchSetup &setup) {
  const Task &task = setup.task;
  const Space &space = setup.space;
  LegalSpace legal = findLegal(space, setup.legality, setup.worthTrying);
  llvm::raw_ostream &os = options.output == "-" || options.report == "-"
                              ? llvm::errs()
                              : llvm::outs();
  if (options.dryRun) {
    os << llvm::formatv("{0} on {1}: {2} of {3} schedules are legal{4}\n",
                        task.name, task.chip, legal.points.size(), space.size(),
                        setup.worthTrying ? " and worth trying" : "");
    printRefusals(os, space, legal);
    return std::nullopt;
  }
  if (legal.points.empty()) {
    const auto &[id, refused] =
        legal.refused.empty() ? *legal.skipped.begin() : *legal.refused.begin();
    return llvm::createStringError(
        llvm::formatv("no schedule is legal for '{0}' on {1}; {2}: {3}",
                      task.name, task.chip, id, refused.message)
            .str());
  }

  Recording recording;
  if (!options.replay.empty()) {
    auto read = readRecording(options.replay, space, setup.legality, task.key);
    if (!read)
      return read.takeError();
    recording = std::move(*read);
    for (const std::string &lost : recording.lost)
      llvm::WithColor::warning(llvm::errs(), "attune-tune")
          << "not replayed: " << lost << "\n";
  }

  // Everything is compared with the default, searched or not; and who names a
  // schedule wants it tried.
  auto add = [&](const Point &point) {
    if (!point.empty() && !llvm::is_contained(legal.points, point))
      legal.points.push_back(point);
  };
  add(task.baseline);
  llvm::for_each(recording.points, add);

  SessionInfo session;
  session.key = setup.key;
  session.problemName = task.name;
  session.command = options.command;
  session.strategy = options.strategy;
  session.seed = options.seed;
  session.legal = legal.points.size();
  session.refused =
      llvm::formatv("{0}", json::Value(makeRefusals(legal.refused))).str();
  if (llvm::Error error = store->addProblem(task.key, task.name, task.text))
    return error;
  if (llvm::Error error = store->beginSession(session))
    return error;

  std::unique_ptr<Ranker> ranker;
  std::vector<double> scores;
  if (setup.makeRanker)
    ranker = setup.makeRanker();
  if (ranker)
    scores = sortByScore(legal.points, *ranker);
  llvm::Expected<Outcome> outcome =
      run(setup, legal, ranker.get(), scores, recording.points, session);
  if (!outcome)
    return outcome.takeError();
  setup.explain(*outcome);
  printReport(os, task, space, legal, *outcome, options.verbose);
  // An interrupted search writes no output that a command could name.
  if (outcome->winner && !outcome->interrupted)
    if (std::string command =
            setup.getCommand(outcome->results[*outcome->winner].point);
        !command.empty())
      os << (outcome->timed ? "run it: " : "run it on " + task.chip + ": ")
         << command << "\n";
  os.flush();
  budgetStart = Clock::now();
  reports.push_back(makeReport(task, space, legal, session, *outcome));
  return std::optional<Outcome>(std::move(*outcome));
}

llvm::Error SearchRunner::writeReport() {
  if (options.report.empty())
    return llvm::Error::success();
  json::Value report = json::Object{{"command", options.command},
                                    {"problems", std::move(reports)}};
  return writeFile(options.report, llvm::formatv("{0:2}\n", report).str());
}

llvm::Expected<const Result *> tuning::getWinner(const Task &task,
                                                 const Outcome &outcome) {
  if (outcome.winner)
    return &outcome.results[*outcome.winner];
  if (outcome.results.empty())
    return llvm::createStringError(
        llvm::formatv("expects a stored result of '{0}' on {1}, for a budget "
                      "of 0 compiles nothing, but there is none",
                      task.name, task.chip)
            .str());
  bool lacksEnergy = outcome.timed && outcome.objective != Objective::Time &&
                     llvm::any_of(outcome.results, [](const Result &result) {
                       return result.isTimed();
                     });
  if (lacksEnergy)
    return llvm::createStringError(
        llvm::formatv("no energy was counted for '{0}' on {1}: "
                      "--objective=time needs none",
                      task.name, task.chip)
            .str());
  if (outcome.unproven)
    return llvm::createStringError(
        llvm::formatv("no schedule of '{0}' is proven to be right on {1}: the "
                      "{2} best that were tried failed",
                      task.name, task.chip, outcome.unproven)
            .str());
  return llvm::createStringError(
      llvm::formatv("no schedule of '{0}' that was tried is valid on {1}",
                    task.name, task.chip)
          .str());
}
