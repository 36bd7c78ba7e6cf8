// SPDX-License-Identifier: MIT
#include "tokenizer/families/charsmap.hpp"

#include "base/byte_order.hpp"
#include "tokenizer/vocabulary/token_keys.hpp"

namespace ingot::tokenizer {
namespace {

// A unit: bits 0-7 and 31 label, 8 "has a value", 9 "the offset counts in steps of 256", 10-30
// offset. The unit of a value holds it in bits 0-30.
constexpr std::uint32_t label_mask = 0x8000'00FF;
constexpr std::uint32_t has_value = 1U << 8;
constexpr std::uint32_t value_mask = 0x7FFF'FFFF;

constexpr std::uint32_t offset_of(std::uint32_t unit) noexcept {
  return (unit >> 10) << ((unit & (1U << 9)) >> 6);
}

}  // namespace

Result<Charsmap> Charsmap::make(std::string_view bytes) {
  Charsmap map;
  if (bytes.empty()) return map;
  constexpr std::size_t unit_bytes = sizeof(std::uint32_t);
  const auto* data = reinterpret_cast<const std::byte*>(bytes.data());
  const auto invalid = [&](std::string detail) {
    return fail(Errc::tokenizer_invalid, token_key("precompiled_charsmap"), std::move(detail));
  };
  if (bytes.size() < unit_bytes) return invalid("it has no room for its size");
  const std::size_t size_bytes = load_little<std::uint32_t>(data);
  if (size_bytes > bytes.size() - unit_bytes || size_bytes % unit_bytes != 0) {
    return invalid("its first table has " + std::to_string(size_bytes) + " bytes of " +
                   std::to_string(bytes.size() - unit_bytes));
  }
  for (std::size_t i = 0; i < size_bytes; i += unit_bytes) {
    map.units_.push_back(load_little<std::uint32_t>(data + unit_bytes + i));
  }
  map.replacements_ = bytes.substr(unit_bytes + size_bytes);
  return map;
}

Charsmap::Step Charsmap::first_step() const noexcept {
  if (units_.empty()) return {};
  return {.is_possible = true, .has_value = false, .place = offset_of(units_[0])};
}

Charsmap::Step Charsmap::next(const Step& step, unsigned char byte) const noexcept {
  std::uint32_t place = step.place ^ byte;
  if (!step.is_possible || byte == 0 || place >= units_.size()) return {};
  const std::uint32_t unit = units_[place];
  place ^= offset_of(unit);
  if ((unit & label_mask) != byte || place >= units_.size()) return {};
  return {.is_possible = true, .has_value = (unit & has_value) != 0, .place = place};
}

Charsmap::Match Charsmap::find(std::string_view text) const noexcept {
  Match best;
  Step step = first_step();
  for (std::size_t i = 0; i < text.size() && step.is_possible; ++i) {
    step = next(step, static_cast<unsigned char>(text[i]));
    if (!step.has_value) continue;
    const std::size_t begin = units_[step.place] & value_mask;
    const std::size_t end = replacements_.find('\0', begin);
    if (end == std::string::npos) continue;
    best = {i + 1, std::string_view(replacements_).substr(begin, end - begin)};
  }
  return best;
}

bool Charsmap::can_begin_with(char byte) const noexcept {
  return next(first_step(), static_cast<unsigned char>(byte)).is_possible;
}

bool Charsmap::leaves_before_ascii(char ascii) const noexcept {
  const Step step = next(first_step(), static_cast<unsigned char>(ascii));
  if (step.has_value) return false;
  for (unsigned char following = 1; following < 0x80; ++following) {
    if (next(step, following).is_possible) return false;
  }
  return true;
}

}  // namespace ingot::tokenizer
