// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// (Q K^T) V by two warpgroups: the heart of attention, with the
// descriptors and fragments that were found right on a chip. Tiles are swizzle
// atoms of 64 columns, 128 bytes, whose 16-byte pieces are swizzled by the row.
// The first MMA takes Q and K, both K-major, from workgroup memory; the packed
// accumulators, in order, are the left operand of the second one, and V is
// transposed. Meanwhile each thread adds up what it has of the first MMA.

#include "KernelTest.h"
#include "attune/Runtime/DataType.h"

using namespace attune;

static constexpr int kTileRows = 128, kThreads = 256;
static constexpr int kAtomColumns = 64, kAtomRowBytes = 128;
static constexpr int kStep = 16;

static int query(int row, int k) { return (row * 5 + k * 3) % 3 - 1; }
static int key(int row, int k) { return (row * 7 + k * 2) % 3 - 1; }
static int value(int row, int column) {
  return (row * 3 + column * 11) % 5 - 2;
}

/// Byte offset of an element of a tile of `rows` rows.
static int place(int rows, int row, int column) {
  int atom = column / kAtomColumns, bytes = column % kAtomColumns * 2;
  return (atom * rows + row) * kAtomRowBytes + (bytes ^ (row % 8 * 16));
}

namespace {
class ChainedMmasTest
    : public KernelTest,
      public testing::WithParamInterface<std::tuple<int, int, bool, int>> {
protected:
  std::string makeKernel(int depth, int keys, llvm::StringRef type);
};
} // namespace

static std::string makeStruct(int count) {
  std::string text = "!llvm.struct<(f32";
  for (int i = 1; i < count; ++i)
    text += ", f32";
  return text + ")>";
}

