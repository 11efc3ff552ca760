// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes expressions as ops in a region of attn.attention.

#ifndef ATTUNE_LIB_CONVERSION_LINALGTOATTN_ELEMENTEMITTER_H
#define ATTUNE_LIB_CONVERSION_LINALGTOATTN_ELEMENTEMITTER_H

#include "Layout.h"

namespace attune::raising {

class ElementEmitter {
public:
  /// `indices` are b, h, m and n of the region.
  ElementEmitter(mlir::OpBuilder &builder, mlir::Location loc,
                 const Layout &layout, mlir::ValueRange indices)
      : builder(builder), loc(loc), layout(layout), indices(indices) {}

  /// What stands for an element already.
  void map(const Element *element, mlir::Value value) {
    values[element] = value;
  }
  mlir::Value emit(const Element *element);

private:
  mlir::Value emitIndex(const IndexSum &index);
  mlir::Value emitDigit(const Digit &digit);
  mlir::Value create(const Element *element);
  mlir::Value widen(mlir::Value value);
  mlir::Value constant(int64_t value);

  mlir::OpBuilder &builder;
  mlir::Location loc;
  const Layout &layout;
  mlir::ValueRange indices;
  llvm::DenseMap<const Element *, mlir::Value> values;
};

} // namespace attune::raising

#endif // ATTUNE_LIB_CONVERSION_LINALGTOATTN_ELEMENTEMITTER_H
