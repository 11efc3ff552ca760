// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Boxes of tensors of 1 to 5 dimensions to and from workgroup memory, whose
// bytes are compared one by one with what the CUDA driver API and the PTX ISA
// say of tensor maps; and the maps that a driver refuses.

#include "KernelTest.h"
#include <numeric>

using namespace attune;

static constexpr int kSharedBytes = 16384;
static constexpr int16_t kUntouched = 0x7777;

namespace {
/// A tensor of 16-bit elements and one box of it; outermost dimension first.
struct Case {
  std::vector<int64_t> sizes, strides, box;
  /// Of the box's first element.
  std::vector<int32_t> at;
  int64_t swizzle;
  /// Of the box in workgroup memory.
  uint32_t offset;

  int64_t getElements() const {
    int64_t last = 0;
    for (size_t dim = 0; dim < sizes.size(); ++dim)
      last += (sizes[dim] - 1) * strides[dim];
    return last + 1;
  }
  TensorMapRequest getRequest() const {
    TensorMapRequest request;
    request.type = DataType::BF16;
    request.sizes.assign(sizes.begin(), sizes.end());
    request.strides.assign(strides.begin(), strides.end());
    request.box.assign(box.begin(), box.end());
    request.swizzleBytes = swizzle;
    return request;
  }
  /// As gtest shows it.
  friend void PrintTo(const Case &box, std::ostream *stream) {
    for (const auto &[name, numbers] :
         {std::pair("sizes", box.sizes), std::pair("box", box.box),
          std::pair("at",
                    std::vector<int64_t>(box.at.begin(), box.at.end()))}) {
      *stream << name;
      for (int64_t number : numbers)
        *stream << ' ' << number;
      *stream << ", ";
    }
    *stream << "swizzle " << box.swizzle << ", offset " << box.offset;
  }
  /// Calls `visit` with the byte offset in workgroup memory of each element of
  /// the box, and its number in the tensor's memory, or -1 outside of it.
  template <typename Function> void forEach(Function visit) const {
    std::vector<int64_t> index(box.size());
    int64_t pitch = swizzle ? swizzle : box.back() * 2;
    for (int64_t row = 0;; ++row) {
      for (index.back() = 0; index.back() < box.back(); ++index.back()) {
        int64_t element = 0;
        for (size_t dim = 0; dim < box.size(); ++dim) {
          int64_t position = at[dim] + index[dim];
          if (position < 0 || position >= sizes[dim] || element < 0)
            element = -1;
          else
            element += position * strides[dim];
        }
        int64_t place = offset + row * pitch + index.back() * 2;
        // Bits 4 to 6 are changed by bits 7 to 9, or fewer of them.
        int64_t mask = swizzle == 128 ? 7 : swizzle == 64 ? 3 : swizzle / 32;
        place ^= (place >> 7 & mask) << 4;
        visit(place, element);
      }
      size_t dim = box.size() - 1;
      while (dim-- > 0 && ++index[dim] == box[dim])
        index[dim] = 0;
      if (dim == size_t(-1))
        return;
    }
  }
};

class TensorCopiesTest
    : public KernelTest,
      public testing::WithParamInterface<std::tuple<Case, bool, int>> {};
} // namespace

