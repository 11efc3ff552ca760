// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the command line of attune-gen and says what is wrong with it.

#include "Options.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace llvm;
using namespace attune;
using namespace attune::gen;
using mlir::ShapedType;

namespace {
enum class Element { F16, BF16 };
enum class Mask { None, Causal, CausalBottomRight };
enum class Size { Batch, Heads, SeqQ, SeqK };

struct Options {
  cl::OptionCategory category{"attune-gen options"};
  cl::opt<std::string> op{"op", cl::desc("Operation: attention"), cl::Required,
                          cl::value_desc("name"), cl::cat(category)};
  cl::opt<long long> batch{"batch", cl::desc("Batch size"), cl::cat(category)};
  cl::opt<long long> heads{"heads", cl::desc("Heads of query"),
                           cl::cat(category)};
  cl::opt<long long> kvHeads{"kv-heads",
                             cl::desc("Heads of key and value (as query)"),
                             cl::cat(category)};
  cl::opt<long long> seqQ{"seq-q", cl::desc("Length of query"),
                          cl::cat(category)};
  cl::opt<long long> seqK{"seq-k",
                          cl::desc("Length of key and value (as query)"),
                          cl::cat(category)};
  cl::opt<long long> headDim{"head-dim", cl::desc("Head size of query and key"),
                             cl::Required, cl::cat(category)};
  cl::opt<long long> headDimV{"head-dim-v",
                              cl::desc("Head size of value (as query)"),
                              cl::cat(category)};
  cl::opt<Element> dtype{
      "dtype", cl::desc("Element type of query, key and value"), cl::Required,
      cl::values(clEnumValN(Element::F16, "f16", "IEEE half"),
                 clEnumValN(Element::BF16, "bf16", "bfloat16")),
      cl::cat(category)};
  cl::opt<Mask> mask{
      "mask", cl::desc("Mask"), cl::init(Mask::None),
      cl::values(
          clEnumValN(Mask::None, "none", "every query sees every key"),
          clEnumValN(Mask::Causal, "causal", "the first query sees one key"),
          clEnumValN(Mask::CausalBottomRight, "causal-bottom-right",
                     "the last query sees all keys")),
      cl::cat(category)};
  cl::opt<std::string> window{
      "window",
      cl::desc("Keys seen before and after the bottom-right diagonal; `?` is "
               "unbounded"),
      cl::value_desc("left,right"), cl::cat(category)};
  cl::opt<std::string> softcap{"softcap",
                               cl::desc("Bound of scores, through tanh"),
                               cl::value_desc("number"), cl::cat(category)};
  cl::opt<std::string> scale{"scale",
                             cl::desc("Factor of scores (1/sqrt(head size))"),
                             cl::value_desc("number"), cl::cat(category)};
  cl::opt<bool> alibi{"alibi", cl::desc("Take ALiBi slopes, one per head"),
                      cl::cat(category)};
  cl::opt<bool> sinks{"sinks", cl::desc("Take attention sinks, one per head"),
                      cl::cat(category)};
  cl::opt<bool> lse{"lse",
                    cl::desc("Return the log of the sum of exponentials"),
                    cl::cat(category)};
  cl::opt<std::string> order{
      "order", cl::desc("Order of dimensions: batch, head, sequence, size"),
      cl::init("bhsd"), cl::value_desc("letters"), cl::cat(category)};
  cl::list<Size> dynamic{
      "dynamic", cl::desc("Sizes known at run time only"), cl::CommaSeparated,
      cl::values(clEnumValN(Size::Batch, "batch", "batch size"),
                 clEnumValN(Size::Heads, "heads", "heads of all operands"),
                 clEnumValN(Size::SeqQ, "seq-q", "length of query"),
                 clEnumValN(Size::SeqK, "seq-k", "length of key and value")),
      cl::cat(category)};
  cl::opt<bool> strided{
      "strided",
      cl::desc("Strides of query, key and value known at run time only, but "
               "for the innermost"),
      cl::cat(category)};
  cl::opt<std::string> schedule{
      "schedule", cl::desc("Schedule, as the options of attune-set-schedule"),
      cl::value_desc("knob=value ..."), cl::cat(category)};
  cl::opt<std::string> output{"o", cl::desc("Output file"), cl::init("-"),
                              cl::value_desc("path"), cl::cat(category)};

  Expected<int64_t> getSize(const cl::opt<long long> &option,
                            std::optional<int64_t> fallback,
                            std::optional<Size> name) const;
  Expected<std::optional<float>>
  getNumber(const cl::opt<std::string> &option) const;
  Error readSizes(Problem &problem) const;
  Error readWindow(Problem &problem) const;
  Error readSchedule(Problem &problem) const;
};
} // namespace

template <typename... Ts>
static Error makeError(const char *format, Ts &&...values) {
  return createStringError(formatv(format, std::forward<Ts>(values)...).str());
}

