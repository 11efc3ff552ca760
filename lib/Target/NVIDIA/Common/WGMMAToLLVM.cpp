// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The wgmma dialect to inline assembly. Registers that an instruction reads and
// writes are results tied to operands: NVVM's builder of PTX ties one struct
// alone.

#include "NVIDIA.h"
#include "attune/Dialect/WGMMA/IR/WGMMA.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace attune;

/// The elements of all `structs`, in order.
static SmallVector<Value> unpack(OpBuilder &b, Location loc,
                                 ValueRange structs) {
  SmallVector<Value> elements;
  for (Value value : structs)
    for (size_t i : llvm::seq(
             cast<LLVM::LLVMStructType>(value.getType()).getBody().size()))
      elements.push_back(LLVM::ExtractValueOp::create(b, loc, value, i));
  return elements;
}

/// Structs of `types` whose elements are those of `elements`, a struct itself.
static SmallVector<Value> pack(OpBuilder &b, Location loc, Value elements,
                               TypeRange types) {
  SmallVector<Value> structs;
  int64_t next = 0;
  for (Type type : types) {
    Value value = LLVM::PoisonOp::create(b, loc, type);
    for (int64_t i :
         llvm::seq<int64_t>(cast<LLVM::LLVMStructType>(type).getBody().size()))
      value = LLVM::InsertValueOp::create(
          b, loc, value, LLVM::ExtractValueOp::create(b, loc, elements, next++),
          i);
    structs.push_back(value);
  }
  return structs;
}

/// `code` with the elements of `structs`, of f32, as $0... to read and write,
/// and `inputs` of `constraints` after twice as many. Returns the structs as
/// `code` leaves them.
static SmallVector<Value> createTiedAsm(OpBuilder &b, Location loc,
                                        StringRef code, ValueRange structs,
                                        ValueRange inputs,
                                        ArrayRef<StringRef> constraints) {
  SmallVector<Value> operands = unpack(b, loc, structs);
  size_t tied = operands.size();
  SmallVector<Type> types(tied, b.getF32Type());
  llvm::append_range(operands, inputs);
  SmallVector<std::string> all(tied, "=f");
  for (size_t i : llvm::seq(tied))
    all.push_back(std::to_string(i));
  llvm::append_range(all, constraints);
  all.push_back("~{memory}");
  auto assembly = LLVM::InlineAsmOp::create(
      b, loc,
      tied == 0 ? Type(LLVM::LLVMVoidType::get(b.getContext()))
                : LLVM::LLVMStructType::getLiteral(b.getContext(), types),
      operands, code, llvm::join(all, ","), /*has_side_effects=*/true,
      /*is_align_stack=*/false, LLVM::TailCallKind::None,
      LLVM::AsmDialectAttr::get(b.getContext(), LLVM::AsmDialect::AD_ATT),
      /*operand_attrs=*/ArrayAttr());
  if (tied == 0)
    return {};
  return pack(b, loc, assembly.getRes(), structs.getTypes());
}

namespace {

struct MmaAsyncPattern : OpRewritePattern<wgmma::MmaAsyncOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(wgmma::MmaAsyncOp op,
                                PatternRewriter &rewriter) const override {
    int n = op.getShape().getN();
    StringRef type = NVVM::stringifyWGMMATypes(op.getType());
    auto registers = [](int first, int count) {
      return llvm::join(
          llvm::map_range(llvm::seq(first, first + count),
                          [](int i) { return "$" + std::to_string(i); }),
          ", ");
    };
    int elements = n / 2, left = 2 * elements,
        right = left + static_cast<int>(op.getA().size());
    // The immediates after that of the accumulator: signs of the operands, and
    // whether the right one is transposed, which one of 8 bits is not.
    StringRef transposed = op.isOf8Bits()                            ? ""
                           : op.getLayoutB() == NVVM::MMALayout::row ? ", 1"
                                                                     : ", 0";
    std::string code = llvm::formatv(
        "wgmma.mma_async.sync.aligned.m64n{0}k{7}.f32.{1}.{1} "
        "{{{2}}, {{{3}}, ${4}, {5}, 1, 1{6};",
        n, type, registers(0, elements), registers(left, op.getA().size()),
        right, op.getScaleD() == NVVM::WGMMAScaleOut::one ? 1 : 0, transposed,
        op.getShape().getK());
    SmallVector<Value> inputs(op.getA());
    inputs.push_back(op.getDescriptorB());
    SmallVector<StringRef> constraints(op.getA().size(), "r");
    constraints.push_back("l");
    rewriter.replaceOp(op, createTiedAsm(rewriter, op.getLoc(), code,
                                         op.getInouts(), inputs, constraints));
    return success();
  }
};

struct WaitGroupPattern : OpRewritePattern<wgmma::WaitGroupOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(wgmma::WaitGroupOp op,
                                PatternRewriter &rewriter) const override {
    std::string code =
        llvm::formatv("wgmma.wait_group.sync.aligned {0};", op.getGroup());
    rewriter.replaceOp(
        op, createTiedAsm(rewriter, op.getLoc(), code, op.getInouts(), {}, {}));
    return success();
  }
};

} // namespace

void attune::nvidia::populateWGMMAToLLVM(RewritePatternSet &patterns) {
  patterns.add<MmaAsyncPattern, WaitGroupPattern>(patterns.getContext());
}
