// SPDX-License-Identifier: MIT
#include "evaluation/encoders/embedder.hpp"

#include <algorithm>

#include "ingot/embeddings.hpp"

namespace ingot::evaluation {
namespace {

/// Where a token of a chunk is.
struct Place {
  std::size_t panel;
  std::size_t lane;
};

Place place_of(const Batch& batch, std::size_t chunk, std::size_t token) {
  return {chunk * batch.panels_of_chunk() + token / panel_tokens, token % panel_tokens};
}

}  // namespace

std::string_view name_of(Pooling pooling) noexcept {
  switch (pooling) {
    case Pooling::none:
      return "none";
    case Pooling::mean:
      return "mean";
    case Pooling::first:
      return "first";
    case Pooling::last:
      return "last";
    case Pooling::rank:
      return "rank";
    case Pooling::unknown:
      break;
  }
  return "unknown";
}

Result<Embedder> Embedder::make(const Model& model, const EvaluationOptions& options) {
  INGOT_TRY(ForwardPass pass, ForwardPass::make(model, options));
  const Settings& settings = pass.network().settings;
  if (settings.pooling == Pooling::unknown) {
    return refuse_kind(settings.prefix + "pooling_type", "this way of pooling is unknown here");
  }
  return Embedder(std::move(pass));
}

std::size_t Embedder::vector_size() const noexcept {
  const std::vector<Matrix>& heads = network().heads;
  return heads.empty() ? network().settings.width : heads.back().row_count;
}

Panels Embedder::pool(const Batch& batch, const Panels& states) const {
  const std::size_t width = network().settings.width;
  const std::size_t tokens = batch.chunk_tokens;
  const std::size_t of_chunk = vectors_of(tokens);
  const std::size_t count = batch.chunk_count * of_chunk;
  Panels pooled(width, rounded_up(count, panel_tokens) / panel_tokens);
  std::fill_n(pooled.data(), pooled.size(), 0.0F);
  const auto read = [&](std::size_t chunk, std::size_t token, std::size_t feature) {
    const Place place = place_of(batch, chunk, token);
    return states.row(place.panel, feature)[place.lane];
  };
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t chunk = i / of_chunk;
    for (std::size_t f = 0; f < width; ++f) {
      float& to = pooled.row(i / panel_tokens, f)[i % panel_tokens];
      if (pooling() == Pooling::mean) {
        double sum = 0.0;
        for (std::size_t t = 0; t < tokens; ++t) sum += static_cast<double>(read(chunk, t, f));
        to = static_cast<float>(sum / static_cast<double>(tokens));
      } else {
        to = read(chunk, pooling() == Pooling::last ? tokens - 1 : i % of_chunk, f);
      }
    }
  }
  return pooled;
}

Result<void> Embedder::add_vectors(ChunkRunner& runner, const Batch& batch, std::size_t first_chunk,
                                   std::vector<float>& vectors) {
  INGOT_TRY(const Panels states, runner.run(pass_, batch, first_chunk));
  Panels made = pool(batch, states);
  for (const Matrix& head : network().heads) {
    Panels next(head.row_count, made.panel_count());
    INGOT_TRY_VOID(pass_.work().multiply(head, made, next));
    made = std::move(next);
  }
  for (std::size_t i = 0; i < batch.chunk_count * vectors_of(batch.chunk_tokens); ++i) {
    for (std::size_t f = 0; f < made.features(); ++f) {
      vectors.push_back(made.row(i / panel_tokens, f)[i % panel_tokens]);
    }
  }
  return {};
}

}  // namespace ingot::evaluation

namespace ingot {

using namespace evaluation;

ModelUses uses_of(const Model& model) {
  const Result<Settings> settings = read_settings(model);
  if (!settings) return {};
  return {.predicts = !settings->is_encoder,
          .makes_vectors = settings->is_encoder || settings->pooling != Pooling::none};
}

Result<Embeddings> compute_embeddings(const Model& model, const TextChunks& text,
                                      const EvaluationOptions& options) {
  INGOT_TRY_VOID(ChunkRunner::check(text, 1));
  INGOT_TRY(Embedder embedder, Embedder::make(model, options));
  ChunkRunner runner(text, options, embedder.network().layers.size());
  INGOT_TRY_VOID(runner.check_memory(embedder.pass().memory_for(runner.largest_batch())));
  Embeddings made{.values = {},
                  .size = embedder.vector_size(),
                  .pooling = std::string(evaluation::name_of(embedder.pooling()))};
  INGOT_TRY_VOID(runner.for_each_batch([&](const Batch& batch, std::size_t first_chunk) {
    return embedder.add_vectors(runner, batch, first_chunk, made.values);
  }));
  return made;
}

}  // namespace ingot
