// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The search space: one value per knob, and which of those points a kernel can
// be built for. Knows knobs by name and domain only; what they mean, and which
// points are legal, is told by the compiler through `Legality`.

#ifndef ATTUNE_TUNING_SPACE_H
#define ATTUNE_TUNING_SPACE_H

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace attune::tuning {

/// One tunable: a record of Knobs.td, or a choice of a transform script.
struct Knob {
  std::string name;
  int64_t init;
  /// What a search walks.
  std::vector<int64_t> domain;
  /// How values are spelled that are not numbers; value `i` is `labels[i]`.
  /// Empty where values are numbers.
  std::vector<std::string> labels = {};
  /// Further values than the domain's, which a search walks where it is asked
  /// for them.
  std::vector<int64_t> asked = {};

  std::string spell(int64_t value) const;
  /// Whether the knob can have this value.
  bool admits(int64_t value) const {
    return llvm::is_contained(domain, value) ||
           llvm::is_contained(asked, value);
  }
};

/// Values, as they are spelled, by the name of a knob.
using KnobValues = std::map<std::string, std::vector<std::string>>;

/// One value per knob, in the order of Space::getKnobs().
using Point = std::vector<int64_t>;

class Space {
public:
  explicit Space(std::vector<Knob> knobs) : knobs(std::move(knobs)) {}

  llvm::ArrayRef<Knob> getKnobs() const { return knobs; }
  /// Number of points, legal or not.
  uint64_t size() const;
  /// Points are numbered with the last knob running fastest.
  Point at(uint64_t index) const;
  Point getDefault() const;

  /// The space with the values given as the domains of some knobs. Fails for a
  /// knob that there is not, and for a value that it cannot have.
  llvm::Expected<Space> limit(const KnobValues &values) const;

  /// `{"block-m": 128, ...}` with every knob, defaults too: what the database
  /// and the workers see, so that a changed default never renames a point.
  llvm::json::Object toJSON(llvm::ArrayRef<int64_t> point) const;
  /// The point that toJSON() wrote; nothing where a knob has no value or one
  /// that is not of its domain.
  std::optional<Point> fromJSON(const llvm::json::Object &object) const;
  /// `block-m=128 block-n=64 ...`, as attune-set-schedule takes it.
  std::string toString(llvm::ArrayRef<int64_t> point) const;
  /// The same for people: the knobs alone that differ from `base`, or `default`
  /// where none does.
  std::string toString(llvm::ArrayRef<int64_t> point,
                       llvm::ArrayRef<int64_t> base) const;

private:
  std::vector<Knob> knobs;
};

/// A point under question, which notes the knobs that are looked at.
class Probe {
public:
  explicit Probe(Point point)
      : point(std::move(point)), isRead(this->point.size()) {}

  const Point &getPoint() const { return point; }
  /// The value of a knob by its place in Space::getKnobs().
  int64_t operator[](size_t knob) const {
    if (!isRead.test(knob)) {
      isRead.set(knob);
      read.push_back(knob);
    }
    return point[knob];
  }
  /// The knobs that were looked at, in the order of the first looks.
  llvm::ArrayRef<size_t> getRead() const { return read; }

private:
  Point point;
  mutable llvm::SmallBitVector isRead;
  mutable llvm::SmallVector<size_t, 32> read;
};

/// Why a point is not legal: a stable id to count by, and a message with its
/// numbers.
struct Refusal {
  std::string id;
  std::function<std::string()> getMessage;
};

/// Nothing where the point is legal. Must answer by what it reads of the probe
/// alone: the answer is taken for all points that agree in those knobs.
using Legality = std::function<std::optional<Refusal>(const Probe &)>;

/// The legal points in order, and all others counted by the rule that refuses
/// them: a point that breaks several counts for the one that is checked first.
struct LegalSpace {
  struct Refused {
    uint64_t count = 0;
    Point example;
    std::string message;
  };
  std::vector<Point> points;
  using Refusals = std::map<std::string, Refused>;
  Refusals refused;
  /// Those that may be legal and are not worth trying.
  Refusals skipped;
};

/// The points that are legal and, where that is asked, worth trying; what is
/// not is not asked whether it is legal. Asks once for all points with which
/// the answer must be the same, so that it takes time by the number of
/// different answers and of legal points, not by the size of the space.
LegalSpace findLegal(const Space &space, const Legality &legality,
                     const Legality &worthTrying = nullptr);

} // namespace attune::tuning

#endif // ATTUNE_TUNING_SPACE_H
