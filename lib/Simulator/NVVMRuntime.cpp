// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Instructions of NVIDIA's warps, by the PTX ISA. A matrix instruction sums the
// exact products and the accumulator in f64 and rounds once: the hardware's
// order is not documented.

#include "Runtime.h"
#include "attune/Runtime/DataType.h"

using namespace attune;
using llvm::ArrayRef;

static constexpr uint32_t kLanes = 32;
static constexpr uint64_t kAllLanes = 0xffffffff;

static void syncWarp(HostThread *context, uint32_t site) {
  Thread &lane = asThread(context);
  auto mask = lane.takeOperand<uint32_t>();
  lane.group->syncWarp(lane, site, mask);
}

/// shfl.sync: operands are the mask, the value, the lane or offset, and the
/// clamp with the mask of segments. The result is the value, followed by
/// whether the source was in range.
static void shuffle(HostThread *context, uint32_t site, uint32_t kind) {
  Thread &caller = asThread(context);
  auto mask = caller.takeOperand<uint32_t>();
  caller.group->collective(
      caller, site, mask, "all lanes of the warp to exchange values",
      [&](ArrayRef<Thread *> warp) {
        for (Thread *lane : warp) {
          if (!lane)
            continue;
          lane->beginOperands();
          (void)lane->takeOperand<uint32_t>();
          (void)lane->takeOperand<uint32_t>();
          uint32_t b = lane->takeOperand<uint32_t>() & 0x1f;
          auto control = lane->takeOperand<uint32_t>();
          uint32_t clamp = control & 0x1f, segments = control >> 8 & 0x1f;
          uint32_t self = lane->laneId;
          uint32_t most = (self & segments) | (clamp & ~segments);
          uint32_t least = self & segments;
          int64_t from = 0;
          bool inRange = false;
          switch (kind) {
          case kHostShuffleUp:
            from = int64_t(self) - b;
            inRange = from >= int64_t(most);
            break;
          case kHostShuffleDown:
            from = int64_t(self) + b;
            inRange = from <= int64_t(most);
            break;
          case kHostShuffleXor:
            from = self ^ b;
            inRange = from <= int64_t(most);
            break;
          case kHostShuffleIndex:
            from = least | (b & ~segments);
            inRange = from <= int64_t(most);
            break;
          }
          if (!inRange)
            from = self;
          Thread *source = warp[from & 0x1f];
          if (!source) {
            lane->group->getReports().add(HostCheck::Convergence, site, *lane,
                                          "reads lane " + llvm::Twine(from) +
                                              ", which is not in the mask");
            source = lane;
          }
          source->beginOperands();
          (void)source->takeOperand<uint32_t>();
          struct {
            uint32_t value;
            uint8_t inRange;
          } result{source->takeOperand<uint32_t>(), inRange};
          lane->setResult(result);
        }
      });
}

/// prmt: operands are two words and a selector, each of whose digits says which
/// byte of the two, or by its upper bit of which one the sign.
static void permute(HostThread *context, uint32_t) {
  Thread &lane = asThread(context);
  uint8_t bytes[8];
  std::memcpy(bytes, lane.takeBytes(sizeof(bytes)), sizeof(bytes));
  auto selector = lane.takeOperand<uint32_t>();
  uint32_t word = 0;
  for (uint32_t i = 0; i < sizeof(word); ++i) {
    uint32_t digit = selector >> 4 * i & 0xf;
    uint32_t byte = bytes[digit % 8];
    if (digit & 8)
      byte = byte & 0x80 ? 0xff : 0;
    word |= byte << 8 * i;
  }
  lane.setResult(word);
}

