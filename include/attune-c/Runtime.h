// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loads and launches compiled kernels from their images and manifests
// (docs/Manifest.md), in programs that have their own memory and streams.
// libAttuneRuntime.so has these functions alone, and needs neither MLIR nor
// LLVM; libAttune.so has them as well. Drivers are opened at run time.
//
// A function that can fail returns false or null, and says why in `error`,
// which may be null. It fails where what it takes is null because the making of
// that failed.

#ifndef ATTUNE_C_RUNTIME_H
#define ATTUNE_C_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ATTUNE_RUNTIME_EXPORTED __attribute__((visibility("default")))

/// What went wrong; longer texts are cut off.
typedef struct AttuneError {
  char text[1024];
} AttuneError;

typedef struct AttuneDevice AttuneDevice;
typedef struct AttuneKernel AttuneKernel;
typedef struct AttuneLaunch AttuneLaunch;

typedef enum AttuneDataType {
  AttuneDataTypeF16 = 0,
  AttuneDataTypeBF16 = 1,
  AttuneDataTypeF32 = 2,
  AttuneDataTypeF64 = 3,
  AttuneDataTypeI1 = 4,
  AttuneDataTypeI8 = 5,
  AttuneDataTypeI16 = 6,
  AttuneDataTypeI32 = 7,
  AttuneDataTypeI64 = 8,
  AttuneDataTypeF8E4M3FN = 9,
  AttuneDataTypeF8E5M2 = 10,
  AttuneDataTypeF8E4M3FNUZ = 11,
  AttuneDataTypeF8E5M2FNUZ = 12
} AttuneDataType;

/// What a kernel does with an argument.
typedef enum AttuneAccess {
  AttuneAccessRead = 0,
  AttuneAccessWrite = 1,
  AttuneAccessReadWrite = 2,
  /// Memory of its own, which the caller lends it.
  AttuneAccessWorkspace = 3
} AttuneAccess;

/// When all bytes of a workspace have to be made zero.
typedef enum AttuneZero {
  AttuneZeroNever = 0,
  /// Before the first launch with it.
  AttuneZeroOnce = 1,
  /// Before each launch, on the launch's stream.
  AttuneZeroEachLaunch = 2
} AttuneZero;

/// What a kernel expects as one argument.
typedef struct AttuneArgumentInfo {
  /// For people. Lives as long as the kernel.
  const char *name;
  AttuneDataType type;
  /// Of a buffer or workspace.
  size_t rank;
  bool isScalar;
  /// Of a buffer or workspace.
  AttuneAccess access;
  AttuneZero zero;
  /// What the address is a multiple of, in bytes; 1 but for workspaces.
  int64_t alignment;
} AttuneArgumentInfo;

/// What is passed as one argument.
typedef struct AttuneArgument {
  AttuneDataType type;
  /// Of a scalar: its value in its own width, from the lowest bit.
  uint64_t bits;
  /// Of a buffer or workspace: where it is on the device.
  uint64_t address;
  /// Of a buffer: its dimensions, outermost first, in elements. Null strides
  /// are those of row-major order without gaps. A workspace has neither, and
  /// rank 0.
  size_t rank;
  const int64_t *sizes;
  const int64_t *strides;
} AttuneArgument;

/// Opens a device: `kind` is "cuda", "hip" or "auto". For CUDA, retains the
/// device's primary context, which the CUDA runtime and frameworks use as well.
/// Opening, loading and launching make it the current one of a thread that has
/// none, and leave a thread that has another device's as it was.
ATTUNE_RUNTIME_EXPORTED AttuneDevice *
attuneRuntimeOpenDevice(const char *kind, int ordinal, AttuneError *error);
/// Its kernels have been unloaded before.
ATTUNE_RUNTIME_EXPORTED void attuneRuntimeCloseDevice(AttuneDevice *device);
/// The chip, as its vendor's tools spell it. Lives as long as the device.
ATTUNE_RUNTIME_EXPORTED const char *
attuneRuntimeGetChip(const AttuneDevice *device);

