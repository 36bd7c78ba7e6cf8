// SPDX-License-Identifier: MIT
// c_list_tensors MODEL: name, type, shape and size of every tensor.
#include <ingot/ingot.h>
#include <inttypes.h>
#include <stdio.h>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  ingot_model* model;
  ingot_error error;
  if (ingot_open(argv[1], NULL, &model, &error) != INGOT_OK) {
    fprintf(stderr, "%s: %s\n", argv[1], error.message);
    return 3;
  }
  for (uint64_t i = 0; i < ingot_tensor_count(model); ++i) {
    ingot_tensor_info tensor = {.struct_size = sizeof tensor};
    if (ingot_get_tensor_info(model, i, &tensor, &error) != INGOT_OK) break;
    char name[256];  // names may hold anything: escape them before they reach a terminal
    if (ingot_escape(tensor.name, name, sizeof name) != INGOT_OK) continue;
    printf("%-32s %-8s", name, ingot_type_name(tensor.type));
    for (uint32_t d = 0; d < tensor.dimension_count; ++d) {
      printf("%s%" PRIu64, d == 0 ? " " : " x ", tensor.dimensions[d]);
    }
    printf(", %" PRIu64 " bytes\n", tensor.size_bytes);
  }
  ingot_close(model);
  return 0;
}
