// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Locks of the open file description (fcntl(2)): two stores of one process
// exclude each other, too, and SQLite's own locks, which are elsewhere in the
// file, are not touched.

#include "attune/Tuning/Claims.h"
#include "llvm/Support/xxhash.h"
#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

using namespace attune::tuning;

/// Names become bytes from here on. No database is as long.
static constexpr off_t kFirstByte = off_t(1) << 62;

std::unique_ptr<Claims> Claims::open(llvm::StringRef path, bool toLook) {
  int fd = ::open(path.str().c_str(), (toLook ? O_RDONLY : O_RDWR) | O_CLOEXEC);
  return fd < 0 ? nullptr : std::unique_ptr<Claims>(new Claims(fd));
}

Claims::~Claims() { close(fd); }

static struct flock makeLock(short type, off_t start, off_t length) {
  struct flock lock = {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = start;
  lock.l_len = length;
  return lock;
}

/// Two names of one byte exclude each other, which costs time only, and among
/// as many bytes there are none.
static off_t getByte(llvm::StringRef name) {
  return kFirstByte + off_t(llvm::xxh3_64bits(name) >> 3);
}

bool Claims::take(llvm::StringRef name) {
  struct flock lock = makeLock(F_WRLCK, getByte(name), 1);
  return fcntl(fd, F_OFD_SETLK, &lock) == 0 ||
         (errno != EAGAIN && errno != EACCES);
}

void Claims::release(llvm::StringRef name) {
  struct flock lock = makeLock(F_UNLCK, getByte(name), 1);
  (void)fcntl(fd, F_OFD_SETLK, &lock);
}

bool Claims::isTaken(llvm::StringRef name) const {
  struct flock lock = makeLock(F_WRLCK, getByte(name), 1);
  return fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

void Claims::releaseAll() {
  struct flock lock = makeLock(F_UNLCK, kFirstByte, 0);
  (void)fcntl(fd, F_OFD_SETLK, &lock);
}
