// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Walks the product of all knob domains and keeps the legal points.

#include "attune/Tuning/Space.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <cassert>
#include <utility>

using namespace attune::tuning;

std::string Knob::spell(int64_t value) const {
  return labels.empty() ? std::to_string(value) : labels[value];
}

uint64_t Space::size() const {
  uint64_t product = 1;
  for (const Knob &knob : knobs)
    product *= knob.domain.size();
  return product;
}

Point Space::at(uint64_t index) const {
  assert(index < size() && "index of a point");
  Point point(knobs.size());
  for (size_t i = knobs.size(); i-- > 0;) {
    const std::vector<int64_t> &domain = knobs[i].domain;
    point[i] = domain[index % domain.size()];
    index /= domain.size();
  }
  return point;
}

Point Space::getDefault() const {
  Point point;
  for (const Knob &knob : knobs)
    point.push_back(knob.init);
  return point;
}

/// The value that is spelled so, if the knob has it.
static std::optional<int64_t> parseValue(const Knob &knob,
                                         llvm::StringRef text) {
  for (const std::vector<int64_t> &values : {knob.domain, knob.asked})
    for (int64_t value : values)
      if (knob.spell(value) == text)
        return value;
  return std::nullopt;
}

llvm::Expected<Space> Space::limit(const KnobValues &values) const {
  std::vector<Knob> restricted = knobs;
  for (const auto &[name, wanted] : values) {
    auto knob = llvm::find_if(restricted, [&name = name](const Knob &other) {
      return other.name == name;
    });
    if (knob == restricted.end()) {
      auto names =
          llvm::map_range(knobs, [](auto &other) { return other.name; });
      return llvm::createStringError("expects a knob of " +
                                     llvm::join(names, ", ") + ", but got '" +
                                     name + "'");
    }
    llvm::append_range(knob->domain, std::exchange(knob->asked, {}));
    std::vector<int64_t> kept;
    for (const std::string &text : wanted) {
      std::optional<int64_t> value = parseValue(*knob, text);
      if (!value) {
        auto all = llvm::map_range(
            knob->domain, [&](int64_t value) { return knob->spell(value); });
        return llvm::createStringError("expects " + name + " to be one of " +
                                       llvm::join(all, ", ") + ", but got " +
                                       text);
      }
      kept.push_back(*value);
    }
    llvm::erase_if(knob->domain, [&](int64_t value) {
      return !llvm::is_contained(kept, value);
    });
  }
  return Space(std::move(restricted));
}

llvm::json::Object Space::toJSON(llvm::ArrayRef<int64_t> point) const {
  llvm::json::Object object;
  for (auto [knob, value] : llvm::zip_equal(knobs, point))
    if (knob.labels.empty())
      object[knob.name] = value;
    else
      object[knob.name] = knob.spell(value);
  return object;
}

std::optional<Point> Space::fromJSON(const llvm::json::Object &object) const {
  Point point;
  for (const Knob &knob : knobs) {
    std::optional<int64_t> value;
    if (!knob.labels.empty())
      value = parseValue(knob, object.getString(knob.name).value_or(""));
    else if (auto number = object.getInteger(knob.name);
             number && knob.admits(*number))
      value = *number;
    if (!value)
      return std::nullopt;
    point.push_back(*value);
  }
  return point;
}

std::string Space::toString(llvm::ArrayRef<int64_t> point) const {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleave(
      llvm::zip_equal(knobs, point), os,
      [&](auto pair) {
        const Knob &knob = std::get<0>(pair);
        os << knob.name << "=" << knob.spell(std::get<1>(pair));
      },
      " ");
  return text;
}

std::string Space::toString(llvm::ArrayRef<int64_t> point,
                            llvm::ArrayRef<int64_t> base) const {
  std::string text;
  for (auto [knob, value, other] : llvm::zip_equal(knobs, point, base))
    if (value != other)
      text += (text.empty() ? "" : " ") + knob.name + "=" + knob.spell(value);
  return text.empty() ? "default" : text;
}

// The answers are the leaves of a tree: a node is the knob that is looked at
// next, its branches are the values of the knob. `digits` are the places of the
// values in their domains, 0 for knobs that are not on the path to a leaf.

/// Moves to the next leaf; false after the last one.
static bool advance(llvm::ArrayRef<Knob> knobs, llvm::ArrayRef<size_t> path,
                    std::vector<uint64_t> &digits) {
  for (size_t knob : llvm::reverse(path)) {
    if (++digits[knob] != knobs[knob].domain.size())
      return true;
    digits[knob] = 0;
  }
  return false;
}

/// Adds the numbers of all points that end at a leaf.
static void appendPoints(llvm::ArrayRef<Knob> knobs,
                         llvm::ArrayRef<size_t> path,
                         llvm::ArrayRef<uint64_t> digits,
                         std::vector<uint64_t> &indices) {
  std::vector<uint64_t> prefixes = {0};
  for (auto [place, knob] : llvm::enumerate(knobs)) {
    bool isFixed = llvm::is_contained(path, place);
    uint64_t begin = digits[place],
             end = isFixed ? begin + 1 : knob.domain.size();
    std::vector<uint64_t> longer;
    for (uint64_t prefix : prefixes)
      for (uint64_t digit = begin; digit != end; ++digit)
        longer.push_back(prefix * knob.domain.size() + digit);
    prefixes = std::move(longer);
  }
  llvm::append_range(indices, prefixes);
}

LegalSpace attune::tuning::findLegal(const Space &space,
                                     const Legality &legality,
                                     const Legality &worthTrying) {
  llvm::ArrayRef<Knob> knobs = space.getKnobs();
  LegalSpace legal;
  std::vector<uint64_t> digits(knobs.size(), 0), indices;
  llvm::SmallVector<size_t, 32> path;
  do {
    Point point;
    point.reserve(knobs.size());
    for (auto [knob, digit] : llvm::zip_equal(knobs, digits))
      point.push_back(knob.domain[digit]);
    Probe probe(std::move(point));
    std::optional<Refusal> refusal;
    if (worthTrying)
      refusal = worthTrying(probe);
    bool isSkipped = refusal.has_value();
    if (!refusal)
      refusal = legality(probe);
    path.assign(probe.getRead().begin(), probe.getRead().end());
    if (!refusal) {
      appendPoints(knobs, path, digits, indices);
      continue;
    }
    LegalSpace::Refused &refused =
        (isSkipped ? legal.skipped : legal.refused)[refusal->id];
    if (refused.count == 0) {
      refused.example = probe.getPoint();
      refused.message = refusal->getMessage();
    }
    uint64_t count = space.size();
    for (size_t knob : path)
      count /= knobs[knob].domain.size();
    refused.count += count;
  } while (advance(knobs, path, digits));
  llvm::sort(indices);
  legal.points.reserve(indices.size());
  for (uint64_t index : indices)
    legal.points.push_back(space.at(index));
  return legal;
}
