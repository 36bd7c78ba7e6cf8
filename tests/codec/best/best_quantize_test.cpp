// SPDX-License-Identifier: MIT
// The effort `best`: what it promises for every type that has a search.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "codec/best/best.hpp"
#include "ingot/half.hpp"
#include "ingot/quantize.hpp"
#include "support/codec_cases.hpp"
#include "support/sha256.hpp"

namespace ingot::test {
namespace {

using codec::BestEncoder;
using Floats = std::vector<float>;
using EncodedBytes = std::vector<std::byte>;

/// splitmix64
class Numbers {
 public:
  explicit Numbers(std::uint64_t seed) : state_(seed) {}

  /// A number from 0 to 1, made of 24 bits.
  double unit() {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return static_cast<double>((z ^ (z >> 31)) >> 40) * 0x1p-24;
  }

  /// Heavier tails than normal numbers.
  float weight() {
    double t = -6.0;
    for (int i = 0; i < 12; ++i) t += unit();
    return static_cast<float>(0.02 * t * (1.0 + 0.25 * t * t));
  }

 private:
  std::uint64_t state_;
};

Floats weights(std::size_t count, std::uint64_t seed = 1) {
  Numbers numbers(seed);
  Floats floats(count);
  for (float& value : floats) value = numbers.weight();
  return floats;
}

/// The importances are from 0.9 to 400.
Floats importances(std::size_t count) {
  Numbers numbers(7);
  Floats floats(count);
  for (float& value : floats) {
    const double t = 0.05 + numbers.unit();
    value = static_cast<float>(1.0 / (t * t));
  }
  return floats;
}

class BestQuantizeTest : public testing::TestWithParam<TypeAndTarget> {
 protected:
  BestQuantizeTest() : forced_(std::get<1>(GetParam())) {}

  [[nodiscard]] EncodedBytes encode(const BestEncoder& encoder, const Floats& floats,
                                    std::size_t rows, const Floats& u) const {
    EncodedBytes blocks(info_.bytes_of(floats.size()));
    codec::quantize_best(encoder, {.src = floats.data(),
                                   .dst = blocks.data(),
                                   .row_elements = floats.size() / rows,
                                   .row_count = rows,
                                   .importances = u.empty() ? nullptr : u.data()});
    return blocks;
  }

  [[nodiscard]] Floats decode(const EncodedBytes& blocks) const {
    Floats floats(blocks.size() / info_.block_bytes * info_.block_elements);
    codec::find_codec(info_.type)
        ->dequantize(blocks.data(), floats.data(), blocks.size() / info_.block_bytes,
                     codec::Stores::cached);
    return floats;
  }

  /// The blocks of the reference, with their scales corrected: a search that finds no others.
  [[nodiscard]] EncodedBytes corrected_reference(const Floats& floats, std::size_t rows,
                                                 const Floats& u) const {
    BestEncoder encoder = encoder_;
    static std::size_t block_bytes = 0;
    block_bytes = info_.block_bytes;
    encoder.search = [](const codec::BlockSearch& search) noexcept {
      std::memcpy(search.dst, search.reference, search.block_count * block_bytes);
    };
    return encode(encoder, floats, rows, u);
  }

  TensorTypeInfo info_ = std::get<0>(GetParam());
  const BestEncoder& encoder_ = *codec::find_best_encoder(info_.type);

