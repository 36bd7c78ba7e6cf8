// SPDX-License-Identifier: MIT
// Which numbers and scales in blocks are not finite.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "base/byte_order.hpp"
#include "check/data_scan.hpp"
#include "types/block_layout.hpp"

namespace ingot::check {
namespace {

using types::BlockField;
using types::Holds;

/// Bits of the exponent: a number whose exponent has them all is an infinity or a NaN.
template <class Word>
constexpr Word exponent_of(Holds holds) noexcept {
  if constexpr (sizeof(Word) == 8) return 0x7FF0'0000'0000'0000;
  if constexpr (sizeof(Word) == 4) return 0x7F80'0000;
  if constexpr (sizeof(Word) == 2) return holds == Holds::bf16 ? 0x7F80 : 0x7C00;
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
BlockScan scan_floats(Holds holds, bool is_swapped, const std::byte* from, std::size_t stride,
                      std::size_t count) noexcept {
  const Word mask = exponent_of<Word>(holds);
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

/// Whether the binary16 of an IQ1_M block, 4 bits in the upper nibble of each of 4 words, has all
/// bits of its exponent: three in the last word, two in the one before.
bool is_bad_in_nibbles(const std::byte* words, bool is_swapped) noexcept {
  const auto third = load<std::uint16_t>(words + 4, is_swapped);
  const auto fourth = load<std::uint16_t>(words + 6, is_swapped);
  return (fourth >> 12 & 7) == 7 && (third >> 14) == 3;
}

/// One number of a field in `count` blocks, `stride` bytes apart.
BlockScan scan_number(const BlockField& field, bool is_swapped, const std::byte* from,
                      std::size_t stride, std::size_t count) noexcept {
  switch (field.holds) {
    case Holds::f16:
    case Holds::bf16:
      return scan_floats<std::uint16_t>(field.holds, is_swapped, from, stride, count);
    case Holds::f32:
      if (field.type == TensorType::q8_k) {
        return scan_each(from, stride, count,
                         [&](const std::byte* at) { return is_bad_q8_k(at, is_swapped); });
      }
      return scan_floats<std::uint32_t>(field.holds, is_swapped, from, stride, count);
    case Holds::f64:
      return scan_floats<std::uint64_t>(field.holds, is_swapped, from, stride, count);
    case Holds::e8m0:
      return scan_each(from, stride, count, is_bad_mxfp4);
    case Holds::ue4m3:
      return scan_each(from, stride, count, [](const std::byte* at) {
        return (*at & std::byte{0x7F}) == std::byte{0x7F};
      });
    case Holds::f16_in_nibbles:
      return scan_each(from, stride, count,
                       [&](const std::byte* at) { return is_bad_in_nibbles(at, is_swapped); });
    case Holds::bits:
      break;
  }
  return {};
}

void add(const BlockScan& found, std::uint64_t offset, BlockScan& result) noexcept {
  if (found.bad_count == 0) return;
  const std::uint64_t first = found.first_bad_offset + offset;
  result.first_bad_offset =
      result.bad_count == 0 ? first : std::min(result.first_bad_offset, first);
  result.bad_count += found.bad_count;
}

}  // namespace

BlockScan scan_blocks(TensorType type, Endian byte_order,
                      std::span<const std::byte> blocks) noexcept {
  const std::size_t block_bytes = find_type(type)->block_bytes;
  const bool is_swapped =
      (byte_order == Endian::little) != (std::endian::native == std::endian::little);
  BlockScan result;
  for (const BlockField& field : types::fields_of(type)) {
    // The words of f16_in_nibbles are one number.
    const std::size_t count = field.holds == Holds::f16_in_nibbles ? 1 : field.count;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t offset = field.offset + i * field.bytes;
      add(scan_number(field, is_swapped, blocks.data() + offset, block_bytes,
                      blocks.size() / block_bytes),
          offset, result);
    }
  }
  return result;
}

}  // namespace ingot::check
