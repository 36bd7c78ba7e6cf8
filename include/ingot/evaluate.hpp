// SPDX-License-Identifier: MIT
// Run models on a text and compare what they predict (target ingot::evaluate).
//
//   const auto base = ingot::Model::open("model-F16.gguf");
//   const auto small = ingot::Model::open("model-Q4_K_M.gguf");
//   const auto text = ingot::chunks_of(*base, content);
//   const ingot::Model* others[] = {&*small};
//   const auto found = ingot::evaluate(*base, others, *text);
//   std::printf("KL %g +/- %g\n", found->others[0].divergence.mean,
//   found->others[0].divergence.error);
//
// The forward pass runs in float32 on the CPU, from weights of any tensor type, which are decoded
// tile by tile: what is measured is the format, not the rounding of an engine. A model may be
// larger than memory. Architectures that are not known are refused; docs/evaluate.md lists those
// that are.
//
// Results depend on the CPU in their last digits, not on the number of threads.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ingot/describe.hpp"
#include "ingot/error.hpp"
#include "ingot/export.h"
#include "ingot/imatrix.hpp"
#include "ingot/model.hpp"
#include "ingot/sensitivity.hpp"
#include "ingot/tokenizer.hpp"

namespace ingot {

/// A text as token ids, cut into chunks that are computed each on its own.
struct TextChunks {
  std::vector<TokenId> ids;  ///< The ids of all chunks, one after the other.
  std::size_t chunk_tokens = 0;

  [[nodiscard]] std::size_t chunk_count() const noexcept {
    return chunk_tokens == 0 ? 0 : ids.size() / chunk_tokens;
  }
};

/// Smallest and largest chunk.
inline constexpr std::size_t min_chunk_tokens = 8;
inline constexpr std::size_t max_chunk_tokens = std::size_t{1} << 20;

/// The smaller of 512 and the context of a model.
[[nodiscard]] INGOT_EXPORT std::size_t usual_chunk_tokens(const Model& model);

/// Encodes a text with the tokenizer of a model. The rest that fills no chunk is dropped. Where the
/// model wants a bos before every text, the first token of each chunk becomes one, as in llama.cpp.
///
/// @param chunk_tokens  0: the smaller of 512 and the context of the model.
/// @param max_chunks    0: all
/// @return  Errc::invalid_argument if the text is shorter than a chunk, or the chunks are too short
///          or too long; errors of the tokenizer.
[[nodiscard]] INGOT_EXPORT Result<TextChunks> chunks_of(const Model& model, std::string_view text,
                                                        std::size_t chunk_tokens = 0,
                                                        std::size_t max_chunks = 0);

/// The most parts that a text can be cut into: chunks that are computed together stay together, so
/// that their figures are those of one run.
[[nodiscard]] INGOT_EXPORT std::size_t max_text_parts(const TextChunks& text) noexcept;

/// Part `index` of `count` parts of a text: runs of chunks, one after the other.
/// @return  Errc::invalid_argument if there is no such part.
[[nodiscard]] INGOT_EXPORT Result<TextChunks> part_of_text(const TextChunks& text,
                                                           std::size_t index, std::size_t count);

/// How far the work is, in layers of chunks.
struct EvaluationProgress {
  std::uint64_t done = 0;
  std::uint64_t total = 0;
};

struct EvaluationOptions {
  unsigned thread_count = 0;  ///< 0: as many as the machine has cores.
  /// Keys and values are rounded to binary16, as engines usually keep them.
  bool rounds_cache = false;
  /// Errc::limit_exceeded if the activations would take more. Weights do not count.
  std::uint64_t max_memory_bytes = std::uint64_t{16} << 30;
  /// Receives the progress; false ends the work with Errc::interrupted.
  std::function<bool(const EvaluationProgress&)> progress = {};
};

template <class Visitor>
void describe_options(Visitor& visit, EvaluationOptions& options) {
  visit("threads", options.thread_count);
  visit("rounds_cache", options.rounds_cache);
  visit("max_memory", options.max_memory_bytes);
}

/// A mean over tokens, and its standard error from the spread of the means of chunks: tokens of a
/// chunk are not independent. The error of a single chunk is NaN.
struct MeanEstimate {
  double mean = 0.0;
  double error = 0.0;
};

/// Describes a mean as `name`, and its error, if that is known, as `name_error`.
template <class Visitor>
void describe_estimate(Visitor& visit, const std::string& name, const MeanEstimate& estimate,
                       std::string_view unit, std::string_view meaning) {
  const bool has_error = std::isfinite(estimate.error);
  visit(name, estimate.mean, unit, meaning);
  visit(name + "_error", has_error ? std::optional(estimate.error) : std::nullopt, unit,
        "its standard error over chunks; null for one chunk");
}

/// The mean of values that stand for chunks of equal size.
[[nodiscard]] INGOT_EXPORT MeanEstimate mean_of_chunks(std::span<const double> chunk_means);

/// The predictions of one model for the text.
struct ModelScore {
  MeanEstimate loss;                 ///< Negative log-likelihood, nats per token.
  std::vector<double> chunk_losses;  ///< Means of the chunks.

