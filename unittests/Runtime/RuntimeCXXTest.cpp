// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The owners of attune-c/RuntimeCXX.h, with the driver that the tests bring.

#include "attune-c/RuntimeCXX.h"
#include "gtest/gtest.h"

using namespace attune::runtime;

/// Of the fake driver, which would not be loaded if nothing of it were used.
extern "C" int cuInit(unsigned flags);

static constexpr const char *kManifest = R"({
  "version": 1, "kernel": "scale", "chip": "none", "files": {},
  "arguments": [
    {"name": "in", "type": "f32", "rank": 1, "access": "read"},
    {"name": "factor", "type": "f32", "rank": 0, "scalar": true},
    {"name": "scratch", "type": "f32", "rank": 2, "access": "workspace",
     "sizes": [[{"argument": 0, "index": 0, "per": 64}], [4]],
     "alignment": 16, "contents": "zero", "restored": false}],
  "grid": [{"argument": 0, "index": 0, "per": 64}],
  "block": [64, 1, 1], "shared_bytes": 0, "resources": {}})";

TEST(RuntimeCXX, LoadsAndLaunches) {
  EXPECT_EQ(cuInit(0), 0);
  AttuneError error{};
  Device device = openDevice("cuda", 0, error);
  ASSERT_TRUE(device) << error.text;
  Kernel kernel = loadKernel(device, ".version 8.0", kManifest, error);
  ASSERT_TRUE(kernel) << error.text;
  ASSERT_EQ(attuneRuntimeGetNumArguments(kernel.get()), 3u);
  EXPECT_TRUE(attuneRuntimeGetArgument(kernel.get(), 1).isScalar);
  AttuneArgumentInfo scratch = attuneRuntimeGetArgument(kernel.get(), 2);
  EXPECT_EQ(scratch.zero, AttuneZeroEachLaunch);
  EXPECT_EQ(scratch.alignment, 16);

  int64_t size = 65;
  std::vector<AttuneArgument> arguments(3);
  arguments[0] = {AttuneDataTypeF32, 0, 0x1000, 1, &size, nullptr};
  arguments[1].type = AttuneDataTypeF32;
  arguments[2].type = AttuneDataTypeF32;
  // Two rows, for 65 elements in blocks of 64, of 4 floats.
  EXPECT_EQ(attuneRuntimeGetWorkspaceBytes(kernel.get(), arguments.data(), 3, 2,
                                           &error),
            2 * 4 * 4);
  Launch prepared = prepare(kernel, arguments, error);
  ASSERT_TRUE(prepared) << error.text;
  EXPECT_TRUE(launch(prepared, nullptr, error)) << error.text;

  // An empty tensor has an empty grid, which drivers refuse.
  setenv("FAKE_DRIVER_FAULT", "cuLaunchKernel", /*replace=*/1);
  EXPECT_FALSE(launch(prepared, nullptr, error));
  size = 0;
  Launch empty = prepare(kernel, arguments, error);
  ASSERT_TRUE(empty) << error.text;
  EXPECT_TRUE(launch(empty, nullptr, error));
  unsetenv("FAKE_DRIVER_FAULT");
}

TEST(RuntimeCXX, GivesErrorsAsValues) {
  AttuneError error{};
  EXPECT_FALSE(openDevice("tpu", 0, error));
  EXPECT_STREQ(error.text,
               "expects a device of kind auto, cuda or hip, but got 'tpu'");
  // Nobody wants to know.
  EXPECT_EQ(attuneRuntimeOpenDevice("tpu", 0, nullptr), nullptr);
  Device device = openDevice("cuda", 0, error);
  ASSERT_TRUE(device) << error.text;
  EXPECT_FALSE(loadKernel(device, ".version 8.0", "{}", error));
  EXPECT_NE(std::string(error.text).find("version"), std::string::npos);
}
