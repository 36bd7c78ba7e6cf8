// SPDX-License-Identifier: MIT
#include "text/vocabulary_facts.hpp"

#include <ingot/text.hpp>
#include <ingot/vocabulary_statistics.hpp>
#include <optional>

namespace ingot::cli {

std::string pre_tokenizer_text(std::string_view model, std::string_view pre) {
  const std::optional<bool> is_known = knows_pre_tokenizer(model, pre);
  if (pre.empty()) return model == "gpt2" ? "no pre-tokenizer" : "";
  const std::string text = "pre " + escape_shortened(pre, 24);
  if (!is_known) return text;
  return text + (*is_known ? " (known)" : " (unknown)");
}

void remark_on_pre_tokenizer(Console& console, const std::string& file,
                             const Vocabulary& vocabulary, bool is_chosen) {
  const bool is_missing =
      vocabulary.family() == TokenizerFamily::bpe && vocabulary.pre_tokenizer().empty();
  if (!is_missing || is_chosen) return;
  console.remark(file,
                 "note: no tokenizer.ggml.pre; texts are cut as for \"default\", which may give "
                 "other ids than the model was trained with; --pre names another one");
}

}  // namespace ingot::cli
