// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "attune/Tuning/GaussianProcess.h"
#include "gtest/gtest.h"
#include <cmath>
#include <random>

using namespace attune::tuning;

namespace {
/// Eight knobs, of which the first two decide, the second in steps of two.
struct GaussianProcessTest : testing::Test {
  static double getValue(llvm::ArrayRef<double> place) {
    return std::sin(2 * place[0]) + (place[1] == 1 ? 0.5 : 0);
  }
  std::vector<double> drawPlace() {
    std::vector<double> place;
    for (int knob = 0; knob < 8; ++knob)
      place.push_back(knob == 0 ? double(generator() % 6) / 5
                                : double(generator() % 2));
    return place;
  }
  void fill(GaussianProcess &process, size_t count) {
    for (size_t i = 0; i < count; ++i) {
      places.push_back(drawPlace());
      values.push_back(getValue(places.back()));
      process.add(places.back());
    }
    process.setValues(values);
  }
  /// Root of the mean square on places that were drawn anew.
  double getError(const GaussianProcess &process) {
    double sum = 0;
    for (int i = 0; i < 200; ++i) {
      std::vector<double> place = drawPlace();
      sum += std::pow(process.predict(place).mean - getValue(place), 2);
    }
    return std::sqrt(sum / 200);
  }

  std::mt19937 generator{1};
  std::vector<std::vector<double>> places;
  std::vector<double> values;
};
} // namespace

TEST_F(GaussianProcessTest, WithoutPlacesItIsThePrior) {
  GaussianProcess process(8);
  process.setValues({});
  GaussianProcess::Prediction prediction = process.predict(drawPlace());
  EXPECT_EQ(prediction.mean, 0);
  EXPECT_GT(prediction.deviation, 0);
}

TEST_F(GaussianProcessTest, ItKnowsWhatItWasTold) {
  GaussianProcess process(8);
  fill(process, 30);
  double elsewhere = 0, known = 0;
  for (size_t i = 0; i < places.size(); ++i) {
    EXPECT_NEAR(process.predict(places[i]).mean, values[i], 0.1);
    known = std::max(known, process.predict(places[i]).deviation);
  }
  std::vector<double> far(8, 0.5);
  elsewhere = process.predict(far).deviation;
  EXPECT_LT(known, elsewhere / 3);
}

TEST_F(GaussianProcessTest, WeightsAreThoseOfTheKnobsThatMatter) {
  GaussianProcess process(8);
  fill(process, 64);
  double before = getError(process);
  process.learnWeights();
  EXPECT_LT(getError(process), before / 2);
  double matter = std::min(process.getWeights()[0], process.getWeights()[1]);
  for (size_t knob = 2; knob < 8; ++knob)
    EXPECT_LT(process.getWeights()[knob], matter) << knob;
}

TEST_F(GaussianProcessTest, GrowingIsTheSameAsStartingAnew) {
  GaussianProcess grown(8), anew(8);
  fill(grown, 10);
  fill(grown, 10);
  for (const std::vector<double> &place : places)
    anew.add(place);
  anew.setValues(values);
  std::vector<double> place = drawPlace();
  EXPECT_DOUBLE_EQ(grown.predict(place).mean, anew.predict(place).mean);
  EXPECT_DOUBLE_EQ(grown.predict(place).deviation,
                   anew.predict(place).deviation);
  grown.clear();
  EXPECT_EQ(grown.size(), 0u);
}

TEST_F(GaussianProcessTest, EqualPlacesAreAveraged) {
  GaussianProcess process(1);
  for (double value : {1.0, 3.0, 1.0, 3.0}) {
    process.add({0.5});
    values.push_back(value);
  }
  process.setValues(values);
  EXPECT_NEAR(process.predict({0.5}).mean, 2, 0.02);
}
