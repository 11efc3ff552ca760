// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "attune/Runtime/Manifest.h"
#include "gtest/gtest.h"

using namespace attune;

static constexpr llvm::StringLiteral kText = R"({
  "kernel": "attention", "chip": "fake",
  "arguments": [{"name": "query", "type": "bf16", "rank": 4, "access": "read"},
                {"name": "offset", "type": "i64", "rank": 0, "scalar": true},
                {"name": "output", "type": "bf16", "rank": 4, "access": "write"}],
  "grid": [{"argument": 0, "index": 2, "per": 128},
           {"argument": 0, "index": 1, "per": 1}],
  "block": [128, 1, 1], "shared_bytes": 98304,
  "resources": {"registers": 255}, "files": {"object": "attention.cubin"}
})";

/// The error for the text above with one piece replaced.
static std::string errorOf(llvm::StringRef from, llvm::StringRef to) {
  std::string text = kText.str();
  size_t position = text.find(from.str());
  EXPECT_NE(position, std::string::npos);
  text.replace(position, from.size(), to.str());
  auto manifest = Manifest::parse(text);
  return manifest ? "" : llvm::toString(manifest.takeError());
}

static bool mentions(const std::string &text, llvm::StringRef word) {
  return llvm::StringRef(text).contains(word);
}

TEST(Manifest, SurvivesJSON) {
  Manifest first = llvm::cantFail(Manifest::parse(kText));
  EXPECT_EQ(first.kernel, "attention");
  ASSERT_EQ(first.arguments.size(), 3u);
  EXPECT_TRUE(first.arguments[1].isScalar);
  EXPECT_EQ(first.arguments[2].access, ManifestArgument::Access::Write);
  EXPECT_EQ(first.sharedBytes, 98304);
  EXPECT_EQ(first.resources.getInteger("registers"), 255);
  Manifest second = llvm::cantFail(Manifest::fromJSON(first.toJSON()));
  EXPECT_EQ(first.toJSON(), second.toJSON());
}

TEST(Manifest, ErrorsNameTheKey) {
  EXPECT_TRUE(mentions(errorOf("\"bf16\"", "\"f7\""), "arguments[0].type"));
  EXPECT_TRUE(mentions(errorOf("\"per\": 128", "\"per\": 0"), "grid[0].per"));
  EXPECT_TRUE(mentions(errorOf("\"kernel\"", "\"kernle\""), "manifest.kernel"));
  EXPECT_TRUE(mentions(errorOf("[128, 1, 1]", "[128, 1]"), "block"));
  EXPECT_TRUE(mentions(errorOf("\"argument\": 0", "\"argument\": 3"), "grid"));
  EXPECT_TRUE(mentions(errorOf("\"index\": 2", "\"index\": 4"), "grid"));
  EXPECT_TRUE(mentions(errorOf("98304", "-1"), "shared_bytes"));
  EXPECT_NE(errorOf("{", "["), "");
}

TEST(Manifest, ComputesTheGrid) {
  Manifest manifest = llvm::cantFail(Manifest::parse(kText));
  auto tensor = [](DataType type) {
    return KernelArgument::buffer(
        0, TensorShape::contiguous(type, {2, 3, 129, 64}));
  };
  KernelArgument arguments[] = {tensor(DataType::BF16),
                                KernelArgument::scalar(DataType::I64, 1),
                                tensor(DataType::BF16)};
  LaunchShape shape = llvm::cantFail(manifest.getLaunchShape(arguments));
  EXPECT_EQ(shape.grid[0], 2 * 3);
  EXPECT_EQ(shape.grid[1], 1);
  EXPECT_EQ(shape.block[0], 128);

  arguments[2] = tensor(DataType::F16);
  auto wrongType = manifest.getLaunchShape(arguments);
  EXPECT_EQ(llvm::toString(wrongType.takeError()),
            "kernel 'attention' expects for 'output' a tensor of rank 4 of "
            "bf16, but got 2x3x129x64xf16");
  auto tooFew = manifest.getLaunchShape(llvm::ArrayRef(arguments).drop_back());
  EXPECT_EQ(llvm::toString(tooFew.takeError()),
            "kernel 'attention' expects 3 arguments, but got 2");
}
