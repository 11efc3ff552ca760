// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Predicts how long a schedule of an attention op takes, from what a step of
// its main loop asks of each part of an SM and from how tiles are assigned to
// SMs.

#ifndef ATTUNE_SCHEDULE_ATTENTION_ATTENTIONMODEL_H
#define ATTUNE_SCHEDULE_ATTENTION_ATTENTIONMODEL_H

#include "attune/Dialect/Attn/Analysis/VisibleKeys.h"
#include "attune/Schedule/Attention/Legality.h"
#include <map>
#include <tuple>

namespace attune {

/// Which pairs of a query and a key an op's masks let through, but for lists of
/// blocks.
struct SeenPairs {
  int64_t seqQ, seqK;
  /// Query m sees keys from m + first to m + last; nothing: unbounded.
  std::optional<int64_t> first, last;
  /// Of these, the ones that the op's mask region lets through; nothing: all.
  std::optional<VisibleKeys> region;

  /// Lengths of the op that are dynamic are taken to be those given.
  static SeenPairs get(attn::AttentionOpInterface op, int64_t seqQ,
                       int64_t seqK);

  /// Whether there is a mask.
  bool hasMask() const { return first || last || region; }
  /// What the queries from `begin` to `end`, not included, see.
  SeenKeys getSeen(int64_t begin, int64_t end) const;
  /// The share of all pairs that are not known to be hidden.
  double getShare() const;
};

/// What an op computes, as far as time depends on it.
struct AttentionWork : SeenPairs {
  AttentionProblem problem;
  /// Heads of queries and of keys, those of all batches together.
  int64_t heads, keyHeads;

  /// Lengths and numbers of heads that neither the op nor `sizes` knows are
  /// taken to be common ones.
  static AttentionWork get(attn::AttentionOp op, const SizeMap &sizes);

  /// Query tiles of a head, whose rows are `blockM`.
  int64_t countTiles(int64_t blockM) const;

  /// Whether scores are masked at all, or key blocks listed: lists are taken to
  /// have all of them.
  bool isMasked() const { return hasMask() || problem.listedKeys; }
};

/// Answers in a microsecond, for it keeps what depends on few knobs. For one
/// thread at a time.
class AttentionModel {
public:
  AttentionModel(const AttentionWork &work, tile::TargetAttr target)
      : work(work), target(target) {}

  /// Nanoseconds. Registers and spills are those `reported` by the assembler,
  /// or estimated without.
  double predict(const AttentionKnobs &schedule,
                 const ReportedUsage *reported) const;

private:
  struct Usage {
    double registers, spilledBytes;
  };
  /// Steps of the tiles of a head: all, those that a mask cuts, and those of
  /// the tile that has most.
  struct Steps {
    double all = 0, cut = 0, longest = 0;
    int64_t tiles = 0;
  };
  /// Of all workgroups, the time that one takes of its SM, in clocks: a
  /// constant and a part for each step.
  struct TileTime {
    double fixed, step;
  };

  Usage estimate(const AttentionKnobs &schedule) const;
  /// What has query tiles of its own: heads, or as many as share them.
  int64_t getTiledHeads(const AttentionKnobs &schedule) const {
    return work.heads / work.problem.packing.count(schedule);
  }
  /// Workgroups that an SM holds.
  int64_t getResident(const AttentionKnobs &schedule, const Usage &used) const;
  const Steps &getSteps(int64_t blockM, int64_t blockN) const;
  /// What each query tile of a head sees.
  const std::vector<SeenKeys> &getTilesSeen(int64_t blockM) const;
  TileTime getTileTime(const AttentionKnobs &schedule, const Usage &used,
                       const Steps &steps, int64_t resident) const;
  /// Tiles of a head that are computed: of a cluster all or none.
  int64_t getTiles(const AttentionKnobs &schedule) const;
  /// Workgroups that share the keys of a tile, in the mean.
  int64_t getParts(const AttentionKnobs &schedule) const;
  /// Clocks of the kernel that merges what was found in parts of the keys.
  double getMergeClocks(const AttentionKnobs &schedule) const;
  /// How much longer the busiest SM works than the mean. A tile takes time
  /// by the keys it sees and `fixedKeys` more.
  double getImbalance(const AttentionKnobs &schedule, int64_t resident,
                      double fixedKeys) const;
  /// The same. With `workers`, tiles are assigned to so many in advance.
  double assign(int64_t heads, int64_t blockM, schedule::TileOrder order,
                int64_t workers, double fixedKeys) const;

  AttentionWork work;
  tile::TargetAttr target;
  mutable std::map<int64_t, std::vector<SeenKeys>> seenOf;
  mutable std::map<std::pair<int64_t, int64_t>, Steps> stepsOf;
  mutable std::map<
      std::tuple<int64_t, int64_t, schedule::TileOrder, int64_t, int>, double>
      imbalanceOf;
};

} // namespace attune

#endif // ATTUNE_SCHEDULE_ATTENTION_ATTENTIONMODEL_H
