// SPDX-License-Identifier: MIT
// The pre-tokenizer that the structure of a tokenizer.json means.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "formats/json/json_tree.hpp"

namespace ingot::huggingface {

/// The structure that decides how a text is cut: the normalizer, and the steps in order.
struct PreStructure {
  std::string normalizer;          ///< "none", "nfc", "bert", or the types of the file.
  std::vector<std::string> steps;  ///< The steps as pre_rows.def writes them.
  bool has_separator = false;      ///< Two texts are joined as for RoBERTa.
  bool ignores_merges = false;     ///< A piece that is a token is that token.
  bool repeats_interval = false;   ///< `{1,3}+`, which libraries read in two ways.

  [[nodiscard]] static PreStructure of(JsonView tokenizer);
  /// The structure in one line, for messages.
  [[nodiscard]] std::string text() const;
};

/// The values of `tokenizer.ggml.pre` that cut in this way, that for a model of the class first;
/// empty if no row of pre_rows.def has this structure.
[[nodiscard]] std::vector<std::string_view> names_of(const PreStructure& structure,
                                                     std::string_view model_class);

/// The values of which no row tells the structure, so that an unknown one may be theirs.
[[nodiscard]] std::vector<std::string_view> names_of_unknown_structure();

/// Whether two values of `tokenizer.ggml.pre` cut every text alike; so do two that cut none.
[[nodiscard]] bool cut_alike(std::string_view left, std::string_view right);

}  // namespace ingot::huggingface
