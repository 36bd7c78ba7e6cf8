// SPDX-License-Identifier: MIT
// c_inspect MODEL: what the C interface of Ingot can tell about a model. Prints its files, keys,
// first tokens and tensors, and a checksum of the first tensor, read in four ways.
#include <ingot/ingot.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  SHOWN_BYTES = 64,    // of a string
  SHOWN_ELEMENTS = 4,  // of an array
  SHOWN_TOKENS = 8,
  PIECE_BYTES = 1 << 16  // read at once
};

static int fail(const char* what, const ingot_error* error) {
  fprintf(stderr, "c_inspect: %s: %s [%s]\n", what, error->message, ingot_code_name(error->code));
  return EXIT_FAILURE;
}

// Text from a file may hold anything, so it is escaped before it is printed.
static void print_text(ingot_string text) {
  char safe[SHOWN_BYTES];
  if (ingot_escape(text, safe, sizeof safe) == INGOT_OK) printf("\"%s\"", safe);
}

// --- files ---------------------------------------------------------------------------------------

static int print_files(const ingot_model* model, ingot_error* error) {
  for (uint64_t i = 0; i < ingot_file_count(model); ++i) {
    ingot_file_info file = {.struct_size = sizeof file};
    if (ingot_get_file_info(model, i, &file, error) != INGOT_OK) return fail("file", error);
    printf("file %" PRIu32 " of %" PRIu32 ": version %" PRIu32 ", %s-endian, %" PRIu64
           " bytes, %" PRIu64 " keys, %" PRIu64 " tensors, data from %" PRIu64
           ", aligned to %" PRIu64 "\n",
           file.shard + 1, ingot_shard_count(model), file.version,
           file.is_big_endian ? "big" : "little", file.file_bytes, file.key_count,
           file.tensor_count, file.data_offset, file.alignment);
  }
  for (uint64_t i = 0; i < ingot_notice_count(model); ++i) {
    ingot_error notice;
    if (ingot_get_notice(model, i, &notice, error) != INGOT_OK) return fail("notice", error);
    printf("notice: %s\n", notice.message);
  }
  return EXIT_SUCCESS;
}

// A key that a model may or may not have, by name and in one call.
static void print_facts(const ingot_model* model) {
  ingot_string architecture;
  if (ingot_get_string(model, "general.architecture", &architecture, NULL) == INGOT_OK) {
    printf("architecture: ");
    print_text(architecture);
    printf("\n");
  }
  uint64_t file_type;
  if (ingot_get_u64(model, "general.file_type", &file_type, NULL) == INGOT_OK) {
    const char* name = ingot_file_type_name(file_type);
    printf("file type: %s\n", name != NULL ? name : "unknown");
  }
}

// --- keys ----------------------------------------------------------------------------------------

static int print_value(const ingot_value* value, ingot_error* error);

static int print_array(const ingot_value* array, ingot_error* error) {
  const uint64_t count = ingot_value_element_count(array);
  const uint32_t element_type = (uint32_t)ingot_value_element_type(array);
  printf("%" PRIu64 " x %s [", count, ingot_value_type_name(element_type));
  for (uint64_t i = 0; i < count && i < SHOWN_ELEMENTS; ++i) {
    ingot_value element;
    if (i != 0) printf(", ");
    if (ingot_value_element(array, i, &element, error) != INGOT_OK) return fail("element", error);
    // Arrays may hold arrays, but never deeper than `max_depth` of the options.
    if (print_value(&element, error) != EXIT_SUCCESS) return EXIT_FAILURE;
  }
  printf(count > SHOWN_ELEMENTS ? ", ...]" : "]");
  return EXIT_SUCCESS;
}

// Integers and floats of all widths come out of one function for each kind.
static int print_value(const ingot_value* value, ingot_error* error) {
  uint64_t natural;
  int64_t integer;
  double number;
  bool answer;
  ingot_string text;
  ingot_code code = INGOT_OK;
  switch (ingot_value_type(value)) {
    case INGOT_VALUE_UINT8:
    case INGOT_VALUE_UINT16:
    case INGOT_VALUE_UINT32:
    case INGOT_VALUE_UINT64:
      code = ingot_value_get_u64(value, &natural, error);
      if (code == INGOT_OK) printf("%" PRIu64, natural);
      break;
    case INGOT_VALUE_INT8:
    case INGOT_VALUE_INT16:
    case INGOT_VALUE_INT32:
    case INGOT_VALUE_INT64:
      code = ingot_value_get_i64(value, &integer, error);
      if (code == INGOT_OK) printf("%" PRId64, integer);
      break;
    case INGOT_VALUE_FLOAT32:
    case INGOT_VALUE_FLOAT64:
      code = ingot_value_get_f64(value, &number, error);
      if (code == INGOT_OK) printf("%g", number);
      break;
    case INGOT_VALUE_BOOL:
      code = ingot_value_get_bool(value, &answer, error);
      if (code == INGOT_OK) printf(answer ? "true" : "false");
      break;
    case INGOT_VALUE_STRING:
      code = ingot_value_get_string(value, &text, error);
      if (code == INGOT_OK) print_text(text);
      break;
    default:
      return print_array(value, error);
  }
  return code == INGOT_OK ? EXIT_SUCCESS : fail("value", error);
}

