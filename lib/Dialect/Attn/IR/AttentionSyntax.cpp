// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the syntax of attention ops: operands, then clauses in any order, each
// at most once, then the types of the operands. Result types are inferred and
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
  /// Adds slopes, sinks, lists and what dropout draws from, whose segments are
  /// the kSharedOperands from `segments`.
  ParseResult resolveShared(MutableArrayRef<int32_t> segments,
                            SmallVectorImpl<Value> &operands);

  static constexpr size_t kSharedOperands = 7;

  template <typename PropertiesT>
  void setShared(PropertiesT &properties) const {
    properties.order = order;
    properties.scale = scale;
    properties.softcap = softcap;
    properties.dropoutProbability = dropoutProbability;
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
  ParseResult parseDropout();

  OpAsmParser &parser;
  Region &score, &mask;
  StringAttr order;
  FloatAttr scale, softcap, dropoutProbability;
  CausalAttr causal;
  WindowAttr window;
  DenseI64ArrayAttr blockSizes;
  ClauseOperand slopes, sinks, counts, indices, fullCounts, fullIndices,
      dropout;
};
} // namespace

static constexpr StringRef sharedClauses[] = {
    "causal", "window", "softcap", "alibi",  "sinks",       "scale",
    "order",  "score",  "mask",    "blocks", "full_blocks", "dropout"};

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
  else if (keyword == "dropout")
    parsed = parseDropout();
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

ParseResult ClauseParser::parseDropout() {
  return failure(parser.parseOperand(dropout.operand) || parser.parseComma() ||
                 parseFloat(dropoutProbability) ||
                 parser.parseColonType(dropout.type));
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
  const ClauseOperand *shared[kSharedOperands] = {
      &slopes, &sinks, &counts, &indices, &fullCounts, &fullIndices, &dropout};
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

/// Reads which of key and value are packed.
static ParseResult parsePacked(OpAsmParser &parser,
                               AttentionOp::Properties &properties) {
  auto parsePart = [&]() -> ParseResult {
    SMLoc loc = parser.getCurrentLocation();
    StringRef name;
    if (parser.parseKeyword(&name))
      return failure();
    if (name != "key" && name != "value")
      return parser.emitError(loc, "expects key or value, but got '")
             << name << "'";
    UnitAttr &part =
        name == "key" ? properties.packedKey : properties.packedValue;
    if (part)
      return parser.emitError(loc, "expects '")
             << name << "' once, but got it again";
    part = parser.getBuilder().getUnitAttr();
    return success();
  };
  return parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren,
                                        parsePart);
}

ParseResult AttentionOp::parse(OpAsmParser &parser, OperationState &state) {
  SmallVector<OpAsmParser::UnresolvedOperand, 3> operands;
  SmallVector<Type> types, written;
  auto &properties = state.getOrAddProperties<Properties>();
  ClauseOperand queryLengths, keyLengths, queryStarts, keyStarts, pages,
      queryScales, keyScales, valueScales, keyZeros, valueZeros, resultScales;
  ClauseParser clauses(parser, state);
  auto parseOwn = [&](StringRef keyword) -> ParseResult {
    if (keyword == "lse" || keyword == "batch_invariant") {
      (keyword == "lse" ? properties.returnLse : properties.batchInvariant) =
          parser.getBuilder().getUnitAttr();
      return success();
    }
    if (keyword == "packed")
      return parsePacked(parser, properties);
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
            : clauses.parseVector(keyword == "query_lengths"   ? queryLengths
                                  : keyword == "key_lengths"   ? keyLengths
                                  : keyword == "query_starts"  ? queryStarts
                                  : keyword == "key_starts"    ? keyStarts
                                  : keyword == "key_zeros"     ? keyZeros
                                  : keyword == "value_zeros"   ? valueZeros
                                  : keyword == "result_scales" ? resultScales
                                                               : pages);
    return failure(failed(parsed) || failed(parser.parseRParen()));
  };
  if (parser.parseOperandList(operands, 3) ||
      clauses.parseAll({"lse", "query_lengths", "key_lengths", "query_starts",
                        "key_starts", "pages", "latent", "weights",
                        "batch_invariant", "packed", "query_scales",
                        "key_scales", "value_scales", "result_scales",
                        "key_zeros", "value_zeros", "schedule"},
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
      clauses.resolveShared(segments.slice(3, ClauseParser::kSharedOperands),
                            state.operands))
    return failure();
  ClauseOperand *own[] = {&queryLengths, &keyLengths,  &queryStarts,
                          &keyStarts,    &pages,       &queryScales,
                          &keyScales,    &valueScales, &keyZeros,
                          &valueZeros,   &resultScales};
  for (auto [operand, segment] : llvm::zip_equal(
           own, segments.drop_front(3 + ClauseParser::kSharedOperands)))
    if (clauses.resolve(*operand, segment, state.operands))
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
  ClauseOperand lseGrad, queryLengths, keyLengths, queryStarts, keyStarts;
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
        keyword == "schedule"
            ? parser.parseCustomAttributeWithFallback(properties.schedule)
            : clauses.parseVector(keyword == "query_lengths"  ? queryLengths
                                  : keyword == "key_lengths"  ? keyLengths
                                  : keyword == "query_starts" ? queryStarts
                                  : keyword == "key_starts"   ? keyStarts
                                                              : lseGrad);
    return failure(failed(parsed) || failed(parser.parseRParen()));
  };
  if (parser.parseOperandList(operands, kRequired) ||
      clauses.parseAll({"deterministic", "lse_grad", "wrt", "query_lengths",
                        "key_lengths", "query_starts", "key_starts",
                        "schedule"},
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
      clauses.resolveShared(
          segments.slice(kRequired + 1, ClauseParser::kSharedOperands),
          state.operands))
    return failure();
  ClauseOperand *own[] = {&queryLengths, &keyLengths, &queryStarts, &keyStarts};
  for (auto [operand, segment] : llvm::zip_equal(
           own,
           segments.drop_front(kRequired + 1 + ClauseParser::kSharedOperands)
               .drop_back()))
    if (clauses.resolve(*operand, segment, state.operands))
      return failure();
  if (parser.resolveOperands(wanted.tensors, wanted.types, wanted.loc,
                             state.operands))
    return failure();
  auto tensors = static_cast<int32_t>(wanted.tensors.size());
  segments.back() = tensors;
  properties.resultSegmentSizes = {wanted.query, wanted.key, wanted.value,
                                   tensors};
  return setResultTypes<AttentionGradOp>(parser, state, written);
}
