// SPDX-License-Identifier: MIT
#include "formats/safetensors/safetensors_index.hpp"

#include <algorithm>
#include <set>

#include "base/ascii.hpp"
#include "base/paths.hpp"
#include "formats/json/json_tree.hpp"
#include "formats/safetensors/safetensors_header.hpp"
#include "formats/safetensors/safetensors_shards.hpp"
#include "ingot/source.hpp"
#include "io/folder_file.hpp"

namespace ingot::formats {
namespace {

constexpr std::string_view file_ending = ".safetensors";
constexpr std::string_view index_ending = ".safetensors.index.json";

/// The part of a name up to its last slash.
std::string folder_of(const std::string& name) { return name.substr(0, name.rfind('/') + 1); }

Result<SafetensorsFiles> read_index(const Store& store, const std::string& name,
                                    bool is_found = true) {
  INGOT_TRY(const std::unique_ptr<Source> source,
            is_found ? io::open_found(store, name) : store.open(name));
  if (source->size_bytes() > max_safetensors_header_bytes) {
    return fail(Errc::limit_exceeded, store.locate(name), "an index has at most 100000000 bytes");
  }
  std::string text(static_cast<std::size_t>(source->size_bytes()), '\0');
  INGOT_TRY_VOID(source->read(0, std::as_writable_bytes(std::span(text))));
  SafetensorsFiles files;
  INGOT_TRY(files.weight_map, parse_weight_map(text));
  std::set<std::string> shards;
  for (const auto& [tensor, file] : files.weight_map) shards.insert(file);
  for (const std::string& shard : shards) files.names.push_back(folder_of(name) + shard);
  if (files.names.empty()) {
    return fail(Errc::index_mismatch, store.locate(name), "it names no shard");
  }
  return files;
}

/// "NAME" of "NAME-00002-of-00003.safetensors"; empty if it is no such name.
std::string set_name(const std::string& file_name, std::size_t& count) {
  constexpr std::size_t digits = 5;
  constexpr std::size_t tail = 1 + digits + 4 + digits + file_ending.size();
  if (file_name.size() <= tail || !file_name.ends_with(file_ending)) return {};
  const std::string_view numbers = std::string_view(file_name).substr(file_name.size() - tail);
  const auto is_digits = [](std::string_view text) { return std::ranges::all_of(text, is_digit); };
  const std::string_view last = numbers.substr(10, digits);
  if (numbers[0] != '-' || numbers.substr(6, 4) != "-of-" || !is_digits(numbers.substr(1, 5)) ||
      !is_digits(last)) {
    return {};
  }
  count = 0;
  for (const char digit : last) count = count * 10 + static_cast<std::size_t>(digit - '0');
  return file_name.substr(0, file_name.size() - tail);
}

/// A remark on where a missing file is, if the files beside it tell.
std::string missing_remark(const Store& store, const std::string& name) {
  return &store == &file_system() ? set_aside_remark(name) : std::string();
}

Result<SafetensorsFiles> find_set(const Store& store, const std::string& name) {
  const std::string folder = folder_of(name);
  std::size_t count = 0;
  const std::string set = set_name(name.substr(folder.size()), count);
  if (set.empty() || count < 2) return SafetensorsFiles{{name}, {}};
  const std::string whole = folder + set + std::string(file_ending);
  const std::string index = formats::safetensors_index_path(whole);
  if (store.open(index)) return read_index(store, index);
  SafetensorsFiles files;
  for (std::size_t i = 0; i < count; ++i) {
    files.names.push_back(formats::safetensors_shard_path(whole, i, count));
    const std::string& shard = files.names.back();
    if (store.open(shard)) continue;
    return fail(Errc::index_mismatch, shard.substr(folder.size()),
                "the shard is missing" + missing_remark(store, shard));
  }
  return files;
}

Result<SafetensorsFiles> search_folder(const Store& store, const std::string& folder) {
  INGOT_TRY(const std::vector<std::string> names, store.list(folder));
  std::vector<std::string> indexes;
  std::vector<std::string> files;
  for (const std::string& name : names) {
    if (name.ends_with(index_ending)) indexes.push_back(name);
    if (name.ends_with(file_ending)) files.push_back(name);
  }
  const std::string where = store.locate(folder);
  if (indexes.size() == 1) return read_index(store, indexes.front());
  if (indexes.size() > 1)
    return fail(Errc::index_mismatch, where, "the folder has several indexes");
  if (files.empty()) {
    return fail(Errc::not_a_regular_file, where, "a folder without safetensors files");
  }
  std::ranges::sort(files);
  INGOT_TRY(SafetensorsFiles set, find_set(store, files.front()));
  if (set.names == files) return set;
  return fail(Errc::index_mismatch, where, "several safetensors files and no index");
}

}  // namespace

Result<WeightMap> parse_weight_map(std::string_view text) {
  auto tree = JsonTree::parse(text, {});
  if (!tree) {
    if (tree.error().code == Errc::import_refused) tree.error().code = Errc::index_mismatch;
    return fail(std::move(tree).error());
  }
  WeightMap map;
  for (const auto& [tensor, file] : tree->root()["weight_map"].members()) {
    const auto refuse = [subject = tensor](std::string found) {
      return fail(Errc::index_mismatch, std::string(subject), std::move(found));
    };
    const std::string name(file.text());
    if (!file.is_text()) {
      const std::string kind = file.is_object()  ? "an object"
                               : file.is_array() ? "an array"
                                                 : "no text";
      return refuse(kind + " where a file name belongs");
    }
    if (name.find('/') != name.npos || !name.ends_with(file_ending)) {
      return refuse("\"" + name + "\" is not the name of a shard");
    }
    if (!map.emplace(tensor, name).second) return refuse("it is there twice");
  }
  return map;
}

Result<SafetensorsFiles> find_safetensors_files(const Store& store, const std::string& name) {
  if (name.ends_with(index_ending)) return read_index(store, name, false);
  if (!store.open(name) && store.list(name)) return search_folder(store, name);
  return find_set(store, name);
}

}  // namespace ingot::formats
