// SPDX-License-Identifier: MIT
// c_chat_prompt MODEL TEXT: the prompt of a conversation, and its token ids.
#include <ingot/chat.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char** argv) {
  const char* question = argc > 2 ? argv[2] : "What is 2 + 2?";
  ingot_model* model;
  ingot_tokenizer* tokenizer;
  ingot_chat_template* chat;
  ingot_chat_value* messages;
  ingot_chat_text* prompt;
  ingot_error error;
  if (ingot_open(argc > 1 ? argv[1] : "model.gguf", NULL, &model, &error) ||
      ingot_tokenizer_make(model, NULL, &tokenizer, &error) ||
      ingot_chat_template_make(model, NULL, &chat, NULL, &error) ||
      ingot_chat_value_make(&messages, &error)) {
    return fprintf(stderr, "%s\n", error.message), 1;
  }
  ingot_chat_begin_list(messages);
  ingot_chat_add_message(messages, "system", (ingot_string){"Be brief.", 9});
  ingot_chat_add_message(messages, "user", (ingot_string){question, strlen(question)});
  ingot_chat_end(messages);
  ingot_token ids[4096];
  size_t count;
  if (ingot_chat_render(chat, messages, NULL, &prompt, NULL, &error) ||
      ingot_chat_encode(tokenizer, prompt, 0, ids, NULL, 4096, &count, &error)) {
    return fprintf(stderr, "%s\n", error.message), 1;
  }
  for (size_t i = 0; i < count && i < 4096; ++i) printf("%d ", ids[i]);
  printf("\n");
  ingot_chat_text_free(prompt);
  ingot_chat_value_free(messages);
  ingot_chat_template_free(chat);
  ingot_tokenizer_free(tokenizer);
  ingot_close(model);
  return 0;
}
