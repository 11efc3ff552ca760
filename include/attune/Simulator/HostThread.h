// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a kernel and the runtime that executes it on the CPU share: the context
// of a thread, and how the one calls the other.

#ifndef ATTUNE_SIMULATOR_HOSTTHREAD_H
#define ATTUNE_SIMULATOR_HOSTTHREAD_H

#include <cstdint>

namespace attune {

/// The context of a thread, the only argument of a kernel that
/// convert-kernel-to-host has converted. The kernel reads what the thread is
/// from it by plain loads.
///
/// An op of the chip is a call of `void attuneHost<Name>(HostThread *, uint32_t
/// site, uint32_t immediate...)`. Before it the kernel stores the op's operands
/// one after another to `operands`, each padded to a multiple of 4 bytes; after
/// it, the results stand in `results` in the same way. A call may return much
/// later: where the op is of several threads, it waits for them.
///
/// A *site* is the number of the op in its gpu.module before the conversion,
/// counted from 0 in the order in which ops are printed.
struct HostThread {
  uint32_t threadId[3];
  uint32_t blockId[3];
  uint32_t blockSize[3];
  uint32_t gridSize[3];
  /// Number in the warp, number of the warp, lanes of a warp.
  uint32_t laneId, warpId, warpSize;
  /// Number of the cluster and how many there are, along x; number of the
  /// workgroup in its cluster, and how many that has.
  uint32_t clusterId, numClusters, rank, clusterSize;
  uint32_t reserved;
  /// Workgroup memory: static arrays, then the dynamic one. Below 4 GiB, and
  /// aligned so that the low bits of an address are those of its offset.
  char *shared;
  /// Pointers to the values of the kernel's parameters.
  void *const *arguments;
  static constexpr uint32_t kSlotBytes = 1024;
  alignas(16) char operands[kSlotBytes];
  alignas(16) char results[kSlotBytes];
};

/// What an access to memory is, in the immediate of attuneHostAccess.
enum HostAccessFlags : uint32_t {
  kHostAccessWrite = 1,
  /// Through a pointer to workgroup memory; else the address tells.
  kHostAccessShared = 2,
  kHostAccessAtomic = 4,
  /// Of an atomic: its order among the threads of the device.
  kHostAccessAcquire = 8,
  kHostAccessRelease = 16,
};

/// How values move between threads in attuneHostShuffle.
enum HostShuffleKind : uint32_t {
  kHostShuffleXor,
  kHostShuffleUp,
  kHostShuffleDown,
  kHostShuffleIndex,
};

/// What attuneHostVote asks.
enum HostVoteKind : uint32_t {
  kHostVoteAny,
  kHostVoteAll,
  kHostVoteBallot,
  kHostVoteUniform,
};

/// Whether attuneHostMoveDPP knows how the control moves values.
inline bool isHostDPP(uint32_t control) {
  return control <= 0xff ||                        // quad_perm
         (control >= 0x101 && control <= 0x10f) || // row_shl
         (control >= 0x111 && control <= 0x11f) || // row_shr
         (control >= 0x121 && control <= 0x12f) || // row_ror
         control == 0x140 || control == 0x141;     // row_mirror, _half_mirror
}

/// Element types of matrix operands.
enum HostElementType : uint32_t {
  kHostF16,
  kHostBF16,
  kHostF8E4M3FN,
  kHostF8E5M2,
  kHostF8E4M3FNUZ,
  kHostF8E5M2FNUZ
};

/// What attuneHostMultiplyAsync does with its operands: D = A B + D, where A
/// and B are K-major unless they are transposed. The operands are D and the
/// descriptors of A and B, or, with A in registers, these, the descriptor of B,
/// and D.
enum HostMmaFlags : uint32_t {
  /// D is read; else it counts as 0.
  kHostMmaAccumulate = 1,
  kHostMmaNegateA = 2,
  kHostMmaNegateB = 4,
  kHostMmaTransposeA = 8,
  kHostMmaTransposeB = 16,
  kHostMmaLeftInRegisters = 32,
  /// Other instructions write its registers behind the last fence.
  kHostMmaLate = 64,
};

/// A function that converted kernels call.
struct HostFunction {
  const char *name;
  void *address;
};

} // namespace attune

#endif // ATTUNE_SIMULATOR_HOSTTHREAD_H
