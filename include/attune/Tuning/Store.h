// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every result ever made, in one SQLite file that several tuners may share.
// A result is acknowledged only once it is on disk; a row is believed only if
// its checksum holds; a file that is not ours is never written to.

#ifndef ATTUNE_TUNING_STORE_H
#define ATTUNE_TUNING_STORE_H

#include "attune/Tuning/Claims.h"
#include "attune/Tuning/Database.h"
#include "attune/Tuning/Result.h"

namespace attune::tuning {

/// Where a result holds. All fields have to agree; there is no nearest match.
struct StoreKey {
  /// Hash of the problem's canonical text.
  std::string problem;
  std::string chip;
  /// The device and its driver, or "none" for a compile-only search.
  std::string device;
  /// Hash of everything that turns a problem into code.
  std::string compiler;
  /// The ChipState in which a device measures; empty where there is only one.
  std::string chipState;
};

struct SessionInfo {
  int64_t id = 0;
  StoreKey key;
  std::string problemName;
  std::string command;
  std::string strategy;
  uint64_t seed = 0;
  /// Legal points of the space, and refusals by id as JSON.
  uint64_t legal = 0;
  std::string refused;
  std::string started;
  /// `running`, `finished` or `interrupted`. One that says `running` without a
  /// process behind it was killed.
  std::string state = "running";
  int64_t results = 0;
};

class Store {
public:
  /// Opens or creates. Refuses what is not a database of ours, what a newer
  /// version wrote, what is damaged, and network file systems.
  static llvm::Expected<std::unique_ptr<Store>> open(llvm::StringRef path);
  /// A store that lasts as long as the process, for a search without a file.
  static llvm::Expected<std::unique_ptr<Store>> openInMemory();
  /// Opens an existing file for reading.
  static llvm::Expected<std::unique_ptr<Store>>
  openReadOnly(llvm::StringRef path);

  llvm::Error addProblem(llvm::StringRef key, llvm::StringRef name,
                         llvm::StringRef text);
  /// Sets `id` and `started`.
  llvm::Error beginSession(SessionInfo &session);
  llvm::Error endSession(SessionInfo &session, llvm::StringRef state);

  /// Everything that `body` adds reaches the disk at once, and only if it does
  /// not fail.
  llvm::Error transact(llvm::function_ref<llvm::Error()> body) {
    return database->transact(body);
  }

  /// Appends a result and counts it in its session, in one transaction. On
  /// return the result is on disk, or will be at the end of the transaction
  /// around it. Returns its row.
  llvm::Expected<int64_t> add(SessionInfo &session, const Space &space,
                              const Result &result);

  /// The newest result of a point that came as far as this search would take
  /// it; `row` becomes the number of its row.
  llvm::Expected<std::optional<Result>> find(const StoreKey &key,
                                             const Space &space,
                                             llvm::ArrayRef<int64_t> point,
                                             int64_t *row = nullptr);
  /// The best result, by an objective, that was proven and of which nothing
  /// else is known since: the stored winner. Only for exactly this key.
  llvm::Expected<std::optional<Result>>
  findBest(const StoreKey &key, const Space &space,
           Objective objective = Objective::Time);
  /// The newest result measured with an equal binary, with its row in
  /// `copiedFrom`.
  llvm::Expected<std::optional<Result>>
  findByBinary(const StoreKey &key, llvm::StringRef binaryHash);

  /// Claims a candidate for this store until it is released. False if another
  /// process has it under way: its result is going to be found here.
  bool claim(const StoreKey &key, const Space &space,
             llvm::ArrayRef<int64_t> point);
  void release(const StoreKey &key, const Space &space,
               llvm::ArrayRef<int64_t> point);
  void releaseClaims();
  /// Whether the tuner of a session that has not ended still runs.
  bool isRunning(const SessionInfo &session) const;

  /// All sessions, oldest first.
  llvm::Expected<std::vector<SessionInfo>> getSessions();
  /// The text of a problem.
  llvm::Expected<std::string> getText(llvm::StringRef problem);
  /// All results of a session, in order, with the point's JSON text.
  llvm::Expected<std::vector<std::pair<std::string, Result>>>
  getResults(int64_t session);
  /// Checks every row and every session's count of results.
  llvm::Error verify();

private:
  explicit Store(std::unique_ptr<Database> database,
                 std::unique_ptr<Claims> claims = nullptr,
                 std::unique_ptr<Claims> sessions = nullptr)
      : claims(std::move(claims)), sessions(std::move(sessions)),
        database(std::move(database)) {}
  llvm::Error makeDamageError(llvm::StringRef table, int64_t row) const;
  llvm::Expected<Result> readMeasurement(const Statement &statement) const;
  llvm::Expected<std::optional<Result>> findOne(Statement &statement);
  llvm::Error writeSession(const SessionInfo &session, bool insert);

  /// Ends after the database: to close a file ends all locks that SQLite has on
  /// it in this process. Null where nothing can be shared.
  std::unique_ptr<Claims> claims;
  /// Sessions under way, which are held as long as candidates come and go.
  std::unique_ptr<Claims> sessions;
  std::unique_ptr<Database> database;
};

/// Whether SQLite's write-ahead log cannot work on a file system (the `f_type`
/// of statfs).
bool isNetworkFileSystem(int64_t type);

} // namespace attune::tuning

#endif // ATTUNE_TUNING_STORE_H
