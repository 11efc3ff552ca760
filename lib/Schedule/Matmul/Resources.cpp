// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a matmul's tensors are to a kernel, and what a schedule of it takes from
// a chip: shared memory, threads, registers.

#include "attune/Dialect/Attn/IR/Attn.h"
#include "attune/Dialect/Tile/IR/SharedMemoryLayout.h"
#include "attune/Schedule/Matmul/Legality.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;
using namespace attune;
using matmul::ContractionGroup;
using matmul::Dim;
using matmul::TensorAccess;
using schedule::Persistent;
using schedule::ResultPath;
using tile::MmaAtomAttr;
using tile::TargetAttr;

/// What the strides of all dimensions are multiples of that are not in the last
/// run of dimensions; 0 where the elements of that are not neighbours.
static int64_t getRowDivisor(const TensorAccess &access) {
  auto type = cast<RankedTensorType>(access.tensor.getType());
  if (access.runs.empty())
    return 0;
  auto first = static_cast<int64_t>(access.runs.back().first);
  auto strided = dyn_cast_or_null<attn::StridedAttr>(type.getEncoding());
  int64_t divisor = strided ? 0 : 1;
  for (auto [dim, size] : llvm::enumerate(type.getShape()))
    if (!strided && static_cast<int64_t>(dim) >= first &&
        ShapedType::isStatic(size))
      divisor *= size;
  if (!strided)
    return divisor;
  for (auto [dim, stride] : llvm::enumerate(strided.getStrides())) {
    if (static_cast<int64_t>(dim) < first)
      divisor =
          std::gcd(divisor, ShapedType::isDynamic(stride) ? strided.getDivisor()
                                                          : stride);
    else if (stride != 1)
      return 0;
  }
  return divisor;
}

/// Why tiles cannot be read from a tensor, or written to it; empty if they can.
static std::string findObstacle(const TensorAccess &access, bool isOperand) {
  auto type = dyn_cast<RankedTensorType>(access.tensor.getType());
  assert(access.isPlain() && "expects a contraction that was matched");
  if (isOperand && !access.reads(Dim::K))
    return "expects tensors that are read by a dimension that is summed over";
  if (type && type.getEncoding() &&
      static_cast<int64_t>(access.runs.size()) != type.getRank())
    return "expects a tensor with strides to have a dimension for each of the "
           "contraction";
  return "";
}

static MatmulProblem::Matrix getMatrix(const TensorAccess &access, Dim inner) {
  bool isInnerLast =
      !access.runs.empty() && access.runs.back().getDim() == inner;
  return {access.getElementType(), isInnerLast, getRowDivisor(access)};
}

MatmulProblem MatmulProblem::get(const ContractionGroup &group) {
  MatmulProblem problem;
  problem.sizes = matmul::getSizes(group);
  // More than any memory has; rules multiply them by a few.
  constexpr int64_t kMost = int64_t(1) << 40;
  if (llvm::any_of(problem.sizes.sizes,
                   [](int64_t size) { return size > kMost; }))
    problem.obstacle = "expects matrices of at most " + std::to_string(kMost) +
                       " rows and columns";
  problem.lhs = getMatrix(group.contractions.front().lhs, Dim::K);
  auto check = [&](const TensorAccess &access, bool isOperand) {
    if (problem.obstacle.empty())
      problem.obstacle = findObstacle(access, isOperand);
  };
  problem.partnerStride = group.partnerStride;
  check(group.contractions.front().lhs, /*isOperand=*/true);
  for (const matmul::Contraction &contraction : group.contractions) {
    problem.rhs.push_back(getMatrix(contraction.rhs, Dim::K));
    check(contraction.rhs, /*isOperand=*/true);
  }
  const TensorAccess &first = group.contractions.front().rhs;
  problem.areRhsAlike =
      llvm::all_of(group.contractions, [&](const matmul::Contraction &other) {
        return other.rhs.tensor.getType() == first.tensor.getType() &&
               llvm::equal(
                   other.rhs.runs, first.runs,
                   [](const matmul::Run &left, const matmul::Run &right) {
                     return left.getDim() == right.getDim();
                   });
      });
  for (const matmul::EpilogueOperand &operand : group.operands) {
    // Parts of dimensions are read element by element, not as tiles.
    if (!operand.access.isPlain()) {
      problem.epilogueLoads +=
          operand.access.reads(Dim::M) || operand.access.reads(Dim::N);
      continue;
    }
    if (operand.access.reads(Dim::M) && operand.access.reads(Dim::N))
      problem.epilogueBits +=
          operand.access.getElementType().getIntOrFloatBitWidth();
    check(operand.access, /*isOperand=*/false);
  }
  for (Operation &op : group.getEpilogue())
    problem.epilogueFunctions +=
        isa<arith::DivFOp>(op) || isa<math::MathDialect>(op.getDialect());
  for (const TensorAccess &result : group.results) {
    problem.results.push_back(getMatrix(result, Dim::N));
    check(result, /*isOperand=*/false);
  }
  return problem;
}

MmaAtomAttr attune::findAtom(const MatmulProblem &problem,
                             const MatmulKnobs &schedule, TargetAttr target) {
  return target.findAtom(problem.lhs.elementType,
                         problem.rhs.front().elementType,
                         Float32Type::get(target.getContext()),
                         schedule.getMmaWarps() > 1 ? tile::MmaScope::Warpgroup
                                                    : tile::MmaScope::Warp);
}

