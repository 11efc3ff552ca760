// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sizes are bound through the attention ops that use an argument, directly as
// an operand or inside a region.

#include "attune/Execution/Problem.h"
#include "ArgumentUses.h"
#include "attune/Execution/HostProgram.h"
#include "attune/Runtime/Random.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include <cmath>

using namespace mlir;
using namespace attune;
using Use = ProblemArgument::Use;

namespace {
/// The option that gives the size of a dimension.
struct DimOption {
  AttentionDim dim;
  StringRef name;
  std::optional<int64_t> ProblemSizes::*member;
};

class Analysis {
public:
  Analysis(func::FuncOp function, const ProblemSizes &sizes)
      : function(function), sizes(sizes), known(function.getNumArguments()),
        meaning(function.getNumArguments()) {}

  FailureOr<Problem> run();

private:
  using DimMeaning = SmallVector<std::optional<AttentionDim>, 4>;

  /// Notes that a dimension of a tensor means `dim`.
  void note(Value tensor, int64_t position, AttentionDim dim);
  void noteOperands(attn::AttentionOp op);
  void noteCaptures(attn::AttentionOp op);
  void noteInteger(attn::AttentionOp op, Value argument, Value value);
  LogicalResult resolveSizes(unsigned index, ShapedType type);
  /// The size of a dimension, bound or static; 1 for a dynamic one of a tensor
  /// that is computed in the function.
  int64_t getSize(Value tensor, int64_t position);
  int64_t getSize(attn::AttentionOp op, AttentionDim dim);
  double countFlops(attn::AttentionOp op);

  func::FuncOp function;
  const ProblemSizes &sizes;
  /// Per argument: sizes, and what its dimensions mean.
  std::vector<SmallVector<int64_t>> known;
  std::vector<DimMeaning> meaning;
  DenseMap<Value, std::pair<attn::AttentionOp, IntegerUse>> integers;
};
} // namespace

static const DimOption kDimOptions[] = {
    {AttentionDim::Batch, "batch", &ProblemSizes::batch},
    {AttentionDim::Heads, "heads", &ProblemSizes::heads},
    {AttentionDim::KVHeads, "kv-heads", &ProblemSizes::kvHeads},
    {AttentionDim::SeqQ, "seq-q", &ProblemSizes::seqQ},
    {AttentionDim::SeqK, "seq-k", &ProblemSizes::seqK}};

static const DimOption &getOption(AttentionDim dim) {
  return *llvm::find_if(
      kDimOptions, [&](const DimOption &option) { return option.dim == dim; });
}

void Analysis::note(Value tensor, int64_t position, AttentionDim dim) {
  auto argument = dyn_cast<BlockArgument>(tensor);
  if (!argument || argument.getOwner()->getParentOp() != function)
    return;
  DimMeaning &dims = meaning[argument.getArgNumber()];
  dims.resize(cast<ShapedType>(tensor.getType()).getRank());
  if (!dims[position])
    dims[position] = dim;
}

void Analysis::noteOperands(attn::AttentionOp op) {
  note(op.getQuery(), op.getBatchPos(), AttentionDim::Batch);
  note(op.getQuery(), op.getHeadPos(), AttentionDim::Heads);
  note(op.getQuery(), op.getSeqPos(), AttentionDim::SeqQ);
  for (Value tensor : {op.getKey(), op.getValue()}) {
    note(tensor, op.getBatchPos(), AttentionDim::Batch);
    note(tensor, op.getHeadPos(), AttentionDim::KVHeads);
    note(tensor, op.getSeqPos(), AttentionDim::SeqK);
  }
  for (Value perHead : {op.getAlibiSlopes(), op.getSinks()})
    if (perHead)
      note(perHead, 0, AttentionDim::Heads);
}

void Analysis::noteInteger(attn::AttentionOp op, Value argument, Value value) {
  if (getElementTypeOrSelf(value.getType()).isIntOrIndex())
    integers.try_emplace(argument, op, classifyInteger(op, value));
}

