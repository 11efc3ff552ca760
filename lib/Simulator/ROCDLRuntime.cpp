// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Instructions of AMD's waves, by the CDNA and RDNA ISA documents. A matrix
// instruction sums the exact products and the accumulator in f64 and rounds
// once: the hardware's order is not documented.

#include "Runtime.h"
#include "llvm/ADT/APFloat.h"

using namespace attune;
using llvm::ArrayRef;

/// v_mbcnt_lo and v_mbcnt_hi: the lanes before this one in half a mask, plus an
/// addend.
static void countBelow(HostThread *context, uint32_t, uint32_t isHigh) {
  Thread &lane = asThread(context);
  auto mask = lane.takeOperand<uint32_t>();
  auto addend = lane.takeOperand<uint32_t>();
  uint64_t below = llvm::maskTrailingOnes<uint64_t>(lane.laneId);
  auto half = static_cast<uint32_t>(isHigh ? below >> 32 : below);
  lane.setResult<uint32_t>(addend + llvm::popcount(mask & half));
}

/// v_cvt_pkrtz_f16_f32: two floats, cut off to f16.
static void cutToF16(HostThread *context, uint32_t) {
  Thread &lane = asThread(context);
  uint32_t word = 0;
  for (uint32_t shift : {0, 16}) {
    llvm::APFloat number(lane.takeOperand<float>());
    bool losesInfo = false;
    number.convert(llvm::APFloat::IEEEhalf(), llvm::APFloat::rmTowardZero,
                   &losesInfo);
    word |= static_cast<uint32_t>(number.bitcastToAPInt().getZExtValue())
            << shift;
  }
  lane.setResult(word);
}

/// Gives each lane of a wave what `compute` makes of it and the wave; lanes
/// that the workgroup does not have are null.
template <typename Compute>
static void exchange(HostThread *context, uint32_t site, const char *purpose,
                     Compute compute) {
  Thread &caller = asThread(context);
  Workgroup &group = *caller.group;
  group.collective(caller, site, group.getWarpMask(caller), purpose,
                   [&](ArrayRef<Thread *> wave) {
                     for (Thread *lane : wave)
                       if (lane)
                         lane->setResult(compute(*lane, wave));
                   });
}

/// Operand `index` of a lane, 0 where there is no lane.
static uint32_t getOperand(const Thread *lane, uint32_t index) {
  uint32_t value = 0;
  if (lane)
    std::memcpy(&value, lane->operands + index * sizeof(value), sizeof(value));
  return value;
}

/// ds_bpermute_b32: each lane reads the value of the lane whose number times 4
/// is the first operand, modulo the wave.
static void permuteLanes(HostThread *context, uint32_t site) {
  exchange(context, site, "all lanes of the wave to exchange values",
           [](const Thread &lane, ArrayRef<Thread *> wave) {
             uint32_t from = getOperand(&lane, 0) / 4 % lane.warpSize;
             return getOperand(wave[from], 1);
           });
}

/// v_permlanex16_b32 (RDNA3 ISA, "VOP3 instructions"): operands are what stays
/// where a source lane is missing, the value, and two scalars with four bits
/// for each lane of a row of 16: which lane of the other row it reads.
static void permlaneX16(HostThread *context, uint32_t site) {
  exchange(context, site, "all lanes of the wave to exchange values",
           [](const Thread &lane, ArrayRef<Thread *> wave) {
             constexpr uint32_t kRow = 16, kSelected = 8, kBits = 4;
             uint32_t at = lane.laneId % kRow;
             uint32_t selectors = getOperand(&lane, at < kSelected ? 2 : 3);
             uint32_t from = selectors >> at % kSelected * kBits & (kRow - 1);
             from += (lane.laneId - at) ^ kRow;
             return getOperand(wave[from], 1);
           });
}

