// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "attune/Runtime/Manifest.h"
#include "FakeDevice.h"
#include "gtest/gtest.h"

using namespace attune;

static constexpr llvm::StringLiteral kText = R"({
  "kernel": "attention", "chip": "fake",
  "arguments": [{"name": "query", "type": "bf16", "rank": 4, "access": "read"},
                {"name": "offset", "type": "i64", "rank": 0, "scalar": true},
                {"name": "output", "type": "bf16", "rank": 4, "access": "write"},
                {"name": "map", "type": "tensor_map", "rank": 0, "of": 2,
                 "box": [1, 1, 128, 64], "swizzle": 128}],
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
  ASSERT_EQ(first.arguments.size(), 4u);
  EXPECT_EQ(first.arguments[1].kind, KernelArgument::Kind::Scalar);
  EXPECT_EQ(first.arguments[2].access, ManifestArgument::Access::Write);
  ASSERT_EQ(first.arguments[3].kind, KernelArgument::Kind::TensorMap);
  EXPECT_EQ(first.arguments[3].map.of, 2);
  EXPECT_EQ(first.arguments[3].map.box, (std::vector<int64_t>{1, 1, 128, 64}));
  EXPECT_EQ(first.arguments[3].map.swizzleBytes, 128);
  EXPECT_EQ(first.sharedBytes, 98304);
  EXPECT_EQ(first.resources.getInteger("registers"), 255);
  Manifest second = llvm::cantFail(Manifest::fromJSON(first.toJSON()));
  EXPECT_EQ(first.toJSON(), second.toJSON());
}

TEST(Manifest, KnowsWorkspaces) {
  std::string text = kText.str();
  text.replace(text.find("write"), 5, "workspace");
  Manifest first = llvm::cantFail(Manifest::parse(text));
  EXPECT_EQ(first.arguments[2].access, ManifestArgument::Access::Workspace);
  Manifest second = llvm::cantFail(Manifest::fromJSON(first.toJSON()));
  EXPECT_EQ(second.arguments[2].access, ManifestArgument::Access::Workspace);
}

TEST(Manifest, ErrorsNameTheKey) {
  EXPECT_TRUE(mentions(errorOf("\"write\"", "\"append\""),
                       "expected read, write or workspace"));
  EXPECT_TRUE(mentions(errorOf("\"bf16\"", "\"f7\""), "arguments[0].type"));
  EXPECT_TRUE(mentions(errorOf("\"per\": 128", "\"per\": 0"), "grid[0].per"));
  EXPECT_TRUE(mentions(errorOf("\"kernel\"", "\"kernle\""), "manifest.kernel"));
  EXPECT_TRUE(mentions(errorOf("[128, 1, 1]", "[128, 1]"), "block"));
  EXPECT_TRUE(mentions(errorOf("\"argument\": 0", "\"argument\": 4"), "grid"));
  EXPECT_TRUE(mentions(errorOf("\"index\": 2", "\"index\": 4"), "grid"));
  EXPECT_TRUE(mentions(errorOf("\"grid\":", "\"grid_limit\": 0, \"grid\":"),
                       "grid_limit"));
  EXPECT_TRUE(mentions(errorOf("\"grid\":", "\"cluster\": 0, \"grid\":"),
                       "expected at least 1 in cluster"));
  EXPECT_TRUE(mentions(errorOf("\"grid\":", "\"cluster\": 2, "
                                            "\"grid_limit\": 3, \"grid\":"),
                       "expected a multiple of cluster in grid_limit"));
  EXPECT_TRUE(mentions(errorOf("98304", "-1"), "shared_bytes"));
  EXPECT_NE(errorOf("{", "["), "");
}

TEST(Manifest, RefusesWrongTensorMaps) {
  EXPECT_TRUE(mentions(errorOf("\"swizzle\": 128", "\"swizzle\": 16"),
                       "arguments[3].swizzle"));
  EXPECT_TRUE(mentions(errorOf("1, 128, 64", "1, 0, 64"), "arguments[3].box"));
  EXPECT_TRUE(mentions(errorOf("\"of\": 2,", ""), "arguments[3].of"));
  EXPECT_TRUE(mentions(
      errorOf("\"tensor_map\", \"rank\": 0", "\"tensor_map\", \"rank\": 4"),
      "arguments[3].rank"));
  for (llvm::StringRef wrong : {"-1", "1", "3", "4"})
    EXPECT_TRUE(mentions(errorOf("\"of\": 2", ("\"of\": " + wrong).str()),
                         "expected the number of a buffer"));
  EXPECT_TRUE(
      mentions(errorOf("1, 128, 64", "128, 64"), "expected a size for each"));
}

TEST(Manifest, PreparesALaunch) {
  Manifest manifest = llvm::cantFail(Manifest::parse(kText));
  auto tensor = [](DataType type, DeviceAddress address) {
    return KernelArgument::buffer(
        address, TensorShape::contiguous(type, {2, 3, 129, 64}));
  };
  KernelArgument arguments[] = {tensor(DataType::BF16, 0x1000),
                                KernelArgument::scalar(DataType::I64, 1),
                                tensor(DataType::BF16, 0x2000)};
  FakeDevice device;
  auto launch = llvm::cantFail(manifest.prepareLaunch(device, arguments));
  EXPECT_EQ(launch.shape.grid[0], 2 * 3);
  EXPECT_EQ(launch.shape.grid[1], 1);
  manifest.cluster = 2;
  auto clusters = llvm::cantFail(manifest.prepareLaunch(device, arguments));
  EXPECT_EQ(clusters.shape.grid[0], 2 * 3 * 2);
  manifest.gridLimit = 4;
  clusters = llvm::cantFail(manifest.prepareLaunch(device, arguments));
  EXPECT_EQ(clusters.shape.grid[0], 4);
  Manifest read = llvm::cantFail(Manifest::fromJSON(manifest.toJSON()));
  EXPECT_EQ(read.cluster, 2);
  EXPECT_EQ(launch.shape.block[0], 128);
  EXPECT_EQ(launch.shape.sharedBytes, 98304);
  ASSERT_EQ(device.maps.size(), 3u);
  EXPECT_EQ(device.maps[0].address, 0x2000u);
  EXPECT_EQ(device.maps[0].swizzleBytes, 128);
  auto pointers = launch.arguments.getPointers();
  ASSERT_EQ(pointers.size(), 11u + 1 + 11 + 1);
  EXPECT_EQ((*static_cast<TensorMap *>(pointers.back()))[15], 1u);

  auto errorOf = [&](llvm::ArrayRef<KernelArgument> values) {
    auto prepared = manifest.prepareLaunch(device, values);
    return prepared ? "" : llvm::toString(prepared.takeError());
  };
  EXPECT_EQ(errorOf(llvm::ArrayRef(arguments).drop_back()),
            "kernel 'attention' expects 3 buffers and scalars, but got 2");
  arguments[2].shape.strides[3] = 2;
  EXPECT_EQ(errorOf(arguments),
            "kernel 'attention' has no 'map' of this tensor: expects a tensor "
            "map of a last stride of 1, but got 2");
  arguments[2] = tensor(DataType::F16, 0x2000);
  EXPECT_EQ(errorOf(arguments),
            "kernel 'attention' expects for 'output' a tensor of rank 4 of "
            "bf16, but got 2x3x129x64xf16");
  arguments[1] = tensor(DataType::I64, 0);
  EXPECT_EQ(errorOf(arguments),
            "kernel 'attention' expects for 'offset' a scalar of i64, but got "
            "2x3x129x64xi64");
}
