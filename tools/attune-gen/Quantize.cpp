// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads what describes a tensor to quantize and says what is wrong with it.

#include "Quantize.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attune;
using namespace attune::gen;
namespace cl = llvm::cl;
using llvm::Error;

QuantizeOptions::QuantizeOptions(AttentionOptions &attention)
    : to("to", cl::desc("Element type of the result"),
         cl::values(
             clEnumValN(Element::F8E4M3FN, "f8E4M3FN", "up to 448"),
             clEnumValN(Element::F8E5M2, "f8E5M2", "up to 57344"),
             clEnumValN(Element::F8E4M3FNUZ, "f8E4M3FNUZ", "up to 240"),
             clEnumValN(Element::F8E5M2FNUZ, "f8E5M2FNUZ",
                        "up to 57344, without infinities"),
             clEnumValN(Element::I8, "i8", "from -127 to 127"),
             clEnumValN(Element::I4, "i4", "from -7 to 7, two in a byte")),
         cl::init(Element::F8E4M3FN), cl::cat(category)),
      rowsPerScale(
          "rows-per-scale",
          cl::desc("Rows that share a scale: a number, or all of a head"),
          cl::value_desc("number or all"), cl::init("1"), cl::cat(category)),
      smooth("smooth", cl::desc("Subtract the mean of each head's rows"),
             cl::cat(category)),
      rotate("rotate", cl::desc("Multiply rows by a Hadamard matrix"),
             cl::cat(category)),
      zeros("zeros", cl::desc("Make a zero point for each scale"),
            cl::cat(category)),
      attention(attention) {
  for (cl::Option *option : std::initializer_list<cl::Option *>{
           &attention.heads, &attention.seqQ, &attention.order})
    option->addCategory(category);
}

Error attune::gen::checkPacked(Element element, int64_t headDim) {
  if (element != Element::I4 || headDim % attn::kPackedColumns == 0)
    return Error::success();
  return makeError(
      "expects --head-dim to be a multiple of {0} with --to=i4, but got {1}",
      attn::kPackedColumns, headDim);
}

RankedTensorType attune::gen::pack(RankedTensorType type, int64_t dim) {
  if (!type.getElementType().isInteger(4))
    return type;
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] /= 2;
  return RankedTensorType::get(shape, IntegerType::get(type.getContext(), 8),
                               type.getEncoding());
}

llvm::Expected<QuantizeProblem>
QuantizeOptions::getProblem(const CommonOptions &common) const {
  QuantizeProblem problem{};
  if (Error error = common.checkWide())
    return error;
  if (Error error = common.checkDynamic({Size::Batch, Size::Heads, Size::SeqQ}))
    return error;
  if (Error error = attention.readTensor(problem, common))
    return error;
  if (rowsPerScale == "all")
    problem.rows = ShapedType::kDynamic;
  else if (StringRef(rowsPerScale).getAsInteger(10, problem.rows) ||
           problem.rows < 1)
    return makeError(
        "expects --rows-per-scale to be 'all' or a number of at least "
        "1, but got '{0}'",
        rowsPerScale.getValue());
  problem.input = common.dtype;
  problem.result = to;
  if (Error error = checkPacked(to, problem.headDim))
    return error;
  problem.smooth = smooth;
  problem.rotate = rotate;
  problem.zeros = zeros;
  if (Error error = common.readSchedule(problem.schedule,
                                        schedule::QuantizeAttr::getSet()))
    return error;
  return problem;
}

OwningOpRef<ModuleOp> attune::gen::buildModule(const QuantizeProblem &problem,
                                               MLIRContext *context) {
  context->loadDialect<attn::AttnDialect, func::FuncDialect>();
  OpBuilder builder(context);
  Location loc = builder.getUnknownLoc();
  RankedTensorType input = problem.getType(getType(builder, problem.input),
                                           problem.getEncoding(context));
  int64_t blocks = problem.seqQ;
  if (ShapedType::isDynamic(problem.rows))
    blocks = 1;
  else if (ShapedType::isStatic(blocks))
    blocks = llvm::divideCeilSigned(blocks, problem.rows);
  SmallVector<Type> results{
      pack(problem.getType(getType(builder, problem.result)),
           static_cast<int64_t>(problem.order.find('d'))),
      RankedTensorType::get(problem.getShape(blocks, 1), builder.getF32Type())};

  if (problem.zeros)
    results.push_back(results.back());
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  builder.setInsertionPointToEnd(module->getBody());
  auto function = func::FuncOp::create(builder, loc, "quantize",
                                       builder.getFunctionType(input, results));
  Block *body = function.addEntryBlock();
  builder.setInsertionPointToStart(body);
  schedule::QuantizeAttr schedule;
  if (!problem.schedule.empty())
    schedule = schedule::QuantizeAttr::get(context, problem.schedule);
  DenseI64ArrayAttr sharing;
  if (ShapedType::isStatic(problem.rows) && problem.rows != 1) {
    SmallVector<int64_t> sizes(problem.order.size(), 1);
    sizes[problem.order.find('s')] = problem.rows;
    sharing = builder.getDenseI64ArrayAttr(sizes);
  }
  auto op = attn::QuantizeOp::create(
      builder, loc, results, body->getArgument(0), sharing, problem.smooth,
      problem.rotate, problem.result == Element::I4, problem.order, schedule);
  func::ReturnOp::create(builder, loc, op->getResults());
  if (failed(verify(*module)))
    return nullptr;
  return module;
}
