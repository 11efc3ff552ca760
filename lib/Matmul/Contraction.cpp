// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Recognizes contractions. Upstream finds the dimensions; the body is checked
// here, for upstream's isaContractionOpInterface looks through unary ops, and
// takes the sum of exp(a) * b for that of a * b.

#include "attune/Matmul/Contraction.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace attune::matmul;

bool Contraction::isLhsTransposed() const {
  return *lhs.findRun(Dim::K) < *lhs.findRun(Dim::M);
}
bool Contraction::isRhsTransposed() const {
  return *rhs.findRun(Dim::N) < *rhs.findRun(Dim::K);
}
bool Contraction::isResultTransposed() const {
  return *result.findRun(Dim::N) < *result.findRun(Dim::M);
}

static bool isAllParallel(linalg::LinalgOp op) {
  return op.getNumParallelLoops() == op.getNumLoops();
}

static bool isMultiplied(Type type) { return type.isF16() || type.isBF16(); }

std::optional<Forward> attune::matmul::matchForward(Value value) {
  auto op = value.getDefiningOp<linalg::LinalgOp>();
  if (!op || !op.hasPureTensorSemantics() || !isAllParallel(op) ||
      op->getNumResults() != 1 ||
      !op.getIndexingMapMatchingResult(op->getOpResult(0)).isPermutation())
    return std::nullopt;
  Value yielded = op.getBlock()->getTerminator()->getOperand(0);
  Operation *cast = yielded.getDefiningOp();
  if (cast) {
    if (!isa<arith::ExtFOp, arith::TruncFOp>(cast))
      return std::nullopt;
    yielded = cast->getOperand(0);
  }
  auto argument = dyn_cast<BlockArgument>(yielded);
  if (!argument || argument.getOwner() != op.getBlock())
    return std::nullopt;
  OpOperand *input = op.getMatchingOpOperand(argument);
  if (op.isDpsInit(input))
    return std::nullopt;
  return Forward{op, input, cast};
}

std::optional<Coordinates>
attune::matmul::getOperandCoordinates(linalg::LinalgOp op, OpOperand &operand,
                                      ArrayRef<Coordinate> loops) {
  Coordinates coordinates;
  AffineMap map = op.getMatchingIndexingMap(&operand);
  for (auto [place, index] : llvm::enumerate(map.getResults())) {
    // At 0 of several is a slice, whose others lie in between.
    if (auto dim = dyn_cast<AffineDimExpr>(index))
      coordinates.push_back(loops[dim.getPosition()]);
    else if (index == getAffineConstantExpr(0, op.getContext()) &&
             op.getShape(&operand)[place] == 1)
      coordinates.push_back(Coordinate::zero());
    else
      return std::nullopt;
  }
  return coordinates;
}

std::optional<Coordinates>
attune::matmul::getInputCoordinates(linalg::LinalgOp op, OpOperand &input,
                                    ArrayRef<Coordinate> coordinates) {
  AffineMap resultMap = op.getIndexingMapMatchingResult(op->getOpResult(0));
  SmallVector<Coordinate> loops(op.getNumLoops());
  for (auto [dim, coordinate] : llvm::enumerate(coordinates))
    loops[resultMap.getDimPosition(dim)] = coordinate;
  return getOperandCoordinates(op, input, loops);
}

namespace {
/// The value of an operand, where its dimensions are, and what was passed on
/// the way to it.
struct Source {
  Value tensor;
  Coordinates coordinates;
};

class Matcher {
public:
  Matcher(Operation *op, Mismatch &why)
      : op(dyn_cast<linalg::LinalgOp>(op)), why(why) {}

  FailureOr<Contraction> match();

private:
  LogicalResult fail(const Twine &reason) {
    why = {reason.str()};
    return failure();
  }
  LogicalResult matchDimensions();
  LogicalResult matchBody();
  LogicalResult matchTypes();
  LogicalResult matchOperand(OpOperand &operand, Dim own, TensorAccess &access);
  LogicalResult matchInit();
  LogicalResult getAccess(const Source &source, StringRef name,
                          TensorAccess &access);
  bool isBatchAlone(const Source &before, const Coordinates &after) const;
  void followForwards(Source &source);
  bool moveScale(Source &source, Dim own);

  linalg::LinalgOp op;
  Mismatch &why;
  Contraction found;
  SmallVector<Coordinate> loops;
};
} // namespace

static std::string print(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << "'" << type << "'";
  return text;
}

