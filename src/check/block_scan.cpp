// SPDX-License-Identifier: MIT
// Where the scales of each block type are, and how a scale that cannot be is told.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "base/byte_order.hpp"
#include "check/data_scan.hpp"

namespace ingot::check {
namespace {

enum class Kind : std::uint8_t {
  f16,     // IEEE binary16
  bf16,    // the upper half of binary32
  f32,     // IEEE binary32
  f64,     // IEEE binary64
  e8m0,    // MXFP4: a power of two; 0xFF is NaN
  ue4m3,   // NVFP4: 8 bits without sign; 0x7F is NaN
  spread,  // IQ1_M: a binary16 in the upper nibbles of four words
  q8_k,    // Q8_K: binary32, so large that a code may make it infinite
};

/// Fields of one kind that follow each other in a block.
struct Fields {
  TensorType type;
  Kind kind;
  std::uint16_t offset;
  std::uint16_t count;
};

// Offsets as in the block structs of src/codec, and in docs/format.md.
constexpr std::array scale_fields = {
    Fields{TensorType::f32, Kind::f32, 0, 1},       Fields{TensorType::f16, Kind::f16, 0, 1},
    Fields{TensorType::bf16, Kind::bf16, 0, 1},     Fields{TensorType::f64, Kind::f64, 0, 1},
    Fields{TensorType::q4_0, Kind::f16, 0, 1},      Fields{TensorType::q4_1, Kind::f16, 0, 2},
    Fields{TensorType::q5_0, Kind::f16, 0, 1},      Fields{TensorType::q5_1, Kind::f16, 0, 2},
    Fields{TensorType::q8_0, Kind::f16, 0, 1},      Fields{TensorType::q8_1, Kind::f16, 0, 2},
    Fields{TensorType::q2_k, Kind::f16, 80, 2},     Fields{TensorType::q3_k, Kind::f16, 108, 1},
    Fields{TensorType::q4_k, Kind::f16, 0, 2},      Fields{TensorType::q5_k, Kind::f16, 0, 2},
    Fields{TensorType::q6_k, Kind::f16, 208, 1},    Fields{TensorType::q8_k, Kind::q8_k, 0, 1},
    Fields{TensorType::iq2_xxs, Kind::f16, 0, 1},   Fields{TensorType::iq2_xs, Kind::f16, 0, 1},
    Fields{TensorType::iq2_s, Kind::f16, 0, 1},     Fields{TensorType::iq3_xxs, Kind::f16, 0, 1},
    Fields{TensorType::iq3_s, Kind::f16, 0, 1},     Fields{TensorType::iq1_s, Kind::f16, 0, 1},
    Fields{TensorType::iq1_m, Kind::spread, 48, 1}, Fields{TensorType::iq4_nl, Kind::f16, 0, 1},
    Fields{TensorType::iq4_xs, Kind::f16, 0, 1},    Fields{TensorType::tq1_0, Kind::f16, 52, 1},
    Fields{TensorType::tq2_0, Kind::f16, 64, 1},    Fields{TensorType::mxfp4, Kind::e8m0, 0, 1},
    Fields{TensorType::nvfp4, Kind::ue4m3, 0, 4},   Fields{TensorType::q1_0, Kind::f16, 0, 1},
    Fields{TensorType::q2_0, Kind::f16, 0, 1},
};

/// Bits of the exponent: a number whose exponent has them all is an infinity or a NaN.
template <class Word>
constexpr Word exponent_of(Kind kind) noexcept {
  if constexpr (sizeof(Word) == 8) return 0x7FF0'0000'0000'0000;
  if constexpr (sizeof(Word) == 4) return 0x7F80'0000;
  if constexpr (sizeof(Word) == 2) return kind == Kind::bf16 ? 0x7F80 : 0x7C00;
}

/// `count` words, `stride` bytes apart. With the mask in the order of the file, nothing is swapped.
template <class Word>
BlockScan scan_words(const std::byte* from, std::size_t stride, std::size_t count,
                     Word mask) noexcept {
  constexpr std::size_t run = 4096;  // short enough to be looked at again, long enough for vectors
  BlockScan result;
  for (std::size_t first = 0; first < count; first += run) {
    const std::size_t end = std::min(count, first + run);
    Word found = 0;
    for (std::size_t i = first; i < end; ++i) {
      Word word;
      std::memcpy(&word, from + i * stride, sizeof word);
      found = static_cast<Word>(found | static_cast<Word>((word & mask) == mask));
    }
    if (found == 0) continue;
    for (std::size_t i = first; i < end; ++i) {
      Word word;
      std::memcpy(&word, from + i * stride, sizeof word);
      if ((word & mask) != mask) continue;
      if (result.bad_count++ == 0) result.first_bad_offset = i * stride;
    }
  }
  return result;
}

template <class Word>
BlockScan scan_floats(Kind kind, bool is_swapped, const std::byte* from, std::size_t stride,
                      std::size_t count) noexcept {
  const Word mask = exponent_of<Word>(kind);
  const Word stored = is_swapped ? byteswap(mask) : mask;
  // With the stride known, the compiler makes vectors of it.
  if (stride == sizeof(Word)) return scan_words<Word>(from, sizeof(Word), count, stored);
  return scan_words<Word>(from, stride, count, stored);
}

template <class IsBad>
BlockScan scan_each(const std::byte* from, std::size_t stride, std::size_t count,
                    const IsBad& is_bad) noexcept {
  BlockScan result;
  for (std::size_t i = 0; i < count; ++i) {
    if (!is_bad(from + i * stride)) continue;
    if (result.bad_count++ == 0) result.first_bad_offset = i * stride;
  }
  return result;
}

/// Whether an MXFP4 block decodes to something infinite: by a scale that is NaN, or by one of the
/// largest (half of 2^126 and 2^127; codes mean up to 12 halves) with a code that is not zero. A
/// quantizer gives blocks of nothing but zeros any scale.
bool is_bad_mxfp4(const std::byte* block) noexcept {
  const auto scale = std::to_integer<unsigned>(block[0]);
  if (scale == 0xFF) return true;
  if (scale < 0xFD) return false;
  return std::any_of(block + 1, block + 17,
                     [](std::byte codes) { return (codes & std::byte{0x77}) != std::byte{0}; });
}

/// Whether a Q8_K block decodes to something that is not finite.
bool is_bad_q8_k(const std::byte* block, bool is_swapped) noexcept {
  const auto scale = std::bit_cast<float>(load<std::uint32_t>(block, is_swapped));
  if (std::isfinite(scale * 128.0F)) return false;
  if (!std::isfinite(scale)) return true;
  return std::any_of(block + 4, block + 4 + 256, [&](std::byte code) {
    return !std::isfinite(scale * static_cast<float>(static_cast<std::int8_t>(code)));
  });
}

BlockScan scan_field(Kind kind, bool is_swapped, const std::byte* from, std::size_t stride,
                     std::size_t count) noexcept {
  switch (kind) {
    case Kind::f16:
    case Kind::bf16:
      return scan_floats<std::uint16_t>(kind, is_swapped, from, stride, count);
    case Kind::f32:
      return scan_floats<std::uint32_t>(kind, is_swapped, from, stride, count);
    case Kind::f64:
      return scan_floats<std::uint64_t>(kind, is_swapped, from, stride, count);
    case Kind::e8m0:
      return scan_each(from, stride, count, is_bad_mxfp4);
    case Kind::ue4m3:
      return scan_each(from, stride, count, [](const std::byte* at) {
        return (*at & std::byte{0x7F}) == std::byte{0x7F};
      });
    case Kind::q8_k:
      return scan_each(from, stride, count,
                       [&](const std::byte* at) { return is_bad_q8_k(at, is_swapped); });
    case Kind::spread:
      return scan_each(from, stride, count, [&](const std::byte* at) {
        // Of the binary16, the upper five bits but the sign: four from the last word, one before.
        const auto third = load<std::uint16_t>(at + 4, is_swapped);
        const auto fourth = load<std::uint16_t>(at + 6, is_swapped);
        return (fourth >> 12 & 7) == 7 && (third >> 14) == 3;
      });
  }
  return {};
}

}  // namespace

BlockScan scan_blocks(TensorType type, Endian byte_order,
                      std::span<const std::byte> blocks) noexcept {
  const auto fields = std::find_if(scale_fields.begin(), scale_fields.end(),
                                   [&](const Fields& each) { return each.type == type; });
  if (fields == scale_fields.end()) return {};
  const std::size_t block_bytes = find_type(type)->block_bytes;
  const bool is_swapped =
      (byte_order == Endian::little) != (std::endian::native == std::endian::little);
  BlockScan result;
  for (std::size_t field = 0; field < fields->count; ++field) {
    const std::size_t width = fields->kind == Kind::ue4m3 ? 1 : 2;  // only these have several
    const std::size_t offset = fields->offset + field * width;
    BlockScan found = scan_field(fields->kind, is_swapped, blocks.data() + offset, block_bytes,
                                 blocks.size() / block_bytes);
    if (found.bad_count == 0) continue;
    found.first_bad_offset += offset;
    result.first_bad_offset = result.bad_count == 0
                                  ? found.first_bad_offset
                                  : std::min(result.first_bad_offset, found.first_bad_offset);
    result.bad_count += found.bad_count;
  }
  return result;
}

}  // namespace ingot::check
