// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attune-tune: searches the schedules of the ops in a file, or the
// knobs of a transform script. Reads the command line; the work is in
// lib/Tuning. The same executable is also the workers that the search starts
// (--worker).

#include "attune/Target/TargetRegistry.h"
#include "attune/Tools/PathOption.h"
#include "attune/Tools/ToolMain.h"
#include "attune/Tuning/CompileHandler.h"
#include "attune/Tuning/DeviceHandler.h"
#include "attune/Tuning/HostCheckHandler.h"
#include "attune/Tuning/Judge.h"
#include "attune/Tuning/ProgramHandler.h"
#include "attune/Tuning/RemoteWorker.h"
#include "attune/Tuning/Reproducer.h"
#include "attune/Tuning/Strategy.h"
#include "attune/Tuning/TileHandler.h"
#include "attune/Tuning/TunableTask.h"
#include "attune/Tuning/TuneFile.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/WithColor.h"
#include <csignal>
#include <sched.h>
#include <sysexits.h>
#include <unistd.h>

using namespace llvm;
using namespace attune::tuning;

int attuneTuneMain(int argc, char **argv);

static std::vector<std::string> getSizeNames() {
  std::vector<std::string> names;
  for (const attune::SizeInfo &size : attune::getProblemSizes())
    names.push_back(size.name.str());
  return names;
}

