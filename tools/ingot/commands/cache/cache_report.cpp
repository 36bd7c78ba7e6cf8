// SPDX-License-Identifier: MIT
#include "commands/cache/cache_report.hpp"

#include <fmt/core.h>

#include <ingot/remote_cache.hpp>
#include <ingot/remote_options.hpp>
#include <ingot/text.hpp>
#include <string>
#include <vector>

#include "commands/json_members.hpp"
#include "text/words.hpp"

namespace ingot::cli {
namespace {

using Headers = std::vector<CachedHeaderFacts>;

std::uint64_t sum_of(const Headers& headers) {
  std::uint64_t sum = 0;
  for (const CachedHeaderFacts& header : headers) sum += header.kept_bytes;
  return sum;
}

void print_list(Console& console, const std::string& folder, const Headers& headers) {
  for (const CachedHeaderFacts& header : headers) {
    console.out().print("{}  {:>10}  {}\n", time_text(header.used_at),
                        format_bytes(header.kept_bytes), escape(header.address));
  }
  console.out().print("{} headers, {} in {}\n", headers.size(), format_bytes(sum_of(headers)),
                      escape(folder));
}

void print_json(Console& console, const std::string& folder, const Headers& headers) {
  JsonStream json(console.out());
  const auto object = json.object();
  json.member("path", folder);
  json.member("bytes", sum_of(headers));
  json.objects("headers", headers,
               [&](const CachedHeaderFacts& header) { write_members(json, header); });
}

ExitCode clear(Console& console, const std::string& folder) {
  INGOT_CLI_TRY(const std::uint64_t freed, clear_remote_cache(folder), console, folder);
  if (console.is_json()) {
    JsonStream json(console.out());
    const auto object = json.object();
    json.member("path", folder);
    json.member("freed_bytes", freed);
  } else if (!console.is_quiet()) {
    console.out().print("{} freed in {}\n", format_bytes(freed), escape(folder));
  }
  return ExitCode::done;
}

}  // namespace

std::string cache_folder() { return remote_cache_folder(); }

ExitCode report_cache(Console& console, CacheAction action) {
  const std::string folder = remote_cache_folder();
  if (folder.empty()) {
    return console.refuse_usage("cache: there is no folder for it; set HOME or INGOT_CACHE");
  }
  if (action == CacheAction::clear) return clear(console, folder);
  const Headers headers = list_remote_cache(folder);
  if (console.is_json()) {
    print_json(console, folder, headers);
  } else if (action == CacheAction::path) {
    console.out().print("{}\n", escape(folder));
  } else if (action == CacheAction::size) {
    console.out().print("{}\n", sum_of(headers));
  } else {
    print_list(console, folder, headers);
  }
  return ExitCode::done;
}

}  // namespace ingot::cli
