// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the database of attune-tune --db: for each search, how many schedules
// it tried, and the one that is fastest, measured or predicted.

#include "attune/Tuning/Store.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/WithColor.h"

using namespace attune::tuning;

/// Nanoseconds; nothing for a candidate that failed.
static std::optional<double> getTime(const Result &result) {
  if (result.isTimed())
    return result.getSummary().median;
  return result.status == Status::Ok ? result.score : std::nullopt;
}

static llvm::Error list(llvm::StringRef path) {
  auto store = Store::openReadOnly(path);
  if (!store)
    return store.takeError();
  auto sessions = (*store)->getSessions();
  if (!sessions)
    return sessions.takeError();
  for (const SessionInfo &session : *sessions) {
    auto results = (*store)->getResults(session.id);
    if (!results)
      return results.takeError();
    llvm::outs() << llvm::formatv("{0} on {1}: {2} results\n",
                                  session.problemName, session.key.chip,
                                  results->size());
    const std::pair<std::string, Result> *best = nullptr;
    for (const auto &entry : *results)
      if (getTime(entry.second) &&
          (!best || *getTime(entry.second) < *getTime(best->second)))
        best = &entry;
    if (best)
      llvm::outs() << llvm::formatv(
          "  {0:f1} us {1}: {2}\n", *getTime(best->second) / 1000,
          best->second.isTimed() ? "measured" : "predicted", best->first);
  }
  return llvm::Error::success();
}

int main(int argc, char **argv) {
  if (argc != 2) {
    llvm::errs() << "usage: list-results <database>\n";
    return 2;
  }
  if (llvm::Error error = list(argv[1])) {
    llvm::WithColor::error(llvm::errs(), "list-results")
        << toString(std::move(error)) << "\n";
    return 1;
  }
}
