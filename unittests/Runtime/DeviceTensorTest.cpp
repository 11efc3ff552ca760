// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Guard bands, gaps and poison, and the parameters of a kernel.

#include "attune/Runtime/DeviceTensor.h"
#include "FakeDevice.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace attune;

static std::unique_ptr<DeviceTensor> makeTensor(Device &device,
                                                TensorShape shape) {
  return llvm::cantFail(DeviceTensor::create(device, std::move(shape)));
}

static std::string messageOf(llvm::Expected<Tensor> tensor) {
  return tensor ? "" : llvm::toString(tensor.takeError());
}

static void write(const DeviceTensor &tensor, int64_t element, float value) {
  reinterpret_cast<float *>(tensor.getAddress())[element] = value;
}

TEST(DeviceTensor, UnwrittenOutputsAreNaN) {
  FakeDevice device;
  for (DataType type : {DataType::F16, DataType::BF16, DataType::F32}) {
    auto tensor = makeTensor(device, TensorShape::contiguous(type, {3, 5}));
    for (float value : llvm::cantFail(tensor->read()).toFloats())
      EXPECT_TRUE(std::isnan(value));
  }
}

TEST(DeviceTensor, ReadsWhatWasWritten) {
  FakeDevice device;
  Tensor source(TensorShape::contiguous(DataType::F32, {2, 3}));
  for (int64_t i = 0; i < 6; ++i)
    source.store(i, static_cast<double>(i));
  auto tensor = llvm::cantFail(DeviceTensor::create(device, source));
  EXPECT_EQ(llvm::cantFail(tensor->read()).bytes, source.bytes);
}

TEST(DeviceTensor, FindsWritesBeyondTheEnds) {
  FakeDevice device;
  auto shape = TensorShape::contiguous(DataType::F32, {4});
  auto before = makeTensor(device, shape);
  write(*before, -1, 0);
  EXPECT_NE(messageOf(before->read()).find("before the start"),
            std::string::npos);
  auto after = makeTensor(device, shape);
  write(*after, 4, 0);
  EXPECT_NE(messageOf(after->read()).find("wrote 0 bytes after the end"),
            std::string::npos);
  ASSERT_FALSE(after->poison());
  EXPECT_EQ(messageOf(after->read()), "");
}

TEST(DeviceTensor, FindsWritesIntoGaps) {
  FakeDevice device;
  TensorShape shape{DataType::F32, {2, 2}, {4, 1}};
  auto tensor = makeTensor(device, shape);
  for (int64_t element : {0, 1, 4, 5})
    write(*tensor, element, static_cast<float>(element));
  Tensor read = llvm::cantFail(tensor->read());
  EXPECT_EQ(read.toFloats(), (std::vector<float>{0, 1, 4, 5}));
  write(*tensor, 2, 0);
  EXPECT_NE(messageOf(tensor->read()).find("between the elements"),
            std::string::npos);
}

TEST(DeviceTensor, CopiesElementsAndHasPoisonBetweenThem) {
  FakeDevice device;
  TensorShape shape{DataType::F32, {2, 2}, {4, 1}};
  Tensor source(shape);
  for (int64_t element : {0, 1, 4, 5})
    source.store(element, static_cast<double>(element));
  auto tensor = llvm::cantFail(DeviceTensor::create(device, source));
  std::vector<float> expected{0, 1, 4, 5};
  EXPECT_EQ(llvm::cantFail(tensor->read()).toFloats(), expected);
  auto copy = makeTensor(device, shape);
  ASSERT_FALSE(copy->assign(*tensor));
  EXPECT_EQ(llvm::cantFail(copy->read()).toFloats(), expected);
  write(*tensor, 3, 0);
  llvm::Error error = copy->assign(*tensor);
  EXPECT_NE(llvm::toString(std::move(error)).find("between the elements"),
            std::string::npos);
}

TEST(DeviceTensor, RefusesWhatNoMachineCanHold) {
  FakeDevice device;
  auto tensor = DeviceTensor::create(
      device, TensorShape::contiguous(DataType::F32,
                                      {int64_t(1) << 40, int64_t(1) << 40}));
  ASSERT_FALSE(tensor);
  EXPECT_NE(llvm::toString(tensor.takeError()).find("expects at most"),
            std::string::npos);
  EXPECT_TRUE(device.allocations.empty());
}

