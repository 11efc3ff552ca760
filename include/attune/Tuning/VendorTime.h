// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What another kernel takes for a problem. Nothing here measures it: it is told
// on the command line.

#ifndef ATTUNE_TUNING_VENDORTIME_H
#define ATTUNE_TUNING_VENDORTIME_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace attune::tuning {

/// `mha=412us`, `mha=0.4ms` or `mha=620TFLOP/s`.
struct VendorTime {
  static llvm::Expected<VendorTime> parse(llvm::StringRef text);

  /// The name of a problem.
  std::string problem;
  /// In nanoseconds, or in TFLOP/s.
  double amount;
  bool isSpeed;
};

/// A problem that a time may be told of.
struct VendorProblem {
  std::string name;
  /// Floating-point operations of one run; 0 where unknown.
  double flops;
};

/// The times in nanoseconds, one for each problem, 0 where none is told. Where
/// there is one problem alone, the stem of the input's file names it as well.
/// Fails for a name that is not that of one problem, and for a speed where the
/// operations are not known.
llvm::Expected<std::vector<double>>
resolveVendorTimes(llvm::ArrayRef<VendorTime> times,
                   llvm::ArrayRef<VendorProblem> problems,
                   llvm::StringRef input);

} // namespace attune::tuning

#endif // ATTUNE_TUNING_VENDORTIME_H
