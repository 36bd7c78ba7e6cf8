// SPDX-License-Identifier: MIT
// Every decoding kernel makes the floats of its reference from any bytes, and touches nothing else.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "codec/codec.hpp"
#include "support/codec_cases.hpp"
#include "support/guarded_bytes.hpp"
#include "support/little_endian.hpp"
#include "support/random.hpp"

namespace ingot::test {
namespace {

using codec::Stores;

constexpr std::byte untouched{0xA5};

void fill(std::span<std::byte> bytes, Random& random) {
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random() >> 56);
}

class DequantizeTest : public testing::TestWithParam<TypeAndTarget> {
 protected:
  DequantizeTest() : forced_(std::get<1>(GetParam())) {}

  [[nodiscard]] std::vector<float> reference(std::span<const std::byte> src) const {
    const std::size_t block_count = src.size() / info_.block_bytes;
    std::vector<float> floats(block_count * info_.block_elements);
    codec_.dequantize_ref(src.data(), floats.data(), block_count);
    return floats;
  }

  /// Decodes into `dst`, which lies in `room`, and looks at both.
  void check(std::span<const std::byte> src, std::span<const float> expected,
             std::span<std::byte> dst, std::span<std::byte> room, Stores stores) const {
    std::fill(room.begin(), room.end(), untouched);
    codec_.dequantize(src.data(), reinterpret_cast<float*>(dst.data()),
                      src.size() / info_.block_bytes, stores);
    std::vector<float> actual(expected.size());
    if (!dst.empty()) std::memcpy(actual.data(), dst.data(), dst.size());
    ASSERT_TRUE(same_floats(expected, actual));
    const auto is_untouched = [](std::byte byte) { return byte == untouched; };
    EXPECT_TRUE(std::all_of(room.data(), dst.data(), is_untouched)) << "before";
    EXPECT_TRUE(std::all_of(dst.data() + dst.size(), room.data() + room.size(), is_untouched))
        << "behind";
  }

  TensorTypeInfo info_ = std::get<0>(GetParam());
  const codec::Codec& codec_ = *codec::find_codec(info_.type);

