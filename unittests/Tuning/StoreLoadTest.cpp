// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A large database in use: eight processes look winners up while one writes.

#include "StoreFixture.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <chrono>
#include <csignal>
#include <sys/wait.h>
#include <time.h>

using namespace attune::tuning;

namespace {
/// Milliseconds: as the clock on the wall has it, and of this process alone.
struct Span {
  double wall, own;
  bool opening = false;
};

struct StoreLoad : StoreTest {
  static constexpr int64_t kProblems = 64;

  StoreKey getKey(int64_t problem) const {
    StoreKey key = session.key;
    key.problem = llvm::formatv("problem {0}", problem);
    return key;
  }
  void addWinners();
  void addFiller(int64_t rows);
  /// What a process that looks up does, with times for its parent.
  [[noreturn]] void lookUp(int times, int fd);
};
} // namespace

static double read(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return 1e3 * now.tv_sec + 1e-6 * now.tv_nsec;
}

template <typename Body> static Span time(Body body) {
  double wall = read(CLOCK_MONOTONIC), own = read(CLOCK_PROCESS_CPUTIME_ID);
  body();
  return {read(CLOCK_MONOTONIC) - wall, read(CLOCK_PROCESS_CPUTIME_ID) - own};
}

void StoreLoad::addWinners() {
  std::unique_ptr<Store> store = open();
  for (int64_t problem = 0; problem < kProblems; ++problem) {
    session.key = getKey(problem);
    ASSERT_FALSE(bool(store->transact([&]() -> llvm::Error {
      for (int64_t x = 0; x < 100; ++x) {
        Result result = makeResult(x);
        if (x % 20 == problem % 20)
          result.stage = Stage::Proof;
        if (llvm::Error error = store->add(session, space, result).takeError())
          return error;
      }
      return llvm::Error::success();
    })));
  }
}

/// Other problems' rows. They are not read, so they need no checksum.
void StoreLoad::addFiller(int64_t rows) {
  auto database = Database::open(path, Database::Mode::ReadWrite);
  ASSERT_TRUE(bool(database));
  llvm::Error error = (*database)->execute(
      llvm::formatv(
          "WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n "
          "WHERE i < {0}) INSERT INTO measurement SELECT NULL, 1, 1000000 + i, "
          "'filler ' || i / 1000, 'chip', 'device', 'compiler', '', '{{\"x\":' "
          "|| "
          "i % 1000 || '}', iif(i % 100, 'measure', 'proof'), 'ok', '', "
          "'[1000.0]', 1000 + i % 1000, 1000, 1000, 255, 0, 0, 256, 0, NULL, "
          "NULL, "
          "1.0, "
          "'hash ' || i, 0, 1980, 700, 60, '', 1, 0, 0.5, 690, 1, 1.2, 1000, "
          "NULL, '2026-01-01T00:00:00Z', 0 "
          "FROM n",
          rows)
          .str()
          .c_str());
  ASSERT_FALSE(bool(error)) << llvm::toString(std::move(error));
}

void StoreLoad::lookUp(int times, int fd) {
  std::unique_ptr<Store> store;
  auto send = [&](const Span &span) { (void)!write(fd, &span, sizeof(span)); };
  Span opening = time([&] {
    llvm::Expected<std::unique_ptr<Store>> opened = Store::openReadOnly(path);
    if (!opened)
      _exit(1);
    store = std::move(*opened);
  });
  opening.opening = true;
  send(opening);
  for (int i = -kProblems; i < times; ++i) {
    StoreKey key = getKey((i + kProblems) % kProblems);
    bool found = false;
    Span span = time([&] {
      llvm::Expected<std::optional<Result>> best = store->findBest(key, space);
      found = best && *best;
    });
    if (!found)
      _exit(2);
    if (i >= 0) // warm
      send(span);
    usleep(1000);
  }
  _exit(0);
}

static double getPercentile(std::vector<double> values, double share) {
  llvm::sort(values);
  return values[std::min<size_t>(values.size() * share, values.size() - 1)];
}

TEST_F(StoreLoad, LookingUpIsQuickWhileOthersWrite) {
  constexpr int kReaders = 8;
  addWinners();
  const int64_t filler = fake::choose(20000, 1000000);
  addFiller(filler);
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  pid_t writer = fork();
  if (writer == 0) {
    llvm::Expected<std::unique_ptr<Store>> store = Store::open(path);
    close(ends[0]);
    close(ends[1]);
    session.id = session.results = 0;
    session.key = getKey(kProblems); // one that nobody looks up
    if (!store || (*store)->beginSession(session))
      _exit(1);
    for (int64_t i = 0;; ++i)
      if (!(*store)->add(session, space, makeResult(i % 100)))
        _exit(2);
  }
  std::vector<pid_t> readers;
  for (int reader = 0; reader < kReaders; ++reader) {
    readers.push_back(fork());
    if (readers.back() == 0)
      lookUp(fake::choose(100, 2000), ends[1]);
  }
  close(ends[1]);
  std::vector<Span> spans;
  for (Span span; ::read(ends[0], &span, sizeof(span)) == sizeof(span);)
    spans.push_back(span);
  close(ends[0]);
  for (pid_t reader : readers) {
    int status = 0;
    waitpid(reader, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(waitpid(writer, nullptr, WNOHANG), 0);
  kill(writer, SIGKILL);
  waitpid(writer, nullptr, 0);

  std::vector<double> wall, own, opened;
  for (const Span &span : spans) {
    if (span.opening) {
      opened.push_back(span.wall);
      continue;
    }
    wall.push_back(span.wall);
    own.push_back(span.own);
  }
  ASSERT_EQ(opened.size(), size_t(kReaders));
  fake::tell(llvm::formatv(
      "{0} rows, {1} processes, {2} lookups: p50 {3:F3} ms, p99 {4:F3} ms; of "
      "the process alone {5:F3} and {6:F3} ms; opening {7:F1} ms at most",
      filler, kReaders, wall.size(), getPercentile(wall, 0.5),
      getPercentile(wall, 0.99), getPercentile(own, 0.5),
      getPercentile(own, 0.99), getPercentile(opened, 1)));
  // A busy machine makes processes wait; what the lookup itself takes is ours.
  EXPECT_LT(getPercentile(own, 0.99), 1);
  if (fake::isFull()) {
    EXPECT_LT(getPercentile(wall, 0.99), 1);
    EXPECT_LT(getPercentile(opened, 1), 50);
  }
}
