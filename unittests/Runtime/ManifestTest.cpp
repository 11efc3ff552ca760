// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "attune/Runtime/Manifest.h"
#include "FakeDevice.h"
#include "gtest/gtest.h"

using namespace attune;

static constexpr llvm::StringLiteral kText = R"({
  "version": 1, "kernel": "attention", "chip": "fake",
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

/// What a kernel has compiled in, and what does not matter of it.
TEST(Manifest, ChecksWhatIsCompiledIn) {
  std::string text = kText.str();
  llvm::StringRef query = R"("name": "query", )";
  text.insert(
      text.find(query.str()) + query.size(),
      R"("sizes": [null, 3, null, 64], "strides": [null, 64, 192, 1], )");
  Manifest manifest = llvm::cantFail(Manifest::parse(text));
  EXPECT_EQ(manifest.toJSON(),
            llvm::cantFail(Manifest::fromJSON(manifest.toJSON())).toJSON());
  auto errorOf = [&](llvm::ArrayRef<int64_t> sizes,
                     llvm::ArrayRef<int64_t> strides) {
    TensorShape shape = TensorShape::contiguous(DataType::BF16, sizes);
    shape.strides.assign(strides.begin(), strides.end());
    return llvm::toString(checkValue("kernel", manifest.arguments[0],
                                     KernelArgument::buffer(0, shape)));
  };
  EXPECT_EQ(errorOf({2, 3, 5, 64}, {960, 64, 192, 1}), "");
  EXPECT_EQ(errorOf({7, 3, 9, 64}, {1, 64, 192, 1}), "");
  EXPECT_EQ(errorOf({2, 3, 5, 128}, {960, 64, 192, 1}),
            "kernel expects 'query' to have 64 elements in dimension 3, but "
            "got 128");
  EXPECT_EQ(errorOf({2, 1, 5, 64}, {960, 64, 192, 1}),
            "kernel expects 'query' to have 3 elements in dimension 1, but "
            "got 1");
  EXPECT_EQ(errorOf({2, 3, 5, 64}, {960, 320, 64, 1}),
            "kernel expects 'query' to have a stride of 64 elements in "
            "dimension 1, but got 320");
  EXPECT_EQ(errorOf({2, 3, 1, 64}, {960, 64, 64, 1}), "");
  EXPECT_EQ(errorOf({0, 3, 5, 64}, {960, 320, 64, 1}), "");
}

TEST(Manifest, RefusesWrongSizes) {
  EXPECT_TRUE(mentions(
      errorOf(R"("name": "query")", R"("name": "query", "sizes": [64])"),
      "expected a number or null for each dimension at "
      "manifest.arguments[0].sizes"));
  EXPECT_TRUE(mentions(
      errorOf(R"("name": "query")", R"("name": "query", "strides": ["x"])"),
      "expected integer at manifest.arguments[0].strides[0]"));
}

TEST(Manifest, RefusesOtherVersions) {
  EXPECT_TRUE(mentions(errorOf("\"version\": 1", "\"version\": 2"),
                       "expected 1, the only version that this program knows "
                       "at manifest.version"));
  EXPECT_TRUE(mentions(errorOf("\"version\": 1,", ""),
                       "written before manifests had versions"));
}

/// With what stands in place of the scalar.
static std::string withWorkspace(llvm::StringRef facts) {
  std::string text = kText.str(), scalar =
                                      R"({"name": "offset", "type": "i64", )"
                                      R"("rank": 0, "scalar": true})";
  size_t position = text.find(scalar);
  EXPECT_NE(position, std::string::npos);
  return text.replace(position, scalar.size(),
                      (R"({"name": "w", "type": "i32", "rank": 2, )"
                       R"("access": "workspace", )" +
                       facts + "}")
                          .str());
}

static constexpr llvm::StringLiteral kWorkspace =
    R"("sizes": [[2, {"argument": 0, "index": 2, "per": 128}], 3], )"
    R"("alignment": 16, "contents": "zero", "restored": false)";

