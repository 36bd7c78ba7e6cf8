// SPDX-License-Identifier: MIT
// c_quick_start MODEL: a fact, and the first bytes of the first tensor.
#include <ingot/ingot.h>
#include <inttypes.h>
#include <stdio.h>

int main(int argc, char** argv) {
  const char* path = argc > 1 ? argv[1] : "model.gguf";
  ingot_model* model;
  ingot_error error;
  if (ingot_open(path, NULL, &model, &error) != INGOT_OK) {
    fprintf(stderr, "%s: %s\n", path, error.message);
    return 1;
  }
  uint64_t alignment = 32;  // stays if the key is absent
  ingot_get_u64(model, "general.alignment", &alignment, NULL);
  printf("tensors: %" PRIu64 ", alignment: %" PRIu64 "\n", ingot_tensor_count(model), alignment);

  ingot_tensor_info tensor = {.struct_size = sizeof tensor};
  const void* data;
  if (ingot_get_tensor_info(model, 0, &tensor, NULL) == INGOT_OK && tensor.size_bytes != 0 &&
      ingot_tensor_data(model, 0, &data, NULL, NULL) == INGOT_OK) {
    printf("%s, first byte %u\n", ingot_type_name(tensor.type), *(const unsigned char*)data);
  }
  ingot_close(model);
  return 0;
}
