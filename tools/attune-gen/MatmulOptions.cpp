// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads what describes a matmul and says what is wrong with it.

#include "Matmul.h"

using namespace llvm;
using namespace attune::gen;
using mlir::ShapedType;

MatmulOptions::MatmulOptions()
    : m("m", cl::desc("Rows of the result"), cl::cat(category)),
      n("n", cl::desc("Columns of the result"), cl::cat(category)),
      k("k", cl::desc("Terms of a sum"), cl::cat(category)),
      outDtype("out-dtype", cl::desc("Element type of the result (as dtype)"),
               cl::values(clEnumValN(Element::F16, "f16", "IEEE half"),
                          clEnumValN(Element::BF16, "bf16", "bfloat16"),
                          clEnumValN(Element::F32, "f32", "IEEE single")),
               cl::cat(category)),
      transposeA("transpose-a", cl::desc("The left operand is [k, m]"),
                 cl::cat(category)),
      transposeB("transpose-b", cl::desc("The right operand is [n, k]"),
                 cl::cat(category)),
      scaleRows("scale-rows", cl::desc("Multiply each row by a number"),
                cl::cat(category)),
      scaleColumns("scale-columns",
                   cl::desc("Multiply each column by a number"),
                   cl::cat(category)),
      bias("bias", cl::desc("Add a vector to each row"), cl::cat(category)),
      activation(
          "activation", cl::desc("Function of each element"),
          cl::init(Activation::None),
          cl::values(clEnumValN(Activation::ReLU, "relu", "max(x, 0)"),
                     clEnumValN(Activation::GELU, "gelu",
                                "x times the normal distribution"),
                     clEnumValN(Activation::GELUTanh, "gelu-tanh",
                                "GELU by the formula with tanh"),
                     clEnumValN(Activation::SiLU, "silu", "x * sigmoid(x)")),
          cl::cat(category)),
      gate("gate",
           cl::desc("Multiply by the product with a second right operand"),
           cl::cat(category)),
      rotation("rope", cl::desc("Rotate columns by given angles"),
               cl::init(Rotation::None), cl::ValueOptional,
               cl::values(clEnumValN(Rotation::Pairs, "pairs",
                                     "columns 2i and 2i + 1 together"),
                          clEnumValN(Rotation::Halves, "halves",
                                     "columns of both halves of a head"),
                          clEnumValN(Rotation::Pairs, "", "pairs")),
               cl::cat(category)),
      residual("residual", cl::desc("Add a matrix, after all else"),
               cl::cat(category)) {}

Error MatmulOptions::checkRotation(const MatmulProblem &problem,
                                   const CommonOptions &common) const {
  bool isHalves = problem.rotation == Rotation::Halves;
  if (common.headDim.getNumOccurrences() && !isHalves)
    return makeError("expects no --head-dim of matmul without --rope=halves");
  if (problem.rotation == Rotation::None)
    return Error::success();
  if (problem.gate || problem.activation != Activation::None)
    return makeError("expects no --activation and no --gate with --rope");
  if (ShapedType::isDynamic(problem.n))
    return makeError("expects --n to be known with --rope");
  int64_t divisor = isHalves ? problem.headDim : 2;
  if (divisor % 2)
    return makeError("expects --head-dim to be even with --rope=halves, but "
                     "got {0}",
                     divisor);
  if (problem.n % divisor)
    return makeError("expects --n to be a multiple of {0} with --rope, but got "
                     "{1}",
                     divisor, problem.n);
  return Error::success();
}

Expected<MatmulProblem>
MatmulOptions::getProblem(const CommonOptions &common) const {
  MatmulProblem problem{};
  if (Error error = common.checkWide())
    return error;
  if (Error error =
          common.checkDynamic({Size::Batch, Size::M, Size::N, Size::K}))
    return error;
  if (Error error = read(problem.m, common.getSize(m, {}, Size::M)))
    return error;
  if (Error error = read(problem.n, common.getSize(n, {}, Size::N)))
    return error;
  if (Error error = read(problem.k, common.getSize(k, {}, Size::K)))
    return error;
  if (common.batch.getNumOccurrences() ||
      is_contained(common.dynamic, Size::Batch)) {
    problem.batch = 0;
    if (Error error =
            read(*problem.batch, common.getSize(common.batch, {}, Size::Batch)))
      return error;
  }
  problem.rotation = rotation;
  if (problem.rotation == Rotation::Halves)
    if (Error error =
            read(problem.headDim, common.getSize(common.headDim, {}, {})))
      return error;
  problem.element = common.dtype;
  problem.result = outDtype.getNumOccurrences() ? outDtype : common.dtype;
  problem.transposeA = transposeA;
  problem.transposeB = transposeB;
  problem.strided = common.strided;
  problem.scaleRows = scaleRows;
  problem.scaleColumns = scaleColumns;
  problem.bias = bias;
  problem.activation = activation;
  problem.gate = gate;
  problem.residual = residual;
  if (Error error = checkRotation(problem, common))
    return error;
  if (Error error = common.readSchedule(problem.schedule,
                                        attune::schedule::MatmulAttr::getSet()))
    return error;
  return problem;
}
