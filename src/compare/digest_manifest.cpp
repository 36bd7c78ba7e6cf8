// SPDX-License-Identifier: MIT
#include "ingot/digest_manifest.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <utility>

#include "base/ranges.hpp"
#include "compare/manifest_builder.hpp"

namespace ingot {
namespace {

using Json = nlohmann::json;

const std::string* find_text(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() ? nullptr : found->get_ptr<const std::string*>();
}

const Json* find_array(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() || !found->is_array() ? nullptr : &*found;
}

/// The member `digests` of an object; unknown algorithms are left alone.
Result<void> read_digests(const Json& object, std::string_view where, DigestSet& digests) {
  const auto found = object.find("digests");
  if (found == object.end() || found->is_null()) return {};
  if (!found->is_object()) return fail_manifest(where, "\"digests\" is not an object");
  for (const auto& [name, value] : found->items()) {
    const DigestAlgorithmInfo* algorithm = find_digest_algorithm(name);
    if (algorithm == nullptr) continue;
    const auto* digits = value.get_ptr<const std::string*>();
    if (digits == nullptr) return fail_manifest(where, name + " is not a string");
    INGOT_TRY_VOID(put_digest(digests, *algorithm, *digits, where));
  }
  return {};
}

/// The members of `tensors` (named by `name`) or `shards` (named by `file`).
Result<std::vector<NamedDigests>> read_list(const Json& object, const char* list_key,
                                            const char* name_key) {
  std::vector<NamedDigests> list;
  const Json* array = find_array(object, list_key);
  if (array == nullptr) return list;
  list.reserve(array->size());
  for (const Json& element : *array) {
    const std::string* name = element.is_object() ? find_text(element, name_key) : nullptr;
    if (name == nullptr) {
      return fail_manifest(list_key, std::string("an element without a \"") + name_key + "\"");
    }
    list.push_back({*name, {}});
    INGOT_TRY_VOID(read_digests(element, *name, list.back().digests));
  }
  return list;
}

Result<void> check_unique(const std::vector<NamedDigests>& list) {
  std::unordered_map<std::string_view, const NamedDigests*> seen;
  seen.reserve(list.size());
  for (const NamedDigests& element : list) {
    if (!seen.emplace(element.name, &element).second) {
      return fail_manifest(element.name, "it is there twice");
    }
  }
  return {};
}

Result<ManifestEntry> read_entry(const Json& object) {
  const std::string* file = object.is_object() ? find_text(object, "file") : nullptr;
  if (file == nullptr) return fail_manifest({}, "an object without a \"file\"");
  ManifestEntry entry;
  entry.file = *file;
  INGOT_TRY_VOID(read_digests(object, *file, entry.digests));
  if (const std::string* uuid = find_text(object, "uuid")) {
    INGOT_TRY(entry.uuid, normal_uuid(*uuid, *file));
  }
  INGOT_TRY(entry.shards, read_list(object, "shards", "file"));
  INGOT_TRY(entry.tensors, read_list(object, "tensors", "name"));
  INGOT_TRY_VOID(check_unique(entry.shards));
  INGOT_TRY_VOID(check_unique(entry.tensors));
  return entry;
}

Result<std::vector<ManifestEntry>> parse_json(std::string_view text) {
  const Json document = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (document.is_discarded()) return fail_manifest({}, "it is not JSON");
  std::vector<ManifestEntry> entries;
  if (!document.is_array()) {
    INGOT_TRY(ManifestEntry entry, read_entry(document));
    entries.push_back(std::move(entry));
    return entries;
  }
  for (const Json& object : document) {
    INGOT_TRY(ManifestEntry entry, read_entry(object));
    entries.push_back(std::move(entry));
  }
  return entries;
}

/// The algorithm to verify a thing with: the strongest that it has.
std::optional<DigestAlgorithm> strongest(const DigestSet& digests) {
  constexpr std::array by_strength = {DigestAlgorithm::sha256, DigestAlgorithm::xet,
                                      DigestAlgorithm::sha1, DigestAlgorithm::xxh3_128,
                                      DigestAlgorithm::xxh64};
  for (const DigestAlgorithm algorithm : by_strength) {
    if (!digests[algorithm].empty()) return algorithm;
  }
  return std::nullopt;
}

class Comparison {
 public:
  void compare(DigestMismatch::Kind kind, std::string_view name, const DigestSet& expected,
               const DigestSet& found) {
    for (const DigestAlgorithmInfo& info : digest_algorithms) {
      compare(kind, name, info.name, expected[info.algorithm], found[info.algorithm]);
    }
  }

  void compare(DigestMismatch::Kind kind, std::string_view name, std::string_view algorithm,
               const std::string& expected, const std::string& found) {
    if (expected.empty() || found.empty()) return;
    ++compared_count;
    if (expected == found) return;
    mismatches.push_back({kind, std::string(name), std::string(algorithm), expected, found});
  }