/// v_permlane16_swap_b32 and v_permlane32_swap_b32 (CDNA4 ISA, "VOP1
/// instructions"): odd rows of `row` lanes of the first operand change places
/// with even ones of the second; both are results.
static void swapLanes(HostThread *context, uint32_t site, uint32_t row) {
  Thread &caller = asThread(context);
  caller.group->requireWarp(caller, site, std::max(caller.warpSize, 2 * row));
  exchange(context, site, "all lanes of the wave to exchange values",
           [=](const Thread &lane, ArrayRef<Thread *> wave) {
             bool isEven = (lane.laneId & row) == 0;
             const Thread *other = wave[lane.laneId ^ row];
             uint32_t first =
                 isEven ? getOperand(&lane, 0) : getOperand(other, 1);
             uint32_t second =
                 isEven ? getOperand(other, 0) : getOperand(&lane, 1);
             return first | uint64_t(second) << 32;
           });
}

/// v_readlane_b32 and v_readfirstlane_b32: all lanes receive the value of one.
/// Operands are the value and, for the first, the number of the lane.
static void readLane(HostThread *context, uint32_t site, uint32_t hasLane) {
  exchange(context, site, "all lanes of the wave to read one",
           [=](const Thread &lane, ArrayRef<Thread *> wave) {
             uint32_t from = hasLane ? getOperand(&lane, 1) % lane.warpSize : 0;
             return getOperand(wave[from], 0);
           });
}

/// v_cmp into a scalar register: a bit for each lane.
static void ballot(HostThread *context, uint32_t site) {
  exchange(context, site, "all lanes of the wave to vote",
           [](const Thread &, ArrayRef<Thread *> wave) {
             uint64_t result = 0;
             for (Thread *lane : wave)
               if (lane && lane->operands[0])
                 result |= uint64_t(1) << lane->laneId;
             return result;
           });
}

/// The lane that DPP reads from, within a row of 16 lanes, or -1 beyond the row
/// (RDNA3 ISA, "DPP16 Controls"; the same encoding on CDNA).
static int getDPPSource(uint32_t control, uint32_t lane) {
  constexpr int kRow = 16;
  int at = lane % kRow, from = at;
  auto amount = static_cast<int>(control & 0xf);
  if (control <= 0xff)
    from = (at & ~3) | static_cast<int>(control >> (at % 4 * 2) & 3);
  else if (control <= 0x10f)
    from = at + amount;
  else if (control <= 0x11f)
    from = at - amount;
  else if (control <= 0x12f)
    from = (at - amount + kRow) % kRow;
  else if (control == 0x140)
    from = kRow - 1 - at;
  else
    from = (at & 8) | (7 - at % 8);
  return from < 0 || from >= kRow ? -1 : static_cast<int>(lane) - at + from;
}

/// v_mov_b32 with DPP: operands are the old and the new value. Lanes that the
/// masks leave out keep the old one, and so do those without a source unless
/// bound_ctrl gives them 0.
static void moveDPP(HostThread *context, uint32_t site, uint32_t control,
                    uint32_t rowMask, uint32_t bankMask,
                    uint32_t boundControl) {
  exchange(context, site, "all lanes of the wave to exchange values",
           [=](const Thread &lane, ArrayRef<Thread *> wave) -> uint32_t {
             bool enabled = (rowMask >> (lane.laneId / 16) & 1) &&
                            (bankMask >> (lane.laneId % 16 / 4) & 1);
             int from = getDPPSource(control, lane.laneId);
             if (enabled && from >= 0 && wave[from])
               return getOperand(wave[from], 1);
             return enabled && boundControl ? 0 : getOperand(&lane, 0);
           });
}

/// A buffer resource: base, stride, bytes and flags. It is a pointer to what it
/// says here.
static void makeBuffer(HostThread *context, uint32_t site) {
  Thread &lane = asThread(context);
  char *base = lane.takeOperand<char *>();
  auto stride = lane.takeOperand<uint16_t>();
  auto bytes = lane.takeOperand<uint64_t>();
  if (stride != 0) {
    lane.group->getReports()
        .stop(site, "expects a buffer without a stride to be executed on the "
                    "host, but got " +
                        llvm::Twine(stride))
        .report();
    lane.group->stop(lane);
  }
  lane.buffers.push_back({base, bytes});
  lane.setResult(&lane.buffers.back());
}

