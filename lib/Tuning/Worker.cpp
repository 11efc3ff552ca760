// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Serves requests one at a time. A worker owns its process group, so that the
// tools it starts (an assembler) end with it.

#include "attune/Tuning/Worker.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/raw_ostream.h"
#include <csignal>
#include <fcntl.h>
#include <new>
#include <unistd.h>

using namespace attune::tuning;
namespace json = llvm::json;

static bool writeAll(int fd, llvm::StringRef text) {
  while (!text.empty()) {
    ssize_t written = write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0)
      return false;
    text = text.drop_front(written);
  }
  return true;
}

static bool send(json::Object message) {
  std::string line;
  llvm::raw_string_ostream(line) << json::Value(std::move(message)) << "\n";
  return writeAll(kWorkerAnswerFd, line);
}

void attune::tuning::reportWaiting(bool waits) {
  send(json::Object{{"waits", waits}});
}

/// The memory is gone: says so without allocating, and ends.
static void reportOutOfMemory() {
  static const char line[] = "{\"out_of_memory\":true}\n";
  (void)!write(kWorkerAnswerFd, line, sizeof(line) - 1);
  _exit(1);
}

/// The parent died: everything this worker started ends too.
static void endGroup(int) {
  kill(0, SIGKILL);
  _exit(1);
}

static bool takeWire() {
  // Tools that a handler starts must not inherit the wire.
  for (int fd : {kWorkerRequestFd, kWorkerAnswerFd})
    if (fcntl(fd, F_SETFD, FD_CLOEXEC) < 0)
      return false;
  return true;
}

int attune::tuning::serveWorker(const WorkerHandlers &handlers) {
  if (!takeWire()) {
    llvm::errs() << "error: a worker is started by the tuner and has nothing "
                    "to do on its own\n";
    return 1;
  }
  signal(SIGRTMIN, endGroup);
  std::set_new_handler(reportOutOfMemory);
  llvm::install_bad_alloc_error_handler(
      [](void *, const char *, bool) { reportOutOfMemory(); });

  llvm::Expected<json::Value> hello =
      handlers.start ? handlers.start() : json::Value(json::Object());
  if (!hello) {
    send(json::Object{{"error", llvm::toString(hello.takeError())}});
    return 1;
  }
  if (!send(json::Object{{"hello", std::move(*hello)}}))
    return 1;

  std::string buffer;
  char chunk[1 << 16];
  while (true) {
    ssize_t count = read(kWorkerRequestFd, chunk, sizeof(chunk));
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return 0;
    buffer.append(chunk, count);
    for (size_t end; (end = buffer.find('\n')) != std::string::npos;
         buffer.erase(0, end + 1)) {
      llvm::Expected<json::Value> message =
          json::parse(llvm::StringRef(buffer).take_front(end));
      if (!message) {
        llvm::errs() << "error: unreadable request: "
                     << llvm::toString(message.takeError()) << "\n";
        return 1;
      }
      const json::Object *object = message->getAsObject();
      const json::Value *request = object ? object->get("request") : nullptr;
      std::optional<int64_t> id =
          object ? object->getInteger("id") : std::nullopt;
      if (!request || !id) {
        llvm::errs()
            << "error: expects a request with an id, but got something else\n";
        return 1;
      }
      if (!send(
              json::Object{{"id", *id}, {"answer", handlers.handle(*request)}}))
        return 0;
    }
  }
}
