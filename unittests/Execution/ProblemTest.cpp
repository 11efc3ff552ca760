// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sizes and meanings of arguments, derived from how attention uses them.

#include "attune/Execution/Problem.h"
#include "attune/InitAllDialects.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"
#include <set>

using namespace mlir;
using namespace attune;
using Use = ProblemArgument::Use;

namespace {
class ProblemTest : public testing::Test {
protected:
  ProblemTest() {
    DialectRegistry registry;
    registerAllDialects(registry);
    context.appendDialectRegistry(registry);
  }

  void setSizes(int64_t batch, int64_t heads, int64_t kvHeads, int64_t seqQ,
                int64_t seqK) {
    sizes.named = {{"batch", batch},
                   {"heads", heads},
                   {"kv-heads", kvHeads},
                   {"seq-q", seqQ},
                   {"seq-k", seqK}};
  }

  FailureOr<Problem> analyze(const Twine &text) {
    message.clear();
    ScopedDiagnosticHandler handler(
        &context, [&](Diagnostic &diagnostic) { message += diagnostic.str(); });
    module = parseSourceString<ModuleOp>(text.str(), &context);
    EXPECT_TRUE(module) << message;
    return analyzeProblem(*module->getOps<func::FuncOp>().begin(), sizes);
  }

  /// A function whose mask is `mask` and which captures `%t`, a `type`.
  FailureOr<Problem> analyzeMask(StringRef type, StringRef mask) {
    std::string tensor = "tensor<2x4x64x32xf16>";
    return analyze("func.func @f(%q: " + tensor + ", %t: " + type + ") -> " +
                   tensor + " { %o = attn.attention %q, %q, %q mask " +
                   "(%b, %h, %m, %n) { " + mask +
                   " attn.yield %y : i1 } : " + tensor + ", " + tensor + ", " +
                   tensor + " return %o : " + tensor + " }");
  }

  MLIRContext context;
  ProblemSizes sizes;
  std::string message;
  OwningOpRef<ModuleOp> module;
};

constexpr StringLiteral kDynamic = R"(
  !query = tensor<?x?x?x64xbf16>
  !key = tensor<?x?x?x64xbf16, #attn.strided<[?, 64, ?, 1], divisor = 8>>
  func.func @f(%q: !query, %k: !key, %v: !key) -> !query {
    %o = attn.attention %q, %k, %v causal(top_left) order(bshd) : !query, !key, !key
    return %o : !query
  })";
} // namespace

TEST_F(ProblemTest, BindsDimensionsByOrder) {
  setSizes(2, 8, 4, 10, 20);
  FailureOr<Problem> problem = analyze(kDynamic);
  ASSERT_TRUE(succeeded(problem)) << message;
  EXPECT_EQ(problem->arguments[0].shape.sizes,
            (SmallVector<int64_t, 4>{2, 10, 8, 64}));
  EXPECT_TRUE(problem->arguments[0].shape.isContiguous());
  EXPECT_EQ(problem->arguments[1].shape.sizes,
            (SmallVector<int64_t, 4>{2, 20, 4, 64}));
  EXPECT_EQ(problem->work.flops, 2.0 * 2 * 8 * 10 * 20 * (64 + 64) / 2);
}

TEST_F(ProblemTest, ChoosesStridesWithGaps) {
  setSizes(2, 8, 4, 10, 20);
  FailureOr<Problem> problem = analyze(kDynamic);
  ASSERT_TRUE(succeeded(problem)) << message;
  const TensorShape &key = problem->arguments[1].shape;
  EXPECT_FALSE(key.isContiguous());
  EXPECT_EQ(key.strides[3], 1);
  EXPECT_EQ(key.strides[1], 64);
  for (size_t dim : {0, 2})
    EXPECT_EQ(key.strides[dim] % 8, 0);
  // No two elements share a place.
  std::set<int64_t> offsets;
  key.forEachOffset([&](int64_t offset) { offsets.insert(offset); });
  EXPECT_EQ(static_cast<int64_t>(offsets.size()), key.getNumElements());
  EXPECT_LT(key.getNumElements(), key.getSpan());
}

TEST_F(ProblemTest, AsksForWhatIsMissing) {
  sizes.named["batch"] = 1;
  EXPECT_TRUE(failed(analyze(kDynamic)));
  EXPECT_EQ(message, "expects a size for dimension 1 of argument 0: give "
                     "--seq-q=<number>");
}

TEST_F(ProblemTest, DocumentNumbersAreSegments) {
  FailureOr<Problem> problem = analyzeMask("tensor<2x?xi32>", R"(
    %a = tensor.extract %t[%b, %m] : tensor<2x?xi32>
    %c = tensor.extract %t[%b, %n] : tensor<2x?xi32>
    %y = arith.cmpi eq, %a, %c : i32)");
  // The length of the sequence is that of the queries, by name.
  EXPECT_TRUE(failed(problem));
  sizes.named["seq-q"] = 64;
  problem = analyzeMask("tensor<2x?xi32>", R"(
    %a = tensor.extract %t[%b, %m] : tensor<2x?xi32>
    %c = tensor.extract %t[%b, %n] : tensor<2x?xi32>
    %y = arith.cmpi eq, %a, %c : i32)");
  ASSERT_TRUE(succeeded(problem)) << message;
  EXPECT_EQ(problem->arguments[1].use, Use::Segment);
  EXPECT_EQ(problem->arguments[1].shape.sizes[1], 64);
}

