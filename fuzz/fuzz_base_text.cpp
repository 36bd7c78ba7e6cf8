// SPDX-License-Identifier: MIT
// Property: escaped text is safe to print and fits its columns; bytes and numbers read back from
// their texts, and floats from their halves, as they were.

#include <cmath>
#include <cstdint>
#include <span>

#include "byte_input.hpp"
#include "ingot/digest.hpp"
#include "ingot/half.hpp"
#include "ingot/text.hpp"

namespace {

using namespace ingot;
using fuzz::require;

void try_escapes(const std::string& text, std::size_t columns) {
  const std::string escaped = escape(text);
  require(is_utf8(escaped));
  for (const char c : escaped) require(static_cast<unsigned char>(c) >= ' ' && c != 0x7F);
  const std::string cut = escape_shortened(text, columns);
  require(is_utf8(cut) && display_columns(cut) <= std::max<std::size_t>(columns, 3));
  if (is_utf8(text) && escaped == text) require(escape(escaped) == escaped);
}

void try_bytes(const std::string& text) {
  const auto plain = std::as_bytes(std::span(text));
  const auto decoded = base64_decode(base64_encode(plain));
  require(decoded && std::ranges::equal(*decoded, plain));
  if (const auto bytes = base64_decode(text)) require(base64_encode(*bytes) == text);
  for (const DigestAlgorithmInfo& info : digest_algorithms) {
    Digest digest(info.algorithm);
    digest.update(plain.first(plain.size() / 2));
    digest.update(plain.subspan(plain.size() / 2));
    require(digest.finish() == digest_of(info.algorithm, plain));
  }
}

void try_numbers(std::uint64_t number, double wide, float narrow) {
  for (const std::string& text :
       {format_bytes(number), format_count(number), format_digits(number)}) {
    require(!text.empty() && text.size() < 32);
  }
  double wide_read = 0;
  if (std::isfinite(wide)) {
    require(read_float(format_float(wide), wide_read));
    require(std::bit_cast<std::uint64_t>(wide_read) == std::bit_cast<std::uint64_t>(wide));
  }
  float narrow_read = 0;
  if (std::isfinite(narrow)) {
    require(read_float(format_float(narrow), narrow_read));
    require(std::bit_cast<std::uint32_t>(narrow_read) == std::bit_cast<std::uint32_t>(narrow));
  }
  const auto half = static_cast<std::uint16_t>(number);
  if (!std::isnan(f32_from_f16(half))) require(f16_from_f32(f32_from_f16(half)) == half);
  if (!std::isnan(f32_from_bf16(half))) require(bf16_from_f32(f32_from_bf16(half)) == half);
  require(std::isnan(f32_from_f16(f16_from_f32(narrow))) == std::isnan(narrow));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::ByteInput input(data, size);
  const auto number = input.take<std::uint64_t>();
  const auto wide = input.take<double>();
  const auto narrow = input.take<float>();
  try_numbers(number, wide, narrow);
  const std::string text = input.rest();
  try_escapes(text, number % 100);
  try_bytes(text);
  return 0;
}
