// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes files whole or not at all, and several of them all or none.

#ifndef ATTUNE_RUNTIME_ARTIFACTWRITER_H
#define ATTUNE_RUNTIME_ARTIFACTWRITER_H

#include "llvm/Support/Error.h"
#include "llvm/Support/FileSystem.h"
#include <vector>

namespace attune {

/// The file that is written where `path` is to be: the one behind it where that
/// is a symbolic link. Fails for a file that is read-only, which renaming
/// another into its place would not notice.
llvm::Expected<std::string> findWritableFile(llvm::StringRef path);

/// Writes one file: until all of `content` is on disk, what was at `path`
/// before stays. "-" is standard output.
llvm::Error writeFile(llvm::StringRef path, llvm::StringRef content);

/// Files are written under temporary names in their folder and get their own
/// names in commit(). Without commit(), or where that fails, none stays.
class ArtifactWriter {
public:
  explicit ArtifactWriter(llvm::StringRef folder) : folder(folder.str()) {}
  ~ArtifactWriter();

  /// Creates the folder where it does not exist.
  llvm::Error add(llvm::StringRef name, llvm::StringRef content);
  llvm::Error commit();

private:
  struct File {
    llvm::sys::fs::TempFile temporary;
    std::string path;
  };
  std::string folder;
  std::vector<File> files;
};

} // namespace attune

#endif // ATTUNE_RUNTIME_ARTIFACTWRITER_H
