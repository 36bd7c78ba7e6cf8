// SPDX-License-Identifier: MIT
// The output of `ingot evaluate` for models that make vectors of texts.
#pragma once

#include <ingot/embeddings.hpp>
#include <string>
#include <vector>

#include "commands/evaluate/evaluation_output.hpp"

namespace ingot::cli {

struct EmbeddingFacts {
  const std::vector<EvaluatedFile>& files;  ///< The base first.
  std::string text;                         ///< The file of the text.
  const EmbeddingEvaluation& evaluation;
  bool has_chunks = false;  ///< Whether to list every chunk, too.
};

void print_embeddings(Console& console, const EmbeddingFacts& facts);
void write_embeddings_json(JsonStream& json, const EmbeddingFacts& facts);
/// A table for a model card.
void print_embeddings_markdown(Console& console, const EmbeddingFacts& facts);
/// The body of a page.
void write_embeddings_page(Output& out, const EmbeddingFacts& facts);

}  // namespace ingot::cli
