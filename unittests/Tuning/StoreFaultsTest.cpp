// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A damaged or foreign file is refused with a message and stays as it is; no
// wrong number is ever served.

#include "StoreFixture.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include <csignal>
#include <linux/capability.h>
#include <random>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace attune::tuning;

static std::string readFile(const std::string &path) {
  auto buffer = llvm::MemoryBuffer::getFile(path, false, false);
  return buffer ? (*buffer)->getBuffer().str() : "";
}

static void writeFile(const std::string &path, llvm::StringRef bytes) {
  std::error_code code;
  llvm::raw_fd_ostream(path, code) << bytes;
  ASSERT_FALSE(code);
}

static void execute(const std::string &path, const char *sql) {
  auto database = Database::open(path, Database::Mode::Create);
  ASSERT_TRUE(bool(database));
  llvm::Error error = (*database)->execute(sql);
  ASSERT_FALSE(bool(error)) << llvm::toString(std::move(error));
}

namespace {
struct StoreFaults : StoreTest {
  /// A database with rows, all of it in the main file.
  std::string makeImage() {
    {
      std::unique_ptr<Store> store = open();
      for (int64_t x = 0; x < 40; ++x)
        add(*store, makeResult(x));
    }
    return readFile(path);
  }

  void expectRefused(llvm::StringRef message) {
    std::string before = readFile(path);
    std::string error = getOpenError(path);
    EXPECT_NE(error.find(message.str()), std::string::npos) << error;
    EXPECT_NE(error.find(path), std::string::npos) << error;
    EXPECT_EQ(readFile(path), before);
  }

  /// Permissions do not bind the superuser, but one without capabilities.
  static void expectForUsers(llvm::function_ref<bool()> isAsExpected) {
    pid_t pid = fork();
    if (pid == 0) {
      __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, /*pid=*/0};
      __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {};
      if (syscall(SYS_capset, &header, none) < 0)
        _exit(2);
      _exit(isAsExpected() ? 0 : 1);
    }
    int status = 0;
    waitpid(pid, &status, 0);
    EXPECT_EQ(status, 0);
  }

  void expectRefusedToUsers(llvm::StringRef message) {
    expectForUsers([&] {
      std::string error = getOpenError(path);
      llvm::errs() << error << "\n";
      return llvm::StringRef(error).contains(path) &&
             llvm::StringRef(error).contains(message);
    });
  }

  /// A result that was added can be read.
  void expectFoundByUsers(int64_t x) {
    expectForUsers([&] {
      llvm::Expected<std::unique_ptr<Store>> store = Store::openReadOnly(path);
      if (!store) {
        llvm::errs() << llvm::toString(store.takeError()) << "\n";
        return false;
      }
      llvm::Expected<std::optional<Result>> found =
          (*store)->find(session.key, space, {x});
      return found && *found && (*found)->samples == makeResult(x).samples;
    });
  }

  /// Whether a damaged file gave a number that was never stored.
  bool servesWrongNumber() {
    llvm::Expected<std::unique_ptr<Store>> store = Store::open(path);
    if (!store) {
      llvm::consumeError(store.takeError());
      return false;
    }
    for (int64_t x = 0; x < 40; ++x) {
      llvm::Expected<std::optional<Result>> found =
          (*store)->find(session.key, space, {x});
      if (!found)
        llvm::consumeError(found.takeError());
      else if (*found && ((*found)->samples != makeResult(x).samples ||
                          (*found)->status != Status::Ok ||
                          (*found)->binaryHash != makeResult(x).binaryHash))
        return true;
    }
    return false;
  }
};
} // namespace

TEST_F(StoreFaults, TextIsRefused) {
  writeFile(path, "these are my notes, please keep them\n");
  expectRefused("not an SQLite database");
}

TEST_F(StoreFaults, ForeignDatabaseIsRefused) {
  execute(path,
          "CREATE TABLE songs(title TEXT); INSERT INTO songs VALUES('one')");
  expectRefused("another program");
}