/// vote.sync: operands are the mask and the predicate.
static void vote(HostThread *context, uint32_t site, uint32_t kind) {
  Thread &caller = asThread(context);
  auto mask = caller.takeOperand<uint32_t>();
  caller.group->collective(caller, site, mask, "all lanes of the warp to vote",
                           [&](ArrayRef<Thread *> warp) {
                             uint32_t ballot = 0;
                             for (Thread *lane : warp)
                               if (lane && lane->operands[sizeof(uint32_t)])
                                 ballot |= uint32_t(1) << lane->laneId;
                             uint32_t result = ballot;
                             if (kind == kHostVoteAny)
                               result = ballot != 0;
                             else if (kind == kHostVoteAll)
                               result = ballot == mask;
                             else if (kind == kHostVoteUniform)
                               result = ballot == mask || ballot == 0;
                             for (Thread *lane : warp)
                               if (lane)
                                 lane->setResult(result);
                           });
}

/// redux.sync: operands are a word and the mask.
static void reduceOr(HostThread *context, uint32_t site) {
  Thread &caller = asThread(context);
  (void)caller.takeOperand<uint32_t>();
  auto mask = caller.takeOperand<uint32_t>();
  caller.group->collective(caller, site, mask,
                           "all lanes of the warp to reduce",
                           [&](ArrayRef<Thread *> warp) {
                             uint32_t result = 0;
                             for (Thread *lane : warp)
                               if (lane) {
                                 lane->beginOperands();
                                 result |= lane->takeOperand<uint32_t>();
                               }
                             for (Thread *lane : warp)
                               if (lane)
                                 lane->setResult(result);
                           });
}

/// elect.sync: one lane of the mask, here the first, is told so.
static void elect(HostThread *context, uint32_t site, uint32_t hasMask) {
  Thread &caller = asThread(context);
  auto mask = hasMask ? caller.takeOperand<uint32_t>()
                      : static_cast<uint32_t>(kAllLanes);
  caller.group->collective(caller, site, mask,
                           "all lanes of the warp to elect one",
                           [&](ArrayRef<Thread *> warp) {
                             bool first = true;
                             for (Thread *lane : warp)
                               if (lane) {
                                 lane->setResult(first);
                                 first = false;
                               }
                           });
}

/// Rows of the matrices of ldmatrix and stmatrix: lane 8 * m + r gives the
/// address of row r of matrix m.
static constexpr uint32_t kMatrixRows = 8, kRowBytes = 16;

/// ldmatrix: lane l receives elements 2 * (l % 4) and the next one of row l / 4
/// of each matrix, or of its transpose (PTX ISA, "ldmatrix").
static void loadMatrix(HostThread *context, uint32_t site, uint32_t count,
                       uint32_t transposed) {
  Thread &caller = asThread(context);
  caller.group->requireWarp(caller, site, kLanes);
  caller.group->collective(
      caller, site, kAllLanes, "all lanes of the warp to load a matrix",
      [&](ArrayRef<Thread *> warp) {
        llvm::SmallVector<const char *> rows;
        for (uint32_t row = 0; row < count * kMatrixRows; ++row) {
          Thread &lane = *warp[row];
          lane.beginOperands();
          auto *address = lane.takeOperand<char *>();
          rows.push_back(lane.group->access(lane, site, address, kRowBytes,
                                            kRowBytes, kHostAccessShared));
        }
        for (Thread *lane : warp)
          for (uint32_t matrix = 0; matrix < count; ++matrix)
            for (uint32_t i = 0; i < 2; ++i) {
              uint32_t row = lane->laneId / 4,
                       column = lane->laneId % 4 * 2 + i;
              if (transposed)
                std::swap(row, column);
              std::memcpy(lane->results + 4 * matrix + 2 * i,
                          rows[matrix * kMatrixRows + row] + 2 * column, 2);
            }
      });
}

