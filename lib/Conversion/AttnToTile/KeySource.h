// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the keys and values of a tile come from, and which key a column of a
// block is: all that depends on how they are stored.

#ifndef ATTUNE_LIB_CONVERSION_ATTNTOTILE_KEYSOURCE_H
#define ATTUNE_LIB_CONVERSION_ATTNTOTILE_KEYSOURCE_H

#include "KernelBody.h"
#include "Reach.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace attune {

/// The keys that one tile of queries has.
struct OwnedKeys {
  mlir::Value batch, head;
  /// How many keys there are in the batch, and how many it has room for.
  mlir::Value length, capacity;
  /// The place of the first of them; null where keys are not packed.
  mlir::Value first;
};

/// Keys and values in one tensor, batch by batch or packed, or in pages. Those
/// of a batch with a length of its own are not read behind that. The copy
/// engine, which knows the ends of tensors alone and reads zeros before their
/// beginning, then reads units of keys of which the last one ends with the last
/// key: it starts with keys of the one before, or with none, which isKey()
/// tells. Before packed keys those of another batch may be read.
class KeySource {
public:
  KeySource(mlir::ImplicitLocOpBuilder &b, attn::AttentionOp op,
            const KernelInputs &inputs, const KernelSizes &sizes,
            const OwnedKeys &own);

  /// A block of keys, by its place among them.
  struct Block {
    mlir::Value first;
    /// That of its first column: an earlier one if the block is the last unit.
    mlir::Value read;
  };
  /// Emits the block whose first key is `first`.
  Block getBlock(mlir::ImplicitLocOpBuilder &b, mlir::Value first) const;

  /// The rows of the keys, or of the values, and the one at which a block of
  /// them is loaded.
  mlir::Value keys, values;
  mlir::Value getRow(mlir::ImplicitLocOpBuilder &b, const Block &block) const;
  /// Whether all rows of blocks within the capacity are sure to be there.
  bool isInBounds() const { return !inputs.pages; }

  /// The key of a column of a block, inside of a map, clamped to one that there
  /// is if asked.
  mlir::Value getKey(mlir::OpBuilder &inner, mlir::Location loc,
                     const Block &block, mlir::Value column, bool clamp) const;
  /// The batch and the row of a key that is clamped, in the tensors of keys and
  /// values.
  std::pair<mlir::Value, mlir::Value>
  locate(mlir::OpBuilder &inner, mlir::Location loc, mlir::Value key) const;
  /// Whether that key is one that there is, and is read for no other column.
  mlir::Value isKey(mlir::OpBuilder &inner, mlir::Location loc,
                    const Block &block, mlir::Value column,
                    mlir::Value key) const;

private:
  /// Whether batches have ends of their own.
  bool hasEnd() const { return inputs.keyLengths || own.first; }
  mlir::Value viewRows(mlir::ImplicitLocOpBuilder &b, mlir::Value buffer);

  mutable attn::AttentionOp op;
  const KernelInputs &inputs;
  OwnedKeys own;
  int64_t blockSize, unit;
  /// The last unit. None where what is read can end anywhere.
  std::optional<LastBox> lastUnit;
};

} // namespace attune

#endif // ATTUNE_LIB_CONVERSION_ATTNTOTILE_KEYSOURCE_H
