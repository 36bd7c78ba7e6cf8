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

/// The source of the parts of the document, and the facts that they cannot express.
struct TokenizerSource {
  const Model& model;
  const Tokenizer& tokenizer;
  std::vector<std::string> warnings = {};
};

/// Fails with the name of something that tokenizer.json cannot express: a family, or a token that
/// is not UTF-8.
[[nodiscard]] Result<void> check_expressible(const TokenizerSource& source);

/// Writes the document. Expressible, that is.
void write_tokenizer_json(JsonStream& json, TokenizerSource& source);

}  // namespace ingot::cli
