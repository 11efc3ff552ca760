// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The 16-bit floats are converted by hand: the compilers that build this
// project do not all have them.

#include "attune/Runtime/DataType.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/ErrorHandling.h"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

using namespace attune;

std::optional<DataType> attune::parseDataType(llvm::StringRef name) {
  return llvm::StringSwitch<std::optional<DataType>>(name)
      .Case("f16", DataType::F16)
      .Case("bf16", DataType::BF16)
      .Case("f32", DataType::F32)
      .Case("f64", DataType::F64)
      .Case("i1", DataType::I1)
      .Case("i8", DataType::I8)
      .Case("i16", DataType::I16)
      .Case("i32", DataType::I32)
      .Cases({"i64", "index"}, DataType::I64)
      .Case("f8E4M3FN", DataType::F8E4M3FN)
      .Case("f8E5M2", DataType::F8E5M2)
      .Case("f8E4M3FNUZ", DataType::F8E4M3FNUZ)
      .Case("f8E5M2FNUZ", DataType::F8E5M2FNUZ)
      .Default(std::nullopt);
}

llvm::StringRef attune::getName(DataType type) {
  switch (type) {
  case DataType::F16:
    return "f16";
  case DataType::BF16:
    return "bf16";
  case DataType::F32:
    return "f32";
  case DataType::F64:
    return "f64";
  case DataType::I1:
    return "i1";
  case DataType::I8:
    return "i8";
  case DataType::I16:
    return "i16";
  case DataType::I32:
    return "i32";
  case DataType::I64:
    return "i64";
  case DataType::F8E4M3FN:
    return "f8E4M3FN";
  case DataType::F8E5M2:
    return "f8E5M2";
  case DataType::F8E4M3FNUZ:
    return "f8E4M3FNUZ";
  case DataType::F8E5M2FNUZ:
    return "f8E5M2FNUZ";
  }
  llvm_unreachable("all types are covered");
}

int64_t attune::getBytes(DataType type) {
  switch (type) {
  case DataType::I1:
  case DataType::I8:
  case DataType::F8E4M3FN:
  case DataType::F8E5M2:
  case DataType::F8E4M3FNUZ:
  case DataType::F8E5M2FNUZ:
    return 1;
  case DataType::F16:
  case DataType::BF16:
  case DataType::I16:
    return 2;
  case DataType::F32:
  case DataType::I32:
    return 4;
  case DataType::F64:
  case DataType::I64:
    return 8;
  }
  llvm_unreachable("all types are covered");
}

namespace {
/// A float of 8 bits: of sign, exponent and mantissa. Those whose name ends in
/// UZ have one NaN in place of -0; those with FN no infinities.
struct Float8 {
  int mantissa, bias;
  bool hasInfinity, hasNegativeZero;

  /// The largest finite number's bits: infinity and NaNs are behind it.
  uint8_t getLargest() const {
    if (!hasNegativeZero)
      return 0x7f;
    return hasInfinity ? (0x1f << mantissa) - 1 : 0x7e;
  }
};
} // namespace

static std::optional<Float8> getFloat8(DataType type) {
  switch (type) {
  case DataType::F8E4M3FN:
    return Float8{3, 7, false, true};
  case DataType::F8E5M2:
    return Float8{2, 15, true, true};
  case DataType::F8E4M3FNUZ:
    return Float8{3, 8, false, false};
  case DataType::F8E5M2FNUZ:
    return Float8{2, 16, false, false};
  default:
    return std::nullopt;
  }
}

bool attune::isFloat(DataType type) {
  return type == DataType::F16 || type == DataType::BF16 ||
         type == DataType::F32 || type == DataType::F64 || getFloat8(type);
}

/// Rounds to a format of 16 bits: one of sign, then the exponent, then
/// `mantissa` bits.
static uint16_t encode16(double value, int mantissa, int maxExponent) {
  uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  uint16_t infinity = 0x7fff & (~0u << mantissa);
  if (std::isnan(value))
    return 0x7fff;
  double magnitude = std::fabs(value);
  if (std::isinf(value))
    return sign | infinity;
  if (magnitude == 0)
    return sign;
  int minExponent = 1 - maxExponent;
  int exponent = std::max(std::ilogb(magnitude), minExponent);
  // Units in the last place; nearbyint rounds ties to even.
  double units = std::nearbyint(std::ldexp(magnitude, mantissa - exponent));
  auto bits = static_cast<int64_t>(units);
  // A subnormal has no implicit one; otherwise the implicit one adds 1 to the
  // exponent field, as does a carry out of the mantissa.
  int64_t field = static_cast<int64_t>(exponent - minExponent) << mantissa;
  int64_t encoded = field + bits;
  return sign | static_cast<uint16_t>(std::min<int64_t>(encoded, infinity));
}

