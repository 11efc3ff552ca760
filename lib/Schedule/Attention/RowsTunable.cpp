// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "RowsTunable.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <cmath>

using namespace mlir;
using namespace attune;

ShrunkSizes::ShrunkSizes(TunableOpInterface op, ArrayRef<int64_t> most,
                         const ProblemSizes &wanted)
    : known(op.getSizes()), named(wanted) {
  for (auto [place, size] : llvm::enumerate(known)) {
    std::string name = op.getKnobSet().sizes[place].name.str();
    named.named.erase(name);
    if (ShapedType::isDynamic(size))
      named.named[name] =
          std::min(wanted.get(name).value_or(most[place]), most[place]);
    else
      size = std::min(size, most[place]);
  }
}

void attune::updateFunctionType(Operation *op) {
  auto function = op->getParentOfType<func::FuncOp>();
  function.setFunctionType(FunctionType::get(
      function.getContext(), function.front().getArgumentTypes(),
      op->getResultTypes()));
}

void attune::noteUnusualRows(InputNotes &notes, Value rows, bool isQuantized) {
  constexpr double kFar = 1e4;
  if (isQuantized)
    notes.noteClass(rows, "large", {kFar});
  notes.noteClass(rows, "zero", {0});
  notes.noteClass(rows, "infinite", {std::numeric_limits<double>::infinity()});
  notes.noteClass(rows, "nan", {std::numeric_limits<double>::quiet_NaN()});
}

/// The distance of the numbers of a type around this one.
static double getSpacing(Type element, double value) {
  if (!isa<FloatType>(element))
    return 1;
  const llvm::fltSemantics &format =
      cast<FloatType>(element).getFloatSemantics();
  int exponent = APFloat::semanticsMinExponent(format);
  if (value != 0)
    exponent = std::max(exponent, std::ilogb(value));
  return std::ldexp(1.0,
                    exponent + 1 -
                        static_cast<int>(APFloat::semanticsPrecision(format)));
}

Reference attune::makeRoundedReference(std::vector<float> values, Type element,
                                       double term, double more) {
  constexpr double kResolution = 1e-6;
  std::vector<float> bounds;
  bounds.reserve(values.size());
  for (float value : values) {
    double number = std::isfinite(value) ? value : 0;
    double off = more + kResolution * std::max(term, std::fabs(number));
    bounds.push_back(static_cast<float>(
        getSpacing(element, std::fabs(number) + more) / 2 * (1 + kResolution) +
        off));
  }
  return makeBoundedReference(std::move(values), std::move(bounds));
}

ResultCheckRule attune::getZerosRule(MLIRContext *context) {
  return {"zeros", [f32 = Float32Type::get(context)](std::vector<float> exact,
                                                     ArrayRef<float>) {
            // Differences of numbers that may be as large as all integers.
            constexpr double kTerm = 1000;
            return makeRoundedReference(std::move(exact), f32, kTerm);
          }};
}

Reference attune::makeScalesReference(std::vector<float> values, bool isSum) {
  double resolution = isSum ? 1e-5 : 1e-6;
  std::vector<float> bounds;
  bounds.reserve(values.size());
  for (float value : values)
    bounds.push_back(std::isfinite(value)
                         ? static_cast<float>(std::fabs(value) * resolution)
                         : 0);
  return makeBoundedReference(std::move(values), std::move(bounds));
}
