// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MMAs of AMD's chips get the keys of a lane's weights as neighbours if lanes
// read rows in another order than their own. With rows of odd multiples of 16
// bytes, those that a chip serves together then meet in banks.

#include "RowPlaces.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attune;

/// For each lane the row and the first column that it reads.
static SmallVector<std::pair<int64_t, int64_t>>
getPlacesRead(tile::LayoutAttr layout, int64_t lanes) {
  SmallVector<std::pair<int64_t, int64_t>> places;
  for (int64_t lane = 0; lane < lanes; ++lane) {
    int64_t rest = lane, row = 0, column = 0;
    for (const tile::Mode &mode : layout.getLanes()) {
      (mode.dim == 1 ? row : column) += rest % mode.extent * mode.stride;
      rest /= mode.extent;
    }
    places.emplace_back(row, column);
  }
  return places;
}

RowPlaces::RowPlaces(const KernelContext &context, tile::SwizzleAttr swizzle,
                     int64_t rows, int64_t rowLength, Type element) {
  ArrayRef<tile::MmaAtomAttr> atoms = context.target.getMma();
  if (atoms.empty() || swizzle.getPadding() == 0)
    return;
  tile::MmaAtomAttr atom = atoms.front();
  tile::LayoutAttr layout = atom.getRhs();
  if (atom.getWarps() != 1 || rows % atom.getN() != 0 ||
      !llvm::isPowerOf2_64(static_cast<uint64_t>(atom.getN())))
    return;
  bits.resize(llvm::Log2_64(static_cast<uint64_t>(atom.getN())));
  unsigned place = 0;
  for (const tile::Mode &mode : layout.getLanes())
    if (mode.dim == 1 && mode.stride != 0)
      for (int64_t stride = mode.stride; stride < mode.stride * mode.extent;
           stride *= 2)
        bits[llvm::Log2_64(static_cast<uint64_t>(stride))] = place++;
  if (place != bits.size()) {
    bits.clear();
    return;
  }
  constexpr int64_t kByteBits = 8, kMostBytes = 16;
  int64_t ofElement = element.getIntOrFloatBitWidth() / kByteBits;
  auto bytes = static_cast<unsigned>(
      std::min(kMostBytes, swizzle.getVector() * ofElement));
  auto count = [&](bool isMoved) {
    llvm::SmallVector<uint64_t> addresses;
    for (auto [row, column] : getPlacesRead(layout, context.target.getLanes()))
      addresses.push_back(static_cast<uint64_t>(
          ((isMoved ? getPlace(row) : row) * rowLength + column) * ofElement));
    return context.model->countSharedRounds(addresses, bytes, /*isWrite=*/false)
        .taken;
  };
  if (count(/*isMoved=*/true) >= count(/*isMoved=*/false))
    bits.clear();
}

int64_t RowPlaces::getPlace(int64_t row) const {
  int64_t place = row >> bits.size() << bits.size();
  for (auto [from, to] : llvm::enumerate(bits))
    place |= (row >> from & 1) << to;
  return place;
}

SplitIndex RowPlaces::get(OpBuilder &b, Location loc,
                          const SplitIndex &row) const {
  if (bits.empty())
    return row;
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, loc, value);
  };
  // Bits that both parts have would carry.
  SplitIndex split = row;
  int64_t low = row.constant & ((int64_t(1) << bits.size()) - 1);
  if (row.dynamic && (row.possibleBits & static_cast<uint64_t>(low)) != 0) {
    split.dynamic =
        b.createOrFold<arith::AddIOp>(loc, row.dynamic, constant(low));
    split.constant -= low;
  }
  SplitIndex place{Value(), getPlace(split.constant)};
  if (!row.dynamic)
    return place;
  int64_t moved = 0;
  for (auto [from, to] : llvm::enumerate(bits))
    moved |= from == to ? 0 : int64_t(1) << from;
  place.dynamic =
      b.createOrFold<arith::AndIOp>(loc, split.dynamic, constant(~moved));
  for (auto [from, to] : llvm::enumerate(bits)) {
    if (from == to)
      continue;
    Value bit = b.createOrFold<arith::AndIOp>(loc, split.dynamic,
                                              constant(int64_t(1) << from));
    bit = from < to ? b.createOrFold<arith::ShLIOp>(
                          loc, bit, constant(static_cast<int64_t>(to - from)))
                    : b.createOrFold<arith::ShRUIOp>(
                          loc, bit, constant(static_cast<int64_t>(from - to)));
    place.dynamic = b.createOrFold<arith::AddIOp>(loc, place.dynamic, bit);
  }
  return place;
}