static constexpr int kHalfMantissa = 10, kHalfMaxExponent = 15;
static constexpr int kBFloatMantissa = 7, kBFloatMaxExponent = 127;

/// The upper half of an f32.
static float decodeBFloat(uint16_t bits) {
  return llvm::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

/// Without subnormal numbers of f32 in between: threads that execute kernels
/// take these for 0, as the chips' f32 arithmetic does.
static float decodeHalf(uint16_t bits) {
  constexpr uint32_t infinity = 0x7c00, infinityOfFloat = 0x7f800000;
  constexpr uint32_t leastNormal = 0x400, bias = (127 - kHalfMaxExponent) << 23;
  uint32_t magnitude = bits & 0x7fff, sign = (bits & 0x8000u) << 16;
  float subnormal = static_cast<float>(magnitude) * 0x1p-24f;
  uint32_t normal = ((magnitude << 13) + bias) |
                    (magnitude >= infinity ? infinityOfFloat : 0);
  uint32_t result =
      magnitude < leastNormal ? llvm::bit_cast<uint32_t>(subnormal) : normal;
  return llvm::bit_cast<float>(result | sign);
}

static float decodeFloat8(const Float8 &format, uint8_t bits) {
  float sign = bits & 0x80 ? -1.0f : 1.0f;
  int magnitude = bits & 0x7f, largest = format.getLargest();
  if (!format.hasNegativeZero && bits == 0x80)
    return std::numeric_limits<float>::quiet_NaN();
  if (magnitude > largest)
    return format.hasInfinity && magnitude == largest + 1
               ? sign * std::numeric_limits<float>::infinity()
               : std::copysign(std::numeric_limits<float>::quiet_NaN(), sign);
  int field = magnitude >> format.mantissa,
      fraction = magnitude & ((1 << format.mantissa) - 1);
  if (field)
    fraction += 1 << format.mantissa;
  return sign * std::ldexp(static_cast<float>(fraction),
                           std::max(field, 1) - format.bias - format.mantissa);
}

/// Rounds to nearest, ties to even, and to the largest number what is larger.
static uint8_t encodeFloat8(const Float8 &format, double value) {
  uint8_t sign = std::signbit(value) ? 0x80 : 0;
  if (std::isnan(value))
    return format.hasNegativeZero ? sign | 0x7f : 0x80;
  int minExponent = 1 - format.bias;
  double magnitude = std::fabs(value);
  int64_t bits = 0;
  if (std::isinf(magnitude)) {
    bits = format.getLargest();
  } else if (magnitude != 0) {
    int exponent = std::clamp(std::ilogb(magnitude), minExponent, 63);
    // See encode16.
    bits = (static_cast<int64_t>(exponent - minExponent) << format.mantissa) +
           static_cast<int64_t>(std::nearbyint(std::ldexp(
               std::fmin(magnitude, 0x1p60), format.mantissa - exponent)));
  }
  bits = std::min<int64_t>(bits, format.getLargest());
  return bits == 0 && !format.hasNegativeZero
             ? 0
             : sign | static_cast<uint8_t>(bits);
}

double attune::getLargest(DataType type) {
  if (std::optional<Float8> format = getFloat8(type))
    return decodeFloat8(*format, format->getLargest());
  switch (type) {
  case DataType::F16:
    return decodeHalf(0x7bff);
  case DataType::BF16:
    return decodeBFloat(0x7f7f);
  case DataType::F32:
    return std::numeric_limits<float>::max();
  default:
    return std::numeric_limits<double>::max();
  }
}

template <typename T> static T read(const void *element) {
  T value;
  std::memcpy(&value, element, sizeof(T));
  return value;
}

template <typename T> static void write(void *element, T value) {
  std::memcpy(element, &value, sizeof(T));
}

double attune::loadElement(DataType type, const void *element) {
  switch (type) {
  case DataType::F16:
    return decodeHalf(read<uint16_t>(element));
  case DataType::BF16:
    return decodeBFloat(read<uint16_t>(element));
  case DataType::F32:
    return read<float>(element);
  case DataType::F64:
    return read<double>(element);
  case DataType::I1:
    return read<uint8_t>(element) & 1;
  case DataType::I8:
    return read<int8_t>(element);
  case DataType::I16:
    return read<int16_t>(element);
  case DataType::I32:
    return read<int32_t>(element);
  case DataType::I64:
    return static_cast<double>(read<int64_t>(element));
  case DataType::F8E4M3FN:
  case DataType::F8E5M2:
  case DataType::F8E4M3FNUZ:
  case DataType::F8E5M2FNUZ:
    return decodeFloat8(*getFloat8(type), read<uint8_t>(element));
  }
  llvm_unreachable("all types are covered");
}

void attune::loadElements(DataType type, const void *elements, int64_t count,
                          float *values) {
  auto *bytes = static_cast<const char *>(elements);
  if (type == DataType::BF16) {
    for (int64_t i = 0; i < count; ++i)
      values[i] = decodeBFloat(read<uint16_t>(bytes + i * sizeof(uint16_t)));
    return;
  }
  if (type == DataType::F16) {
    for (int64_t i = 0; i < count; ++i)
      values[i] = decodeHalf(read<uint16_t>(bytes + i * sizeof(uint16_t)));
    return;
  }
  int64_t width = getBytes(type);
  for (int64_t i = 0; i < count; ++i)
    values[i] = static_cast<float>(loadElement(type, bytes + i * width));
}

/// encode16 in the bits of the double, for the millions of elements of inputs
/// and results. Nothing where the result would be subnormal, infinite or NaN.
static inline std::optional<uint16_t> encodeNormal16(double value, int mantissa,
                                                     int maxExponent) {
  constexpr int doubleMantissa = 52, doubleBias = 1023;
  auto bits = llvm::bit_cast<uint64_t>(value);
  uint16_t sign = bits >> 63 ? 0x8000 : 0;
  bits &= ~(uint64_t(1) << 63);
  int before = static_cast<int>(bits >> doubleMantissa);
  int dropped = doubleMantissa - mantissa;
  // Half a unit in the last place, less where the last bit kept is even.
  bits += (uint64_t(1) << (dropped - 1)) - 1 + (bits >> dropped & 1);
  int after = static_cast<int>(bits >> doubleMantissa);
  if (before < doubleBias + 1 - maxExponent ||
      before > doubleBias + maxExponent || after > doubleBias + maxExponent)
    return std::nullopt;
  uint64_t rebased = bits - (static_cast<uint64_t>(doubleBias - maxExponent)
                             << doubleMantissa);
  return sign | static_cast<uint16_t>(rebased >> dropped);
}

static uint16_t encode(double value, int mantissa, int maxExponent) {
  if (auto bits = encodeNormal16(value, mantissa, maxExponent))
    return *bits;
  return encode16(value, mantissa, maxExponent);
}

void attune::storeElement(DataType type, void *element, double value) {
  switch (type) {
  case DataType::F16:
    return write(element, encode(value, kHalfMantissa, kHalfMaxExponent));
  case DataType::BF16:
    return write(element, encode(value, kBFloatMantissa, kBFloatMaxExponent));
  case DataType::F32:
    return write(element, static_cast<float>(value));
  case DataType::F64:
    return write(element, value);
  case DataType::I1:
    return write(element, static_cast<uint8_t>(value != 0));
  case DataType::I8:
    return write(element, static_cast<int8_t>(value));
  case DataType::I16:
    return write(element, static_cast<int16_t>(value));
  case DataType::I32:
    return write(element, static_cast<int32_t>(value));
  case DataType::I64:
    return write(element, static_cast<int64_t>(value));
  case DataType::F8E4M3FN:
  case DataType::F8E5M2:
  case DataType::F8E4M3FNUZ:
  case DataType::F8E5M2FNUZ:
    return write(element, encodeFloat8(*getFloat8(type), value));
  }
  llvm_unreachable("all types are covered");
}

double attune::roundTo(DataType type, double value) {
  if (type == DataType::F16)
    return decodeHalf(encode(value, kHalfMantissa, kHalfMaxExponent));
  if (type == DataType::BF16)
    return decodeBFloat(encode(value, kBFloatMantissa, kBFloatMaxExponent));
  char element[8];
  storeElement(type, element, value);
  return loadElement(type, element);
}
