// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Custom syntax of attention ops: operands, then clauses in any order, each at
// most once, then the types of the operands. Result types are inferred and
// written only where they are others.

#include "attune/Dialect/Attn/IR/Attn.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace attune::attn;

namespace {
/// An operand of a clause; without a type, there is none.
struct ClauseOperand {
  OpAsmParser::UnresolvedOperand operand;
  Type type;
};

/// Reads the clauses of one op: those that all attention ops have, and those of
/// its own. Operands of clauses go after the others in the order of the
/// definition, not in that of the text.
class ClauseParser {
public:
  /// Reads a clause of the op's own, behind its keyword.
  using ParseOwn = llvm::function_ref<ParseResult(StringRef keyword)>;

  ClauseParser(OpAsmParser &parser, OperationState &state)
      : parser(parser), score(*state.addRegion()), mask(*state.addRegion()),
        order(parser.getBuilder().getStringAttr("bhsd")) {}

  ParseResult parseAll(ArrayRef<StringRef> ownKeywords, ParseOwn parseOwn);
  ParseResult parseVector(ClauseOperand &vector);
  ParseResult parseScales(ClauseOperand &scales, DenseI64ArrayAttr &blocks);
  /// Adds one operand, or none; `segment` becomes how many.
  ParseResult resolve(const ClauseOperand &operand, int32_t &segment,
                      SmallVectorImpl<Value> &operands);
  /// Adds slopes, sinks and lists, whose segments are the six from `segments`.
  ParseResult resolveShared(MutableArrayRef<int32_t> segments,
                            SmallVectorImpl<Value> &operands);

  template <typename PropertiesT>
  void setShared(PropertiesT &properties) const {
    properties.order = order;
    properties.scale = scale;
    properties.softcap = softcap;
    properties.causal = causal;
    properties.window = window;
    properties.blockSizes = blockSizes;
  }

private:
  ParseResult parseClause(StringRef keyword, SMLoc loc);
  ParseResult parseCausal();
  ParseResult parseWindow(SMLoc loc);
  ParseResult parseAlignment(Alignment &alignment);
  ParseResult parseFloat(FloatAttr &attribute);
  ParseResult parseOrder();
  ParseResult parseRegion(Region &region, bool isScore);
  ParseResult parseBlocks(bool full);
  ParseResult parseSizes(DenseI64ArrayAttr &sizes);

  OpAsmParser &parser;
  Region &score, &mask;
  StringAttr order;
  FloatAttr scale, softcap;
  CausalAttr causal;
  WindowAttr window;
  DenseI64ArrayAttr blockSizes;
  ClauseOperand slopes, sinks, counts, indices, fullCounts, fullIndices;
};
} // namespace

static constexpr StringRef sharedClauses[] = {
    "causal", "window", "softcap", "alibi",  "sinks",      "scale",
    "order",  "score",  "mask",    "blocks", "full_blocks"};

ParseResult ClauseParser::parseAll(ArrayRef<StringRef> ownKeywords,
                                   ParseOwn parseOwn) {
  SmallVector<StringRef> keywords = llvm::to_vector(ArrayRef(sharedClauses));
  llvm::append_range(keywords, ownKeywords);
  llvm::StringSet<> seen;
  while (true) {
    SMLoc loc = parser.getCurrentLocation();
    StringRef keyword;
    if (failed(parser.parseOptionalKeyword(&keyword, keywords)))
      return success();
    if (!seen.insert(keyword).second)
      return parser.emitError(loc, "expects clause '")
             << keyword << "' once, but got it again";
    bool isOwn = llvm::is_contained(ownKeywords, keyword);
    if (isOwn ? parseOwn(keyword) : parseClause(keyword, loc))
      return failure();
  }
}

ParseResult ClauseParser::parseClause(StringRef keyword, SMLoc loc) {
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
    parsed = parseFloat(softcap);
  else if (keyword == "alibi")
    parsed = parseVector(slopes);
  else if (keyword == "sinks")
    parsed = parseVector(sinks);
  else if (keyword == "blocks" || keyword == "full_blocks")
    parsed = parseBlocks(keyword == "full_blocks");
  else if (keyword == "scale")
    parsed = parseFloat(scale);
  else
    parsed = parseOrder();
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
  causal = CausalAttr::get(parser.getContext(), alignment);
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
  window = WindowAttr::getChecked([&] { return parser.emitError(loc); },
                                  parser.getContext(), left, right, alignment);
  return success(window != nullptr);
}

