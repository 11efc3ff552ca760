// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A process runs inputs one after the other, for starting one takes longer than
// most inputs do. Memory that it shares with the one which waits for it says
// how far it came.

#include "Campaign.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace attune::fuzz;
using llvm::StringRef;

// The leak sanitizer's, where there is one.
extern "C" __attribute__((weak)) int __lsan_do_recoverable_leak_check();

/// What sanitizers are told, here and in the tools. Debian's libraries use
/// memory of allocators without asking, and what is left to the end of a
/// process is not looked for.
#define ATTUNE_SANITIZER_OPTIONS                                               \
  "allow_user_poisoning=0:detect_container_overflow=0:leak_check_at_exit=0:"   \
  "handle_abort=1:hard_rss_limit_mb=4096:exitcode=99"
extern "C" __attribute__((used)) const char *__asan_default_options() {
  return ATTUNE_SANITIZER_OPTIONS;
}
#define ATTUNE_UBSAN_OPTIONS "print_stacktrace=1:exitcode=99"
extern "C" __attribute__((used)) const char *__ubsan_default_options() {
  return ATTUNE_UBSAN_OPTIONS;
}

/// Bytes of address space that an input may take.
[[maybe_unused]] constexpr rlim_t kMemory = rlim_t(3) << 30;
/// How a process ends whose input failed without a crash, and one that leaks.
constexpr int kExitFailed = 77;
constexpr int kExitLeak = 78;
/// Inputs that one process runs.
constexpr size_t kInputsPerProcess = 500;
/// How long an input is made smaller.
constexpr std::chrono::seconds kReduction(30);

/// The reason of an input that takes too long.
constexpr StringRef kTooLong = "takes too long";

struct Campaign::Shared {
  size_t at;
  std::array<size_t, 4> verdicts;
  std::array<char, 2000> reason;
};

/// Begins the place of a crash whose stack has no function of ours. Upstream
/// checks less than we do, and is not ours to mend.
static const std::string kUpstream = ", upstream in ";

static std::string readFile(const llvm::Twine &path) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  return buffer ? (*buffer)->getBuffer().str() : "";
}

static void writeFile(const std::string &path, StringRef text) {
  std::error_code error;
  llvm::raw_fd_ostream os(path, error);
  if (error)
    llvm::errs() << "attune-fuzz: error: cannot write " << path << "\n";
  else
    os << text;
}

/// The functions of a stack as LLVM or a sanitizer prints it: the first that
/// has a name, and the first of ours.
static std::string describeStack(StringRef text) {
  llvm::Regex pattern("^ *#[0-9]+ 0x[0-9a-f]+ (in )?([^/]+)([(]|/)(.*)$",
                      llvm::Regex::Newline);
  std::string top, ours;
  bool isWhole = false;
  llvm::SmallVector<StringRef> groups;
  for (; pattern.match(text, &groups);
       text = text.drop_front(groups[0].end() - text.begin())) {
    StringRef name = groups[2].rtrim("( ");
    StringRef place = groups[4];
    isWhole = name.contains("attune::fuzz") || name == "main" ||
              (name.starts_with("attune") && name.ends_with("Main"));
    if (isWhole)
      break;
    // It stands on the stack of what it interrupts.
    if (name.starts_with("printStackAndExit"))
      continue;
    if (top.empty() && !place.contains("libLLVM") &&
        !place.contains("libc.so") && !place.contains("compiler-rt") &&
        name.contains("::") && !name.starts_with("std::"))
      top = name.substr(0, 120).str();
    // Not upstream's templates, which are in our objects.
    bool hasLine = llvm::Regex("[.](cpp|h|inc):[0-9]+").match(place) &&
                   !place.contains("usr/");
    bool isInOurs =
        place.contains("libAttune") || place.contains("attune-fuzz+");
    bool isOurs =
        hasLine || (isInOurs && (name.empty() || name.contains("attune::")));
    if (ours.empty() && isOurs)
      ours = name.empty() ? "a function without a name"
                          : name.substr(0, 120).str();
  }
  // A stack that overflows has no end.
  if (ours.empty() && !(top.empty() && isWhole))
    return kUpstream + (top.empty() ? "a function without a name" : top);
  if (ours == top || top.empty())
    return ours.empty() ? "" : ", in " + ours;
  return ", in " + top + ", of " + ours;
}

/// What kind of crash a sanitizer or an assertion tells of, and where: equal
/// for inputs that fail alike.
static std::string describeCrash(StringRef text, int status) {
  auto find = [&](const char *pattern) {
    llvm::SmallVector<StringRef> groups;
    return llvm::Regex(pattern, llvm::Regex::Newline).match(text, &groups)
               ? groups[1].str()
               : std::string();
  };
  std::string what = find("(Assertion `.*' failed)");
  for (const char *pattern :
       {"([^/]*: runtime error: .*)$", "(LLVM ERROR: .*)$",
        "ERROR: AddressSanitizer: ([A-Za-z-]+)", "ERROR: LeakSanitizer: (.*)$"})
    if (what.empty())
      what = find(pattern);
  if (what.empty() && WIFSIGNALED(status))
    what = "signal " + std::to_string(WTERMSIG(status));
  else if (what.empty())
    what = "exit code " + std::to_string(WEXITSTATUS(status));
  return what + describeStack(text);
}