/// Kernels that copy a box to workgroup memory and all of this to %memory, or
/// the other way round.
static std::string makeKernels(size_t rank, uint32_t offset, int64_t bytes,
                               bool isCTAOnly) {
  std::string text, parameters, coordinates;
  for (size_t dim = 0; dim < rank; ++dim) {
    parameters += ", %x" + std::to_string(dim) + ": i32";
    // Innermost first.
    coordinates += (dim ? ", %x" : "%x") + std::to_string(rank - 1 - dim);
  }
  std::string signature =
      "(%memory: !llvm.ptr<1>, %tensor: !llvm.ptr<1>, %map: !llvm.ptr "
      "{llvm.byval = !llvm.array<128 x i8>, llvm.align = 64 : i64, "
      "nvvm.grid_constant}" +
      parameters + ") attributes {gpu.kernel, nvvm.kernel} {\n";
  std::string start = R"mlir(
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %threads = llvm.mlir.constant(32 : i32) : i32
    %pieces = llvm.mlir.constant()mlir" +
                      std::to_string(kSharedBytes / 16) + R"mlir( : i32) : i32
    %offset = llvm.mlir.constant()mlir" +
                      std::to_string(offset) + R"mlir( : i32) : i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %shared = llvm.mlir.addressof @shared : !llvm.ptr<3>
    %box = llvm.getelementptr %shared[%offset] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
)mlir";
  auto copyAll = [](llvm::StringRef from, llvm::StringRef to,
                    llvm::StringRef next) {
    auto pointer = [](llvm::StringRef name) {
      return name == "shared" ? "!llvm.ptr<3>" : "!llvm.ptr<1>";
    };
    return llvm::formatv(R"mlir(
    llvm.br ^copy(%tid : i32)
  ^copy(%at: i32):
    %from = llvm.getelementptr %{0}[%at] : ({1}, i32) -> {1}, vector<4xi32>
    %to = llvm.getelementptr %{2}[%at] : ({3}, i32) -> {3}, vector<4xi32>
    %piece = llvm.load %from : {1} -> vector<4xi32>
    llvm.store %piece, %to : vector<4xi32>, {3}
    %next = llvm.add %at, %threads : i32
    %more = llvm.icmp "ult" %next, %pieces : i32
    llvm.cond_br %more, ^copy(%next : i32), ^{4}
)mlir",
                         from, pointer(from), to, pointer(to), next)
        .str();
  };
  std::string load =
      isCTAOnly
          ? "nvvm.cp.async.bulk.tensor.shared.cluster.global %box, %map, "
            "%barrier, box[" +
                coordinates + "] {isCTAOnly = true} : !llvm.ptr<3>, !llvm.ptr\n"
          : "%box7 = llvm.addrspacecast %box : !llvm.ptr<3> to !llvm.ptr<7>\n"
            "%hint = llvm.mlir.constant(1 : i64) : i64\n"
            "nvvm.cp.async.bulk.tensor.shared.cluster.global %box7, %map, "
            "%barrier, box[" +
                coordinates +
                "] l2_cache_hint = %hint : !llvm.ptr<7>, !llvm.ptr\n";
  return "llvm.mlir.global internal @shared() {addr_space = 3 : i32, alignment "
         "= 1024 : i64} : !llvm.array<" +
         std::to_string(kSharedBytes) +
         " x i8>\n"
         "llvm.mlir.global internal @barrier() {addr_space = 3 : i32, "
         "alignment = 8 : i64} : !llvm.array<8 x i8>\n"
         "llvm.func @load" +
         signature + start + copyAll("memory", "shared", "barriers") + R"mlir(
  ^barriers:
    nvvm.barrier0
    %barrier = llvm.mlir.addressof @barrier : !llvm.ptr<3>
    %bytes = llvm.mlir.constant()mlir" +
         std::to_string(bytes) + R"mlir( : i32) : i32
    %ticks = llvm.mlir.constant(1000 : i32) : i32
    %first = llvm.icmp "eq" %tid, %zero : i32
    llvm.cond_br %first, ^init, ^meet
  ^init:
    nvvm.mbarrier.init %barrier, %one : !llvm.ptr<3>, i32
    nvvm.fence.mbarrier.init
    nvvm.prefetch tensormap in_param_space, %map : !llvm.ptr
    nvvm.mbarrier.arrive.expect_tx %barrier, %bytes : !llvm.ptr<3>, i32
    )mlir" +
         load + R"mlir(
    llvm.br ^meet
  ^meet:
    nvvm.barrier0
    nvvm.mbarrier.try_wait.parity %barrier, %zero, %ticks : !llvm.ptr<3>, i32, i32
    llvm.br ^again(%tid : i32)
  ^again(%index: i32):
    %source = llvm.getelementptr %shared[%index] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, vector<4xi32>
    %target = llvm.getelementptr %memory[%index] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, vector<4xi32>
    %value = llvm.load %source : !llvm.ptr<3> -> vector<4xi32>
    llvm.store %value, %target : vector<4xi32>, !llvm.ptr<1>
    %following = llvm.add %index, %threads : i32
    %goes_on = llvm.icmp "ult" %following, %pieces : i32
    llvm.cond_br %goes_on, ^again(%following : i32), ^done
  ^done:
    llvm.return
  }
  llvm.func @store)mlir" +
         signature + start + copyAll("memory", "shared", "fence") + R"mlir(
  ^fence:
    nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
    nvvm.barrier0
    %first = llvm.icmp "eq" %tid, %zero : i32
    llvm.cond_br %first, ^store, ^done
  ^store:
    nvvm.cp.async.bulk.tensor.global.shared.cta %map, %box, box[)mlir" +
         coordinates + R"mlir(] : !llvm.ptr, !llvm.ptr<3>
    nvvm.cp.async.bulk.commit.group
    nvvm.cp.async.bulk.wait_group 0 {read}
    llvm.br ^done
  ^done:
    llvm.return
  })mlir";
}

