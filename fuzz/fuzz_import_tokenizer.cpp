// SPDX-License-Identifier: MIT
// Property: whatever the files of a tokenizer hold, they are refused, or give keys in which every
// token has a kind, and which are a model that opens.

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "byte_input.hpp"
#include "huggingface/import/tokenizer/tokenizer_keys.hpp"
#include "ingot/metadata_keys.hpp"
#include "ingot/store.hpp"

namespace {

using namespace ingot;

constexpr std::array<const char*, 12> steps = {
    "gpt2", "spm",       "spm_or_gpt2", "llama", "gemma3",    "phi3",
    "bert", "internlm2", "internlm3",   "glm4",  "gemma_fim", "no_space_prefix"};

/// The files that the input is cut into, at bytes 0xFF, which no text of theirs has.
constexpr std::array<const char*, 9> names = {
    "m/tokenizer.json", "m/tokenizer_config.json", "m/added_tokens.json",
    "m/merges.txt",     "m/chat_template.json",    "m/vocab.json",
    "m/vocab.txt",      "m/config.json",           "m/tekken.json"};

void check(const huggingface::ModelFolder& folder, const huggingface::Config& config,
           const char* step) {
  huggingface::KeyPlan keys;
  std::vector<Error> remarks;
  const auto outcome =
      huggingface::add_tokenizer_keys(folder, config, "llama", {step}, {}, keys, remarks);
  if (!outcome) {
    fuzz::require(outcome.error().code != Errc::internal);
    return;
  }
  const auto tokens = keys.find(keys::tokenizer_ggml_tokens);
  const auto kinds = keys.find(keys::tokenizer_ggml_token_type);
  fuzz::require(tokens.has_value() == kinds.has_value());
  if (tokens) fuzz::require(tokens->as_array().size() == kinds->as_array().size());
  fuzz::require(keys.writer().serialise_header().has_value());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::ByteInput input(data, size);
  const char* const step = steps[input.take<std::uint8_t>() % steps.size()];
  std::string rest = input.rest();
  std::vector<std::string> texts;
  for (std::size_t at = 0; texts.size() < names.size() && at <= rest.size();) {
    const std::size_t end = std::min(rest.find('\xFF', at), rest.size());
    texts.push_back(rest.substr(at, end - at));
    at = end + 1;
  }
  MemoryStore store;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (!texts[i].empty()) store.add(names[i], std::as_bytes(std::span(texts[i])));
  }
  store.add("m/README.md", {});
  const auto folder = huggingface::ModelFolder::open(store, "m");
  fuzz::require(folder.has_value());
  auto config = huggingface::Config::read(*folder);
  if (!config)
    config = huggingface::Config::parse(R"({"architectures": ["X"], "vocab_size": 300})", "c");
  fuzz::require(config.has_value());
  check(*folder, *config, step);
  return 0;
}
