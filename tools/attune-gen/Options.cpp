// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The options that all ops have.

#include "Options.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include <numeric>

using namespace llvm;
using namespace attune;
using namespace attune::gen;
using mlir::ShapedType;

static constexpr std::pair<Size, StringLiteral> sizeNames[] = {
    {Size::Batch, "batch"}, {Size::Heads, "heads"},   {Size::SeqQ, "seq-q"},
    {Size::SeqK, "seq-k"},  {Size::M, "m"},           {Size::N, "n"},
    {Size::K, "k"},         {Size::Tokens, "tokens"}, {Size::Pages, "pages"}};

cl::ValuesClass attune::gen::getInputTypes() {
  return cl::values(
      clEnumValN(Element::F16, "f16", "IEEE half"),
      clEnumValN(Element::BF16, "bf16", "bfloat16"),
      clEnumValN(Element::F8E4M3FN, "f8E4M3FN", "attention: 8 bits, up to 448"),
      clEnumValN(Element::F8E5M2, "f8E5M2", "attention: 8 bits, up to 57344"),
      clEnumValN(Element::F8E4M3FNUZ, "f8E4M3FNUZ",
                 "attention: 8 bits, up to 240"),
      clEnumValN(Element::F8E5M2FNUZ, "f8E5M2FNUZ",
                 "attention: 8 bits, up to 57344, without infinities"),
      clEnumValN(Element::I8, "i8",
                 "keys and values of attention: -128 to 127"),
      clEnumValN(Element::I4, "i4",
                 "keys and values of attention: -8 to 7, two in a byte"));
}

CommonOptions::CommonOptions()
    : op("op",
         cl::desc("Operation: attention, matmul, merge, quantize or append"),
         cl::Required, cl::value_desc("name"), cl::cat(category)),
      batch("batch",
            cl::desc("Batch size (of a matmul: none; not of an append)"),
            cl::cat(category)),
      headDim("head-dim",
              cl::desc("Head size of query and key, or of --rope=halves"),
              cl::cat(category)),
      dtype("dtype", cl::desc("Element type of the operands"), cl::Required,
            getInputTypes(), cl::cat(category)),
      dynamic(
          "dynamic", cl::desc("Sizes known at run time only"),
          cl::CommaSeparated,
          cl::values(
              clEnumValN(Size::Batch, "batch", "batch size"),
              clEnumValN(Size::Heads, "heads", "all but matmul: heads"),
              clEnumValN(Size::SeqQ, "seq-q",
                         "attention, merge, quantize: length of query"),
              clEnumValN(Size::SeqK, "seq-k",
                         "attention: length of key and value"),
              clEnumValN(Size::M, "m", "matmul: rows of the result"),
              clEnumValN(Size::N, "n", "matmul: columns of the result"),
              clEnumValN(Size::K, "k", "matmul: terms of a sum"),
              clEnumValN(Size::Tokens, "tokens", "append: tokens"),
              clEnumValN(Size::Pages, "pages", "append: pages of the pool")),
          cl::cat(category)),
      strided("strided",
              cl::desc("Strides of the operands known at run time only, but "
                       "for the innermost"),
              cl::cat(category)),
      schedule("schedule",
               cl::desc("Schedule, as the options of attune-set-schedule"),
               cl::value_desc("knob=value ..."), cl::cat(category)),
      output("o", cl::desc("Output file"), cl::init("-"),
             cl::value_desc("path"), cl::cat(category)) {}

Expected<int64_t> CommonOptions::getSize(const cl::opt<long long> &option,
                                         std::optional<int64_t> fallback,
                                         std::optional<Size> name) const {
  if (name && is_contained(dynamic, *name))
    return ShapedType::kDynamic;
  if (!option.getNumOccurrences()) {
    if (fallback)
      return *fallback;
    return makeError("expects --{0}, but it is not given", option.ArgStr);
  }
  constexpr int64_t limit = std::numeric_limits<int32_t>::max();
  if (option < 1 || option > limit)
    return makeError("expects --{0} to be from 1 to {1}, but got {2}",
                     option.ArgStr, limit, option.getValue());
  return option.getValue();
}

Error CommonOptions::checkWide() const {
  if (dtype == Element::F16 || dtype == Element::BF16)
    return Error::success();
  return makeError("expects --dtype to be f16 or bf16 for all but attention "
                   "without --grad, but got 8 bits");
}

Error CommonOptions::checkDynamic(ArrayRef<Size> known) const {
  auto getName = [](Size size) {
    return find_if(sizeNames,
                   [&](const auto &name) { return name.first == size; })
        ->second;
  };
  for (Size size : dynamic)
    if (!is_contained(known, size))
      return makeError("expects --dynamic of {0} to name {1}, but got '{2}'",
                       op.getValue(), join(map_range(known, getName), ", "),
                       getName(size));
  return Error::success();
}

Error CommonOptions::readSchedule(SmallVectorImpl<int64_t> &values,
                                  const KnobSet &set) const {
  if (!schedule.getNumOccurrences())
    return Error::success();
  values = set.getDefaults();
  SmallVector<StringRef> pairs;
  StringSet<> given;
  SplitString(schedule, pairs);
  for (StringRef pair : pairs) {
    auto [name, text] = pair.split('=');
    std::optional<size_t> place = set.findKnob(name);
    if (!place) {
      auto names = map_range(set.knobs,
                             [](const KnobInfo &known) { return known.name; });
      return makeError("expects a knob of --schedule to be one of {0}, but got "
                       "'{1}'",
                       join(names, ", "), name);
    }
    if (!given.insert(name).second)
      return makeError("expects one value of '{0}' in --schedule, but got "
                       "several",
                       name);
    const KnobInfo &knob = set.knobs[*place];
    std::optional<int64_t> value = knob.parse(text);
    if (!value) {
      auto allowed =
          map_range(knob.domain, [&](int64_t one) { return knob.spell(one); });
      return makeError("expects --schedule to give '{0}' one of {1}, but got "
                       "'{2}'",
                       name, join(allowed, ", "), text);
    }
    values[*place] = *value;
  }
  return Error::success();
}
