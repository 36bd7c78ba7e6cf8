// SPDX-License-Identifier: MIT
// Property: any header line, listing, list of branches, manifest or other JSON of a server is
// refused with an ordinary error or read as values that keep their rules.

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "ingot/remote.hpp"
#include "remote/address/address.hpp"
#include "remote/http/answer_headers.hpp"
#include "remote/http/retry.hpp"
#include "remote/places/place.hpp"

namespace {

using namespace ingot::remote;

void require(bool condition) {
  if (!condition) std::abort();
}

void read_lines(std::string_view text) {
  AnswerHeaders headers;
  require(headers.add(text) || text.size() > AnswerHeaders::max_bytes);
  if (const auto range = parse_content_range(text); range && range->has_range) {
    require(range->first <= range->last);
    require(!range->total_bytes || range->last < *range->total_bytes);
  }
  if (const auto wait = parse_retry_after(text, 0)) require(wait->count() >= 0);
  static_cast<void>(parse_next_link(text));
  if (const auto challenge = parse_bearer_challenge(text)) require(!challenge->realm.empty());
  static_cast<void>(without_quotes(text));
}

void read_documents(std::string_view text) {
  std::vector<ingot::RemoteFile> files;
  if (read_tree_page(text, "tree", files)) {
    for (const ingot::RemoteFile& file : files) {
      require(is_safe_path(file.name));
      require(file.sha256.empty() || is_sha256(file.sha256));
    }
    const auto reference = ingot::parse_reference("hf:org/repo:Q4_K_M");
    static_cast<void>(choose_file(files, *reference));
  }
  std::vector<std::string> repositories;
  if (read_repositories_page(text, "models", repositories)) {
    for (const std::string& name : repositories) require(ingot::parse_reference(name).has_value());
  }
  static_cast<void>(read_refs(text, "refs", ""));
  if (const auto file = read_manifest(text, "manifest")) require(is_sha256(file->sha256));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  read_lines(text);
  read_documents(text);
  return 0;
}