static int print_keys(const ingot_model* model, ingot_error* error) {
  for (uint64_t i = 0; i < ingot_key_count(model); ++i) {
    ingot_string name;
    ingot_value value;
    if (ingot_key_name(model, i, &name, error) != INGOT_OK ||
        ingot_key_value(model, i, &value, error) != INGOT_OK) {
      return fail("key", error);
    }
    printf("key ");
    print_text(name);
    printf(" = ");
    if (print_value(&value, error) != EXIT_SUCCESS) return EXIT_FAILURE;
    printf("\n");
  }
  return EXIT_SUCCESS;
}

// Many elements in one call: the tokens are views into the model, the scores are copied.
static int print_tokens(const ingot_model* model, ingot_error* error) {
  ingot_value tokens;
  if (ingot_get_value(model, "tokenizer.ggml.tokens", &tokens, NULL) != INGOT_OK) {
    return EXIT_SUCCESS;
  }
  uint64_t count = ingot_value_element_count(&tokens);
  if (count > SHOWN_TOKENS) count = SHOWN_TOKENS;
  ingot_string texts[SHOWN_TOKENS];
  if (ingot_value_copy_strings(&tokens, 0, count, texts, error) != INGOT_OK) {
    return fail("tokens", error);
  }
  ingot_value scores;
  float numbers[SHOWN_TOKENS];
  const bool has_scores =
      ingot_get_value(model, "tokenizer.ggml.scores", &scores, NULL) == INGOT_OK &&
      ingot_value_copy_f32(&scores, 0, count, numbers, NULL) == INGOT_OK;
  for (uint64_t i = 0; i < count; ++i) {
    printf("token %" PRIu64 " ", i);
    print_text(texts[i]);
    if (has_scores) printf(" %g", (double)numbers[i]);
    printf("\n");
  }
  return EXIT_SUCCESS;
}

// --- tensors -------------------------------------------------------------------------------------

static int print_tensors(const ingot_model* model, ingot_error* error) {
  for (uint64_t i = 0; i < ingot_tensor_count(model); ++i) {
    ingot_tensor_info tensor = {.struct_size = sizeof tensor};
    if (ingot_get_tensor_info(model, i, &tensor, error) != INGOT_OK) return fail("tensor", error);
    const char* type = ingot_type_name(tensor.type);
    printf("tensor ");
    print_text(tensor.name);
    printf(" %s [", type != NULL ? type : "unknown");
    for (uint32_t d = 0; d < tensor.dimension_count; ++d) {
      printf("%s%" PRIu64, d != 0 ? ", " : "", tensor.dimensions[d]);
    }
    printf("] %" PRIu64 " bytes at %" PRIu64 " of file %" PRIu64 "\n", tensor.size_bytes,
           tensor.file_offset, tensor.file);
  }
  return EXIT_SUCCESS;
}

// FNV-1a, which is short; not a protection against anybody.
static uint64_t checksum(uint64_t sum, const void* data, size_t size_bytes) {
  const unsigned char* bytes = data;
  for (size_t i = 0; i < size_bytes; ++i) sum = (sum ^ bytes[i]) * UINT64_C(0x100000001B3);
  return sum;
}
static const uint64_t checksum_of_nothing = UINT64_C(0xCBF29CE484222325);

// In place if the model is in memory, else piece by piece; reading works for both.
static ingot_code checksum_tensor(const ingot_model* model, uint64_t index, uint64_t* sum,
                                  ingot_error* error) {
  const void* data;
  size_t data_bytes;
  uint64_t total = checksum_of_nothing;
  ingot_code code = ingot_tensor_data(model, index, &data, &data_bytes, error);
  if (code == INGOT_OK) {
    *sum = checksum(total, data, data_bytes);
    return INGOT_OK;
  }
  if (code != INGOT_ERROR_NOT_MAPPED) return code;

  ingot_tensor_info tensor = {.struct_size = sizeof tensor};
  code = ingot_get_tensor_info(model, index, &tensor, error);
  static char piece[PIECE_BYTES];
  for (uint64_t done = 0; code == INGOT_OK && done < tensor.size_bytes; done += sizeof piece) {
    const uint64_t left = tensor.size_bytes - done;
    const size_t size_bytes = left < sizeof piece ? (size_t)left : sizeof piece;
    code = ingot_read_tensor(model, index, done, piece, size_bytes, error);
    if (code == INGOT_OK) total = checksum(total, piece, size_bytes);
  }
  if (code == INGOT_OK) *sum = total;
  return code;
}

