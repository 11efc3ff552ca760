// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A full disk shows when a stream is flushed, which is therefore checked before
// any file gets its name.

#include "attune/Runtime/ArtifactWriter.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <filesystem>
#include <unistd.h>

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

/// Writes all of `content`, and clears the error that the stream would
/// otherwise end the process with.
static Error write(llvm::raw_fd_ostream &stream, StringRef path,
                   StringRef content) {
  stream << content;
  stream.flush();
  if (!stream.has_error())
    return Error::success();
  std::error_code code = stream.error();
  // A reader that has gone is no error of what is written. Only a tool that
  // ignores SIGPIPE gets here, and it asks the stream.
  if (path == "-" && code == std::errc::broken_pipe)
    return Error::success();
  stream.clear_error();
  return describe("write '" + path + "'", llvm::errorCodeToError(code));
}

llvm::Expected<std::string> attune::findWritableFile(StringRef path) {
  // More links than the kernel follows.
  constexpr int kMostLinks = 40;
  std::filesystem::path file = path.str();
  std::error_code code;
  for (int links = 0; std::filesystem::is_symlink(file, code); ++links) {
    if (links == kMostLinks)
      code = std::make_error_code(std::errc::too_many_symbolic_link_levels);
    else if (auto target = std::filesystem::read_symlink(file, code); !code)
      file = file.parent_path() / target;
    if (code)
      return describe("write '" + path + "'", llvm::errorCodeToError(code));
  }
  auto permissions = llvm::sys::fs::getPermissions(file.string());
  bool isReadOnly = permissions && !(*permissions & llvm::sys::fs::all_write);
  if (isReadOnly || (permissions && access(file.c_str(), W_OK) < 0))
    return describe("write '" + path + "'",
                    llvm::errorCodeToError(
                        std::make_error_code(std::errc::permission_denied)));
  return file.string();
}

/// A file beside `path` with the content that it is going to have.
static llvm::Expected<llvm::sys::fs::TempFile>
writeTemporary(StringRef path, StringRef content) {
  auto temporary =
      llvm::sys::fs::TempFile::create(path + ".tmp%%%%%%", /*Mode=*/0666);
  if (!temporary)
    return describe("write '" + path + "'", temporary.takeError());
  llvm::raw_fd_ostream stream(temporary->FD, /*shouldClose=*/false);
  if (Error error = write(stream, path, content)) {
    llvm::consumeError(temporary->discard());
    return error;
  }
  return std::move(*temporary);
}

Error attune::writeFile(StringRef path, StringRef content) {
  if (path == "-")
    return write(llvm::outs(), path, content);
  // A name that stands for a device or a pipe must not become a file.
  if (llvm::sys::fs::exists(path) && !llvm::sys::fs::is_regular_file(path)) {
    std::error_code code;
    llvm::raw_fd_ostream stream(path, code);
    if (code)
      return describe("write '" + path + "'", llvm::errorCodeToError(code));
    return write(stream, path, content);
  }
  auto file = findWritableFile(path);
  if (!file)
    return file.takeError();
  auto temporary = writeTemporary(*file, content);
  if (!temporary)
    return temporary.takeError();
  if (Error error = temporary->keep(*file))
    return describe("write '" + path + "'", std::move(error));
  return Error::success();
}

Error ArtifactWriter::add(StringRef name, StringRef content) {
  if (std::error_code code = llvm::sys::fs::create_directories(folder))
    return describe("create the folder '" + folder + "'",
                    llvm::errorCodeToError(code));
  llvm::SmallString<128> path(folder);
  llvm::sys::path::append(path, name);
  auto file = findWritableFile(path);
  if (!file)
    return file.takeError();
  auto temporary = writeTemporary(*file, content);
  if (!temporary)
    return temporary.takeError();
  files.push_back({std::move(*temporary), std::move(*file)});
  return Error::success();
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
