// SPDX-License-Identifier: MIT
// Decoders and quantizers against the digests of the reference implementation's results.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_order.hpp"
#include "codec/codec.hpp"
#include "support/block_scales.hpp"
#include "support/codec_cases.hpp"
#include "support/little_endian.hpp"
#include "support/random.hpp"
#include "support/sha256.hpp"

namespace ingot::test {
namespace {

struct Golden {
  std::string_view decoded;
  std::string_view encoded;
  std::string_view encoded_with_weights;
};

const std::map<TensorType, Golden> golden = {
#define INGOT_GOLDEN(enumerator, ...) {TensorType::enumerator, {__VA_ARGS__}},
#include "golden/codec_digests.def"
#undef INGOT_GOLDEN
};

/// Random bytes from splitmix64 seeded 7, with finite scales.
std::vector<std::byte> random_blocks(const TensorTypeInfo& info) {
  const std::size_t block_count = info.block_elements == 1 ? 2048 : 64;
  std::vector<std::byte> blocks(block_count * info.block_bytes);
  Random random(7);
  for (std::size_t i = 0; i < blocks.size(); i += 8) {
    std::byte word[8];
    store<std::uint64_t>(word, random(), std::endian::native == std::endian::big);
    std::copy_n(word, std::min<std::size_t>(8, blocks.size() - i),
                blocks.begin() + static_cast<std::ptrdiff_t>(i));
  }
  for_each_scale(info, blocks, [](std::byte& last, types::Holds holds) {
    // The second highest bit; of the exponent byte of MXFP4 the highest. NVFP4 has none to spare.
    if (holds == types::Holds::ue4m3) return;
    last &= holds == types::Holds::e8m0 ? std::byte{0x7F} : std::byte{0xBF};
  });
  return blocks;
}

constexpr std::size_t golden_row_elements = 8192;

std::vector<float> golden_floats() {
  std::vector<float> floats(golden_row_elements);
  Random random(42);
  for (std::size_t i = 0; i < floats.size(); ++i) {
    const auto number = static_cast<int>(random() >> 40) - 8388608;
    floats[i] = std::ldexp(static_cast<float>(number), static_cast<int>(i % 5) - 25);
  }
  return floats;
}

std::vector<float> golden_weights() {
  std::vector<float> weights(golden_row_elements);
  Random random(99);
  for (float& weight : weights) weight = 1.0f + static_cast<float>(random() >> 40) * 0x1p-24f;
  return weights;
}

std::string digest_of_encoded(const TensorTypeInfo& info, codec::Quantize quantize,
                              const float* weights) {
  const std::vector<float> floats = golden_floats();
  std::vector<std::byte> blocks(golden_row_elements / info.block_elements * info.block_bytes);
  quantize({.src = floats.data(),
            .dst = blocks.data(),
            .row_elements = golden_row_elements,
            .row_count = 1,
            .importances = weights});
  return sha256_of(blocks);
}

/// The digest of floats in little-endian order.
std::string digest_of_floats(std::vector<float> floats) {
  swap_if_big_endian(std::span(floats));
  return sha256_of(std::as_bytes(std::span(floats)));
}

TEST(CodecGolden, InputsAreThoseOfTheReference) {
  EXPECT_EQ(digest_of_floats(golden_floats()),
            "ca7f9f4a76e90cd377e3773185c4f7b7defea463db12b4b647ebb77624239e50");
  EXPECT_EQ(digest_of_floats(golden_weights()),
            "96c523b48c898fb357c255355cb63b0220446c2148c675c2f707e4c190f3f202");
}

class CodecGoldenTest : public testing::TestWithParam<TypeAndTarget> {
 protected:
  const TensorTypeInfo info_ = std::get<0>(GetParam());
  const codec::Codec& codec_ = *codec::find_codec(info_.type);
  const Golden& expected_ = golden.at(info_.type);

