// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What NVIDIA's driver is asked for, by the driver that the tests bring. The
// numbers are those of cuda.h.

#include "attune/Runtime/Device.h"
#include "gtest/gtest.h"

using namespace attune;

/// Of the fake driver and of its management library, which would not be loaded
/// if nothing of them were used.
extern "C" int cuInit(unsigned flags);
extern "C" int nvmlInit_v2();

/// A map of a 2x3x129x64 tensor whose rows stand 3 * 64 elements apart, as
/// those of interleaved heads do.
static TensorMapRequest makeRequest() {
  TensorMapRequest request;
  request.address = 0x1000;
  request.type = DataType::BF16;
  request.sizes = {2, 3, 129, 64};
  request.strides = {129 * 3 * 64, 64, 3 * 64, 1};
  request.box = {1, 1, 128, 32};
  request.swizzleBytes = 64;
  return request;
}

static bool mentions(const std::string &text, llvm::StringRef words) {
  return llvm::StringRef(text).contains(words);
}

/// What the driver was asked for, or the error.
static std::string encode(const TensorMapRequest &request) {
  EXPECT_EQ(cuInit(0), 0);
  auto device = llvm::cantFail(openCUDADevice(0));
  auto map = device->encodeTensorMap(request);
  if (!map)
    return llvm::toString(map.takeError());
  return reinterpret_cast<const char *>(map->data());
}

TEST(CUDA, CountsDimensionsOfTensorMapsFromTheInnermost) {
  EXPECT_EQ(encode(makeRequest()),
            "sizes 64,129,3,2; bytes 384,128,49536; box 32,128,1,1; "
            "steps 1,1,1,1; enums 9,0,2,2,0; ");
}

TEST(CUDA, KnowsTheTypesAndSwizzlesOfTensorMaps) {
  TensorMapRequest request = makeRequest();
  request.type = DataType::F16;
  request.swizzleBytes = 0;
  EXPECT_TRUE(mentions(encode(request), "enums 6,0,0,2,0"));
  request.type = DataType::F32;
  request.box.back() = 8;
  request.swizzleBytes = 32;
  EXPECT_TRUE(mentions(encode(request), "enums 7,0,1,2,0"));
  request.swizzleBytes = 128;
  EXPECT_TRUE(mentions(encode(request), "enums 7,0,3,2,0"));
  request.swizzleBytes = 16;
  EXPECT_EQ(encode(request), "expects a tensor map of a swizzle of 0, 32, 64 "
                             "or 128 bytes, but got 16");
  request.swizzleBytes = 0;
  request.box.back() = 16;
  for (auto [type, number] : {std::pair(DataType::I8, "enums 0,"),
                              {DataType::I16, "enums 1,"},
                              {DataType::I32, "enums 2,"}}) {
    request.type = type;
    EXPECT_TRUE(mentions(encode(request), number));
  }
  request.type = DataType::F64;
  EXPECT_EQ(
      encode(request),
      "expects a tensor map of elements of 8, 16 or 32 bits, but got f64");
}

TEST(CUDA, SaysWhichTensorMapTheDriverRefused) {
  setenv("FAKE_DRIVER_FAULT", "cuTensorMapEncodeTiled", /*replace=*/1);
  EXPECT_EQ(encode(makeRequest()),
            "failed to encode a tensor map of 2x3x129x64xbf16 with the strides "
            "24768x64x192x1, a box of 1x1x128x32 and a swizzle of 64 bytes: "
            "CUDA_ERROR_LAUNCH_FAILED (719), so says the fake driver");
  unsetenv("FAKE_DRIVER_FAULT");
}

TEST(CUDA, TellsItsState) {
  EXPECT_EQ(cuInit(0) + nvmlInit_v2(), 0);
  auto device = llvm::cantFail(openCUDADevice(0));
  EXPECT_EQ(device->getInfo().powerLimitWatts, 700);
  DeviceState state = device->readState();
  EXPECT_EQ(state.clockMHz, 1755);
  EXPECT_EQ(state.powerWatts, 321);
  EXPECT_EQ(state.temperatureCelsius, 54);
  EXPECT_EQ(state.throttleReasons,
            static_cast<uint32_t>(ThrottleReason::PowerCap) |
                static_cast<uint32_t>(ThrottleReason::Thermal));
  EXPECT_GT(state.energyMillijoules.value_or(0), 0);
  // What the driver cannot tell is not 0.
  setenv("FAKE_DRIVER_FAULT", "nvmlDeviceGetPowerUsage", /*replace=*/1);
  state = device->readState();
  unsetenv("FAKE_DRIVER_FAULT");
  EXPECT_EQ(state.clockMHz, 1755);
  EXPECT_EQ(state.powerWatts, std::nullopt);
}

TEST(CUDA, TellsWhoUsesIt) {
  EXPECT_EQ(cuInit(0) + nvmlInit_v2(), 0);
  auto device = llvm::cantFail(openCUDADevice(0));
  EXPECT_EQ(device->readUse().otherProcesses, 0);
  EXPECT_EQ(device->readUse().busyPercent, 0);
  setenv("FAKE_DRIVER_PROCESSES", "3", /*replace=*/1);
  setenv("FAKE_DRIVER_BUSY", "37", /*replace=*/1);
  DeviceUse use = device->readUse();
  unsetenv("FAKE_DRIVER_PROCESSES");
  unsetenv("FAKE_DRIVER_BUSY");
  EXPECT_EQ(use.otherProcesses, 2);
  EXPECT_EQ(use.busyPercent, 37);
  setenv("FAKE_DRIVER_FAULT", "nvmlDeviceGetComputeRunningProcesses_v3",
         /*replace=*/1);
  use = device->readUse();
  unsetenv("FAKE_DRIVER_FAULT");
  EXPECT_EQ(use.otherProcesses, std::nullopt);
}
