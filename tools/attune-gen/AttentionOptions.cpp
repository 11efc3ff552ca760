// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads what describes an attention problem and says what is wrong with it.

#include "Attention.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include <cmath>

using namespace llvm;
using namespace attune;
using namespace attune::gen;
using mlir::ShapedType;

static constexpr const char *scalesText =
    "Take scales of query: a letter for each dimension along which they "
    "differ, and behind it how many neighbours share one, as in bhs128; 1 "
    "where all elements share one";

AttentionOptions::AttentionOptions()
    : heads("heads", cl::desc("Heads of query"), cl::cat(category)),
      kvHeads("kv-heads", cl::desc("Heads of key and value (as query)"),
              cl::cat(category)),
      seqQ("seq-q", cl::desc("Length of query"), cl::cat(category)),
      seqK("seq-k", cl::desc("Length of key and value (as query)"),
           cl::cat(category)),
      headDimV("head-dim-v", cl::desc("Head size of value (as query)"),
               cl::cat(category)),
      pageSize("page-size",
               cl::desc("Take keys and values in pages of so many keys, which "
                        "a table names; 0 for none"),
               cl::init(0), cl::cat(category)),
      kvDtype("kv-dtype",
              cl::desc("Element type of key and value (as --dtype)"),
              getInputTypes(), cl::cat(category)),
      resultDtype(
          "result-dtype",
          cl::desc("Element type of the result (as --dtype, or bf16 "
                   "where that has 8 bits)"),
          cl::values(clEnumValN(Element::F16, "f16", "IEEE half"),
                     clEnumValN(Element::BF16, "bf16", "bfloat16"),
                     clEnumValN(Element::F32, "f32", "IEEE single"),
                     clEnumValN(Element::F8E4M3FN, "f8E4M3FN", "up to 448"),
                     clEnumValN(Element::F8E5M2, "f8E5M2", "up to 57344"),
                     clEnumValN(Element::F8E4M3FNUZ, "f8E4M3FNUZ", "up to 240"),
                     clEnumValN(Element::F8E5M2FNUZ, "f8E5M2FNUZ",
                                "up to 57344, without infinities")),
          cl::cat(category)),
      weightsDtype("weights-dtype",
                   cl::desc("Element type of weights where values are "
                            "multiplied by them (as --result-dtype)"),
                   getInputTypes(), cl::cat(category)),
      mask("mask", cl::desc("Mask"), cl::init(Mask::None),
           cl::values(
               clEnumValN(Mask::None, "none", "every query sees every key"),
               clEnumValN(Mask::Causal, "causal",
                          "the last query sees all keys, and each one before "
                          "it one less (bottom-right, as in FlashAttention)"),
               clEnumValN(Mask::CausalTopLeft, "causal-top-left",
                          "the first query sees one key, and each one after it "
                          "one more; the same where lengths are equal")),
           cl::cat(category)),
      window("window",
             cl::desc("Keys seen before and after the diagonal, which is the "
                      "mask's, or without one the bottom-right; `?` is "
                      "unbounded"),
             cl::value_desc("left,right"), cl::cat(category)),
      blockLists("block-lists",
                 cl::desc("Take lists of the key blocks that each query block "
                          "attends to, in blocks of so many queries and keys: "
                          "one of blocks in which the mask decides, and one of "
                          "blocks that are seen as a whole; all heads share "
                          "them"),
                 cl::value_desc("queries,keys"), cl::cat(category)),
      softcap("softcap", cl::desc("Bound of scores, through tanh"),
              cl::value_desc("number"), cl::cat(category)),
      scale("scale", cl::desc("Factor of scores (1/sqrt(head size))"),
            cl::value_desc("number"), cl::cat(category)),
      dropout("dropout",
              cl::desc("Drop weights with this probability, at least 0 and "
                       "less than 1; take a seed and an offset"),
              cl::value_desc("number"), cl::cat(category)),
      queryScales("query-scales", cl::desc(scalesText),
                  cl::value_desc("letters"), cl::cat(category)),
      keyScales("key-scales", cl::desc("As --query-scales, of key"),
                cl::value_desc("letters"), cl::cat(category)),
      valueScales("value-scales", cl::desc("As --query-scales, of value"),
                  cl::value_desc("letters"), cl::cat(category)),
      resultScales("result-scales",
                   cl::desc("Take scales of a result of 8 bits: h for one for "
                            "each head of query, 1 for one"),
                   cl::value_desc("h or 1"), cl::cat(category)),
      keyZeros("key-zeros", cl::desc("Take a zero point for each scale of key"),
               cl::cat(category)),
      valueZeros("value-zeros", cl::desc("As --key-zeros, of value"),
                 cl::cat(category)),
      alibi("alibi",
            cl::desc("Take ALiBi slopes, one per head; distances are from the "
                     "bottom-right diagonal, whatever the mask"),
            cl::cat(category)),
      sinks("sinks", cl::desc("Take attention sinks, one per head"),
            cl::cat(category)),
      queryLengths("query-lengths",
                   cl::desc("Take a number of queries for each batch, of at "
                            "most --seq-q"),
                   cl::cat(category)),
      keyLengths("key-lengths",
                 cl::desc("Take a number of keys for each batch, of at most "
                          "--seq-k"),
                 cl::cat(category)),
      packedQueries("packed-queries",
                    cl::desc("Take the queries of all batches packed, --seq-q "
                             "of all together, and where those of each begin"),
                    cl::cat(category)),
      packedKeys("packed-keys",
                 cl::desc("Take the keys and values of all batches packed, "
                          "--seq-k of all together, and where those of each "
                          "begin"),
                 cl::cat(category)),
      latent("latent",
             cl::desc("Values are no operand, but the first --head-dim-v "
                      "columns of the keys"),
             cl::cat(category)),
      lse("lse",
          cl::desc("Return the log of the sum of exponentials; with --grad, "
                   "take its gradient"),
          cl::cat(category)),
      grad("grad",
           cl::desc("The gradients of query, key and value instead, from "
                    "output, lse and the gradient of output"),
           cl::cat(category)),
      deterministic("deterministic",
                    cl::desc("With --grad, equal bits in each launch"),
                    cl::cat(category)),
      batchInvariant("batch-invariant",
                     cl::desc("Bits of a batch that do not depend on the "
                              "others"),
                     cl::cat(category)),
      order("order",
            cl::desc("Order of dimensions: batch, head, sequence, size"),
            cl::init("bhsd"), cl::value_desc("letters"), cl::cat(category)) {}

