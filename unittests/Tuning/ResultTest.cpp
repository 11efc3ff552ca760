// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "attune/Tuning/Result.h"
#include "gtest/gtest.h"

using namespace attune::tuning;

TEST(Resources, OfSeveralKernels) {
  Resources first;
  first.registers = 168;
  first.spillBytes = 8;
  first.sharedBytes = 1024;
  first.threads = 384;
  Resources second;
  second.registers = 40;
  second.spillBytes = 4;
  second.sharedBytes = 2048;
  second.threads = 128;
  second.serializedMultiplies = 1;
  first.loopFlopsPerClock = 900;
  second.loopFlopsPerClock = 800;
  first.loopTerms = llvm::json::Object{{"matrix_clocks", 900}};
  second.loopTerms = llvm::json::Object{{"matrix_clocks", 700}, {"warps", 8}};
  first.add(second);
  EXPECT_EQ(first.registers, 168);
  EXPECT_EQ(first.spillBytes, 12);
  EXPECT_EQ(first.sharedBytes, 2048);
  EXPECT_EQ(first.threads, 384);
  EXPECT_EQ(first.serializedMultiplies, 1);
  EXPECT_EQ(first.loopFlopsPerClock, 800);
  EXPECT_EQ(first.loopTerms, second.loopTerms);
  // What nobody reports stays unknown.
  first.spillBytes = second.spillBytes = std::nullopt;
  first.add(second);
  EXPECT_EQ(first.spillBytes, std::nullopt);
}
