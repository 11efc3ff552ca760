// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What NVIDIA's driver is asked for. The numbers are those of cuda.h.

#include "FakeCUDA.h"
#include "attune/Runtime/Device.h"
#include "gtest/gtest.h"

using namespace attune;

/// A map of a 2x3x129x64 tensor whose rows stand 3 * 64 elements apart, as
/// those of interleaved heads do.
static TensorMapRequest makeRequest() {
  TensorMapRequest request;
  request.address = 0x1000;
  request.type = DataType::BF16;
  request.sizes = {2, 3, 129, 64};
  request.strides = {129 * 3 * 64, 64, 3 * 64, 1};
  request.box = {1, 1, 128, 32};
  request.swizzleBytes = 64;
  return request;
}

static std::string errorOf(const TensorMapRequest &request) {
  auto device = llvm::cantFail(openCUDADevice(0));
  auto map = device->encodeTensorMap(request);
  return map ? "" : llvm::toString(map.takeError());
}

TEST(CUDA, EncodesTensorMapsFromTheInnermostDimension) {
  fakeEncoding = {};
  auto device = llvm::cantFail(openCUDADevice(0));
  TensorMap map = llvm::cantFail(device->encodeTensorMap(makeRequest()));
  EXPECT_EQ(map[15], 42u);
  EXPECT_EQ(fakeEncoding.map % 64, 0u);
  EXPECT_EQ(fakeEncoding.address, 0x1000u);
  EXPECT_EQ(fakeEncoding.type, 9);
  EXPECT_EQ(fakeEncoding.sizes, (std::vector<uint64_t>{64, 129, 3, 2}));
  EXPECT_EQ(fakeEncoding.strideBytes,
            (std::vector<uint64_t>{3 * 128, 128, 129 * 3 * 128}));
  EXPECT_EQ(fakeEncoding.box, (std::vector<uint32_t>{32, 128, 1, 1}));
  EXPECT_EQ(fakeEncoding.elementStrides, (std::vector<uint32_t>{1, 1, 1, 1}));
  EXPECT_EQ(fakeEncoding.interleave, 0);
  EXPECT_EQ(fakeEncoding.swizzle, 2);
  EXPECT_EQ(fakeEncoding.promotion, 3);
  EXPECT_EQ(fakeEncoding.fill, 0);
}

TEST(CUDA, KnowsTheTypesAndSwizzlesOfTensorMaps) {
  TensorMapRequest request = makeRequest();
  for (auto [type, number] :
       {std::pair(DataType::F16, 6), {DataType::F32, 7}, {DataType::BF16, 9}}) {
    request.type = type;
    EXPECT_EQ(errorOf(request), "");
    EXPECT_EQ(fakeEncoding.type, number);
  }
  for (auto [bytes, number] : {std::pair(0, 0), {32, 1}, {64, 2}, {128, 3}}) {
    request.swizzleBytes = bytes;
    EXPECT_EQ(errorOf(request), "");
    EXPECT_EQ(fakeEncoding.swizzle, number);
  }
  request.swizzleBytes = 16;
  EXPECT_EQ(errorOf(request), "expects a tensor map with a swizzle of 0, 32, "
                              "64 or 128 bytes, but got 16");
  request.type = DataType::I8;
  EXPECT_EQ(errorOf(request),
            "expects a tensor map of f16, bf16 or f32, but got i8");
}

TEST(CUDA, SaysWhichTensorMapTheDriverRefused) {
  fakeEncoding.status = 1;
  EXPECT_EQ(errorOf(makeRequest()),
            "failed to encode a tensor map of 2x3x129x64xbf16 with the strides "
            "24768x64x192x1, a box of 1x1x128x32 and a swizzle of 64 bytes: "
            "CUDA_ERROR_INVALID_VALUE (1)");
  fakeEncoding.status = 0;
}
