// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An anonymous file that others open through /proc.

#include "attune/Tuning/MemoryFile.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/FormatVariadic.h"
#include <cerrno>
#include <sys/mman.h>
#include <unistd.h>

using namespace attune::tuning;

llvm::Expected<std::unique_ptr<MemoryFile>>
MemoryFile::create(llvm::StringRef text) {
  int fd = memfd_create("attune", MFD_CLOEXEC);
  if (fd < 0)
    return llvm::createStringError("cannot make a file in memory: " +
                                   llvm::sys::StrError());
  std::unique_ptr<MemoryFile> file(new MemoryFile(fd));
  while (!text.empty()) {
    ssize_t count = write(fd, text.data(), text.size());
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return llvm::createStringError("cannot write a file in memory: " +
                                     llvm::sys::StrError());
    text = text.drop_front(count);
  }
  return file;
}

MemoryFile::~MemoryFile() { close(fd); }

std::string MemoryFile::getPath() const {
  return llvm::formatv("/proc/{0}/fd/{1}", getpid(), fd);
}
