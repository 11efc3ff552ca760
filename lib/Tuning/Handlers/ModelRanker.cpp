// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scores a schedule by the time that the op's model predicts.

#include "attune/Tuning/ModelRanker.h"
#include "attune/Tuning/Space.h"
#include "llvm/ADT/STLExtras.h"
#include <deque>

using namespace attune;
using namespace attune::tuning;

namespace {
/// Answers by what was read to give them: a node is the knob that is read next,
/// its branches are values of it. Points that differ only in what a model does
/// not read, of which a search has millions, are looked up.
class AnswerTree {
public:
  using Read = llvm::function_ref<int64_t(size_t)>;

  double get(llvm::ArrayRef<int64_t> point,
             llvm::function_ref<double(Read)> compute) {
    size_t node = 0;
    while (nodes[node].knob) {
      const auto &branches = nodes[node].branches;
      const auto *branch = llvm::find_if(branches, [&](const auto &other) {
        return other.first == point[*nodes[node].knob];
      });
      if (branch == branches.end())
        return add(point, compute);
      node = branch->second;
    }
    const std::optional<double> &answer = nodes[node].answer;
    return answer ? *answer : add(point, compute);
  }

private:
  struct Node {
    /// None of a leaf, and of a node that was not reached yet.
    std::optional<size_t> knob;
    llvm::SmallVector<std::pair<int64_t, size_t>, 2> branches;
    /// Of a leaf.
    std::optional<double> answer;
  };

  double add(llvm::ArrayRef<int64_t> point,
             llvm::function_ref<double(Read)> compute) {
    Probe probe{Point(point)};
    double answer = compute([&](size_t knob) { return probe[knob]; });
    size_t node = 0;
    for (size_t knob : probe.getRead())
      node = descend(node, knob, point[knob]);
    nodes[node].answer = answer;
    return answer;
  }

  size_t descend(size_t node, size_t knob, int64_t value) {
    assert(!nodes[node].answer && nodes[node].knob.value_or(knob) == knob &&
           "expects a model that reads what earlier values say");
    nodes[node].knob = knob;
    for (auto [other, next] : nodes[node].branches)
      if (other == value)
        return next;
    nodes[node].branches.emplace_back(value, nodes.size());
    nodes.emplace_back();
    return nodes.size() - 1;
  }

  std::deque<Node> nodes = std::deque<Node>(1);
};

class ModelRanker : public Ranker {
public:
  explicit ModelRanker(std::unique_ptr<CostModel> model)
      : model(std::move(model)) {}

protected:
  double score(llvm::ArrayRef<int64_t> point,
               const Resources *reported) const override {
    if (!reported)
      return predictions.get(point, [&](AnswerTree::Read read) {
        return model->predict(read, nullptr);
      });
    ReportedUsage usage{reported->registers, reported->spillBytes,
                        reported->loopFlopsPerClock};
    return model->predict([&](size_t place) { return point[place]; }, &usage);
  }

private:
  std::unique_ptr<CostModel> model;
  mutable AnswerTree predictions;
};
} // namespace

std::unique_ptr<Ranker>
tuning::createModelRanker(std::unique_ptr<CostModel> model) {
  if (!model)
    return nullptr;
  return std::make_unique<ModelRanker>(std::move(model));
}