Expected<std::optional<float>>
AttentionOptions::getNumber(const cl::opt<std::string> &option) const {
  if (!option.getNumOccurrences())
    return std::nullopt;
  double number;
  if (!to_float(option.getValue(), number) || !std::isfinite(number))
    return makeError("expects --{0} to be a number, but got '{1}'",
                     option.ArgStr, option.getValue());
  return static_cast<float>(number);
}

Error AttentionOptions::readNumbers(attn::AttentionProblem &problem) const {
  for (auto [option, number] : {std::pair(&softcap, &problem.softcap),
                                {&scale, &problem.scale},
                                {&dropout, &problem.dropout}}) {
    Expected<std::optional<float>> parsed = getNumber(*option);
    if (!parsed)
      return parsed.takeError();
    *number = *parsed;
  }
  return Error::success();
}

Error AttentionOptions::readSizes(attn::AttentionProblem &problem,
                                  const CommonOptions &common) const {
  if (Error error = common.checkDynamic(
          {Size::Batch, Size::Heads, Size::SeqQ, Size::SeqK}))
    return error;
  if (Error error =
          read(problem.batch, common.getSize(common.batch, {}, Size::Batch)))
    return error;
  if (Error error =
          read(problem.headsQ, common.getSize(heads, {}, Size::Heads)))
    return error;
  if (Error error = read(problem.headsKV,
                         common.getSize(kvHeads, problem.headsQ, Size::Heads)))
    return error;
  if (Error error = read(problem.seqQ, common.getSize(seqQ, {}, Size::SeqQ)))
    return error;
  // A dynamic length of query says nothing about that of key.
  std::optional<int64_t> seqKFallback;
  if (ShapedType::isStatic(problem.seqQ))
    seqKFallback = problem.seqQ;
  if (Error error =
          read(problem.seqK, common.getSize(seqK, seqKFallback, Size::SeqK)))
    return error;
  if (Error error =
          read(problem.headDimQK, common.getSize(common.headDim, {}, {})))
    return error;
  return read(problem.headDimV,
              common.getSize(headDimV, problem.headDimQK, {}));
}

