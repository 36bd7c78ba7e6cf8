// SPDX-License-Identifier: MIT
// Property: what is encoded decodes to within the error of its type.
#include <gmock/gmock.h>

#include <cmath>
#include <string>
#include <vector>

#include "ingot/quantize.hpp"
#include "support/expect_error.hpp"
#include "support/random.hpp"

namespace ingot::test {
namespace {

/// Relative errors of the reference implementation for normally distributed weights, without and
/// with importances (squares of normally distributed numbers): sqrt(sum u (x - y)^2 / sum u x^2).
/// 0: it refuses to encode without.
struct ExpectedError {
  TensorType type;
  double without_weights;
  double with_weights;
};

constexpr ExpectedError expected_errors[] = {
    {TensorType::f16, 0.00021, 0.00021},    {TensorType::q4_0, 0.08566, 0.07510},
    {TensorType::q4_1, 0.07817, 0.06125},   {TensorType::q5_0, 0.04255, 0.03731},
    {TensorType::q5_1, 0.03784, 0.02985},   {TensorType::q8_0, 0.00532, 0.00531},
    {TensorType::q2_k, 0.29619, 0.22323},   {TensorType::q3_k, 0.15017, 0.12918},
    {TensorType::q4_k, 0.07125, 0.06227},   {TensorType::q5_k, 0.03613, 0.03219},
    {TensorType::q6_k, 0.01772, 0.01559},   {TensorType::iq2_xxs, 0, 0.27284},
    {TensorType::iq2_xs, 0, 0.23807},       {TensorType::iq3_xxs, 0.21319, 0.13743},
    {TensorType::iq1_s, 0, 0.42728},        {TensorType::iq4_nl, 0.07587, 0.06843},
    {TensorType::iq3_s, 0.16605, 0.11228},  {TensorType::iq2_s, 0.26452, 0.21479},
    {TensorType::iq4_xs, 0.07647, 0.06930}, {TensorType::iq1_m, 0.58075, 0.36729},
    {TensorType::bf16, 0.00166, 0.00167},   {TensorType::tq1_0, 0.80125, 0.79574},
    {TensorType::tq2_0, 0.80125, 0.79574},  {TensorType::mxfp4, 0.11369, 0.11386},
    {TensorType::nvfp4, 0.10303, 0.10256},  {TensorType::q1_0, 0.60027, 0.60156},
    {TensorType::q2_0, 0.71501, 0.71181},
};

constexpr std::size_t error_row_elements = 1024;
constexpr std::size_t error_row_count = 64;

/// A sum of twelve uniform numbers: as good as normal here.
float small_normal(Random& random) {
  double sum = -6.0;
  for (int i = 0; i < 12; ++i) sum += static_cast<double>(random() >> 11) * 0x1p-53;
  return static_cast<float>(sum * 0.02);
}

class QuantizeError : public testing::TestWithParam<ExpectedError> {
 protected:
  [[nodiscard]] double error_of(std::span<const float> weights, std::span<const float> given) {
    Random random(20260821);
    std::vector<float> floats(error_row_elements * error_row_count);
    for (float& value : floats) value = small_normal(random);
    const TensorTypeInfo& info = *find_type(GetParam().type);
    std::vector<std::byte> blocks(floats.size() / info.block_elements * info.block_bytes);
    EXPECT_THAT(quantize(info.type, floats, error_row_elements, blocks, {.importance = given}),
                Succeeds());
    std::vector<float> decoded(floats.size());
    EXPECT_THAT(dequantize(info.type, blocks, decoded), Succeeds());
    double error = 0.0;
    double total = 0.0;
    for (std::size_t i = 0; i < floats.size(); ++i) {
      const double weight = weights[i % error_row_elements];
      const double distance = static_cast<double>(floats[i]) - decoded[i];
      error += weight * distance * distance;
      total += weight * floats[i] * floats[i];
    }
    return std::sqrt(error / total);
  }
};

/// Other random numbers than those of the expected errors: these are off by a few percent.
constexpr double tolerance = 0.06;

TEST_P(QuantizeError, IsThatOfTheReference) {
  const std::vector<float> ones(error_row_elements, 1.0f);
  if (const double expected = GetParam().without_weights; expected > 0.0) {
    EXPECT_NEAR(error_of(ones, {}), expected, tolerance * expected);
  }
  Random random(7);
  std::vector<float> weights(error_row_elements);
  for (float& weight : weights) {
    const float number = small_normal(random) * 50.0f;
    weight = number * number + 0.01f;
  }
  const double expected = GetParam().with_weights;
  EXPECT_NEAR(error_of(weights, weights), expected, tolerance * expected);
}

INSTANTIATE_TEST_SUITE_P(, QuantizeError, testing::ValuesIn(expected_errors), [](const auto& test) {
  return std::string(find_type(test.param.type)->name);
});

TEST(QuantizeErrorOfPlainTypes, IsThatOfRounding) {
  const std::vector<float> floats = {0.0f, -0.49f, 0.5f, 1.5f, 2.5f, -3.5f, 126.6f, 1e9f};
  std::vector<float> decoded(floats.size());
  std::vector<std::byte> bytes(floats.size() * 8);
  const auto round_trip = [&](TensorType type) {
    const auto blocks = std::span(bytes).first(floats.size() * find_type(type)->block_bytes);
    EXPECT_THAT(quantize(type, floats, floats.size(), blocks), Succeeds());
    EXPECT_THAT(dequantize(type, blocks, decoded), Succeeds());
    return decoded;
  };
  using testing::ElementsAre;
  EXPECT_EQ(round_trip(TensorType::f32), floats);
  EXPECT_EQ(round_trip(TensorType::f64), floats);
  EXPECT_THAT(round_trip(TensorType::i8), ElementsAre(0, 0, 0, 2, 2, -4, 127, 127));
  EXPECT_THAT(round_trip(TensorType::i16), ElementsAre(0, 0, 0, 2, 2, -4, 127, 32767));
  EXPECT_THAT(round_trip(TensorType::i32), ElementsAre(0, 0, 0, 2, 2, -4, 127, 1e9f));
  EXPECT_THAT(round_trip(TensorType::i64), ElementsAre(0, 0, 0, 2, 2, -4, 127, 1e9f));
}

}  // namespace
}  // namespace ingot::test
