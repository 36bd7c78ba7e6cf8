// SPDX-License-Identifier: MIT
// c_write_model OUT: writes a model with one tensor, then gives the file another name for itself.
#include <ingot/writer.h>
#include <stdio.h>

static ingot_code write_model(const char* path, ingot_error* error) {
  static const float scale[4] = {1.0F, 0.5F, 0.25F, 0.125F};
  const uint64_t dimensions[] = {4};
  const uint32_t context = 128;
  const ingot_string tokens[] = {{"<unk>", 5}, {"yes", 3}, {"no", 2}};
  const ingot_write_options options = {.struct_size = sizeof options, .may_replace = 1};
  ingot_writer* writer;
  ingot_code code = ingot_writer_new(&writer, error);
  if (code != INGOT_OK) return code;
  // The first failure ends the chain.
  if ((code = ingot_writer_set_string(writer, "general.architecture", "example", error)) ==
          INGOT_OK &&
      (code = ingot_writer_set(writer, "example.context_length", INGOT_VALUE_UINT32, &context,
                               error)) == INGOT_OK &&
      (code = ingot_writer_set_array(writer, "tokenizer.ggml.tokens", INGOT_VALUE_STRING, tokens, 3,
                                     error)) == INGOT_OK &&
      (code = ingot_writer_add_tensor(writer, "scale", INGOT_TYPE_F32, dimensions, 1, scale,
                                      error)) == INGOT_OK) {
    code = ingot_writer_write(writer, path, &options, error);
  }
  ingot_writer_free(writer);
  return code;
}

static ingot_code rename_model(const char* path, const char* name, ingot_error* error) {
  ingot_writer* writer;
  ingot_code code = ingot_writer_edit(path, &writer, error);
  if (code != INGOT_OK) return code;
  code = ingot_writer_set_string(writer, "general.name", name, error);
  if (code == INGOT_OK) code = ingot_writer_write(writer, NULL, NULL, error);
  ingot_writer_free(writer);
  return code;
}

int main(int argc, char** argv) {
  ingot_error error;
  if (argc != 2) return 2;
  if (write_model(argv[1], &error) != INGOT_OK ||
      rename_model(argv[1], "A small example", &error) != INGOT_OK) {
    fprintf(stderr, "%s: %s\n", argv[1], error.message);
    return 4;
  }
  return 0;
}
