// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builds a matmul as one would write it by hand: an op of linalg for the
// product, and an elementwise one for each thing that happens to it.

#include "Matmul.h"
#include "attune/Schedule/Matmul/Legality.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace attune::gen;

namespace {
/// An elementwise op's operand, and which of the loops index it.
struct Input {
  Value tensor;
  SmallVector<unsigned> loops;
};

class MatmulWriter {
public:
  MatmulWriter(const MatmulProblem &problem, MLIRContext *context)
      : problem(problem), b(UnknownLoc::get(context), context) {}

  OwningOpRef<ModuleOp> write();

private:
  using Body =
      function_ref<Value(ImplicitLocOpBuilder &inner, ValueRange elements)>;

  Value f32(ImplicitLocOpBuilder &builder, double value) {
    return arith::ConstantOp::create(builder, builder.getF32FloatAttr(value));
  }
  RankedTensorType getMatrix(int64_t rows, int64_t columns, Type element,
                             bool strided = false);
  /// A further argument of the function.
  Value addArgument(ArrayRef<int64_t> shape, Type element);
  Value addMatrix(int64_t rows, int64_t columns, bool transposed);
  Value makeEmpty(Type element);
  Value multiply(Value lhs, Value rhs);
  Value apply(ArrayRef<Input> inputs, Value init, Body body);
  /// With one vector or matrix, extended to f32.
  Value combine(Value value, Value other, ArrayRef<unsigned> loops, bool add);
  Value activate(Value value);
  Value emitActivation(ImplicitLocOpBuilder &builder, Value x);
  Value rotate(Value value);

  const MatmulProblem &problem;
  ImplicitLocOpBuilder b;
  func::FuncOp function;
  Value lhs;
  Value rhs;
  /// Loops over the result: those of the batch, then m and n.
  unsigned m, n;
  SmallVector<unsigned> all;
};
} // namespace

RankedTensorType MatmulWriter::getMatrix(int64_t rows, int64_t columns,
                                         Type element, bool strided) {
  SmallVector<int64_t> shape;
  if (problem.batch)
    shape.push_back(*problem.batch);
  shape.append({rows, columns});
  return RankedTensorType::get(
      shape, element,
      getEncoding(b.getContext(), strided, shape.size(), columns));
}

Value MatmulWriter::addArgument(ArrayRef<int64_t> shape, Type element) {
  auto type = RankedTensorType::get(shape, element);
  (void)function.insertArgument(function.getNumArguments(), type, {},
                                b.getLoc());
  return function.getArguments().back();
}

Value MatmulWriter::addMatrix(int64_t rows, int64_t columns, bool transposed) {
  if (transposed)
    std::swap(rows, columns);
  Type element = getType(b, problem.element);
  (void)function.insertArgument(
      function.getNumArguments(),
      getMatrix(rows, columns, element, problem.strided), {}, b.getLoc());
  return function.getArguments().back();
}

/// A tensor of the result's sizes.
Value MatmulWriter::makeEmpty(Type element) {
  SmallVector<Value> sizes;
  auto addSize = [&](int64_t size, Value tensor, unsigned dim) {
    if (ShapedType::isDynamic(size))
      sizes.push_back(tensor::DimOp::create(b, tensor, dim));
  };
  if (problem.batch)
    addSize(*problem.batch, lhs, 0);
  addSize(problem.m, lhs, problem.transposeA ? n : m);
  addSize(problem.n, rhs, problem.transposeB ? m : n);
  RankedTensorType type = getMatrix(problem.m, problem.n, element);
  return tensor::EmptyOp::create(b, type, sizes);
}

Value MatmulWriter::multiply(Value lhs, Value rhs) {
  Value zero = f32(b, 0);
  Value init =
      linalg::FillOp::create(b, zero, makeEmpty(b.getF32Type())).getResult(0);
  auto getMap = [&](unsigned row, unsigned column, bool transposed) {
    SmallVector<unsigned> loops;
    if (problem.batch)
      loops.push_back(0);
    loops.append({transposed ? column : row, transposed ? row : column});
    return AffineMap::getMultiDimMapWithTargets(n + 2, loops, b.getContext());
  };
  unsigned k = n + 1;
  auto create = [&](auto *kind) -> Value {
    using Op = std::remove_pointer_t<decltype(kind)>;
    auto op = Op::create(b, TypeRange{init.getType()}, ValueRange{lhs, rhs},
                         ValueRange{init});
    if (problem.transposeA || problem.transposeB)
      op.setIndexingMapsAttr(b.getAffineMapArrayAttr(
          {getMap(m, k, problem.transposeA), getMap(k, n, problem.transposeB),
           getMap(m, n, false)}));
    return op.getResult(0);
  };
  if (problem.batch)
    return create(static_cast<linalg::BatchMatmulOp *>(nullptr));
  return create(static_cast<linalg::MatmulOp *>(nullptr));
}

