// SPDX-License-Identifier: MIT
// The C interface of Ingot: open a GGUF model, and look at everything in it.
//
// These rules hold for every function; its own comment adds only what is particular to it.
//
// Results.    A function that can fail returns an ingot_code: INGOT_OK, or the number of what went
//             wrong. On failure nothing is handed out: what the pointers for results point to is
//             untouched. `error` may be NULL; else it is filled on failure and untouched on
//             success.
// Arguments.  Garbage in a model file gives an error, never a crash; and so does a NULL
//             (INGOT_ERROR_INVALID_ARGUMENT) and an index that is not below its count
//             (INGOT_ERROR_INDEX_OUT_OF_RANGE). Nothing here prints, exits, aborts or throws.
// Ownership.  You own a model that you open, and end it with ingot_close. Strings, values and
//             pointers to data are views into it, valid until then; they need no release. Structs
//             that a function fills belong to the caller.
// Text.       Names and strings of a model are an ingot_string: a pointer and a size in bytes,
//             without a NUL at the end. Keys and tensor names are UTF-8; string values are whatever
//             the file holds. Either may contain terminal escapes: ingot_escape makes them safe to
//             print. `const char*` is always NUL-terminated, in both directions.
// Threads.    Any number of threads may use one model at once. Only ingot_close needs it alone.
//             There is no global state.
// Cost.       O(1) without allocation, unless the comment says otherwise. Describing an error may
//             allocate; if that fails, the code is INGOT_ERROR_OUT_OF_MEMORY.
// Growth.     A struct that begins with `struct_size` may get more members at its end; set that
//             member to sizeof of the struct, and a program and a library of different versions
//             understand each other. All other structs, all numbers and all functions stay as
//             they are while INGOT_ABI_VERSION stays as it is.
#ifndef INGOT_INGOT_H
#define INGOT_INGOT_H

// NOLINTBEGIN(modernize-deprecated-headers, modernize-use-using): this is C.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ingot/export.h"
#include "ingot/version.h"

