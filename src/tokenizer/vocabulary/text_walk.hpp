// SPDX-License-Identifier: MIT
// Goes through an array of texts at the speed of reading their lengths.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "format/value_context.hpp"
#include "ingot/metadata.hpp"

namespace ingot::tokenizer {

/// The end of the memory of an array.
[[nodiscard]] inline const char* memory_end(const Array& array) noexcept {
  return reinterpret_cast<const char*>(array.bytes().data()) + array.bytes().size();
}

/// Calls `take(text)` for the elements of an array of strings from front to back, as long as it
/// returns true. Returns whether it always did.
template <class Take>
bool take_texts(const Array& texts, const Take& take) {
  if (texts.empty()) return true;
  const detail::ValueEncoding encoding = detail::ValueContext::encoding_of(*texts.begin());
  const std::byte* next = texts.bytes().data();
  for (std::uint64_t left = texts.size(); left != 0; --left) {
    const std::uint64_t length_bytes = encoding.load_count(next);
    const std::byte* data = next + encoding.count_bytes();
    if (!take(encoding.text(data, length_bytes))) return false;
    next = data + length_bytes;
  }
  return true;
}

}  // namespace ingot::tokenizer
