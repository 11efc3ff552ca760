// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads --vendor, the same text as attune-report does.

#include "attune/Tuning/VendorTime.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include <cmath>

using namespace attune::tuning;

llvm::Expected<VendorTime> VendorTime::parse(llvm::StringRef text) {
  auto [problem, number] = text.rsplit('=');
  VendorTime time;
  time.problem = problem.str();
  time.amount = 0;
  double factor = 1;
  time.isSpeed = number.consume_back("TFLOP/s");
  if (!time.isSpeed && number.consume_back("us"))
    factor = 1e3;
  else if (!time.isSpeed && number.consume_back("ms"))
    factor = 1e6;
  else if (!time.isSpeed)
    number = "";
  // To getAsDouble() "nan" is a number as well.
  bool isNumber =
      !number.empty() && llvm::isDigit(number.front()) &&
      llvm::all_of(number,
                   [](char c) { return llvm::isDigit(c) || c == '.'; }) &&
      !number.getAsDouble(time.amount);
  time.amount *= factor;
  if (problem.empty() || !isNumber || !std::isfinite(time.amount) ||
      time.amount <= 0)
    return llvm::createStringError(
        "expects --vendor=<problem>=<number>us, <number>ms or "
        "<number>TFLOP/s, but got '" +
        text + "'");
  return time;
}

llvm::Expected<std::vector<double>>
attune::tuning::resolveVendorTimes(llvm::ArrayRef<VendorTime> times,
                                   llvm::ArrayRef<VendorProblem> problems,
                                   llvm::StringRef input) {
  std::vector<double> resolved(problems.size(), 0);
  for (const VendorTime &time : times) {
    std::vector<size_t> found;
    for (auto [i, problem] : llvm::enumerate(problems))
      if (problem.name == time.problem)
        found.push_back(i);
    if (found.empty() && problems.size() == 1 &&
        llvm::sys::path::stem(input) == time.problem)
      found.push_back(0);
    if (found.empty()) {
      auto names = llvm::map_range(
          problems, [](const VendorProblem &problem) { return problem.name; });
      return llvm::createStringError("expects --vendor to name a problem of " +
                                     llvm::join(names, ", ") + ", but got '" +
                                     time.problem + "'");
    }
    if (found.size() > 1)
      return llvm::createStringError(
          llvm::formatv("expects --vendor to name one problem, but there are "
                        "{0} in '{1}'",
                        found.size(), time.problem)
              .str());
    const VendorProblem &problem = problems[found.front()];
    double &nanoseconds = resolved[found.front()];
    if (nanoseconds)
      return llvm::createStringError(
          "expects one --vendor for a problem, but got two for '" +
          problem.name + "'");
    if (time.isSpeed && !problem.flops)
      return llvm::createStringError(
          "expects --vendor=" + time.problem +
          "=<number>us or <number>ms where floating-point operations are not "
          "known, but got TFLOP/s");
    nanoseconds =
        time.isSpeed ? problem.flops / time.amount / 1000 : time.amount;
  }
  return resolved;
}
