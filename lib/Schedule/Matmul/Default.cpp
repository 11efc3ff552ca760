// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The schedule of a matmul where none is given.

#include "attune/Schedule/Matmul/Legality.h"

using namespace mlir;
using namespace attune;
using schedule::Consumers;
using schedule::MatmulAttr;
using schedule::Persistent;
using schedule::ResultPath;
using tile::TargetAttr;

namespace {
/// A block, and the warps or warpgroups that share its rows and columns.
struct Shape {
  int64_t blockM, blockN, groupsM, groupsN;
};

/// Keeps the fastest of the schedules that it is shown.
class Chooser {
public:
  Chooser(const MatmulProblem &problem, TargetAttr target)
      : problem(problem), target(target) {}

  /// With as many stages as fit, of those that are wanted at most, and with the
  /// sums split where that is worth it.
  void offer(MatmulSchedule wanted, ArrayRef<int64_t> stages) {
    for (int64_t splits : {1, 2, 4, 8, 16}) {
      // Splits are for few tiles, of which no workgroup has several.
      if (splits > 1 && wanted.persistent != Persistent::None)
        return;
      wanted.splitK = splits;
      if (problem.partnerStride)
        offerPairs(wanted, stages);
      else
        offerStages(wanted, stages);
    }
  }
  MatmulAttr getBest() const { return best; }

private:
  void offerStages(MatmulSchedule wanted, ArrayRef<int64_t> stages) {
    for (int64_t count : stages) {
      wanted.stages = count;
      MatmulAttr schedule = wanted.getAttr(target.getContext());
      if (checkLegal(problem, schedule, target))
        continue;
      if (wanted.splitK != 1 && checkWorthTrying(problem, schedule, target))
        return;
      double time = predictTime(problem, schedule, target, nullptr);
      if (wanted.splitK != 1)
        time *= kSplitMargin;
      if (!best || time < bestTime) {
        best = schedule;
        bestTime = time;
      }
      return;
    }
  }
  /// In blocks so wide that each warp has whole pairs of columns that are
  /// rotated together.
  void offerPairs(MatmulSchedule wanted, ArrayRef<int64_t> stages) {
    offerWidePairs(wanted, stages);
    if (wanted.warpsN == 1)
      return;
    // Warps that share no columns have pairs in narrower blocks.
    wanted.warpsN = 1;
    offerWidePairs(wanted, stages);
  }
  void offerWidePairs(MatmulSchedule wanted, ArrayRef<int64_t> stages) {
    const KnobSet &set = MatmulAttr::getSet();
    ArrayRef<int64_t> widths = set.knobs[*set.findKnob("block-n")].domain;
    const int64_t *width = llvm::find_if(widths, [&](int64_t columns) {
      return columns >= wanted.blockN &&
             columns % (wanted.warpsN * 2 * *problem.partnerStride) == 0;
    });
    if (width == widths.end())
      return;
    wanted.blockN = *width;
    offerStages(wanted, stages);
  }

  /// By how much a split must be predicted to be faster, lest the model's error
  /// decide.
  static constexpr double kSplitMargin = 1.1;

  const MatmulProblem &problem;
  TargetAttr target;
  MatmulAttr best;
  double bestTime = 0;
};
} // namespace

/// Whether no SM has a second tile, behind whose multiplies it could store the
/// first one.
static bool isOneRound(const MatmulProblem &problem, const Shape &shape,
                       TargetAttr target) {
  double tiles = 1;
  for (auto [dim, block] : {std::pair(matmul::Dim::Batch, int64_t(1)),
                            {matmul::Dim::M, shape.blockM},
                            {matmul::Dim::N, shape.blockN}}) {
    if (ShapedType::isDynamic(problem.sizes[dim]))
      return false;
    tiles *= static_cast<double>(llvm::divideCeil(problem.sizes[dim], block));
  }
  return tiles <= static_cast<double>(target.getSms());
}