  [[nodiscard]] INGOT_EXPORT double perplexity() const noexcept;
  /// Standard error of the perplexity, by the slope of the exponential.
  [[nodiscard]] INGOT_EXPORT double perplexity_error() const noexcept;
};

template <class Visitor>
void describe(Visitor& visit, const ModelScore& score) {
  describe_estimate(visit, "perplexity", {score.perplexity(), score.perplexity_error()}, "",
                    "the exponential of `loss`");
  describe_estimate(visit, "loss", score.loss, "nats per token", "negative log-likelihood");
  visit("chunk_losses", score.chunk_losses, "nats per token", "of each chunk");
}

/// The predictions of a model beside those of the base.
struct ModelComparison {
  ModelScore score;
  MeanEstimate divergence;  ///< KL(base, other), nats per token.
  MeanEstimate log_ratio;   ///< Logarithm of the ratio of perplexities, other to base.
  MeanEstimate same_top;    ///< Share of tokens with the same most likely next token.
  std::vector<double> chunk_divergences;
  std::vector<double> chunk_same_tops;
  std::vector<float> sorted_divergences;  ///< The divergences of all tokens, ascending.

  /// The divergence that a share of the tokens (0 to 1) does not exceed.
  [[nodiscard]] INGOT_EXPORT double quantile(double share) const noexcept;
};

/// The quantiles of a comparison that llama-perplexity prints, too. They borrow it.
struct DivergenceQuantiles {
  const ModelComparison& of;
};

template <class Visitor>
void describe(Visitor& visit, const DivergenceQuantiles& quantiles) {
  constexpr std::pair<std::string_view, double> shares[] = {
      {"min", 0.0}, {"1%", 0.01},  {"5%", 0.05},  {"10%", 0.1},     {"median", 0.5},
      {"90%", 0.9}, {"95%", 0.95}, {"99%", 0.99}, {"99.9%", 0.999}, {"max", 1.0}};
  for (const auto& [name, share] : shares) {
    visit(name, quantiles.of.quantile(share), "nats",
          "that this share of the tokens does not exceed");
  }
}

template <class Visitor>
void describe(Visitor& visit, const ModelComparison& other) {
  describe(visit, other.score);
  const double ratio = std::exp(other.log_ratio.mean);
  describe_estimate(visit, "perplexity_ratio", {ratio, ratio * other.log_ratio.error}, "",
                    "to the perplexity of the base");
  describe_estimate(visit, "log_ratio", other.log_ratio, "nats per token", "its logarithm");
  describe_estimate(visit, "kl", other.divergence, "nats per token", "divergence from the base");
  describe_estimate(visit, "same_top", other.same_top, "",
                    "share of tokens with the same most likely next token");
  visit("kl_quantiles", DivergenceQuantiles{other}, "", "of single tokens");
  visit("chunk_kl", other.chunk_divergences, "nats per token", "of each chunk");
  visit("chunk_same_top", other.chunk_same_tops, "", "of each chunk");
}

/// How much of a text an evaluation used.
struct EvaluationCounts {
  std::size_t chunk_count = 0;
  std::size_t chunk_tokens = 0;
  std::uint64_t scored_tokens = 0;
};

template <class Visitor>
void describe(Visitor& visit, const EvaluationCounts& counts) {
  visit("chunk_count", counts.chunk_count, "chunks", "of the text that were used");
  visit("chunk_tokens", counts.chunk_tokens, "tokens", "of a chunk");
  visit("scored_tokens", counts.scored_tokens, "tokens",
        "that count: of each chunk the second half");
}

struct Evaluation : EvaluationCounts {
  ModelScore base;
  std::vector<ModelComparison> others;

