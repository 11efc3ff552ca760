// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What tuners that share a database have under way, so that they share the work
// as well.

#ifndef ATTUNE_TUNING_CLAIMS_H
#define ATTUNE_TUNING_CLAIMS_H

#include "llvm/ADT/StringRef.h"
#include <memory>

namespace attune::tuning {

/// Names that only one holder has at a time. They are locks on single bytes far
/// behind the end of a file, which the kernel takes back when their holder
/// ends, however it does: nothing is left behind to expire or to clean up.
class Claims {
public:
  /// For a file that exists. Null where it cannot be opened for writing, or,
  /// `toLook` at what others have taken, for reading.
  static std::unique_ptr<Claims> open(llvm::StringRef path,
                                      bool toLook = false);
  ~Claims();
  Claims(const Claims &) = delete;
  Claims &operator=(const Claims &) = delete;

  /// False if another holder has it. True as well where the file system has no
  /// such locks: work is then done twice, and nothing is lost.
  bool take(llvm::StringRef name);
  void release(llvm::StringRef name);
  /// Whether a holder other than this one has a name. False as well where the
  /// file system has no such locks.
  bool isTaken(llvm::StringRef name) const;
  void releaseAll();

private:
  explicit Claims(int fd) : fd(fd) {}
  int fd;
};

} // namespace attune::tuning

#endif // ATTUNE_TUNING_CLAIMS_H