/// The address of an access through a resource, or null if it is out of range:
/// loads give 0 then, and stores do nothing (RDNA3 ISA, "Range Checking").
static char *findInBuffer(Thread &lane, uint32_t bytes) {
  auto *buffer = lane.takeOperand<RawBuffer *>();
  uint64_t offset = lane.takeOperand<uint32_t>();
  uint64_t scalarOffset = lane.takeOperand<uint32_t>();
  if (offset + scalarOffset + bytes > buffer->bytes)
    return nullptr;
  return buffer->base + offset + scalarOffset;
}

/// Accesses are aligned to their elements, of 4 bytes at most.
static uint32_t getBufferAlignment(uint32_t bytes) {
  return std::min(bytes, uint32_t(4));
}

static void loadBuffer(HostThread *context, uint32_t site, uint32_t bytes) {
  Thread &lane = asThread(context);
  char *address = findInBuffer(lane, bytes);
  if (!address) {
    std::memset(lane.results, 0, bytes);
    return;
  }
  std::memcpy(lane.results,
              lane.group->access(lane, site, address, bytes,
                                 getBufferAlignment(bytes), 0),
              bytes);
}

static void storeBuffer(HostThread *context, uint32_t site, uint32_t bytes) {
  Thread &lane = asThread(context);
  const char *data = lane.takeBytes(bytes);
  if (char *address = findInBuffer(lane, bytes))
    std::memcpy(lane.group->access(lane, site, address, bytes,
                                   getBufferAlignment(bytes), kHostAccessWrite),
                data, bytes);
}

/// buffer_load_dwordx4 with lds (CDNA4 ISA, "Memory Buffer Load to LDS"):
/// operands are the resource, the address of the first lane in workgroup
/// memory, the bytes of a lane, its offset, and one that all share. Pieces lie
/// in the order of lanes, and those out of range are zeros.
static void copyBuffer(HostThread *context, uint32_t site) {
  Thread &lane = asThread(context);
  exchange(context, site, "all lanes of the wave to copy",
           [](const Thread &, ArrayRef<Thread *> wave) {
             const char *first = nullptr;
             if (wave.front())
               std::memcpy(&first, wave.front()->operands + sizeof(RawBuffer *),
                           sizeof(first));
             return first;
           });
  char *first = nullptr;
  std::memcpy(&first, lane.results, sizeof(first));
  auto *buffer = lane.takeOperand<RawBuffer *>();
  lane.takeOperand<char *>();
  PendingCopy copy;
  copy.bytes = lane.takeOperand<uint32_t>();
  uint64_t offset = lane.takeOperand<uint32_t>();
  offset += lane.takeOperand<uint32_t>();
  copy.target = first + uint64_t(lane.laneId) * copy.bytes;
  bool isThere = offset + copy.bytes <= buffer->bytes;
  copy.source = buffer->base + offset;
  copy.valid = isThere ? copy.bytes : 0;
  copy.site = site;
  copy.landed = false;
  lane.group->copyAsync(lane, copy);
  // Each is counted.
  lane.group->commitCopies(lane);
}

