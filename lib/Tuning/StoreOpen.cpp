// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which files the store accepts. Everything is looked at before anything is
// written: a file that is not ours stays as it is, byte for byte.

#include "Schema.h"
#include "attune/Tuning/Store.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

using namespace attune::tuning;

bool attune::tuning::isNetworkFileSystem(int64_t type) {
  switch (uint32_t(type)) {
  case 0x6969:     // NFS
  case 0x517B:     // SMB
  case 0xFE534D42: // SMB2
  case 0xFF534D42: // CIFS
  case 0x5346414F: // AFS
  case 0x0BD00BD0: // Lustre
  case 0x47504653: // GPFS
  case 0x00C36400: // Ceph
  case 0x19830326: // BeeGFS
    return true;
  default:
    return false;
  }
}

static llvm::Error refuse(llvm::StringRef path, const llvm::Twine &why) {
  return llvm::createStringError("cannot use '" + path +
                                 "' as a tuning database: " + why);
}

/// Where the file is, and its log while it is open.
static std::string getFolder(llvm::StringRef path) {
  llvm::StringRef parent = llvm::sys::path::parent_path(path);
  return parent.empty() ? "." : parent.str();
}

/// Looks at the file without SQLite, which would accept an empty or foreign
/// one. Returns whether there is anything in it.
static llvm::Expected<bool> inspect(llvm::StringRef path) {
  std::string file = path.str();
  struct statfs system;
  if (statfs(getFolder(path).c_str(), &system) < 0)
    return refuse(path, llvm::sys::StrError());
  if (isNetworkFileSystem(system.f_type))
    return refuse(path, "it is on a network file system, where concurrent "
                        "writers can lose results; choose a local "
                        "folder");
  struct stat info;
  if (stat(file.c_str(), &info) < 0) {
    if (errno == ENOENT)
      return false;
    return refuse(path, llvm::sys::StrError());
  }
  if (!S_ISREG(info.st_mode))
    return refuse(path, "expects a regular file, but it is something else");
  if (info.st_size == 0) {
    struct stat log;
    if (stat((file + "-wal").c_str(), &log) == 0 && log.st_size > 0)
      return refuse(path,
                    "it is empty, but its log '" + path +
                        "-wal' is not: the file was damaged; move both away to "
                        "start anew");
    return false;
  }
  auto header = llvm::MemoryBuffer::getFileSlice(
      file, std::min<uint64_t>(info.st_size, 16), 0);
  if (!header)
    return refuse(path, header.getError().message());
  static constexpr char magic[16] = "SQLite format 3";
  if ((*header)->getBuffer() != llvm::StringRef(magic, sizeof(magic)))
    return refuse(path, "it is not an SQLite database");
  return true;
}

/// Says whether an SQLite file is ours (true), still without tables (false), or
/// neither.
static llvm::Expected<bool> identify(Database &database) {
  llvm::Expected<int64_t> application =
      database.queryInteger("PRAGMA application_id");
  if (!application)
    return application.takeError();
  llvm::Expected<int64_t> version =
      database.queryInteger("PRAGMA user_version");
  if (!version)
    return version.takeError();
  llvm::Expected<int64_t> tables =
      database.queryInteger("SELECT count(*) FROM sqlite_master");
  if (!tables)
    return tables.takeError();
  if (*application == 0 && *version == 0 && *tables == 0)
    return false;
  if (*application != kApplicationId)
    return refuse(database.getPath(),
                  "it is an SQLite database of another program");
  if (*version != kSchemaVersion)
    return refuse(database.getPath(),
                  llvm::formatv("expects schema version {0}, but got {1}{2}",
                                kSchemaVersion, *version,
                                *version > kSchemaVersion
                                    ? "; a newer version of this tool wrote it"
                                    : "; an older version of this tool wrote "
                                      "it: move it away to start anew")
                      .str());
  // A schema that misses a table or a column is found here, not in mid-search.
  for (const char *probe :
       {"SELECT key, name, text, checksum FROM problem",
        "SELECT results, checksum FROM session",
        "SELECT schedule, samples_ns, binary, checksum FROM measurement"}) {
    llvm::Expected<Statement> statement = database.prepare(probe);
    if (!statement)
      return statement.takeError();
  }
  return true;
}