 private:
  const ForcedTarget forced_ = ForcedTarget(std::get<1>(GetParam()));
};

/// The types for which the reference has such a digest.
auto types_with(std::string_view Golden::*digest) {
  return each_target_and_type_that([digest](const TensorTypeInfo& info) {
    const auto found = golden.find(info.type);
    return found != golden.end() && !(found->second.*digest).empty();
  });
}

class Decoded : public CodecGoldenTest {};

TEST_P(Decoded, EqualsTheReference) {
  const auto blocks = random_blocks(info_);
  const std::size_t block_count = blocks.size() / info_.block_bytes;
  std::vector<float> floats(block_count * info_.block_elements);
  codec_.dequantize_ref(blocks.data(), floats.data(), block_count);
  EXPECT_EQ(digest_of_floats(floats), expected_.decoded) << "reference";
  std::fill(floats.begin(), floats.end(), 0.0f);
  codec_.dequantize(blocks.data(), floats.data(), block_count, codec::Stores::cached);
  EXPECT_EQ(digest_of_floats(floats), expected_.decoded) << "kernel";
}

INSTANTIATE_TEST_SUITE_P(Golden, Decoded, types_with(&Golden::decoded), case_name);

class Encoded : public CodecGoldenTest {};

TEST_P(Encoded, EqualsTheReference) {
  // Types that need weights were given ones.
  const std::vector<float> ones(golden_row_elements, 1.0f);
  const bool needs_weights = info_.weights == ImportanceWeights::required;
  const float* weights = needs_weights ? ones.data() : nullptr;
  EXPECT_EQ(digest_of_encoded(info_, codec_.quantize_ref, weights), expected_.encoded)
      << "reference";
  EXPECT_EQ(digest_of_encoded(info_, codec_.quantize, weights), expected_.encoded) << "kernel";
}

INSTANTIATE_TEST_SUITE_P(Golden, Encoded, types_with(&Golden::encoded), case_name);

class EncodedWithWeights : public CodecGoldenTest {};

TEST_P(EncodedWithWeights, EqualsTheReference) {
  const std::vector<float> weights = golden_weights();
  EXPECT_EQ(digest_of_encoded(info_, codec_.quantize_ref, weights.data()),
            expected_.encoded_with_weights)
      << "reference";
  EXPECT_EQ(digest_of_encoded(info_, codec_.quantize, weights.data()),
            expected_.encoded_with_weights)
      << "kernel";
}

INSTANTIATE_TEST_SUITE_P(Golden, EncodedWithWeights, types_with(&Golden::encoded_with_weights),
                         case_name);

/// golden_weights of which a third is 0, the others times 2^-60 to 2^60.
std::vector<float> extreme_weights() {
  std::vector<float> weights = golden_weights();
  for (std::size_t i = 0; i < weights.size(); ++i) {
    weights[i] = i % 3 == 1 ? 0.0f : std::ldexp(weights[i], static_cast<int>(i * 7 % 121) - 60);
  }
  return weights;
}

class EncodedWithExtremeWeights : public CodecGoldenTest {};

TEST_P(EncodedWithExtremeWeights, EqualsTheReference) {
  const std::vector<float> weights = extreme_weights();
  // The digest of ggml in llama.cpp 0.5.0; earlier versions chose among equal cuts by sums in
  // another order.
  constexpr std::string_view expected =
      "5d0bd47489e2c4a2b8bd45865caaee499860499383c43c466256fa010db2d728";
  EXPECT_EQ(digest_of_encoded(info_, codec_.quantize_ref, weights.data()), expected) << "reference";
  EXPECT_EQ(digest_of_encoded(info_, codec_.quantize, weights.data()), expected) << "kernel";
}

INSTANTIATE_TEST_SUITE_P(Golden, EncodedWithExtremeWeights,
                         each_target_and_type_that([](const TensorTypeInfo& type) {
                           return type.type == TensorType::iq1_m;
                         }),
                         case_name);

}  // namespace
}  // namespace ingot::test