  /// The divergence of the model `a` less that of `b`, chunk by chunk: far more precise than the
  /// difference of the two means, because both models see the same text.
  [[nodiscard]] INGOT_EXPORT MeanEstimate difference(std::size_t a, std::size_t b) const;
};

template <class Visitor>
void describe(Visitor& visit, const Evaluation& found) {
  describe(visit, static_cast<const EvaluationCounts&>(found));
  visit("base", found.base, "", "the predictions of the base");
  visit("others", found.others, "", "those of each other model, and how far they are from them");
}

/// Runs `base` and `others` on a text and compares the distributions of the next token. All figures
/// count the second half of each chunk, where tokens have enough text before them. The base runs
/// once for all others; without others, this gives perplexities.
///
/// @param others  their vocabularies are as large as that of `base`.
/// @return  Errc::network_unsupported for a network that is unknown; Errc::network_invalid for keys
///          and tensors that contradict one another; Errc::tensor_not_found; Errc::invalid_argument
///          for vocabularies of different sizes or a text that is no whole chunks;
///          Errc::weight_not_finite if an output is not a number; Errc::limit_exceeded;
///          Errc::interrupted; errors of reading. Those of others[i] name its file in their
///          context.
[[nodiscard]] INGOT_EXPORT Result<Evaluation> evaluate(const Model& base,
                                                       std::span<const Model* const> others,
                                                       const TextChunks& text,
                                                       const EvaluationOptions& options = {});

/// Makes one result of those of all parts of a text, in their order: to the bit that of one run, on
/// CPUs of one kind. Errc::invalid_argument if they are of other numbers of models or of chunks of
/// other sizes, or if there are none.
[[nodiscard]] INGOT_EXPORT Result<Evaluation> join_evaluations(std::span<const Evaluation> parts);

/// The logits of all tokens of a text: for each token, in order, a number for each entry of the
/// vocabulary. Errors as of `evaluate`; the result counts as memory.
[[nodiscard]] INGOT_EXPORT Result<std::vector<float>> compute_logits(
    const Model& model, const TextChunks& text, const EvaluationOptions& options = {});

struct ImportanceOptions {
  /// The cache is rounded, so that the values are those of llama.cpp.
  EvaluationOptions run = {.rounds_cache = true};
  std::string dataset = {};      ///< The name of the text, for the file.
  bool includes_output = false;  ///< The output matrix, too; llama.cpp leaves it out.
  /// Also second moments, in blocks of so many columns (imatrix.hpp); 0: none. They take 4 bytes
  /// for each column of a matrix, times this, and count as memory.
  std::size_t moment_columns = 0;
  /// Sums that are exact, and are kept (imatrix.hpp), so that those of parts of a text add up to
  /// those of the whole, to the bit. Without it, they run in float32 as llama.cpp's do.
  bool has_exact_sums = false;
};

template <class Visitor>
void describe_options(Visitor& visit, ImportanceOptions& options) {
  describe_options(visit, options.run);
  visit("dataset", options.dataset);
  visit("process_output", options.includes_output);
  visit("moments", options.moment_columns);
  visit("exact_sums", options.has_exact_sums);
}

/// Collects how much each column of the matrices of the layers matters: sums of squares of their
/// inputs over all tokens, and counts, for each expert of its own.
/// @return  errors as of `evaluate`; Errc::invalid_argument if moment_columns is larger than
///          max_moment_columns.
[[nodiscard]] INGOT_EXPORT Result<ImportanceMatrix> collect_importance(
    const Model& model, const TextChunks& text, const ImportanceOptions& options = {});

struct SensitivityOptions {
  EvaluationOptions run = {};
  const ImportanceMatrix* importance = nullptr;  ///< Borrowed; for encoding and weighted errors.
  /// Tensors that need no measurement, because it is known; none if empty. It is asked about each
  /// once, in the order of the network.
  std::function<bool(std::string_view name)> is_known = {};
  /// Receives each measurement as it is made, so that an interrupted run need not begin again.
  std::function<void(const TensorSensitivity&)> measured = {};
};

/// Measures how much the error of each matrix matters: quantizes one at a time, to Q2_K or, where
/// its rows are not whole blocks of that, Q4_0, and compares the predictions with those of the
/// model as it is. Tensors of one layer run side by side from the stored inputs of the layer.
/// Routers, norms and matrices whose rows fit neither type are left out.
///
/// @return  in the order of the network; errors as of `evaluate` and of `quantize`. Memory: the
///          states of all tokens, twice, and the activations of a batch for each matrix of a layer.
[[nodiscard]] INGOT_EXPORT Result<std::vector<TensorSensitivity>> measure_sensitivities(
    const Model& model, const TextChunks& text, const SensitivityOptions& options = {});

}  // namespace ingot
