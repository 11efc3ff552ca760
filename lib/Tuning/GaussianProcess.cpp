// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A Cholesky factorization that grows by rows, and a search for weights.

#include "attune/Tuning/GaussianProcess.h"
#include "llvm/ADT/STLExtras.h"
#include <cassert>
#include <cmath>

using namespace attune::tuning;

/// Of the exponent: so much for another value at all, and the rest by how far
/// away it is, because some knobs are switches and some are sizes.
static constexpr double kForBeingOther = 0.5;

/// Before anything is known, values that differ in half of their knobs have a
/// correlation of 1 / e.
static constexpr double kFirstWeight = 2, kFirstNoise = 0.01;

/// Bounds of weights and noise, and the factor by which they are tried.
static constexpr double kLeastWeight = 1e-3, kMostWeight = 30,
                        kLeastNoise = 1e-5, kMostNoise = 1, kFactor = 3;

GaussianProcess::GaussianProcess(size_t knobs)
    : weights(knobs, kFirstWeight / std::max<size_t>(1, knobs)),
      noise(kFirstNoise) {}

void GaussianProcess::clear() {
  places.clear();
  values.clear();
  factor.clear();
  solution.clear();
}

double GaussianProcess::correlate(llvm::ArrayRef<double> a,
                                  llvm::ArrayRef<double> b) const {
  double distance = 0;
  for (size_t i = 0; i < weights.size(); ++i)
    if (a[i] != b[i])
      distance += weights[i] * (kForBeingOther +
                                (1 - kForBeingOther) * std::abs(a[i] - b[i]));
  return std::exp(-distance);
}

void GaussianProcess::solveLower(llvm::MutableArrayRef<double> vector) const {
  for (size_t i = 0; i < vector.size(); ++i) {
    const double *row = factor[i].data();
    double sum = vector[i];
    for (size_t j = 0; j < i; ++j)
      sum -= row[j] * vector[j];
    vector[i] = sum / row[i];
  }
}

void GaussianProcess::factorRow(size_t row) {
  std::vector<double> entries(row + 1);
  for (size_t i = 0; i < row; ++i)
    entries[i] = correlate(places[row], places[i]);
  solveLower(llvm::MutableArrayRef(entries).take_front(row));
  double rest = 1 + noise;
  for (size_t i = 0; i < row; ++i)
    rest -= entries[i] * entries[i];
  // Never less than the noise, but for rounding.
  entries[row] = std::sqrt(std::max(rest, noise / 2));
  factor.resize(row);
  factor.push_back(std::move(entries));
}

void GaussianProcess::factorAll() {
  factor.clear();
  for (size_t row = 0; row < places.size(); ++row)
    factorRow(row);
}

void GaussianProcess::add(llvm::ArrayRef<double> place) {
  assert(place.size() == weights.size() && "expects a number for each knob");
  places.push_back(place.vec());
  factorRow(places.size() - 1);
}

double GaussianProcess::solve() {
  solution = values;
  solveLower(solution);
  double fit = 0, determinant = 0;
  for (size_t i = 0; i < solution.size(); ++i) {
    fit += solution[i] * solution[i];
    determinant += std::log(factor[i][i]);
  }
  double count = static_cast<double>(std::max<size_t>(1, values.size()));
  variance = std::max(fit / count, 1e-12);
  for (size_t i = solution.size(); i-- > 0;) {
    solution[i] /= factor[i][i];
    for (size_t j = 0; j < i; ++j)
      solution[j] -= factor[i][j] * solution[i];
  }
  return -count / 2 * std::log(variance) - determinant;
}

void GaussianProcess::setValues(llvm::ArrayRef<double> newValues) {
  assert(newValues.size() == places.size() && "expects a value of each place");
  values = newValues.vec();
  solve();
}

void GaussianProcess::learnWeights() {
  double likelihood = solve();
  auto improve = [&](double &parameter, double least, double most) {
    double kept = parameter;
    for (double factorOfKept : {kFactor, 1 / kFactor}) {
      parameter = std::min(std::max(kept * factorOfKept, least), most);
      if (parameter == kept)
        continue;
      factorAll();
      if (double found = solve(); found > likelihood) {
        likelihood = found;
        return;
      }
    }
    parameter = kept;
  };
  improve(noise, kLeastNoise, kMostNoise);
  for (double &weight : weights)
    improve(weight, kLeastWeight, kMostWeight);
  factorAll();
  solve();
}

GaussianProcess::Prediction
GaussianProcess::predict(llvm::ArrayRef<double> place) const {
  std::vector<double> correlations(places.size());
  double mean = 0;
  for (size_t i = 0; i < places.size(); ++i) {
    correlations[i] = correlate(place, places[i]);
    mean += correlations[i] * solution[i];
  }
  solveLower(correlations);
  double rest = 1;
  for (double correlation : correlations)
    rest -= correlation * correlation;
  return {mean, std::sqrt(variance * std::max(rest, 0.0))};
}
