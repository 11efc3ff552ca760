// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Host sides of programs, on a device whose kernels are C++ functions.

#include "attune/Execution/HostProgram.h"
#include "Runtime/FakeDevice.h"
#include "attune/InitAllDialects.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace attune;

namespace {

/// doubled[i] = 2 * input[i] + addend, one element a workgroup.
constexpr StringLiteral kBinary = R"(
  gpu.binary @doubling {launch.manifest = #launch.manifest<shared_bytes = 16>} [#gpu.object<#nvvm.target,
    kernels = <[#gpu.kernel_metadata<"double", () -> ()>, #gpu.kernel_metadata<"mapped", () -> ()>]>,
    bin = "image">]
)";

class HostProgramTest : public testing::Test {
protected:
  HostProgramTest() {
    DialectRegistry registry;
    registerAllDialects(registry);
    context.appendDialectRegistry(registry);
    device.kernels["double"] = [this](const LaunchShape &shape,
                                      ArrayRef<void *> words) {
      shapes.push_back(shape);
      // A memref of rank 1 is five parameters.
      auto *input = *static_cast<float **>(words[1]);
      auto *output = *static_cast<float **>(words[6]);
      auto addend = *static_cast<float *>(words[10]);
      for (int64_t i = 0; i < shape.grid[0]; ++i)
        output[i] = 2 * input[i] + addend;
    };
  }

  /// Runs @main; the error where that fails.
  std::string run(StringRef function, ArrayRef<double> input) {
    message.clear();
    ScopedDiagnosticHandler handler(
        &context, [&](Diagnostic &diagnostic) { message += diagnostic.str(); });
    module = parseSourceString<ModuleOp>(
        ("module attributes {gpu.container_module} {" + kBinary + function +
         "}")
            .str(),
        &context);
    if (!module)
      return "no parse: " + message;
    auto loaded = HostProgram::load(*module, device);
    if (failed(loaded))
      return message;
    program = std::move(*loaded);
    Tensor tensor(TensorShape::contiguous(
        DataType::F32, {static_cast<int64_t>(input.size())}));
    for (auto [index, value] : llvm::enumerate(input))
      tensor.store(static_cast<int64_t>(index), value);
    Datum argument{
        llvm::cantFail(DeviceTensor::create(device, tensor)), {}, {}};
    auto ran =
        program->run(module->lookupSymbol<func::FuncOp>("main"), argument);
    if (failed(ran))
      return message;
    last = std::move(*ran);
    return "";
  }
  std::vector<float> getResult() {
    return llvm::cantFail(last.getResults()[0].tensor->read()).toFloats();
  }

  FakeDevice device;
  std::vector<LaunchShape> shapes;
  MLIRContext context;
  std::string message;
  OwningOpRef<ModuleOp> module;
  std::unique_ptr<HostProgram> program;
  HostRun last;
};

} // namespace

constexpr StringLiteral kMain = R"(
  func.func @main(%t: tensor<?xf32>) -> tensor<?xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %shared = arith.constant 16 : i32
    %addend = arith.constant 0.5 : f32
    %input = bufferization.to_buffer %t read_only : tensor<?xf32> to memref<?xf32>
    %size = memref.dim %input, %c0 : memref<?xf32>
    %more = arith.addi %size, %c1 : index
    %same = arith.subi %more, %c1 : index
    %output = memref.alloc(%same) : memref<?xf32>
    %any = arith.cmpi ne, %size, %c0 : index
    scf.if %any {
      gpu.launch_func @doubling::@double blocks in (%size, %c1, %c1) threads in (%c1, %c1, %c1)
        dynamic_shared_memory_size %shared
        args(%input : memref<?xf32>, %output : memref<?xf32>, %addend : f32)
    }
    %r = bufferization.to_tensor %output restrict writable : memref<?xf32> to tensor<?xf32>
    return %r : tensor<?xf32>
  }
)";

TEST_F(HostProgramTest, AllocatesAndLaunches) {
  EXPECT_EQ(run(kMain, {1, 2, 3}), "");
  EXPECT_EQ(getResult(), (std::vector<float>{2.5, 4.5, 6.5}));
  ASSERT_EQ(shapes.size(), 1u);
  EXPECT_EQ(shapes[0].grid[0], 3);
  EXPECT_EQ(shapes[0].sharedBytes, 16);
}