/// Memory of the device, all of whose bytes are 0 for what is queued from now
/// on, on whatever stream: waits until they are. 0 where it fails. What a
/// workspace with AttuneZeroOnce may lie in.
ATTUNE_RUNTIME_EXPORTED uint64_t attuneRuntimeAllocateZeros(
    AttuneDevice *device, size_t bytes, AttuneError *error);
/// Nothing that uses it is still queued. False where it fails.
ATTUNE_RUNTIME_EXPORTED bool
attuneRuntimeFree(AttuneDevice *device, uint64_t address, AttuneError *error);

/// Loads an image (a cubin, PTX, or an HSACO) and finds the manifest's kernel
/// in it. Copies what it needs of both.
ATTUNE_RUNTIME_EXPORTED AttuneKernel *
attuneRuntimeLoadKernel(AttuneDevice *device, const void *image,
                        size_t imageBytes, const char *manifest,
                        size_t manifestBytes, AttuneError *error);
/// Makes one of kernels that work together: it runs them in the order of a
/// sequence (docs/Manifest.md), whose values are its arguments, and memory that
/// they share is its workspace. `kernels` are found by their names, and may be
/// unloaded before it. Copies what it needs of the text.
ATTUNE_RUNTIME_EXPORTED AttuneKernel *
attuneRuntimeLoadSequence(const AttuneKernel *const *kernels, size_t numKernels,
                          const char *sequence, size_t sequenceBytes,
                          AttuneError *error);
/// Its launches have been released, and have ended on the device, before.
ATTUNE_RUNTIME_EXPORTED void attuneRuntimeUnloadKernel(AttuneKernel *kernel);

/// The arguments that are passed: the manifest's but for tensor maps, in order;
/// of a sequence its values.
ATTUNE_RUNTIME_EXPORTED size_t
attuneRuntimeGetNumArguments(const AttuneKernel *kernel);
ATTUNE_RUNTIME_EXPORTED AttuneArgumentInfo
attuneRuntimeGetArgument(const AttuneKernel *kernel, size_t pos);

/// Bytes of the workspace at `pos`, for these arguments, in which the addresses
/// of workspaces are not read. -1 where it fails.
ATTUNE_RUNTIME_EXPORTED int64_t attuneRuntimeGetWorkspaceBytes(
    const AttuneKernel *kernel, const AttuneArgument *arguments,
    size_t numArguments, size_t pos, AttuneError *error);

/// Checks arguments, makes tensor maps of them, and packs them with the grid,
/// on the host alone. Copies `arguments`, whose memory on the device is the
/// caller's. Launches that may run at the same time need workspaces of their
/// own.
ATTUNE_RUNTIME_EXPORTED AttuneLaunch *
attuneRuntimePrepare(const AttuneKernel *kernel,
                     const AttuneArgument *arguments, size_t numArguments,
                     AttuneError *error);
ATTUNE_RUNTIME_EXPORTED void attuneRuntimeReleaseLaunch(AttuneLaunch *launch);
/// Has what is queued from now on use memory at these addresses, one for each
/// argument, of sizes and strides as before; those of scalars are not read. Not
/// while another thread queues the launch, which after a failure is moved again
/// before it is queued.
ATTUNE_RUNTIME_EXPORTED bool attuneRuntimeMoveLaunch(AttuneLaunch *launch,
                                                     const uint64_t *addresses,
                                                     size_t numAddresses,
                                                     AttuneError *error);

/// Queues the kernel on a stream (a CUstream or hipStream_t; null is the
/// default), any number of times, from any thread. This is one call of the
/// driver for each kernel: nothing is allocated, copied, filled or waited for,
/// so that a stream may be capturing a graph.
ATTUNE_RUNTIME_EXPORTED bool attuneRuntimeLaunch(const AttuneLaunch *launch,
                                                 void *stream,
                                                 AttuneError *error);

#ifdef __cplusplus
}
#endif

#endif // ATTUNE_C_RUNTIME_H