TEST(Manifest, KnowsWorkspaces) {
  Manifest first = llvm::cantFail(Manifest::parse(withWorkspace(kWorkspace)));
  const ManifestArgument &argument = first.arguments[1];
  ASSERT_TRUE(argument.isWorkspace());
  EXPECT_EQ(argument.workspace.sizes[0].constant, 2);
  EXPECT_EQ(argument.workspace.sizes[0].factors[0].per, 128);
  EXPECT_EQ(argument.workspace.sizes[1].constant, 3);
  EXPECT_EQ(argument.workspace.alignment, 16);
  EXPECT_TRUE(argument.workspace.zero);
  EXPECT_FALSE(argument.workspace.restored);
  Manifest second = llvm::cantFail(Manifest::fromJSON(first.toJSON()));
  EXPECT_EQ(first.toJSON(), second.toJSON());
}

TEST(Manifest, RefusesWrongWorkspaces) {
  auto errorOf = [](llvm::StringRef from, llvm::StringRef to) {
    std::string facts = kWorkspace.str();
    facts.replace(facts.find(from.str()), from.size(), to.str());
    auto manifest = Manifest::parse(withWorkspace(facts));
    return manifest ? "" : llvm::toString(manifest.takeError());
  };
  EXPECT_TRUE(mentions(errorOf("\"zero\"", "\"one\""),
                       "expected undefined or zero at "
                       "manifest.arguments[1].contents"));
  EXPECT_TRUE(mentions(errorOf(", 3]", "]"),
                       "expects a size for each of the 2 dimensions of 'w', "
                       "but got 1"));
  EXPECT_TRUE(mentions(errorOf("16", "24"), "expects a power of 2 as alignment "
                                            "of 'w', but got 24"));
  EXPECT_TRUE(mentions(errorOf(", 3]", ", 0]"), "expected at least 1"));
  for (llvm::StringRef wrong : {"1", "3", "7"})
    EXPECT_TRUE(mentions(
        errorOf("\"argument\": 0", ("\"argument\": " + wrong).str()),
        "expects the number of a buffer that is passed in sizes of 'w'"));
  EXPECT_TRUE(mentions(errorOf("\"index\": 2", "\"index\": 4"),
                       "expects a dimension of 'query', which has 4, in sizes "
                       "of 'w', but got 4"));
}

/// The bytes of a buffer among the parameters of a launch.
template <typename T>
static T *getBuffer(PackedArguments &arguments, size_t parameter) {
  return *static_cast<T **>(arguments.getPointers()[parameter]);
}

TEST(Manifest, AllocatesWorkspaces) {
  FakeDevice device;
  DeviceTensor &query =
      *llvm::cantFail(
           DeviceTensor::create(device, TensorShape::contiguous(
                                            DataType::BF16, {2, 3, 129, 64})))
           .release();
  KernelArgument values[] = {query.getArgument(), query.getArgument()};
  Manifest manifest =
      llvm::cantFail(Manifest::parse(withWorkspace(kWorkspace)));
  {
    auto launch = llvm::cantFail(manifest.prepareLaunch(device, values));
    // 2 * ceil(129 / 128) rows of 3, behind 11 parameters of the query.
    auto pointers = launch.arguments.getPointers();
    EXPECT_EQ(*static_cast<int64_t *>(pointers[11 + 3]), 4);
    EXPECT_EQ(*static_cast<int64_t *>(pointers[11 + 4]), 3);
    int32_t *workspace = getBuffer<int32_t>(launch.arguments, 11);
    EXPECT_EQ(workspace[11], 0);

    // It is zero before each launch.
    FakeDevice::FakeKernel kernel;
    unsigned launches = 0;
    kernel.body = [&](const LaunchShape &, llvm::ArrayRef<void *>) {
      EXPECT_EQ(workspace[11], 0);
      workspace[11] = 1;
      ++launches;
    };
    llvm::cantFail(launch.launch(device, kernel));
    llvm::cantFail(launch.launch(device, kernel));
    EXPECT_EQ(launches, 2u);

    // What a kernel leaves as it found it is filled once.
    manifest.arguments[1].workspace.restored = true;
    auto restored = llvm::cantFail(manifest.prepareLaunch(device, values));
    device.queued.clear();
    kernel.body = nullptr;
    llvm::cantFail(restored.launch(device, kernel));
    llvm::cantFail(restored.launch(device, kernel));
    EXPECT_EQ(device.queued, (std::vector<std::string>{"launch", "launch"}));
  }
  delete &query;
  EXPECT_TRUE(device.allocations.empty());
}

