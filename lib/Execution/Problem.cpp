// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sizes are bound through the ops that use an argument, by what these say of
// their inputs.

#include "attune/Execution/Problem.h"
#include "attune/Execution/HostProgram.h"
#include "attune/Runtime/Random.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>
#include <deque>

using namespace mlir;
using namespace attune;
using Use = IntegerUse::Kind;

namespace {
/// An op, and the dimensions that it said first to be each of its sizes.
struct OpNotes {
  explicit OpNotes(TunableOpInterface op)
      : op(op), sizes(op.getKnobSet().sizes.size()) {}

  TunableOpInterface op;
  struct Place {
    Value tensor;
    int64_t position;
    /// For how much of the size there is an element, and how many others.
    int64_t unit, more;
  };
  std::vector<std::optional<Place>> sizes;
};

/// A size by its name, of which a dimension has an element for each unit, and
/// some more.
struct NamedSize {
  StringRef name;
  int64_t unit, more;

  bool operator==(const NamedSize &other) const {
    return name == other.name && unit == other.unit && more == other.more;
  }
  std::optional<int64_t> getExtent(const ProblemSizes &sizes) const {
    std::optional<int64_t> size = sizes.get(name);
    return size ? llvm::divideCeilSigned(*size, unit) + more : size;
  }
};

class Analysis : private InputNotes {
public:
  Analysis(func::FuncOp function, const ProblemSizes &sizes)
      : function(function), sizes(sizes), known(function.getNumArguments()),
        meaning(function.getNumArguments()) {}

  FailureOr<Problem> run();

private:
  void noteSize(Value tensor, int64_t position, size_t size, int64_t unit,
                int64_t more) override;
  void noteIntegers(Value argument, const IntegerUse &use) override {
    integers.try_emplace(argument, current, use);
  }
  void noteClass(Value tensor, StringRef inputClass,
                 const InputTransform &transform) override {
    transforms[tensor][inputClass.str()] = transform;
  }
  LogicalResult resolveSizes(unsigned index, ShapedType type);
  /// That each shape is one of a tensor.
  LogicalResult checkShapes() const;
  std::vector<std::string> findUnusedSizes() const;
  /// The size of a dimension, bound or static; 1 for a dynamic one of a tensor
  /// that is computed in the function.
  int64_t getSize(Value tensor, int64_t position);
  /// What a list may name of the blocks of a dimension of this length.
  void describeBlocks(int64_t length, const IntegerUse &use,
                      ProblemArgument &argument);
  /// The sizes of an op, in the order of its set.
  SmallVector<int64_t> getSizes(const OpNotes &notes);

  func::FuncOp function;
  const ProblemSizes &sizes;
  std::deque<OpNotes> ops;
  /// The op that is being asked.
  OpNotes *current = nullptr;
  /// Per argument: sizes, and the names of those that its dimensions mean.
  std::vector<SmallVector<int64_t>> known;
  std::vector<SmallVector<SmallVector<NamedSize, 1>, 4>> meaning;
  DenseMap<Value, std::pair<OpNotes *, IntegerUse>> integers;
  DenseMap<Value, std::map<std::string, InputTransform>> transforms;
};
} // namespace

