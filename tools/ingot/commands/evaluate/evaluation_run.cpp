// SPDX-License-Identifier: MIT
#include "commands/evaluate/evaluation_run.hpp"

#include <fmt/core.h>

#include <ingot/digest.hpp>
#include <ingot/text.hpp>

#include "text/model_facts.hpp"
#include "text/whole_file.hpp"

namespace ingot::cli {

void add_text_options(CLI::App& command, TextRequest& request) {
  add_text(command, "--text", request.file, "FILE",
           "The text to predict, UTF-8; - is standard input");
  add_number(command, "--ctx-size", request.chunk_tokens, min_chunk_tokens, max_chunk_tokens,
             "Tokens of a chunk; default: the smaller of 512 and the context of the model");
  add_number(command, "--chunks", request.max_chunks, 1, std::uint64_t{1} << 40,
             "Use only the first chunks of the text; default: all");
}

void add_part_options(CLI::App& command, PartRequest& request, bool has_join) {
  add_text(command, "--part", request.text, "I/N",
           "Only the I-th of N parts of the work; `ingot plan-work` plans all of them");
  if (!has_join) return;
  add_texts(command, "--join", request.files, "FILE",
            "Compute nothing: make the result of the parts in these files");
}

std::string PartRequest::resolve() {
  if (text.empty()) return {};
  if (!files.empty()) return "--part makes a part, --join joins them; give one";
  part = parse_shard_part(text);
  if (part) return {};
  return "--part must be I/N, the I-th of N parts, I from 1 to N, not \"" + escape(text) + "\"";
}

std::string basis_of(std::span<const Model* const> models, const TextChunks& text,
                     const std::string& settings) {
  Digest digest(DigestAlgorithm::xxh3_128);
  std::string facts = fmt::format("{}\n{}\n", settings, text.chunk_tokens);
  for (const Model* model : models) facts += sample_digest(*model).value_or("") + "\n";
  digest.update(std::as_bytes(std::span(facts)));
  for (const TokenId id : text.ids) {
    const std::string number = fmt::format("{} ", id);
    digest.update(std::as_bytes(std::span(number)));
  }
  return digest.finish();
}

std::string add_part(std::vector<bool>& seen, std::uint64_t number, std::uint64_t count) {
  if (count != seen.size()) {
    return fmt::format("it is one of {} parts, but {} files are given", count, seen.size());
  }
  if (number == 0 || number > count) return fmt::format("there is no part {} of {}", number, count);
  if (seen[number - 1]) return fmt::format("part {} is there twice", number);
  seen[number - 1] = true;
  return {};
}

bool compares_vectors(const Model& base, bool has_others) {
  const ModelUses uses = uses_of(base);
  return uses.makes_vectors && (!uses.predicts || has_others);
}

Result<TextChunks> read_chunks(const TextRequest& request, const Model& model,
                               const std::string& model_file, std::string& failed,
                               ChunksOf purpose) {
  failed = request.file;
  INGOT_TRY(const std::string text, read_whole(request.file));
  std::size_t size = static_cast<std::size_t>(request.chunk_tokens);
  const auto count = static_cast<std::size_t>(request.max_chunks);
  const bool is_either = purpose == ChunksOf::either;
  const bool has_vectors = is_either ? !uses_of(model).predicts : purpose == ChunksOf::vectors;
  if (is_either && has_vectors && size == 0) size = usual_chunk_tokens(model);
  Result<TextChunks> chunks = has_vectors ? embedding_chunks_of(model, text, size, count)
                                          : chunks_of(model, text, size, count);
  // A text that is too short is about the text, all else about the tokenizer.
  if (!chunks && chunks.error().code != Errc::invalid_argument) failed = model_file;
  return chunks;
}

}  // namespace ingot::cli
