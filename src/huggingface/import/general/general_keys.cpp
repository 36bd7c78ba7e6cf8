// SPDX-License-Identifier: MIT
#include "huggingface/import/general/general_keys.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <span>

#include "formats/json/json_tree.hpp"
#include "huggingface/folder/refusal.hpp"
#include "huggingface/import/general/general_facts.hpp"
#include "huggingface/import/general/sampling_keys.hpp"
#include "huggingface/import/general/size_label.hpp"
#include "ingot/metadata_keys.hpp"
#include "ingot/model_card.hpp"

namespace ingot::huggingface {
namespace {

constexpr std::string_view card_file = "README.md";
constexpr std::string_view config_file = "config.json";
constexpr std::string_view generation_file = "generation_config.json";
constexpr std::string_view metadata_option = "--metadata";
constexpr std::string_view projector_type = "mmproj";  // in general.type

/// The facts that are texts, in the order of their keys.
constexpr std::string_view text_facts[] = {
    "name",         "author",       "version",      "organization", "finetune",
    "basename",     "description",  "quantized_by", "size_label",   "license",
    "license.name", "license.link", "url",          "doi",          "uuid",
    "repo_url",     "source.url",   "source.doi",   "source.uuid",  "source.repo_url"};

Result<JsonTree> read_object(const ModelFolder& folder, std::string_view file) {
  if (!folder.has(file)) return JsonTree();
  INGOT_TRY(const std::string text, folder.read_text(file));
  return JsonTree::parse(text, folder.locate(file));
}

/// The beginning of the card; only that counts.
Result<CardValue> read_card(const ModelFolder& folder) {
  if (!folder.has(card_file)) return CardValue();
  INGOT_TRY(const std::unique_ptr<Source> source, folder.open_file(card_file));
  std::string text(static_cast<std::size_t>(std::min(source->size_bytes(), max_text_bytes)), '\0');
  INGOT_TRY_VOID(source->read(0, std::as_writable_bytes(std::span(text))));
  return parse_model_card(text, folder.locate(card_file));
}

Result<void> set_sampling_key(const SamplingKey& row, JsonView value, const std::string& file,
                              KeyPlan& keys) {
  const auto wrong = [&](const char* right) {
    return refuse(file, std::string(row.key) + " must be " + right);
  };
  if (row.type == SamplingKey::text) {
    if (!value.is_text()) return wrong("a text");
    if (!value.text().empty()) keys.set_string(row.key, value.text());
    return {};
  }
  const auto number = value.number();
  if (!number) return wrong("a number");
  if (row.type == SamplingKey::real) {
    keys.set(row.key, static_cast<float>(*number));
    return {};
  }
  const bool fits = *number == std::floor(*number) &&
                    *number >= std::numeric_limits<std::int32_t>::min() &&
                    *number <= std::numeric_limits<std::int32_t>::max();
  if (!fits) return wrong("a whole number of 32 bits");
  keys.set(row.key, static_cast<std::int32_t>(*number));
  return {};
}

/// @param replacing  the members of the option, which replace those of the file.
Result<void> add_sampling_keys(const ModelFolder& folder, JsonView replacing, KeyPlan& keys) {
  INGOT_TRY(const JsonTree tree, read_object(folder, generation_file));
  const JsonView own = tree.root();
  for (const SamplingKey& row : sampling_keys) {
    JsonView value = own[row.member];
    if (!value.exists() && !row.other_member.empty()) value = own[row.other_member];
    const bool is_replaced = replacing[row.key].exists();
    if (is_replaced) value = replacing[row.key];
    if (!value.exists() || value.is_null()) continue;
    const std::string file =
        is_replaced ? std::string(metadata_option) : folder.locate(generation_file);
    keys.from(std::string(is_replaced ? metadata_option : generation_file));
    INGOT_TRY_VOID(set_sampling_key(row, value, file, keys));
  }
  return {};
}

/// An empty text or list cannot be told from none, so it is no key.
void set_text(std::string_view key, const std::string& text, KeyPlan& keys) {
  if (!text.empty()) keys.set_string(key, text);
}

void set_texts(std::string_view key, const std::optional<std::vector<std::string>>& texts,
               KeyPlan& keys) {
  if (texts && !texts->empty()) keys.set_array(key, std::span<const std::string>(*texts));
}

/// `count` and `N.name`, `N.author`, ... below a prefix.
void set_sources(const std::string& prefix, const std::optional<std::vector<Facts>>& sources,
                 KeyPlan& keys) {
  if (!sources) return;
  keys.set(prefix + ".count", static_cast<std::uint32_t>(sources->size()));
  for (std::size_t i = 0; i < sources->size(); ++i) {
    for (const std::string_view name : source_fact_names()) {
      const auto found = (*sources)[i].find(name);
      if (found == (*sources)[i].end()) continue;
      set_text(prefix + "." + std::to_string(i) + "." + std::string(name), found->second, keys);
    }
  }
}

/// The configuration is that of the folder itself: an adapter's name is not that of its base.
Result<void> collect(const ModelFolder& folder, const ParameterCounts& counts,
                     const ImportOptions& options, JsonView replacing, GeneralFacts& facts) {
  INGOT_TRY(const CardValue card, read_card(folder));
  facts.offer_card(card, counts.total);
  INGOT_TRY(const JsonTree config, read_object(folder, config_file));
  const std::string_view id = config.root()["_name_or_path"].text();
  // More slashes make it a path on the author's machine.
  const bool is_id = config.root()["_name_or_path"].is_text() && std::ranges::count(id, '/') <= 1;
  if (is_id) facts.offer_id(id, counts.total);
  const std::string& folder_name = options.folder_name ? *options.folder_name : folder.name();
  facts.offer_id(folder_name, counts.total);
  INGOT_TRY_VOID(facts.replace(replacing, std::string(metadata_option)));
  if (options.model_name) facts.texts.insert_or_assign("name", *options.model_name);
  facts.offer("name", folder_name);
  if (counts.total > 0) facts.offer("size_label", size_label(counts));
  return {};
}

std::string find_text(const KeyPlan& keys, std::string_view key) {
  const auto value = keys.find(key);
  const auto text = value ? value->get<std::string_view>() : Result<std::string_view>();
  return text ? std::string(*text) : std::string();
}

/// A part of a file name: no spaces around it, "-" for those in it and for slashes.
std::string file_part(std::string text) {
  const auto begin = text.find_first_not_of(" \t\n\r\v\f");
  if (begin == text.npos) return {};
  text = text.substr(begin, text.find_last_not_of(" \t\n\r\v\f") - begin + 1);
  for (char& c : text) {
    const bool is_separator = c == ' ' || c == '/' || c == '\0';
    if (is_separator) c = '-';
  }
  return text;
}

}  // namespace

Result<void> add_general_keys(const ModelFolder& folder, const ParameterCounts& counts,
                              const ImportOptions& options, KeyPlan& keys) {
  JsonTree replacing;
  if (options.metadata) {
    INGOT_TRY(replacing, JsonTree::parse(*options.metadata, std::string(metadata_option)));
  }
  INGOT_TRY_VOID(add_sampling_keys(folder, replacing.root(), keys));
  GeneralFacts facts;
  INGOT_TRY_VOID(collect(folder, counts, options, replacing.root(), facts));
  keys.from("the model card, the configuration and the folder's name");
  for (const std::string_view name : text_facts) {
    const auto found = facts.texts.find(name);
    if (found != facts.texts.end()) set_text("general." + std::string(name), found->second, keys);
  }
  set_sources("general.base_model", facts.base_models, keys);
  set_sources("general.dataset", facts.datasets, keys);
  set_texts("general.tags", facts.tags, keys);
  set_texts("general.languages", facts.languages, keys);
  return {};
}

std::string default_file_name(const KeyPlan& keys, std::string_view encoding,
                              bool has_next_layers_only) {
  std::string name = file_part(find_text(keys, "general.basename"));
  if (name.empty()) name = file_part(find_text(keys, "general.name"));
  if (name.empty()) name = "ggml-model";
  const std::string type = find_text(keys, keys::general_type);
  for (const char* key : {"general.size_label", "general.finetune", "general.version"}) {
    // The size of a projector is not that of the model that it is named after.
    if (type == projector_type && std::string_view(key) == "general.size_label") continue;
    const std::string part = file_part(find_text(keys, key));
    if (has_next_layers_only && key == std::string_view("general.size_label")) continue;
    if (!part.empty()) name += "-" + part;
  }
  name += "-" + std::string(encoding);
  if (type == "adapter") name += "-LoRA";
  const std::string_view prefix = has_next_layers_only     ? "mtp-"
                                  : type == projector_type ? "mmproj-"
                                                           : "";
  return std::string(prefix) + name + ".gguf";
}

}  // namespace ingot::huggingface
