// SPDX-License-Identifier: MIT
// Models on servers for C. Link ingot_remote (`pkg-config ingot-remote`).
//
// The rules of ingot.h for results, arguments, ownership, text and threads hold here, too. A model
// that is opened so is one like any other, to be closed by ingot_close; its data is fetched when it
// is read, so that ingot_tensor_data gives nothing and ingot_read works.
//
//   ingot_model* model;
//   if (ingot_open_remote("hf:org/repo:Q4_K_M", NULL, NULL, &model, &error) != INGOT_OK) return 1;
#ifndef INGOT_REMOTE_H
#define INGOT_REMOTE_H

// NOLINTBEGIN(modernize-deprecated-headers, modernize-use-using): this is C.

#include <stddef.h>
#include <stdint.h>

#include "ingot/export.h"
#include "ingot/ingot.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Options for reading remote models; 0 and NULL are the defaults. Tokens, endpoints and caches
/// come from the environment (docs/remote.md).
typedef struct ingot_remote_options {
  size_t struct_size;        ///< sizeof(ingot_remote_options)
  uint32_t header_seconds;   ///< The time for opening the model, all requests together; default
                             ///< 120.
  uint32_t stall_seconds;    ///< The number of seconds with less than 1 KiB each that end a
                             ///< request; default 30.
  int32_t is_offline;        ///< If not 0, uses only files that are on this system already.
  int32_t allows_private;    ///< If not 0, redirects may lead into local networks.
  uint64_t max_fetch_bytes;  ///< Bytes that reading may take in all; default: no limit.
  const char* token;         ///< The hub's; NULL: from the environment.
  /// Asked ten times a second while waiting, in any thread; not 0 ends the wait with
  /// INGOT_ERROR_INTERRUPTED. `user` is handed to it. May be NULL.
  int (*should_stop)(void* user);
  void* user;
} ingot_remote_options;

/// Opens the model that a reference means, a local path too. Either option struct may be NULL.
INGOT_EXPORT ingot_code ingot_open_remote(const char* reference,
                                          const ingot_remote_options* remote_options,
                                          const ingot_open_options* options, ingot_model** model,
                                          ingot_error* error);

#ifdef __cplusplus
}
#endif

// NOLINTEND(modernize-deprecated-headers, modernize-use-using)

#endif  // INGOT_REMOTE_H
