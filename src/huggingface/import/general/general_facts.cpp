// SPDX-License-Identifier: MIT
#include "huggingface/import/general/general_facts.hpp"

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "huggingface/folder/refusal.hpp"
#include "ingot/model_card.hpp"

namespace ingot::huggingface {
namespace {

/// A member of a model card, and the fact that it is. The first that has a value counts.
struct CardName {
  std::string_view member;
  std::string_view fact;
};

constexpr CardName card_names[] = {
    {"name", "name"},
    {"author", "author"},
    {"version", "version"},
    {"organization", "organization"},
    {"description", "description"},
    {"finetune", "finetune"},
    {"basename", "basename"},
    {"size_label", "size_label"},
    {"url", "source.url"},
    {"doi", "source.doi"},
    {"uuid", "source.uuid"},
    {"repo_url", "source.repo_url"},
};

/// Llama.cpp's own cards have these names; in the manner of Hugging Face they begin with "model_".
constexpr std::string_view card_prefixes[] = {"", "model_"};

constexpr CardName other_card_names[] = {
    // Some authors write these names.
    {"model_creator", "author"},
    {"model_type", "basename"},
    // Hugging Face defines these names.
    {"license_name", "license.name"},
    {"license_link", "license.link"},
};

/// The text of a scalar, or those of a list joined with commas.
std::optional<std::string> joined_texts(const CardValue& value) {
  if (value.is_text()) return value.text;
  if (value.kind != CardValue::Kind::list) return std::nullopt;
  std::string text;
  for (const CardValue& item : value.items) {
    if (!text.empty()) text += ',';
    text += item.text;
  }
  return text;
}

/// Appends a text or the texts of a list; texts that are there already come again.
void append(const CardValue& value, std::optional<std::vector<std::string>>& texts) {
  if (value.kind == CardValue::Kind::null) return;
  if (!texts) texts.emplace();
  if (value.is_text()) texts->push_back(value.text);
  if (value.kind != CardValue::Kind::list) return;
  for (const CardValue& item : value.items) {
    if (item.is_text()) texts->push_back(item.text);
  }
}

void offer_source_id(std::string_view id, std::int64_t parameter_count, Facts& facts) {
  const ModelId parts = parse_model_id(id, parameter_count);
  facts.emplace("name", model_title(parts.full_name));
  if (parts.organization) facts.emplace("organization", model_title(*parts.organization));
  if (parts.version) facts.emplace("version", *parts.version);
  if (parts.organization) {
    facts.emplace("repo_url",
                  "https://huggingface.co/" + *parts.organization + "/" + parts.full_name);
  }
}

/// "A/B" of the address of a repository at Hugging Face; empty for every other address.
std::string_view hub_id(std::string_view address) {
  for (const std::string_view start : {"http://huggingface.co/", "https://huggingface.co/"}) {
    if (!address.starts_with(start)) continue;
    address.remove_prefix(start.size());
    const std::size_t slash = address.find('/');
    const bool is_id = slash != 0 && slash < address.size() - 1 && !address.empty() &&
                       address.find('/', slash + 1) == address.npos;
    return is_id ? address : std::string_view();
  }
  return {};
}

Facts source_facts(const CardValue& source, std::int64_t parameter_count) {
  Facts facts;
  for (std::size_t i = 0; i < source.names.size(); ++i) {
    if (source.items[i].is_text()) facts.insert_or_assign(source.names[i], source.items[i].text);
  }
  if (!source.is_text()) return facts;
  const std::string_view text = source.text;
  const bool is_address =
      text.starts_with("http://") || text.starts_with("https://") || text.starts_with("ssh://");
  if (is_address) facts.emplace("repo_url", text);
  const std::string_view id = is_address ? hub_id(text) : text;
  if (!is_address || !id.empty()) offer_source_id(id, parameter_count, facts);
  return facts;
}

/// The sources that the first of the members names; one text or a list.
std::optional<std::vector<Facts>> sources(const CardValue& card,
                                          std::initializer_list<std::string_view> members,
                                          std::int64_t parameter_count) {
  const auto member =
      std::ranges::find_if(members, [&](std::string_view name) { return card.contains(name); });
  if (member == members.end()) return std::nullopt;
  const CardValue& value = card[*member];
  std::vector<Facts> list;
  if (value.is_text()) list.push_back(source_facts(value, parameter_count));
  if (value.kind == CardValue::Kind::list) {
    for (const CardValue& item : value.items) {
      list.push_back(source_facts(item, parameter_count));
    }
  }
  return list;
}

std::vector<Facts> objects_of(JsonView list) {
  std::vector<Facts> objects;
  for (const JsonView object : list.elements()) {
    Facts& facts = objects.emplace_back();
    for (const auto& [name, value] : object.members()) {
      if (value.is_text()) facts.insert_or_assign(std::string(name), std::string(value.text()));
    }
  }
  return objects;
}

std::vector<std::string> texts_of(JsonView value) {
  std::vector<std::string> texts;
  if (value.is_text()) texts.emplace_back(value.text());
  for (const JsonView item : value.elements()) {
    if (item.is_text()) texts.emplace_back(item.text());
  }
  return texts;
}

}  // namespace

const std::vector<std::string_view>& source_fact_names() {
  static const std::vector<std::string_view> names = {
      "name", "author", "version", "organization", "description", "url", "doi", "uuid", "repo_url"};
  return names;
}

void GeneralFacts::offer(std::string_view name, std::string_view text) {
  texts.emplace(std::string(name), std::string(text));
}

void GeneralFacts::offer_card(const CardValue& card, std::int64_t parameter_count) {
  const auto offer_member = [&](const std::string& member, std::string_view fact) {
    if (card[member].is_text()) offer(fact, card[member].text);
  };
  for (const std::string_view prefix : card_prefixes) {
    for (const auto& [member, fact] : card_names) {
      offer_member(std::string(prefix).append(member), fact);
    }
  }
  for (const auto& [member, fact] : other_card_names) offer_member(std::string(member), fact);
  offer_if("license", joined_texts(card["license"]));
  if (auto models =
          sources(card, {"base_model", "base_models", "base_model_sources"}, parameter_count)) {
    base_models = std::move(models);
  }
  if (auto sets = sources(card, {"datasets", "dataset", "dataset_sources"}, parameter_count)) {
    datasets = std::move(sets);
  }
  append(card["tags"], tags);
  append(card["pipeline_tag"], tags);
  append(card["languages"], languages);
  append(card["language"], languages);
}

void GeneralFacts::offer_id(std::string_view id, std::int64_t parameter_count) {
  const ModelId parts = parse_model_id(id, parameter_count);
  offer("name", model_title(parts.full_name));
  if (parts.organization) offer("organization", model_title(*parts.organization));
  offer_if("basename", parts.basename);
  offer_if("finetune", parts.finetune);
  offer_if("version", parts.version);
  offer_if("size_label", parts.size_label);
}

Result<void> GeneralFacts::replace(JsonView members, const std::string& file) {
  for (const auto& [key, value] : members.members()) {
    constexpr std::string_view prefix = "general.";
    if (!key.starts_with(prefix) || key.starts_with("general.sampling.")) continue;
    const std::string name(key.substr(prefix.size()));
    if (name == "license") continue;  // the reference skips it, too
    if (name == "base_models") {
      base_models = objects_of(value);
    } else if (name == "datasets") {
      datasets = objects_of(value);
    } else if (name == "tags") {
      tags = texts_of(value);
    } else if (name == "languages") {
      languages = texts_of(value);
    } else if (value.is_null()) {
      texts.erase(name);
    } else if (value.is_text()) {
      texts.insert_or_assign(name, std::string(value.text()));
    } else {
      return refuse(file, std::string(key) + " must be a text");
    }
  }
  return {};
}

}  // namespace ingot::huggingface
