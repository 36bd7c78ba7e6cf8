// SPDX-License-Identifier: MIT
#include <algorithm>

#include "evaluation/chunk_runner.hpp"
#include "ingot/embeddings.hpp"
#include "ingot/error.hpp"

namespace ingot {
namespace {

using Ids = std::vector<TokenId>;

/// Cuts ids into chunks, each with what the tokenizer adds before and behind a text.
TextChunks cut(std::span<const TokenId> body, std::span<const TokenId> before,
               std::span<const TokenId> behind, std::size_t chunk_tokens, std::size_t max_chunks) {
  TextChunks chunks;
  chunks.chunk_tokens = chunk_tokens;
  const std::size_t own = chunk_tokens - before.size() - behind.size();
  std::size_t count = body.size() / own;
  if (max_chunks > 0) count = std::min(count, max_chunks);
  for (std::size_t i = 0; i < count; ++i) {
    const auto part = body.subspan(i * own, own);
    for (const auto ids : {before, part, behind}) {
      chunks.ids.insert(chunks.ids.end(), ids.begin(), ids.end());
    }
  }
  return chunks;
}

}  // namespace

Result<TextChunks> embedding_chunks_of(const Model& model, std::string_view text,
                                       std::size_t chunk_tokens, std::size_t max_chunks) {
  const std::uint64_t context = evaluation::context_of(model);
  const std::size_t usual = usual_chunk_tokens(model);
  if (chunk_tokens > 0) INGOT_TRY_VOID(evaluation::check_chunk_tokens(chunk_tokens));
  INGOT_TRY(const Tokenizer tokenizer, Tokenizer::make(model));
  INGOT_TRY(Ids whole, tokenizer.encode(text));
  if (text.empty() || whole.empty()) return fail(Errc::invalid_argument, "text", "it is empty");
  const std::uint64_t most =
      chunk_tokens > 0 ? chunk_tokens : std::max<std::uint64_t>(context, usual);
  if (whole.size() <= std::min<std::uint64_t>(most, max_chunk_tokens)) {
    const std::size_t size = whole.size();
    return TextChunks{std::move(whole), size};
  }
  INGOT_TRY(const Ids body, tokenizer.encode(text, {.add_special = false}));
  const std::size_t added = whole.size() - std::min(body.size(), whole.size());
  const bool has_bos = added > 0 && tokenizer.flags().adds_bos;
  const std::size_t size = chunk_tokens > 0 ? chunk_tokens : usual;
  if (added >= size) {
    return fail(Errc::invalid_argument, "chunk_tokens",
                "the tokenizer adds " + std::to_string(added) + " tokens to each text");
  }
  const std::span ids(whole);
  return cut(body, ids.first(has_bos ? 1 : 0), ids.last(added - (has_bos ? 1 : 0)), size,
             max_chunks);
}

}  // namespace ingot