 private:
  ForcedTarget forced_;
};

// Block counts that are no multiples of anything, and of plain types too few for a vector.
constexpr std::size_t block_counts[] = {0, 1, 2, 3, 7, 15, 16, 17, 64, 1000};

TEST_P(DequantizeTest, EqualsTheReferenceBetweenGuardPages) {
  Random random;
  for (const std::size_t block_count : block_counts) {
    const std::size_t src_bytes = block_count * info_.block_bytes;
    const std::size_t dst_bytes = block_count * info_.block_elements * sizeof(float);
    GuardedBytes source(src_bytes + 1);
    GuardedBytes destination(dst_bytes + 1);
    for (const bool at_the_end : {false, true}) {
      const auto src = at_the_end ? source.back(src_bytes) : source.front(src_bytes);
      const auto dst = at_the_end ? destination.back(dst_bytes) : destination.front(dst_bytes);
      fill(src, random);
      const std::vector<float> expected = reference(src);
      for (const Stores stores : {Stores::cached, Stores::streamed}) {
        SCOPED_TRACE(testing::Message() << block_count << " blocks, at the end " << at_the_end
                                        << ", streamed " << (stores == Stores::streamed));
        check(src, expected, dst, destination.room(), stores);
      }
    }
  }
}

TEST_P(DequantizeTest, NeedsNoAlignment) {
  Random random;
  for (const std::size_t block_count : {1u, 2u, 17u, 64u}) {
    const std::size_t src_bytes = block_count * info_.block_bytes;
    const std::size_t dst_bytes = block_count * info_.block_elements * sizeof(float);
    std::vector<std::byte> source(src_bytes + 64);
    GuardedBytes destination(dst_bytes + 256);
    // Floats are aligned to themselves, and everything else may be odd.
    for (const std::size_t src_shift : {0u, 1u, 3u, 62u}) {
      const auto src = std::span(source).subspan(src_shift, src_bytes);
      fill(src, random);
      const std::vector<float> expected = reference(src);
      for (const std::size_t dst_shift : {0u, 4u, 16u, 32u, 60u, 64u}) {
        for (const Stores stores : {Stores::cached, Stores::streamed}) {
          SCOPED_TRACE(testing::Message()
                       << block_count << " blocks, shifts " << src_shift << " and " << dst_shift
                       << ", streamed " << (stores == Stores::streamed));
          const auto room = destination.room();
          check(src, expected, room.subspan(dst_shift, dst_bytes), room, stores);
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, DequantizeTest, every_type_and_target(), case_name);

class DequantizePlainTest : public testing::TestWithParam<std::int64_t> {
 protected:
  DequantizePlainTest() : forced_(GetParam()) {}

  /// Decodes `numbers` by the kernel, and compares with the reference.
  template <class Number>
  static std::vector<float> decode(TensorType type, std::span<const Number> numbers) {
    const codec::Codec& codec = *codec::find_codec(type);
    std::vector<Number> stored(numbers.begin(), numbers.end());
    swap_if_big_endian(std::span(stored));
    const auto* src = reinterpret_cast<const std::byte*>(stored.data());
    std::vector<float> expected(numbers.size());
    std::vector<float> actual(numbers.size());
    codec.dequantize_ref(src, expected.data(), numbers.size());
    codec.dequantize(src, actual.data(), numbers.size(), Stores::cached);
    EXPECT_TRUE(same_floats(expected, actual));
    return actual;
  }

 private:
  ForcedTarget forced_;
};

template <class Number>
std::vector<Number> all_numbers() {
  std::vector<Number> numbers;
  for (unsigned bits = 0; bits < 65536; ++bits) {
    numbers.push_back(static_cast<Number>(static_cast<std::uint16_t>(bits)));
  }
  return numbers;
}

TEST_P(DequantizePlainTest, EverySixteenBitNumber) {
  const auto patterns = all_numbers<std::uint16_t>();
  const auto integers = all_numbers<std::int16_t>();
  decode<std::uint16_t>(TensorType::f16, patterns);
  decode<std::int16_t>(TensorType::i16, integers);
  const std::vector<float> floats = decode<std::uint16_t>(TensorType::bf16, patterns);
  for (std::size_t i = 0; i < patterns.size(); ++i) {  // a NaN keeps its bits too
    ASSERT_EQ(std::bit_cast<std::uint32_t>(floats[i]), std::uint32_t{patterns[i]} << 16);
  }
}

TEST_P(DequantizePlainTest, BinaryFloatsKeepTheirBits) {
  std::vector<std::uint32_t> patterns;
  for (std::uint32_t bits = 0; bits < 0xFFFF0000; bits += 0xFFFF) patterns.push_back(bits);
  const std::vector<float> floats = decode<std::uint32_t>(TensorType::f32, patterns);
  EXPECT_EQ(std::memcmp(floats.data(), patterns.data(), patterns.size() * 4), 0);
}

/// Numbers around the middles between neighbouring floats, where a second rounding would show.
std::vector<std::int64_t> awkward_integers() {
  std::vector<std::int64_t> integers = {std::numeric_limits<std::int64_t>::min(),
                                        std::numeric_limits<std::int64_t>::max()};
  Random random;
  for (int top = 24; top < 63; ++top) {
    for (int i = 0; i < 64; ++i) {
      const int below = top - 24;  // the last place of a float of this size is 2^(below + 1)
      const std::uint64_t mantissa = (std::uint64_t{1} << 23 | random.below(1 << 23)) << 1 | 1;
      const std::uint64_t middle = mantissa << below;
      for (const std::int64_t off : {-1, 0, 1}) {
        const auto value = static_cast<std::int64_t>(middle) + off;
        integers.push_back(value);
        integers.push_back(-value);
      }
    }
  }
  for (int i = 0; i < 4096; ++i) {
    integers.push_back(static_cast<std::int64_t>(random()) >> random.below(64));
  }
  return integers;
}

TEST_P(DequantizePlainTest, LongIntegersAreRoundedOnce) {
  decode<std::int64_t>(TensorType::i64, awkward_integers());
}

TEST_P(DequantizePlainTest, DoublesAreRounded) {
  std::vector<double> doubles = {0.0, -0.0, 1e300, -1e300, 1e-300, 0x1p-149, 0x1p-150, 0x1.8p-150};
  doubles.push_back(std::numeric_limits<double>::infinity());
  doubles.push_back(std::numeric_limits<double>::quiet_NaN());
  for (const std::int64_t integer : awkward_integers()) {
    doubles.push_back(static_cast<double>(integer));
    doubles.push_back(std::ldexp(static_cast<double>(integer), -200));
  }
  decode<double>(TensorType::f64, doubles);
}

INSTANTIATE_TEST_SUITE_P(, DequantizePlainTest, testing::ValuesIn(cpu_targets()),
                         [](const auto& named) { return target_name(named.param); });

}  // namespace
}  // namespace ingot::test
