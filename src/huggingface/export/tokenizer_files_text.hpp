// SPDX-License-Identifier: MIT
// The files of a folder that describe its tokenizer.
#pragma once

#include <string>
#include <string_view>

#include "huggingface/export/folder_vocabulary.hpp"
#include "huggingface/export/special_tokens_plan.hpp"

namespace ingot::huggingface {

/// The bytes of tokenizer.model.
[[nodiscard]] std::string make_sentencepiece(const FolderFacts& facts,
                                             const FolderVocabulary& vocabulary);

/// @param stated_pre  the pre-tokenizer, where tokenizer.json does not tell it; else empty.
[[nodiscard]] std::string make_tokenizer_config(const FolderFacts& facts, const FolderRule& rule,
                                                const Vocabulary& tokens,
                                                const FolderVocabulary& vocabulary,
                                                const SpecialTokensPlan& special,
                                                std::string_view stated_pre);

/// added_tokens.json; empty if the vocabulary needs none.
[[nodiscard]] std::string make_added_tokens(const FolderVocabulary& vocabulary);

}  // namespace ingot::huggingface
