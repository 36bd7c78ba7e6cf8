// SPDX-License-Identifier: MIT
#include "huggingface/export/general_files.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "huggingface/export/config_members.hpp"
#include "huggingface/folder/json_values.hpp"
#include "huggingface/import/general/general_facts.hpp"
#include "huggingface/import/general/sampling_keys.hpp"
#include "ingot/metadata_keys.hpp"
#include "ingot/model_card.hpp"

namespace ingot::huggingface {
namespace {

/// The most base models or data sets of a card.
constexpr std::uint64_t max_sources = 1000;

/// A fact of a key `general.*`, the member of cards that gives it, and whether a name of a folder
/// gives it where the card does not.
struct CardMember {
  std::string_view fact;
  std::string_view member;
  bool follows_from_names = false;
};

constexpr std::array<CardMember, 15> card_members = {{
    {"name", "name", true},
    {"author", "author"},
    {"version", "version", true},
    {"organization", "organization", true},
    {"finetune", "finetune", true},
    {"basename", "basename", true},
    {"description", "description"},
    {"size_label", "size_label", true},
    {"license", "license"},
    {"license.name", "license_name"},
    {"license.link", "license_link"},
    {"source.url", "url"},
    {"source.doi", "doi"},
    {"source.uuid", "uuid"},
    {"source.repo_url", "repo_url"},
}};

/// Hugging Face's pipeline tag of a model that writes texts.
constexpr std::string_view usual_pipeline = "text-generation";

class Card {
 public:
  explicit Card(const Model& model) : model_(model) {}

  std::string write() {
    text_ = "---\n";
    for (const CardMember& row : card_members) {
      const auto fact = find_text("general." + std::string(row.fact));
      if (fact || row.follows_from_names) line(row.member, fact.value_or(""));
    }
    write_sources("general.base_model", "base_model");
    write_sources("general.dataset", "datasets");
    write_tags();
    if (const auto languages = find_texts("general.languages")) write_list("language", *languages);
    text_ += "library_name: transformers\n---\n";
    const auto name = find_text(std::string(keys::general_name));
    return text_ + "\nThis folder was made from a GGUF file" +
           (name && is_one_line(*name) ? " of " + std::string(*name) : "") + ".\n";
  }

 private:
  static bool is_one_line(std::string_view text) {
    return std::ranges::all_of(text, [](char c) {
      return static_cast<unsigned char>(c) >= 0x20 && static_cast<unsigned char>(c) != 0x7F;
    });
  }

  std::optional<std::string_view> find_text(const std::string& key) const {
    const auto text = model_.get<std::string_view>(key);
    return text ? std::optional(*text) : std::nullopt;
  }

  std::optional<std::vector<std::string_view>> find_texts(std::string_view key) const {
    const Value* const value = model_.find(key);
    if (value == nullptr || !value->is_array()) return std::nullopt;
    std::vector<std::string_view> texts;
    for (const Value& text : value->as_array()) {
      texts.push_back(text.get<std::string_view>().value_or(""));
    }
    return texts;
  }

  void line(std::string_view member, std::string_view text) {
    text_.append(member).append(": ").append(yaml_scalar(text)).append("\n");
  }

  void write_list(std::string_view member, const std::vector<std::string_view>& texts) {
    text_.append(member).append(texts.empty() ? ": []\n" : ":\n");
    for (const std::string_view text : texts) {
      text_.append("- ").append(yaml_scalar(text)).append("\n");
    }
  }

  void write_tags() {
    auto tags = find_texts("general.tags");
    if (!tags || tags->empty()) return;
    const bool has_pipeline = tags->back() == usual_pipeline;
    if (has_pipeline) tags->pop_back();
    if (!tags->empty()) write_list("tags", *tags);
    if (has_pipeline) line("pipeline_tag", usual_pipeline);
  }

  /// A list of models or data sets: ids, where these say the same as the keys, else all facts.
  void write_sources(const std::string& prefix, std::string_view member) {
    const Value* const count_value = model_.find(prefix + ".count");
    if (count_value == nullptr) return;
    const auto count = count_value->get<std::uint64_t>().value_or(0);
    text_.append(member).append(count == 0 ? ": []\n" : ":\n");
    for (std::uint64_t i = 0; i < std::min(count, max_sources); ++i) {
      Facts facts;
      for (const std::string_view name : source_fact_names()) {
        const auto fact = find_text(prefix + "." + std::to_string(i) + "." + std::string(name));
        if (fact) facts.emplace(name, *fact);
      }
      write_source(facts);
    }
  }

  void write_source(const Facts& facts) {
    const std::string id = id_of(facts);
    if (!id.empty()) {
      text_ += "- " + yaml_scalar(id) + "\n";
      return;
    }
    std::string_view mark = "- ";
    for (const std::string_view name : source_fact_names()) {
      const auto fact = facts.find(name);
      if (fact == facts.end()) continue;
      text_.append(mark).append(name).append(": ").append(yaml_scalar(fact->second)).append("\n");
      mark = "  ";
    }
    if (facts.empty()) text_ += "- {}\n";
  }

  /// An id or address from which the import takes exactly these facts; empty if there is none.
  static std::string id_of(const Facts& facts) {
    constexpr std::string_view hub = "https://huggingface.co/";
    const auto address = facts.find("repo_url");
    if (address == facts.end()) return {};
    std::vector<std::string> candidates = {address->second};
    if (address->second.starts_with(hub)) {
      candidates.insert(candidates.begin(), address->second.substr(hub.size()));
    }
    for (const std::string& id : candidates) {
      CardValue text{.kind = CardValue::Kind::text, .text = id, .items = {}, .names = {}};
      CardValue card{
          .kind = CardValue::Kind::object, .text = {}, .items = {text}, .names = {"base_model"}};
      GeneralFacts read;
      read.offer_card(card, 0);
      if (read.base_models && read.base_models->size() == 1 && read.base_models->front() == facts) {
        return id;
      }
    }
    return {};
  }

  const Model& model_;
  std::string text_;
};

}  // namespace

std::string make_model_card(const Model& model) { return Card(model).write(); }

nlohmann::ordered_json make_generation_config(const Model& model) {
  nlohmann::ordered_json config = nlohmann::ordered_json::object();
  for (const SamplingKey& row : sampling_keys) {
    const Value* const value = model.find(row.key);
    if (value == nullptr) continue;
    config[std::string(row.other_member.empty() ? row.member : row.other_member)] = json_of(*value);
  }
  if (!config.empty()) config["do_sample"] = true;
  return config;
}

}  // namespace ingot::huggingface