ParseResult ClauseParser::parseFloat(FloatAttr &attribute) {
  return parser.parseAttribute(attribute, parser.getBuilder().getF32Type());
}

ParseResult ClauseParser::parseOrder() {
  StringRef letters;
  if (parser.parseKeyword(&letters))
    return failure();
  order = parser.getBuilder().getStringAttr(letters);
  return success();
}

ParseResult ClauseParser::parseVector(ClauseOperand &vector) {
  return failure(parser.parseOperand(vector.operand) ||
                 parser.parseColonType(vector.type));
}

ParseResult ClauseParser::parseSizes(DenseI64ArrayAttr &attribute) {
  SmallVector<int64_t> sizes;
  auto parseSize = [&] { return parser.parseInteger(sizes.emplace_back()); };
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square, parseSize))
    return failure();
  attribute = parser.getBuilder().getDenseI64ArrayAttr(sizes);
  return success();
}

ParseResult ClauseParser::parseScales(ClauseOperand &scales,
                                      DenseI64ArrayAttr &blocks) {
  if (parser.parseOperand(scales.operand))
    return failure();
  if (succeeded(parser.parseOptionalComma()) && parseSizes(blocks))
    return failure();
  return parser.parseColonType(scales.type);
}

ParseResult ClauseParser::parseBlocks(bool full) {
  ClauseOperand &first = full ? fullCounts : counts,
                &second = full ? fullIndices : indices;
  if (parser.parseOperand(first.operand) || parser.parseComma() ||
      parser.parseOperand(second.operand))
    return failure();
  if (!full && (parser.parseComma() || parseSizes(blockSizes)))
    return failure();
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

ParseResult ClauseParser::resolve(const ClauseOperand &operand,
                                  int32_t &segment,
                                  SmallVectorImpl<Value> &operands) {
  segment = operand.type ? 1 : 0;
  if (!operand.type)
    return success();
  return parser.resolveOperand(operand.operand, operand.type, operands);
}

ParseResult ClauseParser::resolveShared(MutableArrayRef<int32_t> segments,
                                        SmallVectorImpl<Value> &operands) {
  const ClauseOperand *shared[] = {&slopes,  &sinks,      &counts,
                                   &indices, &fullCounts, &fullIndices};
  for (auto [operand, segment] : llvm::zip_equal(shared, segments))
    if (resolve(*operand, segment, operands))
      return failure();
  return success();
}

/// Takes the result types that are written, or else those that are inferred.
template <typename OpT>
static ParseResult setResultTypes(OpAsmParser &parser, OperationState &state,
                                  ArrayRef<Type> written) {
  SmallVector<Type> inferred;
  // Inference also says what is wrong with operands.
  if (failed(OpT::inferReturnTypes(
          parser.getContext(), parser.getEncodedSourceLoc(parser.getNameLoc()),
          state.operands, state.attributes.getDictionary(parser.getContext()),
          state.getRawProperties(), state.regions, inferred)))
    return failure();
  state.addTypes(written.empty() ? ArrayRef<Type>(inferred) : written);
  return success();
}

ParseResult AttentionOp::parse(OpAsmParser &parser, OperationState &state) {
  SmallVector<OpAsmParser::UnresolvedOperand, 3> operands;
  SmallVector<Type> types, written;
  auto &properties = state.getOrAddProperties<Properties>();
  ClauseOperand queryLengths, keyLengths, queryStarts, keyStarts, pages,
      queryScales, keyScales, valueScales;
  ClauseParser clauses(parser, state);
  auto parseOwn = [&](StringRef keyword) -> ParseResult {
    if (keyword == "lse" || keyword == "batch_invariant") {
      (keyword == "lse" ? properties.returnLse : properties.batchInvariant) =
          parser.getBuilder().getUnitAttr();
      return success();
    }
    if (parser.parseLParen())
      return failure();
    ParseResult parsed =
        keyword == "schedule"
            ? parser.parseCustomAttributeWithFallback(properties.schedule)
        : keyword == "latent"
            ? parser.parseAttribute(properties.latent,
                                    parser.getBuilder().getI64Type())
        : keyword == "weights" ? parser.parseAttribute(properties.weights)
        : keyword == "query_scales"
            ? clauses.parseScales(queryScales, properties.queryScaleBlocks)
        : keyword == "key_scales"
            ? clauses.parseScales(keyScales, properties.keyScaleBlocks)
        : keyword == "value_scales"
            ? clauses.parseScales(valueScales, properties.valueScaleBlocks)
            : clauses.parseVector(keyword == "query_lengths"  ? queryLengths
                                  : keyword == "key_lengths"  ? keyLengths
                                  : keyword == "query_starts" ? queryStarts
                                  : keyword == "key_starts"   ? keyStarts
                                                              : pages);
    return failure(failed(parsed) || failed(parser.parseRParen()));
  };
  if (parser.parseOperandList(operands, 3) ||
      clauses.parseAll({"lse", "query_lengths", "key_lengths", "query_starts",
                        "key_starts", "pages", "latent", "weights",
                        "batch_invariant", "query_scales", "key_scales",
                        "value_scales", "schedule"},
                       parseOwn) ||
      parser.parseOptionalAttrDictWithKeyword(state.attributes))
    return failure();
  clauses.setShared(properties);
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseColonTypeList(types))
    return failure();
  if (types.size() != 3)
    return parser.emitError(
               loc, "expects the types of query, key and value, but got ")
           << types.size() << " types";
  MutableArrayRef<int32_t> segments(properties.operandSegmentSizes);
  std::fill_n(segments.begin(), 3, 1);
  if (parser.parseOptionalArrowTypeList(written) ||
      parser.resolveOperands(operands, types, loc, state.operands) ||
      clauses.resolveShared(segments.slice(3, 6), state.operands) ||
      clauses.resolve(queryLengths, segments[9], state.operands) ||
      clauses.resolve(keyLengths, segments[10], state.operands) ||
      clauses.resolve(queryStarts, segments[11], state.operands) ||
      clauses.resolve(keyStarts, segments[12], state.operands) ||
      clauses.resolve(pages, segments[13], state.operands) ||
      clauses.resolve(queryScales, segments[14], state.operands) ||
      clauses.resolve(keyScales, segments[15], state.operands) ||
      clauses.resolve(valueScales, segments[16], state.operands))
    return failure();
  return setResultTypes<AttentionOp>(parser, state, written);
}

