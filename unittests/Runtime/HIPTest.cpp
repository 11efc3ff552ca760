// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What AMD's driver is asked for, by the driver that the tests bring. Kernels
// are loaded and launched by test/Tools/attune-run/hip.mlir.

#include "attune/Runtime/Device.h"
#include "gtest/gtest.h"

using namespace attune;

/// Of the fake driver, which would not be loaded if nothing of it were used.
extern "C" int hipGetDevice(int *device);
extern "C" int hipSetDevice(int device);

namespace {
/// A variable that the fake driver reads, while it lives.
class Variable {
public:
  Variable(const char *name, const char *value) : name(name) {
    setenv(name, value, /*replace=*/1);
  }
  ~Variable() { unsetenv(name); }

private:
  const char *name;
};
} // namespace

static std::string fail(int ordinal = 0) {
  auto device = openHIPDevice(ordinal);
  return device ? "opened" : llvm::toString(device.takeError());
}

static int getCurrent() {
  int current = -1;
  EXPECT_EQ(hipGetDevice(&current), 0);
  return current;
}

TEST(HIP, TellsWhatTheDeviceIs) {
  ASSERT_EQ(hipSetDevice(0), 0);
  auto device = llvm::cantFail(openHIPDevice(0));
  const DeviceInfo &info = device->getInfo();
  EXPECT_EQ(info.name, "Fake Instinct");
  EXPECT_EQ(info.chip, "gfx942");
  EXPECT_EQ(info.sms, 304);
  EXPECT_EQ(info.sharedBytes, 65536);
  EXPECT_EQ(info.cacheBytes, 4194304);
  EXPECT_EQ(info.clockMHz, 2100);
  EXPECT_EQ(info.memoryBytes, int64_t(1) << 30);
  EXPECT_EQ(info.driverVersion, 60342131);
  // What the driver does not tell is not 0.
  EXPECT_EQ(device->readState().clockMHz, std::nullopt);
  Variable chip("FAKE_HIP_CHIP", "gfx1100");
  EXPECT_EQ(llvm::cantFail(openHIPDevice(0))->getInfo().chip, "gfx1100");
}

TEST(HIP, SaysWhatFailedWhenItIsOpened) {
  for (auto [entry, attempt] :
       {std::pair("hipInit", "no HIP device"),
        std::pair("hipGetDeviceCount", "no HIP device"),
        std::pair("hipSetDevice", "failed to open HIP device 0"),
        std::pair("hipDeviceGetName", "failed to read the name"),
        std::pair("hipGetDevicePropertiesR0600",
                  "failed to read the properties"),
        std::pair("hipDeviceTotalMem", "failed to read the memory size"),
        std::pair("hipDriverGetVersion", "failed to read the driver's version"),
        std::pair("sms", "failed to read the number of SMs"),
        std::pair("shared", "failed to read the shared memory size")}) {
    Variable fault("FAKE_DRIVER_FAULT", entry);
    EXPECT_EQ(fail(), std::string(attempt) +
                          ": hipErrorLaunchFailure (719), so says the fake "
                          "driver");
  }
  for (const char *entry : {"cache", "clock"}) {
    Variable fault("FAKE_DRIVER_FAULT", entry);
    EXPECT_EQ(fail(), "opened");
  }
  EXPECT_EQ(fail(1), "no HIP device: expects a number below 1, the number of "
                     "devices, but got 1");
}

TEST(HIP, CopiesAndFills) {
  auto device = llvm::cantFail(openHIPDevice(0));
  DeviceAddress address = llvm::cantFail(device->allocate(4));
  llvm::cantFail(device->copyToDevice(address, "abcd", 4));
  llvm::cantFail(device->fill(address + 1, 'x', 2, /*stream=*/nullptr));
  char read[4];
  llvm::cantFail(device->copyToHost(read, address, 4));
  EXPECT_EQ(std::string(read, 4), "axxd");
  llvm::cantFail(device->release(address));
  EXPECT_EQ(llvm::toString(device->release(address)),
            "failed to free memory on the device: hipErrorInvalidValue (1), so "
            "says the fake driver");
}

TEST(HIP, Times) {
  auto device = llvm::cantFail(openHIPDevice(0));
  auto start = llvm::cantFail(device->createEvent()),
       stop = llvm::cantFail(device->createEvent());
  llvm::cantFail(device->record(*start));
  llvm::cantFail(device->record(*stop));
  EXPECT_EQ(llvm::cantFail(device->getElapsed(*start, *stop)), 2.0);
  for (const char *entry : {"hipEventCreateWithFlags", "hipEventRecord",
                            "hipEventSynchronize", "hipEventElapsedTime"}) {
    Variable fault("FAKE_DRIVER_FAULT", entry);
    auto event = device->createEvent();
    bool failed = !event;
    if (event) {
      if (llvm::Error error = device->record(**event)) {
        llvm::consumeError(std::move(error));
        failed = true;
      }
      auto elapsed = device->getElapsed(*start, *stop);
      failed |= !elapsed;
      llvm::consumeError(elapsed.takeError());
    } else {
      llvm::consumeError(event.takeError());
    }
    EXPECT_TRUE(failed) << entry;
  }
}

TEST(HIP, GivesTheThreadItsDeviceBack) {
  Variable devices("FAKE_DRIVER_DEVICES", "2");
  auto device = llvm::cantFail(openHIPDevice(1));
  EXPECT_EQ(getCurrent(), 1);
  ASSERT_EQ(hipSetDevice(0), 0);
  auto kernel =
      device->loadKernel(std::string(64, '\0'), "none", /*sharedBytes=*/0);
  EXPECT_EQ(llvm::toString(kernel.takeError()),
            "failed to load the module of kernel 'none': "
            "hipErrorNoBinaryForGpu (209), so says the fake driver");
  EXPECT_EQ(getCurrent(), 0);
}
