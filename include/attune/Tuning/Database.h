// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The little of SQLite that the store needs, with its resources owned. Values
// that are bound or read are integers, reals, texts and nulls.

#ifndef ATTUNE_TUNING_DATABASE_H
#define ATTUNE_TUNING_DATABASE_H

#include "llvm/ADT/FunctionExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

struct sqlite3;
struct sqlite3_stmt;

namespace attune::tuning {

class Database;

/// A prepared statement. Parameters are bound in order; columns are read in
/// order.
class Statement {
public:
  Statement &bind(int64_t value);
  Statement &bind(double value);
  Statement &bind(llvm::StringRef value);
  Statement &bind(std::nullopt_t);
  template <typename T> Statement &bind(const std::optional<T> &value) {
    return value ? bind(*value) : bind(std::nullopt);
  }

  /// True with a row to read, false at the end.
  llvm::Expected<bool> step();
  /// For a statement that returns no row.
  llvm::Error run();

  int64_t getInteger(int column) const;
  double getReal(int column) const;
  llvm::StringRef getText(int column) const;
  bool isNull(int column) const;
  std::optional<int64_t> getOptionalInteger(int column) const;
  std::optional<double> getOptionalReal(int column) const;

private:
  friend class Database;
  /// Gives it back to the database.
  struct Release {
    Database *database;
    void operator()(sqlite3_stmt *statement) const;
  };
  Statement(Database &database, sqlite3_stmt *statement)
      : database(&database), statement(statement, Release{&database}) {}

  Database *database;
  std::unique_ptr<sqlite3_stmt, Release> statement;
  int parameters = 0;
};

class Database {
public:
  /// Unchanging: read without a lock or a log, neither of which can be written
  /// beside a file that nobody changes.
  enum class Mode { Unchanging, ReadOnly, ReadWrite, Create };
  static llvm::Expected<std::unique_ptr<Database>> open(llvm::StringRef path,
                                                        Mode mode);

  llvm::Error execute(const char *sql);
  /// A statement that was used before is not compiled again.
  llvm::Expected<Statement> prepare(llvm::StringRef sql);
  /// Runs `body` between BEGIN IMMEDIATE and COMMIT; rolls back where it fails.
  /// IMMEDIATE, because a transaction that first reads and then wants to write
  /// fails at once, whatever the busy timeout, when another writer was faster.
  /// Inside of another transaction it is a part of that.
  llvm::Error transact(llvm::function_ref<llvm::Error()> body);
  llvm::Expected<int64_t> queryInteger(const char *sql);
  int64_t getLastRow() const;

  /// Whether the last error was that another process held a lock.
  bool isBusy() const { return busy; }

  llvm::StringRef getPath() const { return path; }
  /// The error of the last call, with the path.
  llvm::Error makeError(const char *doing) const;

private:
  friend class Statement;
  /// That what is written now is in a file that can be found again.
  llvm::Error checkPlace() const;
  struct Close {
    void operator()(sqlite3 *handle) const;
  };
  std::string path;
  std::unique_ptr<sqlite3, Close> handle;
  struct Finalize {
    void operator()(sqlite3_stmt *statement) const;
  };
  using OwnedStatement = std::unique_ptr<sqlite3_stmt, Finalize>;
  /// Statements that nobody uses now, by their text.
  llvm::StringMap<std::vector<OwnedStatement>> idle;
  mutable bool busy = false;
};

} // namespace attune::tuning

#endif // ATTUNE_TUNING_DATABASE_H
