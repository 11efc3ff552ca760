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
  if (Error error = attention.readTensor(problem, common))
    return error;
  problem.result = common.dtype;
  problem.element = partDtype.getNumOccurrences() ? partDtype : common.dtype;
  problem.lse = attention.lse;
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
  RankedTensorType part = problem.getType(getType(builder, problem.element),
                                          problem.getEncoding(context));
  auto lse = RankedTensorType::get({problem.batch, problem.heads, problem.seqQ},
                                   builder.getF32Type());
  SmallVector<Type> inputs(problem.parts, part);
  inputs.append(problem.parts, lse);
  SmallVector<Type> results{problem.getType(getType(builder, problem.result))};
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