/// stmatrix: the inverse of ldmatrix. Operands are the address and a register
/// for each matrix.
static void storeMatrix(HostThread *context, uint32_t site, uint32_t count,
                        uint32_t transposed) {
  Thread &caller = asThread(context);
  caller.group->requireWarp(caller, site, kLanes);
  caller.group->collective(
      caller, site, kAllLanes, "all lanes of the warp to store a matrix",
      [&](ArrayRef<Thread *> warp) {
        for (uint32_t index = 0; index < count * kMatrixRows; ++index) {
          Thread &lane = *warp[index];
          lane.beginOperands();
          char *target = lane.group->access(
              lane, site, lane.takeOperand<char *>(), kRowBytes, kRowBytes,
              kHostAccessShared | kHostAccessWrite);
          for (uint32_t at = 0; at < kMatrixRows; ++at) {
            uint32_t row = index % kMatrixRows, column = at;
            if (transposed)
              std::swap(row, column);
            const Thread &holder = *warp[row * 4 + column / 2];
            std::memcpy(target + 2 * at,
                        holder.operands + sizeof(char *) +
                            4 * (index / kMatrixRows) + 2 * (column % 2),
                        2);
          }
        }
      });
}

/// mma.sync m16n8k16 and m16n8k8 of floats of 16 bits, and m16n8k32 of 8 (PTX
/// ISA, "Matrix Fragments for mma.m16n8k16 with floating point type" and the
/// sections for the others). With n elements a register, g = lane / 4 and
/// t = lane % 4, element i of a lane is: of A, row g + 8 * (i / n % 2), column
/// n * t + i % n + 4 * n * (i / (2 * n)); of B, row n * t + i % n + 4 * n *
/// (i / n), column g; of C, row g + 8 * (i / 2), column 2t + i % 2.
static void mmaSync(HostThread *context, uint32_t site, uint32_t depth,
                    uint32_t typeOfA, uint32_t typeOfB) {
  constexpr uint32_t kRows = 16, kColumns = 8, kMostDepth = 32;
  Thread &caller = asThread(context);
  caller.group->requireWarp(caller, site, kLanes);
  caller.group->collective(
      caller, site, kAllLanes, "all lanes of the warp to multiply",
      [&](ArrayRef<Thread *> warp) {
        double a[kRows][kMostDepth], b[kMostDepth][kColumns];
        auto ofA = static_cast<HostElementType>(typeOfA),
             ofB = static_cast<HostElementType>(typeOfB);
        uint32_t aCount = kRows * depth / 32, bCount = depth * kColumns / 32,
                 bytes = getOperandBytes(ofA), n = 4 / bytes;
        for (const Thread *lane : warp) {
          uint32_t g = lane->laneId / 4, t = lane->laneId % 4;
          for (uint32_t i = 0; i < aCount; ++i)
            a[g + 8 * (i / n % 2)][n * t + i % n + 4 * n * (i / (2 * n))] =
                loadOperand(ofA, lane->operands + bytes * i);
          for (uint32_t i = 0; i < bCount; ++i)
            b[n * t + i % n + 4 * n * (i / n)][g] =
                loadOperand(ofB, lane->operands + bytes * (aCount + i));
        }
        for (Thread *lane : warp)
          for (uint32_t i = 0; i < 4; ++i) {
            uint32_t row = lane->laneId / 4 + 8 * (i / 2),
                     column = 2 * (lane->laneId % 4) + i % 2;
            float c;
            std::memcpy(&c, lane->operands + bytes * (aCount + bCount) + 4 * i,
                        4);
            double sum = c;
            for (uint32_t k = 0; k < depth; ++k)
              sum += a[row][k] * b[k][column];
            c = static_cast<float>(sum);
            std::memcpy(lane->results + 4 * i, &c, 4);
          }
        caller.group->getCounters().matrix(2.0 * kRows * kColumns * depth);
      });
}