Error AttentionOptions::readWindow(attn::AttentionProblem &problem) const {
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

Error AttentionOptions::readBlockLists(attn::AttentionProblem &problem) const {
  if (!blockLists.getNumOccurrences())
    return Error::success();
  auto [queries, keys] = StringRef(blockLists).split(',');
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  std::pair<int64_t, int64_t> parsed;
  if (!to_integer(queries, parsed.first, 10) ||
      !to_integer(keys, parsed.second, 10) || parsed.first < 1 ||
      parsed.second < 1 || parsed.first > kMost || parsed.second > kMost)
    return makeError("expects --block-lists to be the queries and keys of a "
                     "block, as in 128,128, but got '{0}'",
                     blockLists.getValue());
  problem.blockLists = parsed;
  return Error::success();
}

static Expected<std::optional<attn::ScaleBlocks>>
parseScales(const cl::opt<std::string> &option) {
  if (!option.getNumOccurrences())
    return std::nullopt;
  attn::ScaleBlocks blocks;
  StringRef rest = option.getValue();
  auto refuse = [&] {
    return makeError("expects --{0} to be 1 or letters of b, h, s and d, each "
                     "once and with the size of a block behind it or none, but "
                     "got '{1}'",
                     option.ArgStr, option.getValue());
  };
  if (rest == "1")
    return blocks;
  if (rest.empty())
    return refuse();
  while (!rest.empty()) {
    int64_t *size = StringSwitch<int64_t *>(rest.take_front())
                        .Case("b", &blocks.batch)
                        .Case("h", &blocks.head)
                        .Case("s", &blocks.sequence)
                        .Case("d", &blocks.headDim)
                        .Default(nullptr);
    rest = rest.drop_front();
    StringRef digits =
        rest.take_while([](char digit) { return isDigit(digit); });
    rest = rest.drop_front(digits.size());
    if (!size || *size != 0)
      return refuse();
    *size = 1;
    if (!digits.empty() && (!to_integer(digits, *size, 10) || *size < 1))
      return refuse();
  }
  return blocks;
}

Error AttentionOptions::readTypes(attn::AttentionProblem &problem,
                                  const CommonOptions &common) const {
  problem.element = common.dtype;
  if (kvDtype.getNumOccurrences())
    problem.elementKV = kvDtype;
  if (resultDtype.getNumOccurrences())
    problem.elementResult = resultDtype;
  if (weightsDtype.getNumOccurrences())
    problem.elementWeights = weightsDtype;
  for (auto [option, blocks] : {std::pair(&queryScales, &problem.queryScales),
                                {&keyScales, &problem.keyScales},
                                {&valueScales, &problem.valueScales},
                                {&resultScales, &problem.resultScales}}) {
    Expected<std::optional<attn::ScaleBlocks>> parsed = parseScales(*option);
    if (!parsed)
      return parsed.takeError();
    *blocks = *parsed;
    if (grad && *blocks)
      return makeError("expects no --{0} with --grad, for gradients of scaled "
                       "operands are not there",
                       option->ArgStr);
  }
  if (resultScales.getNumOccurrences() && resultScales != "1" &&
      resultScales != "h")
    return makeError("expects --result-scales to be h or 1, but got '{0}'",
                     resultScales.getValue());
  problem.keyZeros = keyZeros;
  problem.valueZeros = valueZeros;
  for (auto [option, scales] : {std::pair(&keyZeros, &problem.keyScales),
                                {&valueZeros, &problem.valueScales}})
    if (*option && !*scales)
      return makeError("expects no --{0} without scales of its own",
                       option->ArgStr);
  if (grad)
    if (Error error = common.checkWide())
      return error;
  if (grad &&
      (problem.elementKV || problem.elementResult || problem.elementWeights))
    return makeError("expects no --kv-dtype, --result-dtype or --weights-dtype "
                     "with --grad, for gradients have one element type");
  if (latent && problem.valueScales)
    return makeError("expects no --value-scales with --latent, for values have "
                     "the scales of the keys");
  return Error::success();
}

Expected<attn::AttentionProblem>
AttentionOptions::getProblem(const CommonOptions &common) const {
  attn::AttentionProblem problem{};
  if (Error error = readSizes(problem, common))
    return error;
  if (Error error = readWindow(problem))
    return error;
  if (Error error = readBlockLists(problem))
    return error;
  const KnobSet &set = grad ? schedule::AttentionGradAttr::getSet()
                            : schedule::AttentionAttr::getSet();
  if (Error error = common.readSchedule(problem.schedule, set))
    return error;
  if (Error error = readNumbers(problem))
    return error;
  if (Error error = checkOrder())
    return error;
  problem.order = order;
  if (mask != Mask::None)
    problem.causal = mask == Mask::Causal ? attn::Alignment::BottomRight
                                          : attn::Alignment::TopLeft;
  if (Error error = readTypes(problem, common))
    return error;
  problem.alibi = alibi;
  problem.sinks = sinks;
  problem.lse = lse;
  if (grad && pageSize)
    return makeError("expects no --page-size with --grad, for gradients of "
                     "keys in pages are not there");
  if (grad && latent)
    return makeError("expects no --latent with --grad, for gradients of values "
                     "that are a part of the keys are not there");
  if (latent && problem.headDimV > problem.headDimQK)
    return makeError("expects --head-dim-v to be at most the {0} columns of a "
                     "key with --latent, but got {1}",
                     problem.headDimQK, problem.headDimV);
  if (grad && batchInvariant)
    return makeError("expects no --batch-invariant with --grad, for bits of "
                     "gradients depend on other batches");
  if (packedKeys && pageSize)
    return makeError("expects --packed-keys or --page-size, but got both");
  if (pageSize < 0)
    return makeError("expects --page-size to be at least 0, but got {0}",
                     pageSize.getValue());
  problem.pageSize = pageSize;
  problem.latent = latent;
  problem.packedQueries = packedQueries;
  problem.packedKeys = packedKeys;
  problem.queryLengths = queryLengths;
  problem.keyLengths = keyLengths;
  problem.grad = grad;
  problem.deterministic = deterministic;
  problem.batchInvariant = batchInvariant;
  problem.strided = common.strided;
  return problem;
}

Error AttentionOptions::checkOrder() const {
  if (!attn::AttentionOp::isValidOrder(order))
    return makeError("expects --order to be a permutation of the letters b, h, "
                     "s and d, but got '{0}'",
                     order.getValue());
  return Error::success();
}

Error AttentionOptions::readTensor(HeadTensor &tensor,
                                   const CommonOptions &common) const {
  if (Error error =
          read(tensor.batch, common.getSize(common.batch, {}, Size::Batch)))
    return error;
  if (Error error = read(tensor.heads, common.getSize(heads, {}, Size::Heads)))
    return error;
  if (Error error = read(tensor.seqQ, common.getSize(seqQ, {}, Size::SeqQ)))
    return error;
  if (Error error =
          read(tensor.headDim, common.getSize(common.headDim, {}, {})))
    return error;
  if (Error error = checkOrder())
    return error;
  tensor.order = order;
  tensor.strided = common.strided;
  return Error::success();
}

SmallVector<int64_t> HeadTensor::getShape(int64_t rows, int64_t columns) const {
  SmallVector<int64_t> shape;
  for (char letter : order)
    shape.push_back(letter == 'b'   ? batch
                    : letter == 'h' ? heads
                    : letter == 's' ? rows
                                    : columns);
  return shape;
}

mlir::Attribute HeadTensor::getEncoding(mlir::MLIRContext *context) const {
  return attn::getEncoding(context, strided, order.size(),
                           order.back() == 'd' ? headDim : int64_t(1));
}
