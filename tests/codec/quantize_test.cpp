// SPDX-License-Identifier: MIT
// Every quantizer on every CPU target: the bytes of the scalar reference, nothing read or written
// outside, and defined results for floats that no scale can hold.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "codec/codec.hpp"
#include "support/codec_cases.hpp"
#include "support/guarded_bytes.hpp"
#include "support/random.hpp"

namespace ingot::test {
namespace {

using Floats = std::vector<float>;
using EncodedBytes = std::vector<std::byte>;

enum class Kind : std::uint8_t {
  normal,
  heavy_tails,
  ties,
  zeros,
  sparse,
  constant,
  positive,
  negative,
  wide_range,
  denormal,
  tiny,
  huge,
  not_finite,
  any_bits,
};
constexpr Kind last_kind = Kind::any_bits;

float normal(Random& random) {
  float sum = -6.0f;
  for (int i = 0; i < 12; ++i) sum += static_cast<float>(random() >> 40) * 0x1p-24f;
  return sum;
}

float value_of(Kind kind, std::size_t block, Random& random) {
  const auto bits = static_cast<std::uint32_t>(random());
  const float value = normal(random);
  switch (kind) {
    case Kind::normal:
      return value * 0.02f;
    case Kind::heavy_tails:
      return value / (std::fabs(normal(random)) + 0.01f);
    case Kind::ties:
      return 0.5f * static_cast<float>(static_cast<int>(bits % 33) - 16);
    case Kind::zeros:
      return bits % 2 == 0 ? 0.0f : -0.0f;
    case Kind::sparse:
      return bits % 20 == 0 ? value : 0.0f;
    case Kind::constant:
      return 0.7f * static_cast<float>(static_cast<int>(block % 3) - 1);
    case Kind::positive:
      return std::fabs(value) + 3.0f;
    case Kind::negative:
      return -std::fabs(value) - 3.0f;
    case Kind::wide_range:
      return std::ldexp(value, static_cast<int>(bits % 40) - 20);
    case Kind::denormal:
      return value * 1e-40f;
    case Kind::tiny:
      return value * (block % 2 == 0 ? 1e-15f : 1e-20f);
    case Kind::huge:
      return value * (block % 2 == 0 ? 1e37f : 1e18f);
    case Kind::not_finite:
      break;
    case Kind::any_bits:
      return std::bit_cast<float>(bits);
  }
  if (bits % 512 == 0) return std::numeric_limits<float>::quiet_NaN();
  return bits % 512 == 1 ? -std::numeric_limits<float>::infinity() : value;
}

Floats floats_of(Kind kind, std::size_t count, std::size_t block_elements, Random& random) {
  Floats floats(count);
  for (std::size_t i = 0; i < count; ++i) floats[i] = value_of(kind, i / block_elements, random);
  return floats;
}

Floats weights_of(std::size_t count, Random& random) {
  Floats weights(count);
  for (float& weight : weights) {
    const float value = normal(random);
    weight = random.below(50) == 0 ? 0.0f : value * value;
  }
  return weights;
}

/// Types whose reference takes long.
bool is_slow(const TensorTypeInfo& info) {
  const std::string name(info.name);
  return name.starts_with("IQ1") || name.starts_with("IQ2") || name.starts_with("IQ3");
}

class CodecQuantizeTest : public testing::TestWithParam<TypeAndTarget> {
 protected:
  CodecQuantizeTest() : forced_(std::get<1>(GetParam())) {}

  [[nodiscard]] bool may_lack_weights() const {
    return info_.weights != ImportanceWeights::required;
  }
  [[nodiscard]] bool may_have_weights() const { return info_.weights != ImportanceWeights::unused; }
  [[nodiscard]] std::size_t bytes_of(std::size_t elements) const {
    return elements / info_.block_elements * info_.block_bytes;
  }

  [[nodiscard]] EncodedBytes encode(codec::Quantize quantize, const Floats& floats,
                                    std::size_t rows, const Floats& weights) const {
    EncodedBytes blocks(bytes_of(floats.size()), std::byte{0xA5});
    quantize({.src = floats.data(),
              .dst = blocks.data(),
              .row_elements = floats.size() / rows,
              .row_count = rows,
              .importances = weights.empty() ? nullptr : weights.data()});
    return blocks;
  }