// Prints the checksum of the first tensor; ends the model.
static int print_checksum(const char* how, ingot_model* model, ingot_error* error) {
  int status = EXIT_SUCCESS;
  if (ingot_tensor_count(model) != 0) {
    uint64_t sum;
    if (checksum_tensor(model, 0, &sum, error) == INGOT_OK) {
      printf("checksum of tensor 0, %s: %016" PRIx64 "\n", how, sum);
    } else {
      status = fail(how, error);
    }
  }
  ingot_close(model);
  return status;
}

// --- other ways to open --------------------------------------------------------------------------

// An ingot_read_function over a FILE. One FILE has one position, so this is for one thread.
static int read_from_file(void* user, uint64_t file_offset, void* destination, size_t size_bytes) {
  FILE* file = user;
  if (file_offset > LONG_MAX || fseek(file, (long)file_offset, SEEK_SET) != 0) return -1;
  return fread(destination, 1, size_bytes, file) == size_bytes ? 0 : -1;
}

static int inspect_by_callback(FILE* file, uint64_t file_bytes, ingot_error* error) {
  ingot_model* model;
  if (ingot_open_callback(file_bytes, read_from_file, file, NULL, &model, error) != INGOT_OK) {
    return fail("open by callback", error);
  }
  return print_checksum("by callback", model, error);
}

static int inspect_in_memory(FILE* file, uint64_t file_bytes, ingot_error* error) {
  const size_t size_bytes = (size_t)file_bytes;
  void* bytes = malloc(size_bytes);
  if (bytes == NULL || read_from_file(file, 0, bytes, size_bytes) != 0) {
    printf("the file could not be loaded into memory, which is fine if it is large\n");
    free(bytes);
    return EXIT_SUCCESS;
  }
  ingot_model* model;
  int status = EXIT_FAILURE;
  if (ingot_open_memory(bytes, size_bytes, NULL, &model, error) == INGOT_OK) {
    status = print_checksum("in memory", model, error);
  } else {
    fail("open in memory", error);
  }
  free(bytes);  // only now: the model has borrowed it
  return status;
}

static int inspect_by_reading(const char* path, ingot_error* error) {
  const ingot_open_options options = {
      .struct_size = sizeof options, .access = INGOT_ACCESS_READ, .is_single_file = 1};
  ingot_model* model;
  if (ingot_open(path, &options, &model, error) != INGOT_OK) return fail(path, error);
  return print_checksum("read", model, error);
}

static int inspect_otherwise(const char* path, uint64_t file_bytes, ingot_error* error) {
  if (inspect_by_reading(path, error) != EXIT_SUCCESS) return EXIT_FAILURE;
  FILE* file = fopen(path, "rb");
  if (file == NULL) {
    perror(path);
    return EXIT_FAILURE;
  }
  int status = inspect_by_callback(file, file_bytes, error);
  if (status == EXIT_SUCCESS) status = inspect_in_memory(file, file_bytes, error);
  fclose(file);
  return status;
}

// -------------------------------------------------------------------------------------------------

static int inspect(const char* path) {
  ingot_error error;
  ingot_model* model;
  if (ingot_open(path, NULL, &model, &error) != INGOT_OK) {
    if (ingot_code_category(error.code) == INGOT_CATEGORY_LENIENT) {
      fprintf(stderr, "c_inspect: it breaks a rule, but could be opened with is_lenient\n");
    }
    return fail(path, &error);
  }
  ingot_file_info file = {.struct_size = sizeof file};
  if (ingot_get_file_info(model, 0, &file, &error) != INGOT_OK ||
      print_files(model, &error) != EXIT_SUCCESS) {
    ingot_close(model);
    return EXIT_FAILURE;
  }
  print_facts(model);
  if (print_keys(model, &error) != EXIT_SUCCESS || print_tokens(model, &error) != EXIT_SUCCESS ||
      print_tensors(model, &error) != EXIT_SUCCESS) {
    ingot_close(model);
    return EXIT_FAILURE;
  }
  const uint64_t file_bytes = file.file_bytes;
  if (print_checksum("mapped", model, &error) != EXIT_SUCCESS) return EXIT_FAILURE;
  return inspect_otherwise(path, file_bytes, &error);
}

int main(int argc, char** argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: c_inspect MODEL\n");
    return EXIT_FAILURE;
  }
  if (ingot_abi_version() != INGOT_ABI_VERSION) {
    fprintf(stderr, "c_inspect: the library speaks another version of the interface\n");
    return EXIT_FAILURE;
  }
  printf("Ingot %s\n", ingot_version());
  return inspect(argv[1]);
}
