// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MMAs of 64 x 32 and 32 x 128 by four warps, whose operands stand in
// workgroup memory in each layout that a descriptor can name, against sums over
// the matrices. The second half of the depth is negated, and accumulates before
// the first was waited for. Memory beside the matrices is NaN.

#include "KernelTest.h"
#include "attune/Runtime/DataType.h"

using namespace attune;

static constexpr int kRows = 64, kColumns = 128, kDepth = 32;
static constexpr int kImageBytes = 24576, kRightOffset = 8192;
static constexpr uint16_t kNaN = 0x7fff;

static int left(int row, int k) { return (row * 5 + k * 3) % 7 - 3; }
static int right(int column, int k) { return (column * 3 + k * 11) % 5 - 2; }

namespace {
/// Rows of `pieces` pieces of 16 bytes; the pieces of 8 rows of 128 bytes
/// change places.
struct Operand {
  int extent, pieces;
  bool isTransposed;

  int getRows() const { return isTransposed ? kDepth : extent; }
  /// Byte offset of an element.
  int place(int index, int k) const {
    int along = isTransposed ? index : k, across = isTransposed ? k : index;
    int atom = along / 8 / pieces;
    int offset = ((atom * getRows() + across) * pieces) * 16;
    int piece = along / 8 % pieces ^ (offset / 128 & (pieces - 1));
    return offset + piece * 16 + along % 8 * 2;
  }
  /// All of the descriptor but the address.
  uint64_t describe() const {
    uint64_t eightRows = 8 * pieces, atom = getRows() * pieces;
    bool isSwapped = isTransposed && pieces == 1;
    uint64_t leading = isSwapped ? eightRows : atom;
    uint64_t stride = isSwapped ? atom : eightRows;
    uint64_t mode = pieces == 8 ? 1 : pieces == 4 ? 2 : pieces == 2 ? 3 : 0;
    return leading << 16 | stride << 32 | mode << 62;
  }
  /// From the first half of the depth to the second, in pieces.
  uint64_t getStep() const { return place(0, kDepth / 2) / 16; }
};

class WarpgroupsTest
    : public KernelTest,
      public testing::WithParamInterface<std::tuple<int, bool, bool, int>> {};
} // namespace

/// Copies the image to workgroup memory, multiplies twice and stores what each
/// lane has.
static std::string makeKernel(llvm::StringRef type, bool isTransposed) {
  std::string registers = "!llvm.struct<(f32";
  for (int i = 1; i < kColumns / 2; ++i)
    registers += ", f32";
  registers += ")>";
  llvm::StringRef layoutA = isTransposed ? "<col>" : "<row>",
                  layoutB = isTransposed ? "<row>" : "<col>";
  auto product = [&](llvm::StringRef operands, llvm::StringRef scale,
                     bool isNegated) {
    llvm::StringRef sign = isNegated ? "<neg>" : "<one>";
    return ("nvvm.wgmma.mma_async " + operands +
            ", <m = 64, n = 128, k = 16>, D [<f32>, " + scale + "], A [<" +
            type + ">, " + (isTransposed ? "<one>" : sign) + ", " + layoutA +
            "], B [<" + type + ">, " + (isTransposed ? sign : "<one>") + ", " +
            layoutB + "] : " + registers + " -> " + registers + "\n")
        .str();
  };
  return R"mlir(
  llvm.mlir.global internal @memory() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<24576 x i8>
  llvm.func @multiply(%image: !llvm.ptr<1>, %out: !llvm.ptr<1>, %a_bits: i64, %b_bits: i64, %a_step: i64, %b_step: i64)
      attributes {gpu.kernel} {
    %zero = llvm.mlir.constant(0 : i32) : i32
    %threads = llvm.mlir.constant(128 : i32) : i32
    %pieces = llvm.mlir.constant(1536 : i32) : i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %memory = llvm.mlir.addressof @memory : !llvm.ptr<3>
    llvm.br ^copy(%tid : i32)
  ^copy(%at: i32):
    %from = llvm.getelementptr %image[%at] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, vector<4xi32>
    %to = llvm.getelementptr %memory[%at] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, vector<4xi32>
    %piece = llvm.load %from : !llvm.ptr<1> -> vector<4xi32>
    llvm.store %piece, %to : vector<4xi32>, !llvm.ptr<3>
    %next = llvm.add %at, %threads : i32
    %more = llvm.icmp "ult" %next, %pieces : i32
    llvm.cond_br %more, ^copy(%next : i32), ^multiply
  ^multiply:
    %address = llvm.ptrtoint %memory : !llvm.ptr<3> to i64
    %mask = llvm.mlir.constant(0x3ffff : i64) : i64
    %four = llvm.mlir.constant(4 : i64) : i64
    %b_offset = llvm.mlir.constant(512 : i64) : i64
    %low = llvm.and %address, %mask : i64
    %start = llvm.lshr %low, %four : i64
    %b_moved = llvm.add %start, %b_offset : i64
    %b_mask = llvm.mlir.constant(0x3fff : i64) : i64
    %b_start = llvm.and %b_moved, %b_mask : i64
    %a0 = llvm.or %start, %a_bits : i64
    %a1 = llvm.add %a0, %a_step : i64
    %b0 = llvm.or %b_start, %b_bits : i64
    %b1 = llvm.add %b0, %b_step : i64
    nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
    nvvm.barrier0
    nvvm.wgmma.fence.aligned
    %none = llvm.mlir.poison : )mlir" +
         registers + "\n%first = " +
         product("%a0, %b0, %none", "<zero>", /*isNegated=*/false) +
         "%second = " +
         product("%a1, %b1, %first", "<one>", /*isNegated=*/true) + R"mlir(
    nvvm.wgmma.commit.group.sync.aligned
    nvvm.wgmma.wait.group.sync.aligned 0
    %mine = llvm.getelementptr %out[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, vector<64xf32>
    llvm.store %second, %mine {alignment = 4 : i64} : )mlir" +
         registers + R"mlir(, !llvm.ptr<1>
    llvm.return
  })mlir";
}

