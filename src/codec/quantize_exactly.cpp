// SPDX-License-Identifier: MIT
// Encodes numbers that lie on the lattice of a type, without rounding.
#include "ingot/quantize_exactly.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include "codec/codec.hpp"
#include "codec/encode/code_range.hpp"
#include "codec/encode/packing.hpp"
#include "codec/encode/scaled_block.hpp"
#include "ingot/half.hpp"
#include "ingot/quantize.hpp"

namespace ingot {
namespace codec {
namespace {

constexpr std::size_t block_size = 32;
using Values = std::array<float, block_size>;

bool is_f16(float value) noexcept { return f32_from_f16(f16_from_f32(value)) == value; }

/// Encodes with a given scale and minimum, if each value is then decoded to its bits.
template <class Block>
bool encode_with(const Values& x, float scale, float minimum, Block& block) noexcept {
  constexpr CodeRange<Block> range;
  // Q8_0 stores its codes in two's complement, the others from 0 on.
  constexpr int offset = range.count == 256 ? 0 : -range.lowest;
  Codes<block_size> codes;
  for (std::size_t i = 0; i < block_size; ++i) {
    const float quotient = scale == 0 ? 0.0f : (x[i] - minimum) / scale;
    if (!(quotient >= range.lowest && quotient < range.lowest + range.count)) return false;
    const int code = static_cast<int>(quotient);
    float decoded = static_cast<float>(code) * scale;
    if constexpr (has_minimum<Block>) decoded += minimum;
    if (std::bit_cast<std::uint32_t>(decoded) != std::bit_cast<std::uint32_t>(x[i])) return false;
    codes[i] = static_cast<std::uint8_t>(code + offset);
  }
  put_f16(block.scale.data(), scale);
  if constexpr (has_minimum<Block>) put_f16(block.minimum.data(), minimum);
  put_codes(codes, block);
  return true;
}

/// Encodes with a scale and its negative, and with every minimum that the extremes allow.
template <class Block>
bool encode_with_scale(const Values& x, float low, float high, float scale, Block& block) noexcept {
  if constexpr (!has_minimum<Block>) {
    return encode_with(x, scale, 0.0f, block) || encode_with(x, -scale, 0.0f, block);
  } else {
    for (int code = 0; code < CodeRange<Block>::count; ++code) {
      const float part = static_cast<float>(code) * scale;
      for (const auto& [minimum, signed_scale] :
           {std::pair(low - part, scale), std::pair(high + part, -scale)}) {
        if (is_f16(minimum) && encode_with(x, signed_scale, minimum, block)) return true;
      }
    }
    return false;
  }
}

/// Every value is the base, 0 or the lowest of them, and a multiple of the scale; so the scale is a
/// whole part of the smallest distance from the base.
template <class Block>
bool encode_block(const Values& x, Block& block) noexcept {
  const auto [low, high] = std::ranges::minmax(x);
  const double base = has_minimum<Block> ? low : 0.0;
  double nearest = std::numeric_limits<double>::infinity();
  double farthest = 0;
  for (const float value : x) {
    if (!std::isfinite(value)) return false;
    const double distance = std::abs(value - base);
    if (distance != 0) nearest = std::min(nearest, distance);
    farthest = std::max(farthest, distance);
  }
  if (farthest == 0) return encode_with(x, 0.0f, has_minimum<Block> ? low : 0.0f, block);
  constexpr int most = has_minimum<Block> ? CodeRange<Block>::count - 1 : -CodeRange<Block>::lowest;
  for (int parts = 1; parts <= most && farthest * parts <= nearest * most; ++parts) {
    const auto scale = static_cast<float>(nearest / parts);
    if (double{scale} * parts != nearest || !is_f16(scale)) continue;
    if (encode_with_scale(x, low, high, scale, block)) return true;
  }
  return false;
}

/// The codes of FP4 whose values are those of a group; `unit` is half of the scale. A zero keeps
/// its sign in the code.
bool put_e2m1(std::span<const float> x, float unit, std::uint8_t* codes) noexcept {
  for (const float value : x) {
    std::uint8_t code = 0;
    while (code < 8 && static_cast<float>(e2m1_doubled[code]) * unit != std::fabs(value)) ++code;
    if (code == 8) return false;
    *codes++ = std::signbit(value) ? code | 8u : code;
  }
  return true;
}

/// The smallest scale that reaches the largest number has all numbers that larger ones have.
bool encode_block(const Values& x, BlockMXFP4& block) noexcept {
  const float largest = largest_magnitude(x);
  if (!std::isfinite(largest)) return false;
  const int exponent = largest == 0 ? 0 : std::max(std::ilogb(largest) + 125, 0);
  block = {.exponent = static_cast<std::uint8_t>(exponent), .codes = {}};
  Codes<block_size> codes;
  if (!put_e2m1(x, half_e8m0(block.exponent), codes.data())) return false;
  put_codes(codes, block);
  return true;
}

bool encode_block(const std::array<float, 64>& x, BlockNVFP4& block) noexcept {
  constexpr std::size_t group_size = 16;
  block = {};
  Codes<64> codes;
  for (std::size_t first = 0; first < x.size(); first += group_size) {
    const std::span group(&x[first], group_size);
    const float largest = std::fabs(
        *std::ranges::max_element(group, {}, [](float value) { return std::fabs(value); }));
    std::uint8_t& scale = block.scales[first / group_size];
    // Any code but 0 may be that of the largest number.
    std::size_t code = 7;
    for (; code > 0; --code) {
      const float unit = largest / static_cast<float>(e2m1_doubled[code]);
      // The greatest scale that is not above; 0x7F is none.
      scale = 0;
      for (std::uint8_t bit = 64; bit > 0; bit /= 2) {
        const auto next = static_cast<std::uint8_t>(scale | bit);
        if (next < 0x7F && half_ue4m3(next) <= unit) scale = next;
      }
      if (put_e2m1(group, half_ue4m3(scale), &codes[first])) break;
    }
    if (code == 0) return false;
  }
  put_codes(codes, block);
  return true;
}

template <class Block, std::size_t size = block_size>
bool encode_blocks(std::span<const float> src, std::byte* dst) noexcept {
  std::array<float, size> x;
  Block block;
  for (; !src.empty(); src = src.subspan(size), dst += sizeof block) {
    std::copy_n(src.begin(), size, x.begin());
    if (!encode_block(x, block)) return false;
    std::memcpy(dst, &block, sizeof block);
  }
  return true;
}

/// Encodes to a type with one element per block, and compares what that decodes to.
Result<bool> encode_plain(TensorType type, std::span<const float> src, std::span<std::byte> dst) {
  INGOT_TRY_VOID(quantize(type, src, src.size(), dst));
  constexpr std::size_t piece = 512;
  const std::size_t bytes = find_type(type)->block_bytes;
  std::array<float, piece> decoded;
  for (std::size_t first = 0; first < src.size(); first += piece) {
    const std::size_t count = std::min(piece, src.size() - first);
    INGOT_TRY_VOID(dequantize(type, dst.subspan(first * bytes, count * bytes),
                              std::span(decoded).first(count)));
    if (std::memcmp(decoded.data(), &src[first], count * sizeof(float)) != 0) return false;
  }
  return true;
}

}  // namespace
}  // namespace codec

Result<bool> quantize_exactly(TensorType type, std::span<const float> src,
                              std::span<std::byte> dst) {
  using enum TensorType;
  const TensorTypeInfo* const info = find_type(type);
  if (info == nullptr || std::ranges::find(exact_types, type) == exact_types.end()) {
    return fail(Errc::unsupported_type, info == nullptr ? std::string() : std::string(info->name));
  }
  if (src.size() % info->block_elements != 0 || dst.size() != info->bytes_of(src.size())) {
    return fail(
        Errc::size_mismatch, std::string(info->name),
        std::to_string(src.size()) + " elements in " + std::to_string(dst.size()) + " bytes");
  }
  switch (type) {
    case q4_0:
      return codec::encode_blocks<codec::BlockQ4_0>(src, dst.data());
    case q4_1:
      return codec::encode_blocks<codec::BlockQ4_1>(src, dst.data());
    case q5_0:
      return codec::encode_blocks<codec::BlockQ5_0>(src, dst.data());
    case q5_1:
      return codec::encode_blocks<codec::BlockQ5_1>(src, dst.data());
    case q8_0:
      return codec::encode_blocks<codec::BlockQ8_0>(src, dst.data());
    case mxfp4:
      return codec::encode_blocks<codec::BlockMXFP4>(src, dst.data());
    case nvfp4:
      return codec::encode_blocks<codec::BlockNVFP4, 64>(src, dst.data());
    default:
      return codec::encode_plain(type, src, dst);
  }
}

}  // namespace ingot
