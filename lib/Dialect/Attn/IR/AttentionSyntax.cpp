// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Custom syntax of attn.attention: three operands, then clauses in any order,
// each at most once, then the types of the operands. Result types are inferred
// and written only where they carry an encoding.

#include "attune/Dialect/Attn/IR/Attn.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace attune::attn;

namespace {
using Properties = AttentionOp::Properties;

/// Reads the clauses of one op. Operands of clauses go after query, key and
/// value in the order of the definition, not in that of the text.
class ClauseParser {
public:
  ClauseParser(OpAsmParser &parser, Properties &properties, Region &score,
               Region &mask)
      : parser(parser), properties(properties), score(score), mask(mask) {}

  ParseResult parseAll();
  ParseResult resolveInto(SmallVectorImpl<Value> &operands);

private:
  /// An operand of a clause; without a type, there is none.
  struct Optional {
    OpAsmParser::UnresolvedOperand operand;
    Type type;
  };

  ParseResult parseClause(StringRef keyword, SMLoc loc);
  ParseResult parseCausal();
  ParseResult parseWindow(SMLoc loc);
  ParseResult parseAlignment(Alignment &alignment);
  ParseResult parseFloat(FloatAttr &attribute);
  ParseResult parseOrder();
  ParseResult parseVector(Optional &vector);
  ParseResult parseRegion(Region &region, bool isScore);
  ParseResult parseBlocks(bool full);

  OpAsmParser &parser;
  Properties &properties;
  Region &score, &mask;
  Optional slopes, sinks, counts, indices, fullCounts, fullIndices;
};
} // namespace

static constexpr StringRef clauses[] = {
    "lse",   "causal",   "window", "softcap", "alibi",  "sinks",      "scale",
    "order", "schedule", "score",  "mask",    "blocks", "full_blocks"};

ParseResult ClauseParser::parseAll() {
  llvm::StringSet<> seen;
  while (true) {
    SMLoc loc = parser.getCurrentLocation();
    StringRef keyword;
    if (failed(parser.parseOptionalKeyword(&keyword, clauses)))
      return success();
    if (!seen.insert(keyword).second)
      return parser.emitError(loc, "expects clause '")
             << keyword << "' once, but got it again";
    if (parseClause(keyword, loc))
      return failure();
  }
}

ParseResult ClauseParser::parseClause(StringRef keyword, SMLoc loc) {
  if (keyword == "lse") {
    properties.returnLse = parser.getBuilder().getUnitAttr();
    return success();
  }
  if (keyword == "score" || keyword == "mask")
    return parseRegion(keyword == "score" ? score : mask, keyword == "score");
  if (parser.parseLParen())
    return failure();
  ParseResult parsed = success();
  if (keyword == "causal")
    parsed = parseCausal();
  else if (keyword == "window")
    parsed = parseWindow(loc);
  else if (keyword == "softcap")
    parsed = parseFloat(properties.softcap);
  else if (keyword == "alibi")
    parsed = parseVector(slopes);
  else if (keyword == "sinks")
    parsed = parseVector(sinks);
  else if (keyword == "blocks" || keyword == "full_blocks")
    parsed = parseBlocks(keyword == "full_blocks");
  else if (keyword == "scale")
    parsed = parseFloat(properties.scale);
  else if (keyword == "order")
    parsed = parseOrder();
  else
    parsed = parser.parseCustomAttributeWithFallback(properties.schedule);
  return failure(failed(parsed) || failed(parser.parseRParen()));
}

ParseResult ClauseParser::parseAlignment(Alignment &alignment) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef keyword;
  if (parser.parseKeyword(&keyword))
    return failure();
  std::optional<Alignment> parsed = symbolizeAlignment(keyword);
  if (!parsed)
    return parser.emitError(
               loc, "expects alignment top_left or bottom_right, but got '")
           << keyword << "'";
  alignment = *parsed;
  return success();
}

ParseResult ClauseParser::parseCausal() {
  Alignment alignment;
  if (parseAlignment(alignment))
    return failure();
  properties.causal = CausalAttr::get(parser.getContext(), alignment);
  return success();
}

