// SPDX-License-Identifier: MIT
// c_tokenize MODEL TEXT: the ids of a text, and the text that they give.
#include <ingot/tokenizer.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char** argv) {
  const char* path = argc > 1 ? argv[1] : "model.gguf";
  const char* text = argc > 2 ? argv[2] : "Hello world";
  ingot_model* model;
  ingot_tokenizer* tokenizer;
  ingot_error error;
  if (ingot_open(path, NULL, &model, &error) != INGOT_OK) {
    fprintf(stderr, "%s: %s\n", path, error.message);
    return 1;
  }
  const ingot_code made = ingot_tokenizer_make(model, NULL, &tokenizer, &error);
  ingot_close(model);  // the tokenizer needs it no longer
  if (made != INGOT_OK) {
    fprintf(stderr, "%s: %s\n", path, error.message);
    return 1;
  }

  const ingot_string input = {text, strlen(text)};
  ingot_token ids[256];
  const size_t room = sizeof ids / sizeof ids[0];
  size_t count;
  if (ingot_encode(tokenizer, input, INGOT_ADD_SPECIAL, ids, room, &count, &error) != INGOT_OK) {
    fprintf(stderr, "%s\n", error.message);
    return 1;
  }
  if (count > room) count = room;
  for (size_t i = 0; i < count; ++i) printf("%d ", ids[i]);

  char decoded[4096];
  size_t size;
  if (ingot_decode(tokenizer, ids, count, INGOT_REMOVE_SPECIAL, decoded, sizeof decoded, &size,
                   &error) == INGOT_OK) {
    printf("\n%.*s\n", (int)(size < sizeof decoded ? size : sizeof decoded), decoded);
  }
  ingot_tokenizer_free(tokenizer);
  return 0;
}