int64_t attune::getInterleavedColumns(const MatmulProblem &problem,
                                      const MatmulKnobs &schedule,
                                      TargetAttr target) {
  int64_t count = problem.countContractions();
  if (count == 1 || !problem.areRhsAlike || schedule.getMmaWarps() == 1)
    return 0;
  int64_t columns = schedule.getBlockN() / schedule.getWarpsN();
  // What the copy engine writes at a time is whole swizzle atoms, of which
  // workgroups that share the operand copy as many each.
  constexpr int64_t kAtomRows = 8;
  const MatmulProblem::Matrix &rhs = problem.rhs.front();
  int64_t unit = rhs.isInnerLast
                     ? kAtomRows * schedule.getCluster()
                     : target.getSwizzleAtom(count * schedule.getBlockN(),
                                             rhs.elementType);
  return columns % unit == 0 ? columns : 0;
}

int64_t attune::getTeams(const MatmulKnobs &schedule) {
  return schedule.getConsumers() == schedule::Consumers::PingPong
             ? std::max<int64_t>(1, schedule.getNumWarps() /
                                        schedule.getMmaWarps())
             : 1;
}

int64_t attune::getBlockWarps(const MatmulKnobs &schedule) {
  return schedule.getNumWarps() / getTeams(schedule);
}

WarpBudget attune::getWarpBudget(const MatmulKnobs &schedule) {
  return {schedule.getNumWarps(),
          schedule.getProducerWarps(),
          schedule.getMmaWarps(),
          schedule.getWorkgroupsPerSm(),
          schedule.getPersistent() != Persistent::None,
          getTeams(schedule)};
}

int64_t attune::getSharedBytes(const MatmulProblem &problem,
                               const MatmulKnobs &schedule, TargetAttr target) {
  bool byWarpgroups = schedule.getMmaWarps() > 1;
  tile::SharedMemoryLayout layout;
  auto getBytes = [](Type type, int64_t rows, int64_t columns) {
    return rows * columns * type.getIntOrFloatBitWidth() / 8;
  };
  // As tile-promote-to-shared makes them.
  if (schedule.getResultPath() == ResultPath::Shared)
    for (const MatmulProblem::Matrix &result : llvm::reverse(problem.results))
      layout.addTiles(getTeams(schedule) * getBytes(result.elementType,
                                                    schedule.getBlockM(),
                                                    schedule.getBlockN()));
  MmaAtomAttr atom = findAtom(problem, schedule, target);
  auto addRing = [&](const MatmulProblem::Matrix &matrix, int64_t block) {
    int64_t columns = matrix.isInnerLast ? schedule.getBlockK() : block;
    if (target.copiesThroughRegisters()) {
      int64_t rows = matrix.isInnerLast ? block : schedule.getBlockK();
      layout.addTiles(tile::getOperandBytes(
          {rows, columns}, matrix.elementType, schedule.getStages(),
          {atom, &matrix == &problem.lhs, !matrix.isInnerLast}));
      return;
    }
    int64_t atomColumns =
        byWarpgroups ? target.getSwizzleAtom(columns, matrix.elementType) : 0;
    layout.addRing(schedule.getStages(),
                   getBytes(matrix.elementType, block, schedule.getBlockK()),
                   atomColumns);
  };
  addRing(problem.lhs, schedule.getBlockM());
  if (getInterleavedColumns(problem, schedule, target))
    addRing(problem.rhs.front(),
            problem.countContractions() * schedule.getBlockN());
  else
    for (const MatmulProblem::Matrix &rhs : problem.rhs)
      addRing(rhs, schedule.getBlockN());
  layout.addBarriers();
  if (schedule.getPersistent() == Persistent::Dynamic)
    layout.addWords(tile::SchedulerType::kWords);
  return layout.getBytes();
}

/// Elements of a block of the result for each thread that computes.
static int64_t getElements(const MatmulKnobs &schedule, TargetAttr target) {
  return llvm::divideCeil(schedule.getBlockM() * schedule.getBlockN(),
                          getBlockWarps(schedule) * target.getLanes());
}

int64_t attune::getAccumulatorRegisters(const MatmulProblem &problem,
                                        const MatmulKnobs &schedule,
                                        TargetAttr target) {
  return problem.countContractions() * getElements(schedule, target);
}

/// What a thread needs beside tiles, with multiplies of a warp and with those
/// of several: loop state and addresses.
static constexpr int64_t kOtherRegisters = 40, kOtherGroupRegisters = 24;

int64_t attune::estimateRegisters(const MatmulProblem &problem,
                                  const MatmulKnobs &schedule,
                                  TargetAttr target) {
  constexpr int64_t kWordBits = 32;
  int64_t accumulators = getAccumulatorRegisters(problem, schedule, target);
  MmaAtomAttr atom = findAtom(problem, schedule, target);
  if (atom.getWarps() > 1)
    return accumulators + kOtherGroupRegisters;
  int64_t bits = problem.lhs.elementType.getIntOrFloatBitWidth();
  int64_t warpsM =
      std::max<int64_t>(1, schedule.getNumWarps() / schedule.getWarpsN());
  auto fragment = [&](int64_t elements, int64_t count) {
    return count * elements * bits / kWordBits;
  };
  int64_t operands =
      fragment(atom.getLhs().getNumRegisters(),
               schedule.getBlockM() / (warpsM * atom.getM())) +
      fragment(atom.getRhs().getNumRegisters(),
               schedule.getBlockN() / (schedule.getWarpsN() * atom.getN()));
  // Without asynchronous copies the next blocks pass through registers.
  int64_t rows =
      schedule.getBlockM() + problem.countContractions() * schedule.getBlockN();
  int64_t copied = target.copiesThroughRegisters()
                       ? rows * schedule.getBlockK() * bits / kWordBits /
                             (schedule.getNumWarps() * target.getLanes())
                       : 0;
  return accumulators + operands + copied + kOtherRegisters;
}
