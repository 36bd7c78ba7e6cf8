// SPDX-License-Identifier: MIT
// The pre-tokenizer that the structure of a tokenizer.json means.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "formats/json/json_tree.hpp"

namespace ingot::hf {

/// What decides how a text is cut: the normalizer, and the steps in order.
struct PreStructure {
  std::string normalizer;          ///< "none", "nfc", "bert", or the types of the file.
  std::vector<std::string> steps;  ///< As pre_rows.def writes them.
  bool has_separator = false;      ///< Two texts are joined as for RoBERTa.
  bool ignores_merges = false;     ///< A piece that is a token is that token.

  [[nodiscard]] static PreStructure of(JsonView tokenizer);
  /// One line for messages.
  [[nodiscard]] std::string text() const;
};

/// The values of `tokenizer.ggml.pre` that cut in this way, that for a model of the class first;
/// empty if no row of pre_rows.def has this structure.
[[nodiscard]] std::vector<std::string_view> names_of(const PreStructure& structure,
                                                     std::string_view model_class);

}  // namespace ingot::hf