/// Numbers the loops of each kind in the order in which the result has them,
/// those of k in the order of the left operand.
LogicalResult Matcher::matchDimensions() {
  for (AffineMap map : op.getIndexingMapsArray())
    if (!map.isProjectedPermutation())
      return fail("expects operands and result to be indexed by loops, each "
                  "once, but got an index that is none");
  FailureOr<linalg::ContractionDimensions> dims =
      linalg::inferContractionDims(op);
  if (failed(dims) || dims->m.empty() || dims->n.empty() || dims->k.empty())
    return fail("expects loops over m, n and k of a contraction, but at least "
                "one of them is missing");
  ArrayRef<unsigned> kinds[] = {dims->batch, dims->m, dims->n, dims->k};
  size_t known = 0;
  for (ArrayRef<unsigned> kind : kinds)
    known += kind.size();
  if (known != op.getNumLoops())
    return fail("expects each loop to be one of batch, m, n and k, but got " +
                Twine(op.getNumLoops() - known) + " other");
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  loops.resize(op.getNumLoops());
  auto number = [&](AffineMap map, bool isLhs) {
    for (AffineExpr index : map.getResults()) {
      unsigned loop = cast<AffineDimExpr>(index).getPosition();
      for (auto [kind, members] : llvm::enumerate(kinds)) {
        Dim dim = static_cast<Dim>(kind);
        if (!llvm::is_contained(members, loop) || (isLhs && dim != Dim::K))
          continue;
        // A loop of one step, wherever tensors have it, takes no other apart.
        if (ranges[loop] == 1 && (!found.space[dim].empty() ||
                                  llvm::any_of(members, [&](unsigned other) {
                                    return ranges[other] != 1;
                                  }))) {
          loops[loop] = Coordinate::zero();
          continue;
        }
        loops[loop] = {dim, static_cast<unsigned>(found.space[dim].size()), 1,
                       ranges[loop]};
        found.space[dim].push_back(ranges[loop]);
      }
    }
  };
  number(op.getMatchingIndexingMap(op.getDpsInitOperand(0)), /*isLhs=*/false);
  number(op.getMatchingIndexingMap(op.getDpsInputOperand(0)), /*isLhs=*/true);
  return success();
}

/// The block argument that `value` is or that it extends.
static BlockArgument getFactor(Value value) {
  if (auto extension = value.getDefiningOp<arith::ExtFOp>())
    value = extension.getIn();
  return dyn_cast<BlockArgument>(value);
}

static StringRef getName(Value value) {
  Operation *definition = value.getDefiningOp();
  return definition ? definition->getName().getStringRef() : "an argument";
}

/// acc + a * b, of the inputs or their extensions and nothing else.
LogicalResult Matcher::matchBody() {
  Block *block = op.getBlock();
  Value yielded = block->getTerminator()->getOperand(0);
  auto sum = yielded.getDefiningOp<arith::AddFOp>();
  if (!sum)
    return fail("expects the body to yield an arith.addf, but got " +
                getName(yielded));
  Value accumulator = block->getArgument(2), term;
  if (sum.getLhs() == accumulator)
    term = sum.getRhs();
  else if (sum.getRhs() == accumulator)
    term = sum.getLhs();
  else
    return fail("expects the body to add to the accumulator, but it adds " +
                getName(sum.getLhs()) + " and " + getName(sum.getRhs()));
  auto product = term.getDefiningOp<arith::MulFOp>();
  if (!product)
    return fail("expects the body to add an arith.mulf, but got " +
                getName(term));
  BlockArgument a = getFactor(product.getLhs()),
                b = getFactor(product.getRhs());
  for (Value factor : {product.getLhs(), product.getRhs()})
    if (!getFactor(factor))
      return fail("expects factors to be inputs or their arith.extf, but got " +
                  getName(factor));
  if (a.getOwner() != block || b.getOwner() != block || a == b ||
      a == accumulator || b == accumulator)
    return fail("expects the body to multiply the two inputs");
  return success();
}

/// How an operand of linalg is written may make no difference: what an op only
/// moves or widens is read where it comes from.
void Matcher::followForwards(Source &source) {
  while (std::optional<Forward> forward = matchForward(source.tensor)) {
    if (forward->op->getBlock() != op->getBlock() ||
        (forward->cast && !isa<arith::ExtFOp>(forward->cast)))
      return;
    std::optional<Coordinates> coordinates =
        getInputCoordinates(forward->op, *forward->input, source.coordinates);
    if (!coordinates ||
        !isa<RankedTensorType>(forward->input->get().getType()) ||
        !isBatchAlone(source, *coordinates))
      return;
    found.producers.push_back(forward->op);
    source = {forward->input->get(), *coordinates};
  }
}

