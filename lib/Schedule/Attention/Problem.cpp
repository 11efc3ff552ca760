// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What legality and the model know of an attention op.

#include "AttentionTunable.h"
#include "attune/Dialect/Attn/Analysis/RegionTiles.h"
#include "attune/Dialect/Attn/IR/SizeFacts.h"
#include "attune/Schedule/Attention/Legality.h"
#include <numeric>

using namespace mlir;
using namespace attune;

/// What the strides of all dimensions but the innermost are multiples of.
static int64_t getDivisor(RankedTensorType type, int64_t headDim) {
  auto strided = dyn_cast_or_null<attn::StridedAttr>(type.getEncoding());
  if (!strided) {
    int64_t last = type.getShape().back();
    bool contiguous = headDim == type.getRank() - 1;
    return !contiguous ? 0 : ShapedType::isDynamic(last) ? 1 : last;
  }
  int64_t divisor = 0;
  for (auto [dim, stride] : llvm::enumerate(strided.getStrides())) {
    if (static_cast<int64_t>(dim) != headDim)
      divisor =
          std::gcd(divisor, ShapedType::isDynamic(stride) ? strided.getDivisor()
                                                          : stride);
    else if (stride != 1)
      return 0;
  }
  return divisor;
}

int64_t attune::getRowDivisor(ValueRange tensors, int64_t headDim) {
  int64_t divisor = 0;
  for (Value tensor : tensors) {
    int64_t known =
        getDivisor(cast<RankedTensorType>(tensor.getType()), headDim);
    if (known == 0)
      return 0;
    divisor = std::gcd(divisor, known);
  }
  return divisor;
}

/// See AttentionProblem::meanKeys.
static int64_t getMeanKeys(attn::AttentionOp op, int64_t seqQ, int64_t seqK) {
  if (op.hasMask() || op.hasBlockLists() || seqQ == 0 || seqK == 0)
    return 0;
  int64_t keys = seqK;
  if (attn::CausalAttr causal = op.getCausalAttr()) {
    bool isTopLeft = causal.getAlignment() == attn::Alignment::TopLeft;
    int64_t last = isTopLeft ? std::min(seqQ, seqK) : seqK;
    keys = last - std::min(seqQ, last) / 2;
  }
  attn::WindowAttr window = op.getWindowAttr();
  if (!window || window.getLeft() < 0)
    return keys;
  if (op.getCausal())
    return std::min(keys, window.getLeft() + 1);
  return window.getRight() < 0
             ? keys
             : std::min(keys, window.getLeft() + window.getRight() + 1);
}

SmallVector<int64_t> attune::getUsualSizes(attn::AttentionOp op) {
  SmallVector<int64_t> sizes = getAttentionSizes(op);
  if (!op.getBatchInvariant())
    return sizes;
  // Few long sequences, which decoding splits for lack of others, and which
  // lose little by that where there are more.
  constexpr int64_t kUsualBatch = 4, kUsualKeys = 8192;
  sizes[kBatch] = kUsualBatch;
  if (op.getKeyStarts())
    sizes[kSeqK] = kUsualBatch * kUsualKeys;
  else if (op.getKeyLengths())
    sizes[kSeqK] = kUsualKeys;
  if (op.getQueryStarts() || op.getQueryLengths())
    sizes[kSeqQ] = 0; // not known, whatever is likely
  return sizes;
}

SmallVector<RegionTile, 1>
attune::getRegionTiles(attn::AttentionOpInterface op) {
  SmallVector<RegionTile, 1> tiles;
  for (tensor::ExtractOp read : findRegionTiles(op)) {
    auto type = cast<RankedTensorType>(read.getTensor().getType());
    int64_t bits = type.getElementTypeBitWidth();
    tiles.push_back({bits, getDivisor(type, type.getRank() - 1) * bits / 8,
                     type.getRank()});
  }
  return tiles;
}

AttentionProblem AttentionProblem::get(attn::AttentionOp op,
                                       const SizeMap &likely) {
  int64_t headDim = op.getHeadDimPos();
  int64_t divisor =
      getRowDivisor({op.getQuery(), op.getKey(), op.getValue()}, headDim);
  bool isMasked = op.getCausal() || op.getWindow() || op.hasMask();
  AttentionProblem problem{op.getQuery().getType().getElementType(),
                           op.getHeadDimQK(),
                           op.getHeadDimV(),
                           divisor,
                           isMasked || op.hasBlockLists(),
                           getRowDivisor(op.getResult(), headDim)};
  problem.isBatchInvariant = op.getBatchInvariant();
  SmallVector<int64_t> sizes =
      getMeanSizes(op, fillSizes(getUsualSizes(op), likely));
  problem.seqQ = sizes[kSeqQ];
  problem.seqK = sizes[kSeqK];
  problem.heads = sizes[kBatch] * sizes[kHeads];
  problem.meanKeys = getMeanKeys(op, problem.seqQ, problem.seqK);
  problem.packing = HeadPacking::get(op);
  problem.hasWindow = op.getWindow() && op.getWindowAttr().getLeft() >= 0;
  problem.hasDynamicLength = ShapedType::isDynamic(op.getSeqQ()) ||
                             ShapedType::isDynamic(op.getSeqK()) ||
                             op.hasLengths();
  problem.hasPackedQueries = op.getQueryStarts() != nullptr;
  problem.hasQueryLengths = op.getQueryLengths() || problem.hasPackedQueries;
  problem.hasSinks = op.getSinks() != nullptr;
  problem.regionTiles = getRegionTiles(op);
  problem.hasScore = op.hasScore() || op.getAlibiSlopes() || op.getSoftcap();
  problem.hasKeyLengths = op.getKeyLengths() || op.getKeyStarts();
  bool showsByHead = op.hasMask() && !op.getMask().getArgument(1).use_empty();
  problem.hasEqualHeads = ShapedType::isStatic(op.getHeadsQ()) &&
                          op.getHeadsQ() > 0 && op.getHeadsKV() > 0 &&
                          ShapedType::isStatic(op.getSeqQ()) && !showsByHead;
  problem.pageSize = op.getPageSize();
  problem.isLatent = op.getLatent().has_value();
  problem.storedKeyType = op.getKey().getType().getElementType();
  problem.storedValueType = op.getValue().getType().getElementType();
  problem.packsKey = op.getPackedKey();
  problem.packsValue = op.getPackedValue();
  bool hasPages = op.getPages() != nullptr;
  for (auto [scales, zeros] :
       {std::pair(attn::getKeyScales(op), op.getKeyZeros()),
        {attn::getValueScales(op), op.getValueZeros()}})
    if (attn::variesAlong(op, scales, 's') ||
        (hasPages && attn::variesAlong(op, scales, 'b')))
      problem.numbersOfKey += zeros ? 2 : 1;
  problem.typeOfWeights = attn::getWeightType(op);
  problem.resultType = op.getResult().getType().getElementType();
  problem.isListable =
      isMasked && !op.hasBlockLists() && !op.hasLengths() && !op.getPages();
  if (op.hasBlockLists()) {
    problem.listedKeys = op.getListedKeys();
    bool isOne = attn::getQueryFacts(op).max <= op.getListedQueries();
    problem.listedQueries = isOne ? 0 : op.getListedQueries();
  }
  return problem;
}

int64_t AttentionProblem::countTiles(const AttentionKnobs &schedule) const {
  return heads / packing.count(schedule) *
         static_cast<int64_t>(
             llvm::divideCeil(seqQ, packing.countQueries(schedule)));
}