std::string ChainedMmasTest::makeKernel(int depth, int keys,
                                        llvm::StringRef type) {
  std::string text;
  llvm::raw_string_ostream os(text);
  int keyStart = kTileRows * depth * 2,
      valueStart = keyStart + keys * depth * 2;
  int bytes = valueStart + keys * depth * 2;
  std::string scores = makeStruct(keys / 2), result = makeStruct(depth / 2);
  os << "llvm.mlir.global internal @memory() {addr_space = 3 : i32, alignment "
        "= 1024 : i64} : !llvm.array<"
     << bytes << " x i8>\n"
     << R"mlir(
  llvm.func @chain(%image: !llvm.ptr<1>, %out: !llvm.ptr<1>, %sums: !llvm.ptr<1>) attributes {gpu.kernel} {
    %threads = llvm.mlir.constant(256 : i32) : i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %memory = llvm.mlir.addressof @memory : !llvm.ptr<3>
    llvm.br ^copy(%tid : i32)
  ^copy(%at: i32):
    %from = llvm.getelementptr %image[%at] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, vector<4xi32>
    %to = llvm.getelementptr %memory[%at] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, vector<4xi32>
    %piece = llvm.load %from : !llvm.ptr<1> -> vector<4xi32>
    llvm.store %piece, %to : vector<4xi32>, !llvm.ptr<3>
    %next = llvm.add %at, %threads : i32
    %pieces = llvm.mlir.constant()mlir"
     << bytes / 16 << R"mlir( : i32) : i32
    %more = llvm.icmp "ult" %next, %pieces : i32
    llvm.cond_br %more, ^copy(%next : i32), ^multiply
  ^multiply:
    nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
    nvvm.barrier0
    %address = llvm.ptrtoint %memory : !llvm.ptr<3> to i64
    %mask = llvm.mlir.constant(0x3ffff : i64) : i64
    %four = llvm.mlir.constant(4 : i64) : i64
    %low = llvm.and %address, %mask : i64
    %start = llvm.lshr %low, %four : i64
    %c7 = llvm.mlir.constant(7 : i32) : i32
    %group = llvm.lshr %tid, %c7 : i32
    %group64 = llvm.zext %group : i32 to i64
    %group_pieces = llvm.mlir.constant(512 : i64) : i64
    %group_start = llvm.mul %group64, %group_pieces : i64
    %q_start = llvm.add %start, %group_start : i64
)mlir";
  // A descriptor of that start, of `offset` bytes behind it.
  auto describe = [&](const llvm::Twine &name, llvm::StringRef start,
                      int offset, int leading) {
    uint64_t bits = uint64_t(leading / 16) << 16 | uint64_t(1024 / 16) << 32 |
                    uint64_t(1) << 62;
    os << "%" << name << "_add = llvm.mlir.constant("
       << static_cast<int64_t>(bits + offset / 16) << " : i64) : i64\n%" << name
       << " = llvm.add %" << start << ", %" << name << "_add : i64\n";
  };
  os << "nvvm.wgmma.fence.aligned\n%s = llvm.mlir.poison : " << scores << "\n";
  std::string last = "s";
  for (int k = 0; k < depth; k += kStep) {
    // 32 bytes further within a swizzle atom, or on to the next one.
    int atom = k / kAtomColumns, within = k % kAtomColumns * 2;
    std::string at = std::to_string(k);
    describe("q" + at, "q_start", atom * kTileRows * kAtomRowBytes + within,
             16);
    describe("k" + at, "start", keyStart + atom * keys * kAtomRowBytes + within,
             16);
    os << "%s" << at << " = nvvm.wgmma.mma_async %q" << at << ", %k" << at
       << ", %" << last << ", <m = 64, n = " << keys << ", k = 16>, D [<f32>, <"
       << (k == 0 ? "zero" : "one") << ">], A [<" << type
       << ">, <one>, <row>], B [<" << type << ">, <one>, <col>] : " << scores
       << " -> " << scores << "\n";
    last = "s" + at;
  }
  os << "nvvm.wgmma.commit.group.sync.aligned\n%scores = wgmma.wait_group 0, %"
     << last << " : " << scores << "\n"
     << "%none = llvm.mlir.poison : vector<2xf32>\n"
        "%i0 = llvm.mlir.constant(0 : i32) : i32\n"
        "%i1 = llvm.mlir.constant(1 : i32) : i32\n";
  for (int i = 0; i < keys / 2; i += 2) {
    os << "%x" << i << " = llvm.extractvalue %scores[" << i << "] : " << scores
       << "\n%y" << i << " = llvm.extractvalue %scores[" << i + 1
       << "] : " << scores << "\n%u" << i << " = llvm.insertelement %x" << i
       << ", %none[%i0 : i32] : vector<2xf32>\n%v" << i
       << " = llvm.insertelement %y" << i << ", %u" << i
       << "[%i1 : i32] : vector<2xf32>\n%t" << i << " = llvm.fptrunc %v" << i
       << " : vector<2xf32> to vector<2x" << type << ">\n%p" << i / 2
       << " = llvm.bitcast %t" << i << " : vector<2x" << type << "> to i32\n";
  }
  os << "nvvm.wgmma.fence.aligned\n%o = llvm.mlir.poison : " << result << "\n";
  last = "o";
  for (int k = 0; k < keys; k += kStep) {
    std::string at = std::to_string(k);
    int first = k / kStep * 4;
    describe("r" + at, "start", valueStart + k * kAtomRowBytes,
             keys * kAtomRowBytes);
    os << "%o" << at << " = wgmma.mma_async [%p" << first << ", %p" << first + 1
       << ", %p" << first + 2 << ", %p" << first + 3 << "], %r" << at << ", %"
       << last << ", <m = 64, n = " << depth << ", k = 16>, <" << type
       << ">, D [<" << (k == 0 ? "zero" : "one") << ">], B [<row>] : " << result
       << "\n";
    last = "o" + at;
  }
  std::string row = "vector<" + std::to_string(keys / 2) + "xf32>";
  os << "nvvm.wgmma.commit.group.sync.aligned\n%row0 = llvm.mlir.poison : "
     << row << "\n";
  for (int i = 0; i < keys / 2; ++i)
    os << "%e" << i << " = llvm.extractvalue %scores[" << i << "] : " << scores
       << "\n%at" << i << " = llvm.mlir.constant(" << i << " : i32) : i32\n%row"
       << i + 1 << " = llvm.insertelement %e" << i << ", %row" << i << "[%at"
       << i << " : i32] : " << row << "\n";
  os << "%nothing = llvm.mlir.constant(0.0 : f32) : f32\n"
        "%sum = \"llvm.intr.vector.reduce.fadd\"(%nothing, %row"
     << keys / 2 << ") {fastmathFlags = #llvm.fastmath<reassoc>} : (f32, "
     << row << ") -> f32\n"
     << "%its_sum = llvm.getelementptr %sums[%tid] : (!llvm.ptr<1>, i32) -> "
        "!llvm.ptr<1>, f32\nllvm.store %sum, %its_sum : f32, !llvm.ptr<1>\n"
        "%result = wgmma.wait_group 0, %"
     << last << " : " << result << "\n"
     << "%mine = llvm.getelementptr %out[%tid] : (!llvm.ptr<1>, i32) -> "
        "!llvm.ptr<1>, vector<"
     << depth / 2
     << "xf32>\nllvm.store %result, %mine {alignment = 4 : i64} : " << result
     << ", !llvm.ptr<1>\nllvm.return\n}\n";
  return text;
}