Campaign::Campaign(Options options, Seeds seeds)
    : options(std::move(options)), seeds(std::move(seeds)),
      runner(this->options.tools, this->options.seconds,
             this->options.plantsCrashes),
      scratch(this->options.output + "/scratch") {
  llvm::erase_if(this->seeds.commands, [&](const Input &command) {
    return !llvm::sys::fs::can_execute(this->options.tools + "/" +
                                       command.arguments.front());
  });
  if (this->seeds.commands.empty())
    this->options.commands = 0;
  runner.addGenericForms(this->seeds.programs);
  for (const Input &program : this->seeds.programs) {
    programs.learn(program.text);
    for (const std::string &argument : program.arguments)
      commands.learn(argument);
  }
  for (const Input &command : this->seeds.commands)
    for (const std::string &argument : command.arguments)
      commands.learn(argument);
  setenv("ASAN_OPTIONS", ATTUNE_SANITIZER_OPTIONS, /*overwrite=*/1);
  setenv("UBSAN_OPTIONS", ATTUNE_UBSAN_OPTIONS, /*overwrite=*/1);
  void *memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    llvm::report_fatal_error("no shared memory", /*gen_crash_diag=*/false);
  shared = new (memory) Shared();
}

Input Campaign::makeInput(size_t number) const {
  Random random(options.seed * 0x9E3779B97F4A7C15u + number);
  bool isCommand = random.below(100) < options.commands;
  Input input = random.pick(isCommand ? seeds.commands : seeds.programs);
  if (!isCommand) {
    // A valid program meets passes that were not written for it.
    bool isMutated = random.chance(80);
    if (isMutated)
      input.text = programs.mutate(input.text, random);
    // Tests may name none.
    if (!seeds.passes.empty() && (!isMutated || random.chance(40))) {
      input.arguments.clear();
      do
        input.arguments.push_back(random.pick(seeds.passes));
      while (random.chance(30));
    }
    for (std::string &argument : input.arguments)
      if (random.chance(15))
        argument = commands.mutate(argument, random);
    return input;
  }
  if (random.chance(20))
    input.text = programs.mutate(input.text, random);
  // The tool stays.
  do {
    size_t at = 1 + random.below(input.arguments.size());
    auto place = input.arguments.begin() + at;
    const std::vector<std::string> &others =
        random.pick(seeds.commands).arguments;
    if (at == input.arguments.size() || random.chance(20))
      input.arguments.insert(place, random.pick(others));
    else if (random.chance(20))
      input.arguments.erase(place);
    else
      *place = commands.mutate(*place, random);
  } while (random.chance(35));
  // A changed path must stay in the folder.
  for (std::string &argument : input.arguments)
    llvm::erase(argument, '/');
  return input;
}

static void printStackAndExit(int) {
  llvm::errs() << "ERROR: too much time\n";
  llvm::sys::PrintStackTrace(llvm::errs());
  _exit(1);
}

