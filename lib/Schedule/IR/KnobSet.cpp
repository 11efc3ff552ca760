// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names of tunables and of their values.

#include "attune/Schedule/IR/KnobSet.h"
#include "attune/Schedule/IR/Schedule.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace attune;

std::string KnobInfo::spell(int64_t value) const {
  return names.empty() ? std::to_string(value) : names[value].str();
}

std::optional<int64_t> KnobInfo::parse(StringRef text) const {
  for (int64_t value : domain)
    if (spell(value) == text)
      return value;
  return std::nullopt;
}

SmallVector<int64_t> KnobSet::getDefaults() const {
  return llvm::map_to_vector(knobs,
                             [](const KnobInfo &knob) { return knob.init; });
}

std::optional<size_t> KnobSet::findKnob(StringRef name) const {
  const auto *it = llvm::find_if(
      knobs, [&](const KnobInfo &knob) { return knob.name == name; });
  if (it == knobs.end())
    return std::nullopt;
  return it - knobs.begin();
}

static InFlightDiagnostic
expectDomain(function_ref<InFlightDiagnostic()> emitError,
             const KnobInfo &knob) {
  InFlightDiagnostic diagnostic = emitError();
  diagnostic << "expects knob '" << knob.name << "' to be one of ";
  llvm::interleaveComma(knob.domain, diagnostic, [&](int64_t value) {
    diagnostic << knob.spell(value);
  });
  return diagnostic;
}

LogicalResult KnobSet::verify(function_ref<InFlightDiagnostic()> emitError,
                              ArrayRef<int64_t> values) const {
  if (values.size() != knobs.size())
    return emitError() << "expects " << knobs.size() << " values of " << name
                       << ", but got " << values.size();
  for (auto [knob, value] : llvm::zip_equal(knobs, values))
    if (!llvm::is_contained(knob.domain, value))
      return expectDomain(emitError, knob) << ", but got " << value;
  return success();
}

std::optional<int64_t>
KnobSet::parseValue(function_ref<InFlightDiagnostic()> emitError,
                    const KnobInfo &knob, StringRef text) {
  std::optional<int64_t> value = knob.parse(text);
  if (!value)
    expectDomain(emitError, knob) << ", but got " << text;
  return value;
}

ArrayRef<SizeInfo> attune::getProblemSizes() {
  static const SmallVector<SizeInfo> all = [] {
    SmallVector<SizeInfo> sizes;
    for (const KnobSet *set : getKnobSets())
      for (const SizeInfo &size : set->sizes)
        if (!llvm::any_of(sizes, [&](const SizeInfo &known) {
              return known.name == size.name;
            }))
          sizes.push_back(size);
    return sizes;
  }();
  return all;
}

std::string attune::toOptions(const KnobSet &set, ArrayRef<int64_t> values) {
  std::string text;
  for (auto [knob, value] : llvm::zip_equal(set.knobs, values))
    text +=
        (text.empty() ? "" : " ") + knob.name.str() + "=" + knob.spell(value);
  return text;
}