TEST_F(StoreFaults, ForeignApplicationIsRefused) {
  execute(path, "PRAGMA application_id = 12345; PRAGMA user_version = 1; "
                "CREATE TABLE measurement(id INTEGER)");
  expectRefused("another program");
}

TEST_F(StoreFaults, NewerSchemaIsRefused) {
  makeImage();
  execute(path, "PRAGMA user_version = 10; PRAGMA wal_checkpoint(TRUNCATE)");
  expectRefused("a newer version of this tool wrote it");
}

TEST_F(StoreFaults, OlderSchemaIsRefused) {
  makeImage();
  execute(path, "PRAGMA user_version = 8; PRAGMA wal_checkpoint(TRUNCATE)");
  expectRefused("expects schema version 9, but got 8; an older version of this "
                "tool wrote it: move it away");
}

TEST_F(StoreFaults, MissingTableIsRefused) {
  makeImage();
  execute(path, "DROP VIEW best; DROP VIEW latest; DROP TABLE measurement; "
                "PRAGMA wal_checkpoint(TRUNCATE)");
  expectRefused("no such table");
}

TEST_F(StoreFaults, FolderIsRefused) {
  llvm::sys::fs::create_directory(path);
  EXPECT_NE(getOpenError(path).find("expects a regular file"),
            std::string::npos);
}

TEST_F(StoreFaults, MissingFolderIsRefused) {
  EXPECT_NE(
      getOpenError(folder / "no/such/folder/tuning.db").find("No such file"),
      std::string::npos);
}

TEST_F(StoreFaults, EmptyFileIsANewDatabase) {
  writeFile(path, "");
  EXPECT_EQ(getOpenError(path), "");
}

TEST_F(StoreFaults, EmptyFileWithALogIsRefused) {
  writeFile(path, "");
  writeFile(path + "-wal", "something that may be the only copy");
  expectRefused("its log");
  EXPECT_EQ(readFile(path + "-wal"), "something that may be the only copy");
}

TEST_F(StoreFaults, ReadOnlyFolderIsRefused) {
  chmod(folder.path.c_str(), 0555);
  expectRefusedToUsers("a folder in which its log can be written, but got: "
                       "Permission denied");
  chmod(folder.path.c_str(), 0700);
  EXPECT_FALSE(llvm::sys::fs::exists(path));
}

// As on a medium that nobody writes to.
TEST_F(StoreFaults, ReadOnlyFolderCanBeRead) {
  path = folder / "all of it? #1 100%.db";
  std::string image = makeImage();
  chmod(path.c_str(), 0444);
  chmod(folder.path.c_str(), 0555);
  expectFoundByUsers(7);
  chmod(folder.path.c_str(), 0700);
  EXPECT_EQ(readFile(path), image);
}

// A log that nobody has read back may have the newest results.
TEST_F(StoreFaults, ReadOnlyFolderWithALogLosesNothing) {
  std::unique_ptr<Store> store = open();
  add(*store, makeResult(7));
  ASSERT_TRUE(llvm::sys::fs::exists(path + "-wal"));
  for (const char *suffix : {"", "-wal", "-shm"})
    chmod((path + suffix).c_str(), 0444);
  chmod(folder.path.c_str(), 0555);
  expectFoundByUsers(7);
  chmod(folder.path.c_str(), 0700);
}

TEST_F(StoreFaults, ReadOnlyFileIsRefused) {
  std::string image = makeImage();
  chmod(folder.path.c_str(), 0755);
  chmod(path.c_str(), 0444);
  expectRefusedToUsers("Permission denied");
  EXPECT_EQ(readFile(path), image);
}

TEST_F(StoreFaults, NetworkFileSystemsAreKnown) {
  EXPECT_TRUE(isNetworkFileSystem(0x6969));
  EXPECT_TRUE(isNetworkFileSystem(int32_t(0xFF534D42)));
  EXPECT_FALSE(isNetworkFileSystem(0xEF53)); // ext4
}