/// The same on one state of the file: another tuner may be creating it.
static llvm::Expected<bool> identifyAtOnce(Database &database) {
  if (llvm::Error error = database.execute("BEGIN"))
    return error;
  llvm::Expected<bool> ours = identify(database);
  llvm::Error error = database.execute("ROLLBACK");
  if (!ours) {
    llvm::consumeError(std::move(error));
    return ours;
  }
  if (error)
    return error;
  return ours;
}

static llvm::Error createSchema(Database &database) {
  // Another tuner may be here too: whoever takes the lock first creates.
  return database.transact([&]() -> llvm::Error {
    llvm::Expected<bool> ours = identify(database);
    if (!ours)
      return ours.takeError();
    if (*ours)
      return llvm::Error::success();
    if (llvm::Error error = database.execute(kSchema))
      return error;
    return database.execute(
        llvm::formatv("PRAGMA application_id = {0}; PRAGMA user_version = {1}",
                      kApplicationId, kSchemaVersion)
            .str()
            .c_str());
  });
}

llvm::Expected<std::unique_ptr<Store>> Store::open(llvm::StringRef path) {
  llvm::Expected<bool> hasContent = inspect(path);
  if (!hasContent)
    return hasContent.takeError();
  if (access(getFolder(path).c_str(), W_OK) < 0)
    return refuse(path, "expects a folder in which its log can be written, but "
                        "got: " +
                            llvm::sys::StrError());
  bool existed = llvm::sys::fs::exists(path);
  llvm::Expected<std::unique_ptr<Database>> database =
      Database::open(path, Database::Mode::Create);
  if (!database)
    return database.takeError();

  auto prepare = [&]() -> llvm::Error {
    if (access(path.str().c_str(), W_OK) < 0)
      return refuse(path, llvm::sys::StrError());
    llvm::Expected<bool> ours = identifyAtOnce(**database);
    if (!ours)
      return ours.takeError();
    // FULL: an acknowledged result survives a power cut too.
    if (llvm::Error error = (*database)->execute(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL"))
      return error;
    return *ours ? llvm::Error::success() : createSchema(**database);
  };
  // Where several tuners create the file at once, the change to a write-ahead
  // log fails at once instead of waiting as other statements do.
  llvm::Error error = prepare();
  for (int attempt = 0; error && (*database)->isBusy() && attempt < 600;
       ++attempt) {
    llvm::consumeError(std::move(error));
    usleep(50000);
    error = prepare();
  }
  if (error) {
    database->reset();
    uint64_t size = 0;
    if (!existed && !llvm::sys::fs::file_size(path, size) && size == 0)
      llvm::sys::fs::remove(path);
    return error;
  }
  return std::unique_ptr<Store>(
      new Store(std::move(*database), Claims::open(path), Claims::open(path)));
}

llvm::Expected<std::unique_ptr<Store>> Store::openInMemory() {
  llvm::Expected<std::unique_ptr<Database>> database =
      Database::open(":memory:", Database::Mode::Create);
  if (!database)
    return database.takeError();
  if (llvm::Error error = createSchema(**database))
    return error;
  return std::unique_ptr<Store>(new Store(std::move(*database)));
}

llvm::Expected<std::unique_ptr<Store>>
Store::openReadOnly(llvm::StringRef path) {
  llvm::Expected<bool> hasContent = inspect(path);
  if (!hasContent)
    return hasContent.takeError();
  if (!*hasContent)
    return refuse(path, llvm::sys::fs::exists(path) ? "it is empty"
                                                    : "there is no such file");
  // Reading, too, makes a log where there is none, but for a file that nobody
  // changes, as on a medium that cannot be written.
  bool isUnchanging = access(getFolder(path).c_str(), W_OK) < 0 &&
                      !llvm::sys::fs::exists(path + "-wal");
  llvm::Expected<std::unique_ptr<Database>> database =
      Database::open(path, isUnchanging ? Database::Mode::Unchanging
                                        : Database::Mode::ReadOnly);
  if (!database)
    return database.takeError();
  llvm::Expected<bool> ours = identifyAtOnce(**database);
  if (!ours)
    return ours.takeError();
  if (!*ours)
    return refuse(path, "it has no tables");
  return std::unique_ptr<Store>(new Store(std::move(*database),
                                          /*claims=*/nullptr,
                                          Claims::open(path, /*toLook=*/true)));
}
