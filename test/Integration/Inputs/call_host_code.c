// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls FUNCTION, the C interface of compiled host code, twice on streams 1 and
// 2 with buffers of the shapes on the command line. With --no-memory there is
// none for workspaces. Addresses of buffers are made up: nobody reads them.

#include "attune-c/Host.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void FUNCTION(AttuneContext *, void *, void *, void *, void *);

/// MLIR's descriptor of a memref: the strides lie right behind the sizes.
typedef struct Memref {
  void *allocated, *aligned;
  int64_t offset, extents[10];
} Memref;

static void *allocate(void *user, size_t bytes, size_t alignment,
                      void *stream) {
  printf("allocate %zu bytes, aligned to %zu, on stream %zu\n", bytes,
         alignment, (size_t)stream);
  ++*(int *)user;
  return aligned_alloc(256, (bytes + 255) / 256 * 256);
}

static void release(void *user, void *address, void *stream) {
  printf("release on stream %zu\n", (size_t)stream);
  --*(int *)user;
  free(address);
}

static Memref parse(const char *shape, size_t address) {
  Memref memref = {(void *)address, (void *)address, 0, {0}};
  int rank = 0;
  do
    memref.extents[rank++] = strtol(shape, (char **)&shape, 10);
  while (*shape++ == 'x');
  int64_t stride = 1;
  for (int dim = rank; dim-- > 0; stride *= memref.extents[dim])
    memref.extents[rank + dim] = stride;
  return memref;
}

int main(int argc, char **argv) {
  setvbuf(stdout, NULL, _IONBF, 0); // in order with what the driver tells
  AttuneError error = {""};
  AttuneDevice *device = attuneRuntimeOpenDevice("cuda", 0, &error);
  if (!device) {
    printf("device: %s\n", error.text);
    return 1;
  }
  int first = argc > 1 && strcmp(argv[1], "--no-memory") == 0 ? 2 : 1;
  if (argc - first != 4)
    return 2;
  int allocated = 0;
  AttuneMemory memory = {allocate, release, &allocated};
  AttuneContext *context =
      attuneRuntimeCreateContext(device, first == 2 ? NULL : &memory);
  Memref buffers[4];
  for (int i = 0; i < 4; ++i)
    buffers[i] = parse(argv[first + i], 0x10000 * (i + 1));
  bool good = true;
  for (size_t stream = 1; stream <= 2; ++stream) {
    attuneRuntimeBegin(context, (void *)stream);
    FUNCTION(context, &buffers[0], &buffers[1], &buffers[2], &buffers[3]);
    bool ended = attuneRuntimeEnd(context, &error);
    printf("%s\n", ended ? "done" : error.text);
    good &= ended;
  }
  attuneRuntimeDestroyContext(context);
  attuneRuntimeCloseDevice(device);
  printf("%d allocations are left\n", allocated);
  return !good;
}
