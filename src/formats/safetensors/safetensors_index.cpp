// SPDX-License-Identifier: MIT
#include "formats/safetensors/safetensors_index.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "base/set_aside.hpp"
#include "formats/safetensors/safetensors_header.hpp"
#include "ingot/source.hpp"
#include "ingot/store.hpp"

namespace ingot::interop {
namespace {

constexpr std::string_view file_ending = ".safetensors";
constexpr std::string_view index_ending = ".safetensors.index.json";

/// Takes the pairs of texts in the object `weight_map`; everything else is of no interest.
class IndexHandler : public nlohmann::json_sax<nlohmann::json> {
 public:
  bool null() override { return other(); }
  bool boolean(bool) override { return other(); }
  bool number_integer(number_integer_t) override { return other(); }
  bool number_unsigned(number_unsigned_t) override { return other(); }
  bool number_float(number_float_t, const string_t&) override { return other(); }
  bool binary(binary_t&) override { return other(); }
  bool string(string_t& text) override {
    if (!is_in_map()) return true;
    if (text.empty() || text.find('/') != string_t::npos || !text.ends_with(file_ending)) {
      return refuse("\"" + text + "\" is not the name of a shard");
    }
    if (!map_.emplace(name_, std::move(text)).second) return refuse("it is there twice");
    return true;
  }
  bool start_object(std::size_t) override {
    if (is_in_map()) return refuse("an object where a file name belongs");
    ++depth_;
    return true;
  }
  bool key(string_t& name) override {
    if (depth_ == 1) top_key_ = name;
    name_ = std::move(name);
    return true;
  }
  bool end_object() override {
    --depth_;
    return true;
  }
  bool start_array(std::size_t) override {
    if (is_in_map()) return refuse("an array where a file name belongs");
    ++depth_;
    return true;
  }
  bool end_array() override {
    --depth_;
    return true;
  }
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::json::exception&) override {
    error_ = Error{Errc::index_mismatch, position - 1, {}, "the text is not JSON from here on"};
    return false;
  }

  [[nodiscard]] Result<WeightMap> take() {
    if (error_) return fail(*error_);
    return std::move(map_);
  }

 private:
  [[nodiscard]] bool is_in_map() const { return depth_ == 2 && top_key_ == "weight_map"; }
  bool other() { return is_in_map() ? refuse("no text where a file name belongs") : true; }
  bool refuse(std::string found) {
    error_ = Error{Errc::index_mismatch, Error::no_offset, name_, std::move(found)};
    return false;
  }

  WeightMap map_;
  std::optional<Error> error_;
  std::string top_key_;
  std::string name_;
  std::uint64_t depth_ = 0;
};

/// The part of a name up to its last slash.
std::string folder_of(const std::string& name) {
  const std::size_t slash = name.rfind('/');
  return slash == std::string::npos ? "" : name.substr(0, slash + 1);
}

Result<SafetensorsFiles> read_index(const Store& store, const std::string& name) {
  INGOT_TRY(const std::unique_ptr<Source> source, store.open(name));
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
  const auto is_digits = [](std::string_view text) {
    return std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
  };
  const std::string_view last = numbers.substr(10, digits);
  if (numbers[0] != '-' || numbers.substr(6, 4) != "-of-" || !is_digits(numbers.substr(1, 5)) ||
      !is_digits(last)) {
    return {};
  }
  count = 0;
  for (const char digit : last) count = count * 10 + static_cast<std::size_t>(digit - '0');
  return file_name.substr(0, file_name.size() - tail);
}

/// Where a missing file went, if this is told by the files beside it.
std::string missing_remark(const Store& store, const std::string& name) {
  return &store == &file_system() ? set_aside_remark(name) : std::string();
}

Result<SafetensorsFiles> find_set(const Store& store, const std::string& name) {
  const std::string folder = folder_of(name);
  std::size_t count = 0;
  const std::string set = set_name(name.substr(folder.size()), count);
  if (set.empty() || count < 2) return SafetensorsFiles{{name}, {}};
  const std::string index = folder + set + std::string(index_ending);
  if (store.open(index)) return read_index(store, index);
  SafetensorsFiles files;
  std::string total = std::to_string(count);
  total.insert(0, 5 - total.size(), '0');
  for (std::size_t i = 1; i <= count; ++i) {
    std::string number = std::to_string(i);
    number.insert(0, 5 - number.size(), '0');
    const std::string shard = set + "-" + number + "-of-" + total + std::string(file_ending);
    if (!store.open(folder + shard)) {
      return fail(Errc::index_mismatch, shard,
                  "the shard is missing" + missing_remark(store, folder + shard));
    }
    files.names.push_back(folder + shard);
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
  std::sort(files.begin(), files.end());
  INGOT_TRY(SafetensorsFiles set, find_set(store, files.front()));
  if (set.names == files) return set;
  return fail(Errc::index_mismatch, where, "several safetensors files and no index");
}

}  // namespace

Result<WeightMap> parse_weight_map(std::string_view text) {
  IndexHandler handler;
  nlohmann::json::sax_parse(text.begin(), text.end(), &handler);
  return handler.take();
}

Result<SafetensorsFiles> find_safetensors_files(const Store& store, const std::string& name) {
  if (name.ends_with(index_ending)) return read_index(store, name);
  if (!store.open(name) && store.list(name)) return search_folder(store, name);
  return find_set(store, name);
}

}  // namespace ingot::interop
