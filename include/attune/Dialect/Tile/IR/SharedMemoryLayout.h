// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where what a kernel keeps in shared memory lies. The one place that knows:
// tile-allocate-shared gives places by it, and legality counts bytes.

#ifndef ATTUNE_DIALECT_TILE_IR_SHAREDMEMORYLAYOUT_H
#define ATTUNE_DIALECT_TILE_IR_SHAREDMEMORYLAYOUT_H

#include "llvm/Support/MathExtras.h"
#include <cstdint>

namespace attune::tile {

/// Gives places in shared memory one after the other: first to tiles, then to
/// barriers and what lies among them. All sizes are in bytes.
class SharedMemoryLayout {
public:
  /// Tiles start at multiples of this, so that the eight rows of 128 bytes that
  /// a swizzle permutes fall on the banks as planned.
  static constexpr int64_t kTileAlignment = 1024;
  static constexpr int64_t kBarrierBytes = 8;

  /// Room for tiles of `bytes` together; returns where it starts.
  int64_t addTiles(int64_t bytes) {
    used = llvm::alignTo(used, kTileAlignment);
    return take(bytes);
  }
  /// `count` words of 8 bytes: barriers and what they guard.
  int64_t addWords(int64_t count) {
    used = llvm::alignTo(used, kBarrierBytes);
    return take(count * kBarrierBytes);
  }
  /// Barriers of a channel of `stages` slots: of each one that says full and
  /// one that says empty, where slots have swizzle atoms, and else none, for
  /// its two ends then wait for each other at barriers of the workgroup.
  static int64_t countBarriers(int64_t stages, int64_t atomColumns) {
    return atomColumns ? 2 * stages : 0;
  }

  /// Room for the `stages` slots of a channel, of `slotBytes` each. Their
  /// barriers come later, by addBarriers().
  void addRing(int64_t stages, int64_t slotBytes, int64_t atomColumns) {
    addTiles(stages * slotBytes);
    barriers += countBarriers(stages, atomColumns);
  }
  /// The barriers of all rings.
  void addBarriers() { addWords(barriers); }

  int64_t getBytes() const { return used; }

private:
  int64_t take(int64_t bytes) {
    int64_t start = used;
    used += bytes;
    return start;
  }

  int64_t used = 0, barriers = 0;
};

} // namespace attune::tile

#endif // ATTUNE_DIALECT_TILE_IR_SHAREDMEMORYLAYOUT_H