static constexpr llvm::StringLiteral kSequence = R"({
  "version": 1, "sequence": "sum",
  "values": [{"name": "in", "type": "f32", "rank": 1, "access": "read"},
             {"name": "partial", "type": "f32", "rank": 1,
              "access": "workspace", "alignment": 16, "contents": "undefined",
              "sizes": [[{"argument": 0, "index": 0, "per": 2}]]},
             {"name": "out", "type": "f32", "rank": 1, "access": "write"}],
  "launches": [{"kernel": "first", "arguments": [0, 1]},
               {"kernel": "second", "arguments": [1, 2]}]
})";

TEST(LaunchSequence, SharesWorkspaces) {
  auto sequence = llvm::cantFail(LaunchSequence::parse(kSequence));
  EXPECT_EQ(
      sequence.toJSON(),
      llvm::cantFail(LaunchSequence::fromJSON(sequence.toJSON())).toJSON());
  auto makeManifest = [](llvm::StringRef kernel) {
    Manifest manifest;
    manifest.kernel = kernel.str();
    for (llvm::StringRef name : {"source", "target"}) {
      ManifestArgument argument;
      argument.name = name.str();
      argument.rank = 1;
      manifest.arguments.push_back(argument);
    }
    manifest.grid.factors.push_back({0, 0, 1});
    return manifest;
  };
  Manifest manifests[] = {makeManifest("first"), makeManifest("second")};
  FakeDevice device;
  float in[5] = {}, out[1] = {};
  auto buffer = [](float *data, int64_t size) {
    return KernelArgument::buffer(
        reinterpret_cast<DeviceAddress>(data),
        TensorShape::contiguous(DataType::F32, {size}));
  };
  KernelArgument values[] = {buffer(in, 5), buffer(out, 1)};
  auto prepared = llvm::cantFail(
      PreparedSequence::create(device, sequence, manifests, values));
  std::vector<int64_t> grids;
  void *shared = nullptr;
  FakeDevice::FakeKernel first, second;
  first.body = [&](const LaunchShape &shape, llvm::ArrayRef<void *> words) {
    grids.push_back(shape.grid[0]);
    shared = *static_cast<void **>(words[6]);
  };
  second.body = [&](const LaunchShape &shape, llvm::ArrayRef<void *> words) {
    grids.push_back(shape.grid[0]);
    EXPECT_EQ(shared, *static_cast<void **>(words[1]));
  };
  Kernel *kernels[] = {&first, &second};
  llvm::cantFail(prepared.launch(device, kernels));
  // The second one's first argument is the workspace, of 3 elements.
  EXPECT_EQ(grids, (std::vector<int64_t>{5, 3}));

  auto wrong = PreparedSequence::create(device, sequence,
                                        {manifests[1], manifests[0]}, values);
  EXPECT_EQ(llvm::toString(wrong.takeError()),
            "sequence 'sum' expects the manifest of 'first', but got that of "
            "'second'");
}

TEST(LaunchSequence, RefusesWrongNumbers) {
  std::string text = kSequence.str();
  text.replace(text.find("[1, 2]"), 6, "[1, 3]");
  auto sequence = LaunchSequence::parse(text);
  EXPECT_EQ(llvm::toString(sequence.takeError()),
            "sequence 'sum' expects the numbers of the 3 values as arguments "
            "of 'second', but got 3");
}

