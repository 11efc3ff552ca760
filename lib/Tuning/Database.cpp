// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RAII over the C API of SQLite.

#include "attune/Tuning/Database.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <sqlite3.h>

using namespace attune::tuning;

/// Long enough for a queue of writers: commits wait for the disk.
static constexpr int kBusyTimeoutMs = 60000;

void Statement::Release::operator()(sqlite3_stmt *statement) const {
  sqlite3_reset(statement);
  sqlite3_clear_bindings(statement);
  database->idle[sqlite3_sql(statement)].emplace_back(statement);
}
void Database::Finalize::operator()(sqlite3_stmt *statement) const {
  sqlite3_finalize(statement);
}
void Database::Close::operator()(sqlite3 *handle) const {
  sqlite3_close_v2(handle);
}

Statement &Statement::bind(int64_t value) {
  sqlite3_bind_int64(statement.get(), ++parameters, value);
  return *this;
}

Statement &Statement::bind(double value) {
  sqlite3_bind_double(statement.get(), ++parameters, value);
  return *this;
}

Statement &Statement::bind(llvm::StringRef value) {
  sqlite3_bind_text64(statement.get(), ++parameters,
                      value.data() ? value.data() : "", value.size(),
                      SQLITE_TRANSIENT, SQLITE_UTF8);
  return *this;
}

Statement &Statement::bind(std::nullopt_t) {
  sqlite3_bind_null(statement.get(), ++parameters);
  return *this;
}

llvm::Expected<bool> Statement::step() {
  switch (sqlite3_step(statement.get())) {
  case SQLITE_ROW:
    return true;
  case SQLITE_DONE:
    return false;
  default:
    return database->makeError("use");
  }
}

llvm::Error Statement::run() {
  llvm::Expected<bool> row = step();
  return row ? llvm::Error::success() : row.takeError();
}

int64_t Statement::getInteger(int column) const {
  return sqlite3_column_int64(statement.get(), column);
}
double Statement::getReal(int column) const {
  return sqlite3_column_double(statement.get(), column);
}

llvm::StringRef Statement::getText(int column) const {
  const unsigned char *text = sqlite3_column_text(statement.get(), column);
  return {reinterpret_cast<const char *>(text),
          size_t(sqlite3_column_bytes(statement.get(), column))};
}

bool Statement::isNull(int column) const {
  return sqlite3_column_type(statement.get(), column) == SQLITE_NULL;
}

std::optional<int64_t> Statement::getOptionalInteger(int column) const {
  return isNull(column) ? std::nullopt : std::optional(getInteger(column));
}

std::optional<double> Statement::getOptionalReal(int column) const {
  return isNull(column) ? std::nullopt : std::optional(getReal(column));
}

/// A path as a part of a URI.
static std::string escape(llvm::StringRef path) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  for (char c : path)
    if (llvm::StringRef("%?#").contains(c))
      stream << llvm::format("%%%02X", c);
    else
      stream << c;
  return text;
}

llvm::Expected<std::unique_ptr<Database>> Database::open(llvm::StringRef path,
                                                         Mode mode) {
  auto database = std::make_unique<Database>();
  database->path = path.str();
  std::string name = database->path;
  int flags = SQLITE_OPEN_READWRITE;
  if (mode == Mode::ReadOnly) {
    flags = SQLITE_OPEN_READONLY;
  } else if (mode == Mode::Unchanging) {
    flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_URI;
    name = "file:" + escape(path) + "?immutable=1";
  } else if (mode == Mode::Create) {
    flags |= SQLITE_OPEN_CREATE;
  }
  sqlite3 *handle = nullptr;
  int code = sqlite3_open_v2(name.c_str(), &handle, flags, nullptr);
  database->handle.reset(handle);
  if (code != SQLITE_OK)
    return database->makeError("open");
  sqlite3_extended_result_codes(handle, 1);
  sqlite3_busy_timeout(handle, kBusyTimeoutMs);
  return database;
}

llvm::Error Database::execute(const char *sql) {
  if (sqlite3_exec(handle.get(), sql, nullptr, nullptr, nullptr) != SQLITE_OK)
    return makeError("use");
  return llvm::Error::success();
}

llvm::Expected<Statement> Database::prepare(llvm::StringRef sql) {
  if (auto it = idle.find(sql); it != idle.end() && !it->second.empty()) {
    OwnedStatement statement = std::move(it->second.back());
    it->second.pop_back();
    return Statement(*this, statement.release());
  }
  sqlite3_stmt *statement = nullptr;
  if (sqlite3_prepare_v2(handle.get(), sql.data(), sql.size(), &statement,
                         nullptr) != SQLITE_OK)
    return makeError("use");
  return Statement(*this, statement);
}

llvm::Error Database::checkPlace() const {
  int hasMoved = 0;
  if (sqlite3_file_control(handle.get(), "main", SQLITE_FCNTL_HAS_MOVED,
                           &hasMoved) != SQLITE_OK ||
      !hasMoved)
    return llvm::Error::success();
  return llvm::createStringError("expects the database '" + path +
                                 "' to stay where it is while it is in use, "
                                 "but it was moved or removed");
}

llvm::Error Database::transact(llvm::function_ref<llvm::Error()> body) {
  if (!sqlite3_get_autocommit(handle.get()))
    return body();
  if (llvm::Error error = execute("BEGIN IMMEDIATE"))
    return error;
  llvm::Error error = body();
  if (!error)
    error = checkPlace();
  if (!error)
    error = execute("COMMIT");
  // A failed COMMIT leaves the transaction open, a full disk may have ended it
  // already.
  if (error && !sqlite3_get_autocommit(handle.get()))
    sqlite3_exec(handle.get(), "ROLLBACK", nullptr, nullptr, nullptr);
  return error;
}

llvm::Expected<int64_t> Database::queryInteger(const char *sql) {
  llvm::Expected<Statement> statement = prepare(sql);
  if (!statement)
    return statement.takeError();
  llvm::Expected<bool> row = statement->step();
  if (!row)
    return row.takeError();
  return *row ? statement->getInteger(0) : 0;
}

int64_t Database::getLastRow() const {
  return sqlite3_last_insert_rowid(handle.get());
}

llvm::Error Database::makeError(const char *doing) const {
  busy = (sqlite3_errcode(handle.get()) & 0xff) == SQLITE_BUSY;
  return llvm::createStringError(llvm::formatv("cannot {0} database '{1}': {2}",
                                               doing, path,
                                               sqlite3_errmsg(handle.get()))
                                     .str());
}