/// ds_read_b64_tr_b16 (CDNA4 ISA, "MFMA Transpose Load from LDS"): the lanes
/// are divided into groups of 16, each of which reads four elements. Of them,
/// lane 4 j + c gets number c from what lanes j, j + 4 and so on read.
static void readTransposed(HostThread *context, uint32_t site) {
  constexpr uint32_t kGroup = 16, kElements = 4, kBytes = 8;
  Thread &caller = asThread(context);
  char *address = caller.takeOperand<char *>();
  uint16_t read[kElements];
  std::memcpy(read,
              caller.group->access(caller, site, address, kBytes, kBytes,
                                   kHostAccessShared),
              kBytes);
  std::memcpy(caller.operands, read, kBytes);
  exchange(
      context, site, "all lanes of the wave to read",
      [=](const Thread &lane, ArrayRef<Thread *> wave) {
        uint32_t inGroup = lane.laneId % kGroup;
        uint64_t result = 0;
        for (uint32_t i = 0; i < kElements; ++i) {
          const Thread *from =
              wave[lane.laneId - inGroup + inGroup / kElements + kElements * i];
          uint16_t element = 0;
          if (from)
            std::memcpy(&element,
                        from->operands + inGroup % kElements * sizeof(element),
                        sizeof(element));
          result |= uint64_t(element) << 16 * i;
        }
        return result;
      });
}

/// Multiplies where lane l holds elements k0(l) + j of row l % rows of A, and
/// of column l % rows of B, and register r of the result belongs to `getRow(l,
/// r)`.
template <typename GetRow>
static void multiply(ArrayRef<Thread *> wave, uint32_t rows, uint32_t depth,
                     std::pair<HostElementType, HostElementType> types,
                     uint32_t perLane, bool replicated, GetRow getRow) {
  constexpr uint32_t kMost = 32;
  double a[kMost][kMost], b[kMost][kMost];
  uint32_t bytes = getOperandBytes(types.first);
  for (const Thread *lane : wave) {
    uint32_t line = lane->laneId % rows;
    uint32_t first = replicated ? 0 : lane->laneId / rows * perLane;
    for (uint32_t i = 0; i < perLane; ++i) {
      a[line][first + i] = loadOperand(types.first, lane->operands + bytes * i);
      b[line][first + i] =
          loadOperand(types.second, lane->operands + bytes * (perLane + i));
    }
  }
  auto registers = static_cast<uint32_t>(rows * rows / wave.size());
  for (Thread *lane : wave)
    for (uint32_t r = 0; r < registers; ++r) {
      uint32_t row = getRow(lane->laneId, r), column = lane->laneId % rows;
      float c;
      std::memcpy(&c, lane->operands + 2 * bytes * perLane + 4 * r, 4);
      double sum = c;
      for (uint32_t k = 0; k < depth; ++k)
        sum += a[row][k] * b[column][k];
      c = static_cast<float>(sum);
      std::memcpy(lane->results + 4 * r, &c, 4);
    }
  wave.front()->group->getCounters().matrix(2.0 * rows * rows * depth);
}

static std::pair<HostElementType, HostElementType> getTypes(uint32_t ofA,
                                                            uint32_t ofB) {
  return {static_cast<HostElementType>(ofA), static_cast<HostElementType>(ofB)};
}

/// v_mfma_f32_32x32x8 and 16x16x16 of 16-bit floats, and 32x32x16 of these or
/// of 8 bits (CDNA3 and CDNA4 ISA, "Matrix Arithmetic Instructions", "Dense
/// Matrix Instructions": one block, 64 lanes). Lane l holds n neighbouring
/// elements of A from column n * (l / rows), where n is 4, or 8 at twice the
/// depth. Register r of the result is row 8 * (r / 4) + 4 * (l / 32) + r % 4
/// for 32 rows and 4 * (l / 16) + r for 16.
static void mfma(HostThread *context, uint32_t site, uint32_t rows,
                 uint32_t depth, uint32_t typeOfA, uint32_t typeOfB) {
  constexpr uint32_t kLanes = 64;
  uint32_t perLane = rows * depth / kLanes;
  Thread &caller = asThread(context);
  caller.group->requireWarp(caller, site, kLanes);
  caller.group->collective(
      caller, site, ~uint64_t(0), "all lanes of the wave to multiply",
      [&](ArrayRef<Thread *> wave) {
        multiply(wave, rows, depth, getTypes(typeOfA, typeOfB), perLane,
                 /*replicated=*/false, [&](uint32_t lane, uint32_t r) {
                   return rows / 4 * (r / 4) + 4 * (lane / rows) + r % 4;
                 });
      });
}

