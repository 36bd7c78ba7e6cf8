// SPDX-License-Identifier: MIT
// A tokenizer in the files of Hugging Face's libraries (target ingot::import).
//
//   const auto files = ingot::export_tokenizer(model, tokenizer);
//   if (!files) return report(files.error().message());
//   for (const std::string& warning : files->warnings) note(warning);
//   const auto written = files->write("tokenizer/");  // tokenizer.json and its companions
#pragma once

#include <string>
#include <vector>

#include "ingot/error.hpp"
#include "ingot/export.h"
#include "ingot/model.hpp"
#include "ingot/tokenizer.hpp"

namespace ingot {

/// The texts of the files. They are one tokenizer only together.
struct TokenizerExport {
  std::string tokenizer;       ///< tokenizer.json
  std::string configuration;   ///< tokenizer_config.json
  std::string special_tokens;  ///< special_tokens_map.json
  std::string chat_template;   ///< chat_template.jinja; empty if the model has none.
  std::vector<std::string> warnings =
      {};  ///< What the form cannot express, so that ids can differ.

  /// Writes the files, all or none of them. An older chat_template.jinja goes if the model has no
  /// template: libraries would take it for this model's.
  ///
  /// @param path         a folder, which is made if needed; or the name of tokenizer.json if it
  ///                     ends in ".json", and the others beside it.
  /// @param may_replace  replace files that exist.
  /// @return             Errc::already_exists, errors of writing.
  INGOT_EXPORT Result<void> write(const std::string& path, bool may_replace = false) const;
};

/// The files by which Hugging Face's libraries give the ids that `tokenizer` gives with
/// `parse_special`; docs/tokenizers.md lists where they cannot.
///
/// @param model      the model that `tokenizer` was made from.
/// @return           Errc::tokenizer_unknown for a family that has no such form (RWKV, PLaMo-2,
///                   hybriddna, whitespace); Errc::tokenizer_invalid for a token that is not UTF-8.
///
/// Memory: the texts, and a table of the tokens. Linear in the bytes of the tokens and merges.
/// Thread-safe.
[[nodiscard]] INGOT_EXPORT Result<TokenizerExport> export_tokenizer(const Model& model,
                                                                    const Tokenizer& tokenizer);

}  // namespace ingot
