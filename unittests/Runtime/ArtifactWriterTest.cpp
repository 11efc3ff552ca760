// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A file is there whole, or as it was before.

#include "attune/Runtime/ArtifactWriter.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "gtest/gtest.h"
#include <csignal>
#include <sys/resource.h>

using namespace attune;

namespace {
class WriteFile : public testing::Test {
protected:
  WriteFile() {
    EXPECT_FALSE(llvm::sys::fs::createUniqueDirectory("write-file", folder));
    path = folder;
    llvm::sys::path::append(path, "file");
  }
  ~WriteFile() override { llvm::sys::fs::remove_directories(folder); }

  std::string read() {
    auto file = llvm::MemoryBuffer::getFile(path);
    return file ? (*file)->getBuffer().str() : "";
  }
  /// Files in the folder.
  int count() {
    std::error_code code;
    int files = 0;
    for (llvm::sys::fs::directory_iterator it(folder, code), end; it != end;
         it.increment(code))
      ++files;
    return files;
  }

  llvm::SmallString<128> folder, path;
};

/// No file may become longer than this while it lives.
class FileSizeLimit {
public:
  explicit FileSizeLimit(rlim_t bytes) {
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    rlimit limit = before;
    limit.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() { setrlimit(RLIMIT_FSIZE, &before); }

private:
  rlimit before;
};
} // namespace

TEST_F(WriteFile, ReplacesAFile) {
  EXPECT_FALSE(writeFile(path, "first"));
  EXPECT_FALSE(writeFile(path, "second"));
  EXPECT_EQ(read(), "second");
  EXPECT_EQ(count(), 1);
}

TEST_F(WriteFile, WhatCannotBeWrittenLeavesTheOldFile) {
  EXPECT_FALSE(writeFile(path, "first"));
  std::string message;
  {
    FileSizeLimit limit(1000);
    message = llvm::toString(writeFile(path, std::string(5000, 'x')));
  }
  EXPECT_EQ(message.find("expects to write '"), 0u) << message;
  EXPECT_EQ(read(), "first");
  EXPECT_EQ(count(), 1);
}

TEST_F(WriteFile, WritesWhatALinkStandsFor) {
  EXPECT_FALSE(writeFile(path, "first"));
  llvm::SmallString<128> link(folder), second(folder);
  llvm::sys::path::append(link, "link");
  llvm::sys::path::append(second, "link of link");
  ASSERT_FALSE(llvm::sys::fs::create_link("file", link));
  ASSERT_FALSE(llvm::sys::fs::create_link(link, second));
  EXPECT_FALSE(writeFile(second, "second"));
  EXPECT_TRUE(llvm::sys::fs::is_symlink_file(second));
  EXPECT_TRUE(llvm::sys::fs::is_symlink_file(link));
  EXPECT_EQ(read(), "second");
  // Where there is no file behind it yet, one is made.
  ASSERT_FALSE(llvm::sys::fs::remove(path));
  EXPECT_FALSE(writeFile(second, "third"));
  EXPECT_EQ(read(), "third");
  // A circle has no end.
  ASSERT_FALSE(llvm::sys::fs::remove(path));
  ASSERT_FALSE(llvm::sys::fs::create_link(second, path));
  EXPECT_NE(llvm::toString(writeFile(second, "fourth")), "");
}

TEST_F(WriteFile, LeavesWhatIsReadOnly) {
  EXPECT_FALSE(writeFile(path, "first"));
  ASSERT_FALSE(llvm::sys::fs::setPermissions(path, llvm::sys::fs::all_read));
  std::string message = llvm::toString(writeFile(path, "second"));
  EXPECT_NE(message.find("Permission denied"), std::string::npos) << message;
  EXPECT_EQ(read(), "first");
  ArtifactWriter writer(folder);
  EXPECT_NE(llvm::toString(writer.add("file", "third")), "");
  EXPECT_EQ(count(), 1);
}

TEST_F(WriteFile, DoesNotMakeFolders) {
  llvm::sys::path::append(path, "below");
  EXPECT_NE(llvm::toString(writeFile(path, "text")), "");
  EXPECT_EQ(count(), 0);
}

TEST_F(WriteFile, WhatIsNoFileStaysWhatItIs) {
  llvm::sys::fs::file_status before, after;
  ASSERT_FALSE(llvm::sys::fs::status("/dev/null", before));
  ASSERT_EQ(before.type(), llvm::sys::fs::file_type::character_file);
  EXPECT_FALSE(writeFile("/dev/null", "text"));
  ASSERT_FALSE(llvm::sys::fs::status("/dev/null", after));
  EXPECT_EQ(after.type(), llvm::sys::fs::file_type::character_file);
}
