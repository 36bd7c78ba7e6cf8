// SPDX-License-Identifier: MIT
// Texts for models at work, and the progress through them.
#pragma once

#include <cstdint>
#include <ingot/embeddings.hpp>
#include <ingot/evaluate.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "cli/progress.hpp"
#include "text/shard_part.hpp"

namespace ingot::cli {

/// The options that name a text and cut it.
struct TextRequest {
  std::string file;
  std::uint64_t chunk_tokens = 0;  ///< 0: usual
  std::uint64_t max_chunks = 0;    ///< 0: all
};

/// `--text`, `--ctx-size` and `--chunks`.
void add_text_options(CLI::App& command, TextRequest& request);

/// Whether `evaluate` compares vectors of a model with those of others, and no predictions.
[[nodiscard]] bool compares_vectors(const Model& base, bool has_others);

/// A part of work that is spread over machines, and the parts of which it is made whole.
struct PartRequest {
  std::string text;                ///< As it was given, I/N; empty without.
  std::optional<ShardPart> part;   ///< What that means.
  std::vector<std::string> files;  ///< Parts to join.

  /// Reads `text`; returns what is wrong, or an empty text.
  [[nodiscard]] std::string resolve();
};

/// `--part`, and `--join` where the command joins parts itself.
void add_part_options(CLI::App& command, PartRequest& request, bool has_join);

/// A digest of what parts of one work have in common: models, the text as its tokens, and settings.
/// It knows models by names, types and shapes of tensors and by a sample of their weights.
[[nodiscard]] std::string basis_of(std::span<const Model* const> models, const TextChunks& text,
                                   const std::string& settings = {});

/// Marks part `number` of `count` in `seen`, which has a place for each file that is joined: what
/// is wrong with it, or an empty text.
[[nodiscard]] std::string add_part(std::vector<bool>& seen, std::uint64_t number,
                                   std::uint64_t count);

/// What a text is cut for.
enum class ChunksOf : std::uint8_t {
  predictions,
  vectors,  ///< A text that fits the context is one chunk.
  either    ///< Vectors where a model predicts nothing, never longer than usual.
};

/// The chunks of the text, by the tokenizer of `model`; errors name the file that they are about.
[[nodiscard]] Result<TextChunks> read_chunks(const TextRequest& request, const Model& model,
                                             const std::string& model_file, std::string& failed,
                                             ChunksOf purpose);

/// Runs `work(options)` with a bar that shows how many bytes of weights have been through.
///
/// @param weight_bytes  that each chunk passes.
template <class Work>
auto run_chunks(Console& console, const std::string& subject, std::uint64_t weight_bytes,
                std::uint64_t chunk_count, const Work& work) {
  const std::uint64_t total = weight_bytes * chunk_count;
  return run_with_progress(console, subject, total, [&](const GoOn& go_on) {
    EvaluationOptions options;
    options.thread_count = console.threads();
    options.progress = [&](const EvaluationProgress& progress) {
      const double share = static_cast<double>(progress.done) / static_cast<double>(progress.total);
      return go_on(static_cast<std::uint64_t>(share * static_cast<double>(total)));
    };
    return work(options);
  });
}

}  // namespace ingot::cli
