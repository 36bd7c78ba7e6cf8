// SPDX-License-Identifier: MIT
#include "commands/evaluate/evaluation_run.hpp"

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