Value MatmulWriter::apply(ArrayRef<Input> inputs, Value init, Body body) {
  unsigned rank = cast<RankedTensorType>(init.getType()).getRank();
  SmallVector<Value> tensors;
  SmallVector<AffineMap> maps;
  for (const Input &input : inputs) {
    tensors.push_back(input.tensor);
    maps.push_back(AffineMap::getMultiDimMapWithTargets(rank, input.loops,
                                                        b.getContext()));
  }
  maps.push_back(b.getMultiDimIdentityMap(rank));
  SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
  auto op = linalg::GenericOp::create(
      b, init.getType(), tensors, init, maps, loops,
      [&](OpBuilder &builder, Location loc, ValueRange arguments) {
        ImplicitLocOpBuilder inner(loc, builder);
        linalg::YieldOp::create(inner, body(inner, arguments));
      });
  return op.getResult(0);
}

static Value extend(ImplicitLocOpBuilder &builder, Value value) {
  if (value.getType().isF32())
    return value;
  return arith::ExtFOp::create(builder, builder.getF32Type(), value);
}

Value MatmulWriter::combine(Value value, Value other, ArrayRef<unsigned> loops,
                            bool add) {
  return apply({{value, all}, {other, SmallVector<unsigned>(loops)}},
               makeEmpty(b.getF32Type()),
               [&](ImplicitLocOpBuilder &inner, ValueRange elements) -> Value {
                 Value second = extend(inner, elements[1]);
                 if (add)
                   return arith::AddFOp::create(inner, elements[0], second);
                 return arith::MulFOp::create(inner, elements[0], second);
               });
}

Value MatmulWriter::emitActivation(ImplicitLocOpBuilder &builder, Value x) {
  auto multiply = [&](Value a, Value c) -> Value {
    return arith::MulFOp::create(builder, a, c);
  };
  auto add = [&](Value a, Value c) -> Value {
    return arith::AddFOp::create(builder, a, c);
  };
  auto half = [&](Value distribution) {
    return multiply(multiply(f32(builder, 0.5), x),
                    add(distribution, f32(builder, 1)));
  };
  switch (problem.activation) {
  case Activation::None:
    return x;
  case Activation::ReLU:
    return arith::MaximumFOp::create(builder, x, f32(builder, 0));
  case Activation::GELU:
    return half(math::ErfOp::create(
        builder, multiply(x, f32(builder, 0.70710678118654752))));
  case Activation::GELUTanh: {
    Value cube = multiply(multiply(x, x), x);
    Value inner = add(x, multiply(cube, f32(builder, 0.044715)));
    return half(math::TanhOp::create(
        builder, multiply(inner, f32(builder, 0.79788456080286536))));
  }
  case Activation::SiLU: {
    Value power =
        math::ExpOp::create(builder, arith::NegFOp::create(builder, x));
    return arith::DivFOp::create(builder, x, add(power, f32(builder, 1)));
  }
  }
  llvm_unreachable("all activations have a formula");
}

Value MatmulWriter::activate(Value value) {
  if (problem.activation == Activation::None)
    return value;
  return apply({{value, all}}, makeEmpty(b.getF32Type()),
               [&](ImplicitLocOpBuilder &inner, ValueRange elements) {
                 return emitActivation(inner, elements[0]);
               });
}

