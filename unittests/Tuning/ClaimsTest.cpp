// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One holder at a time.

#include "attune/Tuning/Claims.h"
#include "Fake.h"
#include "gtest/gtest.h"
#include <fstream>
#include <sys/wait.h>
#include <unistd.h>

using namespace attune::tuning;

namespace {
struct ClaimsTest : testing::Test {
  ClaimsTest() { std::ofstream(path) << "a file"; }
  fake::TemporaryFolder folder;
  std::string path = folder / "file";
};
} // namespace

TEST_F(ClaimsTest, AreOfOneHolder) {
  auto ours = Claims::open(path), theirs = Claims::open(path);
  EXPECT_TRUE(ours->take("a"));
  EXPECT_TRUE(ours->take("a"));
  EXPECT_FALSE(theirs->take("a"));
  EXPECT_TRUE(theirs->take("b"));
  ours->release("a");
  EXPECT_TRUE(theirs->take("a"));
  EXPECT_FALSE(ours->take("b"));
  theirs->releaseAll();
  EXPECT_TRUE(ours->take("a"));
  EXPECT_TRUE(ours->take("b"));
}

TEST_F(ClaimsTest, EndWithTheirHolder) {
  auto ours = Claims::open(path);
  {
    auto theirs = Claims::open(path);
    EXPECT_TRUE(theirs->take("a"));
    EXPECT_FALSE(ours->take("a"));
  }
  EXPECT_TRUE(ours->take("a"));
  ours->releaseAll();
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  pid_t pid = fork();
  if (pid == 0) {
    auto theirs = Claims::open(path);
    char taken = theirs->take("a");
    (void)!write(ready[1], &taken, 1);
    while (true)
      pause();
  }
  char taken = 0;
  ASSERT_EQ(read(ready[0], &taken, 1), 1);
  EXPECT_TRUE(taken);
  EXPECT_FALSE(ours->take("a"));
  kill(pid, SIGKILL);
  waitpid(pid, nullptr, 0);
  EXPECT_TRUE(ours->take("a"));
  close(ready[0]);
  close(ready[1]);
}

TEST_F(ClaimsTest, CanBeLookedAt) {
  auto ours = Claims::open(path), looking = Claims::open(path, true);
  EXPECT_FALSE(looking->isTaken("a"));
  EXPECT_TRUE(ours->take("a"));
  EXPECT_TRUE(looking->isTaken("a"));
  EXPECT_FALSE(looking->isTaken("b"));
  EXPECT_FALSE(ours->isTaken("a"));
  ours->release("a");
  EXPECT_FALSE(looking->isTaken("a"));
}

TEST_F(ClaimsTest, NeedAFile) { EXPECT_EQ(Claims::open(path + "/x"), nullptr); }

TEST_F(ClaimsTest, LeaveTheFileAsItIs) {
  Claims::open(path)->take("a");
  EXPECT_EQ(fake::readLines(path), std::vector<std::string>{"a file"});
}
