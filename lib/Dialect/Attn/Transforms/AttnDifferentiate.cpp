// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-differentiate: makes `@f_grad` of each function `@f` that computes
// attention. `@f_grad` is a copy of `@f` with the gradients in the place of
// attention, so that whatever attention captures is computed in both.

#include "attune/Dialect/Attn/IR/ScoreGradient.h"
#include "attune/Dialect/Attn/Transforms/Differentiate.h"
#include "attune/Dialect/Attn/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"

namespace attune::attn {
#define GEN_PASS_DEF_ATTNDIFFERENTIATEPASS
#include "attune/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attune::attn

using namespace mlir;
using namespace attune::attn;

namespace {
/// A function whose results are those of its one attention.
struct Candidate {
  func::FuncOp func;
  AttentionOp op;
  /// Of the arguments whose gradients are wanted.
  SmallVector<unsigned> arguments;
};

struct AttnDifferentiatePass
    : attune::attn::impl::AttnDifferentiatePassBase<AttnDifferentiatePass> {
  using AttnDifferentiatePassBase::AttnDifferentiatePassBase;

  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    SmallVector<Candidate> candidates;
    for (auto func : getOperation().getOps<func::FuncOp>()) {
      SmallVector<AttentionOp> ops;
      func.walk([&](AttentionOp op) { ops.push_back(op); });
      if (ops.empty())
        continue;
      FailureOr<Candidate> candidate = check(func, ops, symbols);
      if (failed(candidate))
        return signalPassFailure();
      candidates.push_back(*candidate);
    }
    for (Candidate &candidate : candidates)
      differentiate(candidate, symbols);
  }

private:
  FailureOr<Candidate> check(func::FuncOp func,
                             MutableArrayRef<AttentionOp> ops,
                             SymbolTable &symbols);
  LogicalResult checkResults(const Candidate &candidate);
  LogicalResult checkArguments(Candidate &candidate);
  void differentiate(Candidate &candidate, SymbolTable &symbols);
};
} // namespace

/// Whether attention reads the tensor otherwise than as query, key or value.
static bool readsBeside(AttentionOp op, Value tensor) {
  if (tensor == op.getAlibiSlopes() || tensor == op.getSinks())
    return true;
  return llvm::any_of(tensor.getUsers(), [&](Operation *user) {
    return isa<tensor::ExtractOp>(user) &&
           op.getScore().isAncestor(user->getParentRegion());
  });
}

static bool isPart(AttentionOp op, Value tensor) {
  return llvm::is_contained({op.getQuery(), op.getKey(), op.getValue()},
                            tensor);
}

static WantedGradients findWanted(AttentionOp op, ValueRange tensors) {
  WantedGradients wanted;
  wanted.query = llvm::is_contained(tensors, op.getQuery());
  wanted.key = llvm::is_contained(tensors, op.getKey());
  wanted.value = llvm::is_contained(tensors, op.getValue());
  for (Value tensor : tensors)
    if (!isPart(op, tensor))
      wanted.wrt.push_back(tensor);
  return wanted;
}

LogicalResult AttnDifferentiatePass::checkResults(const Candidate &candidate) {
  func::FuncOp func = candidate.func;
  Operation *terminator = func.getBody().front().getTerminator();
  ResultRange results = candidate.op->getResults();
  if (llvm::equal(terminator->getOperands(), results) ||
      llvm::equal(terminator->getOperands(), results.take_front()))
    return success();
  return terminator->emitError("expects '@")
         << func.getName() << "' to return the results of its attention alone";
}

LogicalResult AttnDifferentiatePass::checkArguments(Candidate &candidate) {
  auto [func, op, arguments] = candidate;
  if (wrt.empty()) {
    for (BlockArgument argument : func.getArguments())
      if (isPart(op, argument))
        candidate.arguments.push_back(argument.getArgNumber());
    if (candidate.arguments.empty())
      return op.emitError("expects query, key or value to be an argument of '@")
             << func.getName() << "', but got none";
  }
  for (unsigned number : wrt) {
    if (number >= func.getNumArguments())
      return func.emitError("expects the numbers in 'wrt' to be less than ")
             << func.getNumArguments() << ", but got " << number;
    Value argument = func.getArgument(number);
    if (isPart(op, argument) == readsBeside(op, argument))
      return func.emitError("expects argument ")
             << number
             << " of 'wrt' to be query, key or value of attention, or what it "
                "reads beside these";
    if (!isa<FloatType>(getElementTypeOrSelf(argument.getType())))
      return func.emitError("expects a tensor of floats as argument ")
             << number << " of 'wrt', but got " << argument.getType();
    if (llvm::is_contained(candidate.arguments, number))
      return func.emitError("expects argument ")
             << number << " once in 'wrt', but got it again";
    candidate.arguments.push_back(number);
  }
  return success();
}

