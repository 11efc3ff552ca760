// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads what describes a merge and says what is wrong with it.

#include "Merge.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace attune;
using namespace attune::gen;
namespace cl = llvm::cl;
using llvm::Error;

MergeOptions::MergeOptions(AttentionOptions &attention)
    : parts("parts", cl::desc("Parts, each with its lse"), cl::init(2),
            cl::cat(category)),
      partDtype("part-dtype", cl::desc("Element type of parts (as dtype)"),
                cl::values(clEnumValN(Element::F16, "f16", "IEEE half"),
                           clEnumValN(Element::BF16, "bf16", "bfloat16"),
                           clEnumValN(Element::F32, "f32", "IEEE single")),
                cl::cat(category)),
      attention(attention) {
  for (cl::Option *option : std::initializer_list<cl::Option *>{
           &attention.heads, &attention.seqQ, &attention.lse, &attention.order})
    option->addCategory(category);
}

llvm::Expected<MergeProblem>
MergeOptions::getProblem(const CommonOptions &common) const {
  MergeProblem problem{};
  if (Error error = common.checkWide())
    return error;
  if (Error error = common.checkDynamic({Size::Batch, Size::Heads, Size::SeqQ}))
    return error;
  // A merge of more is none that anyone can mean.
  constexpr int64_t kMost = 1024;
  if (parts < 1 || parts > kMost)
    return makeError("expects --parts to be from 1 to {0}, but got {1}", kMost,
                     parts.getValue());
  problem.parts = parts;
  if (Error error =
          read(problem.batch, common.getSize(common.batch, {}, Size::Batch)))
    return error;
  if (Error error =
          read(problem.heads, common.getSize(attention.heads, {}, Size::Heads)))
    return error;
  if (Error error =
          read(problem.seqQ, common.getSize(attention.seqQ, {}, Size::SeqQ)))
    return error;
  if (Error error =
          read(problem.headDim, common.getSize(common.headDim, {}, {})))
    return error;
  if (!attn::AttentionOp::isValidOrder(attention.order))
    return makeError("expects --order to be a permutation of the letters b, h, "
                     "s and d, but got '{0}'",
                     attention.order.getValue());
  problem.order = attention.order;
  problem.result = common.dtype;
  problem.element = partDtype.getNumOccurrences() ? partDtype : common.dtype;
  problem.lse = attention.lse;
  problem.strided = common.strided;
  if (Error error =
          common.readSchedule(problem.schedule, schedule::MergeAttr::getSet()))
    return error;
  return problem;
}

OwningOpRef<ModuleOp> attune::gen::buildModule(const MergeProblem &problem,
                                               MLIRContext *context) {
  context->loadDialect<attn::AttnDialect, func::FuncDialect>();
  OpBuilder builder(context);
  Location loc = builder.getUnknownLoc();
  SmallVector<int64_t> shape;
  for (char letter : problem.order)
    shape.push_back(letter == 'b'   ? problem.batch
                    : letter == 'h' ? problem.heads
                    : letter == 's' ? problem.seqQ
                                    : problem.headDim);
  Attribute encoding =
      getEncoding(context, problem.strided, shape.size(),
                  problem.order.back() == 'd' ? problem.headDim : int64_t(1));
  auto part =
      RankedTensorType::get(shape, getType(builder, problem.element), encoding);
  auto lse = RankedTensorType::get({problem.batch, problem.heads, problem.seqQ},
                                   builder.getF32Type());
  SmallVector<Type> inputs(problem.parts, part);
  inputs.append(problem.parts, lse);
  SmallVector<Type> results{
      RankedTensorType::get(shape, getType(builder, problem.result))};
  results.append(problem.lse, lse);

  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  builder.setInsertionPointToEnd(module->getBody());
  auto function = func::FuncOp::create(
      builder, loc, "merge", builder.getFunctionType(inputs, results));
  Block *body = function.addEntryBlock();
  builder.setInsertionPointToStart(body);
  ValueRange arguments = body->getArguments();
  schedule::MergeAttr schedule;
  if (!problem.schedule.empty())
    schedule = schedule::MergeAttr::get(context, problem.schedule);
  auto op = attn::MergeOp::create(
      builder, loc, results.front(), problem.lse ? Type(lse) : Type(),
      arguments.take_front(problem.parts), arguments.drop_front(problem.parts),
      problem.order, schedule);
  func::ReturnOp::create(builder, loc, op->getResults());
  if (failed(verify(*module)))
    return nullptr;
  return module;
}