TEST_P(ChainedMmasTest, MultipliesTwice) {
  int depth, keys, seed;
  bool isBrain;
  std::tie(depth, keys, isBrain, seed) = GetParam();
  DataType type = isBrain ? DataType::BF16 : DataType::F16;
  std::vector<uint16_t> image((kTileRows + 2 * keys) * depth);
  auto fill = [&](int start, int rows, int (*element)(int, int)) {
    for (int row = 0; row < rows; ++row)
      for (int column = 0; column < depth; ++column)
        storeElement(type, &image[(start + place(rows, row, column)) / 2],
                     element(row, column));
  };
  fill(0, kTileRows, query);
  fill(kTileRows * depth * 2, keys, key);
  fill((kTileRows + keys) * depth * 2, keys, value);
  std::vector<float> out(kThreads * depth / 2), sums(kThreads);
  buffers = {{image.data(), static_cast<int64_t>(image.size() * 2)},
             {out.data(), static_cast<int64_t>(out.size() * sizeof(float))},
             {sums.data(), static_cast<int64_t>(sums.size() * sizeof(float))}};
  llvm::Error error = run(makeKernel(depth, keys, isBrain ? "bf16" : "f16"),
                          "chain", kThreads, {}, seed);
  ASSERT_FALSE(error) << toString(std::move(error));
  std::vector<int> scores(kTileRows * keys);
  for (int row = 0; row < kTileRows; ++row)
    for (int at = 0; at < keys; ++at)
      for (int k = 0; k < depth; ++k)
        scores[row * keys + at] += query(row, k) * key(at, k);
  // Element i of a lane's part of an MMA.
  auto getPlace = [](int thread, int i) {
    return std::make_pair(thread / 32 * 16 + thread % 32 / 4 + i % 4 / 2 * 8,
                          i / 4 * 8 + thread % 4 * 2 + i % 2);
  };
  for (int thread = 0; thread < kThreads; ++thread) {
    int total = 0;
    for (int i = 0; i < keys / 2; ++i) {
      auto [row, at] = getPlace(thread, i);
      total += scores[row * keys + at];
    }
    ASSERT_EQ(sums[thread], total) << "thread " << thread;
    for (int i = 0; i < depth / 2; ++i) {
      auto [row, column] = getPlace(thread, i);
      int sum = 0;
      for (int at = 0; at < keys; ++at)
        sum += scores[row * keys + at] * value(at, column);
      ASSERT_EQ(out[thread * depth / 2 + i], sum)
          << "row " << row << " column " << column;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, ChainedMmasTest,
                         testing::Combine(testing::Values(64, 128),
                                          testing::Values(64, 80, 176),
                                          testing::Bool(),
                                          testing::Values(0, 3)));