namespace {
/// The gradients that are wanted.
struct WantedGradients {
  bool query = true, key = true, value = true;
  SmallVector<OpAsmParser::UnresolvedOperand> tensors;
  SmallVector<Type> types;
  SMLoc loc;

  ParseResult parse(OpAsmParser &parser);
};
} // namespace

ParseResult WantedGradients::parse(OpAsmParser &parser) {
  query = key = value = false;
  loc = parser.getCurrentLocation();
  auto parsePart = [&]() -> ParseResult {
    SMLoc start = parser.getCurrentLocation();
    OpAsmParser::UnresolvedOperand tensor;
    OptionalParseResult parsed = parser.parseOptionalOperand(tensor);
    if (parsed.has_value()) {
      tensors.push_back(tensor);
      return *parsed;
    }
    StringRef name;
    if (parser.parseKeyword(&name))
      return failure();
    bool *part = llvm::StringSwitch<bool *>(name)
                     .Case("query", &query)
                     .Case("key", &key)
                     .Case("value", &value)
                     .Default(nullptr);
    if (!part)
      return parser.emitError(
                 start, "expects query, key, value or a tensor, but got '")
             << name << "'";
    if (*part)
      return parser.emitError(start, "expects '")
             << name << "' once, but got it again";
    *part = true;
    return success();
  };
  if (parser.parseLParen() || parser.parseCommaSeparatedList(parsePart))
    return failure();
  if (!tensors.empty() && parser.parseColonTypeList(types))
    return failure();
  return parser.parseRParen();
}

