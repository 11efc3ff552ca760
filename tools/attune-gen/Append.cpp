// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads what describes new rows of a cache and says what is wrong with it.

#include "Append.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace attune;
using namespace attune::gen;
namespace cl = llvm::cl;
using llvm::Error;
using Scales = AppendProblem::Scales;

AppendOptions::AppendOptions(AttentionOptions &attention, MatmulOptions &matmul,
                             QuantizeOptions &quantize)
    : tokens("tokens", cl::desc("Tokens, each with a row for each head"),
             cl::cat(category)),
      pages("pages", cl::desc("Pages of the pool"), cl::cat(category)),
      rotaryDim("rotary-dim",
                cl::desc("Elements of a row that --rope rotates (as head-dim)"),
                cl::cat(category)),
      scales("scales", cl::desc("Scales of --to (rows)"),
             cl::values(
                 clEnumValN(Scales::Rows, "rows",
                            "made for each row, in a pool of scales"),
                 clEnumValN(Scales::Heads, "heads", "given, one for each head"),
                 clEnumValN(Scales::One, "one", "given, one for all")),
             cl::init(Scales::Rows), cl::cat(category)),
      attention(attention), matmul(matmul), quantize(quantize) {
  for (cl::Option *option : std::initializer_list<cl::Option *>{
           &attention.heads, &attention.pageSize, &matmul.rotation,
           &quantize.to, &quantize.zeros})
    option->addCategory(category);
}

Error AppendOptions::readRotation(AppendProblem &problem,
                                  const CommonOptions &common) const {
  if (matmul.rotation == Rotation::None) {
    if (rotaryDim.getNumOccurrences())
      return makeError("expects no --rotary-dim without --rope");
    return Error::success();
  }
  problem.interleaved = matmul.rotation == Rotation::Pairs;
  if (Error error =
          read(problem.rotated, common.getSize(rotaryDim, problem.headDim, {})))
    return error;
  if (problem.rotated % 2)
    return makeError(
        "expects --rotary-dim, or else --head-dim, to be even, but got {0}",
        problem.rotated);
  return Error::success();
}

llvm::Expected<AppendProblem>
AppendOptions::getProblem(const CommonOptions &common) const {
  AppendProblem problem{};
  if (Error error = common.checkWide())
    return error;
  if (Error error =
          common.checkDynamic({Size::Tokens, Size::Heads, Size::Pages}))
    return error;
  if (common.batch.getNumOccurrences())
    return makeError("expects no --batch with --op=append");
  if (Error error =
          read(problem.tokens, common.getSize(tokens, {}, Size::Tokens)))
    return error;
  if (Error error = read(problem.pages, common.getSize(pages, {}, Size::Pages)))
    return error;
  if (Error error =
          read(problem.heads, common.getSize(attention.heads, {}, Size::Heads)))
    return error;
  if (Error error =
          read(problem.pageSize, common.getSize(attention.pageSize, {}, {})))
    return error;
  if (Error error =
          read(problem.headDim, common.getSize(common.headDim, {}, {})))
    return error;
  if (Error error = readRotation(problem, common))
    return error;
  problem.rows = problem.pool = common.dtype;
  problem.scales = Scales::None;
  if (quantize.to.getNumOccurrences()) {
    problem.pool = quantize.to;
    if (Error error = checkPacked(problem.pool, problem.headDim))
      return error;
    problem.scales = scales;
    problem.zeros = quantize.zeros;
  } else if (scales.getNumOccurrences()) {
    return makeError("expects no --scales without --to");
  } else if (quantize.zeros) {
    return makeError("expects no --zeros without --to");
  }
  problem.strided = common.strided;
  if (Error error =
          common.readSchedule(problem.schedule, schedule::AppendAttr::getSet()))
    return error;
  return problem;
}

OwningOpRef<ModuleOp> attune::gen::buildModule(const AppendProblem &problem,
                                               MLIRContext *context) {
  constexpr int64_t kPositions = 512;
  context->loadDialect<attn::AttnDialect, func::FuncDialect>();
  OpBuilder builder(context);
  Location loc = builder.getUnknownLoc();
  SmallVector<Type> inputs;
  auto add = [&](ArrayRef<int64_t> shape, Type element, bool strided = false) {
    inputs.push_back(RankedTensorType::get(
        shape, element,
        getEncoding(context, strided, shape.size(), problem.headDim)));
    return inputs.size() - 1;
  };
  int64_t tokens = problem.tokens, heads = problem.heads,
          pairs = problem.rotated / 2;
  Type f32 = builder.getF32Type();
  size_t rows = add({tokens, heads, problem.headDim},
                    getType(builder, problem.rows), problem.strided),
         slots = add({tokens}, builder.getI64Type()),
         pool = add({problem.pages, problem.pageSize, heads, problem.headDim},
                    getType(builder, problem.pool), problem.strided);
  inputs[pool] = pack(cast<RankedTensorType>(inputs[pool]), /*dim=*/3);
  std::optional<size_t> cos, sin, positions, scales, zeros, rowScales, rowZeros;
  if (pairs) {
    cos = add({kPositions, pairs}, f32);
    sin = add({kPositions, pairs}, f32);
    positions = add({tokens}, builder.getI32Type());
  }
  if (problem.scales == Scales::Rows)
    rowScales = add({problem.pages, problem.pageSize, heads, 1}, f32);
  else if (problem.scales != Scales::None)
    scales = add({1, 1, problem.scales == Scales::One ? 1 : heads, 1}, f32);
  if (problem.zeros) {
    inputs.push_back(inputs.back());
    (rowScales ? rowZeros : zeros) = inputs.size() - 1;
  }
  SmallVector<Type> results{inputs[pool]};
  for (std::optional<size_t> updated : {rowScales, rowZeros})
    if (updated)
      results.push_back(inputs[*updated]);

  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  builder.setInsertionPointToEnd(module->getBody());
  auto function = func::FuncOp::create(
      builder, loc, "append", builder.getFunctionType(inputs, results));
  Block *body = function.addEntryBlock();
  builder.setInsertionPointToStart(body);
  auto find = [&](std::optional<size_t> place) -> Value {
    return place ? body->getArgument(*place) : Value();
  };
  schedule::AppendAttr schedule;
  if (!problem.schedule.empty())
    schedule = schedule::AppendAttr::get(context, problem.schedule);
  auto op = attn::AppendOp::create(
      builder, loc, results, find(rows), find(slots), find(cos), find(sin),
      find(positions), find(scales), find(zeros), find(pool), find(rowScales),
      find(rowZeros), problem.interleaved ? builder.getUnitAttr() : UnitAttr(),
      problem.pool == Element::I4 ? builder.getUnitAttr() : UnitAttr(),
      schedule);
  func::ReturnOp::create(builder, loc, op->getResults());
  if (failed(verify(*module)))
    return nullptr;
  return module;
}
