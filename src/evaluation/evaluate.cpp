// SPDX-License-Identifier: MIT
#include "ingot/evaluate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "evaluation/chunk_runner.hpp"
#include "evaluation/divergence.hpp"

namespace ingot {
namespace {

using namespace evaluation;

/// The error of another model than the first.
Failure fail_in(const Model& other, Error error) {
  error.context.push_back(other.files().front().path);
  return ingot::fail(std::move(error));
}

/// Makes means of the figures of chunks, and sorts those of tokens.
void summarize(Evaluation& found) {
  const std::vector<double>& base_losses = found.base.chunk_losses;
  found.base.loss = mean_of_chunks(base_losses);
  for (ModelComparison& other : found.others) {
    other.score.loss = mean_of_chunks(other.score.chunk_losses);
    other.divergence = mean_of_chunks(other.chunk_divergences);
    other.same_top = mean_of_chunks(other.chunk_same_tops);
    std::vector<double> ratios(base_losses.size());
    std::ranges::transform(other.score.chunk_losses, base_losses, ratios.begin(), std::minus<>());
    other.log_ratio = mean_of_chunks(ratios);
    std::ranges::sort(other.sorted_divergences);
  }
}

template <class Number>
void append(std::vector<Number>& numbers, const std::vector<Number>& more) {
  numbers.insert(numbers.end(), more.begin(), more.end());
}

/// Whether all lists of a part are as long as it says.
bool is_whole(const Evaluation& part) {
  const std::size_t chunks = part.chunk_count;
  return part.base.chunk_losses.size() == chunks &&
         std::ranges::all_of(part.others, [&](const ModelComparison& other) {
           return other.score.chunk_losses.size() == chunks &&
                  other.chunk_divergences.size() == chunks &&
                  other.chunk_same_tops.size() == chunks &&
                  other.sorted_divergences.size() == part.scored_tokens;
         });
}

/// One evaluation.
class Evaluator {
 public:
  Evaluator(const TextChunks& text, const EvaluationOptions& options)
      : text_(text), options_(options) {}

  Result<Evaluation> run(const Model& base, std::span<const Model* const> others) {
    others_ = others;
    INGOT_TRY_VOID(ChunkRunner::check(text_));
    INGOT_TRY_VOID(make_passes(base, others));
    std::uint64_t layers = 0;
    for (const ForwardPass& pass : passes_) layers += pass.network().layers.size();
    ChunkRunner runner(text_, options_, layers);
    INGOT_TRY_VOID(check_memory(runner));
    result_.chunk_count = text_.chunk_count();
    result_.chunk_tokens = text_.chunk_tokens;
    result_.scored_tokens = text_.chunk_count() * scored_of_chunk();
    result_.others.resize(others.size());
    INGOT_TRY_VOID(runner.for_each_batch([&](const Batch& batch, std::size_t first_chunk) {
      return score(runner, batch, first_chunk);
    }));
    summarize(result_);
    return std::move(result_);
  }

 private:
  Result<void> make_passes(const Model& base, std::span<const Model* const> others) {
    INGOT_TRY(ForwardPass pass, ForwardPass::make(base, options_));
    INGOT_TRY_VOID(check_predicts(pass.network()));
    passes_.push_back(std::move(pass));
    for (std::size_t i = 0; i < others.size(); ++i) {
      Result<ForwardPass> other = ForwardPass::make(*others[i], options_);
      if (!other) return fail_in(*others[i], std::move(other.error()));
      if (const auto predicts = check_predicts(other->network()); !predicts) {
        return fail_in(*others[i], predicts.error());
      }
      const std::size_t size = passes_[0].network().vocabulary_size();
      if (other->network().vocabulary_size() != size) {
        return fail_in(
            *others[i],
            {.code = Errc::invalid_argument,
             .subject = "token_embd.weight",
             .detail = "a vocabulary of " + std::to_string(other->network().vocabulary_size()) +
                       " tokens; that of the base has " + std::to_string(size)});
      }
      passes_.push_back(std::move(*other));
    }
    return {};
  }

  [[nodiscard]] Result<void> check_memory(const ChunkRunner& runner) const {
    const Batch batch = runner.largest_batch();
    std::uint64_t working = 0;
    std::uint64_t states = 0;
    for (const ForwardPass& pass : passes_) {
      working = std::max(working, pass.memory_for(batch));
      states += batch.panel_count() * evaluation::panel_tokens * pass.network().state_features() *
                sizeof(float);
    }
    return runner.check_memory(
        working + states +
        evaluation::comparison_memory(passes_, batch.chunk_count * scored_of_chunk()));
  }

  [[nodiscard]] std::size_t scored_of_chunk() const noexcept {
    return evaluation::scored_of_chunk(text_.chunk_tokens);
  }