/// Whether nothing but loops of the batch is left out of `after`: what repeats
/// along another dimension is no matrix any more.
bool Matcher::isBatchAlone(const Source &before,
                           const Coordinates &after) const {
  return llvm::all_of(before.coordinates, [&](const Coordinate &old) {
    return old.isZero || old.dim == Dim::Batch ||
           llvm::any_of(after, [&](const Coordinate &kept) {
             return !kept.isZero && kept.matches(old);
           });
  });
}

/// (a * s) b is (a b) * s where s does not depend on k. Reading `a` instead of
/// the product leaves out a rounding.
bool Matcher::moveScale(Source &source, Dim own) {
  auto scale = source.tensor.getDefiningOp<linalg::LinalgOp>();
  if (!scale || scale->getBlock() != op->getBlock() ||
      !scale.hasPureTensorSemantics() || !isAllParallel(scale) ||
      scale->getNumResults() != 1 || scale.getNumDpsInputs() != 2 ||
      !scale.getIndexingMapMatchingResult(scale->getOpResult(0))
           .isPermutation())
    return false;
  Value yielded = scale.getBlock()->getTerminator()->getOperand(0);
  if (auto truncation = yielded.getDefiningOp<arith::TruncFOp>())
    yielded = truncation.getIn();
  auto product = yielded.getDefiningOp<arith::MulFOp>();
  if (!product)
    return false;
  auto getSource = [&](Value factor) -> std::optional<Source> {
    BlockArgument argument = getFactor(factor);
    if (!argument || argument.getOwner() != scale.getBlock())
      return std::nullopt;
    OpOperand *input = scale.getMatchingOpOperand(argument);
    if (scale.isDpsInit(input))
      return std::nullopt;
    std::optional<Coordinates> coordinates =
        getInputCoordinates(scale, *input, source.coordinates);
    if (!coordinates)
      return std::nullopt;
    return Source{input->get(), *coordinates};
  };
  std::optional<Source> a = getSource(product.getLhs()),
                        b = getSource(product.getRhs());
  if (!a || !b)
    return false;
  auto read = [&](const Source &from) -> std::optional<TensorAccess> {
    for (const Coordinate &coordinate : from.coordinates)
      if (!coordinate.isZero && coordinate.dim != own &&
          coordinate.dim != Dim::Batch)
        return std::nullopt;
    return makeAccess(from.tensor, found.space, from.coordinates);
  };
  for (auto [matrix, factor] : {std::pair(*a, *b), std::pair(*b, *a)}) {
    // A broadcast alone may make a factor look like a matrix.
    SmallVector<Operation *> passed;
    while (std::optional<Forward> forward = matchForward(factor.tensor)) {
      std::optional<Coordinates> coordinates =
          getInputCoordinates(forward->op, *forward->input, factor.coordinates);
      if (!coordinates || forward->cast ||
          forward->op->getBlock() != op->getBlock())
        break;
      passed.push_back(forward->op);
      factor = {forward->input->get(), *coordinates};
    }
    std::optional<TensorAccess> access = read(factor);
    if (!access || !access->isPlain() ||
        !isMultiplied(getElementTypeOrSelf(matrix.tensor.getType())) ||
        !isBatchAlone(source, matrix.coordinates))
      continue;
    llvm::append_range(found.producers, passed);
    found.producers.push_back(scale);
    found.scales.push_back(*access);
    source = matrix;
    return true;
  }
  return false;
}

LogicalResult Matcher::getAccess(const Source &source, StringRef name,
                                 TensorAccess &access) {
  std::optional<TensorAccess> made =
      makeAccess(source.tensor, found.space, source.coordinates);
  for (Dim dim : {Dim::Batch, Dim::M, Dim::N, Dim::K}) {
    bool isRead = llvm::any_of(source.coordinates, [&](const Coordinate &at) {
      return !at.isZero && at.dim == dim;
    });
    if (isRead && (!made || !made->findRun(dim)))
      return fail("expects the loops of " + toString(dim) +
                  " to be neighbours in the " + name +
                  ", in one order everywhere");
  }
  access = std::move(*made);
  return success();
}