static void offerWarpgroups(Chooser &chooser, const MatmulProblem &problem,
                            TargetAttr target) {
  constexpr int64_t kWarpgroup = 4;
  constexpr Shape shapes[] = {
      {128, 256, 2, 1}, {256, 128, 2, 1}, {128, 192, 2, 1},
      {128, 128, 2, 1}, {128, 64, 2, 1},  {64, 256, 1, 1},
      {64, 128, 1, 1},  {64, 64, 1, 1},   {64, 32, 1, 1}};
  for (Persistent persistent : {Persistent::Static, Persistent::None})
    for (ResultPath path : {ResultPath::Shared, ResultPath::Registers})
      for (int64_t producers : {kWarpgroup, int64_t(1)})
        for (const Shape &shape : shapes) {
          // The only tile of a workgroup gains by more stages alone.
          if (isOneRound(problem, shape, target) &&
              (persistent != Persistent::None || path != ResultPath::Registers))
            continue;
          MatmulSchedule wanted;
          wanted.blockM = shape.blockM;
          wanted.blockN = shape.blockN;
          wanted.blockK = 64;
          wanted.numWarps = kWarpgroup * shape.groupsM * shape.groupsN;
          wanted.warpsN = shape.groupsN;
          wanted.mmaWarps = kWarpgroup;
          wanted.producerWarps = producers;
          wanted.persistent = persistent;
          wanted.resultPath = path;
          wanted.rasterGroup = 16;
          chooser.offer(wanted, {8, 6, 5, 4, 3, 2});
        }
}

/// Warpgroups with blocks of their own, for epilogues that take long. A ring of
/// five stages pays more than results that leave by the copy engine, but where
/// these are as small as those of a gate there is room for four and for both.
static void offerPingPong(Chooser &chooser, bool isGate) {
  constexpr int64_t kWarpgroup = 4, kGroups = 2;
  MatmulSchedule wanted;
  wanted.blockM = 128;
  wanted.blockN = isGate ? 96 : 192;
  wanted.blockK = 64;
  wanted.numWarps = kWarpgroup * kGroups;
  wanted.mmaWarps = kWarpgroup;
  wanted.producerWarps = kWarpgroup;
  wanted.consumers = Consumers::PingPong;
  wanted.persistent = Persistent::Static;
  wanted.resultPath = isGate ? ResultPath::Shared : ResultPath::Registers;
  // Of a gate, twelve columns of them are the blocks that 132 SMs have at a
  // time.
  wanted.rasterGroup = isGate ? 22 : 16;
  chooser.offer(wanted, {5, 4});
}

static void offerWarps(Chooser &chooser) {
  constexpr Shape shapes[] = {
      {128, 256, 2, 4}, {256, 128, 4, 2}, {128, 128, 2, 2}, {128, 128, 4, 2},
      {128, 64, 2, 2},  {64, 128, 2, 2},  {64, 64, 2, 2},   {64, 64, 1, 1},
      {32, 64, 1, 2},   {32, 32, 1, 1},   {16, 64, 1, 2},   {16, 16, 1, 1}};
  for (int64_t blockK : {64, 32})
    for (const Shape &shape : shapes) {
      MatmulSchedule wanted;
      wanted.blockM = shape.blockM;
      wanted.blockN = shape.blockN;
      wanted.blockK = blockK;
      wanted.numWarps = shape.groupsM * shape.groupsN;
      wanted.warpsN = shape.groupsN;
      chooser.offer(wanted, {4, 3, 2, 1});
    }
}

MatmulAttr attune::selectSchedule(const MatmulProblem &problem,
                                  TargetAttr target) {
  Chooser chooser(problem, target);
  offerWarpgroups(chooser, problem, target);
  if (problem.epilogueFunctions)
    offerPingPong(chooser, /*isGate=*/problem.countContractions() > 1);
  if (!chooser.getBest())
    offerWarps(chooser);
  return chooser.getBest();
}