TEST_F(HostProgramTest, RelaunchesWithoutAllocating) {
  EXPECT_EQ(run(kMain, {1}), "");
  size_t allocations = device.allocations.size();
  ASSERT_FALSE(last.relaunch());
  EXPECT_EQ(shapes.size(), 2u);
  EXPECT_EQ(device.allocations.size(), allocations);
}

TEST_F(HostProgramTest, RelaunchesReadTheArguments) {
  // The caller's are gone by now.
  EXPECT_EQ(run(kMain, {3}), "");
  ASSERT_FALSE(last.relaunch());
  EXPECT_EQ(getResult(), (std::vector<float>{6.5}));
  EXPECT_EQ(device.allocations.size(), 2u);
}

TEST_F(HostProgramTest, TakesTheBranchThatTheConditionSays) {
  EXPECT_EQ(run(kMain, {}), "");
  EXPECT_TRUE(shapes.empty());
  EXPECT_TRUE(getResult().empty());
}

/// Fills a buffer before it launches a kernel that counts in it.
static std::string withFill(StringRef attributes) {
  return llvm::formatv(R"(
    gpu.binary @counting [#gpu.object<#nvvm.target,
      kernels = <[#gpu.kernel_metadata<"count", () -> ()>]>, bin = "image">]
    func.func @main(%t: tensor<1xf32>) -> tensor<1xf32> {{
      %c1 = arith.constant 1 : index
      %zero = arith.constant 0 : i32
      %w = memref.alloc() : memref<1xi32>
      gpu.memset %w, %zero : memref<1xi32>, i32 {0}
      gpu.launch_func @counting::@count blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%w : memref<1xi32>)
      return %t : tensor<1xf32>
    })",
                       attributes)
      .str();
}

TEST_F(HostProgramTest, FillsAgainWhatKernelsLeaveChanged) {
  std::vector<int32_t> found;
  device.kernels["count"] = [&](const LaunchShape &, ArrayRef<void *> words) {
    found.push_back((**static_cast<int32_t **>(words[1]))++);
  };
  EXPECT_EQ(run(withFill(""), {1}), "");
  device.queued.clear();
  ASSERT_FALSE(last.relaunch());
  EXPECT_EQ(device.queued, (std::vector<std::string>{"fill", "launch"}));
  EXPECT_EQ(found, (std::vector<int32_t>{0, 0}));
}

TEST_F(HostProgramTest, FillsOnceWhatKernelsRestore) {
  EXPECT_EQ(run(withFill("{launch.restored}"), {1}), "");
  device.queued.clear();
  ASSERT_FALSE(last.relaunch());
  EXPECT_EQ(device.queued, std::vector<std::string>{"launch"});
}

TEST_F(HostProgramTest, FillsWithZeroAlone) {
  std::string text = withFill("{launch.restored}");
  size_t position = text.find("constant 0 : i32");
  EXPECT_EQ(run(text.replace(position, 16, "constant 1 : i32"), {1}),
            "'gpu.memset' op expects zero as the value, and no async tokens, "
            "to run");
}

TEST_F(HostProgramTest, ConstantsBecomeTensors) {
  EXPECT_EQ(run(R"(
    func.func @main(%t: tensor<1xf32>) -> tensor<3xf32> {
      %c = arith.constant dense<[1.0, -2.0, 0.25]> : tensor<3xf32>
      return %c : tensor<3xf32>
    })",
                {1}),
            "");
  EXPECT_EQ(getResult(), (std::vector<float>{1, -2, 0.25}));
}

TEST_F(HostProgramTest, ReshapesTensors) {
  constexpr StringLiteral kReshape = R"(
    func.func @main(%t: tensor<?xf32>) -> tensor<?xf32> {
      %two = arith.constant 2 : index
      %columns = arith.addi %two, %two : index
      %split = tensor.expand_shape %t [[0, 1, 2]] output_shape [3, %columns, 2]
        : tensor<?xf32> into tensor<3x?x2xf32>
      %joined = tensor.collapse_shape %split [[0], [1, 2]]
        : tensor<3x?x2xf32> into tensor<3x?xf32>
      %all = tensor.collapse_shape %joined [[0, 1]]
        : tensor<3x?xf32> into tensor<?xf32>
      return RESULT
    }
  )";
  auto runWith = [&](StringRef result, StringRef type, size_t count) {
    std::string text = kReshape.str();
    text.replace(text.find("RESULT"), 6, (result + " : " + type).str());
    text.replace(text.find("-> tensor<?xf32>"), 16, ("-> " + type).str());
    return run(text, std::vector<double>(count, 1));
  };
  auto getSizes = [&] { return last.getResults()[0].tensor->getShape().sizes; };
  EXPECT_EQ(runWith("%split", "tensor<3x?x2xf32>", 24), "");
  EXPECT_EQ(getSizes(), (SmallVector<int64_t, 4>{3, 4, 2}));
  EXPECT_EQ(runWith("%joined", "tensor<3x?xf32>", 24), "");
  EXPECT_EQ(getSizes(), (SmallVector<int64_t, 4>{3, 8}));
  EXPECT_EQ(runWith("%all", "tensor<?xf32>", 24), "");
  EXPECT_EQ(getResult(), std::vector<float>(24, 1));
  EXPECT_EQ(runWith("%all", "tensor<?xf32>", 23),
            "'tensor.expand_shape' op expects 23 elements, but got 24");
}