TEST_F(StoreFaults, TruncationNeverServesAWrongNumber) {
  std::string image = makeImage();
  std::mt19937 generator(1);
  for (int round = 0; round < 100; ++round) {
    writeFile(path,
              llvm::StringRef(image).take_front(generator() % image.size()));
    llvm::sys::fs::remove(path + "-wal");
    llvm::sys::fs::remove(path + "-shm");
    EXPECT_FALSE(servesWrongNumber()) << "round " << round;
  }
}

TEST_F(StoreFaults, WithoutItsLogNoWrongNumberIsServed) {
  // The database of a tuner that was killed: most of it is in the log.
  pid_t pid = fork();
  if (pid == 0) {
    std::unique_ptr<Store> store = open();
    for (int64_t x = 0; x < 40; ++x)
      add(*store, makeResult(x));
    kill(getpid(), SIGKILL);
  }
  waitpid(pid, nullptr, 0);
  std::string main = readFile(path), log = readFile(path + "-wal");
  ASSERT_GT(log.size(), 10000u);
  std::mt19937 generator(3);
  int rounds = fake::choose(60, 300), prefixes = 0;
  for (int round = 0; round < rounds; ++round) {
    writeFile(path, main);
    llvm::sys::fs::remove(path + "-shm");
    llvm::sys::fs::remove(path + "-wal");
    std::string damaged = log;
    if (round % 3 == 1)
      damaged.resize(generator() % log.size());
    else if (round % 3 == 2)
      damaged[generator() % log.size()] ^= char(1u << generator() % 8);
    if (round % 3 != 0)
      writeFile(path + "-wal", damaged);
    EXPECT_FALSE(servesWrongNumber()) << "round " << round;
    // What is left is whole: the results before some moment, and their number.
    llvm::Expected<std::unique_ptr<Store>> store = Store::open(path);
    if (!store) {
      llvm::consumeError(store.takeError());
      continue;
    }
    llvm::Error error = (*store)->verify();
    EXPECT_FALSE(bool(error)) << llvm::toString(std::move(error));
    ++prefixes;
  }
  EXPECT_GT(prefixes, rounds / 2);
}

TEST_F(StoreFaults, FlippedBitsNeverServeAWrongNumber) {
  std::string image = makeImage();
  std::mt19937 generator(2);
  int noticed = 0;
  for (int round = 0; round < fake::choose(300, 1000); ++round) {
    std::string damaged = image;
    damaged[generator() % damaged.size()] ^= char(1u << generator() % 8);
    writeFile(path, damaged);
    llvm::sys::fs::remove(path + "-wal");
    llvm::sys::fs::remove(path + "-shm");
    EXPECT_FALSE(servesWrongNumber()) << "round " << round;
    llvm::Expected<std::unique_ptr<Store>> store = Store::open(path);
    llvm::Error error = store ? (*store)->verify() : store.takeError();
    noticed += bool(error);
    llvm::consumeError(std::move(error));
  }
  EXPECT_GT(noticed, 40); // the rest hits unused parts of pages
}

TEST_F(StoreFaults, AChangedRowIsNamed) {
  makeImage();
  execute(path, "UPDATE measurement SET samples_ns = '[1.0]' WHERE id = 8");
  std::unique_ptr<Store> store = open();
  llvm::Expected<std::optional<Result>> found =
      store->find(session.key, space, {7});
  ASSERT_FALSE(bool(found));
  std::string message = llvm::toString(found.takeError());
  EXPECT_NE(message.find("row 8 of table 'measurement'"), std::string::npos)
      << message;
  EXPECT_EQ(llvm::toString(store->verify()), message);
}

