// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions whose results are known, through each way of returning them.

#include "attune/Execution/HostCode.h"
#include "attune/InitAllDialects.h"
#include "attune/InitAllPasses.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace attune;

namespace {
struct HostCodeTest : testing::Test {
  static void SetUpTestSuite() { attune::registerAllPasses(); }

  HostCodeTest() {
    DialectRegistry registry;
    attune::registerAllDialects(registry);
    context.appendDialectRegistry(registry);
  }

  /// Compiles function `f`, after passes on it and before the last ones.
  void compile(llvm::StringRef text, llvm::StringRef passes = "") {
    auto module = parseSourceString<ModuleOp>(text, ParserConfig(&context));
    ASSERT_TRUE(bool(module));
    auto function = module->lookupSymbol<func::FuncOp>("f");
    FailureOr<HostSignature> found = HostSignature::get(function);
    ASSERT_TRUE(succeeded(found));
    signature = std::move(*found);
    requestHostInterface(function);
    PassManager manager(&context);
    ASSERT_TRUE(succeeded(parsePassPipeline(
        (passes + "convert-scf-to-cf,expand-strided-metadata,lower-affine,"
                  "convert-to-llvm,reconcile-unrealized-casts")
            .str(),
        manager)));
    ASSERT_TRUE(succeeded(manager.run(*module)));
    auto object = compileForHost(*module, "f");
    ASSERT_TRUE(bool(object)) << llvm::toString(object.takeError());
    auto loaded = HostCode::load(*object, {});
    ASSERT_TRUE(bool(loaded)) << llvm::toString(loaded.takeError());
    code = std::move(*loaded);
  }

  /// The results for arguments that count from 1.
  std::vector<std::vector<double>> run() {
    std::vector<Tensor> inputs;
    for (const HostValue &argument : signature.arguments) {
      Tensor &tensor = inputs.emplace_back(argument.shape);
      double next = 1;
      tensor.shape.forEachOffset(
          [&](int64_t offset) { tensor.store(offset, next++); });
    }
    HostCall call(signature, *code);
    call.setInputs(inputs, /*poison=*/true);
    call.run();
    auto results = call.readResults();
    message = results ? "" : llvm::toString(results.takeError());
    std::vector<std::vector<double>> values;
    if (message.empty())
      for (const Tensor &result : *results) {
        values.emplace_back();
        result.shape.forEachOffset([&](int64_t offset) {
          values.back().push_back(result.load(offset));
        });
      }
    return values;
  }

  MLIRContext context;
  HostSignature signature;
  std::unique_ptr<HostCode> code;
  std::string message;
};
} // namespace

TEST_F(HostCodeTest, ReturnsMemRefsAndScalars) {
  compile(R"(
    func.func @f(%x: memref<2x2xf32>, %s: i16) -> (memref<2xf32>, i16, f64, memref<1xi8>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %r = memref.alloc() : memref<2xf32>
      %a = memref.load %x[%c1, %c0] : memref<2x2xf32>
      memref.store %a, %r[%c0] : memref<2xf32>
      memref.store %a, %x[%c0, %c0] : memref<2x2xf32>
      %d = arith.constant 0.5 : f64
      %b = memref.alloc() : memref<1xi8>
      %e = arith.constant 7 : i8
      memref.store %e, %b[%c0] : memref<1xi8>
      return %r, %s, %d, %b : memref<2xf32>, i16, f64, memref<1xi8>
    })");
  auto results = run();
  ASSERT_EQ(results.size(), 5u) << message;
  // What is in an argument counts as a result.
  EXPECT_EQ(results[0], (std::vector<double>{3, 2, 3, 4}));
  EXPECT_EQ(results[1][0], 3);
  // Nobody wrote the other element.
  EXPECT_TRUE(std::isnan(results[1][1]));
  EXPECT_EQ(results[2], (std::vector<double>{1}));
  EXPECT_EQ(results[3], (std::vector<double>{0.5}));
  EXPECT_EQ(results[4], (std::vector<double>{7}));
}

TEST_F(HostCodeTest, ReturnsOneScalar) {
  compile("func.func @f(%x: f32) -> f32 {\n"
          "%y = arith.addf %x, %x : f32\nreturn %y : f32 }");
  EXPECT_EQ(run(), (std::vector<std::vector<double>>{{2}})) << message;
}

