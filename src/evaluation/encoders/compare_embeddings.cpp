// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <numeric>

#include "evaluation/encoders/embedder.hpp"
#include "ingot/embeddings.hpp"

namespace ingot {
namespace {

using namespace evaluation;

constexpr std::size_t max_neighbours = 1000;  // their comparison is quadratic

double product(std::span<const float> a, std::span<const float> b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  }
  return sum;
}

/// 1 less the cosine, as half the square of the distance of the unit vectors: exact where both are
/// nearly the same.
double distance_of(std::span<const float> a, std::span<const float> b) {
  const double size_a = std::sqrt(product(a, a));
  const double size_b = std::sqrt(product(b, b));
  if (size_a == 0.0 || size_b == 0.0) return size_a == size_b ? 0.0 : 1.0;
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double difference =
        static_cast<double>(a[i]) / size_a - static_cast<double>(b[i]) / size_b;
    sum += difference * difference;
  }
  return sum / 2.0;
}

/// The vectors of the chunks of one model.
class Chunks {
 public:
  Chunks(std::span<const float> values, std::size_t size)
      : values_(values), size_(size), sizes_(std::min(values.size() / size, max_neighbours)) {
    for (std::size_t i = 0; i < sizes_.size(); ++i) {
      sizes_[i] = std::sqrt(product(vector(i), vector(i)));
    }
  }

  [[nodiscard]] std::span<const float> vector(std::size_t i) const {
    return values_.subspan(i * size_, size_);
  }
  [[nodiscard]] std::size_t count() const noexcept { return sizes_.size(); }

  /// The other chunks, the nearest one first.
  [[nodiscard]] std::vector<std::size_t> neighbours_of(std::size_t chunk) const {
    std::vector<double> cosines(count());
    for (std::size_t i = 0; i < count(); ++i) {
      const double sizes = sizes_[i] * sizes_[chunk];
      cosines[i] = sizes == 0.0 ? 0.0 : product(vector(i), vector(chunk)) / sizes;
    }
    std::vector<std::size_t> order(count());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::erase(order, chunk);
    std::ranges::stable_sort(order, std::greater<>(), [&](std::size_t i) { return cosines[i]; });
    return order;
  }

 private:
  std::span<const float> values_;
  std::size_t size_;
  std::vector<double> sizes_;
};

/// The correlation of the places that things have in two orders of all but one of them.
double rank_correlation(const std::vector<std::size_t>& a, const std::vector<std::size_t>& b) {
  std::vector<double> places(a.size() + 1);
  for (std::size_t i = 0; i < b.size(); ++i) places[b[i]] = static_cast<double>(i);
  double squares = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double difference = static_cast<double>(i) - places[a[i]];
    squares += difference * difference;
  }
  const auto count = static_cast<double>(a.size());
  return 1.0 - 6.0 * squares / (count * (count * count - 1.0));
}

void compare_neighbours(const Chunks& base, const Chunks& own, EmbeddingComparison& other) {
  if (base.count() < 3) return;
  double same = 0.0;
  double order = 0.0;
  for (std::size_t i = 0; i < base.count(); ++i) {
    const std::vector<std::size_t> expected = base.neighbours_of(i);
    const std::vector<std::size_t> found = own.neighbours_of(i);
    same += expected[0] == found[0] ? 1.0 : 0.0;
    order += rank_correlation(expected, found);
  }
  const auto count = static_cast<double>(base.count());
  other.same_neighbour = same / count;
  other.neighbour_order = order / count;
}

EmbeddingComparison compare_vectors(const Embeddings& base, const Embeddings& own,
                                    std::size_t chunk_count) {
  const std::size_t of_chunk = base.count() / chunk_count;
  EmbeddingComparison other;
  for (std::size_t chunk = 0; chunk < chunk_count; ++chunk) {
    double sum = 0.0;
    for (std::size_t v = chunk * of_chunk; v < (chunk + 1) * of_chunk; ++v) {
      sum += distance_of(base.vector(v), own.vector(v));
    }
    other.chunk_distances.push_back(sum / static_cast<double>(of_chunk));
  }
  other.distance = mean_of_chunks(other.chunk_distances);
  if (base.pooling != evaluation::name_of(Pooling::none)) {
    compare_neighbours(Chunks(base.values, base.size), Chunks(own.values, own.size), other);
  }
  return other;
}

/// One comparison.
class Comparer {
 public:
  Comparer(const TextChunks& text, const EvaluationOptions& options)
      : text_(text), options_(options) {}