void Analysis::noteCaptures(attn::AttentionOp op) {
  op->walk([&](tensor::ExtractOp extract) {
    for (auto [position, index] : llvm::enumerate(extract.getIndices()))
      if (std::optional<AttentionDim> dim = getRegionIndex(op, index))
        note(extract.getTensor(), static_cast<int64_t>(position), *dim);
    noteInteger(op, extract.getTensor(), extract.getResult());
  });
  for (Value argument : function.getArguments())
    if (argument.getType().isIntOrIndex())
      for (Operation *user : argument.getUsers())
        if (op->isProperAncestor(user))
          noteInteger(op, argument, argument);
}

LogicalResult Analysis::resolveSizes(unsigned index, ShapedType type) {
  meaning[index].resize(type.getRank());
  auto given = sizes.shapes.find(index);
  if (given != sizes.shapes.end() &&
      static_cast<int64_t>(given->second.size()) != type.getRank())
    return function.emitError()
           << "expects " << type.getRank() << " sizes for argument " << index
           << ", but got " << given->second.size();
  for (auto [position, size] : llvm::enumerate(type.getShape())) {
    std::optional<int64_t> requested;
    std::optional<AttentionDim> dim = meaning[index][position];
    if (dim)
      requested = sizes.*getOption(*dim).member;
    if (given != sizes.shapes.end())
      requested = given->second[position];
    if (ShapedType::isDynamic(size) && !requested) {
      InFlightDiagnostic diagnostic =
          function.emitError() << "expects a size for dimension " << position
                               << " of argument " << index << ": give --";
      if (dim)
        diagnostic << getOption(*dim).name << "=<number>";
      else
        diagnostic << "shape=" << index << "=<size>x<size>...";
      return diagnostic;
    }
    if (requested && *requested < 0)
      return function.emitError()
             << "expects sizes of at least 0, but got " << *requested;
    if (requested && !ShapedType::isDynamic(size) && *requested != size)
      return function.emitError()
             << "expects " << size << " as the size of dimension " << position
             << " of argument " << index << ", as its type says, but got "
             << *requested;
    known[index].push_back(ShapedType::isDynamic(size) ? *requested : size);
  }
  return success();
}

int64_t Analysis::getSize(Value tensor, int64_t position) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (!type.isDynamicDim(position))
    return type.getDimSize(position);
  auto argument = dyn_cast<BlockArgument>(tensor);
  if (!argument || argument.getOwner()->getParentOp() != function)
    return 1;
  return known[argument.getArgNumber()][position];
}

int64_t Analysis::getSize(attn::AttentionOp op, AttentionDim dim) {
  switch (dim) {
  case AttentionDim::Batch:
    return getSize(op.getQuery(), op.getBatchPos());
  case AttentionDim::Heads:
    return getSize(op.getQuery(), op.getHeadPos());
  case AttentionDim::KVHeads:
    return getSize(op.getKey(), op.getHeadPos());
  case AttentionDim::SeqQ:
    return getSize(op.getQuery(), op.getSeqPos());
  case AttentionDim::SeqK:
    return getSize(op.getKey(), op.getSeqPos());
  }
  llvm_unreachable("all dimensions are covered");
}

double Analysis::countFlops(attn::AttentionOp op) {
  double products = static_cast<double>(op.getHeadDimQK() + op.getHeadDimV());
  for (AttentionDim dim : {AttentionDim::Batch, AttentionDim::Heads,
                           AttentionDim::SeqQ, AttentionDim::SeqK})
    products *= static_cast<double>(getSize(op, dim));
  return 2 * products / (op.getCausal() ? 2 : 1);
}