TEST_P(TensorCopiesTest, CopiesEachElement) {
  Case box = std::get<0>(GetParam());
  bool isStore = std::get<1>(GetParam());
  int seed = std::get<2>(GetParam());
  size_t rank = box.sizes.size();
  // Those that are read begin at multiples of 16 bytes.
  if (!isStore)
    box.at.back() &= ~7;
  std::vector<int16_t> tensor(box.getElements()), memory(kSharedBytes / 2);
  std::iota(tensor.begin(), tensor.end(), 1);
  if (isStore)
    std::iota(memory.begin(), memory.end(), 20000);
  else
    std::fill(memory.begin(), memory.end(), kUntouched);
  std::vector<int16_t> expectedTensor = tensor, expectedMemory = memory;
  box.forEach([&](int64_t place, int64_t element) {
    if (!isStore)
      expectedMemory[place / 2] = element < 0 ? 0 : tensor[element];
    else if (element >= 0)
      expectedTensor[element] = memory[place / 2];
  });
  buffers = {{memory.data(), kSharedBytes},
             {tensor.data(), static_cast<int64_t>(tensor.size() * 2)}};
  maps = {{1, box.getRequest()}};
  llvm::SmallVector<void *> arguments;
  for (int32_t &coordinate : box.at)
    arguments.push_back(&coordinate);
  int64_t bytes = 2;
  for (int64_t size : box.box)
    bytes *= size;
  llvm::Error error =
      run(makeKernels(rank, box.offset, bytes, /*isCTAOnly=*/seed != 0),
          isStore ? "store" : "load", 32, arguments, seed);
  ASSERT_FALSE(error) << toString(std::move(error));
  EXPECT_EQ(tensor, expectedTensor);
  EXPECT_EQ(memory, expectedMemory);
}

static const Case cases[] = {
    // One row, within the tensor and over both of its ends.
    {{100}, {1}, {64}, {16}, 0, 0},
    {{100}, {1}, {64}, {80}, 128, 1024},
    {{100}, {1}, {64}, {-5}, 128, 1024},
    // Each swizzle, with rows that fill its span.
    {{20, 64}, {72, 1}, {16, 64}, {2, 0}, 128, 1024},
    {{20, 64}, {72, 1}, {16, 32}, {2, 8}, 64, 1024},
    {{20, 64}, {72, 1}, {16, 16}, {2, 8}, 32, 1024},
    {{20, 64}, {72, 1}, {16, 64}, {2, 0}, 0, 1024},
    // The pattern goes by addresses, not by rows.
    {{20, 64}, {72, 1}, {16, 64}, {2, 0}, 128, 1024 + 384},
    {{20, 64}, {72, 1}, {16, 32}, {2, 0}, 64, 1024 + 128},
    {{20, 64}, {72, 1}, {16, 16}, {2, 0}, 32, 1024 + 128},
    // Rows shorter than the span.
    {{20, 64}, {72, 1}, {16, 24}, {2, 8}, 128, 1024},
    // Beyond each side, and entirely.
    {{20, 64}, {72, 1}, {16, 64}, {-3, -7}, 128, 1024},
    {{20, 64}, {72, 1}, {16, 64}, {10, 9}, 128, 1024},
    {{20, 64}, {72, 1}, {16, 64}, {40, 0}, 128, 1024},
    // Sizes that are no multiple of 16 bytes.
    {{20, 61}, {64, 1}, {16, 64}, {2, 0}, 128, 1024},
    // Batch, heads, rows, columns, in another order of memory.
    {{3, 2, 8}, {8, 24, 1}, {2, 2, 8}, {2, 1, 0}, 0, 128},
    {{2, 3, 20, 64},
     {20 * 3 * 64, 64, 3 * 64, 1},
     {1, 1, 16, 64},
     {1, 2, 8, 0},
     128,
     2048},
    {{2, 2, 3, 3, 16},
     {288, 144, 48, 16, 1},
     {2, 1, 2, 3, 16},
     {0, 1, 2, -1, 0},
     32,
     256},
};
INSTANTIATE_TEST_SUITE_P(Boxes, TensorCopiesTest,
                         testing::Combine(testing::ValuesIn(cases),
                                          testing::Bool(),
                                          testing::Values(0, 3)));