ParseResult AttentionGradOp::parse(OpAsmParser &parser, OperationState &state) {
  constexpr size_t kRequired = 6;
  SmallVector<OpAsmParser::UnresolvedOperand, kRequired> operands;
  SmallVector<Type> types, written;
  ClauseOperand lseGrad;
  WantedGradients wanted;
  auto &properties = state.getOrAddProperties<Properties>();
  ClauseParser clauses(parser, state);
  auto parseOwn = [&](StringRef keyword) -> ParseResult {
    if (keyword == "deterministic") {
      properties.deterministic = parser.getBuilder().getUnitAttr();
      return success();
    }
    if (keyword == "wrt")
      return wanted.parse(parser);
    if (parser.parseLParen())
      return failure();
    ParseResult parsed =
        keyword == "lse_grad"
            ? clauses.parseVector(lseGrad)
            : parser.parseCustomAttributeWithFallback(properties.schedule);
    return failure(failed(parsed) || failed(parser.parseRParen()));
  };
  if (parser.parseOperandList(operands, kRequired) ||
      clauses.parseAll({"deterministic", "lse_grad", "wrt", "schedule"},
                       parseOwn) ||
      parser.parseOptionalAttrDictWithKeyword(state.attributes))
    return failure();
  clauses.setShared(properties);
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseColonTypeList(types))
    return failure();
  if (types.size() != kRequired)
    return parser.emitError(loc, "expects the types of query, key, value, "
                                 "output, lse and output_grad, but got ")
           << types.size() << " types";
  MutableArrayRef<int32_t> segments(properties.operandSegmentSizes);
  std::fill_n(segments.begin(), kRequired, 1);
  if (parser.parseOptionalArrowTypeList(written) ||
      parser.resolveOperands(operands, types, loc, state.operands) ||
      clauses.resolve(lseGrad, segments[kRequired], state.operands) ||
      clauses.resolveShared(segments.slice(kRequired + 1, 6), state.operands) ||
      parser.resolveOperands(wanted.tensors, wanted.types, wanted.loc,
                             state.operands))
    return failure();
  auto tensors = static_cast<int32_t>(wanted.tensors.size());
  segments.back() = tensors;
  properties.resultSegmentSizes = {wanted.query, wanted.key, wanted.value,
                                   tensors};
  return setResultTypes<AttentionGradOp>(parser, state, written);
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

