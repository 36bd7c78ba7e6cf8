// SPDX-License-Identifier: MIT
// The keys of a tokenizer.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "ingot/metadata_keys.hpp"
#include "ingot/model.hpp"

namespace ingot::tokenizer {

struct VocabularyData;

[[nodiscard]] inline std::string token_key(std::string_view name) {
  return std::string(keys::tokenizer_prefix).append(name);
}

/// The bytes of a value that is a string.
[[nodiscard]] inline std::string_view text_of(const Value& value) noexcept {
  const std::span<const std::byte> bytes = value.bytes();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Reads a vocabulary; see Vocabulary::make.
///
/// @param pre_name  instead of that of the file, unless it is empty.
[[nodiscard]] Result<VocabularyData> read_vocabulary(const Model& model, std::string_view pre_name);

}  // namespace ingot::tokenizer