TEST_F(StoreFaults, AMissingRowIsNoticed) {
  makeImage();
  execute(path, "DELETE FROM measurement WHERE id = 8");
  std::string message = llvm::toString(open()->verify());
  EXPECT_NE(message.find("expects 40 results, but 39 are there"),
            std::string::npos)
      << message;
}

TEST_F(StoreFaults, AFullDiskLosesNoAcknowledgedResult) {
  pid_t pid = fork();
  if (pid == 0) {
    signal(SIGXFSZ, SIG_IGN);
    struct rlimit limit = {200 << 10,
                           200 << 10}; // no file may grow beyond 200 KiB
    setrlimit(RLIMIT_FSIZE, &limit);
    llvm::Expected<std::unique_ptr<Store>> store = Store::open(path);
    if (!store || (*store)->addProblem("problem", "p", "text") ||
        (*store)->beginSession(session))
      _exit(255);
    for (int64_t added = 0; added < 250; ++added) {
      llvm::Expected<int64_t> row =
          (*store)->add(session, space, makeResult(added % 100));
      if (!row)
        _exit(llvm::toString(row.takeError()).find(path) != std::string::npos
                  ? int(added)
                  : 254);
    }
    _exit(253);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  ASSERT_TRUE(WIFEXITED(status));
  int64_t added = WEXITSTATUS(status);
  ASSERT_GT(added, 0);
  ASSERT_LT(added, 250);
  llvm::Expected<std::unique_ptr<Store>> store = Store::open(path);
  ASSERT_TRUE(bool(store));
  EXPECT_FALSE(bool((*store)->verify()));
  EXPECT_EQ((*(*store)->getSessions())[0].results, added);
}

TEST_F(StoreFaults, AFullFileSystemLosesNoAcknowledgedResult) {
  if (geteuid() != 0)
    GTEST_SKIP() << "only the superuser mounts file systems";
  std::string place = folder / "small";
  llvm::sys::fs::create_directory(place);
  path = place + "/tuning.db";
  pid_t pid = fork();
  if (pid == 0) {
    // Of this process alone.
    constexpr int kNoMount = 77;
    if (unshare(CLONE_NEWNS) < 0 ||
        mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) < 0 ||
        mount("none", place.c_str(), "tmpfs", 0, "size=400k") < 0)
      _exit(kNoMount);
    int64_t added = 0;
    {
      std::unique_ptr<Store> store = open();
      for (;; ++added) {
        llvm::Expected<int64_t> row =
            store->add(session, space, makeResult(added % 100));
        if (row)
          continue;
        std::string message = llvm::toString(row.takeError());
        if (message.find("full") == std::string::npos)
          _exit(2);
        break;
      }
    }
    llvm::Expected<std::unique_ptr<Store>> store = Store::openReadOnly(path);
    if (!store || added == 0 || (*store)->verify() ||
        (*(*store)->getSessions())[0].results != added)
      _exit(3);
    _exit(HasFailure());
  }
  int status = 0;
  waitpid(pid, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
    GTEST_SKIP() << "no file system can be mounted here";
  EXPECT_EQ(status, 0);
}

// A result that no file has would be acknowledged.
TEST_F(StoreFaults, ARemovedFileIsNoticed) {
  std::unique_ptr<Store> store = open();
  add(*store, makeResult(1));
  llvm::sys::fs::remove(path);
  llvm::Expected<int64_t> row = store->add(session, space, makeResult(2));
  ASSERT_FALSE(bool(row));
  EXPECT_EQ(llvm::toString(row.takeError()),
            "expects the database '" + path +
                "' to stay where it is while it is in use, but it was moved or "
                "removed");
}

TEST_F(StoreFaults, ReadOnlyOpenNeedsAFile) {
  llvm::Expected<std::unique_ptr<Store>> store = Store::openReadOnly(path);
  ASSERT_FALSE(bool(store));
  EXPECT_NE(llvm::toString(store.takeError()).find("there is no such file"),
            std::string::npos);
  EXPECT_FALSE(llvm::sys::fs::exists(path));
}
