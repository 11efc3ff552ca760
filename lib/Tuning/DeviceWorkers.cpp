// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Starts device workers.

#include "attune/Tuning/DeviceWorkers.h"
#include "attune/Tuning/RemoteWorker.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace attune::tuning;
namespace json = llvm::json;

std::string DeviceIdentity::describe() const {
  return llvm::formatv("{0} ({1}, driver {2})", name, chip, driver);
}

std::string DeviceIdentity::getKey() const {
  return llvm::formatv(
      "{0}, {1} SMs, {2} bytes of shared memory, {3} MHz, {4} W", describe(),
      sms, sharedBytes, clockMHz, powerLimitWatts);
}

static llvm::Expected<DeviceIdentity> readHello(const json::Value &value) {
  DeviceIdentity device;
  if (const json::Object *hello = value.getAsObject()) {
    device.kind = hello->getString("kind").value_or("").str();
    device.name = hello->getString("name").value_or("").str();
    device.chip = hello->getString("chip").value_or("").str();
    for (auto [member, field] :
         {std::pair(&DeviceIdentity::driver, "driver"),
          std::pair(&DeviceIdentity::sms, "sms"),
          std::pair(&DeviceIdentity::sharedBytes, "shared_bytes"),
          std::pair(&DeviceIdentity::clockMHz, "clock_mhz"),
          std::pair(&DeviceIdentity::powerLimitWatts, "power_limit_w"),
          std::pair(&DeviceIdentity::busyPercent, "busy_percent")})
      device.*member = hello->getInteger(field).value_or(0);
    device.hasEnergyCounter =
        hello->getBoolean("energy_counter").value_or(false);
  }
  if (device.kind.empty() || device.chip.empty())
    return llvm::createStringError("a device does not say what it is");
  return device;
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
  return readHello(hellos->front());
}

/// Whether what stands behind the launchers is what is here.
static llvm::Error checkDevices(llvm::ArrayRef<json::Value> hellos,
                                size_t local,
                                llvm::ArrayRef<std::string> launchers) {
  std::optional<std::string> known;
  for (auto [i, hello] : llvm::enumerate(hellos)) {
    llvm::Expected<DeviceIdentity> device = readHello(hello);
    if (!device)
      return device.takeError();
    std::string description = device->getKey();
    if (!known)
      known = description;
    if (*known != description)
      return llvm::createStringError(
          llvm::formatv("expects --launcher='{0}' to reach {1}, but got {2}",
                        launchers[i - local], *known, description)
              .str());
  }
  return llvm::Error::success();
}

llvm::Expected<std::unique_ptr<DeviceWorkers>>
DeviceWorkers::create(llvm::StringRef executable, const DeviceIdentity &device,
                      llvm::ArrayRef<int> ordinals,
                      llvm::ArrayRef<std::string> launchers,
                      llvm::StringRef problem, WorkerLimits limits,
                      const volatile sig_atomic_t &interrupted) {
  std::unique_ptr<DeviceWorkers> workers(new DeviceWorkers);
  auto file = MemoryFile::create(problem);
  if (!file)
    return file.takeError();
  workers->problem = std::move(*file);
  std::vector<std::string> arguments = {
      "--worker=device", "--device=" + device.kind, "--chip=" + device.chip};
  std::vector<std::vector<std::string>> commands;
  for (int ordinal : ordinals) {
    std::vector<std::string> &command = commands.emplace_back();
    command = {executable.str(), "attune-tune"};
    llvm::append_range(command, arguments);
    command.push_back("--ordinal=" + std::to_string(ordinal));
    command.push_back("--problem=" + workers->problem->getPath());
  }
  for (const std::string &launcher : launchers)
    commands.push_back(makeRemoteCommand(launcher, executable, arguments,
                                         *workers->problem, problem.size()));
  workers->pool = std::make_unique<WorkerPool>(std::move(commands), limits);
  if (launchers.empty())
    return workers;
  llvm::Expected<std::vector<json::Value>> hellos =
      workers->pool->startAll(&interrupted);
  if (!hellos)
    return hellos.takeError();
  if (llvm::Error error = checkDevices(*hellos, ordinals.size(), launchers))
    return error;
  return workers;
}