TEST(DeviceTensor, ReshapesWithoutACopy) {
  FakeDevice device;
  Tensor source(TensorShape::contiguous(DataType::F32, {2, 3}));
  for (int64_t i = 0; i < 6; ++i)
    source.store(i, static_cast<double>(i));
  std::shared_ptr<DeviceTensor> tensor =
      llvm::cantFail(DeviceTensor::create(device, source));
  std::shared_ptr<DeviceTensor> view = DeviceTensor::reshape(tensor, {3, 1, 2});
  EXPECT_EQ(view->getAddress(), tensor->getAddress());
  // The memory is there as long as one of them.
  tensor.reset();
  EXPECT_EQ(device.allocations.size(), 1u);
  Tensor read = llvm::cantFail(view->read());
  EXPECT_EQ(read.shape.sizes, (llvm::SmallVector<int64_t, 4>{3, 1, 2}));
  EXPECT_EQ(read.bytes, source.bytes);
  view.reset();
  EXPECT_TRUE(device.allocations.empty());
}

TEST(DeviceTensor, FreesItsMemory) {
  FakeDevice device;
  makeTensor(device, TensorShape::contiguous(DataType::F32, {}));
  EXPECT_TRUE(device.allocations.empty());
}

TEST(TensorShape, SpansAndOffsets) {
  TensorShape shape{DataType::BF16, {2, 3}, {1, 2}};
  EXPECT_EQ(shape.getSpan(), 6);
  EXPECT_FALSE(shape.isContiguous());
  std::vector<int64_t> offsets;
  shape.forEachOffset([&](int64_t offset) { offsets.push_back(offset); });
  EXPECT_EQ(offsets, (std::vector<int64_t>{0, 2, 4, 1, 3, 5}));
  TensorShape empty = TensorShape::contiguous(DataType::F32, {2, 0, 3});
  EXPECT_EQ(empty.getSpan(), 0);
  empty.forEachOffset([](int64_t) { FAIL(); });
  EXPECT_EQ(TensorShape::contiguous(DataType::F32, {}).getSpan(), 1);
}

TEST(PackedArguments, ExpandsBuffersAsMemrefs) {
  TensorShape shape{DataType::F32, {2, 3}, {30, 10}};
  KernelArgument arguments[] = {KernelArgument::buffer(0x1000, shape),
                                KernelArgument::scalar(DataType::I32, 7)};
  PackedArguments packed(arguments);
  std::vector<uint64_t> expected{0x1000, 0x1000, 0, 2, 3, 30, 10, 7};
  EXPECT_EQ(packed.getWords(), llvm::ArrayRef<uint64_t>(expected));
  auto pointers = packed.getPointers();
  ASSERT_EQ(pointers.size(), 8u);
  EXPECT_EQ(*static_cast<uint64_t *>(pointers[3]), 2u);
  EXPECT_EQ(*static_cast<int32_t *>(pointers[7]), 7);
}

TEST(PackedArguments, AlignsTensorMaps) {
  TensorMap map;
  map.fill(5);
  KernelArgument arguments[] = {
      KernelArgument::scalar(DataType::I64, 7), KernelArgument::tensorMap(map),
      KernelArgument::tensorMap(map), KernelArgument::scalar(DataType::I64, 8)};
  PackedArguments first(arguments);
  // Launches are moved.
  PackedArguments packed(std::move(first));
  auto pointers = packed.getPointers();
  ASSERT_EQ(pointers.size(), 4u);
  EXPECT_EQ(*static_cast<uint64_t *>(pointers[0]), 7u);
  EXPECT_EQ(*static_cast<uint64_t *>(pointers[3]), 8u);
  for (size_t i : {1, 2}) {
    EXPECT_EQ(reinterpret_cast<uintptr_t>(pointers[i]) % 64, 0u);
    EXPECT_EQ(*static_cast<TensorMap *>(pointers[i]), map);
  }
}

TEST(EncodeTensorMap, AsksForWhatTheBufferIs) {
  FakeDevice device;
  TensorShape shape{DataType::BF16, {2, 0, 64}, {128, 64, 1}};
  llvm::cantFail(encodeTensorMap(device, KernelArgument::buffer(0x1000, shape),
                                 {1, 64, 32}, 64));
  ASSERT_EQ(device.maps.size(), 1u);
  const TensorMapRequest &request = device.maps.front();
  EXPECT_EQ(request.address, 0x1000u);
  EXPECT_EQ(request.type, DataType::BF16);
  EXPECT_EQ(llvm::ArrayRef(request.sizes), llvm::ArrayRef<int64_t>({2, 1, 64}));
  EXPECT_EQ(llvm::ArrayRef(request.strides),
            llvm::ArrayRef<int64_t>({16, 16, 1}));
  EXPECT_EQ(llvm::ArrayRef(request.box), llvm::ArrayRef<int64_t>({1, 64, 32}));
  EXPECT_EQ(request.swizzleBytes, 64);
}
