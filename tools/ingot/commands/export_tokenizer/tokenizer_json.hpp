// SPDX-License-Identifier: MIT
// A tokenizer in the form of Hugging Face's tokenizer.json.
#pragma once

#include <ingot/error.hpp>
#include <ingot/model.hpp>
#include <ingot/tokenizer.hpp>
#include <string>
#include <vector>

#include "cli/json_stream.hpp"

namespace ingot::cli {

/// What the parts of the document are written from, and what is not expressed by them.
struct TokenizerSource {
  const Model& model;
  const Tokenizer& tokenizer;
  std::vector<std::string> warnings = {};
};

/// An error that names what tokenizer.json has no form for: a family, or a token that is not UTF-8.
[[nodiscard]] Result<void> check_expressible(const TokenizerSource& source);

/// Writes the document. Expressible, that is.
void write_tokenizer_json(JsonStream& json, TokenizerSource& source);

}  // namespace ingot::cli
