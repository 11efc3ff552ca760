// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A lock on a file in the folder for temporary files, which all tuners of a
// machine share.

#include "attune/Tuning/DeviceLock.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include <cerrno>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace attune::tuning;

llvm::Expected<std::unique_ptr<DeviceLock>>
DeviceLock::open(llvm::StringRef kind, int ordinal) {
  // The same number means another device where the driver shows a part of them.
  // The CPU is none of these.
  std::string visible = kind == "cpu" ? "cpu" : "";
  for (const char *variable : {"CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES"})
    for (char c : llvm::sys::Process::GetEnv(variable).value_or(""))
      visible += llvm::isAlnum(c) ? c : '_';
  llvm::SmallString<128> path;
  llvm::sys::path::system_temp_directory(/*ErasedOnReboot=*/true, path);
  llvm::sys::path::append(
      path, llvm::formatv("attune-device-{0}{1}.lock", visible, ordinal).str());
  int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (fd < 0)
    return llvm::createStringError("cannot open '" + path +
                                   "': " + llvm::sys::StrError());
  (void)fchmod(fd, 0666); // for other users; theirs already may be
  return std::unique_ptr<DeviceLock>(new DeviceLock(fd, path.str().str()));
}

DeviceLock::~DeviceLock() { close(fd); }

llvm::Expected<DeviceLock::Turn> DeviceLock::take() {
  if (flock(fd, LOCK_EX | LOCK_NB) == 0)
    return Turn(this);
  reportWaiting(true);
  while (flock(fd, LOCK_EX) < 0)
    if (errno != EINTR)
      return llvm::createStringError("cannot lock '" + path +
                                     "': " + llvm::sys::StrError());
  reportWaiting(false);
  return Turn(this);
}

DeviceLock::Turn::~Turn() {
  if (lock)
    (void)flock(lock->fd, LOCK_UN);
}

WorkerHandlers attune::tuning::takeTurns(WorkerHandlers handlers,
                                         std::string kind, int ordinal) {
  auto lock = std::make_shared<std::unique_ptr<DeviceLock>>();
  WorkerHandlers taking;
  taking.start = [=]() -> llvm::Expected<llvm::json::Value> {
    auto opened = DeviceLock::open(kind, ordinal);
    if (!opened)
      return opened.takeError();
    *lock = std::move(*opened);
    llvm::Expected<DeviceLock::Turn> turn = (*lock)->take();
    if (!turn)
      return turn.takeError();
    return handlers.start();
  };
  taking.handle = [=](const llvm::json::Value &request) -> llvm::json::Value {
    llvm::Expected<DeviceLock::Turn> turn = (*lock)->take();
    if (!turn)
      return llvm::json::Object{{"status", "run-error"},
                                {"message", llvm::toString(turn.takeError())},
                                {"retire", true}};
    return handlers.handle(request);
  };
  return taking;
}
