// SPDX-License-Identifier: MIT
// The C interface for files that are made or changed. The rules are those of ingot.h, and beside
// them:
//
// Writers.    You own a writer, and end it with ingot_writer_free, before or after it has written.
//             One thread at a time uses it.
// Names.      Keys and names are NUL-terminated UTF-8; all texts are copied.
// Data.       Data of tensors is never copied before it is written: what it comes from, memory or a
//             model, must stay valid until then.
// Files.      A file appears complete or not at all, and every reader of GGUF takes it.
//
//   ingot_writer* writer;
//   ingot_writer_new(&writer, &error);
//   ingot_writer_set_string(writer, "general.architecture", "llama", &error);
//   ingot_writer_add_tensor(writer, "output.weight", INGOT_TYPE_F32, dimensions, 2, floats,
//   &error); ingot_writer_write(writer, "tiny.gguf", NULL, &error); ingot_writer_free(writer);
#ifndef INGOT_WRITER_H
#define INGOT_WRITER_H

// NOLINTBEGIN(modernize-deprecated-headers, modernize-use-using): this is C.

#include "ingot/ingot.h"

#ifdef __cplusplus
extern "C" {
#endif

/// A model that is being made, or a file that is being changed.
typedef struct ingot_writer ingot_writer;

// ------------------------------------------------------------------------------------------------
// Beginning and ending
// ------------------------------------------------------------------------------------------------

/// Begins a model without keys and tensors.
INGOT_EXPORT ingot_code ingot_writer_new(ingot_writer** writer, ingot_error* error);

/// Begins a model with all keys and tensors of another, in their order; `model` must live until it
/// is written. Of a model in several files, the keys that describe the set are left out.
INGOT_EXPORT ingot_code ingot_writer_from(const ingot_model* model, ingot_writer** writer,
                                          ingot_error* error);

/// Begins to change the file at `path`. The file is locked against other edits until it is written
/// or the writer freed; if another edit of it does not end soon, INGOT_ERROR_FILE_IN_USE.
INGOT_EXPORT ingot_code ingot_writer_edit(const char* path, ingot_writer** writer,
                                          ingot_error* error);

/// Ends a writer. NULL does nothing. What was not written is gone.
INGOT_EXPORT void ingot_writer_free(ingot_writer* writer);

// ------------------------------------------------------------------------------------------------
// Keys
// ------------------------------------------------------------------------------------------------
// A key that is set again keeps its place; a new one comes last.

/// Sets a number or a bool.
///
/// @param value_type  INGOT_VALUE_UINT8 to INGOT_VALUE_FLOAT64, or INGOT_VALUE_BOOL.
/// @param value       a number of this type: INGOT_VALUE_UINT32 reads a uint32_t, INGOT_VALUE_BOOL
/// a
///                    bool.
INGOT_EXPORT ingot_code ingot_writer_set(ingot_writer* writer, const char* key, uint32_t value_type,
                                         const void* value, ingot_error* error);

/// Sets a text.
INGOT_EXPORT ingot_code ingot_writer_set_string(ingot_writer* writer, const char* key,
                                                const char* value, ingot_error* error);

/// Sets an array.
///
/// @param element_type  as `value_type` above, or INGOT_VALUE_STRING.
/// @param elements      `count` numbers of this type, or `count` of ingot_string. NULL only if
/// `count`
///                      is 0.
INGOT_EXPORT ingot_code ingot_writer_set_array(ingot_writer* writer, const char* key,
                                               uint32_t element_type, const void* elements,
                                               uint64_t count, ingot_error* error);

/// Sets a copy of a value of a model, whatever its type.
INGOT_EXPORT ingot_code ingot_writer_set_value(ingot_writer* writer, const char* key,
                                               const ingot_value* value, ingot_error* error);

/// Fails with INGOT_ERROR_KEY_NOT_FOUND if there is no such key.
INGOT_EXPORT ingot_code ingot_writer_remove_key(ingot_writer* writer, const char* key,
                                                ingot_error* error);

/// Gives a key another name, in its place. INGOT_ERROR_KEY_NOT_FOUND; INGOT_ERROR_NAME_TAKEN.
INGOT_EXPORT ingot_code ingot_writer_rename_key(ingot_writer* writer, const char* key,
                                                const char* new_key, ingot_error* error);

// ------------------------------------------------------------------------------------------------
// Tensors
// ------------------------------------------------------------------------------------------------
// An edit of a file adds none: INGOT_ERROR_INVALID_ARGUMENT.

/// Adds a tensor whose data is in memory.
///
/// @param type        INGOT_TYPE_...
/// @param dimensions  the fastest-varying first, as in ingot_tensor_info; `dimension_count` of
/// them.
/// @param data        as many bytes as the shape makes of this type, in the byte order of the file
/// to be.
///                    ingot_quantize makes blocks of a type.
INGOT_EXPORT ingot_code ingot_writer_add_tensor(ingot_writer* writer, const char* name,
                                                uint32_t type, const uint64_t* dimensions,
                                                uint32_t dimension_count, const void* data,
                                                ingot_error* error);

/// Adds a tensor whose data a function gives when the model is written: from front to back, in
/// pieces, in `destination`, where `file_offset` counts from the beginning of the tensor's data.
INGOT_EXPORT ingot_code ingot_writer_add_tensor_from(ingot_writer* writer, const char* name,
                                                     uint32_t type, const uint64_t* dimensions,
                                                     uint32_t dimension_count,
                                                     ingot_read_function read, void* user,
                                                     ingot_error* error);

/// Adds a tensor of an open model, by its index, with its data.
///
/// @param name  NULL for its own name.
INGOT_EXPORT ingot_code ingot_writer_copy_tensor(ingot_writer* writer, const char* name,
                                                 const ingot_model* model, uint64_t tensor,
                                                 ingot_error* error);

// ------------------------------------------------------------------------------------------------
// Writing
// ------------------------------------------------------------------------------------------------

/// The options for writing. All members after the first may be 0, which means the default.
typedef struct ingot_write_options {
  size_t struct_size;      ///< sizeof(ingot_write_options)
  uint32_t may_replace;    ///< If not 0, replaces a file that exists.
  uint32_t version;        ///< Of the format; default 3. Of an edit it is the file's own.
  uint32_t is_big_endian;  ///< If not 0, in this byte order, which only version 3 has; likewise.
  uint32_t reserved;       ///< 0
} ingot_write_options;

/// Writes the model.
///
/// @param path     of the new file; INGOT_ERROR_ALREADY_EXISTS if there is one, unless `options`
/// let it
///                 be replaced. NULL changes the file of an edit itself: a kill or a full disk at
///                 any moment leaves it as it was.
/// @param options  NULL for the defaults.
///
/// An edit is over then, whether it succeeds or not; a writer of a model can write again. The bytes
/// go to a temporary file beside the new one, which is flushed and renamed. Memory is bounded by
/// the header and a piece of data.
INGOT_EXPORT ingot_code ingot_writer_write(ingot_writer* writer, const char* path,
                                           const ingot_write_options* options, ingot_error* error);

#ifdef __cplusplus
}
#endif

// NOLINTEND(modernize-deprecated-headers, modernize-use-using)

#endif