void Analysis::noteSize(Value tensor, int64_t position, size_t size,
                        int64_t unit, int64_t more) {
  if (!current->sizes[size])
    current->sizes[size] = {tensor, position, unit, more};
  auto argument = dyn_cast<BlockArgument>(tensor);
  if (!argument || argument.getOwner()->getParentOp() != function)
    return;
  auto &dims = meaning[argument.getArgNumber()];
  dims.resize(cast<ShapedType>(tensor.getType()).getRank());
  NamedSize named{current->op.getKnobSet().sizes[size].name, unit, more};
  if (!llvm::is_contained(dims[position], named))
    dims[position].push_back(named);
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
    ArrayRef<NamedSize> names = meaning[index][position];
    StringRef name = names.empty() ? StringRef() : names.front().name;
    if (!name.empty())
      requested = names.front().getExtent(sizes);
    // What is indexed by several positions has an element for each of any.
    if (requested && ShapedType::isDynamic(size))
      for (const NamedSize &other : names.drop_front())
        requested = std::max(requested, other.getExtent(sizes));
    if (given != sizes.shapes.end())
      requested = given->second[position];
    if (ShapedType::isDynamic(size) && !requested) {
      InFlightDiagnostic diagnostic =
          function.emitError() << "expects a size for dimension " << position
                               << " of argument " << index << ": give --";
      if (!name.empty())
        diagnostic << name << "=<number>";
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

LogicalResult Analysis::checkShapes() const {
  func::FuncOp source = function;
  for (const auto &[index, shape] : sizes.shapes)
    if (index >= source.getNumArguments() ||
        !isa<RankedTensorType>(source.getArgumentTypes()[index]))
      return source.emitError() << "expects a shape of an argument that is a "
                                   "tensor, but got one of argument "
                                << index;
  return success();
}

std::vector<std::string> Analysis::findUnusedSizes() const {
  std::vector<std::string> unused;
  for (const auto &[name, size] : sizes.named)
    if (llvm::none_of(meaning, [&, &name = name](const auto &dims) {
          return llvm::any_of(dims, [&](ArrayRef<NamedSize> names) {
            return llvm::any_of(names, [&](const NamedSize &size) {
              return size.name == name;
            });
          });
        }))
      unused.push_back(name);
  return unused;
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

SmallVector<int64_t> Analysis::getSizes(const OpNotes &notes) {
  TunableOpInterface op = notes.op;
  SmallVector<int64_t> resolved = op.getSizes();
  for (auto [size, where] : llvm::zip_equal(resolved, notes.sizes))
    if (ShapedType::isDynamic(size))
      size = where ? (getSize(where->tensor, where->position) - where->more) *
                         where->unit
                   : 1;
  return resolved;
}

void Analysis::describeBlocks(int64_t length, const IntegerUse &use,
                              ProblemArgument &argument) {
  int64_t blocks = llvm::divideCeilSigned(length, use.blockSize);
  argument.first = use.firstBlock;
  argument.step = use.blockStep;
  argument.limit = std::max<int64_t>(
      0, llvm::divideCeilSigned(blocks - use.firstBlock, use.blockStep));
  if (use.kind == Use::BlockCount)
    argument.limit =
        std::min(argument.limit, getSize(use.tensor, use.tensorDim));
}

FailureOr<Problem> Analysis::run() {
  function.walk([&](TunableOpInterface op) { ops.emplace_back(op); });
  for (OpNotes &notes : ops) {
    current = &notes;
    notes.op.describeInputs(*this);
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
  if (failed(checkShapes()))
    return failure();
  Problem problem;
  problem.unusedSizes = findUnusedSizes();
  for (OpNotes &notes : ops) {
    Work work = notes.op.getWork(getSizes(notes));
    problem.work.flops += work.flops;
    problem.work.bytes += work.bytes;
  }
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
      auto &[notes, use] = it->second;
      argument.use = use.kind;
      if (use.kind == Use::Position || use.kind == Use::PartStart)
        argument.limit = getSizes(*notes)[use.size];
      else if (use.kind == Use::Segment)
        argument.limit = 4;
      else if (use.kind == Use::Index || use.kind == Use::DistinctIndex)
        argument.limit = getSize(use.tensor, use.tensorDim);
      else if (use.kind == Use::Slot)
        argument.limit = getSize(use.tensor, use.tensorDim) *
                         getSize(use.tensor, use.tensorDim + 1);
      else if (use.kind == Use::BlockCount || use.kind == Use::BlockIndex)
        describeBlocks(getSizes(*notes)[use.size], use, argument);
    }
    if (element.isInteger(1))
      argument.use = Use::Flag;
    if (auto it = transforms.find(value); it != transforms.end())
      argument.transforms = it->second;
    problem.arguments.push_back(std::move(argument));
  }
  return problem;
}

FailureOr<Problem> attune::analyzeProblem(func::FuncOp function,
                                          const ProblemSizes &sizes) {
  return Analysis(function, sizes).run();
}

SmallVector<StringRef> attune::getInputClasses(func::FuncOp function) {
  SmallVector<StringRef> names;
  function.walk([&](TunableOpInterface op) {
    for (const InputClass &inputClass : op.getInputClasses())
      if (!llvm::is_contained(names, inputClass.name))
        names.push_back(inputClass.name);
  });
  return names;
}

/// Makes what suits a class of the normal numbers that a tensor holds.
static void apply(Tensor &tensor, const InputTransform &transform) {
  tensor.shape.forEachPiece(
      [&](const TensorShape &piece, int64_t start, int64_t) {
        piece.forEachOffset([&](int64_t offset) {
          double value = tensor.load(start + offset);
          if (transform.isInteger)
            value = std::clamp(std::nearbyint(value), -2.0, 2.0);
          if (transform.magnitude)
            value = std::fabs(value);
          tensor.store(start + offset, value * transform.factor);
        });
      });
}

/// Makes some numbers -1, and those behind the first `count`.
static void leaveSomeOut(Tensor &tensor, int64_t count) {
  constexpr int64_t kPeriod = 7;
  int64_t number = 0;
  tensor.shape.forEachOffset([&](int64_t offset) {
    if (number % kPeriod == kPeriod / 2 || number >= count)
      tensor.store(offset, -1);
    ++number;
  });
}

/// Makes one number of a thousand `factor` times as large, as what is quantized
/// has some.
static void addOutliers(Tensor &tensor, double factor) {
  constexpr int64_t kPeriod = 1009;
  tensor.shape.forEachPiece(
      [&](const TensorShape &piece, int64_t start, int64_t before) {
        int64_t number = before;
        piece.forEachOffset([&](int64_t offset) {
          if (number++ % kPeriod == kPeriod / 2)
            tensor.store(start + offset, factor * tensor.load(start + offset));
        });
      });
}

Tensor attune::makeInput(const ProblemArgument &argument, unsigned index,
                         uint64_t seed, StringRef inputClass) {
  Tensor tensor(argument.shape);
  // Sequences of neighbouring seeds do not overlap in practice.
  uint64_t ownSeed = seed * 1000003 + index;
  if (isFloat(argument.shape.type)) {
    fillNormal(tensor, ownSeed);
    if (getBytes(argument.shape.type) == 1)
      addOutliers(tensor, /*factor=*/10);
    auto transform = argument.transforms.find(inputClass.str());
    if (transform != argument.transforms.end())
      apply(tensor, transform->second);
    return tensor;
  }
  switch (argument.use) {
  case Use::Position:
  case Use::BlockCount:
    fillUniform(tensor, ownSeed, 0, argument.limit + 1);
    break;
  case Use::Index:
  case Use::Number:
    fillUniform(tensor, ownSeed, 0, argument.limit);
    break;
  case Use::Element:
    fillUniform(tensor, ownSeed, -3, 4);
    addOutliers(tensor, /*factor=*/42);
    break;
  case Use::Packed:
    fillUniform(tensor, ownSeed, -128, 128);
    break;
  case Use::Segment:
    fillSegments(tensor, ownSeed, argument.limit);
    break;
  case Use::Flag:
    fillUniform(tensor, ownSeed, 0, 2);
    break;
  case Use::DistinctIndex:
    fillDistinct(tensor, ownSeed, argument.limit);
    break;
  case Use::Slot:
    fillDistinct(tensor, ownSeed, argument.limit);
    leaveSomeOut(tensor, argument.limit);
    break;
  case Use::PartStart:
    fillStarts(tensor, ownSeed, argument.limit);
    break;
  case Use::BlockIndex:
    fillPermutations(tensor, ownSeed, argument.limit, argument.first,
                     argument.step);
    break;
  }
  return tensor;
}
