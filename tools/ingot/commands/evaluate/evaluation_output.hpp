// SPDX-License-Identifier: MIT
// The output of `ingot evaluate`: for people, as JSON, as Markdown.
#pragma once

#include <cstdint>
#include <ingot/evaluate.hpp>
#include <string>
#include <vector>

#include "cli/console.hpp"
#include "cli/json_stream.hpp"

namespace ingot::cli {

struct EvaluatedFile {
  std::string file;  ///< The file as the user named it.
  std::uint64_t size_bytes = 0;
};

struct EvaluationFacts {
  std::vector<EvaluatedFile> files;  ///< The base first.
  std::string text;                  ///< The file of the text.
  const Evaluation& evaluation;
  bool has_chunks = false;  ///< Whether to list every chunk, too.
};

void print_evaluation(Console& console, const EvaluationFacts& facts);
void write_evaluation_json(JsonStream& json, const EvaluationFacts& facts);

/// "128 scored tokens of TEXT: ...".
[[nodiscard]] std::string basis(const EvaluationFacts& facts, std::string_view text);

/// A standard error; "?" for that of a single chunk, which is unknown.
[[nodiscard]] std::string error_text(double error, int digits);

/// "4.7825 +/- 0.0312".
[[nodiscard]] std::string with_error(double value, double error, int digits);

/// A table for a model card.
void print_evaluation_markdown(Console& console, const EvaluationFacts& facts);

}  // namespace ingot::cli