namespace {
struct Options {
  cl::OptionCategory category{"attune-tune options"};
  // A file of MLIR, or a database whose last search is gone on with.
  cl::opt<std::string> input{cl::Positional, cl::desc("<input file>"),
                             cl::init("-"), cl::cat(category)};
  attune::PathOption output{"o",
                            cl::desc("Output: the input with the schedules "
                                     "that were found"),
                            cl::value_desc("path"), cl::cat(category)};
  cl::opt<std::string> chip{"chip", cl::desc("Chip (that of the device)"),
                            cl::value_desc("name"), cl::cat(category)};
  cl::opt<std::string> fallbackChip{
      "fallback-chip",
      cl::desc("Chip to compile for where there is no device and no --chip"),
      cl::value_desc("name"), cl::cat(category)};
  cl::opt<std::string> device{
      "device",
      cl::desc(
          "Where to time: auto (a device that is there and runs code for "
          "the chip), cuda, hip, or none; host executes each schedule on "
          "the CPU with all checks on, and times none; cpu for programs of "
          "--pipeline"),
      cl::init("auto"), cl::value_desc("kind"), cl::cat(category)};
  cl::opt<attune::ChipState> state{
      "state", cl::desc("State of the chip in which candidates are timed"),
      cl::values(clEnumValN(attune::ChipState::Sustained, "sustained",
                            "steady clocks, in turn with the default schedule; "
                            "counts the energy of the best"),
                 clEnumValN(attune::ChipState::Cool, "cool",
                            "short bursts of launches with pauses")),
      cl::init(attune::ChipState::Sustained), cl::cat(category)};
  cl::opt<Objective> objective{
      "objective", cl::desc("What the winner has least of"),
      cl::values(
          clEnumValN(Objective::Time, "time", "time of a launch"),
          clEnumValN(Objective::Energy, "energy",
                     "energy of a launch, which takes a second more to "
                     "measure"),
          clEnumValN(Objective::EnergyDelay, "energy-delay", "their product")),
      cl::init(Objective::Time), cl::cat(category)};
  cl::list<std::string> ordinals{
      "gpus",
      cl::desc("Numbers of the devices to use (0), or all: those that are like "
               "the first"),
      cl::CommaSeparated, cl::value_desc("n,..."), cl::cat(category)};
  cl::list<std::string> launchers{
      "launcher",
      cl::desc("Time on another machine's device as well, with a worker that "
               "this command starts there: srun, mpirun or ssh with their "
               "options"),
      cl::value_desc("command"), cl::cat(category)};
  // An option keeps no copy of its description.
  std::string sizeHelp =
      "Size of a dynamic dimension: " + join(getSizeNames(), ", ");
  std::string strategyHelp =
      "Order of the search: " + join(getStrategyNames(), ", ");
  cl::list<std::string> sizes{"size", cl::desc(sizeHelp), cl::CommaSeparated,
                              cl::value_desc("name=n"), cl::cat(category)};
  cl::list<std::string> only{
      "only",
      cl::desc("Search schedules with these values alone; a knob that is named "
               "again has several"),
      cl::CommaSeparated, cl::value_desc("knob=value"), cl::cat(category)};
  cl::list<std::string> tuningSpecs{
      "tuning-specs",
      cl::desc("Files with schedules, as -o writes them: those for problems of "
               "the same kind are tried first"),
      cl::CommaSeparated, cl::value_desc("path,..."), cl::cat(category)};
  attune::PathOption database{
      "db", cl::desc("Database of results; they are lost without one"),
      cl::value_desc("path"), cl::cat(category)};
  cl::opt<std::string> strategy{"strategy", cl::desc(strategyHelp),
                                cl::init("guided"), cl::value_desc("name"),
                                cl::cat(category)};
  attune::PathOption replay{
      "replay",
      cl::desc("JSON report or database with the search that "
               "--strategy=replay repeats"),
      cl::value_desc("path"), cl::cat(category)};
  cl::opt<std::string> budget{
      "budget",
      cl::desc("Time (90s, 10m, 1h), number of candidates, or both (90s,200), "
               "of which the first that is spent ends the search; all if not "
               "given. With 0, only stored results are looked up"),
      cl::value_desc("limit"), cl::cat(category)};
  cl::opt<unsigned long long> seed{"seed", cl::desc("Seed of the search"),
                                   cl::init(1), cl::cat(category)};
  cl::opt<unsigned> jobs{"jobs",
                         cl::desc("Candidates compiled at a time "
                                  "(processors)"),
                         cl::value_desc("n"), cl::cat(category)};
  cl::opt<bool> resume{"resume", cl::desc("Reuse stored results (the default)"),
                       cl::cat(category)};
  cl::opt<bool> retune{"retune",
                       cl::desc("Measure again what the database knows"),
                       cl::cat(category)};
  cl::opt<bool> status{"status",
                       cl::desc("Check --db, print its sessions and stop"),
                       cl::cat(category)};
  attune::PathOption judge{
      "judge",
      cl::desc("Hold the model and the strategies against the measurements in "
               "a JSON report of the input's problems, and stop"),
      cl::value_desc("path"), cl::cat(category)};
  cl::opt<bool> dryRun{
      "dry-run",
      cl::desc("Count legal schedules, and refusals by reason, and stop"),
      cl::cat(category)};
  attune::PathOption report{"json", cl::desc("Report as JSON"),
                            cl::value_desc("path"), cl::cat(category)};
  cl::list<std::string> vendors{
      "vendor",
      cl::desc("What another kernel takes, as <number>us, <number>ms or "
               "<number>TFLOP/s; the table and the report compare with it. A "
               "problem goes by its function, or by its file if it is the only "
               "one there"),
      cl::value_desc("problem=time"), cl::cat(category)};
  // Named as those of mlir-opt.
  cl::opt<std::string> remarksFilter{
      "remarks-filter",
      cl::desc("Emit remarks at the ops that are tuned, of the categories that "
               "match: winner, sensitivity (which values of a knob are slower, "
               "and by how much)"),
      cl::value_desc("regex"), cl::cat(category)};
  attune::PathOption remarksFile{"remarks-output-file",
                                 cl::desc("Write remarks to a file, as YAML"),
                                 cl::value_desc("path"), cl::cat(category)};
  cl::opt<bool> quiet{"quiet", cl::desc("No progress"), cl::cat(category)};
  cl::opt<bool> verbose{
      "verbose",
      cl::desc("Report the default schedule, and each rule that refuses others "
               "with an example"),
      cl::cat(category)};
  cl::opt<bool> everything{
      "everything",
      cl::desc("Search legal schedules as well that experience says are not "
               "worth trying"),
      cl::cat(category)};
  cl::opt<bool> rank{"rank",
                     cl::desc("Measure first what a model thinks is fast"),
                     cl::init(true), cl::cat(category)};
  cl::opt<unsigned> finalists{
      "finalists", cl::desc("How many of the best are measured again in turn"),
      cl::init(4), cl::value_desc("n"), cl::cat(category)};
  cl::opt<unsigned> finalRounds{
      "final-rounds", cl::desc("How often each finalist is measured"),
      cl::init(5), cl::value_desc("n"), cl::cat(category)};
  cl::opt<unsigned> proofLaunches{
      "proof-launches",
      cl::desc("How often the winner is launched to the same bits"),
      cl::init(100), cl::value_desc("n"), cl::cat(category)};
  cl::opt<unsigned> mostSpilledBytes{
      "max-spill-bytes",
      cl::desc("Do not time a kernel that spills more, once one that does not "
               "was timed"),
      cl::init(512), cl::value_desc("bytes"), cl::cat(category)};
  attune::PathOption reproDir{
      "repro-dir", cl::desc("Folder for a file of each failed candidate"),
      cl::value_desc("path"), cl::cat(category)};
  attune::PathOption assembler{
      "assembler", cl::desc("Path of the vendor's assembler (searched)"),
      cl::value_desc("path"), cl::cat(category)};
  cl::opt<double> compileSeconds{
      "compile-timeout", cl::desc("Seconds that a candidate may compile"),
      cl::init(60), cl::value_desc("s"), cl::cat(category)};
  cl::opt<double> runSeconds{
      "run-timeout", cl::desc("Seconds that a candidate may take on a device"),
      cl::init(30), cl::value_desc("s"), cl::cat(category)};
  cl::opt<unsigned> memory{
      "memory-limit", cl::desc("MiB that a compiling worker may use"),
      cl::init(4096), cl::value_desc("MiB"), cl::cat(category)};

