// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Predicts a function of knobs from a few hundred of its values, and says how
// far off the prediction may be.

#ifndef ATTUNE_TUNING_GAUSSIANPROCESS_H
#define ATTUNE_TUNING_GAUSSIANPROCESS_H

#include "llvm/ADT/ArrayRef.h"
#include <vector>

namespace attune::tuning {

/// Regression by a Gaussian process with mean 0 (Rasmussen and Williams 2006,
/// algorithm 2.1). Places are vectors of numbers from 0 to 1, one for each
/// knob. Two values are the less alike the more knobs differ and the farther,
/// where each knob has a weight of its own that is found from the data.
class GaussianProcess {
public:
  explicit GaussianProcess(size_t knobs);

  struct Prediction {
    double mean, deviation;
  };

  size_t size() const { return places.size(); }
  /// Appends a place, whose value is given later. Takes time by the square of
  /// the places.
  void add(llvm::ArrayRef<double> place);
  /// The values of all places, in order. Takes time by the square of these.
  void setValues(llvm::ArrayRef<double> values);
  /// Finds weights, and the noise, with which the values are more likely. Takes
  /// time by the cube of the places, for each knob.
  void learnWeights();
  /// Forgets all places, but not the weights.
  void clear();

  Prediction predict(llvm::ArrayRef<double> place) const;
  llvm::ArrayRef<double> getWeights() const { return weights; }

private:
  double correlate(llvm::ArrayRef<double> a, llvm::ArrayRef<double> b) const;
  /// Row `row` of the factor, when those before it are there.
  void factorRow(size_t row);
  void factorAll();
  /// Solves L x = b in place.
  void solveLower(llvm::MutableArrayRef<double> vector) const;
  /// Solves for the values; returns the logarithm of their likelihood, without
  /// what is the same for all weights.
  double solve();

  std::vector<std::vector<double>> places;
  std::vector<double> values;
  std::vector<double> weights;
  /// Variance of the noise over that of the function.
  double noise;
  /// Rows of the Cholesky factor L of the correlations: L L^T = R + noise.
  std::vector<std::vector<double>> factor;
  /// (R + noise)^-1 values.
  std::vector<double> solution;
  double variance = 1;
};

} // namespace attune::tuning

#endif // ATTUNE_TUNING_GAUSSIANPROCESS_H
