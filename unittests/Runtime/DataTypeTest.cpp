// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conversions, against LLVM's arbitrary-precision arithmetic.

#include "attune/Runtime/DataType.h"
#include "llvm/ADT/APFloat.h"
#include "gtest/gtest.h"
#include <cmath>
#include <numeric>
#include <random>
#include <vector>
#if defined(__SSE__)
#include <xmmintrin.h>
#endif

using namespace attune;

static double roundWithAPFloat(const llvm::fltSemantics &semantics,
                               double value) {
  llvm::APFloat number(value);
  bool lossy;
  number.convert(semantics, llvm::APFloat::rmNearestTiesToEven, &lossy);
  number.convert(llvm::APFloat::IEEEdouble(),
                 llvm::APFloat::rmNearestTiesToEven, &lossy);
  return number.convertToDouble();
}

TEST(DataType, RoundsAsAPFloatDoes) {
  const double values[] = {
      0.0,     -0.0,   1.0,     1.0 / 3, 0.3,     65504.0,    65519.9,
      65520.0, 6e-8,   2.9e-8,  2.98e-8, 6.1e-5,  6.09e-5,    1e-40,
      3.39e38, 3.4e38, 1e300,   -1e300,  2049.0,  1.00390625, 1.01171875,
      2051.0,  -1e-3,  9.2e-41, 4.5e-41, INFINITY};
  for (double value : values) {
    EXPECT_EQ(roundTo(DataType::F16, value),
              roundWithAPFloat(llvm::APFloat::IEEEhalf(), value))
        << value;
    EXPECT_EQ(roundTo(DataType::BF16, value),
              roundWithAPFloat(llvm::APFloat::BFloat(), value))
        << value;
  }
  EXPECT_TRUE(std::isnan(roundTo(DataType::F16, NAN)));
  EXPECT_TRUE(std::isnan(roundTo(DataType::BF16, NAN)));
}

TEST(DataType, EveryValueOf16BitsSurvives) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits)
    for (DataType type : {DataType::F16, DataType::BF16}) {
      uint16_t element = bits, again = 0;
      double value = loadElement(type, &element);
      if (std::isnan(value))
        continue;
      storeElement(type, &again, value);
      ASSERT_EQ(element, again) << getName(type).str();
    }
}

static constexpr std::pair<DataType, llvm::APFloat::Semantics> floats8[] = {
    {DataType::F8E4M3FN, llvm::APFloat::S_Float8E4M3FN},
    {DataType::F8E5M2, llvm::APFloat::S_Float8E5M2},
    {DataType::F8E4M3FNUZ, llvm::APFloat::S_Float8E4M3FNUZ},
    {DataType::F8E5M2FNUZ, llvm::APFloat::S_Float8E5M2FNUZ}};

TEST(DataType, EveryValueOf8BitsIsThatOfAPFloat) {
  for (auto [type, number] : floats8) {
    const auto &semantics = llvm::APFloat::EnumToSemantics(number);
    for (uint32_t bits = 0; bits < 0x100; ++bits) {
      uint8_t element = bits, again = 0;
      double value = loadElement(type, &element);
      llvm::APFloat expected(semantics, llvm::APInt(8, bits));
      if (expected.isNaN()) {
        EXPECT_TRUE(std::isnan(value)) << getName(type).str() << bits;
        continue;
      }
      EXPECT_EQ(value, expected.convertToDouble())
          << getName(type).str() << bits;
      storeElement(type, &again, value);
      // Infinities become the largest number.
      EXPECT_EQ(again, std::isinf(value) ? element - 1 : element)
          << getName(type).str();
    }
    EXPECT_EQ(getLargest(type),
              llvm::APFloat::getLargest(semantics).convertToDouble());
  }
}

