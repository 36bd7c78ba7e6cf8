// SPDX-License-Identifier: MIT
// cpp_chat_prompt MODEL TEXT: the prompt of a conversation, and its token ids.
#include <ingot/chat_prompt.hpp>
#include <ingot/model.hpp>
#include <iostream>

int main(int argc, char** argv) {
  const char* path = argc > 1 ? argv[1] : "model.gguf";
  const auto model = ingot::Model::open(path);
  if (!model) return std::cerr << model.error().message() << '\n', 1;
  const auto chat = ingot::ChatTemplate::make(*model);
  if (!chat) return std::cerr << ingot::chat_error_text(chat.error()) << '\n', 1;
  const auto tokenizer = ingot::Tokenizer::make(*model);
  if (!tokenizer) return std::cerr << tokenizer.error().message() << '\n', 1;

  const auto messages = ingot::ChatValue::list({
      ingot::chat_message("system", "Be brief."),
      ingot::chat_message("user", argc > 2 ? argv[2] : "What is 2 + 2?"),
  });
  const auto prompt = ingot::encode_chat(*tokenizer, *chat, messages);
  if (!prompt) return std::cerr << ingot::chat_error_text(prompt.error()) << '\n', 1;
  std::cout << prompt->text.text << '\n';
  for (const ingot::TokenId id : prompt->ids) std::cout << id << ' ';
  std::cout << '\n';
}