  Result<void> score(ChunkRunner& runner, const Batch& batch, std::size_t first_chunk) {
    std::vector<Panels> states;
    for (std::size_t i = 0; i < passes_.size(); ++i) {
      Result<Panels> found = runner.run(passes_[i], batch, first_chunk);
      if (!found) {
        if (i == 0) return fail(std::move(found).error());
        return fail_in(*others_[i - 1], std::move(found).error());
      }
      states.push_back(std::move(*found));
    }
    const std::vector<ScoredToken> tokens =
        evaluation::scored_tokens(batch, runner.ids_of(batch, first_chunk));
    INGOT_TRY(const std::vector<TokenFigures> figures,
              evaluation::compare_predictions(passes_, states, tokens));
    for (std::size_t chunk = 0; chunk < batch.chunk_count; ++chunk) {
      add_chunk(std::span(figures).subspan(chunk * scored_of_chunk(), scored_of_chunk()));
    }
    return {};
  }

  void add_chunk(std::span<const TokenFigures> figures) {
    const auto count = static_cast<double>(figures.size());
    double base_loss = 0.0;
    for (const TokenFigures& figure : figures) base_loss += figure.base_loss;
    result_.base.chunk_losses.push_back(base_loss / count);
    for (std::size_t i = 0; i < result_.others.size(); ++i) {
      ModelComparison& other = result_.others[i];
      double loss = 0.0;
      double divergence = 0.0;
      double same_top = 0.0;
      for (const TokenFigures& figure : figures) {
        loss += figure.others[i].loss;
        divergence += figure.others[i].divergence;
        same_top += figure.others[i].has_same_top ? 1.0 : 0.0;
        other.sorted_divergences.push_back(static_cast<float>(figure.others[i].divergence));
      }
      other.score.chunk_losses.push_back(loss / count);
      other.chunk_divergences.push_back(divergence / count);
      other.chunk_same_tops.push_back(same_top / count);
    }
  }

  const TextChunks& text_;
  const EvaluationOptions& options_;
  std::span<const Model* const> others_;
  std::vector<ForwardPass> passes_;  // the base first
  Evaluation result_;
};

}  // namespace

MeanEstimate mean_of_chunks(std::span<const double> chunk_means) {
  const auto count = static_cast<double>(chunk_means.size());
  double sum = 0.0;
  for (const double value : chunk_means) sum += value;
  const double mean = sum / count;
  double squares = 0.0;
  for (const double value : chunk_means) squares += (value - mean) * (value - mean);
  if (chunk_means.size() < 2) return {mean, std::numeric_limits<double>::quiet_NaN()};
  return {mean, std::sqrt(squares / (count - 1.0) / count)};
}

double ModelScore::perplexity() const noexcept { return std::exp(loss.mean); }

double ModelScore::perplexity_error() const noexcept { return perplexity() * loss.error; }

double ModelComparison::quantile(double share) const noexcept {
  if (sorted_divergences.empty()) return 0.0;
  const auto last = static_cast<double>(sorted_divergences.size() - 1);
  const double at = std::clamp(share, 0.0, 1.0) * last;
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, sorted_divergences.size() - 1);
  const double rest = at - static_cast<double>(below);
  return static_cast<double>(sorted_divergences[below]) * (1.0 - rest) +
         static_cast<double>(sorted_divergences[above]) * rest;
}

MeanEstimate Evaluation::difference(std::size_t a, std::size_t b) const {
  std::vector<double> differences(chunk_count);
  std::ranges::transform(others[a].chunk_divergences, others[b].chunk_divergences,
                         differences.begin(), std::minus<>());
  return mean_of_chunks(differences);
}

Result<Evaluation> join_evaluations(std::span<const Evaluation> parts) {
  if (parts.empty()) return fail(Errc::invalid_argument, "parts", "there are none");
  Evaluation all;
  all.chunk_tokens = parts[0].chunk_tokens;
  all.others.resize(parts[0].others.size());
  for (const Evaluation& part : parts) {
    if (part.chunk_tokens != all.chunk_tokens || part.others.size() != all.others.size() ||
        !is_whole(part)) {
      return fail(Errc::invalid_argument, "parts", "they are not of one evaluation");
    }
    all.chunk_count += part.chunk_count;
    all.scored_tokens += part.scored_tokens;
    append(all.base.chunk_losses, part.base.chunk_losses);
    for (std::size_t i = 0; i < all.others.size(); ++i) {
      append(all.others[i].score.chunk_losses, part.others[i].score.chunk_losses);
      append(all.others[i].chunk_divergences, part.others[i].chunk_divergences);
      append(all.others[i].chunk_same_tops, part.others[i].chunk_same_tops);
      append(all.others[i].sorted_divergences, part.others[i].sorted_divergences);
    }
  }
  summarize(all);
  return all;
}

Result<Evaluation> evaluate(const Model& base, std::span<const Model* const> others,
                            const TextChunks& text, const EvaluationOptions& options) {
  return Evaluator(text, options).run(base, others);
}

}  // namespace ingot
