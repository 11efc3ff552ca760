// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A product is computed when it is waited for, or at once if the seed says so;
// its operands in workgroup memory must not change in between. Its sums are
// exact products and the accumulator in f64, rounded once.

#include "Warpgroups.h"
#include "Runtime.h"

using namespace mlir;
using namespace attune;

/// A ticket is a quiet NaN with the sign bit: 15 bits of the product's number,
/// counted from 1 so that it is not the NaN of the CPU's own arithmetic and not
/// up to all ones, which are poison, and 7 bits for the register.
static constexpr uint32_t kTicket = 0xffc00000, kRegisterBits = 7;
static constexpr uint32_t kTicketNumbers = 0x7ffd;
/// Products of a warpgroup whose results can still be asked for.
static constexpr size_t kKept = 1024;
static constexpr uint32_t kRows = 64, kDepth = 16;
/// Of a lane that holds its part of the left operand.
static constexpr uint32_t kLeftRegisters = 4;

static constexpr uint32_t kAllLanes = ~uint32_t(0);
static constexpr uint32_t kAllWarps = (1u << Warpgroups::kWarps) - 1;

static uint32_t makeTicket(uint64_t number, uint32_t index) {
  return kTicket |
         static_cast<uint32_t>(number % kTicketNumbers + 1) << kRegisterBits |
         index;
}

static bool isTicket(uint32_t word) {
  uint32_t number = (word & ~kTicket) >> kRegisterBits;
  return (word & kTicket) == kTicket && number >= 1 && number <= kTicketNumbers;
}

void Warpgroups::reset(uint32_t lanesOfGroup, uint32_t numGroups) {
  groups.clear();
  groups.resize(numGroups * llvm::divideCeil(lanesOfGroup, kLanes));
}

uint32_t Warpgroups::getIndex(const Lane &lane) const {
  return lane.rank * llvm::divideCeil(workgroup.lanesOfGroup, kLanes) +
         workgroup.getNumberInGroup(lane) / kLanes;
}

Warpgroups::Group &Warpgroups::getGroup(const Lane &lane) {
  return groups[getIndex(lane)];
}

uint32_t Warpgroups::getWarpIndex(const Lane &lane) const {
  return workgroup.getNumberInGroup(lane) % kLanes / kWarpLanes;
}

Warpgroups::Warp &Warpgroups::getWarp(const Lane &lane) {
  return getGroup(lane).warps[getWarpIndex(lane)];
}

void Warpgroups::fence(Lane &lane, uint32_t site) {
  workgroup.requireWarp(lane, site, kWarpLanes);
  workgroup.collective(lane, site, kAllLanes,
                       "all lanes of the warp to fence registers",
                       [&](ArrayRef<Lane *>) {
                         Warp &warp = getWarp(lane);
                         warp.fenced = warp.everFenced = true;
                       });
}

void Warpgroups::multiply(Lane &lane, uint32_t site, uint32_t columns,
                          HostElementType type, uint32_t flags) {
  workgroup.requireWarp(lane, site, kWarpLanes);
  Group &group = getGroup(lane);
  if (llvm::alignTo(workgroup.getNumberInGroup(lane) + 1, kLanes) >
      workgroup.lanesOfGroup) {
    workgroup.reports.stop(
        site, "expects four warps, but got " +
                  Twine(workgroup.lanesOfGroup % kLanes / kWarpLanes) +
                  ", thread " + formatIndex(lane.threadId));
    workgroup.stop(lane);
  }
  SmallVector<Lane *> &arrived = group.arrived[site];
  arrived.push_back(&lane);
  if (arrived.size() < kLanes)
    return workgroup.wait(lane, site, "all lanes of four warps to multiply");
  SmallVector<Lane *> lanes = std::move(arrived);
  group.arrived.erase(site);
  llvm::sort(lanes, [](Lane *a, Lane *b) { return a->number < b->number; });
  for (uint32_t warp = 0; warp < kWarps; ++warp)
    workgroup.counters.converge(
        workgroup.getWarpNumber(*lanes[warp * kWarpLanes]));
  Product product;
  product.site = site;
  product.columns = columns;
  product.flags = flags;
  product.type = type;
  start(group, lanes, std::move(product));
  for (Lane *other : lanes)
    if (other != &lane)
      workgroup.release(*other);
}

