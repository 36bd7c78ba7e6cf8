// SPDX-License-Identifier: MIT
// The interface from plain C11: that it compiles, links, and works without any C++ in sight.
#include <ingot/ingot.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failure_count = 0;

#define EXPECT(condition)                                             \
  do {                                                                \
    if (!(condition)) {                                               \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
      ++failure_count;                                                \
    }                                                                 \
  } while (0)

// Version 3, one tensor, two keys.
static const unsigned char model_bytes[] = {
    'G', 'G', 'U', 'F', 3, 0, 0, 0,                        // magic, version
    1,   0,   0,   0,   0, 0, 0, 0,                        // tensor count
    2,   0,   0,   0,   0, 0, 0, 0,                        // key count
    1,   0,   0,   0,   0, 0, 0, 0, 'a', 0,   0, 0, 0, 7,  // "a", uint8, 7
    1,   0,   0,   0,   0, 0, 0, 0, 'b', 8,   0, 0, 0,     // "b", string,
    2,   0,   0,   0,   0, 0, 0, 0, 'h', 'i',              // "hi"
    1,   0,   0,   0,   0, 0, 0, 0, 't', 1,   0, 0, 0,     // "t", one dimension,
    4,   0,   0,   0,   0, 0, 0, 0,                        // of 4,
    24,  0,   0,   0,   0, 0, 0, 0, 0,   0,   0, 0,        // I8, at 0
    0,   0,                                                // padding to 32
    10,  20,  30,  40,                                     // data
};

static void look_at(const ingot_model* model) {
  ingot_error error;
  EXPECT(ingot_key_count(model) == 2);
  EXPECT(ingot_find_key(model, "b") == 1);

  uint64_t number = 0;
  EXPECT(ingot_get_u64(model, "a", &number, &error) == INGOT_OK);
  EXPECT(number == 7);
  ingot_string text = {NULL, 0};
  EXPECT(ingot_get_string(model, "b", &text, &error) == INGOT_OK);
  EXPECT(text.size == 2 && memcmp(text.data, "hi", 2) == 0);
  EXPECT(ingot_get_u64(model, "b", &number, &error) == INGOT_ERROR_WRONG_TYPE);
  EXPECT(error.code == INGOT_ERROR_WRONG_TYPE);
  EXPECT(strlen(error.message) < sizeof error.message);
  EXPECT(number == 7);

  ingot_value value = {{0}};
  EXPECT(ingot_value_type(&value) == -1);
  EXPECT(ingot_get_value(model, "a", &value, NULL) == INGOT_OK);
  EXPECT(ingot_value_type(&value) == INGOT_VALUE_UINT8);

  ingot_tensor_info tensor = {.struct_size = sizeof tensor};
  EXPECT(ingot_get_tensor_info(model, 0, &tensor, NULL) == INGOT_OK);
  EXPECT(tensor.type == INGOT_TYPE_I8);
  EXPECT(tensor.size_bytes == 4);
  unsigned char data[4] = {0};
  EXPECT(ingot_read_tensor(model, 0, 0, data, sizeof data, NULL) == INGOT_OK);
  EXPECT(data[0] == 10 && data[3] == 40);
}

static int read_bytes(void* user, uint64_t file_offset, void* destination, size_t size_bytes) {
  int* call_count = user;
  ++*call_count;
  memcpy(destination, model_bytes + file_offset, size_bytes);
  return 0;
}

int main(void) {
  EXPECT(ingot_abi_version() == INGOT_ABI_VERSION);
  EXPECT(strcmp(ingot_version(), INGOT_VERSION_STRING) == 0);

  ingot_model* model = NULL;
  EXPECT(ingot_open_memory(model_bytes, sizeof model_bytes, NULL, &model, NULL) == INGOT_OK);
  look_at(model);
  ingot_close(model);

  int call_count = 0;
  model = NULL;
  const ingot_open_options options = {.struct_size = sizeof options, .max_keys = 2};
  EXPECT(ingot_open_callback(sizeof model_bytes, read_bytes, &call_count, &options, &model, NULL) ==
         INGOT_OK);
  look_at(model);
  ingot_close(model);
  EXPECT(call_count > 0);

  ingot_error error;
  EXPECT(ingot_open("", NULL, &model, &error) != INGOT_OK);
  ingot_close(NULL);
  return failure_count == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
