// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What compiled host code runs in: functions that convert-host-to-llvm made
// take an AttuneContext first. libAttuneRuntime.so has these functions.
//
//   attuneRuntimeBegin(context, stream);
//   _mlir_ciface_attention(context, &query, &key, &value, &output);
//   if (!attuneRuntimeEnd(context, &error))
//     ...
//
// Nothing is waited for, so what the functions take and write is in use until
// the stream has come past it.

#ifndef ATTUNE_C_HOST_H
#define ATTUNE_C_HOST_H

#include "attune-c/Runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

/// A device, a stream, memory, the kernels that were loaded, and the first
/// error. For one thread at a time.
typedef struct AttuneContext AttuneContext;

/// Where host code finds memory on the device for what it needs itself:
/// workspaces, and results between kernels. Both are called in the order of the
/// stream: `release` while work that uses the memory may still be queued on it.
/// cuMemAllocAsync and cuMemFreeAsync are such functions.
typedef struct AttuneMemory {
  /// `bytes` of at least 1, at a multiple of `alignment`; null where there are
  /// none.
  void *(*allocate)(void *user, size_t bytes, size_t alignment, void *stream);
  void (*release)(void *user, void *address, void *stream);
  /// Passed to both.
  void *user;
} AttuneMemory;

//===----------------------------------------------------------------------===//
// For who calls host code
//===----------------------------------------------------------------------===//

/// `device` lives longer. `memory` is copied; where it is null, functions that
/// need memory fail.
ATTUNE_RUNTIME_EXPORTED AttuneContext *
attuneRuntimeCreateContext(AttuneDevice *device, const AttuneMemory *memory);
/// Unloads its kernels, whose launches have ended on the device before.
ATTUNE_RUNTIME_EXPORTED void
attuneRuntimeDestroyContext(AttuneContext *context);

/// From here on, work is queued on `stream` (a CUstream or hipStream_t; null is
/// the default). A kernel is loaded at its first launch in a context, which a
/// stream that captures a graph does not admit; all later ones may be captured.
ATTUNE_RUNTIME_EXPORTED void attuneRuntimeBegin(AttuneContext *context,
                                                void *stream);
/// Releases what host code has allocated since attuneRuntimeBegin, and says
/// whether all of it succeeded. After the first error nothing more was queued.
ATTUNE_RUNTIME_EXPORTED bool attuneRuntimeEnd(AttuneContext *context,
                                              AttuneError *error);

//===----------------------------------------------------------------------===//
// For host code
//===----------------------------------------------------------------------===//

// None of these returns an error: the context keeps the first one, and then
// they do nothing.

/// A kernel and the image it is in, for the life of the program.
typedef struct AttuneImage {
  /// A cubin, PTX, or an HSACO.
  const void *image;
  size_t imageBytes;
  const char *kernel;
  /// What it was compiled for; for error texts.
  const char *chip;
  /// The most dynamic shared memory of its launches.
  int64_t sharedBytes;
} AttuneImage;

/// Queues a kernel. `extents` are those of the grid, then of the block, each
/// along x, y and z; a grid of 0 is nothing to do. `parameters` point to the
/// values of the kernel's parameters, which are copied.
ATTUNE_RUNTIME_EXPORTED void
attuneHostLaunch(AttuneContext *context, const AttuneImage *image,
                 const int64_t extents[6], int64_t sharedBytes,
                 void **parameters, size_t numParameters);

/// Writes a tensor map of a buffer to `map`, 128 bytes at a multiple of 64.
/// `type` is an AttuneDataType, `descriptor` MLIR's of a memref of this rank,
/// `box` the elements of a TMA box along each dimension, outermost first.
/// `swizzleBytes` is 0, 32, 64 or 128.
ATTUNE_RUNTIME_EXPORTED void
attuneHostEncodeTensorMap(AttuneContext *context, void *map, int64_t type,
                          int64_t rank, const void *descriptor,
                          const int64_t *box, int64_t swizzleBytes);

/// Memory until attuneRuntimeEnd or attuneHostRelease; null after an error.
ATTUNE_RUNTIME_EXPORTED void *
attuneHostAllocate(AttuneContext *context, int64_t bytes, int64_t alignment);
ATTUNE_RUNTIME_EXPORTED void attuneHostRelease(AttuneContext *context,
                                               void *address);

/// Makes bytes zero.
ATTUNE_RUNTIME_EXPORTED void attuneHostFill(AttuneContext *context,
                                            void *address, int64_t bytes);

/// A condition of the program does not hold; `message` says which.
ATTUNE_RUNTIME_EXPORTED void attuneHostFail(AttuneContext *context,
                                            const char *message);

#ifdef __cplusplus
}
#endif

#endif // ATTUNE_C_HOST_H