 private:
  ForcedTarget forced_;
};

TEST_P(BestQuantizeTest, FindsTheSameOneBlockAtATime) {
  BestEncoder one_lane = encoder_;
  one_lane.search = encoder_.search_ref;
  const bool is_slow = info_.block_elements == 256;
  for (const std::size_t block_count : {1u, 3u, 19u}) {
    if (is_slow && block_count > 3) break;
    const Floats floats = weights(2 * block_count * info_.block_elements, block_count);
    for (const Floats& u : {Floats(), importances(floats.size() / 2)}) {
      EXPECT_TRUE(same_blocks(encode(one_lane, floats, 2, u), encode(encoder_, floats, 2, u),
                              info_.block_bytes));
    }
  }
}

TEST_P(BestQuantizeTest, IsNoBlockWorseThanTheReference) {
  constexpr std::size_t rows = 2;
  const std::size_t count = rows * std::max<std::size_t>(2 * info_.block_elements, 512);
  const Floats floats = weights(count, 3);
  for (const Floats& u : {Floats(), importances(count / rows)}) {
    const Floats best = decode(encode(encoder_, floats, rows, u));
    const Floats reference = decode(corrected_reference(floats, rows, u));
    std::size_t better = 0;
    for (std::size_t first = 0; first < count; first += info_.block_elements) {
      Floats w(info_.block_elements);
      const float* block_u = u.empty() ? nullptr : &u[first % (count / rows)];
      ASSERT_TRUE(
          codec::weigh_for_search(encoder_.weights, &floats[first], block_u, w.size(), w.data()));
      const double cost =
          codec::block_cost(&floats[first], &best[first], w.data(), w.size(), encoder_.shortening);
      const double given = codec::block_cost(&floats[first], &reference[first], w.data(), w.size(),
                                             encoder_.shortening);
      EXPECT_LE(cost, given) << "block " << first / info_.block_elements;
      better += cost < given ? 1 : 0;
    }
    if (info_.type == TensorType::q1_0 && u.empty()) continue;  // the reference is best
    EXPECT_GT(better, 0u);
  }
}

TEST_P(BestQuantizeTest, HasTheScaleThatCostsLeast) {
  if (encoder_.rescale == nullptr) return;
  constexpr std::size_t rows = 4;
  const std::size_t size = info_.block_elements;
  const Floats floats = weights(rows * 1024, 5);
  for (const Floats& u : {Floats(1024, 1.0f), importances(1024)}) {
    const Floats decoded = decode(encode(encoder_, floats, rows, u));
    for (std::size_t first = 0; first < floats.size(); first += size) {
      double signal = 0.0;
      double product = 0.0;
      for (std::size_t i = first; i < first + size; ++i) {
        signal += double{u[i % u.size()]} * floats[i] * floats[i];
        product += double{u[i % u.size()]} * floats[i] * decoded[i];
      }
      const double slope = product / signal;
      if (slope < 0.5 || slope > 1.5) continue;  // left as it is: the codes are wrong
      const auto cost_times = [&](float factor) {
        Floats scaled(size);
        for (std::size_t i = 0; i < size; ++i) scaled[i] = factor * decoded[first + i];
        return codec::block_cost(&floats[first], scaled.data(), &u[first % u.size()], size,
                                 encoder_.shortening);
      };
      const double cost = cost_times(1.0f);
      EXPECT_LE(cost, cost_times(0.99f)) << first;
      EXPECT_LE(cost, cost_times(1.01f)) << first;
    }
  }
}

TEST_P(BestQuantizeTest, LeavesWhatCannotBeSearched) {
  const std::size_t size = info_.block_elements;
  Floats floats = weights(6 * size);
  std::fill_n(floats.begin(), size, 0.0f);
  floats[size] = std::numeric_limits<float>::quiet_NaN();
  floats[2 * size + 1] = -std::numeric_limits<float>::infinity();
  for (std::size_t i = 3 * size; i < 4 * size; ++i) floats[i] *= 1e-12f;
  for (std::size_t i = 4 * size; i < 5 * size; ++i) floats[i] *= 1e30f;
  for (const Floats& u : {Floats(), Floats(floats.size(), 1.0f), Floats(floats.size(), 0.0f),
                          Floats(floats.size(), -1.0f)}) {
    EncodedBytes expected(info_.bytes_of(floats.size()));
    codec::find_codec(info_.type)
        ->quantize({.src = floats.data(),
                    .dst = expected.data(),
                    .row_elements = floats.size(),
                    .row_count = 1,
                    .importances = u.empty() ? nullptr : u.data()});
    EncodedBytes actual = encode(encoder_, floats, 1, u);
    if (u.empty() || u[0] > 0.0f) {  // the last block has an encoding of its own
      expected.resize(5 * info_.block_bytes);
      actual.resize(expected.size());
    }
    EXPECT_TRUE(same_blocks(expected, actual, info_.block_bytes));
  }
}

TEST_P(BestQuantizeTest, EncodesEachBlockByItself) {
  const std::size_t block_count = 5000 / info_.block_elements + 2;  // more than one chunk
  const std::size_t count = block_count * info_.block_elements;
  const Floats floats = weights(count, 9);
  const EncodedBytes all = encode(encoder_, floats, 1, {});
  for (std::size_t block = block_count - std::min<std::size_t>(block_count, 12);
       block < block_count; ++block) {
    const float* first = &floats[block * info_.block_elements];
    const EncodedBytes alone = encode(encoder_, Floats(first, first + info_.block_elements), 1, {});
    EXPECT_TRUE(same_blocks(alone, std::span(all).subspan(block * info_.block_bytes, alone.size()),
                            info_.block_bytes));
  }
}

/// SHA-256 of the blocks of 2048 weights, without and with importances, as they were first
/// found: a change of a search is seen, and one that is wanted changes these.
struct BestGolden {
  std::string_view plain;
  std::string_view weighted;
};
const std::map<TensorType, BestGolden> best_golden = {
#define INGOT_GOLDEN(enumerator, ...) {TensorType::enumerator, {__VA_ARGS__}},
#include "golden/best_digests.def"
#undef INGOT_GOLDEN
};

TEST_P(BestQuantizeTest, WritesTheBytesThatItWrote) {
  const Floats floats = weights(2048, 11);
  const BestGolden& expected = best_golden.at(info_.type);
  EXPECT_EQ(sha256_of(encode(encoder_, floats, 2, {})), expected.plain) << info_.name;
  EXPECT_EQ(sha256_of(encode(encoder_, floats, 2, importances(1024))), expected.weighted);
}

INSTANTIATE_TEST_SUITE_P(, BestQuantizeTest,
                         each_target_and_type_that([](const TensorTypeInfo& type) {
                           return codec::find_best_encoder(type.type) != nullptr;
                         }),
                         case_name);

/// The root of error over signal of weights that are codes of Q4_0 times a scale, rounded to BF16.
double error_on_grid(int largest_code) {
  Numbers numbers(static_cast<std::uint64_t>(largest_code));
  Floats floats(1024);
  for (std::size_t first = 0; first < floats.size(); first += 32) {
    const auto scale = static_cast<float>(0.01 + 0.02 * numbers.unit());
    for (std::size_t i = first; i < first + 32; ++i) {
      const int code = static_cast<int>(numbers.unit() * (2 * largest_code + 1)) - largest_code;
      floats[i] = f32_from_bf16(bf16_from_f32(scale * static_cast<float>(code)));
    }
    floats[first] = f32_from_bf16(bf16_from_f32(scale * static_cast<float>(-largest_code)));
  }
  EncodedBytes blocks(1024 / 32 * 18);
  Floats decoded(floats.size());
  EXPECT_TRUE(quantize(TensorType::q4_0, floats, 1024, blocks, {.effort = Effort::best}));
  EXPECT_TRUE(dequantize(TensorType::q4_0, blocks, decoded));
  double error = 0.0;
  double signal = 0.0;
  for (std::size_t i = 0; i < floats.size(); ++i) {
    error += double{floats[i] - decoded[i]} * double{floats[i] - decoded[i]};
    signal += double{floats[i]} * double{floats[i]};
  }
  return std::sqrt(error / signal);
}

TEST(BestQuantizeQ4_0Test, FindsTheGridOfItsSource) {
  for (int largest_code = 3; largest_code <= 8; ++largest_code) {
    if (largest_code == 8) continue;  // codes reach from -8 to 7
    EXPECT_LT(error_on_grid(largest_code), 0.002) << largest_code;
  }
}

TEST(BestQuantizeApiTest, EncodesTypesWithoutASearchAsTheReference) {
  const Floats floats = weights(1024);
  for (const TensorTypeInfo& info : live_tensor_types) {
    if (codec::find_best_encoder(info.type) != nullptr) continue;
    EncodedBytes reference(info.bytes_of(floats.size()));
    EncodedBytes best(reference.size());
    ASSERT_TRUE(quantize(info.type, floats, 1024, reference));
    ASSERT_TRUE(quantize(info.type, floats, 1024, best, {.effort = Effort::best}));
    EXPECT_EQ(reference, best) << info.name;
  }
}

TEST(BestQuantizeApiTest, SearchesForEveryQuantizedTypeThatIsInFiles) {
  for (const TensorTypeInfo& info : live_tensor_types) {
    const bool is_in_files = info.type != TensorType::q8_1 && info.type != TensorType::q8_k;
    EXPECT_EQ(codec::find_best_encoder(info.type) != nullptr, info.is_quantized() && is_in_files)
        << info.name;
  }
}

}  // namespace
}  // namespace ingot::test
