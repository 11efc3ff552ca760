// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// When are the results of a program of any pipeline right? Nothing is known of
// it but what it was before it was transformed.

#ifndef ATTUNE_TUNING_PROGRAMVERIFIER_H
#define ATTUNE_TUNING_PROGRAMVERIFIER_H

#include "attune/Execution/HostCode.h"

namespace attune::tuning {

/// What programs are run with.
enum class ProgramInputs {
  /// Floats of mean 0 and variance 1; integers from -8 to 7, or from 0 where
  /// they are indices.
  Normal,
  /// 0, 1 and -1, the more zeros the longer sums are. Sums of them are exact in
  /// any order.
  Exact
};
llvm::StringRef toString(ProgramInputs inputs);

/// Values for all arguments: the same for the same signature, everywhere.
/// `reduction` says how many terms sums have.
std::vector<Tensor> makeInputs(const HostSignature &signature,
                               ProgramInputs inputs, uint64_t reduction);

/// How many terms the sums in a payload have, at most: those of its linalg ops,
/// or else as many as the largest argument has elements.
uint64_t countReduction(mlir::ModuleOp payload, const HostSignature &signature);

/// The results as they should be. Integers have to be equal; floats may be
/// further off the larger the results and the longer the sums are. Where
/// integers that are small for the type come of ProgramInputs::Exact, floats
/// have to be equal as well.
class ProgramVerifier {
public:
  ProgramVerifier(std::vector<Tensor> reference, ProgramInputs inputs,
                  uint64_t reduction);

  /// Where and by how much results are wrong; empty if they are right.
  std::string findError(llvm::ArrayRef<Tensor> results) const;
  /// What floats of a result may be off.
  double getTolerance(size_t result) const { return tolerances[result]; }

private:
  std::vector<Tensor> reference;
  std::vector<double> tolerances;
};

} // namespace attune::tuning

#endif // ATTUNE_TUNING_PROGRAMVERIFIER_H