#ifdef __cplusplus
extern "C" {
#endif

// ------------------------------------------------------------------------------------------------
// Version
// ------------------------------------------------------------------------------------------------

/// The version of this interface. It changes only if a program compiled before would break.
#define INGOT_ABI_VERSION 1

/// The INGOT_ABI_VERSION with which the library was compiled. A program that loads the library at
/// run time compares it with its own before anything else.
INGOT_EXPORT uint32_t ingot_abi_version(void);

/// The version of the library, e.g. "1.2.3". Static.
INGOT_EXPORT const char* ingot_version(void);

// ------------------------------------------------------------------------------------------------
// Constants
// ------------------------------------------------------------------------------------------------

/// INGOT_OK or one of INGOT_ERROR_...; a later library may have more codes than this header.
typedef int32_t ingot_code;

/// Errors: INGOT_ERROR_TRUNCATED, INGOT_ERROR_KEY_NOT_FOUND and so on. errors.def describes each.
enum {
  INGOT_OK = 0,
#define INGOT_ERROR(number, name, constant, category, sentence) INGOT_ERROR_##constant = number,
#include "ingot/errors.def"
};

/// The party that can act on an error.
enum {
  INGOT_CATEGORY_INPUT = 0,    ///< The file is refused.
  INGOT_CATEGORY_LENIENT = 1,  ///< The file is refused; with `is_lenient` this point would pass.
  INGOT_CATEGORY_USAGE = 2,    ///< The request names something absent or makes no sense.
  INGOT_CATEGORY_SYSTEM = 3,   ///< The operating system failed.
  INGOT_CATEGORY_NOTICE = 4    ///< Never a failure: a remark about a file that opened.
};

/// Types of tensors: INGOT_TYPE_F32, INGOT_TYPE_Q4_K and so on, by their numbers in the file. A
/// model that was opened with `is_lenient` may hold numbers that are not here.
enum {
#define INGOT_TENSOR_TYPE(id, enumerator, label, elements, bytes, weights) INGOT_TYPE_##label = id,
#define INGOT_REMOVED_TYPE(id, label)
#include "ingot/tensor_types.def"
};

/// Types of metadata values: INGOT_VALUE_UINT8, INGOT_VALUE_STRING, INGOT_VALUE_ARRAY and so on, by
/// their numbers in the file. A model holds no others.
enum {
#define INGOT_VALUE_TYPE(id, enumerator, constant, name, bytes) INGOT_VALUE_##constant = id,
#include "ingot/value_types.def"
};

/// The way in which a file is read.
enum {
  INGOT_ACCESS_MAP = 0,  ///< Mapped into memory: nothing is copied; the fastest.
  INGOT_ACCESS_READ = 1  ///< Read on demand: only the header is held in memory.
};

enum {
  INGOT_MAX_DIMENSIONS = 8,   ///< More than any tensor has.
  INGOT_MESSAGE_BYTES = 1008  ///< Room for a message, its NUL included.
};

/// Stands for a place in a file where there is none.
#define INGOT_NO_OFFSET UINT64_MAX

// ------------------------------------------------------------------------------------------------
// Text
// ------------------------------------------------------------------------------------------------

/// Bytes of a model's text, without a NUL at the end. ingot_escape makes a printable string of it.
typedef struct ingot_string {
  const char* data;
  size_t size;  ///< Bytes
} ingot_string;

/// Writes `text` to `buffer` so that a terminal, a log or a web page shows it and nothing else
/// happens: printable UTF-8 stays; a backslash is doubled; control characters, invisible and
/// direction-changing characters and bytes that are not UTF-8 become `\n`, `\xHH`, `\u{H...}`.
///
/// The result is always NUL-terminated; if it does not fit, it ends in "..." and never in the
/// middle of a character. `buffer_bytes` must be at least 1. O(min(text.size, buffer_bytes));
/// allocates about as much.
INGOT_EXPORT ingot_code ingot_escape(ingot_string text, char* buffer, size_t buffer_bytes);

// ------------------------------------------------------------------------------------------------
// Errors
// ------------------------------------------------------------------------------------------------

/// An error and its place. Belongs to the caller and needs no preparation: declare one, pass its
/// address, and look at it if the function did not return INGOT_OK.
typedef struct ingot_error {
  ingot_code code;       ///< The code that was returned.
  uint32_t reserved;     ///< 0
  uint64_t file_offset;  ///< Byte in the file, or INGOT_NO_OFFSET.
  /// One line: key or tensor, place, the fault, the rule, the value found. Safe to print; always
  /// NUL-terminated; one that is too long ends in "...".
  char message[INGOT_MESSAGE_BYTES];
} ingot_error;

/// The name of a code as in errors.def, e.g. "key_duplicate"; "ok" for INGOT_OK, and "unknown" for
/// a number that this library does not know. Static.
INGOT_EXPORT const char* ingot_code_name(ingot_code code);

/// The sentence of a code: what is wrong and what would be right. Static; empty for INGOT_OK and
/// for numbers that this library does not know.
INGOT_EXPORT const char* ingot_code_sentence(ingot_code code);

/// Returns one of INGOT_CATEGORY_...; -1 for INGOT_OK and for numbers that this library does not
/// know.
INGOT_EXPORT int32_t ingot_code_category(ingot_code code);

// ------------------------------------------------------------------------------------------------
// Types
// ------------------------------------------------------------------------------------------------

/// The name of a tensor type as the format's documentation writes it, e.g. "Q4_K". Types that were
/// removed from the format have a name too, e.g. "Q4_2" for 4. Static; NULL for unknown numbers.
INGOT_EXPORT const char* ingot_type_name(uint32_t type);

/// Elements of one block, 1 for plain types; 0 for removed and unknown types.
INGOT_EXPORT uint32_t ingot_type_block_elements(uint32_t type);

/// Bytes of one block; 0 for removed and unknown types. A tensor of `n` elements has
/// n / ingot_type_block_elements(type) * ingot_type_block_bytes(type) bytes.
INGOT_EXPORT uint32_t ingot_type_block_bytes(uint32_t type);

/// Whether a type's quantizer uses importance weights.
enum {
  INGOT_WEIGHTS_UNUSED = 0,       ///< They make no difference.
  INGOT_WEIGHTS_OPTIONAL = 1,     ///< They make the result better.
  INGOT_WEIGHTS_RECOMMENDED = 2,  ///< The result is poor without them.
  INGOT_WEIGHTS_REQUIRED = 3      ///< ingot_quantize refuses to work without them.
};

/// Returns one of INGOT_WEIGHTS_...; -1 for removed and unknown types.
INGOT_EXPORT int32_t ingot_type_weights(uint32_t type);

/// The tensor type with a name, without regard to case; -1 if there is none or `name` is NULL.
/// Linear in the number of types.
INGOT_EXPORT int64_t ingot_find_type(const char* name);

/// The name of a value type, "uint8" to "float64". Static; NULL for unknown numbers.
INGOT_EXPORT const char* ingot_value_type_name(uint32_t value_type);

/// Bytes of one value; 0 for strings and arrays, whose size varies, and for unknown numbers.
INGOT_EXPORT uint32_t ingot_value_type_bytes(uint32_t value_type);

/// The name of a number in the key `general.file_type`, e.g. "Q4_K_M" for 15. Static; NULL for
/// unknown numbers. The flag 1024 ("guessed") is ignored.
INGOT_EXPORT const char* ingot_file_type_name(uint64_t file_type);

// ------------------------------------------------------------------------------------------------
// Opening and closing
// ------------------------------------------------------------------------------------------------

/// An open model.
typedef struct ingot_model ingot_model;

/// The options for opening a model. All members after the first may be 0, which means the default,
/// so this is enough: `ingot_open_options options = {.struct_size = sizeof options};`
typedef struct ingot_open_options {
  size_t struct_size;           ///< sizeof(ingot_open_options)
  uint32_t access;              ///< INGOT_ACCESS_...
  uint32_t is_lenient;          ///< If not 0, also opens files that break only a numeric rule of
                                ///< the format or hold tensors of unknown types.
  uint32_t is_single_file;      ///< If not 0, does not look for the other shards beside the file.
  uint32_t max_depth;           ///< Arrays within arrays; at most 64, the default.
  uint64_t max_header_bytes;    ///< Everything before the tensors' data; default 256 MiB.
  uint64_t max_keys;            ///< Default 2^20
  uint64_t max_tensors;         ///< Default 2^20
  uint64_t max_string_bytes;    ///< The limit of one string value; default 64 MiB.
  uint64_t max_array_elements;  ///< The limit of one array; default 2^28.
  uint64_t uses_index;          ///< If not 0, reads a file through its layout index, if it has one,
                                ///< without its long keys; see ingot_is_verified.
} ingot_open_options;

/// Opens the model at `path` and, if that is one shard of a set (`NAME-00001-of-00003.gguf`), all
/// shards that lie beside it.
///
/// @param path     a regular file, as the operating system wants it.
/// @param options  NULL for the defaults.
/// @param model    receives the model; end it with ingot_close.
/// @return         INGOT_ERROR_IO_ERROR if the system refuses; for a file that breaks the format,
///                 the code that describes it; INGOT_ERROR_LIMIT_EXCEEDED if it is larger than
///                 `options` allow.
///
/// Linear in the size of the header. A file that is mapped must not be truncated by others while
/// the model is open: the system then ends a program that touches the lost part (SIGBUS).
INGOT_EXPORT ingot_code ingot_open(const char* path, const ingot_open_options* options,
                                   ingot_model** model, ingot_error* error);

/// Opens a model that is in memory.
///
/// @param data        the whole file, at any alignment; borrowed until ingot_close. NULL only if
///                    `size_bytes` is 0.
/// @param options     as for ingot_open; `access` and `is_single_file` make no difference.
INGOT_EXPORT ingot_code ingot_open_memory(const void* data, size_t size_bytes,
                                          const ingot_open_options* options, ingot_model** model,
                                          ingot_error* error);

/// Reads `size_bytes` bytes of a file from `file_offset` on into `destination`, all of them or it
/// fails; the requested range is always within the file. Returns 0 on success. It must return (no
/// longjmp), and if several threads use the model, it is called from several threads at once.
typedef int (*ingot_read_function)(void* user, uint64_t file_offset, void* destination,
                                   size_t size_bytes);

/// Opens a model behind a function: in an archive, in the net, encrypted.
///
/// @param file_bytes  the size of the whole file.
/// @param read        called while opening, and by ingot_read_tensor. If it returns other than 0,
///                    the function that needed it returns INGOT_ERROR_IO_ERROR.
/// @param user        handed to `read`; must stay valid until ingot_close. May be NULL.
/// @param options     as for ingot_open; `access` and `is_single_file` make no difference.
INGOT_EXPORT ingot_code ingot_open_callback(uint64_t file_bytes, ingot_read_function read,
                                            void* user, const ingot_open_options* options,
                                            ingot_model** model, ingot_error* error);

/// Ends a model and all that it has handed out. NULL does nothing.
INGOT_EXPORT void ingot_close(ingot_model* model);

// ------------------------------------------------------------------------------------------------
// Files
// ------------------------------------------------------------------------------------------------

/// One file of a model.
typedef struct ingot_file_info {
  size_t struct_size;      ///< sizeof(ingot_file_info); set it before the call.
  const char* path;        ///< The path that was opened; "" if there was none.
  uint32_t shard;          ///< Position in the set, from 0.
  uint32_t version;        ///< The version of the format: 1, 2 or 3.
  uint32_t is_big_endian;  ///< 0 or 1; holds for the tensors' data too.
  uint32_t has_old_magic;  ///< 0 or 1: begins with "FUGG" instead of "GGUF".
  uint64_t alignment;      ///< Bytes; every tensor's data_offset is a multiple of it.
  uint64_t file_bytes;
  uint64_t infos_offset;  ///< First byte after the metadata.
  uint64_t header_bytes;  ///< First byte after the tensor infos.
  uint64_t data_offset;   ///< First byte of the data section; may lie behind the end
                          ///< of a file without data.
  uint64_t key_count;     ///< Keys of this file.
  uint64_t tensor_count;  ///< Tensors of this file.
} ingot_file_info;

/// The number of open files of the model: 1, or the number of its shards that exist. 0 for NULL.
INGOT_EXPORT uint64_t ingot_file_count(const ingot_model* model);

/// The number of shards of the model's set, missing ones included; 1 if it is not split. 0 for
/// NULL.
INGOT_EXPORT uint32_t ingot_shard_count(const ingot_model* model);

/// 1 if all files were read as a whole; 0 if one was read through its layout index, which its
/// writer could have made to show other tensors than other readers see.
INGOT_EXPORT int ingot_is_verified(const ingot_model* model);

/// Describes the file at `index`; files are ordered by `shard`.
INGOT_EXPORT ingot_code ingot_get_file_info(const ingot_model* model, uint64_t index,
                                            ingot_file_info* info, ingot_error* error);

/// The number of remarks on a file that is odd but opened. 0 for NULL.
INGOT_EXPORT uint64_t ingot_notice_count(const ingot_model* model);

/// The remark at `index`; its code has the category INGOT_CATEGORY_NOTICE.
INGOT_EXPORT ingot_code ingot_get_notice(const ingot_model* model, uint64_t index,
                                         ingot_error* notice, ingot_error* error);

// ------------------------------------------------------------------------------------------------
// Keys
//
// A model's metadata are the keys of its first file, in the order of that file. Keys are unique.
// ------------------------------------------------------------------------------------------------

/// One metadata value, or one element of an array: a view into the model, which may be copied
/// freely. Its content is private; functions fill it. A struct of zeros is no value, and functions
/// return INGOT_ERROR_INVALID_ARGUMENT for it.
typedef struct ingot_value {
  uint64_t opaque[8];
} ingot_value;

/// The number of keys. 0 for NULL.
INGOT_EXPORT uint64_t ingot_key_count(const ingot_model* model);

/// The index of a key; -1 if there is none of that name, or for NULL. O(length of the name).
INGOT_EXPORT int64_t ingot_find_key(const ingot_model* model, const char* key);

/// The index of a key whose name need not end in NUL; else like ingot_find_key.
INGOT_EXPORT int64_t ingot_find_key_string(const ingot_model* model, ingot_string key);

/// The name of the key at `index`.
INGOT_EXPORT ingot_code ingot_key_name(const ingot_model* model, uint64_t index, ingot_string* name,
                                       ingot_error* error);

/// The value of the key at `index`.
INGOT_EXPORT ingot_code ingot_key_value(const ingot_model* model, uint64_t index,
                                        ingot_value* value, ingot_error* error);

/// The value of a key by name. INGOT_ERROR_KEY_NOT_FOUND if there is none. O(length of the name).
INGOT_EXPORT ingot_code ingot_get_value(const ingot_model* model, const char* key,
                                        ingot_value* value, ingot_error* error);

// The value of a key by name, as one of five C types. Each does the work of ingot_get_value and
// ingot_value_get_... in one call, with the errors of both. O(length of the name).

/// An integer of any stored width.
INGOT_EXPORT ingot_code ingot_get_u64(const ingot_model* model, const char* key, uint64_t* result,
                                      ingot_error* error);

/// An integer of any stored width.
INGOT_EXPORT ingot_code ingot_get_i64(const ingot_model* model, const char* key, int64_t* result,
                                      ingot_error* error);

/// A float32 or float64.
INGOT_EXPORT ingot_code ingot_get_f64(const ingot_model* model, const char* key, double* result,
                                      ingot_error* error);

/// A bool.
INGOT_EXPORT ingot_code ingot_get_bool(const ingot_model* model, const char* key, bool* result,
                                       ingot_error* error);

/// A string.
INGOT_EXPORT ingot_code ingot_get_string(const ingot_model* model, const char* key,
                                         ingot_string* result, ingot_error* error);

// ------------------------------------------------------------------------------------------------
// Values
//
// Each of these also returns INGOT_ERROR_WRONG_TYPE if the value is of a type that
// does not convert, and INGOT_ERROR_VALUE_OUT_OF_RANGE if the number does not fit. Numbers are
// never rounded, wrapped or cut: integers convert to integers and floats to floats, if they are
// equal.
// ------------------------------------------------------------------------------------------------

/// Returns one of INGOT_VALUE_...; -1 for NULL and for a struct without a value.
INGOT_EXPORT int32_t ingot_value_type(const ingot_value* value);

/// Reads an integer of any stored width.
INGOT_EXPORT ingot_code ingot_value_get_u64(const ingot_value* value, uint64_t* result,
                                            ingot_error* error);

/// Reads an integer of any stored width.
INGOT_EXPORT ingot_code ingot_value_get_i64(const ingot_value* value, int64_t* result,
                                            ingot_error* error);

/// Reads a float32 or float64.
INGOT_EXPORT ingot_code ingot_value_get_f64(const ingot_value* value, double* result,
                                            ingot_error* error);

/// Reads a bool.
INGOT_EXPORT ingot_code ingot_value_get_bool(const ingot_value* value, bool* result,
                                             ingot_error* error);

/// Reads a string.
INGOT_EXPORT ingot_code ingot_value_get_string(const ingot_value* value, ingot_string* result,
                                               ingot_error* error);

/// The bytes of a value of any type as they are in the file, in its byte order and at any
/// alignment: those of a string without its length, those of an array without its element type and
/// count. Either result may be NULL if it is not wanted. The pointer is never NULL, but may not be
/// read if the size is 0.
INGOT_EXPORT ingot_code ingot_value_bytes(const ingot_value* value, const void** data,
                                          size_t* size_bytes, ingot_error* error);

/// The offset of ingot_value_bytes in their file; INGOT_NO_OFFSET for NULL and for a struct without
/// a value.
INGOT_EXPORT uint64_t ingot_value_file_offset(const ingot_value* value);

// ------------------------------------------------------------------------------------------------
// Arrays
//
// Elements may be arrays again. The rules for values hold for elements, too.
// ------------------------------------------------------------------------------------------------

/// The type of an array's elements, one of INGOT_VALUE_...; -1 for NULL and for values that are no
/// array.
INGOT_EXPORT int32_t ingot_value_element_type(const ingot_value* array);

/// The number of elements of an array; 0 for NULL and for values that are no array.
INGOT_EXPORT uint64_t ingot_value_element_count(const ingot_value* array);

/// The element at `index` as a value of its own; the way into arrays of arrays.
///
/// For arrays of strings and of arrays, the first call builds an index of 8 bytes an element, which
/// the model keeps: O(elements) once, and INGOT_ERROR_OUT_OF_MEMORY if there is no room for it.
INGOT_EXPORT ingot_code ingot_value_element(const ingot_value* array, uint64_t index,
                                            ingot_value* element, ingot_error* error);

// Copies the elements `first` to `first + count - 1` to `destination`, which has room for `count`
// and may be NULL if that is 0. All are copied, or none: INGOT_ERROR_INDEX_OUT_OF_RANGE if the
// array ends before, INGOT_ERROR_WRONG_TYPE and INGOT_ERROR_VALUE_OUT_OF_RANGE if one of them does
// not convert.
//
// O(count). For strings, a call with `first` other than 0 needs the index of ingot_value_element; a
// call from 0 on, such as for all of them, does not.

/// Integers of any stored width.
INGOT_EXPORT ingot_code ingot_value_copy_u64(const ingot_value* array, uint64_t first,
                                             uint64_t count, uint64_t* destination,
                                             ingot_error* error);

/// Integers of any stored width.
INGOT_EXPORT ingot_code ingot_value_copy_i64(const ingot_value* array, uint64_t first,
                                             uint64_t count, int64_t* destination,
                                             ingot_error* error);

/// Floats; stored as float64, each must have the same value as a float.
INGOT_EXPORT ingot_code ingot_value_copy_f32(const ingot_value* array, uint64_t first,
                                             uint64_t count, float* destination,
                                             ingot_error* error);

/// Floats of either width.
INGOT_EXPORT ingot_code ingot_value_copy_f64(const ingot_value* array, uint64_t first,
                                             uint64_t count, double* destination,
                                             ingot_error* error);

/// Bools.
INGOT_EXPORT ingot_code ingot_value_copy_bool(const ingot_value* array, uint64_t first,
                                              uint64_t count, bool* destination,
                                              ingot_error* error);

/// Strings, as views into the model.
INGOT_EXPORT ingot_code ingot_value_copy_strings(const ingot_value* array, uint64_t first,
                                                 uint64_t count, ingot_string* destination,
                                                 ingot_error* error);

// ------------------------------------------------------------------------------------------------
// Tensors
//
// A model's tensors are those of all its files, in the order of the files. Names are unique.
// ------------------------------------------------------------------------------------------------

/// One tensor.
typedef struct ingot_tensor_info {
  size_t struct_size;  ///< sizeof(ingot_tensor_info); set it before the call.
  ingot_string name;   ///< UTF-8 without NUL, at most 64 bytes unless opened with is_lenient.
  uint32_t type;       ///< One of INGOT_TYPE_..., or another number if opened with is_lenient.
  uint32_t dimension_count;  ///< 0 to INGOT_MAX_DIMENSIONS
  /// Dimension 0, whose elements lie side by side, first. 1 from `dimension_count` on.
  uint64_t dimensions[INGOT_MAX_DIMENSIONS];
  uint64_t element_count;  ///< The product of the dimensions; 1 if there is none.
  uint64_t size_bytes;
  uint64_t data_offset;  ///< The offset from the beginning of its file's data section.
  uint64_t file_offset;  ///< The offset from the beginning of its file.
  uint64_t file;         ///< The index of its file, for ingot_get_file_info.
} ingot_tensor_info;

/// The number of tensors. 0 for NULL.
INGOT_EXPORT uint64_t ingot_tensor_count(const ingot_model* model);

/// The index of a tensor; -1 if there is none of that name, or for NULL. O(length of the name).
INGOT_EXPORT int64_t ingot_find_tensor(const ingot_model* model, const char* name);

/// The index of a tensor whose name need not end in NUL; else like ingot_find_tensor.
INGOT_EXPORT int64_t ingot_find_tensor_string(const ingot_model* model, ingot_string name);

/// Describes the tensor at `index`.
INGOT_EXPORT ingot_code ingot_get_tensor_info(const ingot_model* model, uint64_t index,
                                              ingot_tensor_info* info, ingot_error* error);

/// The data of the tensor at `index`, without copying: the model must be mapped or in memory, else
/// INGOT_ERROR_NOT_MAPPED. In the byte order of its file; at any alignment.
/// Either result may be NULL if it is not wanted. The pointer is NULL if the tensor has no bytes.
INGOT_EXPORT ingot_code ingot_tensor_data(const ingot_model* model, uint64_t index,
                                          const void** data, size_t* size_bytes,
                                          ingot_error* error);

/// Copies `size_bytes` bytes of the tensor at `index`, from its byte `offset_bytes` on, to
/// `destination`; works for every model. `destination` may be NULL if `size_bytes` is 0.
///
/// INGOT_ERROR_SIZE_MISMATCH if the part is not within the tensor; INGOT_ERROR_IO_ERROR or
/// INGOT_ERROR_TRUNCATED if it cannot be read: `destination` is then unspecified.
/// O(size_bytes). A model that is not in memory waits for its storage.
INGOT_EXPORT ingot_code ingot_read_tensor(const ingot_model* model, uint64_t index,
                                          uint64_t offset_bytes, void* destination,
                                          size_t size_bytes, ingot_error* error);

// ------------------------------------------------------------------------------------------------
// Decoding and encoding
//
// The numbers are the same on every machine: those of the reference implementation, ggml. Pointers
// need no alignment and may be NULL if their count is 0; source and destination must not overlap.
// Linear in the elements, without allocation. Where it is not said otherwise: type is one of
// INGOT_TYPE_...; INGOT_ERROR_UNSUPPORTED_TYPE if it was removed or is unknown;
// INGOT_ERROR_SIZE_MISMATCH if the bytes are not whole blocks, or not those of `element_count`
// elements; is_big_endian is 1 for blocks in big-endian byte order, else 0.
// ------------------------------------------------------------------------------------------------

/// Decodes blocks to floats. Large outputs are written fastest if `dst` is aligned to 64 bytes.
INGOT_EXPORT ingot_code ingot_dequantize(uint32_t type, const void* blocks, size_t size_bytes,
                                         float* dst, size_t element_count, uint32_t is_big_endian,
                                         ingot_error* error);

/// Decodes blocks and rounds to binary16, in this machine's byte order.
INGOT_EXPORT ingot_code ingot_dequantize_to_f16(uint32_t type, const void* blocks,
                                                size_t size_bytes, uint16_t* dst,
                                                size_t element_count, uint32_t is_big_endian,
                                                ingot_error* error);

/// Decodes blocks and rounds to bfloat16, in this machine's byte order.
INGOT_EXPORT ingot_code ingot_dequantize_to_bf16(uint32_t type, const void* blocks,
                                                 size_t size_bytes, uint16_t* dst,
                                                 size_t element_count, uint32_t is_big_endian,
                                                 ingot_error* error);

/// Decodes rows of the tensor at an index. A row is the first dimension; rows are counted through
/// all others. `element_count` must be `row_count` times the first dimension.
/// INGOT_ERROR_INDEX_OUT_OF_RANGE if there are not that many rows; the errors of ingot_read_tensor.
INGOT_EXPORT ingot_code ingot_dequantize_rows(const ingot_model* model, uint64_t tensor,
                                              uint64_t first_row, uint64_t row_count, float* dst,
                                              size_t element_count, ingot_error* error);

/// Encodes rows of floats.
///
/// @param row_elements  elements of a row: whole blocks (INGOT_ERROR_ROW_NOT_WHOLE_BLOCKS).
/// @param weights       `row_elements` finite numbers: how much an error in each column
///                      matters, the same for every row; or NULL
///                      (INGOT_ERROR_WEIGHTS_REQUIRED for the types that need them).
///
/// A block that holds a NaN or an infinity is encoded as one of zeros. Quantizers of IQ types build
/// tables when they first run.
INGOT_EXPORT ingot_code ingot_quantize(uint32_t type, const float* src, size_t element_count,
                                       size_t row_elements, const float* weights, void* blocks,
                                       size_t size_bytes, uint32_t is_big_endian,
                                       ingot_error* error);

/// The amount of work for the choice of a block.
enum {
  INGOT_EFFORT_REFERENCE = 0,  ///< The blocks of the reference implementation, byte for byte.
  INGOT_EFFORT_BEST = 1,  ///< The least error that a search finds: takes several times as long.
  INGOT_EFFORT_AUTO = 2   ///< The search for weights on a lattice that the type holds, which it
                          ///< finds again; else the reference.
};

/// The options for encoding rows. All members after the first may be 0 or NULL.
typedef struct ingot_quantize_options {
  size_t struct_size;      ///< sizeof(ingot_quantize_options)
  const float* weights;    ///< The weights of ingot_quantize.
  uint32_t effort;         ///< INGOT_EFFORT_...
  uint32_t is_big_endian;  ///< The byte order of the blocks.
} ingot_quantize_options;

/// ingot_quantize with more choices; `options` may be NULL. INGOT_ERROR_INVALID_ARGUMENT for an
/// effort that this library does not know. INGOT_EFFORT_BEST needs about 200 KiB of stack.
INGOT_EXPORT ingot_code ingot_quantize_with(uint32_t type, const float* src, size_t element_count,
                                            size_t row_elements, void* blocks, size_t size_bytes,
                                            const ingot_quantize_options* options,
                                            ingot_error* error);

/// Turns blocks from little-endian to big-endian or back, in place.
INGOT_EXPORT ingot_code ingot_swap_byte_order(uint32_t type, void* blocks, size_t size_bytes,
                                              ingot_error* error);

// ------------------------------------------------------------------------------------------------
// Memory
// ------------------------------------------------------------------------------------------------

/// The options for running a model, in the terms of llama.cpp. All members after the first may be 0
/// or NULL, which means its default.
typedef struct ingot_run_options {
  size_t struct_size;            ///< sizeof(ingot_run_options)
  uint64_t context;              ///< Tokens of all sequences; default: the model's own.
  uint64_t batch;                ///< Default 2048
  uint64_t micro_batch;          ///< Default 512
  uint64_t sequences;            ///< Default 1
  const char* key_type;          ///< The type of the cache's keys, a name for ingot_find_type;
                                 ///< default "F16".
  const char* value_type;        ///< The type of the cache's values, likewise.
  const uint64_t* device_bytes;  ///< Bytes of each device that programs can have; NULL: no devices.
  uint64_t device_count;         ///< At most 64.
  uint64_t host_bytes;           ///< Default: not limited
  uint64_t gpu_layers;           ///< The number of last layers on devices, the output counted as
                                 ///< one; only if limits_gpu_layers.
  uint32_t limits_gpu_layers;    ///< 0: all layers are on devices.
  uint32_t is_without_flash_attention;
  uint32_t is_cache_unified;    ///< Sequences share the context.
  uint32_t keeps_full_windows;  ///< Layers with a window keep the whole context.
} ingot_run_options;

/// Whether memory is enough.
enum {
  INGOT_FITS = 0,
  INGOT_FITS_TIGHTLY = 1,  ///< It fits with less than 5 % to spare.
  INGOT_DOES_NOT_FIT = 2,
  INGOT_FITS_UNKNOWN = 3  ///< No memory size was given.
};

/// The memory of a whole run. Bytes.
typedef struct ingot_memory_estimate {
  size_t struct_size;  ///< sizeof(ingot_memory_estimate)
  uint64_t context;    ///< Tokens, rounded as the engine rounds.
  uint64_t context_per_sequence;
  uint64_t weights_bytes;  ///< The weights, each tensor once.
  uint64_t cache_bytes;
  uint64_t output_bytes;
  uint64_t gpu_layers;  ///< The layers on devices, the output counted as one.
  int32_t verdict;      ///< INGOT_FITS and so on: the worst of all places.
} ingot_memory_estimate;

/// The content of one device, or of the host. Bytes.
typedef struct ingot_memory_use {
  size_t struct_size;  ///< sizeof(ingot_memory_use)
  uint64_t layer_count;
  uint64_t weights_bytes;
  uint64_t cache_bytes;
  uint64_t compute_bytes;
  uint64_t output_bytes;
  uint64_t total_bytes;
  int32_t verdict;  ///< INGOT_FITS and so on.
} ingot_memory_use;

/// The place of the host, for ingot_estimate_place.
#define INGOT_HOST UINT64_MAX

/// Estimates the memory of a run from the model's header; no weight is read.
///
/// @param options   NULL for the defaults.
/// @param estimate  receives the sums.
/// @return INGOT_ERROR_ESTIMATE_IMPOSSIBLE if needed facts of the header are missing or contradict
/// each other;
///                  INGOT_ERROR_RUN_REFUSED if the engine refuses the options for this model;
///                  INGOT_ERROR_INVALID_ARGUMENT, INGOT_ERROR_SIZE_OVERFLOW.
///
/// Weights and cache are exactly those that llama.cpp allocates; work space is close. Linear in
/// tensors and layers; allocates while it runs.
INGOT_EXPORT ingot_code ingot_estimate(const ingot_model* model, const ingot_run_options* options,
                                       ingot_memory_estimate* estimate, ingot_error* error);

/// Estimates the memory of a run in one place: a device by its index, or INGOT_HOST.
INGOT_EXPORT ingot_code ingot_estimate_place(const ingot_model* model,
                                             const ingot_run_options* options, uint64_t place,
                                             ingot_memory_use* use, ingot_error* error);

#ifdef __cplusplus
}
#endif

// NOLINTEND(modernize-deprecated-headers, modernize-use-using)

#endif
