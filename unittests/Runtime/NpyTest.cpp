// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Files are read as they were written, and damaged ones are refused.

#include "attune/Runtime/Npy.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

using namespace attune;
using llvm::StringRef;

static llvm::Expected<Tensor> readContent(StringRef content,
                                          const TensorShape &shape) {
  llvm::SmallString<128> path;
  int descriptor;
  EXPECT_FALSE(
      llvm::sys::fs::createTemporaryFile("array", "npy", descriptor, path));
  llvm::FileRemover remover(path);
  llvm::raw_fd_ostream(descriptor, /*shouldClose=*/true) << content;
  return readNpy(path, shape);
}

static std::string getError(StringRef content, const TensorShape &shape) {
  auto tensor = readContent(content, shape);
  return tensor ? "" : llvm::toString(tensor.takeError());
}

static Tensor makeTensor(TensorShape shape) {
  Tensor tensor(shape);
  int64_t value = 0;
  shape.forEachOffset([&](int64_t offset) { tensor.store(offset, value++); });
  return tensor;
}

TEST(Npy, ReadsWhatItWrites) {
  for (DataType type :
       {DataType::F16, DataType::BF16, DataType::F32, DataType::F64,
        DataType::I8, DataType::I16, DataType::I32, DataType::I64})
    for (llvm::SmallVector<int64_t, 4> sizes :
         {llvm::SmallVector<int64_t, 4>{}, {3}, {2, 3}, {2, 0, 3}}) {
      Tensor tensor = makeTensor(TensorShape::contiguous(type, sizes));
      std::string content = writeNpy(tensor);
      EXPECT_EQ((content.size() - tensor.bytes.size()) % 64, 0u);
      auto read = readContent(content, tensor.shape);
      ASSERT_TRUE(!!read) << llvm::toString(read.takeError());
      EXPECT_EQ(read->bytes, tensor.bytes);
    }
}

TEST(Npy, KeepsStridesOnTheOutside) {
  TensorShape strided = TensorShape::contiguous(DataType::F32, {2, 3});
  strided.strides = {8, 2};
  Tensor tensor = makeTensor(strided);
  auto packed = readContent(writeNpy(tensor),
                            TensorShape::contiguous(DataType::F32, {2, 3}));
  ASSERT_TRUE(!!packed) << llvm::toString(packed.takeError());
  EXPECT_EQ(packed->toFloats(), (std::vector<float>{0, 1, 2, 3, 4, 5}));
  auto again = readContent(writeNpy(*packed), strided);
  ASSERT_TRUE(!!again) << llvm::toString(again.takeError());
  EXPECT_EQ(again->bytes, tensor.bytes);
}

TEST(Npy, RefusesWhatDoesNotFit) {
  TensorShape shape = TensorShape::contiguous(DataType::F32, {2, 3});
  std::string content = writeNpy(makeTensor(shape));
  EXPECT_NE(getError(content, TensorShape::contiguous(DataType::F32, {3, 2}))
                .find("expects an array of 3x2xf32, but got 2x3xf32"),
            std::string::npos);
  EXPECT_NE(getError(content, TensorShape::contiguous(DataType::F16, {2, 3}))
                .find("expects elements of type '<f2' for f16, but got '<f4'"),
            std::string::npos);
  EXPECT_NE(getError(content + "x", shape)
                .find("expects 24 bytes of elements, but got 25"),
            std::string::npos);
  std::string fortran = content;
  fortran.replace(fortran.find("False"), 5, "True ");
  EXPECT_NE(getError(fortran, shape).find("Fortran's order"),
            std::string::npos);
}

TEST(Npy, RefusesEveryTruncation) {
  TensorShape shape = TensorShape::contiguous(DataType::I32, {5});
  std::string content = writeNpy(makeTensor(shape));
  for (size_t size = 0; size < content.size(); ++size)
    EXPECT_NE(getError(StringRef(content).take_front(size), shape), "") << size;
}

TEST(Npy, NamesAFileThatCannotBeRead) {
  auto tensor = readNpy("/nonexistent.npy", TensorShape());
  EXPECT_EQ(llvm::toString(tensor.takeError()).find("cannot read '/nonexist"),
            0u);
}
