// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The search space: one value per knob, and which of those points a kernel can
// be built for. Knows knobs by name and domain only; what they mean, and which
// points are legal, is told by the compiler through `Legality`.

#ifndef ATTUNE_TUNING_SPACE_H
#define ATTUNE_TUNING_SPACE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/JSON.h"
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace attune::tuning {

/// One tunable: a record of Knobs.td.
struct Knob {
  std::string name;
  int64_t init;
  std::vector<int64_t> domain;
};

/// One value per knob, in the order of Space::getKnobs().
using Point = std::vector<int64_t>;

/// Why a point is not legal: a stable id to count by, and one example with its
/// numbers.
struct Refusal {
  std::string id;
  std::string message;
};

using Legality = std::function<std::optional<Refusal>(llvm::ArrayRef<int64_t>)>;

class Space {
public:
  explicit Space(std::vector<Knob> knobs) : knobs(std::move(knobs)) {}

  llvm::ArrayRef<Knob> getKnobs() const { return knobs; }
  /// Number of points, legal or not.
  uint64_t size() const;
  /// Points are numbered with the last knob running fastest.
  Point at(uint64_t index) const;
  Point getDefault() const;

  /// `{"block-m": 128, ...}` with every knob, defaults too: what the database
  /// and the workers see, so that a changed default never renames a point.
  llvm::json::Object toJSON(llvm::ArrayRef<int64_t> point) const;
  /// `block-m=128 block-n=64 ...`, as attn-set-schedule takes it.
  std::string toString(llvm::ArrayRef<int64_t> point) const;

private:
  std::vector<Knob> knobs;
};

/// The legal points in order, and the others counted by reason.
struct LegalSpace {
  struct Refused {
    uint64_t count = 0;
    Point example;
    std::string message;
  };
  std::vector<Point> points;
  std::map<std::string, Refused> refused;
};

LegalSpace findLegal(const Space &space, const Legality &legality);

} // namespace attune::tuning

#endif // ATTUNE_TUNING_SPACE_H
