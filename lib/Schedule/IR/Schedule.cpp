// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What all attributes of the schedule dialect share.

#include "attune/Schedule/IR/Schedule.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attune;
using namespace attune::schedule;

/// `<blockM = 64, overlap = softmax>`: fields in any order, each at most once.
template <typename AttrT> static Attribute parse(AsmParser &parser) {
  const KnobSet &set = AttrT::getSet();
  SmallVector<int64_t> values = set.getDefaults();
  llvm::StringSet<> seen;
  SMLoc start = parser.getCurrentLocation();
  auto parseOne = [&]() -> ParseResult {
    SMLoc loc = parser.getCurrentLocation();
    StringRef field;
    if (parser.parseKeyword(&field))
      return failure();
    const auto *knob = llvm::find_if(
        set.knobs, [&](const KnobInfo &known) { return known.field == field; });
    if (knob == set.knobs.end())
      return parser.emitError(loc, "expects a tunable of ")
             << set.name << ", but got '" << field << "'";
    if (!seen.insert(field).second)
      return parser.emitError(loc, "expects each tunable once, but got '")
             << field << "' again";
    int64_t &value = values[knob - set.knobs.begin()];
    if (parser.parseEqual())
      return failure();
    if (knob->names.empty())
      return parser.parseInteger(value);
    std::string name;
    loc = parser.getCurrentLocation();
    if (parser.parseKeywordOrString(&name))
      return failure();
    std::optional<int64_t> parsed =
        KnobSet::parseValue([&] { return parser.emitError(loc); }, *knob, name);
    if (!parsed)
      return failure();
    value = *parsed;
    return success();
  };
  // Not a list with delimiters: without the first one upstream's parser says
  // so, and succeeds.
  if (parser.parseLess())
    return {};
  if (failed(parser.parseOptionalGreater()) &&
      (parser.parseCommaSeparatedList(parseOne) || parser.parseGreater()))
    return {};
  return AttrT::getChecked([&] { return parser.emitError(start); },
                           parser.getContext(), values);
}

static void print(AsmPrinter &printer, ScheduleAttrInterface schedule) {
  printer << "<";
  bool first = true;
  for (auto [knob, value] :
       llvm::zip_equal(schedule.getKnobSet().knobs, schedule.getValues())) {
    if (value == knob.init)
      continue;
    printer << (first ? "" : ", ") << knob.field << " = ";
    first = false;
    if (knob.names.empty())
      printer << value;
    else
      printer.printKeywordOrString(knob.names[value]);
  }
  printer << ">";
}

#include "attune/Schedule/IR/ScheduleDialect.cpp.inc"
#include "attune/Schedule/IR/ScheduleEnums.cpp.inc"
#include "attune/Schedule/IR/ScheduleInterfaces.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "attune/Schedule/IR/ScheduleAttrs.cpp.inc"

void ScheduleDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "attune/Schedule/IR/ScheduleAttrs.cpp.inc"
      >();
}

void ScheduleDialect::initialize() { registerAttributes(); }

template <typename... Attrs> static SmallVector<const KnobSet *> collectSets() {
  return {&Attrs::getSet()...};
}

ArrayRef<const KnobSet *> attune::getKnobSets() {
  static const SmallVector<const KnobSet *> sets = collectSets<
#define GET_ATTRDEF_LIST
#include "attune/Schedule/IR/ScheduleAttrs.cpp.inc"
      >();
  return sets;
}
