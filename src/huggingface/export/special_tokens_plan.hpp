// SPDX-License-Identifier: MIT
// Special tokens of a model, spread over the files of a folder so that the import finds them again
// in the order of their keys.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>

#include "huggingface/export/folder_vocabulary.hpp"

namespace ingot::huggingface {

struct SpecialTokensPlan {
  nlohmann::ordered_json named;      ///< `bos_token`, `add_bos_token`, ... of tokenizer_config.json
  nlohmann::ordered_json model_ids;  ///< `bos_token_id`, ... of config.json
  /// The end of a turn where the import takes it from the ends of generation_config.json.
  std::optional<std::uint32_t> first_end;
  TextFrame frame;
};

[[nodiscard]] SpecialTokensPlan plan_special_tokens(const FolderFacts& facts,
                                                    const FolderVocabulary& vocabulary);

}  // namespace ingot::huggingface