/// A size: dynamic if --dynamic says so, else the option, else the fallback.
Expected<int64_t> Options::getSize(const cl::opt<long long> &option,
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

Expected<std::optional<float>>
Options::getNumber(const cl::opt<std::string> &option) const {
  if (!option.getNumOccurrences())
    return std::nullopt;
  double number;
  if (!to_float(option.getValue(), number) || !std::isfinite(number))
    return makeError("expects --{0} to be a number, but got '{1}'",
                     option.ArgStr, option.getValue());
  return static_cast<float>(number);
}

Error Options::readSizes(Problem &problem) const {
  auto read = [](int64_t &size, Expected<int64_t> got) -> Error {
    if (!got)
      return got.takeError();
    size = *got;
    return Error::success();
  };
  if (Error error = read(problem.batch, getSize(batch, {}, Size::Batch)))
    return error;
  if (Error error = read(problem.headsQ, getSize(heads, {}, Size::Heads)))
    return error;
  if (Error error =
          read(problem.headsKV, getSize(kvHeads, problem.headsQ, Size::Heads)))
    return error;
  if (Error error = read(problem.seqQ, getSize(seqQ, {}, Size::SeqQ)))
    return error;
  // A dynamic length of query says nothing about that of key.
  std::optional<int64_t> seqKFallback;
  if (ShapedType::isStatic(problem.seqQ))
    seqKFallback = problem.seqQ;
  if (Error error = read(problem.seqK, getSize(seqK, seqKFallback, Size::SeqK)))
    return error;
  if (Error error = read(problem.headDimQK, getSize(headDim, {}, {})))
    return error;
  return read(problem.headDimV, getSize(headDimV, problem.headDimQK, {}));
}

Error Options::readWindow(Problem &problem) const {
  if (!window.getNumOccurrences())
    return Error::success();
  SmallVector<StringRef> sides;
  StringRef(window).split(sides, ',');
  std::pair<int64_t, int64_t> parsed;
  auto parseSide = [](StringRef text, int64_t &side) {
    if (text == "?") {
      side = -1;
      return true;
    }
    return to_integer(text, side, 10) && side >= 0;
  };
  if (sides.size() != 2 || !parseSide(sides[0], parsed.first) ||
      !parseSide(sides[1], parsed.second))
    return makeError("expects --window to be two numbers of keys or `?`, as in "
                     "128,0, but got '{0}'",
                     window.getValue());
  problem.window = parsed;
  return Error::success();
}

Error Options::readSchedule(Problem &problem) const {
  if (!schedule.getNumOccurrences())
    return Error::success();
  const KnobSet &set = schedule::AttentionAttr::getSet();
  problem.schedule = set.getDefaults();
  SmallVector<StringRef> pairs;
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
    const KnobInfo &knob = set.knobs[*place];
    std::optional<int64_t> value = knob.parse(text);
    if (!value) {
      auto values =
          map_range(knob.domain, [&](int64_t one) { return knob.spell(one); });
      return makeError("expects --schedule to give '{0}' one of {1}, but got "
                       "'{2}'",
                       name, join(values, ", "), text);
    }
    problem.schedule[*place] = *value;
  }
  return Error::success();
}

Expected<Problem> attune::gen::parseCommandLine(int argc, char **argv) {
  Options options;
  cl::HideUnrelatedOptions(options.category);
  cl::ParseCommandLineOptions(
      argc, argv,
      "Writes one attention problem as MLIR: func.func @attention\n");
  if (options.op != "attention")
    return makeError("expects --op to be attention, but got '{0}'",
                     options.op.getValue());
  Problem problem{};
  if (Error error = options.readSizes(problem))
    return error;
  if (Error error = options.readWindow(problem))
    return error;
  if (Error error = options.readSchedule(problem))
    return error;
  Expected<std::optional<float>> softcap = options.getNumber(options.softcap);
  if (!softcap)
    return softcap.takeError();
  Expected<std::optional<float>> scale = options.getNumber(options.scale);
  if (!scale)
    return scale.takeError();
  problem.softcap = *softcap;
  problem.scale = *scale;
  if (!attn::AttentionOp::isValidOrder(options.order))
    return makeError("expects --order to be a permutation of the letters b, h, "
                     "s and d, but got '{0}'",
                     options.order.getValue());
  problem.order = options.order;
  if (options.mask != Mask::None)
    problem.causal = options.mask == Mask::Causal
                         ? attn::Alignment::TopLeft
                         : attn::Alignment::BottomRight;
  problem.isBFloat16 = options.dtype == Element::BF16;
  problem.alibi = options.alibi;
  problem.sinks = options.sinks;
  problem.lse = options.lse;
  problem.strided = options.strided;
  problem.outputPath = options.output;
  return problem;
}
