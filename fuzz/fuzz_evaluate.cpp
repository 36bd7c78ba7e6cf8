// SPDX-License-Identifier: MIT
// Property: whatever opens is refused with an error that is not `internal`, or runs: within bounds
// of time and memory, without divergence from itself, and with an importance for each input.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "ingot/embeddings.hpp"
#include "ingot/evaluate.hpp"

namespace {

using namespace ingot;

void require(bool condition) {
  if (!condition) std::abort();
}

template <class T>
bool has_value(const Result<T>& result) {
  require(result.has_value() || result.error().code != Errc::internal);
  return result.has_value();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto model = Model::open_memory(std::as_bytes(std::span(data, size)));
  if (!model) return 0;
  TextChunks text;
  text.chunk_tokens = min_chunk_tokens;
  for (std::size_t i = 0; i < 2 * min_chunk_tokens; ++i) text.ids.push_back(data[i % size] % 4);
  EvaluationOptions options;
  options.thread_count = 1;
  options.max_memory_bytes = std::uint64_t{64} << 20;
  const auto chunks = chunks_of(*model, "The quick brown fox jumps over it", min_chunk_tokens, 2);
  if (has_value(chunks)) {
    require(chunks->chunk_count() > 0);
    text = *chunks;
  }
  const Model* others[] = {&*model};
  const auto found = evaluate(*model, others, text, options);
  if (has_value(found)) {
    require(found->others[0].divergence.mean == 0.0);
    require(found->others[0].quantile(1.0) == 0.0);
    require(found->difference(0, 0).mean == 0.0);
    require(found->base.perplexity() > 0.0);
    require(!(found->base.perplexity_error() < 0.0));
    require(mean_of_chunks(found->base.chunk_losses).mean == found->base.loss.mean);
    const auto joined = join_evaluations(std::span(&*found, 1));
    require(joined && joined->base.loss.mean == found->base.loss.mean);
  }
  const auto part = part_of_text(text, 0, max_text_parts(text));
  require(part && !part->ids.empty());
  require(usual_chunk_tokens(*model) <= 512);
  require(uses_of(*model).predicts || uses_of(*model).makes_vectors);
  const auto pieces = embedding_chunks_of(*model, "The quick brown fox", min_chunk_tokens, 2);
  if (has_value(pieces)) {
    has_value(compute_embeddings(*model, *pieces, options));
    const auto compared = compare_embeddings(*model, others, *pieces, options);
    if (has_value(compared)) require(!(compared->others[0].distance.mean > 1e-6));
  }
  has_value(compute_logits(*model, text, options));
  has_value(measure_sensitivities(*model, text, {.run = options}));
  const auto importance = collect_importance(*model, text, {.run = options, .moment_columns = 5});
  if (has_value(importance)) require(!importance->entries().empty());
  return 0;
}
