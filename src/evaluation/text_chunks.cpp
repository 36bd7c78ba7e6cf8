// SPDX-License-Identifier: MIT
#include <algorithm>

#include "evaluation/chunk_runner.hpp"
#include "ingot/error.hpp"
#include "ingot/evaluate.hpp"
#include "ingot/metadata_keys.hpp"

namespace ingot {

std::uint64_t evaluation::context_of(const Model& model) {
  const auto architecture = model.get_or(keys::general_architecture, std::string_view());
  const std::string key = std::string(architecture) + "." + std::string(suffixes::context_length);
  return model.get_or(key, std::uint64_t{0});
}

std::size_t usual_chunk_tokens(const Model& model) {
  constexpr std::uint64_t usual = 512;
  const std::uint64_t context = evaluation::context_of(model);
  return static_cast<std::size_t>(context == 0 ? usual : std::min(context, usual));
}

Result<TextChunks> chunks_of(const Model& model, std::string_view text, std::size_t chunk_tokens,
                             std::size_t max_chunks) {
  if (chunk_tokens == 0) chunk_tokens = usual_chunk_tokens(model);
  INGOT_TRY_VOID(evaluation::check_chunk_tokens(chunk_tokens));
  INGOT_TRY(const Tokenizer tokenizer, Tokenizer::make(model));
  TextChunks chunks;
  chunks.chunk_tokens = chunk_tokens;
  INGOT_TRY(chunks.ids, tokenizer.encode(text));
  std::size_t count = chunks.ids.size() / chunk_tokens;
  if (count == 0) {
    return fail(Errc::invalid_argument, "text",
                "it has " + std::to_string(chunks.ids.size()) + " tokens; a chunk needs " +
                    std::to_string(chunk_tokens));
  }
  if (max_chunks > 0) count = std::min(count, max_chunks);
  chunks.ids.resize(count * chunk_tokens);
  const TokenId bos = tokenizer.special(SpecialToken::bos);
  if (tokenizer.flags().adds_bos && bos != no_token) {
    for (std::size_t i = 0; i < count; ++i) chunks.ids[i * chunk_tokens] = bos;
  }
  return chunks;
}

std::size_t max_text_parts(const TextChunks& text) noexcept {
  const std::size_t batch = evaluation::chunks_of_batch(text);
  return (text.chunk_count() + batch - 1) / batch;
}

Result<TextChunks> part_of_text(const TextChunks& text, std::size_t index, std::size_t count) {
  const std::size_t most = max_text_parts(text);
  if (index >= count || count > most) {
    return fail(Errc::invalid_argument, "part",
                "there is no part " + std::to_string(index + 1) + " of " + std::to_string(count) +
                    "; the text has at most " + std::to_string(most));
  }
  const std::size_t batch_ids = evaluation::chunks_of_batch(text) * text.chunk_tokens;
  const auto begin_of = [&](std::size_t part) {
    const std::size_t batches = most / count * part + most % count * part / count;
    return text.ids.begin() +
           static_cast<std::ptrdiff_t>(std::min(batches * batch_ids, text.ids.size()));
  };
  return TextChunks{{begin_of(index), begin_of(index + 1)}, text.chunk_tokens};
}

}  // namespace ingot