  attune::PathOption script{
      "script",
      cl::desc("File with a transform script (@__transform_main) whose knobs "
               "are searched; it may as well stand in the input"),
      cl::value_desc("path"), cl::cat(category)};
  cl::opt<std::string> pipeline{
      "pipeline",
      cl::desc("Passes that make the transformed input a program for the CPU, "
               "as mlir-opt --pass-pipeline takes them"),
      cl::value_desc("builtin.module(...)"), cl::cat(category)};
  cl::opt<std::string> referencePipeline{
      "reference-pipeline",
      cl::desc("Passes that do so without the script, for the results that are "
               "right (bufferization, loops, LLVM dialect)"),
      cl::value_desc("builtin.module(...)"), cl::cat(category)};
  cl::opt<std::string> entry{
      "entry", cl::desc("Function to run (the only one of the input)"),
      cl::value_desc("name"), cl::cat(category)};
  cl::list<std::string> libraries{
      "shared-libs", cl::desc("Libraries that programs of --pipeline call"),
      cl::CommaSeparated, cl::value_desc("path,..."), cl::cat(category)};

  // Of workers, which only attune-tune itself starts.
  cl::opt<std::string> worker{"worker", cl::ReallyHidden, cl::cat(category)};
  cl::opt<bool> standardStreams{"standard-streams", cl::ReallyHidden,
                                cl::cat(category)};
  cl::opt<int> ordinal{"ordinal", cl::ReallyHidden, cl::cat(category)};
  cl::opt<std::string> problem{"problem", cl::ReallyHidden, cl::cat(category)};

  Error read(TuneFileOptions &options) const;
  Error checkCounts() const;
  Error checkTogether() const;
  Error readBudget(TunerOptions &search) const;
  Error readSizes(TuneFileOptions &options) const;
  Error readOnly(TuneFileOptions &options) const;
  Error readOrdinals(TuneFileOptions &options) const;
  Error readVendors(TuneFileOptions &options) const;
};
} // namespace

static volatile sig_atomic_t interrupted = 0;

/// The first signal ends the search in order, the second one at once; workers
/// end with their parent either way.
static void handleInterrupt(int) {
  if (interrupted)
    _exit(130);
  interrupted = 1;
}

/// More than these are mistakes, and would not fit into memory.
Error Options::checkCounts() const {
  constexpr unsigned most = 1024;
  if (jobs.getNumOccurrences() && (jobs < 1 || jobs > most))
    return createStringError("expects --jobs to be from 1 to " + Twine(most) +
                             ", but got " + Twine(jobs));
  if (finalists > most)
    return createStringError("expects --finalists to be at most " +
                             Twine(most) + ", but got " + Twine(finalists));
  return Error::success();
}

Error Options::readBudget(TunerOptions &search) const {
  if (!budget.getNumOccurrences())
    return Error::success();
  for (StringRef text : split(budget, ',')) {
    double factor = 0;
    if (text.consume_back("s"))
      factor = 1;
    else if (text.consume_back("m"))
      factor = 60;
    else if (text.consume_back("h"))
      factor = 3600;
    uint64_t number;
    bool isTwice = factor ? search.budgetSeconds.has_value()
                          : search.budgetCandidates.has_value();
    if (isTwice || text.getAsInteger(10, number))
      return createStringError("expects a budget such as 90s, 10m, 1h, a "
                               "number of candidates, or a time and a number, "
                               "but got '" +
                               budget + "'");
    if (factor)
      search.budgetSeconds = static_cast<double>(number) * factor;
    else
      search.budgetCandidates = number;
  }
  return Error::success();
}

