// SPDX-License-Identifier: MIT
// Compiled alone, with INGOT_COMMIT, INGOT_DOCS_URL and INGOT_HAS_REMOTE of CMake.
#include "build_facts.hpp"

#include <fmt/core.h>

#include <CLI/Version.hpp>
#include <ingot/quantize.hpp>
#include <nlohmann/json_fwd.hpp>
#if __has_include(<openssl/opensslv.h>) && !defined(_WIN32)
#include <openssl/opensslv.h>
#endif
#if __has_include(<sqlite3.h>)
#include <sqlite3.h>
#endif
#if __has_include(<zlib.h>)
#include <zlib.h>
#endif

namespace ingot::cli {
namespace {

#ifdef __clang__
constexpr const char* compiler = "clang " __clang_version__;
#else
constexpr const char* compiler = "g++ " __VERSION__;
#endif

#ifdef NDEBUG
constexpr const char* assertions = "without assertions";
#else
constexpr const char* assertions = "with assertions";
#endif

#ifdef _WIN32
constexpr const char* operating_system = "Windows";
#else
constexpr const char* operating_system = "Linux";
#endif

#if defined(__x86_64__)
constexpr const char* machine = "x86-64";
#elif defined(__aarch64__)
constexpr const char* machine = "aarch64";
#else
constexpr const char* machine = "another CPU";
#endif

/// The versions of the headers that the program was compiled with.
std::string libraries() {
  std::string text = fmt::format("fmt {}.{}.{}, CLI11 " CLI11_VERSION, FMT_VERSION / 10000,
                                 FMT_VERSION / 100 % 100, FMT_VERSION % 100);
#ifdef NLOHMANN_JSON_VERSION_MAJOR
  text += fmt::format(", nlohmann-json {}.{}.{}", NLOHMANN_JSON_VERSION_MAJOR,
                      NLOHMANN_JSON_VERSION_MINOR, NLOHMANN_JSON_VERSION_PATCH);
#endif
#ifdef OPENSSL_VERSION_STR
  text += ", OpenSSL " OPENSSL_VERSION_STR;
#endif
#ifdef ZLIB_VERSION
  text += ", zlib " ZLIB_VERSION;
#endif
#ifdef SQLITE_VERSION
  text += ", SQLite " SQLITE_VERSION;
#endif
  return text;
}

}  // namespace

const std::string_view docs_url = INGOT_DOCS_URL;

std::string build_facts() {
  const std::string_view commit = INGOT_COMMIT;
  return fmt::format(
      "{}{}{}compiler   {}, {}\nsystem     {}, {}\nkernels    {}\nremote     {}\nlibraries  {}\n",
      commit.empty() ? "" : "commit     ", commit, commit.empty() ? "" : "\n", compiler, assertions,
      operating_system, machine, cpu_target(),
      INGOT_HAS_REMOTE != 0 ? "yes, by the system's libcurl" : "no", libraries());
}

}  // namespace ingot::cli