void Warpgroups::start(Group &group, ArrayRef<Lane *> lanes, Product product) {
  Reports &reports = workgroup.reports;
  Lane &first = *lanes.front();
  uint32_t count = product.columns / 2;
  bool leftInRegisters = product.flags & kHostProductLeftInRegisters;
  using Descriptors = std::pair<uint64_t, uint64_t>;
  std::optional<Descriptors> descriptors;
  auto takeWords = [](Lane &lane, uint32_t number,
                      std::vector<uint32_t> &words) {
    size_t bytes = number * sizeof(uint32_t);
    words.resize(words.size() + number);
    std::memcpy(&words[words.size() - number], lane.takeBytes(bytes), bytes);
  };
  for (Lane *lane : lanes) {
    lane->beginOperands();
    Descriptors own;
    if (leftInRegisters) {
      takeWords(*lane, kLeftRegisters, product.left);
      own.second = lane->takeOperand<uint64_t>();
      takeWords(*lane, count, product.registers);
    } else {
      takeWords(*lane, count, product.registers);
      own.first = lane->takeOperand<uint64_t>();
      own.second = lane->takeOperand<uint64_t>();
    }
    if (!descriptors)
      descriptors = own;
    if (descriptors != own && reports.isOn(HostCheck::Convergence))
      reports.add(HostCheck::Convergence, product.site, *lane,
                  "expects the descriptors of thread " +
                      formatIndex(first.threadId) + ", but got others");
  }
  product.memory = first.shared;
  product.a = MatrixDescriptor(descriptors->first);
  product.b = MatrixDescriptor(descriptors->second);
  if ((!leftInRegisters &&
       !addPieces(product, first, product.a, kRows,
                  product.flags & kHostProductTransposeA)) ||
      !addPieces(product, first, product.b, product.columns,
                 product.flags & kHostProductTransposeB))
    product.pieces.clear();
  if (reports.isOn(HostCheck::Waits)) {
    checkFences(group, lanes, product);
    checkAccumulators(group, lanes, product);
  }
  uint32_t readers[kWarps];
  for (uint32_t warp = 0; warp < kWarps; ++warp)
    readers[warp] = lanes[warp * kWarpLanes]->number;
  for (uint32_t piece : product.pieces)
    workgroup.shadow.beginRead(readers, product.site, piece,
                               MatrixDescriptor::kPieceBytes);
  if (reports.isOn(HostCheck::Races))
    product.end =
        workgroup.shadow.clocks.act(MBarriers::kActors + getIndex(first));
  product.number = group.nextNumber++;
  for (Lane *lane : lanes)
    for (uint32_t index = 0; index < count; ++index) {
      uint32_t ticket = makeTicket(product.number, index);
      std::memcpy(lane->results + index * sizeof(ticket), &ticket,
                  sizeof(ticket));
    }
  for (Warp &warp : group.warps)
    warp.open.push_back(product.number);
  workgroup.counters.readMatrices(product.site,
                                  int64_t(product.pieces.size()) *
                                      MatrixDescriptor::kPieceBytes);
  workgroup.counters.matrix(2.0 * kRows * product.columns * kDepth);
  uint64_t number = product.number;
  group.products.push_back(std::move(product));
  // What no warp has waited for stays.
  while (group.products.size() > kKept &&
         group.products.front().waited == kAllWarps)
    group.products.pop_front();
  if (workgroup.chance())
    computeUntil(group, number);
}

bool Warpgroups::addPieces(Product &product, const Lane &lane,
                           const MatrixDescriptor &matrix, uint32_t extent,
                           bool isTransposed) {
  Reports &reports = workgroup.reports;
  if (matrix.hasUnknownBits || matrix.baseOffset != 0) {
    reports.add(HostCheck::Alignment, product.site, lane,
                "expects a descriptor of an address, two offsets and a "
                "swizzle, but got other bits that are not 0");
    return false;
  }
  if (matrix.start % matrix.getPatternBytes() >= 128 && matrix.pieces > 1) {
    reports.add(HostCheck::Alignment, product.site, lane,
                "expects a matrix that starts in the first 128 bytes of a "
                "swizzle's pattern of " +
                    Twine(matrix.getPatternBytes()) +
                    " bytes, but got address shared+0x" +
                    llvm::utohexstr(matrix.start));
    return false;
  }
  uint32_t along = isTransposed ? extent : kDepth,
           across = isTransposed ? kDepth : extent;
  for (uint32_t row = 0; row < across; ++row)
    for (uint32_t at = 0; at < along; at += MatrixDescriptor::kPieceElements) {
      uint32_t offset = matrix.getAddress(
          isTransposed ? at : row, isTransposed ? row : at, isTransposed);
      if (offset + MatrixDescriptor::kPieceBytes > workgroup.sharedBytes) {
        reports.add(HostCheck::Bounds, product.site, lane,
                    "reads a matrix outside of the " +
                        Twine(workgroup.sharedBytes) +
                        " bytes of workgroup memory, address shared+0x" +
                        llvm::utohexstr(offset));
        return false;
      }
      product.pieces.push_back(lane.rank * workgroup.sharedStride + offset);
    }
  return true;
}