std::string Campaign::runApart(size_t begin, size_t end,
                               llvm::function_ref<Input(size_t)> get,
                               size_t &at) {
  shared->reason[0] = 0;
  shared->at = begin;
  auto verdicts = shared->verdicts;
  pid_t child = fork();
  if (child == 0) {
    if (chdir(scratch.c_str()) != 0)
      _exit(1);
    int out = open("/dev/null", O_RDWR);
    int errors = open("stderr", O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0644);
    dup2(out, 0);
    dup2(out, 1);
    dup2(errors, 2);
    signal(SIGPROF, printStackAndExit);
#if !__has_feature(address_sanitizer) // which limits memory by itself
    rlimit limit{kMemory, kMemory};
    setrlimit(RLIMIT_AS, &limit);
#endif
    bool mayLeak = false;
    for (size_t i = begin; i < end; ++i) {
      shared->at = i;
      (void)!ftruncate(2, 0);
      Verdict verdict = runner.run(get(i));
      mayLeak |= verdict.leavesMemory;
      ++shared->verdicts[static_cast<size_t>(verdict.kind)];
      if (verdict.kind == Verdict::Kind::Failed) {
        snprintf(shared->reason.data(), shared->reason.size(), "%s",
                 verdict.reason.c_str());
        _exit(kExitFailed);
      }
    }
    bool leaks =
        __lsan_do_recoverable_leak_check && __lsan_do_recoverable_leak_check();
    // Whose it is of several is found below.
    mayLeak &= end - begin == 1;
    _exit(leaks && !mayLeak ? kExitLeak : 0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  at = shared->at;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
    return "";
  std::string said = readFile(scratch + "/stderr");
  bool isJudged = WIFEXITED(status) && WEXITSTATUS(status) == kExitFailed;
  if (isJudged && shared->reason.data() != kCrash)
    return shared->reason.data();
  // Which input of several leaks is found by halves.
  if (WIFEXITED(status) && WEXITSTATUS(status) == kExitLeak &&
      end - begin > 1) {
    shared->verdicts = verdicts; // the halves count theirs
    size_t middle = begin + (end - begin) / 2;
    std::string reason = runApart(begin, middle, get, at);
    return reason.empty() ? runApart(middle, end, get, at) : reason;
  }
  if (StringRef(said).starts_with("ERROR: too much time"))
    return std::string(kTooLong) + describeStack(said);
  return describeCrash(said, status);
}

std::string Campaign::runApart(const Input &input) {
  size_t at;
  return runApart(0, 1, [&](size_t) { return input; }, at);
}

/// Leaves out statements; whether one could be.
static bool reduceText(Input &input, llvm::function_ref<bool()> isSame) {
  bool changed = false;
  for (size_t i = 0;;) {
    std::optional<std::string> text = dropStatement(input.text, i);
    if (!text)
      return changed;
    std::swap(input.text, *text);
    if (isSame()) {
      changed = true;
    } else {
      input.text = std::move(*text);
      ++i;
    }
  }
}

Input Campaign::reduce(Input input, const std::string &reason) {
  auto end = std::chrono::steady_clock::now() + kReduction;
  auto isLate = [&] { return std::chrono::steady_clock::now() > end; };
  auto isSame = [&] { return !isLate() && runApart(input) == reason; };
  if (StringRef(reason).starts_with(kTooLong))
    return input;
  bool changed = true;
  while (changed && !isLate()) {
    changed = reduceText(input, isSame);
    for (size_t i = input.isCommand; i < input.arguments.size();) {
      std::string argument = input.arguments[i];
      input.arguments.erase(input.arguments.begin() + i);
      if (isSame()) {
        changed = true;
      } else {
        input.arguments.insert(input.arguments.begin() + i, argument);
        ++i;
      }
    }
  }
  return input;
}

void Campaign::report(size_t number, const std::string &reason) {
  if (failures[reason]++ > 0)
    return;
  Input input = makeInput(number);
  bool isUpstream = StringRef(reason).contains(kUpstream);
  // One that fails only after others is kept as it is.
  if (!isUpstream && runApart(input) == reason)
    input = reduce(std::move(input), reason);
  std::string again = runApart(input);
  std::string folder = options.output +
                       (isUpstream ? "/upstream-" : "/failure-") +
                       std::to_string(failures.size());
  llvm::sys::fs::create_directories(folder);
  writeFile(folder + "/input.mlir", input.text);
  std::string command = input.isCommand ? "" : "attune-opt input.mlir";
  for (const std::string &argument : input.arguments)
    command += (command.empty() ? "" : " ") + ("'" + argument + "'");
  std::string text = llvm::formatv(
      "{0}\nInput {1} of seed {2}, from {3}\n{4}\nRepeat it in this folder: "
      "{5} < input.mlir\n\n{6}",
      reason, number, options.seed, input.origin,
      again == reason ? "Alone it fails as well."
                      : "Alone it does not fail so: " + again,
      command, readFile(scratch + "/stderr"));
  writeFile(folder + "/report.txt", text);
  llvm::outs() << "input " << number << ": " << reason << "\n  " << folder
               << "\n";
  llvm::outs().flush();
}

size_t Campaign::run() {
  llvm::sys::fs::create_directories(scratch);
  size_t end = options.first + options.count;
  auto get = [&](size_t number) { return makeInput(number); };
  for (size_t next = options.first; next < end;) {
    size_t last = std::min(next + kInputsPerProcess, end), at = next;
    std::string reason = runApart(next, last, get, at);
    if (reason.empty()) {
      next = last;
      continue;
    }
    auto verdicts = shared->verdicts;
    report(at, reason);
    shared->verdicts = verdicts;
    next = at + 1;
  }
  size_t failed = 0, kinds = 0, upstream = 0;
  for (const auto &[reason, times] : failures)
    if (StringRef(reason).contains(kUpstream)) {
      upstream += times;
    } else {
      failed += times;
      ++kinds;
    }
  for (const auto &[reason, times] : failures)
    llvm::outs() << llvm::formatv("  {0} x {1}\n", times, reason);
  llvm::outs() << llvm::formatv(
      "seed {0}: {1} inputs, {2} compile, {3} are refused, {4} are cut short, "
      "{5} crash upstream, {6} fail in {7} ways\n",
      options.seed, options.count, shared->verdicts[0], shared->verdicts[1],
      shared->verdicts[2], upstream, failed, kinds);
  return kinds;
}
