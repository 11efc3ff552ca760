// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "attune/Target/TargetRegistry.h"
#include "gtest/gtest.h"

using namespace attune;

TEST(TargetRegistry, CodeRunsWhereTheNumberIsTheSame) {
  EXPECT_TRUE(runsOn("sm_90", "sm_90"));
  EXPECT_TRUE(runsOn("sm_90a", "sm_90"));
  EXPECT_FALSE(runsOn("sm_90", "sm_90a"));
  EXPECT_FALSE(runsOn("sm_120", "sm_12"));
  EXPECT_FALSE(runsOn("sm_80", "sm_90"));
}

TEST(TargetRegistry, DevicesGetTheChipWithMostFeatures) {
  EXPECT_EQ(getChipOf("sm_90"), "sm_90a");
  EXPECT_EQ(getChipOf("sm_80"), "sm_80");
  EXPECT_EQ(getChipOf("gfx942"), "gfx942");
  EXPECT_EQ(getChipOf("sm_1"), "sm_1");
}