ParseResult ClauseParser::parseWindow(SMLoc loc) {
  auto parseSide = [&](int64_t &side) -> ParseResult {
    side = -1;
    if (succeeded(parser.parseOptionalQuestion()))
      return success();
    return parser.parseInteger(side);
  };
  int64_t left, right;
  Alignment alignment;
  if (parseSide(left) || parser.parseComma() || parseSide(right) ||
      parser.parseComma() || parseAlignment(alignment))
    return failure();
  properties.window =
      WindowAttr::getChecked([&] { return parser.emitError(loc); },
                             parser.getContext(), left, right, alignment);
  return success(properties.window != nullptr);
}

ParseResult ClauseParser::parseFloat(FloatAttr &attribute) {
  return parser.parseAttribute(attribute, parser.getBuilder().getF32Type());
}

ParseResult ClauseParser::parseOrder() {
  StringRef order;
  if (parser.parseKeyword(&order))
    return failure();
  properties.order = parser.getBuilder().getStringAttr(order);
  return success();
}

ParseResult ClauseParser::parseVector(Optional &vector) {
  return failure(parser.parseOperand(vector.operand) ||
                 parser.parseColonType(vector.type));
}

ParseResult ClauseParser::parseBlocks(bool full) {
  Optional &first = full ? fullCounts : counts,
           &second = full ? fullIndices : indices;
  if (parser.parseOperand(first.operand) || parser.parseComma() ||
      parser.parseOperand(second.operand))
    return failure();
  if (!full) {
    SmallVector<int64_t> sizes;
    auto parseSize = [&] { return parser.parseInteger(sizes.emplace_back()); };
    if (parser.parseComma() || parser.parseCommaSeparatedList(
                                   OpAsmParser::Delimiter::Square, parseSize))
      return failure();
    properties.blockSizes = parser.getBuilder().getDenseI64ArrayAttr(sizes);
  }
  return failure(parser.parseColonType(first.type) || parser.parseComma() ||
                 parser.parseType(second.type));
}

ParseResult ClauseParser::parseRegion(Region &region, bool isScore) {
  SmallVector<OpAsmParser::Argument> arguments;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseArgumentList(arguments, OpAsmParser::Delimiter::Paren))
    return failure();
  size_t expected = isScore ? 5 : 4;
  if (arguments.size() != expected)
    return parser.emitError(loc, "expects ")
           << expected << " arguments ("
           << (isScore ? "score, b, h, m, n" : "b, h, m, n") << "), but got "
           << arguments.size();
  for (auto [index, argument] : llvm::enumerate(arguments))
    argument.type = isScore && index == 0
                        ? Type(parser.getBuilder().getF32Type())
                        : parser.getBuilder().getIndexType();
  return parser.parseRegion(region, arguments);
}

ParseResult ClauseParser::resolveInto(SmallVectorImpl<Value> &operands) {
  constexpr size_t kRequired = 3;
  auto &segments = properties.operandSegmentSizes;
  std::fill_n(segments.begin(), kRequired, 1);
  Optional *optionals[] = {&slopes,  &sinks,      &counts,
                           &indices, &fullCounts, &fullIndices};
  for (auto [number, optional] : llvm::enumerate(optionals)) {
    segments[kRequired + number] = optional->type ? 1 : 0;
    if (optional->type &&
        parser.resolveOperand(optional->operand, optional->type, operands))
      return failure();
  }
  return success();
}