Error Options::readSizes(TuneFileOptions &options) const {
  Expected<attune::SizeMap> read = attune::parseSizes(sizes, "--size");
  if (!read)
    return read.takeError();
  options.sizes = std::move(*read);
  return Error::success();
}

Error Options::readOnly(TuneFileOptions &options) const {
  for (StringRef text : only) {
    auto [name, value] = text.split('=');
    if (value.empty())
      return createStringError("expects --only=<knob>=<value>, but got '" +
                               text + "'");
    options.only[name.str()].push_back(value.str());
  }
  return Error::success();
}

Error Options::readOrdinals(TuneFileOptions &options) const {
  if (ordinals.empty())
    return Error::success();
  options.allDevices = ordinals.size() == 1 && ordinals.front() == "all";
  if (options.allDevices) {
    options.ordinals = {0};
    return Error::success();
  }
  options.ordinals.clear();
  for (StringRef text : ordinals) {
    unsigned number;
    if (text.getAsInteger(10, number) ||
        is_contained(options.ordinals, static_cast<int>(number)))
      return createStringError("expects --gpus to be all or different numbers, "
                               "but got '" +
                               text + "'");
    options.ordinals.push_back(number);
  }
  return Error::success();
}

Error Options::readVendors(TuneFileOptions &options) const {
  for (StringRef text : vendors) {
    Expected<VendorTime> time = VendorTime::parse(text);
    if (!time)
      return time.takeError();
    options.vendors.push_back(std::move(*time));
  }
  return Error::success();
}

/// Processors that this process may use.
static unsigned countProcessors() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0)
    return std::max(1, CPU_COUNT(&set));
  return std::max<long>(1, sysconf(_SC_NPROCESSORS_ONLN));
}

/// What options have to do with each other.
Error Options::checkTogether() const {
  if (retune && resume)
    return createStringError("expects --resume or --retune, but got both");
  if (!is_contained({"auto", "cuda", "hip", "none", "host", "cpu"},
                    device.getValue()))
    return createStringError("expects --device to be auto, cuda, hip, none, "
                             "host or cpu, but got '" +
                             device + "'");
  if (pipeline.empty() && (device == "cpu" || !entry.empty()))
    return createStringError(
        "expects --pipeline with --device=cpu and --entry, but got none");
  if (device == "host" && !output.empty())
    return createStringError("expects no -o with --device=host, which chooses "
                             "no schedule, but got '" +
                             output + "'");
  if (state == attune::ChipState::Cool && objective != Objective::Time)
    return createStringError(
        "expects --state=sustained with --objective=" + toString(objective) +
        ", for energy is counted over work without pause, but got cool");
  if (device == "host" && !ordinals.empty())
    return createStringError("expects no --gpus with --device=host");
  if ((strategy == "replay") == replay.empty())
    return createStringError("expects --replay=<path> with --strategy=replay, "
                             "and with no other");
  if (compileSeconds <= 0 || runSeconds <= 0)
    return createStringError("expects time limits above 0");
  if (output == "-" && report == "-")
    return createStringError("expects one of -o and --json on the standard "
                             "output, but got both");
  return Error::success();
}

