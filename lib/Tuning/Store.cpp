// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows in and out of the store. Each table ends in a checksum over the other
// columns of the row: SQLite has none of its own for pages, and a flipped bit
// in a timing would otherwise pass for a result.

#include "attune/Tuning/Store.h"
#include "Schema.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/xxhash.h"
#include <ctime>

using namespace attune;
using namespace attune::tuning;
namespace json = llvm::json;

static std::string getTimeStamp() {
  char text[32];
  time_t now = time(nullptr);
  tm parts;
  gmtime_r(&now, &parts);
  strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

/// The checksum that the row under `statement` should have: over its first
/// `columns` columns. Lengths go in, so that text cannot move between columns.
static int64_t computeChecksum(const Statement &statement, int columns) {
  std::string bytes;
  for (int column = 0; column < columns; ++column) {
    if (statement.isNull(column)) {
      bytes += "null;";
      continue;
    }
    llvm::StringRef text = statement.getText(column);
    bytes += llvm::formatv("{0}:{1};", text.size(), text).str();
  }
  return int64_t(llvm::xxh3_64bits(bytes));
}

/// Computes and writes the checksum of a row just written, inside its
/// transaction.
static llvm::Error seal(Database &database, llvm::StringRef table, int64_t row,
                        int columns) {
  llvm::Expected<Statement> read = database.prepare(
      llvm::formatv("SELECT * FROM {0} WHERE rowid = ?", table).str());
  if (!read)
    return read.takeError();
  llvm::Expected<bool> found = read->bind(row).step();
  if (!found)
    return found.takeError();
  int64_t checksum = computeChecksum(*read, columns);
  llvm::Expected<Statement> write = database.prepare(
      llvm::formatv("UPDATE {0} SET checksum = ? WHERE rowid = ?", table)
          .str());
  if (!write)
    return write.takeError();
  return write->bind(checksum).bind(row).run();
}

/// Columns before the checksum, in the order of Schema.h.
static constexpr int kProblemColumns = 3, kSessionColumns = 15,
                     kMeasurementColumns = 39;

/// All fields of a key, in the order in which tables have them.
static Statement &bind(Statement &statement, const StoreKey &key) {
  return statement.bind(key.problem)
      .bind(key.chip)
      .bind(key.device)
      .bind(key.compiler)
      .bind(key.chipState);
}

static Statement &bind(Statement &statement, const Conditions &conditions) {
  std::optional<std::string> throttling;
  if (conditions.throttleReasons)
    throttling = describeThrottling(*conditions.throttleReasons);
  std::optional<int64_t> settled = conditions.settled;
  return statement.bind(conditions.clockMHz)
      .bind(conditions.powerWatts)
      .bind(conditions.temperatureCelsius)
      .bind(throttling)
      .bind(settled)
      .bind(conditions.otherProcesses)
      .bind(conditions.energyJoules)
      .bind(conditions.meanPowerWatts)
      .bind(conditions.energySpanSeconds)
      .bind(conditions.picojoulesPerFlop)
      .bind(conditions.baselineNs);
}

/// Reads what bind() wrote from the columns that begin with `first`. Nothing
/// for names of reasons that are none.
static std::optional<Conditions> readConditions(const Statement &statement,
                                                int first) {
  Conditions conditions;
  conditions.state = parseChipState(statement.getText(7));
  conditions.clockMHz = statement.getOptionalInteger(first);
  conditions.powerWatts = statement.getOptionalInteger(first + 1);
  conditions.temperatureCelsius = statement.getOptionalInteger(first + 2);
  if (!statement.isNull(first + 3)) {
    conditions.throttleReasons = parseThrottling(statement.getText(first + 3));
    if (!conditions.throttleReasons)
      return std::nullopt;
  }
  if (std::optional<int64_t> settled = statement.getOptionalInteger(first + 4))
    conditions.settled = *settled != 0;
  conditions.otherProcesses = statement.getOptionalInteger(first + 5);
  conditions.energyJoules = statement.getOptionalReal(first + 6);
  conditions.meanPowerWatts = statement.getOptionalReal(first + 7);
  conditions.energySpanSeconds = statement.getOptionalReal(first + 8);
  conditions.picojoulesPerFlop = statement.getOptionalReal(first + 9);
  conditions.baselineNs = statement.getOptionalReal(first + 10);
  return conditions;
}

llvm::Error Store::makeDamageError(llvm::StringRef table, int64_t row) const {
  return llvm::createStringError(
      llvm::formatv(
          "database '{0}' is damaged: row {1} of table '{2}' does not match "
          "its "
          "checksum; move the file away to start anew, or restore a copy",
          database->getPath(), row, table)
          .str());
}

llvm::Error Store::addProblem(llvm::StringRef key, llvm::StringRef name,
                              llvm::StringRef text) {
  return database->transact([&]() -> llvm::Error {
    llvm::Expected<Statement> insert =
        database->prepare("INSERT OR IGNORE INTO problem VALUES(?, ?, ?, 0)");
    if (!insert)
      return insert.takeError();
    if (llvm::Error error = insert->bind(key).bind(name).bind(text).run())
      return error;
    llvm::Expected<Statement> find = database->prepare(
        "SELECT rowid FROM problem WHERE key = ? AND checksum = 0");
    if (!find)
      return find.takeError();
    llvm::Expected<bool> isNew = find->bind(key).step();
    if (!isNew)
      return isNew.takeError();
    return *isNew ? seal(*database, "problem", find->getInteger(0),
                         kProblemColumns)
                  : llvm::Error::success();
  });
}

llvm::Error Store::writeSession(const SessionInfo &session, bool insert) {
  llvm::Expected<Statement> write = database->prepare(
      insert ? "INSERT INTO session VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
               "?, ?, ?, 0)"
             : "UPDATE session SET state = ?, results = ? WHERE id = ?");
  if (!write)
    return write.takeError();
  if (insert)
    bind(write->bind(session.id ? std::optional(session.id) : std::nullopt),
         session.key)
        .bind(session.problemName)
        .bind(session.command)
        .bind(session.strategy)
        .bind(int64_t(session.seed))
        .bind(int64_t(session.legal))
        .bind(session.refused)
        .bind(session.started);
  write->bind(session.state).bind(session.results);
  if (!insert)
    write->bind(session.id);
  if (llvm::Error error = write->run())
    return error;
  return seal(*database, "session",
              insert ? database->getLastRow() : session.id, kSessionColumns);
}

/// What the tuner of a session claims as long as it lives.
static std::string makeSessionClaim(const SessionInfo &session) {
  return "session " + std::to_string(session.id);
}

llvm::Error Store::beginSession(SessionInfo &session) {
  session.started = getTimeStamp();
  return database->transact([&]() -> llvm::Error {
    if (llvm::Error error = writeSession(session, /*insert=*/true))
      return error;
    session.id = database->getLastRow();
    // Before anybody else can see it.
    if (sessions)
      sessions->take(makeSessionClaim(session));
    return llvm::Error::success();
  });
}

llvm::Error Store::endSession(SessionInfo &session, llvm::StringRef state) {
  session.state = state.str();
  llvm::Error error = database->transact(
      [&] { return writeSession(session, /*insert=*/false); });
  if (sessions)
    sessions->release(makeSessionClaim(session));
  return error;
}

bool Store::isRunning(const SessionInfo &session) const {
  return session.state == SessionInfo().state && sessions &&
         sessions->isTaken(makeSessionClaim(session));
}

/// Parents by their schedules, which are rows of this or an earlier session.
static std::string describe(const Origin &origin, const Space &space) {
  json::Array parents;
  for (const Point &parent : origin.parents)
    parents.push_back(space.toJSON(parent));
  return llvm::formatv(
      "{0}", json::Value(json::Object{{"lineage", origin.lineage},
                                      {"step", origin.step},
                                      {"parents", std::move(parents)}}));
}

llvm::Expected<int64_t> Store::add(SessionInfo &session, const Space &space,
                                   const Result &result) {
  std::string schedule =
      llvm::formatv("{0}", json::Value(space.toJSON(result.point)));
  std::string samples =
      llvm::formatv("{0}", json::Value(json::Array(result.samples)));
  std::optional<Summary> summary;
  if (result.isTimed())
    summary = result.getSummary();
  int64_t row = 0;
  ++session.results;
  llvm::Error error = database->transact([&]() -> llvm::Error {
    llvm::Expected<Statement> insert = database->prepare(
        "INSERT INTO measurement VALUES(NULL, ?, ?, ?, ?, ?, ?, ?, ?, "
        "?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
        "?, ?, ?, ?, ?, ?, ?, 0)");
    if (!insert)
      return insert.takeError();
    bind(insert->bind(session.id).bind(session.results), session.key)
        .bind(schedule)
        .bind(toString(result.stage))
        .bind(toString(result.status))
        .bind(result.message)
        .bind(samples);
    if (summary)
      insert->bind(summary->median).bind(summary->low).bind(summary->high);
    else
      insert->bind(std::nullopt).bind(std::nullopt).bind(std::nullopt);
    const Resources &used = result.resources;
    insert->bind(used.registers)
        .bind(used.spillBytes)
        .bind(used.sharedBytes)
        .bind(used.threads)
        .bind(used.serializedMultiplies)
        .bind(used.loopFlopsPerClock);
    if (used.loopTerms.empty())
      insert->bind(std::nullopt);
    else
      insert->bind(
          llvm::formatv("{0}", json::Value(json::Object(used.loopTerms)))
              .str());
    insert->bind(result.score);
    insert->bind(result.binaryHash).bind(result.copiedFrom);
    bind(*insert, result.conditions);
    if (result.origin.lineage.empty())
      insert->bind(std::nullopt);
    else
      insert->bind(describe(result.origin, space));
    insert->bind(getTimeStamp());
    if (llvm::Error error = insert->run())
      return error;
    row = database->getLastRow();
    if (llvm::Error error =
            seal(*database, "measurement", row, kMeasurementColumns))
      return error;
    return writeSession(session, /*insert=*/false);
  });
  if (error) {
    --session.results;
    return error;
  }
  return row;
}

llvm::Expected<Result>
Store::readMeasurement(const Statement &statement) const {
  int64_t row = statement.getInteger(0);
  if (computeChecksum(statement, kMeasurementColumns) !=
      statement.getInteger(kMeasurementColumns))
    return makeDamageError("measurement", row);
  Result result;
  std::optional<Stage> stage = parseStage(statement.getText(9));
  std::optional<Status> status = parseStatus(statement.getText(10));
  std::optional<Conditions> conditions = readConditions(statement, 26);
  llvm::Expected<json::Value> samples = json::parse(statement.getText(12));
  if (!samples)
    return samples.takeError();
  json::Path::Root root;
  if (!stage || !status || !conditions ||
      !json::fromJSON(*samples, result.samples, root))
    return makeDamageError("measurement", row);
  result.stage = *stage;
  result.status = *status;
  result.message = statement.getText(11).str();
  result.resources = {statement.getOptionalInteger(16),
                      statement.getOptionalInteger(17),
                      statement.getOptionalInteger(18),
                      statement.getOptionalInteger(19),
                      statement.getOptionalInteger(20),
                      statement.getOptionalInteger(21),
                      /*loopTerms=*/{}};
  if (!statement.isNull(22)) {
    llvm::Expected<json::Value> terms = json::parse(statement.getText(22));
    if (!terms)
      return terms.takeError();
    if (!terms->getAsObject())
      return makeDamageError("measurement", row);
    result.resources.loopTerms = std::move(*terms->getAsObject());
  }
  result.score = statement.getOptionalReal(23);
  result.binaryHash = statement.getText(24).str();
  result.copiedFrom = statement.getInteger(25);
  result.conditions = *conditions;
  result.reused = true;
  return result;
}

llvm::Expected<std::optional<Result>> Store::findOne(Statement &statement) {
  llvm::Expected<bool> row = statement.step();
  if (!row)
    return row.takeError();
  if (!*row)
    return std::nullopt;
  llvm::Expected<Result> result = readMeasurement(statement);
  if (!result)
    return result.takeError();
  return std::optional(std::move(*result));
}

llvm::Expected<std::optional<Result>> Store::find(const StoreKey &key,
                                                  const Space &space,
                                                  llvm::ArrayRef<int64_t> point,
                                                  int64_t *row) {
  std::string schedule = llvm::formatv("{0}", json::Value(space.toJSON(point)));
  llvm::Expected<Statement> statement = database->prepare(
      "SELECT * FROM measurement WHERE problem = ? AND chip "
      "= ? AND device = ? AND compiler = ? AND chip_state = ? "
      "AND schedule = ? ORDER BY id DESC LIMIT 1");
  if (!statement)
    return statement.takeError();
  bind(*statement, key).bind(schedule);
  llvm::Expected<std::optional<Result>> result = findOne(*statement);
  if (result && *result)
    (*result)->point = point.vec();
  if (row)
    *row = result && *result ? statement->getInteger(0) : 0;
  return result;
}

llvm::Expected<std::optional<Result>>
Store::findByBinary(const StoreKey &key, llvm::StringRef binaryHash) {
  llvm::Expected<Statement> statement = database->prepare(
      "SELECT * FROM measurement WHERE problem = ? AND chip = ? AND device = ? "
      "AND chip_state = ? AND binary = ? AND "
      "stage <> 'compile' AND copied_from = 0 ORDER BY id DESC LIMIT 1");
  if (!statement)
    return statement.takeError();
  statement->bind(key.problem)
      .bind(key.chip)
      .bind(key.device)
      .bind(key.chipState)
      .bind(binaryHash);
  llvm::Expected<std::optional<Result>> result = findOne(*statement);
  if (result && *result)
    (*result)->copiedFrom = statement->getInteger(0);
  return result;
}

/// An objective in terms of columns.
static llvm::StringRef getCostColumns(Objective objective) {
  switch (objective) {
  case Objective::Time:
    return "median_ns";
  case Objective::Energy:
    return "energy_j";
  case Objective::EnergyDelay:
    return "energy_j * median_ns";
  }
  llvm_unreachable("all objectives are covered");
}

llvm::Expected<std::optional<Result>>
Store::findBest(const StoreKey &key, const Space &space, Objective objective) {
  llvm::Expected<Statement> statement = database->prepare(
      llvm::formatv("SELECT * FROM measurement WHERE problem = ? AND chip = ? "
                    "AND device = ? AND compiler = ? AND chip_state = ? AND "
                    "stage = 'proof' AND status = 'ok' AND {0} IS NOT NULL "
                    "ORDER BY {0}, id",
                    getCostColumns(objective))
          .str());
  if (!statement)
    return statement.takeError();
  bind(*statement, key);
  while (true) {
    llvm::Expected<std::optional<Result>> proven = findOne(*statement);
    if (!proven || !*proven)
      return proven;
    llvm::Expected<json::Value> schedule = json::parse(statement->getText(8));
    if (!schedule)
      return schedule.takeError();
    // Not where it was measured again since, or the space has other knobs now.
    const json::Object *knobs = schedule->getAsObject();
    std::optional<Point> point = knobs ? space.fromJSON(*knobs) : std::nullopt;
    if (!point)
      continue;
    int64_t newest = 0;
    llvm::Expected<std::optional<Result>> now =
        find(key, space, *point, &newest);
    if (!now)
      return now.takeError();
    if (newest == statement->getInteger(0))
      return now;
  }
}

static std::string makeClaim(const StoreKey &key, const Space &space,
                             llvm::ArrayRef<int64_t> point) {
  return llvm::formatv("{0}\n{1}\n{2}\n{3}\n{4}\n{5}", key.problem, key.chip,
                       key.device, key.compiler, key.chipState,
                       json::Value(space.toJSON(point)));
}

bool Store::claim(const StoreKey &key, const Space &space,
                  llvm::ArrayRef<int64_t> point) {
  return !claims || claims->take(makeClaim(key, space, point));
}

void Store::release(const StoreKey &key, const Space &space,
                    llvm::ArrayRef<int64_t> point) {
  if (claims)
    claims->release(makeClaim(key, space, point));
}

void Store::releaseClaims() {
  if (claims)
    claims->releaseAll();
}

llvm::Expected<std::vector<SessionInfo>> Store::getSessions() {
  llvm::Expected<Statement> statement =
      database->prepare("SELECT * FROM session ORDER BY id");
  if (!statement)
    return statement.takeError();
  std::vector<SessionInfo> sessions;
  while (true) {
    llvm::Expected<bool> row = statement->step();
    if (!row)
      return row.takeError();
    if (!*row)
      return sessions;
    if (computeChecksum(*statement, kSessionColumns) !=
        statement->getInteger(kSessionColumns))
      return makeDamageError("session", statement->getInteger(0));
    SessionInfo &session = sessions.emplace_back();
    session.id = statement->getInteger(0);
    session.key = {statement->getText(1).str(), statement->getText(2).str(),
                   statement->getText(3).str(), statement->getText(4).str(),
                   statement->getText(5).str()};
    session.problemName = statement->getText(6).str();
    session.command = statement->getText(7).str();
    session.strategy = statement->getText(8).str();
    session.seed = uint64_t(statement->getInteger(9));
    session.legal = uint64_t(statement->getInteger(10));
    session.refused = statement->getText(11).str();
    session.started = statement->getText(12).str();
    session.state = statement->getText(13).str();
    session.results = statement->getInteger(14);
  }
}

llvm::Expected<std::string> Store::getText(llvm::StringRef problem) {
  llvm::Expected<Statement> statement =
      database->prepare("SELECT *, rowid FROM problem WHERE key = ?");
  if (!statement)
    return statement.takeError();
  llvm::Expected<bool> row = statement->bind(problem).step();
  if (!row)
    return row.takeError();
  if (!*row)
    return llvm::createStringError("expects a problem with the key " + problem +
                                   " in '" + database->getPath() +
                                   "', but there is none");
  if (computeChecksum(*statement, kProblemColumns) !=
      statement->getInteger(kProblemColumns))
    return makeDamageError("problem",
                           statement->getInteger(kProblemColumns + 1));
  return statement->getText(2).str();
}

llvm::Expected<std::vector<std::pair<std::string, Result>>>
Store::getResults(int64_t session) {
  llvm::Expected<Statement> statement = database->prepare(
      "SELECT * FROM measurement WHERE session = ? ORDER BY ordinal");
  if (!statement)
    return statement.takeError();
  statement->bind(session);
  std::vector<std::pair<std::string, Result>> results;
  while (true) {
    llvm::Expected<bool> row = statement->step();
    if (!row)
      return row.takeError();
    if (!*row)
      return results;
    llvm::Expected<Result> result = readMeasurement(*statement);
    if (!result)
      return result.takeError();
    results.emplace_back(statement->getText(8).str(), std::move(*result));
  }
}

llvm::Error Store::verify() {
  llvm::Expected<Statement> check = database->prepare("PRAGMA quick_check(1)");
  if (!check)
    return check.takeError();
  llvm::Expected<bool> row = check->step();
  if (!row)
    return row.takeError();
  if (check->getText(0) != "ok")
    return llvm::createStringError("database '" + database->getPath() +
                                   "' is damaged: " + check->getText(0));

  llvm::Expected<Statement> problems =
      database->prepare("SELECT *, rowid FROM problem");
  if (!problems)
    return problems.takeError();
  while (true) {
    llvm::Expected<bool> next = problems->step();
    if (!next)
      return next.takeError();
    if (!*next)
      break;
    if (computeChecksum(*problems, kProblemColumns) !=
        problems->getInteger(kProblemColumns))
      return makeDamageError("problem",
                             problems->getInteger(kProblemColumns + 1));
  }

  llvm::Expected<std::vector<SessionInfo>> sessions = getSessions();
  if (!sessions)
    return sessions.takeError();
  for (const SessionInfo &session : *sessions) {
    auto results = getResults(session.id);
    if (!results)
      return results.takeError();
    if (int64_t(results->size()) != session.results)
      return llvm::createStringError(
          llvm::formatv("database '{0}' is damaged: session {1} expects {2} "
                        "results, but {3} "
                        "are there",
                        database->getPath(), session.id, session.results,
                        results->size())
              .str());
  }
  return llvm::Error::success();
}
