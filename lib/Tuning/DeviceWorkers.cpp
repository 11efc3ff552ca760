// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Starts device workers. The problem travels in an anonymous memory file that
// workers open through the parent's /proc entry, so that nothing is left on a
// disk whatever ends the parent.

#include "attune/Tuning/DeviceWorkers.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/FormatVariadic.h"
#include <cerrno>
#include <sys/mman.h>
#include <unistd.h>

using namespace attune::tuning;
namespace json = llvm::json;

std::string DeviceIdentity::describe() const {
  return llvm::formatv("{0} ({1}, driver {2})", name, chip, driver);
}

llvm::Expected<DeviceIdentity>
attune::tuning::probeDevice(llvm::StringRef executable, llvm::StringRef kind,
                            int ordinal) {
  WorkerPool pool(
      {{executable.str(), "attune-tune", "--worker=device",
        "--device=" + kind.str(), "--ordinal=" + std::to_string(ordinal)}},
      {});
  llvm::Expected<std::vector<json::Value>> hellos = pool.startAll();
  if (!hellos)
    return hellos.takeError();
  DeviceIdentity device;
  if (const json::Object *hello = hellos->front().getAsObject()) {
    device.kind = hello->getString("kind").value_or("").str();
    device.name = hello->getString("name").value_or("").str();
    device.chip = hello->getString("chip").value_or("").str();
    device.driver = hello->getInteger("driver").value_or(0);
  }
  if (device.kind.empty() || device.chip.empty())
    return llvm::createStringError("a device does not say what it is");
  return device;
}

static std::string getPath(int fd) {
  return llvm::formatv("/proc/{0}/fd/{1}", getpid(), fd);
}

llvm::Expected<std::unique_ptr<DeviceWorkers>>
DeviceWorkers::create(llvm::StringRef executable, const DeviceIdentity &device,
                      llvm::ArrayRef<int> ordinals, llvm::StringRef problem,
                      WorkerLimits limits) {
  std::unique_ptr<DeviceWorkers> workers(new DeviceWorkers);
  workers->problemFd = memfd_create("attune-problem", MFD_CLOEXEC);
  if (workers->problemFd < 0)
    return llvm::createStringError("cannot make a file in memory: " +
                                   llvm::sys::StrError());
  for (llvm::StringRef left = problem; !left.empty();) {
    ssize_t count = write(workers->problemFd, left.data(), left.size());
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return llvm::createStringError("cannot write a file in memory: " +
                                     llvm::sys::StrError());
    left = left.drop_front(count);
  }
  std::vector<std::vector<std::string>> commands;
  for (int ordinal : ordinals)
    commands.push_back({executable.str(), "attune-tune", "--worker=device",
                        "--device=" + device.kind, "--chip=" + device.chip,
                        "--ordinal=" + std::to_string(ordinal),
                        "--problem=" + getPath(workers->problemFd)});
  workers->pool = std::make_unique<WorkerPool>(std::move(commands), limits);
  return workers;
}

DeviceWorkers::~DeviceWorkers() {
  pool.reset();
  if (problemFd >= 0)
    close(problemFd);
}