TEST_F(ProblemTest, LengthsArePositions) {
  FailureOr<Problem> problem = analyzeMask("tensor<2xi32>", R"(
    %a = tensor.extract %t[%b] : tensor<2xi32>
    %i = arith.index_cast %a : i32 to index
    %y = arith.cmpi slt, %n, %i : index)");
  ASSERT_TRUE(succeeded(problem)) << message;
  EXPECT_EQ(problem->arguments[1].use, Use::Position);
  EXPECT_EQ(problem->arguments[1].limit, 64);
}

TEST_F(ProblemTest, ScalarsArePositionsToo) {
  FailureOr<Problem> problem =
      analyzeMask("index", "%y = arith.cmpi slt, %n, %t : index");
  ASSERT_TRUE(succeeded(problem)) << message;
  EXPECT_FALSE(problem->arguments[1].isTensor);
  EXPECT_EQ(problem->arguments[1].use, Use::Position);
}

TEST_F(ProblemTest, TruthValuesAreFlags) {
  FailureOr<Problem> problem = analyzeMask(
      "tensor<64x64xi1>", "%y = tensor.extract %t[%m, %n] : tensor<64x64xi1>");
  ASSERT_TRUE(succeeded(problem)) << message;
  EXPECT_EQ(problem->arguments[1].use, Use::Flag);
}

TEST_F(ProblemTest, IndicesStayInTheTable) {
  FailureOr<Problem> problem = analyzeMask("tensor<64xindex>", R"(
    %a = tensor.extract %t[%m] : tensor<64xindex>
    %c = tensor.extract %t[%a] : tensor<64xindex>
    %y = arith.cmpi sle, %c, %n : index)");
  ASSERT_TRUE(succeeded(problem)) << message;
  EXPECT_EQ(problem->arguments[1].use, Use::Index);
  EXPECT_EQ(problem->arguments[1].limit, 64);
  ProblemArgument argument = problem->arguments[1];
  for (float value : makeInput(argument, 1, 0).toFloats())
    EXPECT_LT(value, 64);
}

TEST_F(ProblemTest, ClassesOfInputsDifferInQueriesAndKeys) {
  FailureOr<Problem> problem =
      analyzeMask("index", "%y = arith.cmpi slt, %n, %t : index");
  ASSERT_TRUE(succeeded(problem)) << message;
  // One argument is all three operands, of which the key counts.
  ProblemArgument argument = problem->arguments[0];
  std::vector<float> normal = makeInput(argument, 0, 0).toFloats();
  EXPECT_EQ(makeInput(argument, 0, 0, kNormalInputs).toFloats(), normal);
  EXPECT_EQ(makeInput(argument, 0, 0, "spread").toFloats(), normal);
  for (float value : makeInput(argument, 0, 0, "repelled").toFloats())
    EXPECT_LE(value, 0);
  setSizes(2, 8, 4, 10, 20);
  problem = analyze(kDynamic);
  ASSERT_TRUE(succeeded(problem)) << message;
  ProblemArgument query = problem->arguments[0], value = problem->arguments[2];
  normal = makeInput(query, 0, 0).toFloats();
  for (float value : makeInput(query, 0, 0, "repelled").toFloats())
    EXPECT_GE(value, 0);
  std::vector<float> spread = makeInput(query, 0, 0, "spread").toFloats();
  for (auto [far, near] : llvm::zip_equal(spread, normal))
    EXPECT_FLOAT_EQ(far, 64 * near);
  normal = makeInput(value, 0, 0).toFloats();
  for (StringRef inputClass :
       getInputClasses(*module->getOps<func::FuncOp>().begin()))
    EXPECT_EQ(makeInput(value, 0, 0, inputClass).toFloats(), normal);
}

