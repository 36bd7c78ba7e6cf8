// SPDX-License-Identifier: MIT
// What `ingot evaluate` prints: for people, as JSON, as Markdown.
#pragma once

#include <cstdint>
#include <ingot/evaluate.hpp>
#include <string>
#include <vector>

#include "cli/console.hpp"

namespace ingot::cli {

struct EvaluatedFile {
  std::string file;  ///< As the user named it.
  std::uint64_t size_bytes = 0;
};

struct EvaluationFacts {
  std::vector<EvaluatedFile> files;  ///< The base first.
  std::string text;                  ///< The file of the text.
  const Evaluation& evaluation;
  bool has_chunks = false;  ///< Also every chunk.
};

void print_evaluation(Console& console, const EvaluationFacts& facts);
void print_evaluation_json(Console& console, const EvaluationFacts& facts);

/// A table for a model card.
void print_evaluation_markdown(Console& console, const EvaluationFacts& facts);

}  // namespace ingot::cli