FailureOr<Candidate> AttnDifferentiatePass::check(
    func::FuncOp func, MutableArrayRef<AttentionOp> ops, SymbolTable &symbols) {
  if (ops.size() > 1)
    return ops[1].emitError("expects one attention in '@")
           << func.getName() << "', but got " << ops.size();
  Candidate candidate{func, ops.front(), {}};
  if (candidate.op->getParentOp() != func)
    return candidate.op.emitError("expects to be in the body of '@")
           << func.getName() << "', but got '"
           << candidate.op->getParentOp()->getName() << "' around it";
  if (candidate.op.getPages() || candidate.op.getLatent())
    return candidate.op.emitError("expects no pages or latent, for "
                                  "attn.attention_grad has none");
  if (!getScales(candidate.op).empty() || candidate.op.getWeights())
    return candidate.op.emitError("expects no query_scales, key_scales, "
                                  "value_scales, result_scales or weights, "
                                  "for attn.attention_grad has none");
  for (Value part : {candidate.op.getKey(), candidate.op.getValue(),
                     candidate.op.getResult()})
    if (Type element = getElementTypeOrSelf(part.getType());
        element != candidate.op.getElementType())
      return candidate.op.emitError("expects operands and result of one "
                                    "element type to be differentiated, but "
                                    "got ")
             << candidate.op.getElementType() << " and " << element;
  if (!func.getBody().hasOneBlock())
    return func.emitError("expects a function of one block, but got ")
           << func.getBody().getBlocks().size();
  std::string name = (func.getName() + "_grad").str();
  if (Operation *taken = symbols.lookup(name))
    return taken->emitError("expects no symbol '@")
           << name << "' beside '@" << func.getName() << "'";
  auto uses = SymbolTable::getSymbolUses(func, getOperation());
  if (!uses || !uses->empty())
    return func.emitError("expects a function without callers, for its results "
                          "change");
  if (failed(checkResults(candidate)) || failed(checkArguments(candidate)))
    return failure();
  if (!candidate.op.hasScore())
    return candidate;
  SmallVector<Value> tensors;
  for (unsigned number : candidate.arguments)
    tensors.push_back(func.getArgument(number));
  WantedGradients wanted = findWanted(candidate.op, tensors);
  if (Operation *unknown =
          findWithoutDerivative(candidate.op.getScore(), wanted.wrt))
    return unknown->emitError("expects an operation with a known derivative, "
                              "but got '")
           << unknown->getName() << "'";
  return candidate;
}

/// Adds an argument behind the others.
static Value addArgument(func::FuncOp func, Type type, Location loc) {
  unsigned number = func.getNumArguments();
  (void)func.insertArgument(number, type, {}, loc);
  return func.getArgument(number);
}

static void updateType(func::FuncOp func) {
  Operation *terminator = func.getBody().front().getTerminator();
  func.setFunctionType(FunctionType::get(func.getContext(),
                                         func.getArgumentTypes(),
                                         terminator->getOperandTypes()));
  func.setResAttrsAttr({});
}

/// The gradient of each tensor: the sum of those of the parts that it is.
static SmallVector<Value> addParts(OpBuilder &builder, AttentionOp op,
                                   AttentionGradOp grad, ValueRange tensors) {
  std::pair<Value, Value> parts[] = {{op.getQuery(), grad.getQueryGrad()},
                                     {op.getKey(), grad.getKeyGrad()},
                                     {op.getValue(), grad.getValueGrad()}};
  SmallVector<Value> sums;
  auto others = grad.getWrtGrads().begin();
  for (Value tensor : tensors) {
    Value sum = isPart(op, tensor) ? Value() : Value(*others++);
    for (auto [part, gradient] : parts)
      if (part == tensor)
        sum = sum ? Value(arith::AddFOp::create(builder, op.getLoc(), sum,
                                                gradient))
                  : gradient;
    sums.push_back(sum);
  }
  return sums;
}

void AttnDifferentiatePass::differentiate(Candidate &candidate,
                                          SymbolTable &symbols) {
  auto [func, op, arguments] = candidate;
  bool returnsLse = func.getNumResults() == 2;
  OpBuilder builder(op);
  AttentionOp both = buildWithLse(builder, op);
  func.getBody().front().getTerminator()->setOperands(both->getResults());
  op.erase();
  updateType(func);

  func::FuncOp gradient = func.clone();
  gradient.setName((func.getName() + "_grad").str());
  symbols.insert(gradient, std::next(Block::iterator(func)));
  AttentionOp copy = *gradient.getBody().getOps<AttentionOp>().begin();
  Location loc = copy.getLoc();
  Type outputType = copy.getResult().getType();
  Type lseType = copy.getLse().getType();
  ForwardResults results;
  results.output = addArgument(gradient, outputType, loc);
  results.lse = addArgument(gradient, lseType, loc);
  results.outputGrad = addArgument(gradient, outputType, loc);
  if (returnsLse)
    results.lseGrad = addArgument(gradient, lseType, loc);

  SmallVector<Value> tensors;
  for (unsigned number : arguments)
    tensors.push_back(gradient.getArgument(number));
  builder.setInsertionPoint(copy);
  WantedGradients wanted = findWanted(copy, tensors);
  wanted.deterministic = deterministic;
  AttentionGradOp grad = buildGradient(builder, copy, results, wanted);
  gradient.getBody().front().getTerminator()->setOperands(
      addParts(builder, copy, grad, tensors));
  copy.erase();
  updateType(gradient);
  if (!keepForward)
    symbols.erase(func);
}