LogicalResult Matcher::matchOperand(OpOperand &operand, Dim own,
                                    TensorAccess &access) {
  Source source{operand.get(), {}};
  for (AffineExpr index : op.getMatchingIndexingMap(&operand).getResults())
    source.coordinates.push_back(
        loops[cast<AffineDimExpr>(index).getPosition()]);
  do
    followForwards(source);
  while (moveScale(source, own));
  return getAccess(source, own == Dim::M ? "left operand" : "right operand",
                   access);
}

/// Integers and f64 are matmuls of others. All other floats are ours to
/// multiply or to refuse.
LogicalResult Matcher::matchTypes() {
  Type lhs = found.lhs.getElementType(), rhs = found.rhs.getElementType(),
       accumulator = getElementTypeOrSelf(op->getResult(0).getType());
  for (Type type : {lhs, rhs, accumulator})
    if (!isa<FloatType>(type) || type.getIntOrFloatBitWidth() > 32)
      return fail("expects floats of at most 32 bits, but got " + print(type));
  if (isMultiplied(lhs) && lhs == rhs && accumulator.isF32())
    return success();
  why.isRefusal = true;
  if (!isMultiplied(lhs) || lhs != rhs)
    why.reason = "expects operands of a contraction to be both f16 or both "
                 "bf16, but got " +
                 print(lhs) + " and " + print(rhs);
  else
    why.reason = "expects a contraction to accumulate in f32, but got " +
                 print(accumulator);
  why.isNarrow = isMultiplied(lhs) && lhs == rhs && accumulator == lhs;
  return failure();
}

LogicalResult Matcher::matchInit() {
  Value init = op.getDpsInits()[0];
  if (init.getDefiningOp<tensor::EmptyOp>())
    return fail("expects an initial accumulator, but got a tensor.empty");
  if (matchPattern(init, m_AnyZeroFloat()))
    return success();
  Coordinates coordinates;
  for (AffineExpr index :
       op.getMatchingIndexingMap(op.getDpsInitOperand(0)).getResults())
    coordinates.push_back(loops[cast<AffineDimExpr>(index).getPosition()]);
  if (std::optional<Forward> forward = matchForward(init);
      forward && !forward->cast &&
      !isa<RankedTensorType>(forward->input->get().getType())) {
    // One of another block is no op of the group, but is known all the same.
    if (forward->op->getBlock() == op->getBlock())
      found.producers.push_back(forward->op);
    if (!matchPattern(forward->input->get(), m_AnyZeroFloat()))
      found.init = TensorAccess{forward->input->get(), {}};
    return success();
  }
  found.init.emplace();
  return getAccess({init, coordinates}, "initial accumulator", *found.init);
}

FailureOr<Contraction> Matcher::match() {
  if (!op || !op.hasPureTensorSemantics() || op.getNumDpsInputs() != 2 ||
      op->getNumResults() != 1)
    return fail("expects an op of linalg on two tensors with one result");
  if (op.getNumReductionLoops() == 0)
    return fail("expects a reduction, but got none");
  for (Value operand : op->getOperands())
    if (!isa<RankedTensorType>(operand.getType()))
      return fail("expects tensors, but got " + print(operand.getType()));
  found.op = op;
  if (failed(matchDimensions()) || failed(matchBody()) ||
      failed(matchOperand(*op.getDpsInputOperand(0), Dim::M, found.lhs)) ||
      failed(matchOperand(*op.getDpsInputOperand(1), Dim::N, found.rhs)) ||
      failed(matchTypes()))
    return failure();
  Source result{op->getResult(0), {}};
  for (AffineExpr index :
       op.getMatchingIndexingMap(op.getDpsInitOperand(0)).getResults())
    result.coordinates.push_back(
        loops[cast<AffineDimExpr>(index).getPosition()]);
  if (failed(getAccess(result, "result", found.result)) || failed(matchInit()))
    return failure();
  found.resultCoordinates = result.coordinates;
  return found;
}

FailureOr<Contraction> attune::matmul::matchContraction(Operation *op,
                                                        Mismatch *why) {
  Mismatch ignored;
  return Matcher(op, why ? *why : ignored).match();
}

void attune::matmul::warnOfContractionTypes(Operation *root) {
  root->walk([](linalg::LinalgOp op) {
    Mismatch why;
    if (failed(matchContraction(op, &why)) && why.isRefusal)
      op->emitWarning() << "is left as it is: " << why.reason;
  });
}