TEST_F(ProblemTest, ListsNameDifferentBlocks) {
  FailureOr<Problem> problem = analyze(R"(
    !t = tensor<2x4x64x32xf16>
    !c = tensor<?x1x4xi32>
    !i = tensor<2x1x4x3xi32>
    func.func @f(%q: !t, %c: !c, %i: !i, %fc: !c, %fi: !i) -> !t {
      %o = attn.attention %q, %q, %q blocks(%c, %i, [16, 12] : !c, !i)
        full_blocks(%fc, %fi : !c, !i) : !t, !t, !t
      return %o : !t
    })");
  // The batch of a list has the name of the op's.
  EXPECT_TRUE(failed(problem));
  sizes.named["batch"] = 2;
  problem = analyzeProblem(*module->getOps<func::FuncOp>().begin(), sizes);
  ASSERT_TRUE(succeeded(problem)) << message;
  // Of six blocks of keys, the even ones and the odd ones.
  for (auto [index, first] : {std::pair(1, 0), {3, 1}}) {
    const ProblemArgument &counts = problem->arguments[index],
                          &indices = problem->arguments[index + 1];
    EXPECT_EQ(counts.use, Use::BlockCount);
    EXPECT_EQ(counts.limit, 3);
    EXPECT_EQ(indices.use, Use::BlockIndex);
    EXPECT_EQ(indices.limit, 3);
    EXPECT_EQ(indices.first, first);
    EXPECT_EQ(indices.step, 2);
    for (float count : makeInput(counts, index, 0).toFloats())
      EXPECT_TRUE(count >= 0 && count <= 3);
    for (float block : makeInput(indices, index + 1, 0).toFloats())
      EXPECT_TRUE(block == first || block == first + 2 || block == first + 4);
  }
}

TEST_F(ProblemTest, PagesAreThoseOfThePool) {
  sizes.named["seq-k"] = 50;
  sizes.shapes[1] = {11, 2, 8, 32};
  FailureOr<Problem> problem = analyze(R"(
    !q = tensor<2x4x1x32xf16>
    !k = tensor<?x2x8x32xf16>
    func.func @f(%q: !q, %k: !k, %l: tensor<2xi32>, %p: tensor<2x?xi32>) -> !q {
      %o = attn.attention %q, %k, %k key_lengths(%l : tensor<2xi32>)
        pages(%p : tensor<2x?xi32>) : !q, !k, !k
      return %o : !q
    })");
  ASSERT_TRUE(succeeded(problem)) << message;
  const ProblemArgument &lengths = problem->arguments[2],
                        &pages = problem->arguments[3];
  // Seven pages of 8 keys, named by 7 numbers below 11.
  EXPECT_EQ(lengths.use, Use::Position);
  EXPECT_EQ(lengths.limit, 56);
  EXPECT_EQ(pages.use, Use::DistinctIndex);
  EXPECT_EQ(pages.limit, 11);
  EXPECT_EQ(pages.shape.sizes.back(), 7);
  for (float page : makeInput(pages, 3, 0).toFloats())
    EXPECT_TRUE(page >= 0 && page < 11);
  EXPECT_TRUE(problem->unusedSizes.empty());
}

TEST_F(ProblemTest, SlotsAreDistinctOrNone) {
  sizes.named["tokens"] = 40;
  sizes.named["pages"] = 4;
  FailureOr<Problem> problem = analyze(R"(
    !pool = tensor<?x8x2x32xf16>
    func.func @f(%x: tensor<?x2x32xf16>, %s: tensor<?xi64>, %p: !pool) -> !pool {
      %o = attn.append %x to %p at %s : tensor<?x2x32xf16>, !pool, tensor<?xi64>
      return %o : !pool
    })");
  ASSERT_TRUE(succeeded(problem)) << message;
  const ProblemArgument &slots = problem->arguments[1];
  EXPECT_EQ(slots.use, Use::Slot);
  EXPECT_EQ(slots.limit, 4 * 8);
  EXPECT_EQ(problem->arguments[2].shape.sizes.front(), 4);
  std::set<float> seen;
  int64_t none = 0;
  for (float slot : makeInput(slots, 1, 0).toFloats()) {
    none += slot == -1;
    if (slot == -1)
      continue;
    EXPECT_TRUE(slot >= 0 && slot < 32);
    EXPECT_TRUE(seen.insert(slot).second);
  }
  // Every seventh, and the last eight of forty, of which one is such.
  EXPECT_EQ(none, 6 + 8 - 1);
}

TEST_F(ProblemTest, StartsAreOneMoreThanBatches) {
  sizes.named["batch"] = 3;
  sizes.named["seq-q"] = 40;
  FailureOr<Problem> problem = analyze(R"(
    !q = tensor<1x4x?x32xf16>
    !k = tensor<1x2x50x32xf16>
    func.func @f(%q: !q, %k: !k, %sq: tensor<?xi32>, %sk: tensor<4xi32>) -> !q {
      %o = attn.attention %q, %k, %k query_starts(%sq : tensor<?xi32>)
        key_starts(%sk : tensor<4xi32>) : !q, !k, !k
      return %o : !q
    })");
  ASSERT_TRUE(succeeded(problem)) << message;
  const ProblemArgument &queries = problem->arguments[2],
                        &keys = problem->arguments[3];
  EXPECT_EQ(queries.use, Use::PartStart);
  EXPECT_EQ(queries.limit, 40);
  EXPECT_EQ(queries.shape.sizes.back(), 4);
  EXPECT_EQ(keys.limit, 50);
  EXPECT_EQ(makeInput(keys, 3, 0).toFloats().back(), 50);
  EXPECT_TRUE(problem->unusedSizes.empty());
  // As if all had one length: of 14 queries and 17 keys.
  EXPECT_EQ(problem->work.flops, 2.0 * 64 * 3 * 4 * 14 * 17);
}
