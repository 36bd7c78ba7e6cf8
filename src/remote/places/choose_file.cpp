// SPDX-License-Identifier: MIT
// Which file of a repository is meant.

#include <algorithm>
#include <array>
#include <vector>

#include "base/ascii.hpp"
#include "ingot/shard_name.hpp"
#include "remote/places/place.hpp"

namespace ingot::remote {
namespace {

/// Parts of names of files that belong to a model and are none themselves.
constexpr std::array<std::string_view, 6> companions = {"mmproj",  "imatrix", "mtp-",
                                                        "eagle3-", "dflash-", "dspark-"};
/// What most people want, the usual first.
constexpr std::array<std::string_view, 2> usual_quantizations = {"Q4_K_M", "Q8_0"};
constexpr std::size_t most_listed = 40;

std::string_view file_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }
std::string_view folder(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

bool is_candidate(const std::string& path) {
  const std::string name = lower_case(file_name(path));
  if (!name.ends_with(".gguf")) return false;
  const bool is_companion = std::any_of(
      companions.begin(), companions.end(),
      [&](std::string_view companion) { return name.find(companion) != std::string::npos; });
  const std::optional<ShardName> shard = parse_shard_name(path);
  return !is_companion && (!shard || shard->index == 0);
}

std::string listed(std::span<const std::string> paths, const Reference& reference) {
  std::string text;
  for (std::size_t i = 0; i < std::min(paths.size(), most_listed); ++i) {
    Reference one = reference;
    one.quantization.clear();
    one.path = paths[i];
    text += (i == 0 ? "" : ", ") + one.display();
  }
  if (paths.size() > most_listed)
    text += " and " + std::to_string(paths.size() - most_listed) + " more";
  return text;
}

Failure none_fits(std::span<const RemoteFile> files, std::span<const std::string> candidates,
                  const Reference& reference) {
  if (!candidates.empty()) {
    return fail(Errc::file_not_chosen, reference.display(),
                "none has this quantization; there are " + listed(candidates, reference));
  }
  const bool has_safetensors = std::ranges::any_of(
      files, [](const RemoteFile& file) { return file.name.ends_with(".safetensors"); });
  return fail(Errc::file_not_chosen, reference.display(),
              has_safetensors ? "it has no .gguf file, only safetensors; name one of those files"
                              : "it has no .gguf file");
}

}  // namespace

bool names_quantization(std::string_view path, std::string_view quantization) {
  const std::string text = lower_case(path);
  const std::string word = lower_case(quantization);
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    const bool begins = at == 0 || !is_lower_or_digit(text[at - 1]);
    const std::size_t end = at + word.size();
    const bool ends =
        end < text.size() && (text[end] == '.' || text[end] == '-' || text[end] == '/');
    if (begins && ends) return true;
  }
  return false;
}

Result<std::string> choose_file(std::span<const RemoteFile> files, const Reference& reference) {
  std::vector<std::string> candidates;
  for (const RemoteFile& file : files) {
    if (is_candidate(file.name)) candidates.push_back(file.name);
  }
  if (candidates.empty()) return none_fits(files, candidates, reference);
  std::vector<std::string_view> wanted(usual_quantizations.begin(), usual_quantizations.end());
  if (!reference.quantization.empty()) wanted = {reference.quantization};
  for (const std::string_view quantization : wanted) {
    std::vector<std::string> matches;
    for (const std::string& candidate : candidates) {
      if (names_quantization(candidate, quantization)) matches.push_back(candidate);
    }
    if (matches.empty()) continue;
    const bool is_one_folder = std::all_of(
        matches.begin(), matches.end(),
        [&](const std::string& match) { return folder(match) == folder(matches.front()); });
    if (is_one_folder) return matches.front();
    return fail(Errc::file_not_chosen, reference.display(),
                "several folders have such a file: " + listed(matches, reference));
  }
  if (reference.quantization.empty()) return candidates.front();
  return none_fits(files, candidates, reference);
}

}  // namespace ingot::remote