  Result<EmbeddingEvaluation> run(const Model& base, std::span<const Model* const> others) {
    INGOT_TRY_VOID(ChunkRunner::check(text_, 1));
    INGOT_TRY_VOID(add(base));
    for (const Model* other : others) {
      Result<void> added = add(*other);
      if (!added) return fail_in(*other, std::move(added.error()));
    }
    std::uint64_t layers = 0;
    for (const Embedder& embedder : embedders_) layers += embedder.network().layers.size();
    ChunkRunner runner(text_, options_, layers);
    std::uint64_t memory = 0;
    for (const Embedder& embedder : embedders_) {
      memory = std::max(memory, embedder.memory_for(runner.largest_batch()));
    }
    INGOT_TRY_VOID(runner.check_memory(memory));
    std::vector<Embeddings> models;
    for (const Embedder& embedder : embedders_) {
      models.push_back({.values = {},
                        .size = embedder.vector_size(),
                        .pooling = std::string(evaluation::name_of(embedder.pooling()))});
    }
    INGOT_TRY_VOID(runner.for_each_batch([&](const Batch& batch, std::size_t first) {
      return run_batch(runner, batch, first, others, models);
    }));
    return compare_embeddings(models, text_.chunk_count(), text_.chunk_tokens);
  }

 private:
  static Failure fail_in(const Model& other, Error error) {
    error.context.push_back(other.files().front().path);
    return ingot::fail(std::move(error));
  }

  Result<void> add(const Model& model) {
    INGOT_TRY(Embedder embedder, Embedder::make(model, options_));
    if (!embedders_.empty()) {
      const Embedder& base = embedders_.front();
      INGOT_TRY_VOID(check_same("vocabulary", embedder.network().vocabulary_size(),
                                base.network().vocabulary_size()));
      INGOT_TRY_VOID(check_same("vector", embedder.vector_size(), base.vector_size()));
      INGOT_TRY_VOID(check_same("chunk", embedder.vectors_of(text_.chunk_tokens),
                                base.vectors_of(text_.chunk_tokens)));
    }
    embedders_.push_back(std::move(embedder));
    return {};
  }

  static Result<void> check_same(const std::string& what, std::size_t own, std::size_t base) {
    if (own == base) return {};
    return fail(Errc::invalid_argument, "model",
                "the size of its " + what + " is " + std::to_string(own) + ", that of the base " +
                    std::to_string(base));
  }

  Result<void> run_batch(ChunkRunner& runner, const Batch& batch, std::size_t first,
                         std::span<const Model* const> others, std::vector<Embeddings>& models) {
    for (std::size_t i = 0; i < embedders_.size(); ++i) {
      std::vector<float>& values = models[i].values;
      Result<void> done = embedders_[i].add_vectors(runner, batch, first, values);
      const bool is_finite =
          std::ranges::all_of(values, [](float value) { return std::isfinite(value); });
      if (done && !is_finite) {
        done = fail(Errc::weight_not_finite, "vector", "an output is not a number");
      }
      if (done) continue;
      if (i == 0) return done;
      return fail_in(*others[i - 1], std::move(done.error()));
    }
    return {};
  }

  const TextChunks& text_;
  const EvaluationOptions& options_;
  std::vector<Embedder> embedders_;  // the base first
};

}  // namespace

MeanEstimate EmbeddingEvaluation::difference(std::size_t a, std::size_t b) const {
  std::vector<double> differences(chunk_count);
  std::ranges::transform(others[a].chunk_distances, others[b].chunk_distances, differences.begin(),
                         std::minus<>());
  return mean_of_chunks(differences);
}

Result<EmbeddingEvaluation> compare_embeddings(std::span<const Embeddings> models,
                                               std::size_t chunk_count, std::size_t chunk_tokens) {
  if (models.empty() || chunk_count == 0 || models[0].count() == 0 ||
      models[0].count() % chunk_count != 0) {
    return fail(Errc::invalid_argument, "embeddings", "the base has no vectors of every chunk");
  }
  const Embeddings& base = models[0];
  EmbeddingEvaluation result{.chunk_count = chunk_count,
                             .chunk_tokens = chunk_tokens,
                             .vector_size = base.size,
                             .pooling = base.pooling,
                             .others = {}};
  for (const Embeddings& own : models.subspan(1)) {
    if (own.size != base.size || own.values.size() != base.values.size()) {
      return fail(Errc::invalid_argument, "embeddings", "the base has other vectors, or more");
    }
    result.others.push_back(compare_vectors(base, own, chunk_count));
  }
  return result;
}

Result<EmbeddingEvaluation> compare_embeddings(const Model& base,
                                               std::span<const Model* const> others,
                                               const TextChunks& text,
                                               const EvaluationOptions& options) {
  return Comparer(text, options).run(base, others);
}

}  // namespace ingot