/// v_wmma_f32_16x16x16 of floats of 16 or 8 bits in a wave of 32 (RDNA3 ISA,
/// "Wave Matrix Multiply Accumulate"). Lane l holds row l % 16 of A and column
/// l % 16 of B. Where a lane has all 16 elements of these, both halves of the
/// wave must hold the same, and register r of the result is row 2 * r + l / 16.
/// Where it has 8 (RDNA4 ISA, the same section), they are those from 8 * (l /
/// 16) on, and register r is row 8 * (l / 16) + r.
static void wmma(HostThread *context, uint32_t site, uint32_t typeOfA,
                 uint32_t typeOfB, uint32_t perLane) {
  constexpr uint32_t kLanes = 32, kSize = 16, kOperandBytes = 2 * kSize * 2;
  bool isReplicated = perLane == kSize;
  Thread &caller = asThread(context);
  caller.group->requireWarp(caller, site, kLanes);
  caller.group->collective(
      caller, site, 0xffffffff, "all lanes of the wave to multiply",
      [&](ArrayRef<Thread *> wave) {
        for (uint32_t lane = 0; isReplicated && lane < kSize; ++lane)
          if (std::memcmp(wave[lane]->operands, wave[lane + kSize]->operands,
                          kOperandBytes) != 0)
            caller.group->getReports().add(
                HostCheck::Convergence, site, *wave[lane],
                "expects both halves of a wave to hold the same operands, but "
                "they differ");
        multiply(wave, kSize, kSize, getTypes(typeOfA, typeOfB), perLane,
                 isReplicated, [=](uint32_t lane, uint32_t r) {
                   return isReplicated ? 2 * r + lane / kSize
                                       : perLane * (lane / kSize) + r;
                 });
      });
}

/// v_cvt_pk_fp8_f32 and v_cvt_pk_bf8_f32 (CDNA3 ISA, "VOP3"): operands are the
/// lower number, the upper one, and the word of which the other half stays.
/// What is too large becomes NaN, as the chip does unless its mode says
/// otherwise.
static void narrowPair(HostThread *context, uint32_t, uint32_t type,
                       uint32_t isUpper) {
  Thread &lane = asThread(context);
  auto format = static_cast<HostElementType>(type);
  float numbers[2];
  for (float &number : numbers)
    number = lane.takeOperand<float>();
  uint8_t bytes[4];
  std::memcpy(bytes, lane.takeBytes(4), 4);
  for (uint32_t i : {0u, 1u})
    storeOperand(format, numbers[i], &bytes[2 * isUpper + i]);
  lane.setResult(bytes);
}

ArrayRef<HostFunction> attune::getROCDLHostFunctions() {
  static const HostFunction functions[] = {
      hostFunction("attuneHostCountBelow", countBelow),
      hostFunction("attuneHostCutToF16", cutToF16),
      hostFunction("attuneHostPermute", permuteLanes),
      hostFunction("attuneHostPermlaneX16", permlaneX16),
      hostFunction("attuneHostSwapLanes", swapLanes),
      hostFunction("attuneHostReadLane", readLane),
      hostFunction("attuneHostBallot", ballot),
      hostFunction("attuneHostMoveDPP", moveDPP),
      hostFunction("attuneHostMakeBuffer", makeBuffer),
      hostFunction("attuneHostLoadBuffer", loadBuffer),
      hostFunction("attuneHostStoreBuffer", storeBuffer),
      hostFunction("attuneHostCopyBuffer", copyBuffer),
      hostFunction("attuneHostReadTransposed", readTransposed),
      hostFunction("attuneHostNarrowPair", narrowPair),
      hostFunction("attuneHostMfma", mfma),
      hostFunction("attuneHostWmma", wmma),
  };
  return functions;
}