TEST(Manifest, ErrorsNameTheKey) {
  EXPECT_TRUE(mentions(errorOf("\"write\"", "\"append\""),
                       "expected read, write, read_write or workspace"));
  EXPECT_TRUE(mentions(errorOf("\"bf16\"", "\"f7\""), "arguments[0].type"));
  EXPECT_TRUE(mentions(errorOf("\"per\": 128", "\"per\": 0"), "grid[0].per"));
  EXPECT_TRUE(mentions(errorOf("\"kernel\"", "\"kernle\""), "manifest.kernel"));
  EXPECT_TRUE(mentions(errorOf("[128, 1, 1]", "[128, 1]"), "block"));
  EXPECT_TRUE(mentions(errorOf("\"argument\": 0", "\"argument\": 4"), "grid"));
  EXPECT_TRUE(mentions(errorOf("\"index\": 2", "\"index\": 4"), "grid"));
  EXPECT_TRUE(mentions(errorOf("\"grid\":", "\"grid_limit\": 0, \"grid\":"),
                       "grid_limit"));
  EXPECT_TRUE(mentions(errorOf("\"grid\":", "\"cluster\": 0, \"grid\":"),
                       "expects at least 1 in cluster, but got 0"));
  EXPECT_TRUE(mentions(errorOf("\"grid\":", "\"cluster\": 2, "
                                            "\"grid_limit\": 3, \"grid\":"),
                       "expects a positive multiple of the cluster's 2 "
                       "workgroups in grid_limit, but got 3"));
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
                         "expects 'map' to be of a buffer"));
  EXPECT_TRUE(
      mentions(errorOf("1, 128, 64", "128, 64"), "with a size for each"));
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

TEST(Manifest, KnowsSums) {
  std::string text = kText.str(),
              size = R"({"argument": 0, "index": 2, "per": 128})";
  text.replace(text.find(size), size.size(),
               R"({"sum": [)" + size +
                   R"(, {"argument": 2, "index": 0, "per": 1}]})");
  Manifest manifest = llvm::cantFail(Manifest::parse(text));
  ASSERT_TRUE(manifest.grid.factors[0].isSum());
  EXPECT_EQ(llvm::cantFail(Manifest::fromJSON(manifest.toJSON())).toJSON(),
            manifest.toJSON());
  std::vector<KernelArgument> arguments(4);
  arguments[0].shape.sizes = {2, 3, 129, 64};
  arguments[2].shape.sizes = {5, 3, 129, 64};
  EXPECT_EQ(manifest.grid.evaluate(arguments), (2 + 5) * 3);

  text = kText.str();
  text.replace(text.find(size), size.size(), R"({"sum": [)" + size + ", 66]}");
  manifest = llvm::cantFail(Manifest::parse(text));
  EXPECT_EQ(llvm::cantFail(Manifest::fromJSON(manifest.toJSON())).toJSON(),
            manifest.toJSON());
  EXPECT_EQ(manifest.grid.evaluate(arguments), (2 + 66) * 3);
  EXPECT_TRUE(mentions(errorOf(size, R"({"sum": [)" + size + ", 0]}"),
                       "expected a size and a number of at least 1"));

  EXPECT_TRUE(mentions(errorOf(size, R"({"sum": [)" + size + "]}"),
                       "expected a list of two factors, or of one and a "
                       "number"));
  EXPECT_TRUE(
      mentions(errorOf(size, R"({"sum": [)" + size + ", " + size + "]}"),
               "expected sizes, of which only the first one is divided"));
  EXPECT_TRUE(mentions(
      errorOf(size, R"({"sum": [)" + size +
                        R"(, {"argument": 1, "index": 0, "per": 1}]})"),
      "expects the number of a buffer that is passed in grid"));
}
