// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A full disk shows when a stream is flushed, which is therefore checked before
// any file gets its name.

#include "attune/Runtime/ArtifactWriter.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace attune;
using llvm::Error;
using llvm::StringRef;

static Error describe(const llvm::Twine &attempt, Error error) {
  return llvm::createStringError("expects to " + attempt + ", but got: " +
                                 llvm::toString(std::move(error)));
}

ArtifactWriter::~ArtifactWriter() {
  for (File &file : files)
    llvm::consumeError(file.temporary.discard());
}

Error ArtifactWriter::add(StringRef name, StringRef content) {
  if (std::error_code code = llvm::sys::fs::create_directories(folder))
    return describe("create the folder '" + folder + "'",
                    llvm::errorCodeToError(code));
  llvm::SmallString<128> path(folder);
  llvm::sys::path::append(path, name);
  auto temporary =
      llvm::sys::fs::TempFile::create(path + ".tmp%%%%%%", /*Mode=*/0666);
  if (!temporary)
    return describe("write '" + path + "'", temporary.takeError());
  files.push_back({std::move(*temporary), path.str().str()});
  llvm::raw_fd_ostream stream(files.back().temporary.FD, /*shouldClose=*/false);
  stream << content;
  stream.flush();
  if (!stream.has_error())
    return Error::success();
  std::error_code code = stream.error();
  stream.clear_error();
  return describe("write '" + path + "'", llvm::errorCodeToError(code));
}

Error ArtifactWriter::commit() {
  for (auto [position, file] : llvm::enumerate(files)) {
    Error error = file.temporary.keep(file.path);
    if (!error)
      continue;
    for (const File &named : llvm::ArrayRef<File>(files).take_front(position))
      (void)llvm::sys::fs::remove(named.path);
    return describe("write '" + file.path + "'", std::move(error));
  }
  files.clear();
  return Error::success();
}