void Warpgroups::checkFences(Group &group, ArrayRef<Lane *> lanes,
                             const Product &product) {
  bool chained = (product.flags & kHostProductAccumulate) &&
                 llvm::all_of(product.registers, isTicket);
  for (uint32_t index = 0; index < kWarps; ++index) {
    const Warp &warp = group.warps[index];
    if (!(product.flags & kHostProductLate) &&
        (warp.fenced || (chained && warp.everFenced)))
      continue;
    workgroup.reports.add(HostCheck::Waits, product.site,
                          *lanes[index * kWarpLanes],
                          "expects nvvm.wgmma.fence.aligned between other "
                          "accesses to its registers and the product");
    return;
  }
}

void Warpgroups::checkAccumulators(Group &group, ArrayRef<Lane *> lanes,
                                   const Product &product) {
  if (!(product.flags & kHostProductAccumulate))
    return;
  uint32_t count = product.columns / 2;
  for (auto [at, word] : llvm::enumerate(product.registers)) {
    Lane &lane = *lanes[at / count];
    uint32_t index;
    const Product *source = find(group, word, index);
    if (!source || isWaited(*source, lane) ||
        (source->columns == product.columns && index == at % count))
      continue;
    reportEarlyRead(product.site, lane, *source);
    return;
  }
}

void Warpgroups::commit(Lane &lane, uint32_t site) {
  workgroup.requireWarp(lane, site, kWarpLanes);
  workgroup.collective(lane, site, kAllLanes,
                       "all lanes of the warp to commit products",
                       [&](ArrayRef<Lane *>) {
                         Warp &warp = getWarp(lane);
                         warp.committed.push_back(std::move(warp.open));
                         warp.open.clear();
                       });
}

void Warpgroups::wait(Lane &lane, uint32_t site, uint32_t pending) {
  workgroup.requireWarp(lane, site, kWarpLanes);
  workgroup.collective(
      lane, site, kAllLanes, "all lanes of the warp to wait for products",
      [&](ArrayRef<Lane *> lanes) {
        Group &group = getGroup(lane);
        Warp &warp = getWarp(lane);
        warp.fenced = false;
        int64_t bytes = 0;
        for (; warp.committed.size() > pending; warp.committed.pop_front())
          for (uint64_t number : warp.committed.front()) {
            computeUntil(group, number);
            Product &product =
                group.products[number - group.products.front().number];
            uint32_t leader =
                lane.number - workgroup.getNumberInGroup(lane) % kLanes;
            if (!product.waited)
              for (uint32_t piece : product.pieces)
                workgroup.shadow.endRead(leader, product.end, product.site,
                                         piece, MatrixDescriptor::kPieceBytes);
            product.waited |= 1u << (&warp - group.warps);
            bytes += int64_t(product.columns) * kRows / kWarps * 4;
            if (workgroup.reports.isOn(HostCheck::Races))
              for (Lane *member : lanes)
                workgroup.shadow.clocks.learn(member->number, product.end);
          }
        workgroup.counters.wait(site, /*isFirst=*/true, bytes);
      });
}

void Warpgroups::computeUntil(Group &group, uint64_t number) {
  for (; group.nextComputed <= number; ++group.nextComputed)
    compute(group,
            group.products[group.nextComputed - group.products.front().number]);
}

/// PTX ISA, "Register Fragments and Shared Memory Matrix Layouts": matrix A of
/// wgmma.m64nNk16 in registers, as 64 rows of 16.
static std::vector<double> unpackLeft(ArrayRef<uint32_t> registers,
                                      HostElementType type) {
  std::vector<double> values(kRows * kDepth);
  for (size_t at : llvm::seq(registers.size()))
    for (uint32_t half = 0; half < 2; ++half) {
      uint32_t number = at / kLeftRegisters, index = at % kLeftRegisters;
      uint32_t row = 16 * (number / 32) + number % 32 / 4 + 8 * (index % 2);
      uint32_t k = 8 * (index / 2) + 2 * (number % 4) + half;
      values[row * kDepth + k] = loadHalf(
          type, reinterpret_cast<const char *>(&registers[at]) + 2 * half);
    }
  return values;
}

