// SPDX-License-Identifier: MIT
// The facts about a vocabulary that several commands print.
#pragma once

#include <ingot/tokenizer.hpp>
#include <string>
#include <string_view>

#include "cli/console.hpp"

namespace ingot::cli {

/// "pre qwen2 (known)"; the value alone for families that pay no attention to it, "" without one.
[[nodiscard]] std::string pre_tokenizer_text(std::string_view model, std::string_view pre);

/// Calls use(id, text) for the tokens that can be found by their text: of equal ones the first.
template <class Use>
void for_each_text(const Vocabulary& vocabulary, const Use& use) {
  for (TokenId id = 0; vocabulary.contains(id); ++id) {
    const std::string_view text = vocabulary.text(id);
    if (vocabulary.find(text) == id) use(id, text);
  }
}

/// A remark if texts are cut without a pre-tokenizer that the file names.
void remark_on_pre_tokenizer(Console& console, const std::string& file,
                             const Vocabulary& vocabulary, bool is_chosen);

}  // namespace ingot::cli
