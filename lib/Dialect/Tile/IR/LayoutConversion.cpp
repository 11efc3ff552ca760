// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Layouts are compared digit by digit, and register by register.

#include "attune/Dialect/Tile/IR/LayoutConversion.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attune;
using namespace attune::tile;

/// Of a register that lanes exchange.
static constexpr int64_t kWordBits = 32;

int64_t tile::findRegister(LayoutAttr layout, ArrayRef<int64_t> coordinates) {
  for (int64_t reg = 0; reg < layout.getNumRegisters(); ++reg)
    if (ArrayRef<int64_t>(layout.getRegisterCoordinates(
            reg, coordinates.size())) == coordinates)
      return reg;
  return -1;
}

std::optional<SmallVector<int64_t>> tile::findRenaming(LayoutAttr source,
                                                       TileType to) {
  LayoutAttr destination = to.getRegisterLayout();
  if (source.getLanes() != destination.getLanes() ||
      source.getWarps() != destination.getWarps())
    return std::nullopt;
  SmallVector<int64_t> order;
  for (int64_t reg = 0; reg < destination.getNumRegisters(); ++reg) {
    order.push_back(findRegister(
        source, destination.getRegisterCoordinates(reg, to.getRank())));
    if (order.back() < 0)
      return std::nullopt;
  }
  return order;
}

static bool haveSameWarps(LayoutAttr source, LayoutAttr destination) {
  return source.getWarps() == destination.getWarps() &&
         source.getNumLanes() == destination.getNumLanes();
}

/// The coordinates of a lane's part of a layout.
static SmallVector<int64_t, 2> lanePart(LayoutAttr layout, int64_t lane) {
  auto lanes = LayoutAttr::get(layout.getContext(), layout.getLanes(), {}, {});
  return lanes.getRegisterCoordinates(lane, 2);
}

/// Takes the binary digit that adds `step` to a coordinate out of a mode and
/// gives it another meaning. Returns the distance of registers that differ in
/// it, or 0 if there is no such digit.
static int64_t replaceDigit(SmallVectorImpl<Mode> &modes, int64_t dim,
                            int64_t step, int64_t newDim, int64_t newStep) {
  int64_t stride = 1;
  for (auto [i, mode] : llvm::enumerate(modes)) {
    for (int64_t low = 1; mode.dim == dim && mode.extent % (2 * low) == 0;
         low *= 2) {
      if (mode.stride * low != step)
        continue;
      Mode whole = mode;
      modes[i] = {low, whole.dim, whole.stride};
      modes.insert(
          modes.begin() + i + 1,
          {Mode{2, newDim, newStep},
           Mode{whole.extent / (2 * low), whole.dim, whole.stride * 2 * low}});
      return stride * low;
    }
    stride *= mode.extent;
  }
  return 0;
}

/// The exchanges that bring `source` to a layout with the lanes of
/// `destination`, which is returned; null if there are none.
static LayoutAttr findSteps(LayoutAttr source, LayoutAttr destination,
                            SmallVectorImpl<LaneExchange::Step> &steps) {
  SmallVector<Mode> registers(source.getRegisters());
  for (int64_t bit = 1; bit < destination.getNumLanes(); bit *= 2) {
    SmallVector<int64_t, 2> from = lanePart(source, bit),
                            to = lanePart(destination, bit);
    if (from == to)
      continue;
    auto isOneDim = [](ArrayRef<int64_t> step) {
      return (step[0] == 0) != (step[1] == 0);
    };
    if (!isOneDim(from) || !isOneDim(to))
      return {};
    int64_t dim = to[0] ? 0 : 1, newDim = from[0] ? 0 : 1;
    int64_t stride =
        replaceDigit(registers, dim, to[dim], newDim, from[newDim]);
    if (!stride)
      return {};
    steps.push_back({bit, stride});
  }
  return LayoutAttr::getNormal(source.getContext(), registers,
                               destination.getLanes(), destination.getWarps());
}

std::optional<LaneExchange> tile::findLaneExchange(TileType from, TileType to) {
  LayoutAttr source = from.getRegisterLayout(),
             destination = to.getRegisterLayout();
  if (!haveSameWarps(source, destination) ||
      !llvm::isPowerOf2_64(source.getNumLanes()))
    return std::nullopt;
  LaneExchange exchange;
  LayoutAttr exchanged = findSteps(source, destination, exchange.steps);
  if (!exchanged)
    return std::nullopt;
  // Whole words move.
  int64_t bits = to.getElementType().getIntOrFloatBitWidth(),
          perWord = kWordBits / bits;
  if (bits > kWordBits || source.getNumRegisters() % perWord != 0 ||
      llvm::any_of(exchange.steps, [&](const LaneExchange::Step &step) {
        return step.registerStride % perWord != 0;
      }))
    return std::nullopt;
  auto order = findRenaming(exchanged, to);
  if (!order)
    return std::nullopt;
  exchange.order = std::move(*order);
  return exchange;
}