FailureOr<Problem> Analysis::run() {
  SmallVector<attn::AttentionOp> ops;
  function.walk([&](attn::AttentionOp op) { ops.push_back(op); });
  for (attn::AttentionOp op : ops) {
    noteOperands(op);
    noteCaptures(op);
  }
  for (auto [index, type] : llvm::enumerate(function.getArgumentTypes()))
    if (auto shaped = dyn_cast<RankedTensorType>(type)) {
      if (failed(resolveSizes(index, shaped)))
        return failure();
    } else if (!type.isIntOrIndexOrFloat()) {
      return function.emitError()
             << "expects tensors and scalars as arguments to run, but got "
             << type;
    }
  Problem problem;
  for (attn::AttentionOp op : ops)
    problem.flops += countFlops(op);
  for (auto [index, value] : llvm::enumerate(function.getArguments())) {
    ProblemArgument argument;
    argument.isTensor = isa<RankedTensorType>(value.getType());
    if (argument.isTensor) {
      auto type = cast<RankedTensorType>(value.getType());
      SmallVector<int64_t> dynamicSizes;
      for (auto [size, bound] : llvm::zip_equal(type.getShape(), known[index]))
        if (ShapedType::isDynamic(size))
          dynamicSizes.push_back(bound);
      FailureOr<TensorShape> shape =
          getTensorShape(function, type, dynamicSizes);
      if (failed(shape))
        return failure();
      argument.shape = std::move(*shape);
    }
    Type element = getElementTypeOrSelf(value.getType());
    if (auto it = integers.find(value); it != integers.end()) {
      auto &[op, use] = it->second;
      argument.use = use.use;
      if (use.use == Use::Position)
        argument.limit = getSize(op, use.dim);
      else if (use.use == Use::Segment)
        argument.limit = 4;
      else if (use.use == Use::Index)
        argument.limit = getSize(use.tensor, use.tensorDim);
    }
    if (element.isInteger(1))
      argument.use = Use::Flag;
    for (attn::AttentionOp op : ops)
      if (value == op.getKey())
        argument.role = ProblemArgument::Role::Key;
      else if (value == op.getQuery())
        argument.role = ProblemArgument::Role::Query;
    problem.arguments.push_back(std::move(argument));
  }
  return problem;
}

FailureOr<Problem> attune::analyzeProblem(func::FuncOp function,
                                          const ProblemSizes &sizes) {
  return Analysis(function, sizes).run();
}

ArrayRef<InputClass> attune::getInputClasses() {
  static constexpr InputClass all[] = {InputClass::Normal, InputClass::Repelled,
                                       InputClass::Spread};
  return all;
}

StringRef attune::toString(InputClass inputClass) {
  switch (inputClass) {
  case InputClass::Normal:
    return "normal";
  case InputClass::Repelled:
    return "repelled";
  case InputClass::Spread:
    return "spread";
  }
  llvm_unreachable("all classes are covered");
}

/// Makes what suits the class of normal numbers, which a query or a key holds.
static void shape(Tensor &tensor, ProblemArgument::Role role,
                  InputClass inputClass) {
  using Role = ProblemArgument::Role;
  // With heads of 16 elements or more, scores lie around -160 or below, or have
  // a deviation of 64. The largest element, 6 * 64, is finite in every type.
  constexpr double kFar = 64;
  if (role == Role::Other || inputClass == InputClass::Normal)
    return;
  tensor.shape.forEachPiece(
      [&](const TensorShape &piece, int64_t start, int64_t) {
        piece.forEachOffset([&](int64_t offset) {
          double value = tensor.load(start + offset);
          if (inputClass == InputClass::Spread)
            value *= role == Role::Query ? kFar : 1;
          else
            value = std::fabs(value) * (role == Role::Query ? kFar : -1);
          tensor.store(start + offset, value);
        });
      });
}

Tensor attune::makeInput(const ProblemArgument &argument, unsigned index,
                         uint64_t seed, InputClass inputClass) {
  Tensor tensor(argument.shape);
  // Sequences of neighbouring seeds do not overlap in practice.
  uint64_t ownSeed = seed * 1000003 + index;
  if (isFloat(argument.shape.type)) {
    fillNormal(tensor, ownSeed);
    shape(tensor, argument.role, inputClass);
    return tensor;
  }
  switch (argument.use) {
  case Use::Position:
    fillUniform(tensor, ownSeed, 0, argument.limit + 1);
    break;
  case Use::Index:
  case Use::Number:
    fillUniform(tensor, ownSeed, 0, argument.limit);
    break;
  case Use::Segment:
    fillSegments(tensor, ownSeed, argument.limit);
    break;
  case Use::Flag:
    fillUniform(tensor, ownSeed, 0, 2);
    break;
  }
  return tensor;
}
