// SPDX-License-Identifier: MIT
// The keys of a tokenizer.
#pragma once

#include <string>
#include <string_view>

#include "ingot/metadata_keys.hpp"
#include "ingot/model.hpp"

namespace ingot::tokenizer {

struct VocabularyData;

[[nodiscard]] inline std::string token_key(std::string_view name) {
  return std::string(keys::tokenizer_prefix).append(name);
}

/// Reads a vocabulary; see Vocabulary::make.
///
/// @param pre_name  instead of that of the file, unless it is empty.
[[nodiscard]] Result<VocabularyData> read_vocabulary(const Model& model, std::string_view pre_name);

}  // namespace ingot::tokenizer
