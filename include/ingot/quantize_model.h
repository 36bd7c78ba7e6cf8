// SPDX-License-Identifier: MIT
// Quantizing whole models for C. Link ingot_convert (`pkg-config ingot-convert`).
//
// The rules of ingot.h for results, arguments, ownership, text and threads hold here, too.
//
//   ingot_quantize_model_options options = {.struct_size = sizeof options, .importance =
//   "imatrix.gguf"}; ingot_quantize_model(model, "Q4_K_M", "small.gguf", &options, &error);
#ifndef INGOT_QUANTIZE_MODEL_H
#define INGOT_QUANTIZE_MODEL_H

// NOLINTBEGIN(modernize-deprecated-headers, modernize-use-using): this is C.

#include "ingot/ingot.h"

#ifdef __cplusplus
extern "C" {
#endif

/// The options for quantizing a model. All members after the first may be 0 or NULL, which means
/// the default.
typedef struct ingot_quantize_model_options {
  size_t struct_size;          ///< sizeof(ingot_quantize_model_options)
  const char* importance;      ///< The path of an importance matrix; default: none.
  uint32_t effort;             ///< INGOT_EFFORT_...; that of the program is INGOT_EFFORT_AUTO.
  uint32_t thread_count;       ///< Default: as many as the machine has cores.
  uint32_t may_replace;        ///< If not 0, replaces a file that exists.
  uint32_t allows_requantize;  ///< If not 0, quantizes tensors again that are quantized.
  double bits_per_weight;      ///< Instead of a mixture, the types with the least error below this.
  /// Told the bytes of the file that are done and of all; not 0 ends the work with
  /// INGOT_ERROR_INTERRUPTED. `user` is handed to it. Called in one thread at a time. May be NULL.
  int (*progress)(void* user, uint64_t done_bytes, uint64_t file_bytes);
  void* user;
} ingot_quantize_model_options;

/// Quantizes a model into one file, which appears complete or not at all.
///
/// @param mixture  a name like "Q4_K_M" or a tensor type, as of `ingot quantize`; NULL if `options`
/// have
///                 bits_per_weight.
/// @param path     of the new file; INGOT_ERROR_ALREADY_EXISTS if there is one, unless `options`
/// let it
///                 be replaced.
/// @return         INGOT_ERROR_INVALID_ARGUMENT for an unknown mixture or effort; among others
///                 INGOT_ERROR_REQUANTIZE_REFUSED, INGOT_ERROR_WEIGHTS_REQUIRED for types that need
///                 an importance matrix, INGOT_ERROR_WEIGHT_NOT_FINITE.
///
/// The bytes are those of llama.cpp with INGOT_EFFORT_REFERENCE, which is 0, and with the same
/// effort those of the program. Data streams: memory does not grow with tensors.
INGOT_EXPORT ingot_code ingot_quantize_model(const ingot_model* model, const char* mixture,
                                             const char* path,
                                             const ingot_quantize_model_options* options,
                                             ingot_error* error);

#ifdef __cplusplus
}
#endif

// NOLINTEND(modernize-deprecated-headers, modernize-use-using)

#endif
