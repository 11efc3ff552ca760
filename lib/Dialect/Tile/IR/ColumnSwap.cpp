// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tried on all lanes: strides need not be powers of two, and a sum of digits
// says little about how they carry.

#include "attune/Dialect/Tile/IR/ColumnSwap.h"
#include "llvm/ADT/DenseMap.h"

using namespace mlir;
using namespace attune;
using namespace attune::tile;

namespace {
class SwapFinder {
public:
  SwapFinder(LayoutAttr layout, int64_t stride);

  std::optional<ColumnSource> find(int64_t reg) const;
  int64_t getNumRegisters() const {
    return static_cast<int64_t>(registers.size());
  }

private:
  using Place = std::pair<int64_t, int64_t>;
  /// The places of registers 0 to `count - 1` of these modes.
  static SmallVector<Place> list(MLIRContext *context, ArrayRef<Mode> modes);
  int64_t getPartner(int64_t column) const {
    return column / stride % 2 == 0 ? column + stride : column - stride;
  }
  /// The register of lane `mask` xor `lane` with the partner of what `reg` of
  /// `lane` holds.
  std::optional<int64_t> findRegister(int64_t reg, int64_t lane,
                                      int64_t mask) const;
  bool isSource(int64_t reg, ColumnSource source) const;

  int64_t stride;
  SmallVector<Place> registers, lanes;
  llvm::DenseMap<Place, int64_t> registerOf;
};
} // namespace

SmallVector<SwapFinder::Place> SwapFinder::list(MLIRContext *context,
                                                ArrayRef<Mode> modes) {
  auto layout = LayoutAttr::get(context, modes, {}, {});
  SmallVector<Place> places;
  for (int64_t i = 0; i < layout.getNumRegisters(); ++i) {
    SmallVector<int64_t, 2> place = layout.getRegisterCoordinates(i, 2);
    places.emplace_back(place[0], place[1]);
  }
  return places;
}

SwapFinder::SwapFinder(LayoutAttr layout, int64_t stride)
    : stride(stride),
      registers(list(layout.getContext(), layout.getRegisters())),
      lanes(list(layout.getContext(), layout.getLanes())) {
  for (auto [reg, place] : llvm::enumerate(registers))
    registerOf.try_emplace(place, reg);
}

std::optional<int64_t> SwapFinder::findRegister(int64_t reg, int64_t lane,
                                                int64_t mask) const {
  int64_t other = lane ^ mask;
  if (other >= static_cast<int64_t>(lanes.size()))
    return std::nullopt;
  int64_t row = registers[reg].first + lanes[lane].first,
          column = getPartner(registers[reg].second + lanes[lane].second);
  auto known = registerOf.find(
      Place(row - lanes[other].first, column - lanes[other].second));
  if (known == registerOf.end())
    return std::nullopt;
  return known->second;
}

/// Whether that is so for every lane.
bool SwapFinder::isSource(int64_t reg, ColumnSource source) const {
  auto count = static_cast<int64_t>(lanes.size());
  for (int64_t lane = 0; lane < count; ++lane) {
    if (findRegister(reg, lane, source.laneMask) !=
        ((lane & source.laneMask) ? source.upperReg : source.reg))
      return false;
  }
  return true;
}

std::optional<ColumnSource> SwapFinder::find(int64_t reg) const {
  auto count = static_cast<int64_t>(lanes.size());
  for (int64_t mask = 0; mask < count; mask = mask ? 2 * mask : 1) {
    // What the first lane with and without the digit asks for says which
    // registers these are.
    std::optional<int64_t> lower = findRegister(reg, 0, mask),
                           upper = findRegister(reg, mask, mask);
    if (!lower || !upper)
      continue;
    ColumnSource source{*lower, *upper, mask};
    if (isSource(reg, source))
      return source;
  }
  return std::nullopt;
}

std::optional<SmallVector<ColumnSource>>
tile::findSwappedColumns(LayoutAttr layout, int64_t stride) {
  // A warp that began between partners would take one for the other.
  for (const Mode &mode : layout.getWarps())
    if (mode.dim == 1 && mode.stride % (2 * stride) != 0)
      return std::nullopt;
  SwapFinder finder(layout, stride);
  SmallVector<ColumnSource> sources;
  for (int64_t reg = 0; reg < finder.getNumRegisters(); ++reg) {
    std::optional<ColumnSource> source = finder.find(reg);
    if (!source)
      return std::nullopt;
    sources.push_back(*source);
  }
  return sources;
}
