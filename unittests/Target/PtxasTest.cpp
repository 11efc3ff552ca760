// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reports of ptxas, as it printed them.

#include "NVIDIA/Common/Ptxas.h"
#include "gtest/gtest.h"

using namespace attune;

TEST(Ptxas, ReadsAPlainReport) {
  KernelResources resources = nvidia::parsePtxasReport(
      "ptxas info    : 0 bytes gmem\n"
      "ptxas info    : Compiling entry function 'k' for 'sm_90'\n"
      "ptxas info    : Function properties for k\n"
      "    304 bytes stack frame, 700 bytes spill stores, 596 bytes spill "
      "loads\n"
      "ptxas info    : Used 255 registers, used 1 barriers, 304 bytes "
      "cumulative stack size, 1024 bytes smem\n"
      "ptxas info    : Compile time = 12.345 ms\n");
  EXPECT_EQ(resources.registers, 255);
  EXPECT_EQ(resources.stackBytes, 304);
  EXPECT_EQ(resources.spillStoreBytes, 700);
  EXPECT_EQ(resources.spillLoadBytes, 596);
  EXPECT_EQ(resources.staticSharedBytes, 1024);
  EXPECT_FALSE(resources.scalarRegisters);
  EXPECT_TRUE(resources.warnings.empty());
}

TEST(Ptxas, SharedMemoryThatIsNotNamedIsNone) {
  KernelResources resources = nvidia::parsePtxasReport(
      "ptxas info    : Used 12 registers, used 0 barriers\n");
  EXPECT_EQ(resources.registers, 12);
  EXPECT_EQ(resources.staticSharedBytes, 0);
  EXPECT_FALSE(resources.spillStoreBytes);
}

TEST(Ptxas, KeepsWarningsAndNotices) {
  KernelResources resources = nvidia::parsePtxasReport(
      "ptxas info    : (C7512) Potential Performance Loss: wgmma.mma_async "
      "instructions are serialized due to insufficient register resources\n"
      "ptxas warning : Value of threads per SM for entry k is out of range\n"
      "ptxas info    : Used 168 registers\n");
  ASSERT_EQ(resources.warnings.size(), 2u);
  EXPECT_NE(resources.warnings[0].find("C7512"), std::string::npos);
  EXPECT_EQ(resources.registers, 168);
  EXPECT_EQ(resources.serializedMultiplies, 1);
}

TEST(Ptxas, OtherNoticesSerializeNothing) {
  KernelResources resources = nvidia::parsePtxasReport(
      "ptxas info    : (C7519) Potential Performance Loss: wgmma.fence is "
      "inserted\n"
      "ptxas info    : Used 168 registers\n");
  EXPECT_EQ(resources.warnings.size(), 1u);
  EXPECT_FALSE(resources.serializedMultiplies);
}

TEST(Ptxas, TakesTheLargestOfSeveralKernels) {
  KernelResources resources =
      nvidia::parsePtxasReport("ptxas info : Used 40 registers, 16 bytes smem\n"
                               "ptxas info : Used 30 registers\n");
  EXPECT_EQ(resources.registers, 40);
  EXPECT_EQ(resources.staticSharedBytes, 16);
}

TEST(Ptxas, NothingIsReportedByNothing) {
  KernelResources resources = nvidia::parsePtxasReport("");
  EXPECT_FALSE(resources.registers);
  EXPECT_FALSE(resources.staticSharedBytes);
}

TEST(Ptxas, APathThatIsWrongIsNotReplaced) {
  EXPECT_EQ(nvidia::findPtxas("/nonexistent/ptxas"), "");
}