TEST(DataType, NumbersOf8BitsAreRoundedAsAPFloatDoes) {
  std::mt19937 random(1);
  std::normal_distribution<double> exponents(0, 8);
  for (auto [type, number] : floats8) {
    const auto &semantics = llvm::APFloat::EnumToSemantics(number);
    double largest = getLargest(type);
    for (int i = 0; i < 100000; ++i) {
      double value = std::exp2(exponents(random)) * (i % 2 ? 1 : -1),
             rounded = roundTo(type, value);
      if (std::fabs(value) >= largest)
        EXPECT_EQ(std::fabs(rounded), largest);
      else
        EXPECT_EQ(rounded, roundWithAPFloat(semantics, value)) << value;
    }
    EXPECT_TRUE(std::isnan(roundTo(type, NAN)));
    EXPECT_EQ(roundTo(type, -INFINITY), -largest);
    EXPECT_EQ(roundTo(type, 0), 0);
  }
}

TEST(DataType, Names) {
  for (DataType type :
       {DataType::F16, DataType::BF16, DataType::F32, DataType::F64,
        DataType::I1, DataType::I8, DataType::I16, DataType::I32, DataType::I64,
        DataType::F8E4M3FN, DataType::F8E5M2, DataType::F8E4M3FNUZ,
        DataType::F8E5M2FNUZ})
    EXPECT_EQ(parseDataType(getName(type)), type);
  EXPECT_EQ(parseDataType("index"), DataType::I64);
  EXPECT_FALSE(parseDataType("f8E4M3"));
}

TEST(DataType, RoundsRandomValuesAsAPFloatDoes) {
  EXPECT_TRUE(std::isnan(
      roundTo(DataType::BF16, llvm::bit_cast<double>(~uint64_t(0)))));
  std::mt19937_64 generator(1);
  for (int i = 0; i < 200000; ++i) {
    double value =
        std::ldexp(double(int64_t(generator())), int(generator() % 320) - 200);
    if (i % 3 == 0) // ties
      value = std::ldexp(double(int64_t(generator() % 8192) * 2 + 1),
                         int(generator() % 60) - 40);
    ASSERT_EQ(roundTo(DataType::F16, value),
              roundWithAPFloat(llvm::APFloat::IEEEhalf(), value))
        << value;
    ASSERT_EQ(roundTo(DataType::BF16, value),
              roundWithAPFloat(llvm::APFloat::BFloat(), value))
        << value;
  }
}

TEST(DataType, EveryValueOf16BitsIsReadAsAPFloatReadsIt) {
  std::vector<uint16_t> all(1 << 16);
  std::iota(all.begin(), all.end(), 0);
  for (DataType type : {DataType::F16, DataType::BF16}) {
    const llvm::fltSemantics &semantics = type == DataType::F16
                                              ? llvm::APFloat::IEEEhalf()
                                              : llvm::APFloat::BFloat();
    std::vector<float> values(all.size());
    loadElements(type, all.data(), static_cast<int64_t>(all.size()),
                 values.data());
    for (uint16_t bits : all) {
      float expected =
          llvm::APFloat(semantics, llvm::APInt(16, bits)).convertToFloat();
      double one = loadElement(type, &bits);
      if (std::isnan(expected)) {
        ASSERT_TRUE(std::isnan(values[bits]) && std::isnan(one));
        continue;
      }
      ASSERT_EQ(expected, values[bits]) << getName(type).str() << " " << bits;
      ASSERT_EQ(std::signbit(expected), std::signbit(values[bits]));
      ASSERT_EQ(expected, one);
    }
  }
  int32_t integers[] = {-3, 7};
  float values[2];
  loadElements(DataType::I32, integers, 2, values);
  EXPECT_EQ(values[0], -3);
  EXPECT_EQ(values[1], 7);
}

// Threads that execute kernels take subnormal numbers of f32 for 0. Those of
// f16 are none of these.
#if defined(__SSE__)
TEST(DataType, SubnormalHalvesAreReadWhereThoseOfFloatsAreNot) {
  constexpr unsigned kFlushToZero = 0x8000, kDenormalsAreZero = 0x0040;
  std::vector<uint16_t> bits(0x400);
  std::iota(bits.begin(), bits.end(), 0);
  std::vector<float> values(bits.size());
  unsigned before = _mm_getcsr();
  _mm_setcsr(before | kFlushToZero | kDenormalsAreZero);
  loadElements(DataType::F16, bits.data(), bits.size(), values.data());
  _mm_setcsr(before);
  for (size_t i = 0; i < bits.size(); ++i)
    EXPECT_EQ(values[i], std::ldexp(static_cast<float>(i), -24));
}
#endif