ParseResult AttentionOp::parse(OpAsmParser &parser, OperationState &state) {
  SmallVector<OpAsmParser::UnresolvedOperand, 3> operands;
  SmallVector<Type> types, written, inferred;
  auto &properties = state.getOrAddProperties<Properties>();
  properties.order = parser.getBuilder().getStringAttr("bhsd");
  Region *score = state.addRegion(), *mask = state.addRegion();
  ClauseParser clauseParser(parser, properties, *score, *mask);
  if (parser.parseOperandList(operands, 3) || clauseParser.parseAll() ||
      parser.parseOptionalAttrDictWithKeyword(state.attributes))
    return failure();
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseColonTypeList(types))
    return failure();
  if (types.size() != 3)
    return parser.emitError(
               loc, "expects the types of query, key and value, but got ")
           << types.size() << " types";
  if (parser.parseOptionalArrowTypeList(written) ||
      parser.resolveOperands(operands, types, loc, state.operands) ||
      clauseParser.resolveInto(state.operands))
    return failure();
  if (!written.empty()) {
    state.addTypes(written);
    return success();
  }
  if (failed(inferReturnTypes(
          parser.getContext(), parser.getEncodedSourceLoc(parser.getNameLoc()),
          state.operands, state.attributes.getDictionary(parser.getContext()),
          state.getRawProperties(), state.regions, inferred)))
    return failure();
  state.addTypes(inferred);
  return success();
}

static void printSide(OpAsmPrinter &printer, int64_t side) {
  if (side < 0)
    printer << "?";
  else
    printer << side;
}

static void printRegionClause(OpAsmPrinter &printer, StringRef keyword,
                              Region &region) {
  if (region.empty())
    return;
  printer << ' ' << keyword << " (";
  printer.printOperands(region.getArguments());
  printer << ") ";
  printer.printRegion(region, /*printEntryBlockArgs=*/false);
}

void AttentionOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getQuery() << ", " << getKey() << ", " << getValue();
  if (getReturnLse())
    printer << " lse";
  if (CausalAttr causal = getCausalAttr())
    printer << " causal(" << causal.getAlignment() << ")";
  if (WindowAttr window = getWindowAttr()) {
    printer << " window(";
    printSide(printer, window.getLeft());
    printer << ", ";
    printSide(printer, window.getRight());
    printer << ", " << window.getAlignment() << ")";
  }
  auto printFloat = [&](StringRef keyword, FloatAttr attribute) {
    if (!attribute)
      return;
    printer << ' ' << keyword << "(";
    printer.printAttributeWithoutType(attribute);
    printer << ")";
  };
  printFloat("softcap", getSoftcapAttr());
  if (Value slopes = getAlibiSlopes())
    printer << " alibi(" << slopes << " : " << slopes.getType() << ")";
  if (Value sinks = getSinks())
    printer << " sinks(" << sinks << " : " << sinks.getType() << ")";
  auto printBlocks = [&](StringRef keyword, Value counts, Value indices,
                         bool hasSizes) {
    if (!counts)
      return;
    printer << ' ' << keyword << "(" << counts << ", " << indices;
    if (hasSizes)
      printer << ", [" << *getBlockSizes() << "]";
    printer << " : " << counts.getType() << ", " << indices.getType() << ")";
  };
  printBlocks("blocks", getBlockCounts(), getBlockIndices(), true);
  printBlocks("full_blocks", getFullBlockCounts(), getFullBlockIndices(),
              false);
  printFloat("scale", getScaleAttr());
  if (getOrder() != "bhsd")
    printer << " order(" << getOrder() << ")";
  if (attune::schedule::AttentionAttr schedule = getScheduleAttr()) {
    printer << " schedule(";
    printer.printStrippedAttrOrType(schedule);
    printer << ")";
  }
  printRegionClause(printer, "score", getScore());
  printRegionClause(printer, "mask", getMask());
  printer.printOptionalAttrDictWithKeyword(
      (*this)->getDiscardableAttrDictionary().getValue());
  printer << " : " << getQuery().getType() << ", " << getKey().getType() << ", "
          << getValue().getType();
  if (llvm::any_of(getResultTypes(), [](Type type) {
        return cast<RankedTensorType>(type).getEncoding();
      }))
    printer.printOptionalArrowTypeList(getResultTypes());
}

void AttentionOp::getAsmBlockArgumentNames(Region &region,
                                           OpAsmSetValueNameFn setName) {
  StringRef names[] = {"s", "b", "h", "m", "n"};
  ArrayRef<StringRef> shown = names;
  if (&region == &getMask())
    shown = shown.drop_front();
  for (auto [argument, name] : llvm::zip(region.getArguments(), shown))
    setName(argument, name);
}

void AttentionOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getResult(), "o");
  if (getLse())
    setName(getLse(), "lse");
}
