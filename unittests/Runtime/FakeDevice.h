// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A device in host memory, whose kernels are C++ functions and whose clock
// advances by what a test says.

#ifndef ATTUNE_UNITTESTS_RUNTIME_FAKEDEVICE_H
#define ATTUNE_UNITTESTS_RUNTIME_FAKEDEVICE_H

#include "attune/Runtime/Device.h"
#include <cstring>
#include <functional>
#include <map>
#include <set>

namespace attune {

class FakeDevice : public Device {
public:
  /// Gets pointers to the parameters, as a driver does.
  using Body = std::function<void(const LaunchShape &, llvm::ArrayRef<void *>)>;

  FakeDevice() {
    info.name = "fake";
    info.chip = "fake";
    info.cacheBytes = 64;
  }

  std::map<std::string, Body> kernels;
  /// Milliseconds that the next launches take; the last one repeats.
  std::vector<double> durations{1.0};
  /// Clocks that it tells when it is asked next; the last one repeats, and
  /// without one it cannot tell.
  std::vector<int> clocks;
  /// Or else what it says at a time of its own, in milliseconds; null for
  /// nothing.
  std::function<DeviceState(double)> tell;
  /// Who uses it, and who does after it was asked for the first time if that is
  /// another answer.
  DeviceUse use;
  std::optional<DeviceUse> laterUse;
  /// Every call that queues work, by name.
  std::vector<std::string> queued;
  std::set<DeviceAddress> allocations;
  /// What maps were asked for. The words of a map are those of its number.
  std::vector<TensorMapRequest> maps;
  DeviceInfo info;

  ~FakeDevice() override {
    for (DeviceAddress address : allocations)
      std::free(reinterpret_cast<void *>(address));
  }
  const DeviceInfo &getInfo() const override { return info; }
  DeviceState readState() override {
    if (tell)
      return tell(now);
    DeviceState state;
    if (!clocks.empty())
      state.clockMHz = clocks.front();
    if (clocks.size() > 1)
      clocks.erase(clocks.begin());
    return state;
  }
  DeviceUse readUse() override {
    return std::exchange(use, laterUse.value_or(use));
  }
  /// Milliseconds of its time so far.
  double getTime() const { return now; }
  /// Time in which it has nothing to do.
  void idle(double milliseconds) { now += milliseconds; }
  llvm::Expected<DeviceAddress> allocate(int64_t bytes) override {
    auto address = reinterpret_cast<DeviceAddress>(std::malloc(bytes));
    allocations.insert(address);
    return address;
  }
  llvm::Error release(DeviceAddress address) override {
    if (!allocations.erase(address))
      return llvm::createStringError("released twice");
    std::free(reinterpret_cast<void *>(address));
    return llvm::Error::success();
  }
  llvm::Error copyToDevice(DeviceAddress target, const void *source,
                           int64_t bytes) override {
    if (bytes > 0) // the source of nothing may be null
      std::memcpy(reinterpret_cast<void *>(target), source, bytes);
    return llvm::Error::success();
  }
  llvm::Error copyToHost(void *target, DeviceAddress source,
                         int64_t bytes) override {
    if (bytes > 0)
      std::memcpy(target, reinterpret_cast<void *>(source), bytes);
    return llvm::Error::success();
  }
  llvm::Error fill(DeviceAddress target, uint8_t byte, int64_t bytes,
                   void *) override {
    queued.push_back("fill");
    std::memset(reinterpret_cast<void *>(target), byte, bytes);
    return llvm::Error::success();
  }

  struct FakeKernel : Kernel {
    Body body;
  };
  struct FakeEvent : Event {
    double time = 0;
  };

  llvm::Expected<std::unique_ptr<Kernel>>
  loadKernel(llvm::StringRef, llvm::StringRef name, int64_t) override {
    auto kernel = std::make_unique<FakeKernel>();
    kernel->body = kernels[name.str()];
    return kernel;
  }
  llvm::Error launch(Kernel &kernel, const LaunchShape &shape,
                     llvm::ArrayRef<void *> arguments) override {
    queued.push_back("launch");
    if (auto &body = static_cast<FakeKernel &>(kernel).body)
      body(shape, arguments);
    now += durations.front();
    if (durations.size() > 1)
      durations.erase(durations.begin());
    return llvm::Error::success();
  }
  llvm::Expected<TensorMap>
  encodeTensorMap(const TensorMapRequest &request) override {
    if (auto error = request.check())
      return std::move(error);
    maps.push_back(request);
    TensorMap map;
    map.fill(maps.size());
    return map;
  }
  llvm::Error synchronize() override { return llvm::Error::success(); }
  llvm::Expected<std::unique_ptr<Event>> createEvent() override {
    return std::make_unique<FakeEvent>();
  }
  llvm::Error record(Event &event) override {
    queued.push_back("record");
    static_cast<FakeEvent &>(event).time = now;
    return llvm::Error::success();
  }
  llvm::Expected<double> getElapsed(Event &start, Event &stop) override {
    return static_cast<FakeEvent &>(stop).time -
           static_cast<FakeEvent &>(start).time;
  }

private:
  double now = 0;
};

} // namespace attune

#endif // ATTUNE_UNITTESTS_RUNTIME_FAKEDEVICE_H
