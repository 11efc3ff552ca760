// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels that are wrong in the ways that winners of tuners have been, as C++
// functions on a device of the tests: none of them is taken for right.

#include "attune/Execution/Verifier.h"
#include "Runtime/FakeDevice.h"
#include "attune/InitAllDialects.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace mlir;
using namespace attune;

using Half = _Float16;

static constexpr int64_t kQueries = 41, kKeys = 24, kHead = 16;

// The first queries see nothing.
static constexpr StringLiteral kSource = R"(
  !query = tensor<1x1x41x16xf16>
  !key = tensor<1x1x24x16xf16>
  !lse = tensor<1x1x41xf32>
  func.func @f(%q: !query, %k: !key, %v: !key) -> (!query, !lse) {
    %o, %lse = attn.attention %q, %k, %v lse mask (%b, %h, %m, %n) {
      %c8 = arith.constant 8 : index
      %last = arith.subi %m, %c8 : index
      %y = arith.cmpi sle, %n, %last : index
      attn.yield %y : i1
    } : !query, !key, !key
    return %o, %lse : !query, !lse
  })";

static constexpr StringLiteral kCompiled = R"(
  module attributes {gpu.container_module} {
    gpu.binary @kernels [#gpu.object<#nvvm.target,
      kernels = <[#gpu.kernel_metadata<"attention", () -> ()>]>, bin = "image">]
    func.func @f(%q: tensor<1x1x41x16xf16>, %k: tensor<1x1x24x16xf16>, %v: tensor<1x1x24x16xf16>)
        -> (tensor<1x1x41x16xf16>, tensor<1x1x41xf32>) {
      %c1 = arith.constant 1 : index
      %mq = bufferization.to_buffer %q read_only : tensor<1x1x41x16xf16> to memref<1x1x41x16xf16>
      %mk = bufferization.to_buffer %k read_only : tensor<1x1x24x16xf16> to memref<1x1x24x16xf16>
      %mv = bufferization.to_buffer %v read_only : tensor<1x1x24x16xf16> to memref<1x1x24x16xf16>
      %mo = memref.alloc() : memref<1x1x41x16xf16>
      %ml = memref.alloc() : memref<1x1x41xf32>
      gpu.launch_func @kernels::@attention blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
        args(%mq : memref<1x1x41x16xf16>, %mk : memref<1x1x24x16xf16>, %mv : memref<1x1x24x16xf16>,
             %mo : memref<1x1x41x16xf16>, %ml : memref<1x1x41xf32>)
      %o = bufferization.to_tensor %mo restrict writable : memref<1x1x41x16xf16> to tensor<1x1x41x16xf16>
      %l = bufferization.to_tensor %ml restrict writable : memref<1x1x41xf32> to tensor<1x1x41xf32>
      return %o, %l : tensor<1x1x41x16xf16>, tensor<1x1x41xf32>
    }
  })";

namespace {
enum class Fault {
  None,
  NaN,
  OneElement,
  LastTile,
  MaskedRows,
  WrongLSE,
  NoMaximum,
  MaximumFromZero,
  KeyBeyondTheEnd,
  WritesToArgument,
  WritesBeyondTheEnd,
  LaterLaunches,
  RareLaunch
};

struct VerifierTest : testing::TestWithParam<Fault> {
  VerifierTest() {
    DialectRegistry registry;
    registerAllDialects(registry);
    context.appendDialectRegistry(registry);
    source = parseSourceString<ModuleOp>(kSource, &context);
    compiled = parseSourceString<ModuleOp>(kCompiled, &context);
    device.kernels["attention"] = [this](const LaunchShape &,
                                         ArrayRef<void *> words) {
      // A memref of rank 4 is eleven parameters; the second is its address.
      auto get = [&](size_t word) {
        return *static_cast<Half **>(words[word]);
      };
      launch(get(1), get(12), get(23), get(34),
             *static_cast<float **>(words[45]));
    };
  }

  void launch(Half *q, Half *k, Half *v, Half *out, float *lse) const;

  FakeDevice device;
  MLIRContext context;
  OwningOpRef<ModuleOp> source, compiled;
  Fault fault = Fault::None;
  mutable int launches = 0;
};
} // namespace

void VerifierTest::launch(Half *q, Half *k, Half *v, Half *out,
                          float *lse) const {
  ++launches;
  for (int64_t m = 0; m < kQueries; ++m) {
    int64_t visible = std::clamp<int64_t>(m - 7, 0, kKeys);
    std::vector<float> scores;
    for (int64_t n = 0; n < visible; ++n) {
      float dot = 0;
      for (int64_t d = 0; d < kHead; ++d)
        dot += float(q[m * kHead + d]) * float(k[n * kHead + d]);
      scores.push_back(dot / 4);
    }
    if (fault == Fault::KeyBeyondTheEnd && visible == kKeys)
      scores.push_back(0);
    float maximum = fault == Fault::MaximumFromZero
                        ? 0
                        : -std::numeric_limits<float>::infinity();
    for (float score : scores)
      maximum = std::max(maximum, score);
    if (fault == Fault::NoMaximum)
      maximum = 0;
    float sum = 0;
    float row[kHead] = {};
    for (size_t n = 0; n < scores.size(); ++n) {
      float weight = std::exp(scores[n] - maximum);
      sum += weight;
      for (int64_t d = 0; d < kHead && n < kKeys; ++d)
        row[d] += weight * float(v[n * kHead + d]);
    }
    for (int64_t d = 0; d < kHead; ++d)
      out[m * kHead + d] = Half(visible ? row[d] / sum : 0);
    lse[m] = visible ? maximum + std::log(sum)
                     : -std::numeric_limits<float>::infinity();
  }
  switch (fault) {
  case Fault::NaN:
    out[100] = Half(std::nanf(""));
    break;
  case Fault::OneElement:
    out[kQueries * kHead - 100] += Half(0.1f);
    break;
  case Fault::LastTile:
    for (int64_t i = 40 * kHead; i < 41 * kHead; ++i)
      out[i] *= Half(1.5f);
    break;
  case Fault::MaskedRows:
    out[3 * kHead] = v[0];
    break;
  case Fault::WrongLSE:
    lse[20] += 0.01f;
    break;
  case Fault::WritesToArgument:
    k[5] += 1;
    break;
  case Fault::WritesBeyondTheEnd:
    out[kQueries * kHead] = 1;
    break;
  case Fault::LaterLaunches:
    if (launches > 3)
      out[200] += Half(0.5f);
    break;
  case Fault::RareLaunch: // by less than the tolerance
    if (launches == 50)
      reinterpret_cast<uint16_t &>(out[200]) ^= 1;
    break;
  default:
    break;
  }
}

TEST_P(VerifierTest, IsNotTakenForRight) {
  fault = GetParam();
  ASSERT_TRUE(source && compiled);
  std::string message;
  ScopedDiagnosticHandler handler(
      &context, [&](Diagnostic &diagnostic) { message += diagnostic.str(); });
  Verifier verifier(*source->getOps<func::FuncOp>().begin(), device,
                    ProblemSizes(),
                    /*seed=*/1, ReferencePlace::Host);
  ASSERT_TRUE(succeeded(verifier.prepare(kNormalInputs)));
  FailureOr<std::string> wrong = verifier.prove(*compiled, /*launches=*/100);
  switch (fault) {
  case Fault::None:
    ASSERT_TRUE(succeeded(wrong)) << message;
    EXPECT_EQ(*wrong, "");
    EXPECT_EQ(device.allocations.size(), 9u); // arguments of each class
    return;
  // A device on which this ran cannot be trusted any more.
  case Fault::WritesToArgument:
    EXPECT_TRUE(failed(wrong));
    EXPECT_EQ(message, "a kernel wrote to argument 1");
    return;
  case Fault::WritesBeyondTheEnd:
    EXPECT_TRUE(failed(wrong));
    EXPECT_EQ(message, "a kernel wrote 0 bytes after the end of 1x1x41x16xf16");
    return;
  case Fault::RareLaunch:
    ASSERT_TRUE(succeeded(wrong)) << message;
    EXPECT_EQ(*wrong, "expects the same bits in 100 launches, but 1 of them "
                      "left others with --equal-launches=100");
    return;
  default:
    ASSERT_TRUE(succeeded(wrong)) << message;
    EXPECT_NE(*wrong, "");
  }
}

INSTANTIATE_TEST_SUITE_P(
    Faults, VerifierTest,
    testing::Values(Fault::None, Fault::NaN, Fault::OneElement, Fault::LastTile,
                    Fault::MaskedRows, Fault::WrongLSE, Fault::NoMaximum,
                    Fault::MaximumFromZero, Fault::KeyBeyondTheEnd,
                    Fault::WritesToArgument, Fault::WritesBeyondTheEnd,
                    Fault::LaterLaunches, Fault::RareLaunch));

TEST_F(VerifierTest, HostileInputsShowWhatNormalOnesHide) {
  fault = Fault::NoMaximum;
  Verifier verifier(*source->getOps<func::FuncOp>().begin(), device,
                    ProblemSizes(),
                    /*seed=*/1, ReferencePlace::Host);
  EXPECT_EQ(*verifier.verify(*compiled, kNormalInputs), "");
  for (StringRef hostile : {"repelled", "spread"}) {
    std::string wrong = *verifier.verify(*compiled, hostile);
    EXPECT_TRUE(
        StringRef(wrong).ends_with((" with --input-class=" + hostile).str()))
        << wrong;
  }
}