  void expect_same(const Floats& floats, std::size_t rows, const Floats& weights) const {
    const EncodedBytes expected = encode(codec_.quantize_ref, floats, rows, weights);
    const EncodedBytes actual = encode(codec_.quantize, floats, rows, weights);
    EXPECT_TRUE(same_blocks(expected, actual, info_.block_bytes))
        << (weights.empty() ? "without weights" : "with weights");
  }

  /// The bytes of one block, with weights of one where it takes any and `has_weights`.
  [[nodiscard]] EncodedBytes encode_block(const Floats& floats, bool has_weights) const {
    const Floats weights(has_weights ? floats.size() : 0, 1.0f);
    return encode(codec_.quantize, floats, 1, weights);
  }

  TensorTypeInfo info_ = std::get<0>(GetParam());
  const codec::Codec& codec_ = *codec::find_codec(info_.type);

 private:
  ForcedTarget forced_;
};

TEST_P(CodecQuantizeTest, EqualsTheReferenceOnAllKindsOfData) {
  Random random;
  const std::size_t row_blocks = is_slow(info_) ? 1 : 9;
  const std::size_t row_elements = row_blocks * info_.block_elements;
  for (int kind = 0; kind <= static_cast<int>(last_kind); ++kind) {
    SCOPED_TRACE("kind of data " + std::to_string(kind));
    const auto floats =
        floats_of(static_cast<Kind>(kind), 2 * row_elements, info_.block_elements, random);
    if (may_lack_weights()) expect_same(floats, 2, {});
    if (may_have_weights()) expect_same(floats, 2, weights_of(row_elements, random));
  }
}

TEST_P(CodecQuantizeTest, EqualsTheReferenceForAnyNumberOfBlocks) {
  Random random;
  for (const std::size_t block_count : {1u, 2u, 3u, 7u, 64u}) {
    if (is_slow(info_) && block_count > 3) break;
    SCOPED_TRACE(std::to_string(block_count) + " blocks");
    const std::size_t elements = block_count * info_.block_elements;
    const Floats floats = floats_of(Kind::normal, elements, info_.block_elements, random);
    if (may_lack_weights()) expect_same(floats, 1, {});
    if (may_have_weights()) expect_same(floats, 1, weights_of(elements, random));
  }
}

class QuantizeWithWeightsTest : public CodecQuantizeTest {};

TEST_P(QuantizeWithWeightsTest, GivesEveryRowTheSame) {
  Random random;
  for (const std::size_t rows : {2u, 5u, 17u}) {
    for (const std::size_t row_blocks : {1u, 3u}) {
      if (is_slow(info_) && rows * row_blocks > 5) continue;
      SCOPED_TRACE(std::to_string(rows) + " rows of " + std::to_string(row_blocks) + " blocks");
      const std::size_t row_elements = row_blocks * info_.block_elements;
      const Floats weights = weights_of(row_elements, random);
      const Floats floats =
          floats_of(Kind::heavy_tails, rows * row_elements, info_.block_elements, random);
      expect_same(floats, rows, weights);
      EncodedBytes one_by_one;
      for (std::size_t row = 0; row < rows; ++row) {
        const auto first = floats.begin() + static_cast<std::ptrdiff_t>(row * row_elements);
        const Floats one_row(first, first + static_cast<std::ptrdiff_t>(row_elements));
        const EncodedBytes blocks = encode(codec_.quantize, one_row, 1, weights);
        one_by_one.insert(one_by_one.end(), blocks.begin(), blocks.end());
      }
      EXPECT_TRUE(same_blocks(one_by_one, encode(codec_.quantize, floats, rows, weights),
                              info_.block_bytes));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, QuantizeWithWeightsTest,
                         each_target_and_type_that([](const TensorTypeInfo& type) {
                           return type.weights != ImportanceWeights::unused;
                         }),
                         case_name);

TEST_P(CodecQuantizeTest, StaysWithinItsMemory) {
  Random random;
  for (const std::size_t block_count : {0u, 1u, 3u, 7u}) {
    if (is_slow(info_) && block_count > 1) break;
    const std::size_t elements = block_count * info_.block_elements;
    const Floats floats = floats_of(Kind::normal, elements, info_.block_elements, random);
    const Floats weights = may_have_weights() ? weights_of(elements, random) : Floats();
    const EncodedBytes room(bytes_of(elements) + 1, std::byte{0xA5});
    GuardedBytes guarded_src(elements * sizeof(float) + 1);
    GuardedBytes guarded_weights(elements * sizeof(float) + 1);
    GuardedBytes guarded_dst(room.size());
    // All end where memory ends; the blocks begin at an odd address or an even one.
    const auto src = guarded_src.hold(std::as_bytes(std::span(floats)));
    const auto held_weights = guarded_weights.hold(std::as_bytes(std::span(weights)));
    const auto dst = guarded_dst.hold(room);
    codec_.quantize({.src = reinterpret_cast<const float*>(src.data()),
                     .dst = dst.data() + 1,
                     .row_elements = elements,
                     .row_count = block_count == 0 ? 0u : 1u,
                     .importances = weights.empty()
                                        ? nullptr
                                        : reinterpret_cast<const float*>(held_weights.data())});
    EXPECT_EQ(dst[0], std::byte{0xA5}) << "written before the destination";
    if (block_count == 0) continue;
    const EncodedBytes expected = encode(codec_.quantize_ref, floats, 1, weights);
    EXPECT_TRUE(same_blocks(expected, dst.subspan(1), info_.block_bytes));
  }
}

/// The bytes that the description lists for zeros; all other types have bytes of 0.
EncodedBytes zero_block(const TensorTypeInfo& info, bool has_weights) {
  EncodedBytes block(info.block_bytes, std::byte{0});
  const auto fill = [&](std::size_t first, std::size_t count, int value) {
    std::fill_n(block.begin() + static_cast<std::ptrdiff_t>(first), count,
                static_cast<std::byte>(value));
  };
  switch (info.type) {
    case TensorType::q4_0:
      if (has_weights) break;
      fill(1, 1, 0x80);  // the scale is -0
      fill(2, 16, 0x88);
      break;
    case TensorType::q5_0:
      if (has_weights) break;
      fill(1, 1, 0x80);
      fill(2, 4, 0xFF);
      break;
    case TensorType::tq1_0:
      fill(0, 48, 0x80);
      fill(48, 4, 0x7F);
      break;
    case TensorType::tq2_0:
      fill(0, 64, 0x55);
      break;
    case TensorType::q1_0:
      fill(2, 16, 0xFF);
      break;
    case TensorType::q2_0:
      fill(2, 16, 0x55);
      break;
    case TensorType::iq4_nl:
      fill(2, 16, 0x88);
      break;
    case TensorType::iq4_xs:
      fill(1, 1, 0x80);
      fill(2, 2, 0xAA);
      fill(8, 128, 0x88);
      break;
    default:
      break;
  }
  return block;
}

TEST_P(CodecQuantizeTest, EncodesZerosAsDescribed) {
  const Floats zeros(info_.block_elements, 0.0f);
  for (const bool has_weights : {false, true}) {
    if (has_weights ? !may_have_weights() : !may_lack_weights()) continue;
    EXPECT_TRUE(same_blocks(zero_block(info_, has_weights), encode_block(zeros, has_weights),
                            info_.block_bytes))
        << (has_weights ? "with weights" : "without weights");
  }
}

class QuantizeBlocksTest : public CodecQuantizeTest {};

TEST_P(QuantizeBlocksTest, ThatAreNotFiniteAsZeros) {
  Random random;
  const float infinity = std::numeric_limits<float>::infinity();
  for (const float poison : {infinity, -infinity, std::numeric_limits<float>::quiet_NaN(),
                             std::numeric_limits<float>::signaling_NaN()}) {
    Floats floats = floats_of(Kind::normal, info_.block_elements, info_.block_elements, random);
    floats[random.below(floats.size())] = poison;
    for (const bool has_weights : {false, true}) {
      if (has_weights ? !may_have_weights() : !may_lack_weights()) continue;
      EXPECT_TRUE(same_blocks(zero_block(info_, has_weights), encode_block(floats, has_weights),
                              info_.block_bytes))
          << poison << (has_weights ? " with weights" : " without weights");
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, QuantizeBlocksTest,
                         each_target_and_type_that([](const TensorTypeInfo& type) {
                           return type.block_elements > 1;
                         }),
                         case_name);

INSTANTIATE_TEST_SUITE_P(, CodecQuantizeTest, every_type_and_target(), case_name);

}  // namespace
}  // namespace ingot::test
