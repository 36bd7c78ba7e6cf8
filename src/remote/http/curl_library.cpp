// SPDX-License-Identifier: MIT
#include "remote/http/curl_library.hpp"

#include <array>

#include "system/process.hpp"

namespace ingot::remote {
namespace {

/// The library with OpenSSL, and the one with GnuTLS, which has the same functions.
constexpr std::array<const char*, 2> library_names = {"libcurl.so.4", "libcurl-gnutls.so.4"};

bool look_up(void* handle, CurlLibrary& library) {
  bool is_complete = true;
  const auto take = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(
        system::find_function(handle, name));
    is_complete = is_complete && function != nullptr;
  };
#define INGOT_CURL_LOOK_UP(name) take(library.name, "curl_" #name);
  INGOT_CURL_FUNCTIONS(INGOT_CURL_LOOK_UP)
#undef INGOT_CURL_LOOK_UP
  return is_complete;
}

Result<CurlLibrary> load() {
  for (const char* const name : library_names) {
    void* const handle = system::load_library(name);
    CurlLibrary library;
    if (handle == nullptr || !look_up(handle, library)) continue;
    if (library.global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK) return library;
  }
  return fail(Errc::remote_unavailable, "libcurl",
              "libcurl.so.4 cannot be loaded; in Debian the package libcurl4 has it");
}

}  // namespace

Result<const CurlLibrary*> curl_library() {
  static const Result<CurlLibrary> library = load();
  if (!library) return fail(library.error());
  return &*library;
}

}  // namespace ingot::remote