Error Options::read(TuneFileOptions &options) const {
  if (Error error = checkTogether())
    return error;
  if (Error error = checkCounts())
    return error;
  if (Error error = readBudget(options.search))
    return error;
  if (Error error = readSizes(options))
    return error;
  if (Error error = readOnly(options))
    return error;
  if (Error error = readOrdinals(options))
    return error;
  if (Error error = readVendors(options))
    return error;
  options.input = input;
  options.output = output;
  options.tuningSpecs.assign(tuningSpecs.begin(), tuningSpecs.end());
  options.chip = chip;
  options.fallbackChip = fallbackChip;
  options.device = device;
  options.state = state;
  options.search.objective = objective;
  options.namesState =
      state.getNumOccurrences() > 0 || objective != Objective::Time;
  options.launchers.assign(launchers.begin(), launchers.end());
  options.namesDevices = !ordinals.empty() || !launchers.empty();
  options.database = database;
  options.strategy = strategy;
  options.replay = replay;
  options.seed = seed;
  // A program is timed on a processor that compiles nothing, if there is one.
  unsigned processors = countProcessors();
  options.jobs = jobs                                  ? jobs
                 : pipeline.empty() || processors == 1 ? processors
                                                       : processors - 1;
  options.script = script;
  options.pipeline = pipeline;
  if (!referencePipeline.empty())
    options.referencePipeline = referencePipeline;
  options.entry = entry;
  options.libraries.assign(libraries.begin(), libraries.end());
  options.rank = rank;
  options.everything = everything;
  options.quiet = quiet;
  options.verbose = verbose;
  options.dryRun = dryRun;
  options.report = report;
  options.remarksFilter = remarksFilter;
  options.remarksFile = remarksFile;
  options.assembler = assembler;
  options.compileSeconds = compileSeconds;
  options.runSeconds = runSeconds;
  options.compileMemoryBytes = uint64_t(memory) << 20;
  options.search.retune = retune;
  options.search.execute = device == "host";
  options.search.finalists = finalists;
  options.search.finalRounds = finalRounds;
  options.search.proofLaunches = proofLaunches;
  options.search.mostSpilledBytes = mostSpilledBytes;
  options.search.reproDir = reproDir;
  return Error::success();
}

static int fail(const Twine &message) {
  WithColor::error(errs(), "attune-tune") << message << "\n";
  return 1;
}

/// Who reads the table may go before all of it is written, as `head` does: that
/// is no error to report, and all files were written. The exit code is that of
/// LLVM's tools. Anything else that went wrong there was not told yet.
static int endStreams(int code) {
  outs().flush();
  std::error_code problem = outs().error();
  bool isLeft = problem == std::errc::broken_pipe ||
                errs().error() == std::errc::broken_pipe;
  // What is left would be a fatal error when the streams are destroyed.
  outs().clear_error();
  errs().clear_error();
  if (problem && problem != std::errc::broken_pipe)
    return fail("cannot write to the standard output: " + problem.message());
  return isLeft && code == 0 ? EX_IOERR : code;
}

int attuneTuneMain(int argc, char **argv) {
  InitLLVM init(argc, argv);
  Options options;
  cl::HideUnrelatedOptions(options.category);
  attune::setToolVersion("attune-tune");
  cl::ParseCommandLineOptions(
      argc, argv,
      "Searches the fastest schedule of each op, or the knobs of a "
      "transform script\n");
  std::unique_ptr<MemoryFile> problem;
  if (options.standardStreams) {
    auto received = takeStandardStreams();
    if (!received)
      return fail(toString(received.takeError()));
    problem = std::move(*received);
    options.problem = problem->getPath();
  }
  if (options.worker == "compile")
    return serveWorker(makeCompileHandlers(options.assembler));
  if (options.worker == "device" && options.device == "cpu")
    return serveWorker(makeProgramHandlers(options.problem));
  if (options.worker == "device")
    return serveWorker(makeDeviceHandlers(options.device, options.ordinal,
                                          options.chip, options.problem));
  if (options.worker == "tiles")
    return serveWorker(makeTileHandlers());
  if (options.worker == "check")
    return serveWorker(makeHostCheckHandlers());
  if (!options.worker.empty())
    return fail("expects a worker for compile, tiles, device or check, but "
                "got '" +
                options.worker + "'");
  if (options.status) {
    if (options.database.empty())
      return fail("expects --db with --status");
    return printDatabaseStatus(options.database);
  }

  attune::reportFatalErrors("attune-tune");
  TuneFileOptions tune;
  if (Error error = options.read(tune))
    return fail(toString(std::move(error)));
  if (!options.judge.empty())
    return judgeReport(outs(), tune.input, options.judge, tune.sizes,
                       tune.report);
  tune.executable =
      sys::fs::getMainExecutable(argv[0], (void *)&attuneTuneMain);
  tune.command = join(map_range(ArrayRef(argv, argc), quoteForShell), " ");

  struct sigaction action = {};
  action.sa_handler = handleInterrupt; // without SA_RESTART: poll() returns
  for (int number : {SIGINT, SIGTERM, SIGHUP})
    sigaction(number, &action, nullptr);
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN); // a full quota is an error of write()
  return endStreams(tuneFile(tune, interrupted));
}