void Warpgroups::compute(Group &group, Product &product) {
  product.computed = true;
  uint32_t count = product.columns / 2;
  if (product.pieces.empty()) {
    llvm::fill(product.registers, ~uint32_t(0));
    return;
  }
  auto load = [&](const MatrixDescriptor &matrix, uint32_t extent,
                  bool isTransposed, bool negated) {
    std::vector<double> values(size_t(extent) * kDepth);
    for (uint32_t index = 0; index < extent; ++index)
      for (uint32_t k = 0; k < kDepth; ++k) {
        double value = loadHalf(product.type,
                                product.memory +
                                    matrix.getAddress(index, k, isTransposed));
        values[index * kDepth + k] = negated ? -value : value;
      }
    return values;
  };
  std::vector<double> a =
      product.left.empty()
          ? load(product.a, kRows, product.flags & kHostProductTransposeA,
                 product.flags & kHostProductNegateA)
          : unpackLeft(product.left, product.type);
  std::vector<double> b =
      load(product.b, product.columns, product.flags & kHostProductTransposeB,
           product.flags & kHostProductNegateB);
  // PTX ISA, "Register Fragments and Shared Memory Matrix Layouts": matrix D
  // of wgmma.m64nNk16.
  for (uint32_t number = 0; number < kLanes; ++number)
    for (uint32_t i = 0; i < count; ++i) {
      uint32_t row = 16 * (number / 32) + number % 32 / 4 + 8 * (i / 2 % 2);
      uint32_t column = 8 * (i / 4) + 2 * (number % 4) + i % 2;
      uint32_t &word = product.registers[number * count + i];
      double sum = 0;
      if (product.flags & kHostProductAccumulate) {
        uint32_t index;
        const Product *source = find(group, word, index);
        sum = llvm::bit_cast<float>(
            source ? source->registers[number * (source->columns / 2) + index]
                   : word);
      }
      for (uint32_t k = 0; k < kDepth; ++k)
        sum += a[row * kDepth + k] * b[column * kDepth + k];
      word = llvm::bit_cast<uint32_t>(static_cast<float>(sum));
    }
}

const Warpgroups::Product *Warpgroups::find(const Group &group, uint32_t word,
                                            uint32_t &index) {
  if (!isTicket(word) || group.products.empty())
    return nullptr;
  uint64_t last = group.nextNumber - 1;
  uint64_t wanted = ((word & ~kTicket) >> kRegisterBits) - 1;
  uint64_t age =
      (last % kTicketNumbers + kTicketNumbers - wanted) % kTicketNumbers;
  if (age >= group.products.size())
    return nullptr;
  index = word & ((1u << kRegisterBits) - 1);
  return &group.products[group.products.size() - 1 - age];
}

bool Warpgroups::isWaited(const Product &product, const Lane &lane) const {
  return product.waited >> getWarpIndex(lane) & 1;
}

void Warpgroups::reportEarlyRead(uint32_t site, const Lane &lane,
                                 const Product &product) {
  if (!workgroup.reports.isOn(HostCheck::Waits))
    return;
  if (auto diagnostic =
          workgroup.reports.add(HostCheck::Waits, site, lane,
                                "reads the result of a product that was not "
                                "waited for"))
    diagnostic->attachNote(workgroup.reports.getLoc(product.site))
        << "the product is here";
}

void Warpgroups::read(Lane &lane, uint32_t site, uint32_t *words,
                      uint32_t count) {
  Group &group = getGroup(lane);
  for (uint32_t &word : MutableArrayRef<uint32_t>(words, count)) {
    uint32_t index;
    const Product *product = find(group, word, index);
    if (!product) {
      if (isTicket(word)) {
        workgroup.reports.stop(site, "expects one of the last " + Twine(kKept) +
                                         " products of the warps");
        workgroup.stop(lane);
      }
      continue;
    }
    if (!isWaited(*product, lane)) {
      reportEarlyRead(site, lane, *product);
      continue;
    }
    word = product->registers[workgroup.getNumberInGroup(lane) % kLanes *
                                  (product->columns / 2) +
                              index];
  }
}

void Warpgroups::reportPending() const {
  if (!workgroup.reports.isOn(HostCheck::Waits))
    return;
  for (auto [number, group] : llvm::enumerate(groups))
    for (const Product &product : group.products)
      if (product.waited != kAllWarps)
        workgroup.reports.add(HostCheck::Waits, product.site,
                              workgroup.lanes[number * kLanes],
                              "multiplies what is never waited for",
                              /*isError=*/false);
}
