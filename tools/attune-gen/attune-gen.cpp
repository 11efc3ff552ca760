// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attune-gen: writes one attention problem, described by options, as MLIR. The
// op is built and verified here, so that a problem that makes no sense is an
// error of this tool and not of the next one in the pipe.

#include "Options.h"
#include "attune/Runtime/ArtifactWriter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/WithColor.h"
#include "llvm/Support/raw_ostream.h"
#include <numeric>

using namespace mlir;
using namespace attune::attn;
using attune::gen::Problem;

static constexpr StringRef toolName = "attune-gen";

/// The tensor of a batch of heads: sizes in the order that the problem asks
/// for, and an encoding if its strides are not known.
static RankedTensorType getOperandType(const Problem &problem, Builder &builder,
                                       int64_t heads, int64_t length,
                                       int64_t headDim) {
  SmallVector<int64_t> shape;
  for (char letter : problem.order)
    shape.push_back(letter == 'b'   ? problem.batch
                    : letter == 'h' ? heads
                    : letter == 's' ? length
                                    : headDim);
  Type element = problem.isBFloat16 ? Type(builder.getBF16Type())
                                    : Type(builder.getF16Type());
  Attribute encoding;
  if (problem.strided) {
    SmallVector<int64_t> strides(shape.size(), ShapedType::kDynamic);
    strides.back() = 1;
    // Rows of whole heads start where reads of 16 bytes may, if a head allows.
    constexpr int64_t widestRead = 8;
    int64_t divisor = problem.order.back() == 'd'
                          ? std::gcd(headDim, widestRead)
                          : int64_t(1);
    encoding = StridedAttr::get(builder.getContext(), strides, divisor);
  }
  return RankedTensorType::get(shape, element, encoding);
}

/// A module with the problem; null after a diagnostic.
static OwningOpRef<ModuleOp> buildModule(const Problem &problem,
                                         MLIRContext *context) {
  OpBuilder builder(context);
  Location loc = builder.getUnknownLoc();
  SmallVector<Type> inputs = {getOperandType(problem, builder, problem.headsQ,
                                             problem.seqQ, problem.headDimQK),
                              getOperandType(problem, builder, problem.headsKV,
                                             problem.seqK, problem.headDimQK),
                              getOperandType(problem, builder, problem.headsKV,
                                             problem.seqK, problem.headDimV)};
  auto perHead = RankedTensorType::get({problem.headsQ}, builder.getF32Type());
  inputs.append(problem.alibi + problem.sinks, perHead);

  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  builder.setInsertionPointToEnd(module->getBody());
  auto func = func::FuncOp::create(builder, loc, "attention",
                                   builder.getFunctionType(inputs, {}));
  Block *body = func.addEntryBlock();
  builder.setInsertionPointToStart(body);
  auto op = AttentionOp::create(builder, loc, body->getArgument(0),
                                body->getArgument(1), body->getArgument(2),
                                problem.order, problem.lse);
  if (problem.alibi)
    op.getAlibiSlopesMutable().assign(body->getArgument(3));
  if (problem.sinks)
    op.getSinksMutable().assign(body->getArguments().back());
  if (problem.causal)
    op.setCausalAttr(CausalAttr::get(context, *problem.causal));
  if (problem.window)
    op.setWindowAttr(WindowAttr::get(context, problem.window->first,
                                     problem.window->second,
                                     Alignment::BottomRight));
  if (problem.softcap)
    op.setSoftcapAttr(builder.getF32FloatAttr(*problem.softcap));
  if (problem.scale)
    op.setScaleAttr(builder.getF32FloatAttr(*problem.scale));
  if (!problem.schedule.empty())
    op.setScheduleAttr(
        attune::schedule::AttentionAttr::get(context, problem.schedule));
  func::ReturnOp::create(builder, loc, op.getResults());
  func.setType(builder.getFunctionType(inputs, op.getResultTypes()));
  if (failed(verify(*module)))
    return nullptr;
  return module;
}

int attuneGenMain(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  auto report = [](llvm::Error error) {
    llvm::WithColor::error(llvm::errs(), toolName)
        << llvm::toString(std::move(error)) << "\n";
    return EXIT_FAILURE;
  };
  llvm::Expected<Problem> problem = attune::gen::parseCommandLine(argc, argv);
  if (!problem)
    return report(problem.takeError());

  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<AttnDialect, func::FuncDialect>();
  context.getDiagEngine().registerHandler([](Diagnostic &diagnostic) {
    llvm::WithColor::error(llvm::errs(), toolName) << diagnostic << "\n";
  });
  context.printOpOnDiagnostic(false);
  OwningOpRef<ModuleOp> module = buildModule(*problem, &context);
  if (!module)
    return EXIT_FAILURE;
  std::string text;
  llvm::raw_string_ostream(text) << *module << "\n";
  if (llvm::Error error = attune::writeFile(problem->outputPath, text))
    return report(std::move(error));
  return EXIT_SUCCESS;
}