/// cp.async: operands are the target, the source and, where it is there, the
/// number of bytes to read.
static void copyAsync(HostThread *context, uint32_t site, uint32_t bytes,
                      uint32_t hasValid) {
  Thread &lane = asThread(context);
  PendingCopy copy;
  copy.target = lane.takeOperand<char *>();
  copy.source = lane.takeOperand<const char *>();
  copy.bytes = bytes;
  copy.valid = hasValid ? lane.takeOperand<uint32_t>() : bytes;
  copy.site = site;
  copy.landed = false;
  if (copy.valid > bytes) {
    lane.group->getReports().add(
        HostCheck::Bounds, site, lane,
        "expects to read at most the " + llvm::Twine(bytes) +
            " bytes it writes, but got " + llvm::Twine(copy.valid));
    copy.valid = bytes;
  }
  lane.group->copyAsync(lane, copy);
}

static void commitCopies(HostThread *context, uint32_t) {
  Thread &lane = asThread(context);
  lane.group->commitCopies(lane);
}

static void waitCopies(HostThread *context, uint32_t site, uint32_t pending) {
  Thread &lane = asThread(context);
  lane.group->waitCopies(lane, site, pending);
}

static void arriveAtCluster(HostThread *context, uint32_t site,
                            uint32_t relaxed) {
  Thread &lane = asThread(context);
  lane.group->arriveAtCluster(lane, site, relaxed);
}

static void waitForCluster(HostThread *context, uint32_t site) {
  Thread &lane = asThread(context);
  lane.group->waitForCluster(lane, site);
}

/// mapa: operands are the address and the number of the workgroup.
/// cvt.rn.f16x2.e4m3x2 and e5m2x2, which are exact.
static void widenFloat8(HostThread *context, uint32_t, uint32_t isE5M2) {
  Thread &lane = asThread(context);
  DataType type = isE5M2 ? DataType::F8E5M2 : DataType::F8E4M3FN;
  const char *pair = lane.takeBytes(2);
  uint16_t halves[2];
  for (int i : {0, 1})
    storeElement(DataType::F16, &halves[i], loadElement(type, pair + i));
  lane.setResult(halves);
}

/// cvt.rn.satfinite.e4m3x2.f32 and e5m2x2: operands are the upper number and
/// the lower one.
static void narrowFloat8(HostThread *context, uint32_t, uint32_t isE5M2) {
  Thread &lane = asThread(context);
  DataType type = isE5M2 ? DataType::F8E5M2 : DataType::F8E4M3FN;
  uint8_t pair[2];
  for (int i : {1, 0})
    storeElement(type, &pair[i], lane.takeOperand<float>());
  lane.setResult(pair);
}

static void mapShared(HostThread *context, uint32_t site) {
  Thread &lane = asThread(context);
  char *address = lane.takeOperand<char *>();
  auto rank = lane.takeOperand<uint32_t>();
  lane.setResult(lane.group->mapShared(lane, site, address, rank));
}

ArrayRef<HostFunction> attune::getNVVMHostFunctions() {
  static const HostFunction functions[] = {
      hostFunction("attuneHostSyncWarp", syncWarp),
      hostFunction("attuneHostShuffle", shuffle),
      hostFunction("attuneHostPermuteBytes", permute),
      hostFunction("attuneHostVote", vote),
      hostFunction("attuneHostReduceOr", reduceOr),
      hostFunction("attuneHostElect", elect),
      hostFunction("attuneHostLoadMatrix", loadMatrix),
      hostFunction("attuneHostStoreMatrix", storeMatrix),
      hostFunction("attuneHostMmaSync", mmaSync),
      hostFunction("attuneHostCopyAsync", copyAsync),
      hostFunction("attuneHostCommitCopies", commitCopies),
      hostFunction("attuneHostWaitCopies", waitCopies),
      hostFunction("attuneHostArriveAtCluster", arriveAtCluster),
      hostFunction("attuneHostWaitForCluster", waitForCluster),
      hostFunction("attuneHostMapShared", mapShared),
      hostFunction("attuneHostWidenFloat8", widenFloat8),
      hostFunction("attuneHostNarrowFloat8", narrowFloat8),
  };
  return functions;
}