/// Prints the clauses that all attention ops have, up to the schedule.
static void printShared(OpAsmPrinter &printer, AttentionOpInterface op) {
  if (CausalAttr causal = op.getCausalAttr())
    printer << " causal(" << causal.getAlignment() << ")";
  if (WindowAttr window = op.getWindowAttr()) {
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
  printFloat("softcap", op.getSoftcapAttr());
  if (Value slopes = op.getAlibiSlopes())
    printer << " alibi(" << slopes << " : " << slopes.getType() << ")";
  if (Value sinks = op.getSinks())
    printer << " sinks(" << sinks << " : " << sinks.getType() << ")";
  auto printBlocks = [&](StringRef keyword, Value counts, Value indices,
                         bool hasSizes) {
    if (!counts)
      return;
    printer << ' ' << keyword << "(" << counts << ", " << indices;
    if (hasSizes)
      printer << ", [" << *op.getBlockSizes() << "]";
    printer << " : " << counts.getType() << ", " << indices.getType() << ")";
  };
  printBlocks("blocks", op.getBlockCounts(), op.getBlockIndices(), true);
  printBlocks("full_blocks", op.getFullBlockCounts(), op.getFullBlockIndices(),
              false);
  printFloat("scale", op.getScaleAttr());
  if (op.getOrder() != "bhsd")
    printer << " order(" << op.getOrder() << ")";
}

/// Prints the rest: schedule, regions, attributes and types.
template <typename OpT>
static void printEnd(OpAsmPrinter &printer, OpT op, TypeRange operandTypes,
                     bool writesTypes = false) {
  if (auto schedule = op.getScheduleAttr()) {
    printer << " schedule(";
    printer.printStrippedAttrOrType(schedule);
    printer << ")";
  }
  printRegionClause(printer, "score", op.getScore());
  printRegionClause(printer, "mask", op.getMask());
  printer.printOptionalAttrDictWithKeyword(
      op->getDiscardableAttrDictionary().getValue());
  printer << " : " << operandTypes;
  if (writesTypes || llvm::any_of(op->getResultTypes(), [](Type type) {
        return cast<RankedTensorType>(type).getEncoding();
      }))
    printer.printOptionalArrowTypeList(op->getResultTypes());
}

void AttentionOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getQuery() << ", " << getKey() << ", " << getValue();
  if (getReturnLse())
    printer << " lse";
  for (auto [keyword, tensor] :
       {std::pair<StringRef, Value>{"query_lengths", getQueryLengths()},
        {"key_lengths", getKeyLengths()},
        {"query_starts", getQueryStarts()},
        {"key_starts", getKeyStarts()},
        {"pages", getPages()}})
    if (tensor)
      printer << ' ' << keyword << "(" << tensor << " : " << tensor.getType()
              << ")";
  if (std::optional<int64_t> latent = getLatent())
    printer << " latent(" << *latent << ")";
  if (std::optional<Type> weights = getWeights())
    printer << " weights(" << *weights << ")";
  printer << (getBatchInvariant() ? " batch_invariant" : "");
  for (const Scales &scales : getScales(*this)) {
    printer << ' ' << scales.name << "_scales(" << scales.scales;
    if (!scales.blocks.empty())
      printer << ", [" << scales.blocks << "]";
    printer << " : " << scales.scales.getType() << ")";
  }
  printShared(printer, *this);
  bool isDefault =
      getResult().getType().getElementType() ==
      getDefaultResultElement(getQuery().getType().getElementType());
  printEnd(printer, *this, getOperands().take_front(3).getTypes(),
           /*writesTypes=*/!isDefault);
}

void AttentionGradOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getOperands().take_front(6);
  if (getDeterministic())
    printer << " deterministic";
  if (Value lseGrad = getLseGrad())
    printer << " lse_grad(" << lseGrad << " : " << lseGrad.getType() << ")";
  bool isDefault = getQueryGrad() && getKeyGrad() && getValueGrad();
  if (!isDefault || !getWrt().empty()) {
    printer << " wrt(";
    llvm::ListSeparator separator;
    for (auto [name, grad] :
         {std::pair<StringRef, Value>{"query", getQueryGrad()},
          {"key", getKeyGrad()},
          {"value", getValueGrad()}})
      if (grad)
        printer << StringRef(separator) << name;
    for (Value tensor : getWrt())
      printer << StringRef(separator) << tensor;
    if (!getWrt().empty())
      printer << " : " << getWrt().getTypes();
    printer << ")";
  }
  printShared(printer, *this);
  printEnd(printer, *this, getOperands().take_front(6).getTypes());
}

static void nameArguments(AttentionOpInterface op, Region &region,
                          OpAsmSetValueNameFn setName) {
  StringRef names[] = {"s", "b", "h", "m", "n"};
  ArrayRef<StringRef> shown = names;
  if (&region == &op.getMask())
    shown = shown.drop_front();
  for (auto [argument, name] : llvm::zip(region.getArguments(), shown))
    setName(argument, name);
}

void AttentionOp::getAsmBlockArgumentNames(Region &region,
                                           OpAsmSetValueNameFn setName) {
  nameArguments(*this, region, setName);
}

void AttentionGradOp::getAsmBlockArgumentNames(Region &region,
                                               OpAsmSetValueNameFn setName) {
  nameArguments(*this, region, setName);
}

void AttentionOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getResult(), "o");
  if (getLse())
    setName(getLse(), "lse");
}

void AttentionGradOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  for (auto [name, grad] : {std::pair<StringRef, Value>{"dq", getQueryGrad()},
                            {"dk", getKeyGrad()},
                            {"dv", getValueGrad()}})
    if (grad)
      setName(grad, name);
  if (!getWrtGrads().empty())
    setName(getWrtGrads().front(), "dwrt");
}
