// SPDX-License-Identifier: MIT
// Property: the bytes of a tokenizer.model are refused with an offset inside them, or are pieces
// that lie inside them and become tokens with scores and kinds.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "byte_input.hpp"
#include "huggingface/import/tokenizer/sentencepiece_model.hpp"
#include "huggingface/import/tokenizer/tokenizer_keys.hpp"
#include "ingot/store.hpp"

namespace {

using namespace ingot;

void check_keys(std::string_view bytes) {
  MemoryStore store;
  store.add("m/tokenizer.model", std::as_bytes(std::span(bytes)));
  const auto folder = huggingface::ModelFolder::open(store, "m");
  const auto config = huggingface::Config::parse(R"({"architectures": ["X"]})", "config.json");
  fuzz::require(folder.has_value() && config.has_value());
  for (const char* step : {"spm", "phi3", "internlm2"}) {
    huggingface::KeyPlan keys;
    std::vector<Error> remarks;
    fuzz::require(
        huggingface::add_tokenizer_keys(*folder, *config, "llama", {step}, {}, keys, remarks)
            .has_value());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto model = huggingface::parse_sentencepiece(bytes, "tokenizer.model");
  if (!model) {
    const Error& error = model.error();
    fuzz::require(error.code == Errc::import_refused || error.code == Errc::limit_exceeded);
    fuzz::require(error.file_offset == Error::no_offset || error.file_offset <= size);
    return 0;
  }
  for (const huggingface::SentencePiece& piece : model->pieces) {
    fuzz::require(piece.type >= huggingface::SentencePiece::normal &&
                  piece.type <= huggingface::SentencePiece::byte);
    const bool is_inside =
        piece.text.empty() || (piece.text.data() >= bytes.data() &&
                               piece.text.data() + piece.text.size() <= bytes.data() + size);
    fuzz::require(is_inside);
  }
  check_keys(bytes);
  return 0;
}
