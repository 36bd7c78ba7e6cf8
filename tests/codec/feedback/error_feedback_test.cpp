// SPDX-License-Identifier: MIT
// Error feedback: what it promises for every type that has it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "codec/best/best.hpp"
#include "codec/feedback/recode_block.hpp"
#include "support/codec_cases.hpp"
#include "support/correlated_inputs.hpp"
#include "support/expect_error.hpp"

namespace ingot::test {
namespace {

using Floats = std::vector<float>;
using EncodedBytes = std::vector<std::byte>;

constexpr std::size_t columns = 512;
constexpr std::size_t row_count = 3;

/// Two blocks of moments, whose border is in the middle of a super-block.
const InputMoments& usual_moments() {
  static const InputMoments moments = [] {
    InputMoments made(columns, 384, true);
    EXPECT_TRUE(made.set_block(0, correlated_moments(384)));
    EXPECT_TRUE(made.set_block(1, correlated_moments(128, 2)));
    return made;
  }();
  return moments;
}

Floats usual_rows() {
  EvenNumbers numbers(11);
  Floats rows(row_count * columns);
  for (float& value : rows) {
    const float t = numbers.next() + numbers.next() + numbers.next();
    value = 0.02f * t * (1.0f + 0.3f * t * t);
  }
  return rows;
}

class ErrorFeedbackTest : public testing::TestWithParam<TypeAndTarget> {
 protected:
  ErrorFeedbackTest() : forced_(std::get<1>(GetParam())) {}

  [[nodiscard]] codec::FloatRows rows(const float* source, EncodedBytes& blocks,
                                      std::size_t count = row_count) const {
    blocks.resize(info_.bytes_of(count * columns));
    return {.src = source,
            .dst = blocks.data(),
            .row_elements = columns,
            .row_count = count,
            .importances = u_.data()};
  }
  [[nodiscard]] EncodedBytes plain(const Floats& source) const {
    EncodedBytes blocks;
    codec::quantize_best(*codec::find_best_encoder(info_.type), rows(source.data(), blocks));
    return blocks;
  }
  [[nodiscard]] Floats decode(const EncodedBytes& blocks) const {
    Floats floats(blocks.size() / info_.block_bytes * info_.block_elements);
    codec::find_codec(info_.type)
        ->dequantize(blocks.data(), floats.data(), blocks.size() / info_.block_bytes,
                     codec::Stores::cached);
    return floats;
  }

  TensorTypeInfo info_ = std::get<0>(GetParam());
  Floats u_ = Floats(columns, 1.0f);

 private:
  ForcedTarget forced_;
};

TEST_P(ErrorFeedbackTest, LowersTheErrorOfTheOutputs) {
  const Floats source = usual_rows();
  EncodedBytes blocks;
  const OutputEnergy kept =
      codec::quantize_with_feedback(info_.type, rows(source.data(), blocks), usual_moments());
  const Floats decoded = decode(blocks);
  const OutputEnergy measured = *measure_outputs(source, decoded, usual_moments());
  EXPECT_DOUBLE_EQ(kept.error, measured.error);
  EXPECT_DOUBLE_EQ(kept.signal, measured.signal);
  const Floats before = decode(plain(source));
  const OutputEnergy searched = *measure_outputs(source, before, usual_moments());
  // Types of one or two bits, and large scales, gain less.
  EXPECT_LT(kept.error, 0.9 * searched.error);
  EXPECT_GT(kept.error, 0.0);
}

TEST_P(ErrorFeedbackTest, EncodesEachRowByItself) {
  const Floats source = usual_rows();
  EncodedBytes all;
  OutputEnergy sum;
  const OutputEnergy kept =
      codec::quantize_with_feedback(info_.type, rows(source.data(), all), usual_moments());
  EncodedBytes joined;
  for (std::size_t r = 0; r < row_count; ++r) {
    EncodedBytes one;
    sum.add(codec::quantize_with_feedback(info_.type, rows(&source[r * columns], one, 1),
                                          usual_moments()));
    joined.insert(joined.end(), one.begin(), one.end());
  }
  EXPECT_TRUE(same_blocks(all, joined, info_.block_bytes));
  EXPECT_DOUBLE_EQ(sum.error, kept.error);
}

TEST_P(ErrorFeedbackTest, FindsTheSameOnEveryCpu) {
  const Floats source = usual_rows();
  EncodedBytes here;
  (void)codec::quantize_with_feedback(info_.type, rows(source.data(), here), usual_moments());
  const ForcedTarget other(cpu_targets().front());
  EncodedBytes there;
  (void)codec::quantize_with_feedback(info_.type, rows(source.data(), there), usual_moments());
  EXPECT_TRUE(same_blocks(here, there, info_.block_bytes));
}

TEST_P(ErrorFeedbackTest, LeavesRowsThatAreNotFinite) {
  for (const float odd :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    Floats source = usual_rows();
    source[columns + 300] = odd;
    EncodedBytes blocks;
    (void)codec::quantize_with_feedback(info_.type, rows(source.data(), blocks), usual_moments());
    const EncodedBytes searched = plain(source);
    const std::size_t row_bytes = info_.bytes_of(columns);
    EXPECT_TRUE(std::equal(&blocks[row_bytes], &blocks[2 * row_bytes], &searched[row_bytes]))
        << odd;
  }
}

TEST(MeasureOutputs, RefusesRowsThatDoNotFit) {
  const Floats rows(2 * columns);
  const auto refusal = FailsWith(Errc::size_mismatch);
  EXPECT_THAT(measure_outputs(rows, std::span(rows).first(columns), usual_moments()), refusal);
  EXPECT_THAT(measure_outputs(std::span(rows).first(columns - 1), rows, usual_moments()), refusal);
  EXPECT_THAT(measure_outputs(rows, rows, InputMoments(0, columns, false)), refusal);
  EXPECT_EQ(measure_outputs({}, {}, usual_moments())->signal, 0.0);
}

INSTANTIATE_TEST_SUITE_P(Types, ErrorFeedbackTest,
                         each_target_and_type_that([](const TensorTypeInfo& type) {
                           return has_feedback(type.type);
                         }),
                         case_name);

}  // namespace
}  // namespace ingot::test
