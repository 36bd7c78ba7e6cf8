// SPDX-License-Identifier: MIT
// cpp_tokenize MODEL TEXT: each token of a text with its id and its bytes.
#include <ingot/text.hpp>
#include <ingot/tokenizer.hpp>
#include <iostream>

int main(int argc, char** argv) {
  const char* path = argc > 1 ? argv[1] : "model.gguf";
  const std::string text = argc > 2 ? argv[2] : "Hello world";
  const auto model = ingot::Model::open(path);
  if (!model) {
    std::cerr << path << ": " << model.error().message() << '\n';
    return 1;
  }
  const auto tokenizer = ingot::Tokenizer::make(*model);
  if (!tokenizer) {
    std::cerr << path << ": " << tokenizer.error().message() << '\n';
    return 1;
  }
  const auto tokens = tokenizer->encode_with_offsets(text);
  if (!tokens) return 1;
  for (std::size_t i = 0; i < tokens->ids.size(); ++i) {
    const ingot::TokenId id = tokens->ids[i];
    const ingot::ByteRange range = tokens->ranges[i];
    std::cout << id << " \"" << ingot::escape(tokenizer->piece(id)) << "\" bytes " << range.begin
              << " to " << range.end << '\n';
  }
  std::cout << *tokenizer->decode(tokens->ids, {.remove_special = true}) << '\n';
  return 0;
}
