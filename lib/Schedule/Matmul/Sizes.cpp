// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which sizes a matmul's schedules are chosen for, and which are enough to
// check one.

#include "MatmulTunable.h"
#include "attune/Matmul/Problem.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;
using namespace attune;
using matmul::ContractionGroup;
using matmul::Dim;
using matmul::TensorAccess;

static constexpr Dim allDims[] = {Dim::Batch, Dim::M, Dim::N, Dim::K};

/// What an index floordiv and mod constants divides a dimension by.
static int64_t getDivisor(AffineExpr index) {
  auto binary = dyn_cast<AffineBinaryOpExpr>(index);
  if (!binary)
    return 1;
  return getDivisor(binary.getLHS()) *
         cast<AffineConstantExpr>(binary.getRHS()).getValue();
}

/// By what the size of a dimension is divisible: the sizes of the loops inside
/// of the outermost one, and the parts in which the epilogue reads it. Nothing
/// where one is not known.
static std::optional<int64_t> getInnerSize(const ContractionGroup &group,
                                           Dim dim) {
  ArrayRef<int64_t> loops = group.contractions[0].space[dim];
  int64_t inner = 1;
  for (int64_t size : loops.drop_front(loops.empty() ? 0 : 1)) {
    if (ShapedType::isDynamic(size))
      return std::nullopt;
    inner *= size;
  }
  for (const matmul::EpilogueOperand &operand : group.operands)
    for (const matmul::Run &run : operand.access.runs)
      if (run.index.isFunctionOfDim(static_cast<unsigned>(dim)))
        inner = std::lcm(inner, getDivisor(run.index));
  if (group.partnerStride && dim == Dim::N)
    inner = std::lcm(inner, 2 * *group.partnerStride);
  return inner;
}

/// Whether the rows of a tensor are as long as this dimension.
static bool isRowLength(const ContractionGroup &group, Dim dim) {
  auto endsIn = [&](const TensorAccess &access) {
    return !access.runs.empty() && access.runs.back().getDim() == dim;
  };
  return llvm::any_of(group.contractions,
                      [&](const matmul::Contraction &contraction) {
                        return endsIn(contraction.lhs) ||
                               endsIn(contraction.rhs);
                      }) ||
         llvm::any_of(group.results, endsIn);
}

static std::string print(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream os(text);
  module.print(os, OpPrintingFlags().printGenericOpForm());
  return text;
}

/// What sizes were computed with that are known now says nothing.
static void eraseDeadOps(ModuleOp module) {
  SmallVector<Operation *> ops;
  module.walk([&](Operation *op) { ops.push_back(op); });
  // Users before what they use.
  for (Operation *op : llvm::reverse(ops))
    if (isOpTriviallyDead(op))
      op->erase();
}

/// The text of the group with other sizes, which say no more than how rows are
/// aligned: what else a kernel depends on is dynamic to it.
std::string attune::describeMatmulKind(const ContractionGroup &group) {
  // Twice the elements of 16 bits that fill 16 bytes, so that no dimension
  // becomes one of size 1.
  constexpr int64_t kAligned = 8;
  matmul::Sizes sizes = matmul::getSizes(group);
  for (Dim dim : allDims) {
    std::optional<int64_t> inner = getInnerSize(group, dim);
    if (!inner || group.contractions[0].space[dim].empty()) {
      sizes[dim] = ShapedType::kDynamic;
      continue;
    }
    int64_t divisor = kAligned;
    if (isRowLength(group, dim) && *inner % kAligned != 0)
      divisor =
          ShapedType::isDynamic(sizes[dim])
              ? 1
              : std::min<int64_t>(
                    kAligned, llvm::MinAlign(kAligned, sizes[dim] / *inner));
    sizes[dim] = *inner * (kAligned + divisor);
  }
  std::string why;
  FailureOr<OwningOpRef<ModuleOp>> kind = matmul::resize(group, sizes, why);
  // Sizes that cannot be changed are what a schedule is chosen for.
  if (failed(kind))
    return print(*matmul::isolate(group));
  eraseDeadOps(**kind);
  return print(**kind);
}

/// `blocks` blocks, and what the length leaves over.
static int64_t shorten(int64_t length, int64_t block, int64_t blocks) {
  return std::min(length, blocks * block + length % block);
}

ProblemSizes attune::shrinkMatmul(const ContractionGroup &group,
                                  schedule::MatmulAttr schedule,
                                  const ProblemSizes &sizes) {
  const KnobSet &set = schedule::MatmulAttr::getSet();
  matmul::Sizes full = matmul::getSizes(group), small;
  ProblemSizes reduced = sizes;
  int64_t cluster = schedule.getCluster(), splits = schedule.getSplitK();
  bool isAlongM = schedule.getClusterAlong() == schedule::ClusterAlong::M;
  // Two tiles, or clusters of them, each way; so many blocks of k that every
  // slot of a ring is used twice, or once and again by each split.
  std::pair<int64_t, int64_t> blocks[] = {
      {1, 2},
      {schedule.getBlockM(), 2 * (isAlongM ? cluster : 1)},
      {schedule.getBlockN(), 2 * (isAlongM ? 1 : cluster)},
      {schedule.getBlockK(), splits == 1
                                 ? 2 * schedule.getStages()
                                 : splits * (schedule.getStages() + 1)}};
  for (auto [place, dim] : llvm::enumerate(allDims)) {
    small[dim] = ShapedType::kDynamic;
    std::string name = set.sizes[place].name.str();
    // What nobody knows is taken as large: only the reduced size counts.
    constexpr int64_t kUnknown = int64_t(1) << 20;
    int64_t length = ShapedType::isStatic(full[dim])
                         ? full[dim]
                         : sizes.get(name).value_or(kUnknown);
    std::optional<int64_t> inner = getInnerSize(group, dim);
    auto [block, count] = blocks[place];
    int64_t wanted = shorten(length, block, count);
    if (ShapedType::isDynamic(full[dim])) {
      if (inner == 1)
        reduced.named[name] = wanted;
    } else if (inner && !group.contractions[0].space[dim].empty()) {
      small[dim] = std::min<int64_t>(length, llvm::alignTo(wanted, *inner));
      reduced.named.erase(name);
    }
  }
  auto function = group.getRoot()->getParentOfType<func::FuncOp>();
  std::string why;
  // Sizes that cannot be changed stay.
  (void)matmul::resize(function, small, why);
  return reduced;
}