/// Splits columns into (columns / 2, 2) or (heads, 2, head size / 2), and turns
/// each two by an angle: x cos - y sin and y cos + x sin, each of which reads
/// the other at 1 - d for the dimension of size 2.
Value MatmulWriter::rotate(Value value) {
  if (problem.rotation == Rotation::None)
    return value;
  bool isPairs = problem.rotation == Rotation::Pairs;
  SmallVector<int64_t> columns =
      isPairs ? SmallVector<int64_t>{problem.n / 2, 2}
              : SmallVector<int64_t>{problem.n / problem.headDim, 2,
                                     problem.headDim / 2};
  unsigned side = n + 1, angle = isPairs ? n : n + 2;
  SmallVector<int64_t> angles{problem.m,
                              isPairs ? problem.n / 2 : problem.headDim / 2};
  Value cosine = addArgument(angles, b.getF32Type());
  Value sine = addArgument(angles, b.getF32Type());

  SmallVector<ReassociationIndices> reassociation;
  SmallVector<OpFoldResult> sizes;
  SmallVector<int64_t> shape;
  auto type = cast<RankedTensorType>(value.getType());
  for (unsigned dim = 0; dim < n; ++dim) {
    reassociation.push_back({dim});
    shape.push_back(type.getDimSize(dim));
    sizes.push_back(tensor::getMixedSize(b, b.getLoc(), value, dim));
  }
  ReassociationIndices &last = reassociation.emplace_back();
  for (int64_t size : columns) {
    last.push_back(shape.size());
    shape.push_back(size);
    sizes.push_back(b.getIndexAttr(size));
  }
  auto splitType = RankedTensorType::get(shape, b.getF32Type());
  Value split =
      tensor::ExpandShapeOp::create(b, splitType, value, reassociation, sizes);
  Value init = tensor::EmptyOp::create(b, sizes, b.getF32Type());

  unsigned rank = shape.size();
  AffineMap identity = b.getMultiDimIdentityMap(rank);
  SmallVector<AffineExpr> other(identity.getResults());
  other[side] = 1 - other[side];
  AffineMap table =
      AffineMap::getMultiDimMapWithTargets(rank, {m, angle}, b.getContext());
  auto op = linalg::GenericOp::create(
      b, splitType, ValueRange{split, split, cosine, sine}, init,
      ArrayRef{identity, AffineMap::get(rank, 0, other, b.getContext()), table,
               table, identity},
      SmallVector<utils::IteratorType>(rank, utils::IteratorType::parallel),
      [&](OpBuilder &builder, Location loc, ValueRange elements) {
        ImplicitLocOpBuilder inner(loc, builder);
        Value isSecond =
            arith::CmpIOp::create(inner, arith::CmpIPredicate::ne,
                                  linalg::IndexOp::create(inner, side),
                                  arith::ConstantIndexOp::create(inner, 0));
        Value turned =
            arith::SelectOp::create(inner, isSecond, elements[3],
                                    arith::NegFOp::create(inner, elements[3]));
        Value sum = arith::AddFOp::create(
            inner, arith::MulFOp::create(inner, elements[0], elements[2]),
            arith::MulFOp::create(inner, elements[1], turned));
        linalg::YieldOp::create(inner, sum);
      });
  return tensor::CollapseShapeOp::create(b, value.getType(), op.getResult(0),
                                         reassociation);
}

OwningOpRef<ModuleOp> MatmulWriter::write() {
  OwningOpRef<ModuleOp> module = ModuleOp::create(b.getLoc());
  b.setInsertionPointToEnd(module->getBody());
  function = func::FuncOp::create(b, "matmul", b.getFunctionType({}, {}));
  b.setInsertionPointToStart(function.addEntryBlock());
  m = problem.batch ? 1 : 0;
  n = m + 1;
  for (unsigned loop = 0; loop <= n; ++loop)
    all.push_back(loop);
  SmallVector<unsigned> rows(ArrayRef(all).drop_back());
  SmallVector<int64_t> rowShape;
  if (problem.batch)
    rowShape.push_back(*problem.batch);
  rowShape.push_back(problem.m);

  Type element = getType(b, problem.element);
  lhs = addMatrix(problem.m, problem.k, problem.transposeA);
  rhs = addMatrix(problem.k, problem.n, problem.transposeB);
  Value gate;
  if (problem.gate)
    gate = addMatrix(problem.k, problem.n, problem.transposeB);
  Value value = multiply(lhs, rhs);
  // The first contraction of a group has the schedule of its kernel.
  if (!problem.schedule.empty())
    value.getDefiningOp()->setAttr(
        attune::kMatmulScheduleName,
        attune::schedule::MatmulAttr::get(b.getContext(), problem.schedule));
  if (problem.gate)
    gate = multiply(lhs, gate);
  if (problem.scaleRows)
    value = combine(value, addArgument(rowShape, b.getF32Type()), rows,
                    /*add=*/false);
  if (problem.scaleColumns)
    value = combine(value, addArgument(problem.n, b.getF32Type()), n,
                    /*add=*/false);
  if (problem.bias)
    value = combine(value, addArgument(problem.n, element), n, /*add=*/true);
  value = activate(value);
  if (problem.gate)
    value = linalg::MulOp::create(b, ValueRange{value, gate},
                                  makeEmpty(b.getF32Type()))
                .getResult(0);
  value = rotate(value);
  if (problem.residual) {
    RankedTensorType type = getMatrix(problem.m, problem.n, element);
    value = combine(value, addArgument(type.getShape(), element), all,
                    /*add=*/true);
  }
  if (Type result = getType(b, problem.result); !result.isF32())
    value = apply({{value, all}}, makeEmpty(result),
                  [&](ImplicitLocOpBuilder &inner, ValueRange elements) {
                    return arith::TruncFOp::create(inner, result, elements[0]);
                  });
  func::ReturnOp::create(b, value);
  function.setType(
      b.getFunctionType(function.getArgumentTypes(), value.getType()));
  if (failed(verify(*module)))
    return nullptr;
  return module;
}

OwningOpRef<ModuleOp> attune::gen::buildModule(const MatmulProblem &problem,
                                               MLIRContext *context) {
  context
      ->loadDialect<arith::ArithDialect, attn::AttnDialect, func::FuncDialect,
                    linalg::LinalgDialect, math::MathDialect,
                    attune::schedule::ScheduleDialect, tensor::TensorDialect>();
  return MatmulWriter(problem, context).write();
}