/// A map may name more than the buffer has: what the box asks for counts.
TEST_F(KernelTest, FindsBoxesOutsideOfBuffers) {
  for (bool isStore : {false, true}) {
    std::vector<int16_t> tensor(20 * 64), memory(kSharedBytes / 2);
    Case box{{40, 64}, {64, 1}, {16, 64}, {5, 0}, 128, 1024};
    buffers = {{memory.data(), kSharedBytes},
               {tensor.data(), static_cast<int64_t>(tensor.size() * 2)}};
    maps = {{1, box.getRequest()}};
    std::string message;
    mlir::ScopedDiagnosticHandler handler(&context,
                                          [&](mlir::Diagnostic &diagnostic) {
                                            message = diagnostic.str();
                                            return mlir::success();
                                          });
    EXPECT_TRUE(llvm::errorToBool(
        run(makeKernels(2, box.offset, 16 * 64 * 2, /*isCTAOnly=*/true),
            isStore ? "store" : "load", 32, {&box.at[0], &box.at[1]}, 0)));
    // The first 15 rows of the box are in the buffer.
    EXPECT_NE(message.find(isStore ? "writes 16 bytes outside of the kernel's "
                                     "arguments"
                                   : "reads 16 bytes outside of the kernel's "
                                     "arguments"),
              std::string::npos)
        << message;
    EXPECT_NE(message.find("0 bytes behind the end of a buffer"),
              std::string::npos)
        << message;
  }
}

TEST_F(KernelTest, RefusesTensorMapsThatADriverRefuses) {
  HostDevice device(context, target, HostOptions());
  TensorMapRequest right;
  right.address = 4096;
  right.type = DataType::BF16;
  right.sizes = {20, 64};
  right.strides = {64, 1};
  right.box = {16, 64};
  right.swizzleBytes = 128;
  ASSERT_TRUE(static_cast<bool>(device.encodeTensorMap(right)));
  auto refusal = [&](auto change) {
    TensorMapRequest request = right;
    change(request);
    auto map = device.encodeTensorMap(request);
    return map ? std::string() : toString(map.takeError());
  };
  using Request = TensorMapRequest;
  EXPECT_EQ(refusal([](Request &r) { r.sizes = r.strides = r.box = {}; }),
            "expects a tensor map of 1 to 5 dimensions, but got 0");
  EXPECT_EQ(refusal([](Request &r) {
              r.sizes = r.box = {1, 1, 1, 1, 1, 8};
              r.strides = {8, 8, 8, 8, 8, 1};
            }),
            "expects a tensor map of 1 to 5 dimensions, but got 6");
  EXPECT_EQ(refusal([](Request &r) { r.box = {16}; }),
            "expects a tensor map of as many strides and box sizes as "
            "dimensions, 2, but got 2 and 1");
  EXPECT_EQ(refusal([](Request &r) { r.address = 4104; }),
            "expects a tensor map of an address that is a multiple of 16 "
            "bytes, but got 0x1008");
  EXPECT_EQ(refusal([](Request &r) { r.sizes[0] = 0; }),
            "expects a tensor map of 1 to 4294967296 elements in each "
            "dimension, but got 0");
  EXPECT_EQ(refusal([](Request &r) { r.sizes[0] = (int64_t(1) << 32) + 1; }),
            "expects a tensor map of 1 to 4294967296 elements in each "
            "dimension, but got 4294967297");
  EXPECT_EQ(refusal([](Request &r) { r.strides[1] = 2; }),
            "expects a tensor map of a last stride of 1, but got 2");
  EXPECT_EQ(refusal([](Request &r) { r.strides[0] = 68; }),
            "expects a tensor map of strides that are multiples of 16 bytes "
            "below 1099511627776, but got 68 elements of 2");
  EXPECT_EQ(refusal([](Request &r) { r.strides[0] = int64_t(1) << 39; }),
            "expects a tensor map of strides that are multiples of 16 bytes "
            "below 1099511627776, but got 549755813888 elements of 2");
  EXPECT_EQ(refusal([](Request &r) { r.box[0] = 257; }),
            "expects a tensor map of a box of 1 to 256 elements in each "
            "dimension, but got 257");
  EXPECT_EQ(refusal([](Request &r) { r.box[0] = 0; }),
            "expects a tensor map of a box of 1 to 256 elements in each "
            "dimension, but got 0");
  EXPECT_EQ(refusal([](Request &r) { r.swizzleBytes = 256; }),
            "expects a tensor map of a swizzle of 0, 32, 64 or 128 bytes, but "
            "got 256");
  EXPECT_EQ(refusal([](Request &r) {
              r.swizzleBytes = 0;
              r.box[1] = 12;
            }),
            "expects a tensor map of rows of the box that are a multiple of "
            "16 bytes, but got 24");
  EXPECT_EQ(refusal([](Request &r) { r.swizzleBytes = 64; }),
            "expects a tensor map of rows of the box that are a multiple of "
            "16 bytes and at most the swizzle's 64, but got 128");
}