TEST_P(WarpgroupsTest, MultipliesWhatTheDescriptorsName) {
  auto [pieces, isTransposed, isBrain, seed] = GetParam();
  DataType type = isBrain ? DataType::BF16 : DataType::F16;
  Operand a{kRows, pieces, isTransposed}, b{kColumns, pieces, isTransposed};
  std::vector<uint16_t> image(kImageBytes / 2, kNaN);
  for (int k = 0; k < kDepth; ++k) {
    for (int row = 0; row < kRows; ++row)
      storeElement(type, &image[a.place(row, k) / 2], left(row, k));
    for (int column = 0; column < kColumns; ++column)
      storeElement(type, &image[(kRightOffset + b.place(column, k)) / 2],
                   right(column, k));
  }
  std::vector<float> out(128 * kColumns / 2);
  buffers = {{image.data(), kImageBytes},
             {out.data(), static_cast<int64_t>(out.size() * sizeof(float))}};
  uint64_t words[] = {a.describe(), b.describe(), a.getStep(), b.getStep()};
  llvm::Error error =
      run(makeKernel(isBrain ? "bf16" : "f16", isTransposed), "multiply", 128,
          {&words[0], &words[1], &words[2], &words[3]}, seed);
  ASSERT_FALSE(error) << toString(std::move(error));
  // Figure "WGMMA .m64nNk16 register fragment layout for accumulator matrix D".
  for (int thread = 0; thread < 128; ++thread)
    for (int i = 0; i < kColumns / 2; ++i) {
      int row = thread / 32 * 16 + thread % 32 / 4 + i % 4 / 2 * 8;
      int column = i / 4 * 8 + thread % 4 * 2 + i % 2;
      int sum = 0;
      for (int k = 0; k < kDepth; ++k)
        sum += left(row, k) * right(column, k) * (k < kDepth / 2 ? 1 : -1);
      ASSERT_EQ(out[thread * kColumns / 2 + i], sum)
          << "row " << row << " column " << column;
    }
}

INSTANTIATE_TEST_SUITE_P(Layouts, WarpgroupsTest,
                         testing::Combine(testing::Values(1, 2, 4, 8),
                                          testing::Bool(), testing::Bool(),
                                          testing::Values(0, 3)));
