// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef ATTUNE_DIALECT_ATTN_INTERFACES_TD
#define ATTUNE_DIALECT_ATTN_INTERFACES_TD

include "mlir/IR/OpBase.td"

// What ODS makes of an operand or attribute of this name.
class Attn_TensorMethod<string cppName, string text>
    : InterfaceMethod<text, "::mlir::TypedValue<::mlir::RankedTensorType>", cppName>;

// The same of what only some of the ops have.
class Attn_OptionalTensorMethod<string cppName, string text>
    : InterfaceMethod<text, "::mlir::TypedValue<::mlir::RankedTensorType>", cppName, (ins), "", "return {};">;

def AttentionOpInterface : OpInterface<"AttentionOpInterface"> {
  let cppNamespace = "::attune::attn";
  let description = [{
    An op that says attention: which tensors, which scores, which mask. What it
    computes of these is its own. `attn.attention` says what everything here
    means.
  }];
  let methods = [
    Attn_TensorMethod<"getQuery", "The queries.">,
    Attn_TensorMethod<"getKey", "The keys.">,
    Attn_TensorMethod<"getValue", "The values.">,
    Attn_TensorMethod<"getAlibiSlopes", "One slope a head; null without ALiBi.">,
    Attn_TensorMethod<"getSinks", "One logit a head; null without sinks.">,
    Attn_TensorMethod<"getBlockCounts", "How many blocks are listed; null without lists.">,
    Attn_TensorMethod<"getBlockIndices", "Which blocks are listed; null without lists.">,
    Attn_TensorMethod<"getFullBlockCounts", "How many full blocks are listed; null without such lists.">,
    Attn_TensorMethod<"getFullBlockIndices", "Which full blocks are listed; null without such lists.">,
    Attn_TensorMethod<"getDropout", "Seed and offset of the weights that are dropped; null where none are.">,
    InterfaceMethod<"How many weights are dropped, of 1; null where none are.", "::mlir::FloatAttr", "getDropoutProbabilityAttr">,
    Attn_OptionalTensorMethod<"getQueryLengths", "How many queries each batch has; null where all have as many.">,
    Attn_OptionalTensorMethod<"getKeyLengths", "How many keys each batch has; null where all have as many.">,
    Attn_OptionalTensorMethod<"getQueryStarts", "Where the packed queries of each batch begin, and the last ones end; null where they are not packed.">,
    Attn_OptionalTensorMethod<"getKeyStarts", "Where the packed keys of each batch begin, and the last ones end; null where they are not packed.">,
    Attn_OptionalTensorMethod<"getPages", "Which pages hold the keys and values of each batch; null where they lie in no pages.">,
    InterfaceMethod<"Queries and keys of a listed block.",
      "::std::optional<::llvm::ArrayRef<int64_t>>", "getBlockSizes">,
    InterfaceMethod<"The dimensions of query, key and value, outermost first.",
      "::llvm::StringRef", "getOrder">,
    InterfaceMethod<"The factor of scores; null for the default.", "::mlir::FloatAttr", "getScaleAttr">,
    InterfaceMethod<"The bound of scores, if there is one.", "::mlir::FloatAttr", "getSoftcapAttr">,
    InterfaceMethod<"The causal mask, if there is one.", "::attune::attn::CausalAttr", "getCausalAttr">,
    InterfaceMethod<"The window, if there is one.", "::attune::attn::WindowAttr", "getWindowAttr">,
    InterfaceMethod<"The region of scores; empty if there is none.", "::mlir::Region &", "getScore">,
    InterfaceMethod<"The region of the mask; empty if there is none.", "::mlir::Region &", "getMask">,
    InterfaceMethod<[{
        The tensors, of operands and results, that have the dimensions of `order`
        with the heads and the length of query; those with the heads and the
        length of key; and those of a number for each batch, query head and
        query.
      }], "::attune::attn::TensorRoles", "getTensorRoles">,
    InterfaceMethod<[{
        Removes causal, window, softcap and ALiBi, which the regions say now.
      }], "void", "removeShortForms", (ins), "", [{
        $_op.removeCausalAttr();
        $_op.removeWindowAttr();
        $_op.removeSoftcapAttr();
        $_op.getAlibiSlopesMutable().clear();
      }]>
  ];
  let extraSharedClassDeclaration = [{
    /// Positions of the four dimensions in query, key, value and what has their
    /// order.
    int64_t getBatchPos() { return $_op.getOrder().find('b'); }
    int64_t getHeadPos() { return $_op.getOrder().find('h'); }
    int64_t getSeqPos() { return $_op.getOrder().find('s'); }
    int64_t getHeadDimPos() { return $_op.getOrder().find('d'); }

    /// Sizes; ShapedType::kDynamic where no operand knows. A size that several
    /// operands share is taken from any of them that is static. The queries and
    /// keys are those that a batch has room for: of packed ones, all of them.
    int64_t getBatch() { return detail::getBatch($_op.getOperation()); }
    int64_t getHeadsQ() { return detail::getHeadsQ($_op.getOperation()); }
    int64_t getHeadsKV() { return detail::getHeadsKV($_op.getOperation()); }
    int64_t getSeqQ() { return detail::getSeqQ($_op.getOperation()); }
    int64_t getSeqK() { return detail::getSeqK($_op.getOperation()); }
    int64_t getHeadDimQK() { return detail::getHeadDimQK($_op.getOperation()); }
    int64_t getHeadDimV() { return detail::getHeadDimV($_op.getOperation()); }

    /// The largest number that is known to divide the number of keys: of a
    /// length that is known or of what is asserted in front of the op.
    int64_t getSeqKDivisor() { return detail::getSeqKDivisor($_op.getOperation()); }

    /// That of query.
    ::mlir::FloatType getElementType() {
      return ::llvm::cast<::mlir::FloatType>($_op.getQuery().getType().getElementType());
    }
    /// The scale, or its default, which the head size gives.
    float getEffectiveScale() { return detail::getEffectiveScale($_op.getOperation()); }
    bool hasScore() { return !$_op.getScore().empty(); }
    bool hasMask() { return !$_op.getMask().empty(); }
    /// Whether batches have lengths of their own.
    bool hasLengths() { return $_op.getQueryLengths() || $_op.getKeyLengths() || $_op.getQueryStarts() || $_op.getKeyStarts(); }
    /// Keys of a page; 0 where they lie in no pages.
    int64_t getPageSize() { return $_op.getPages() ? $_op.getKey().getType().getDimSize(getSeqPos()) : 0; }
    /// Whether lists say which blocks of keys are looked at.
    bool hasBlockLists() { return $_op.getBlockSizes().has_value(); }
    /// Queries and keys of a block of such a list.
    int64_t getListedQueries() { return (*$_op.getBlockSizes())[0]; }
    int64_t getListedKeys() { return (*$_op.getBlockSizes())[1]; }

    /// Values that the score and mask regions use and that are defined above
    /// the op, in the order of their first use. Scalar constants are left out:
    /// whoever inlines a region clones them (see inlineRegion).
    ::llvm::SmallVector<::mlir::Value> getCaptures() {
      return detail::getCaptures($_op.getOperation());
    }

    /// Adds an empty block with the right arguments to a region that has none.
    ::mlir::Block *createScoreBlock(::mlir::OpBuilder &builder) {
      return detail::createRegionBlock($_op.getOperation(), builder, /*isScore=*/true);
    }
    ::mlir::Block *createMaskBlock(::mlir::OpBuilder &builder) {
      return detail::createRegionBlock($_op.getOperation(), builder, /*isScore=*/false);
    }
  }];
}

#endif // ATTUNE_DIALECT_ATTN_INTERFACES_TD