TEST_F(HostCodeTest, TakesResultsAsArguments) {
  compile(R"(
    func.func @f(%x: memref<2xi32>) -> memref<2xi32> {
      %r = memref.alloc() : memref<2xi32>
      memref.copy %x, %r : memref<2xi32> to memref<2xi32>
      return %r : memref<2xi32>
    })",
          "buffer-results-to-out-params{modify-public-functions=true},");
  EXPECT_TRUE(code->areResultsArguments());
  EXPECT_EQ(run(), (std::vector<std::vector<double>>{{1, 2}, {1, 2}}))
      << message;
}

// A copy between layouts calls the runtime.
TEST_F(HostCodeTest, CopiesBetweenLayouts) {
  compile(R"(
    func.func @f(%x: memref<2x3xf16, strided<[4, 1]>>) -> memref<2x2xf16> {
      %v = memref.subview %x[0, 1] [2, 2] [1, 1]
        : memref<2x3xf16, strided<[4, 1]>> to memref<2x2xf16, strided<[4, 1], offset: 1>>
      %r = memref.alloc() : memref<2x2xf16>
      memref.copy %v, %r : memref<2x2xf16, strided<[4, 1], offset: 1>> to memref<2x2xf16>
      return %r : memref<2x2xf16>
    })");
  auto results = run();
  ASSERT_EQ(results.size(), 2u) << message;
  EXPECT_EQ(results[1], (std::vector<double>{2, 3, 5, 6}));
}

TEST_F(HostCodeTest, HasShortFloats) {
  for (llvm::StringRef type : {"f16", "bf16"}) {
    std::string text = "func.func @f(%x: T, %y: f64) -> (T, T, f32) {\n"
                       "%s = arith.addf %x, %x : T\n"
                       "%t = arith.truncf %y : f64 to T\n"
                       "%w = arith.extf %s : T to f32\n"
                       "return %s, %t, %w : T, T, f32 }";
    for (size_t at; (at = text.find('T')) != std::string::npos;)
      text.replace(at, 1, type);
    compile(text);
    EXPECT_EQ(run(), (std::vector<std::vector<double>>{{2}, {1}, {2}}))
        << message;
  }
}

TEST_F(HostCodeTest, NoticesWritesOutside) {
  compile(R"(
    func.func @f(%x: memref<2xi32>) {
      %c = arith.constant 2 : index
      %v = arith.constant 1 : i32
      memref.store %v, %x[%c] : memref<2xi32>
      return
    })");
  run();
  EXPECT_EQ(message, "wrote outside of buffer 0");
}

TEST_F(HostCodeTest, RefusesOtherTypes) {
  context.printOpOnDiagnostic(false);
  auto refuse = [&](llvm::StringRef type) {
    std::string error;
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      error = diagnostic.str();
      return success();
    });
    auto module = parseSourceString<ModuleOp>(
        ("func.func @f(%x: " + type + ") { return }").str(),
        ParserConfig(&context));
    EXPECT_TRUE(
        failed(HostSignature::get(module->lookupSymbol<func::FuncOp>("f"))));
    return error;
  };
  EXPECT_EQ(refuse("tensor<?xf32>"), "expects static sizes of what 'f' takes "
                                     "and returns, but got 'tensor<?xf32>'");
  EXPECT_EQ(refuse("vector<4xf32>"),
            "expects tensors, memrefs, integers and floats as what 'f' takes "
            "and returns, but got 'vector<4xf32>'");
}

TEST_F(HostCodeTest, RefusesWhatIsNotLowered) {
  auto module = parseSourceString<ModuleOp>("func.func @f() { return }",
                                            ParserConfig(&context));
  EXPECT_EQ(llvm::toString(compileForHost(*module, "f").takeError()),
            "expects a pipeline that ends in LLVM dialect, to be executed on "
            "the CPU, but got 'func.func' @f after it");
  module = parseSourceString<ModuleOp>("llvm.func @f() { llvm.return }",
                                       ParserConfig(&context));
  EXPECT_EQ(llvm::toString(compileForHost(*module, "f").takeError()),
            "expects function 'f' with a C interface after the pipeline, as "
            "convert-func-to-llvm makes one of 'llvm.emit_c_interface', but "
            "there is none");
}
