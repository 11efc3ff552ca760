// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Files that tests are given.

#ifndef ATTUNE_TEST_CAPI_READFILE_H
#define ATTUNE_TEST_CAPI_READFILE_H

#include <stdio.h>
#include <stdlib.h>

/// The bytes of a file, which the caller frees; ends the program where there is
/// none.
static size_t readFile(const char *path, char **content) {
  FILE *file = fopen(path, "rb");
  if (!file || fseek(file, 0, SEEK_END) != 0)
    exit(2);
  size_t bytes = (size_t)ftell(file);
  rewind(file);
  *content = malloc(bytes);
  if (fread(*content, 1, bytes, file) != bytes)
    exit(2);
  fclose(file);
  return bytes;
}

#endif // ATTUNE_TEST_CAPI_READFILE_H