  void miss(DigestMismatch::Kind kind, std::string_view name, bool is_expected) {
    const std::string text = is_expected ? "present" : "";
    mismatches.push_back({kind, std::string(name), {}, text, is_expected ? "" : "present"});
  }

  std::vector<DigestMismatch> mismatches;
  std::uint64_t compared_count = 0;
};

void compare_tensors(const ManifestEntry& entry, const Model& model, const ModelDigests& digests,
                     Comparison& comparison) {
  using Kind = DigestMismatch::Kind;
  if (entry.tensors.empty() || digests.tensors.empty()) return;
  std::vector<bool> is_known(model.tensors().size());
  for (const NamedDigests& expected : entry.tensors) {
    const TensorInfo* tensor = model.find_tensor(expected.name);
    if (tensor == nullptr) {
      comparison.miss(Kind::tensor, expected.name, true);
      continue;
    }
    const auto position = static_cast<std::size_t>(tensor - model.tensors().data());
    is_known[position] = true;
    comparison.compare(Kind::tensor, expected.name, expected.digests, digests.tensors[position]);
  }
  for (std::size_t i = 0; i < is_known.size(); ++i) {
    if (!is_known[i]) comparison.miss(Kind::tensor, model.tensors()[i].name, false);
  }
}

/// Shards are found by their place in the set: a set may have been renamed.
void compare_files(const ManifestEntry& entry, const Model& model, const ModelDigests& digests,
                   Comparison& comparison) {
  using Kind = DigestMismatch::Kind;
  const std::span<const ModelFile> files = model.files();
  if (digests.files.empty()) return;
  if (entry.shards.empty()) {
    if (files.size() == 1) {
      comparison.compare(Kind::file, files[0].path, entry.digests, digests.files[0]);
    }
    return;
  }
  for (std::size_t i = 0; i < entry.shards.size(); ++i) {
    const ModelFile* const file = find_row(files, &ModelFile::index, i);
    if (file == nullptr) {
      comparison.miss(Kind::file, entry.shards[i].name, true);
      continue;
    }
    comparison.compare(Kind::file, file->path, entry.shards[i].digests,
                       digests.files[static_cast<std::size_t>(file - files.data())]);
  }
}

}  // namespace

Result<std::vector<ManifestEntry>> parse_digest_manifest(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return fail_manifest({}, "it is empty");
  const bool is_json = text[first] == '{' || text[first] == '[';
  INGOT_TRY(std::vector<ManifestEntry> entries,
            is_json ? parse_json(text) : parse_manifest_lines(text));
  if (entries.empty()) return fail_manifest({}, "it names no file");
  return entries;
}

DigestRequest request_for(const ManifestEntry& entry,
                          const std::vector<DigestAlgorithm>& algorithms) {
  std::array<bool, digest_algorithms.size()> is_wanted{};
  for (const DigestAlgorithm algorithm : algorithms) {
    is_wanted[static_cast<std::size_t>(algorithm)] = true;
  }
  DigestRequest request{.algorithms = {}, .has_files = false, .has_tensors = false};
  const auto want = [&](const DigestSet& digests, bool& has_kind) {
    const std::optional<DigestAlgorithm> found = strongest(digests);
    if (!found) return;
    has_kind = true;
    if (algorithms.empty()) is_wanted[static_cast<std::size_t>(*found)] = true;
  };
  want(entry.digests, request.has_files);
  for (const NamedDigests& shard : entry.shards) want(shard.digests, request.has_files);
  for (const NamedDigests& tensor : entry.tensors) want(tensor.digests, request.has_tensors);
  // The digests of the tensors include all that the digest of the whole does.
  if (entry.tensors.empty()) want(entry.weights, request.has_weights);
  const bool has_digests = request.has_files || request.has_tensors || request.has_weights;
  request.has_uuid = !entry.uuid.empty() && !has_digests;
  for (const DigestAlgorithmInfo& info : digest_algorithms) {
    if (is_wanted[static_cast<std::size_t>(info.algorithm)]) {
      request.algorithms.push_back(info.algorithm);
    }
  }
  return request;
}

std::string_view name_of(DigestMismatch::Kind kind) noexcept {
  constexpr std::array<std::string_view, 4> names = {"file", "tensor", "weights", "uuid"};
  return name_at(names, kind);
}

std::vector<DigestMismatch> find_mismatches(const ManifestEntry& entry, const Model& model,
                                            const ModelDigests& digests,
                                            std::uint64_t* compared_count) {
  using Kind = DigestMismatch::Kind;
  Comparison comparison;
  compare_files(entry, model, digests, comparison);
  compare_tensors(entry, model, digests, comparison);
  comparison.compare(Kind::weights, entry.file, entry.weights, digests.weights);
  comparison.compare(Kind::uuid, entry.file, "uuid", entry.uuid, digests.uuid);
  if (compared_count != nullptr) *compared_count = comparison.compared_count;
  return std::move(comparison.mismatches);
}

}  // namespace ingot
