// SPDX-License-Identifier: MIT
// libcurl, loaded when it is first needed: a program that reads no remote file does without it, and
// starts as fast as if it had no network at all.
#pragma once

// The checks of types are macros, which a table of functions has no use for.
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

#include "ingot/error.hpp"

namespace ingot::remote {

/// The functions of libcurl that are used.
#define INGOT_CURL_FUNCTIONS(row)                                                        \
  row(easy_init) row(easy_setopt) row(easy_getinfo) row(easy_cleanup) row(easy_pause)    \
      row(easy_strerror) row(multi_init) row(multi_add_handle) row(multi_remove_handle)  \
          row(multi_perform) row(multi_poll) row(multi_wakeup) row(multi_info_read)      \
              row(multi_cleanup) row(multi_setopt) row(slist_append) row(slist_free_all) \
                  row(global_init)

struct CurlLibrary {
#define INGOT_CURL_MEMBER(name) decltype(&::curl_##name) name = nullptr;
  INGOT_CURL_FUNCTIONS(INGOT_CURL_MEMBER)
#undef INGOT_CURL_MEMBER
};

/// Loads libcurl once for the process. Errc::remote_unavailable if this system has none.
/// Thread-safe.
[[nodiscard]] Result<const CurlLibrary*> curl_library();

}  // namespace ingot::remote