/// The one lane digit in which the layouts differ, by whose lanes the source
/// divides what the destination repeats; 0 if there is another difference.
static int64_t findGathered(LayoutAttr source, LayoutAttr destination) {
  int64_t found = 0;
  for (int64_t bit = 1; bit < destination.getNumLanes(); bit *= 2) {
    SmallVector<int64_t, 2> from = lanePart(source, bit),
                            to = lanePart(destination, bit);
    if (from == to)
      continue;
    if (found || to[0] || to[1])
      return 0;
    found = bit;
  }
  return found;
}

std::optional<LaneGathering> tile::findLaneGathering(TileType from,
                                                     TileType to) {
  LayoutAttr source = from.getRegisterLayout(),
             destination = to.getRegisterLayout();
  if (!haveSameWarps(source, destination))
    return std::nullopt;
  LaneGathering gathering{findGathered(source, destination), {}};
  int64_t count = source.getNumRegisters(),
          bits = to.getElementType().getIntOrFloatBitWidth();
  if (!gathering.laneBit || bits > kWordBits || count * bits % kWordBits != 0)
    return std::nullopt;
  SmallVector<int64_t, 2> step = lanePart(source, gathering.laneBit);
  for (int64_t reg = 0; reg < destination.getNumRegisters(); ++reg) {
    SmallVector<int64_t, 2> at = destination.getRegisterCoordinates(reg, 2);
    int64_t found = findRegister(source, at);
    if (found < 0) {
      found = findRegister(source, {at[0] - step[0], at[1] - step[1]});
      if (found < 0)
        return std::nullopt;
      found += count;
    }
    gathering.order.push_back(found);
  }
  return gathering;
}

static std::optional<LaneShuffle>
findShuffle(LayoutAttr source, LayoutAttr destination, int64_t reg) {
  int64_t lanes = destination.getNumLanes();
  SmallVector<int64_t, 2> offset = destination.getRegisterCoordinates(reg, 2);
  for (int64_t from = 0; from < source.getNumRegisters(); ++from) {
    SmallVector<int64_t, 2> sourceOffset =
        source.getRegisterCoordinates(from, 2);
    SmallVector<int64_t> origin;
    for (int64_t lane = 0; lane < lanes; ++lane) {
      SmallVector<int64_t, 2> own = lanePart(destination, lane);
      auto holds = [&](int64_t candidate) {
        SmallVector<int64_t, 2> theirs = lanePart(source, candidate);
        return sourceOffset[0] + theirs[0] == offset[0] + own[0] &&
               sourceOffset[1] + theirs[1] == offset[1] + own[1];
      };
      int64_t found = holds(lane) ? lane : -1;
      for (int64_t candidate = 0; candidate < lanes && found < 0; ++candidate)
        if (holds(candidate))
          found = candidate;
      if (found < 0)
        break;
      origin.push_back(found);
    }
    if (static_cast<int64_t>(origin.size()) != lanes)
      continue;
    LaneShuffle shuffle{from, 0, origin.front()};
    for (int64_t bit = 1; bit < lanes; bit *= 2)
      if ((origin[bit] & bit) && !(origin.front() & bit))
        shuffle.keep |= bit;
    bool fits = true;
    for (int64_t lane = 0; lane < lanes; ++lane)
      fits &= origin[lane] == ((lane & shuffle.keep) | shuffle.set);
    if (fits)
      return shuffle;
  }
  return std::nullopt;
}

std::optional<SmallVector<LaneShuffle>> tile::findLaneShuffles(TileType from,
                                                               TileType to) {
  LayoutAttr source = from.getRegisterLayout(),
             destination = to.getRegisterLayout();
  unsigned bits = to.getElementType().getIntOrFloatBitWidth();
  if (!haveSameWarps(source, destination) || (bits != 16 && bits != 32))
    return std::nullopt;
  SmallVector<LaneShuffle> shuffles;
  for (int64_t reg = 0; reg < destination.getNumRegisters(); ++reg) {
    std::optional<LaneShuffle> shuffle = findShuffle(source, destination, reg);
    if (!shuffle)
      return std::nullopt;
    shuffles.push_back(*shuffle);
  }
  return shuffles;
}

bool tile::convertsWithinWarps(TileType from, TileType to) {
  return findRenaming(from.getRegisterLayout(), to) ||
         findLaneExchange(from, to) || findLaneGathering(from, to) ||
         findLaneShuffles(from, to);
}
