// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A file in memory with a path, which leaves nothing on a disk whatever ends
// the process that made it.

#ifndef ATTUNE_TUNING_MEMORYFILE_H
#define ATTUNE_TUNING_MEMORYFILE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <string>

namespace attune::tuning {

class MemoryFile {
public:
  static llvm::Expected<std::unique_ptr<MemoryFile>>
  create(llvm::StringRef text);
  ~MemoryFile();

  /// Of the same user's processes, as long as this lives.
  std::string getPath() const;

private:
  explicit MemoryFile(int fd) : fd(fd) {}

  int fd;
};

} // namespace attune::tuning

#endif // ATTUNE_TUNING_MEMORYFILE_H
