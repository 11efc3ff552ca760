// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Walks the product of all knob domains and keeps the legal points.

#include "attune/Tuning/Space.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <cassert>

using namespace attune::tuning;

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

llvm::json::Object Space::toJSON(llvm::ArrayRef<int64_t> point) const {
  llvm::json::Object object;
  for (auto [knob, value] : llvm::zip_equal(knobs, point))
    object[knob.name] = value;
  return object;
}

std::string Space::toString(llvm::ArrayRef<int64_t> point) const {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleave(
      llvm::zip_equal(knobs, point), os,
      [&](auto pair) {
        os << std::get<0>(pair).name << "=" << std::get<1>(pair);
      },
      " ");
  return text;
}

LegalSpace attune::tuning::findLegal(const Space &space,
                                     const Legality &legality) {
  LegalSpace legal;
  for (uint64_t index = 0, size = space.size(); index != size; ++index) {
    Point point = space.at(index);
    std::optional<Refusal> refusal = legality(point);
    if (!refusal) {
      legal.points.push_back(std::move(point));
      continue;
    }
    LegalSpace::Refused &refused = legal.refused[refusal->id];
    if (refused.count++ == 0) {
      refused.example = std::move(point);
      refused.message = std::move(refusal->message);
    }
  }
  return legal;
}
