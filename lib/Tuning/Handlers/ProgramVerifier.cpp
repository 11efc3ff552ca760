// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Inputs and tolerances.

#include "attune/Tuning/ProgramVerifier.h"
#include "attune/Runtime/Random.h"
#include "attune/Tuning/CandidateRequest.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>
#include <cstring>
#include <random>

using namespace mlir;
using namespace attune;
using namespace attune::tuning;

/// Rounding errors of a sum of n terms grow as its square root; so many times
/// that is allowed, for both sums have them and the worst of many is looked at.
static constexpr double kErrorFactor = 4;
/// How many terms of a sum are not 0, about, in ProgramInputs::Exact.
static constexpr double kExactTerms = 16;

llvm::StringRef tuning::toString(ProgramInputs inputs) {
  return inputs == ProgramInputs::Exact ? "exact" : "normal";
}

/// 0, 1 and -1.
static void fillExact(Tensor &tensor, uint64_t seed, double density,
                      bool hasSigns) {
  std::mt19937_64 random(seed);
  constexpr double range = 18446744073709551616.0; // 2^64
  tensor.shape.forEachOffset([&](int64_t offset) {
    bool isZero = static_cast<double>(random()) >= density * range;
    bool isNegative = random() % 2 && hasSigns;
    tensor.store(offset, isZero ? 0 : isNegative ? -1 : 1);
  });
}

std::vector<Tensor> tuning::makeInputs(const HostSignature &signature,
                                       ProgramInputs inputs,
                                       uint64_t reduction) {
  std::vector<Tensor> tensors;
  double density = std::min(
      2.0 / 3, std::sqrt(kExactTerms / static_cast<double>(reduction)));
  for (auto [i, argument] : llvm::enumerate(signature.arguments)) {
    Tensor &tensor = tensors.emplace_back(argument.shape);
    uint64_t seed = kInputSeed + i;
    DataType type = tensor.shape.type;
    bool isFlag = type == DataType::I1;
    if (inputs == ProgramInputs::Exact)
      fillExact(tensor, seed, density, !isFlag && !argument.isIndex);
    else if (isFloat(type))
      fillNormal(tensor, seed);
    else if (isFlag)
      fillUniform(tensor, seed, 0, 2);
    else
      fillUniform(tensor, seed, argument.isIndex ? 0 : -8, 8);
  }
  return tensors;
}

uint64_t tuning::countReduction(ModuleOp payload,
                                const HostSignature &signature) {
  uint64_t total = 0;
  bool isKnown = false;
  payload->walk([&](linalg::LinalgOp op) {
    isKnown = true;
    uint64_t terms = 1;
    for (auto [size, kind] :
         llvm::zip_equal(op.getStaticLoopRanges(), op.getIteratorTypesArray()))
      if (kind == utils::IteratorType::reduction &&
          !ShapedType::isDynamic(size))
        terms *= static_cast<uint64_t>(size);
    total += terms;
  });
  if (!isKnown)
    for (const HostValue &argument : signature.arguments)
      total = std::max<uint64_t>(total, argument.shape.getNumElements());
  return std::max<uint64_t>(total, 1);
}

/// Bits of the significand, the hidden one included.
static int getPrecision(DataType type) {
  switch (type) {
  case DataType::F16:
    return 11;
  case DataType::BF16:
    return 8;
  case DataType::F8E4M3FN:
  case DataType::F8E4M3FNUZ:
    return 4;
  case DataType::F8E5M2:
  case DataType::F8E5M2FNUZ:
    return 3;
  case DataType::F32:
    return 24;
  default:
    return 53;
  }
}

/// The elements; integers that need more than 53 bits are compared apart.
static std::vector<double> read(const Tensor &tensor) {
  std::vector<double> values;
  tensor.shape.forEachOffset(
      [&](int64_t offset) { values.push_back(tensor.load(offset)); });
  return values;
}

static double getTolerance(const Tensor &tensor, ProgramInputs inputs,
                           uint64_t reduction) {
  if (!isFloat(tensor.shape.type))
    return 0;
  double largest = 0;
  bool areIntegers = true;
  for (double value : read(tensor)) {
    if (std::isfinite(value))
      largest = std::max(largest, std::fabs(value));
    areIntegers &= std::trunc(value) == value;
  }
  int precision = getPrecision(tensor.shape.type);
  // Partial sums may be larger than what is left of them in the end.
  if (inputs == ProgramInputs::Exact && areIntegers &&
      4 * largest <= std::ldexp(1.0, precision))
    return 0;
  return kErrorFactor * std::ldexp(1.0, 1 - precision) *
         std::sqrt(static_cast<double>(reduction)) * largest;
}

ProgramVerifier::ProgramVerifier(std::vector<Tensor> reference,
                                 ProgramInputs inputs, uint64_t reduction)
    : reference(std::move(reference)) {
  for (const Tensor &tensor : this->reference)
    tolerances.push_back(::getTolerance(tensor, inputs, reduction));
}

/// NaN where NaN is expected is right, and so is an infinity.
static bool isRight(double got, double expected, double tolerance) {
  if (std::isnan(expected))
    return std::isnan(got);
  return got == expected || std::fabs(got - expected) <= tolerance;
}

static std::string spell(double value) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.6g", value);
  return text;
}

std::string ProgramVerifier::findError(llvm::ArrayRef<Tensor> results) const {
  if (results.size() != reference.size())
    return llvm::formatv("expects {0} results, but got {1}", reference.size(),
                         results.size());
  for (size_t i = 0; i != results.size(); ++i) {
    const Tensor &result = results[i], &expected = reference[i];
    if (!isFloat(expected.shape.type) && result.bytes == expected.bytes)
      continue;
    std::vector<double> got = read(result), wanted = read(expected);
    int64_t width = getBytes(expected.shape.type);
    auto differs = [&](size_t element) {
      if (isFloat(expected.shape.type))
        return !isRight(got[element], wanted[element], tolerances[i]);
      return std::memcmp(&result.bytes[element * width],
                         &expected.bytes[element * width], width) != 0;
    };
    uint64_t wrong = 0;
    size_t first = 0;
    for (size_t element = 0; element != wanted.size(); ++element)
      if (differs(element) && wrong++ == 0)
        first = element;
    if (wrong)
      return llvm::formatv("result {0}: expects {1} at element {2} within {3}, "
                           "but got {4}; {5} of {6} elements are wrong",
                           i, spell(wanted[first]), first, spell(tolerances[i]),
                           spell(got[first]), wrong, wanted.size());
  }
  return "";
}
