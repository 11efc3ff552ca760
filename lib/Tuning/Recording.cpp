// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A database is told from a report by its first bytes.

#include "attune/Tuning/Recording.h"
#include "attune/Tuning/Store.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include <set>

using namespace attune::tuning;
namespace json = llvm::json;

namespace {
class Recorder {
public:
  Recorder(const Space &space, const Legality &legality)
      : space(space), legality(legality),
        defaults(space.toJSON(space.getDefault())) {}

  void add(const json::Object &schedule) {
    json::Object completed = schedule;
    for (const Knob &knob : space.getKnobs())
      completed.try_emplace(knob.name, *defaults.get(knob.name));
    std::optional<Point> point = space.fromJSON(completed);
    if (!point || completed.size() != space.getKnobs().size()) {
      std::map<llvm::StringRef, const json::Value *> sorted;
      for (const auto &[name, value] : schedule)
        sorted[name] = &value;
      std::string text;
      for (auto [name, value] : sorted)
        text +=
            llvm::formatv("{0}{1}={2}", text.empty() ? "" : " ", name, *value)
                .str();
      recording.lost.push_back(
          text + ": expects knobs of the space with values of their domains");
      return;
    }
    if (!seen.insert(*point).second)
      return;
    if (std::optional<Refusal> refusal = legality(Probe(*point)))
      recording.lost.push_back(space.toString(*point) + ": " + refusal->id +
                               ": " + refusal->getMessage());
    else
      recording.points.push_back(std::move(*point));
  }
  Recording take() { return std::move(recording); }

private:
  const Space &space;
  const Legality &legality;
  json::Object defaults;
  Recording recording;
  std::set<Point> seen;
};
} // namespace

static llvm::Error makeMissingError(llvm::StringRef path, llvm::StringRef key) {
  return llvm::createStringError(
      "expects a search of the problem with the key " + key + " in '" + path +
      "', but there is none");
}

static bool isDatabase(llvm::StringRef text) {
  return text.starts_with("SQLite format 3");
}

/// What is in a database: itself, and its searches in their order.
static llvm::Expected<
    std::pair<std::unique_ptr<Store>, std::vector<SessionInfo>>>
openSearches(llvm::StringRef path) {
  llvm::Expected<std::unique_ptr<Store>> store = Store::openReadOnly(path);
  if (!store)
    return store.takeError();
  llvm::Expected<std::vector<SessionInfo>> sessions = (*store)->getSessions();
  if (!sessions)
    return sessions.takeError();
  return std::pair(std::move(*store), std::move(*sessions));
}

llvm::Expected<std::optional<std::string>>
attune::tuning::readProblem(llvm::StringRef path) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  // Who reads the input says what is wrong with it.
  if (!buffer || !isDatabase((*buffer)->getBuffer()))
    return std::nullopt;
  auto searches = openSearches(path);
  if (!searches)
    return searches.takeError();
  auto &[store, sessions] = *searches;
  if (sessions.empty())
    return llvm::createStringError("expects a search in '" + path +
                                   "', but there is none");
  llvm::Expected<std::string> text =
      store->getText(sessions.back().key.problem);
  if (!text)
    return text.takeError();
  return std::move(*text);
}

static llvm::Error readDatabase(llvm::StringRef path, llvm::StringRef key,
                                Recorder &recorder) {
  auto searches = openSearches(path);
  if (!searches)
    return searches.takeError();
  auto &[store, sessions] = *searches;
  for (const SessionInfo &session : llvm::reverse(sessions)) {
    // One that found everything stored has no results of its own.
    if (session.key.problem != key || session.results == 0)
      continue;
    auto results = store->getResults(session.id);
    if (!results)
      return results.takeError();
    for (const auto &entry : *results) {
      llvm::Expected<json::Value> schedule = json::parse(entry.first);
      if (!schedule)
        return schedule.takeError();
      if (const json::Object *object = schedule->getAsObject())
        recorder.add(*object);
    }
    return llvm::Error::success();
  }
  return makeMissingError(path, key);
}

static llvm::Error readReport(llvm::StringRef path, llvm::StringRef text,
                              llvm::StringRef key, Recorder &recorder) {
  llvm::Expected<json::Value> parsed = json::parse(text);
  if (!parsed)
    return llvm::joinErrors(
        llvm::createStringError("expects a JSON report or a database in '" +
                                path + "'"),
        parsed.takeError());
  const json::Object *root = parsed->getAsObject();
  const json::Array *problems = root ? root->getArray("problems") : nullptr;
  if (!problems)
    return llvm::createStringError("expects 'problems' in '" + path +
                                   "', a report of attune-tune");
  for (const json::Value &value : *problems) {
    const json::Object *problem = value.getAsObject();
    if (!problem || problem->getString("key") != key)
      continue;
    const json::Array *results = problem->getArray("results");
    if (!results)
      return llvm::createStringError("expects results of each problem in '" +
                                     path + "'");
    for (const json::Value &result : *results) {
      const json::Object *object = result.getAsObject();
      const json::Object *schedule =
          object ? object->getObject("schedule") : nullptr;
      if (!schedule)
        return llvm::createStringError(
            "expects a schedule of each result in '" + path + "'");
      recorder.add(*schedule);
    }
    return llvm::Error::success();
  }
  return makeMissingError(path, key);
}

llvm::Expected<Recording>
attune::tuning::readRecording(llvm::StringRef path, const Space &space,
                              const Legality &legality, llvm::StringRef key) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer)
    return llvm::createStringError("cannot read '" + path +
                                   "': " + buffer.getError().message());
  llvm::StringRef text = (*buffer)->getBuffer();
  Recorder recorder(space, legality);
  if (llvm::Error error = isDatabase(text)
                              ? readDatabase(path, key, recorder)
                              : readReport(path, text, key, recorder))
    return error;
  Recording recording = recorder.take();
  if (recording.points.empty())
    return llvm::createStringError(
        "expects schedules that are legal now in '" + path +
        "', but there is none" +
        (recording.lost.empty() ? "" : "; " + recording.lost.front()));
  return recording;
}
