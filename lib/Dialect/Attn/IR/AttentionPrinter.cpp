// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Prints what AttentionSyntax.cpp reads, and names results and arguments.

#include "attune/Dialect/Attn/IR/Attn.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace attune::attn;

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
  if (Value dropout = op.getDropout()) {
    printer << " dropout(" << dropout << ", ";
    printer.printAttributeWithoutType(op.getDropoutProbabilityAttr());
    printer << " : " << dropout.getType() << ")";
  }
  printFloat("scale", op.getScaleAttr());
  if (op.getOrder() != "bhsd")
    printer << " order(" << op.getOrder() << ")";
}

/// Prints lengths of batches, starts of packed sequences, and pages.
static void printLengths(OpAsmPrinter &printer, AttentionOpInterface op) {
  for (auto [keyword, tensor] :
       {std::pair<StringRef, Value>{"query_lengths", op.getQueryLengths()},
        {"key_lengths", op.getKeyLengths()},
        {"query_starts", op.getQueryStarts()},
        {"key_starts", op.getKeyStarts()},
        {"pages", op.getPages()}})
    if (tensor)
      printer << ' ' << keyword << "(" << tensor << " : " << tensor.getType()
              << ")";
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
  printLengths(printer, *this);
  if (std::optional<int64_t> latent = getLatent())
    printer << " latent(" << *latent << ")";
  if (std::optional<Type> weights = getWeights())
    printer << " weights(" << *weights << ")";
  printer << (getBatchInvariant() ? " batch_invariant" : "");
  if (getPackedKey() || getPackedValue())
    printer << " packed(" << (getPackedKey() ? "key" : "")
            << (getPackedKey() && getPackedValue() ? ", " : "")
            << (getPackedValue() ? "value" : "") << ")";
  for (const Scales &scales : getScales(*this)) {
    printer << ' ' << scales.name << "_scales(" << scales.scales;
    if (!scales.blocks.empty())
      printer << ", [" << scales.blocks << "]";
    printer << " : " << scales.scales.getType() << ")";
  }
  for (auto [keyword, zeros] :
       {std::pair<StringRef, Value>{"key_zeros", getKeyZeros()},
        {"value_zeros", getValueZeros()}})
    if (zeros)
      printer << ' ' << keyword << "(" << zeros << " : " << zeros.getType()
              << ")";
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
  printLengths(printer, *this);
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