TEST_F(HostProgramTest, NamesTheOpThatItCannotExecute) {
  EXPECT_EQ(run(R"(
    func.func @main(%t: tensor<1xf32>) -> tensor<1xf32> {
      %zero = arith.constant 0 : index
      %b = bufferization.to_buffer %t : tensor<1xf32> to memref<1xf32>
      %one = arith.constant 1.0 : f32
      memref.store %one, %b[%zero] : memref<1xf32>
      return %t : tensor<1xf32>
    })",
                {1}),
            "expects an op of the host side that can be executed, such as an "
            "allocation, a launch or index arithmetic, but got "
            "'memref.store'");
}

/// The square of what a kernel makes of the argument.
static constexpr StringLiteral kSquare = R"(
  func.func @main(%t: tensor<?xf32>) -> tensor<?xf32> {
    %one = arith.constant 1 : index
    %b = bufferization.to_buffer %t read_only : tensor<?xf32> to memref<?xf32>
    gpu.launch_func @k::@increment blocks in (%one, %one, %one) threads in (%one, %one, %one) args(%b : memref<?xf32>)
    %r = arith.mulf %t, %t : tensor<?xf32>
    return %r : tensor<?xf32>
  }
  gpu.binary @k [#gpu.object<#nvvm.target,
      kernels = <[#gpu.kernel_metadata<"increment", () -> ()>]>, bin = "image">]
)";

TEST_F(HostProgramTest, ComputesOnTheCPUBetweenKernels) {
  device.kernels["increment"] = [&](const LaunchShape &,
                                    ArrayRef<void *> words) {
    ++**static_cast<float **>(words[1]);
  };
  EXPECT_EQ(run(kSquare, {3, 5}), "");
  EXPECT_EQ(getResult(), (std::vector<float>{16, 25}));
  // Kernels alone, and then all.
  ASSERT_FALSE(last.relaunch());
  EXPECT_EQ(getResult(), (std::vector<float>{16, 25}));
  size_t allocations = device.allocations.size();
  ASSERT_FALSE(last.relaunch(/*computes=*/true));
  EXPECT_EQ(getResult(), (std::vector<float>{36, 25}));
  EXPECT_EQ(device.allocations.size(), allocations);
}

TEST_F(HostProgramTest, KeepsWhatKernelsChange) {
  device.kernels["increment"] = [&](const LaunchShape &,
                                    ArrayRef<void *> words) {
    ++**static_cast<float **>(words[1]);
  };
  EXPECT_EQ(run(R"(
    func.func @main(%t: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
      %one = arith.constant 1 : index
      %b = bufferization.to_buffer %t : tensor<?xf32> to memref<?xf32>
      gpu.launch_func @k::@increment blocks in (%one, %one, %one) threads in (%one, %one, %one) args(%b : memref<?xf32>)
      %r = bufferization.to_tensor %b restrict writable : memref<?xf32> to tensor<?xf32>
      return %r, %t : tensor<?xf32>, tensor<?xf32>
    }
    gpu.binary @k [#gpu.object<#nvvm.target,
        kernels = <[#gpu.kernel_metadata<"increment", () -> ()>]>, bin = "image">]
  )",
                {3, 5}),
            "");
  auto read = [&](size_t result) {
    return llvm::cantFail(last.getResults()[result].tensor->read()).toFloats();
  };
  std::vector<float> old{3, 5};
  EXPECT_EQ(read(0), (std::vector<float>{4, 5}));
  EXPECT_EQ(read(1), old);
  // Kernels alone, which change what they changed, and then all.
  ASSERT_FALSE(last.relaunch());
  EXPECT_EQ(read(0), (std::vector<float>{5, 5}));
  size_t allocations = device.allocations.size();
  ASSERT_FALSE(last.relaunch(/*computes=*/true));
  EXPECT_EQ(read(0), (std::vector<float>{4, 5}));
  EXPECT_EQ(read(1), old);
  EXPECT_EQ(device.allocations.size(), allocations);
}

TEST_F(HostProgramTest, NamesTheKernelThatIsMissing) {
  EXPECT_EQ(run(R"(
    func.func @main(%t: tensor<1xf32>) -> tensor<1xf32> {
      %c1 = arith.constant 1 : index
      gpu.launch_func @doubling::@halve blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      return %t : tensor<1xf32>
    })",
                {1}),
            "'gpu.launch_func' op expects a gpu.binary with kernel "
            "@doubling::@halve, but there is none");
}

/// Passes a float and a map of the argument, with a box and a type.
static std::string withMap(StringRef box, StringRef type) {
  return llvm::formatv(R"(
    func.func @main(%t: tensor<?xf32>) -> tensor<?xf32> {{
      %c1 = arith.constant 1 : index
      %c8 = arith.constant 8 : index
      %addend = arith.constant 0.5 : f32
      %input = bufferization.to_buffer %t read_only : tensor<?xf32> to memref<?xf32>
      %any = memref.cast %input : memref<?xf32> to memref<*xf32>
      %map = nvgpu.tma.create.descriptor %any box[{0}] : memref<*xf32>
        -> !nvgpu.tensormap.descriptor<{1}, interleave = none>
      gpu.launch_func @doubling::@mapped blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
        args(%addend : f32, %map : !nvgpu.tensormap.descriptor<{1}, interleave = none>)
      return %t : tensor<?xf32>
    })",
                       box, type);
}

constexpr StringLiteral kMapOf8 =
    "tensor = memref<8xf32, #gpu.address_space<workgroup>>, swizzle = "
    "swizzle_32b, l2promo = l2promo_256b, oob = zero";

TEST_F(HostProgramTest, PassesTensorMapsByValue) {
  std::vector<TensorMap> maps;
  device.kernels["mapped"] = [&](const LaunchShape &, ArrayRef<void *> words) {
    ASSERT_EQ(words.size(), 2u);
    maps.push_back(*static_cast<TensorMap *>(words[1]));
  };
  ASSERT_EQ(run(withMap("%c8", kMapOf8), {1, 2, 3, 4}), "");
  ASSERT_EQ(device.maps.size(), 1u);
  const TensorMapRequest &request = device.maps.front();
  EXPECT_EQ(request.address, last.getResults()[0].tensor->getAddress());
  EXPECT_EQ(ArrayRef(request.sizes), ArrayRef<int64_t>(4));
  EXPECT_EQ(ArrayRef(request.box), ArrayRef<int64_t>(8));
  EXPECT_EQ(request.swizzleBytes, 32);
  ASSERT_FALSE(last.relaunch());
  ASSERT_EQ(maps.size(), 2u);
  EXPECT_EQ(maps[0][0], 1u);
  EXPECT_EQ(maps[1], maps[0]);
}

TEST_F(HostProgramTest, RefusesTensorMapsThatAreNotAsTheirType) {
  EXPECT_EQ(run(withMap("%c1", kMapOf8), {1}),
            "'nvgpu.tma.create.descriptor' op expects the box and the element "
            "type of '!nvgpu.tensormap.descriptor<tensor = memref<8xf32, "
            "#gpu.address_space<workgroup>>, swizzle = swizzle_32b, l2promo = "
            "l2promo_256b, oob = zero, interleave = none>', but got 1xf32");
}

TEST_F(HostProgramTest, RefusesTensorMapsThatNoDeviceMakes) {
  EXPECT_TRUE(
      StringRef(run(withMap("%c8", "tensor = memref<8xf32, 3>, swizzle = none, "
                                   "l2promo = none, oob = nan"),
                    {1}))
          .starts_with("'nvgpu.tma.create.descriptor' op expects 'oob = zero' "
                       "to run, but got"));
  EXPECT_EQ(
      run(withMap("%c1, %c8", "tensor = memref<1x8xf32, 3>, swizzle = none, "
                              "l2promo = none, oob = zero"),
          {1}),
      "expects a tensor map of as many strides and box sizes as dimensions, 1, "
      "but got 1 and 2");
}
