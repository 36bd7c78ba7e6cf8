// SPDX-License-Identifier: MIT
#include "evaluation/chunk_runner.hpp"

namespace ingot::evaluation {

Result<void> check_chunk_tokens(std::size_t chunk_tokens, std::size_t fewest) {
  if (chunk_tokens >= fewest && chunk_tokens <= max_chunk_tokens) return {};
  return fail(Errc::invalid_argument, "chunk_tokens",
              std::to_string(chunk_tokens) + "; from " + std::to_string(fewest) + " to " +
                  std::to_string(max_chunk_tokens) + " are supported");
}

Result<void> ChunkRunner::check(const TextChunks& text, std::size_t fewest_tokens) {
  INGOT_TRY_VOID(check_chunk_tokens(text.chunk_tokens, fewest_tokens));
  if (text.ids.empty() || text.ids.size() % text.chunk_tokens != 0) {
    return fail(Errc::invalid_argument, "text",
                std::to_string(text.ids.size()) + " tokens are no whole chunks of " +
                    std::to_string(text.chunk_tokens));
  }
  return {};
}

Result<void> ChunkRunner::check_memory(std::uint64_t bytes) const {
  if (bytes <= options_.max_memory_bytes) return {};
  return fail(Errc::limit_exceeded, "memory",
              "the activations of a chunk need " + std::to_string(bytes) + " bytes; " +
                  std::to_string(options_.max_memory_bytes) +
                  " are allowed; shorter chunks need less");
}

Result<Panels> ChunkRunner::run(ForwardPass& pass, const Batch& batch, std::size_t first_chunk) {
  return pass.run(batch, ids_of(batch, first_chunk), [&] { return count_layer(batch); });
}

}  // namespace ingot::evaluation
