// SPDX-License-Identifier: MIT
// Reads the rules of the architectures from their JSON files.
#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/with_subject.hpp"
#include "import/architectures/architecture_rules.hpp"
#include "import/architectures/folder_rule.hpp"
#include "import/architectures/rule_texts.hpp"
#include "import/architectures/rule_values.hpp"
#include "import/folder/json_text.hpp"
#include "import/folder/refusal.hpp"

namespace ingot::hf {
namespace {

using nlohmann::ordered_json;

/// Parses the rules of one file after the other; those of shared.json first.
class Reader {
 public:
  Result<void> read_shared(const ordered_json& shared) {
    shared_ = shared;
    for (const char* list : {"drop_everywhere", "drop_after_renames", "always_f32"}) {
      if (!shared.contains(list)) return wrong(list);
    }
    for (const char* map : {"keys", "transforms"}) {
      if (!shared.contains(map) || !shared[map].is_object()) return wrong(map);
    }
    return {};
  }

  Result<Architecture> architecture(const ordered_json& entry) const {
    Architecture result;
    for (const auto& [name, value] : entry.items()) {
      const auto row = std::find_if(std::begin(members), std::end(members),
                                    [&, key = name](const Member& m) { return m.name == key; });
      if (row == std::end(members)) return wrong("a known member instead of " + name);
      INGOT_TRY_VOID((this->*row->read)(value, result));
    }
    if (result.name.empty()) return wrong("architecture");
    return result;
  }

 private:
  using ReadMember = Result<void> (Reader::*)(const ordered_json&, Architecture&) const;
  struct Member {
    std::string_view name;
    ReadMember read;
  };

  Result<void> read_name(const ordered_json& value, Architecture& result) const {
    INGOT_TRY(result.name, text_of(value));
    return {};
  }
  Result<void> read_classes(const ordered_json& value, Architecture& result) const {
    INGOT_TRY(result.classes, texts_of(value));
    return {};
  }
  Result<void> read_variants(const ordered_json& value, Architecture& result) const {
    INGOT_TRY(result.variants, each<NamedVariant>(value, named_variant));
    return {};
  }
  Result<void> read_tokenizer(const ordered_json& value, Architecture& result) const {
    INGOT_TRY(result.tokenizer, texts_of(value));
    return {};
  }
  Result<void> read_keys(const ordered_json& value, Architecture& result) const {
    INGOT_TRY(result.keys, key_rules(value));
    return {};
  }
  Result<void> read_later_keys(const ordered_json& value, Architecture& result) const {
    INGOT_TRY(result.keys_after_tokenizer, key_rules(value));
    return {};
  }
  Result<void> read_first_keys(const ordered_json& value, Architecture& result) const {
    INGOT_TRY(result.keys_before_others, key_rules(value));
    return {};
  }
  Result<void> read_tensors(const ordered_json& value, Architecture& result) const {
    INGOT_TRY(result.tensors, texts_of(value));
    return {};
  }
  Result<void> read_renames(const ordered_json& value, Architecture& result) const {
    INGOT_TRY(result.renames, each<RenameRule>(value, rename_rule));
    return {};
  }
  Result<void> read_drops(const ordered_json& value, Architecture& result) const {
    INGOT_TRY(result.drops, each<NamePattern>(value, pattern_of));
    return {};
  }
  Result<void> read_extra_tensors(const ordered_json& value, Architecture& result) const {
    INGOT_TRY(result.extra_tensors, each<ExtraTensorRule>(value, extra_tensor_rule));
    return {};
  }

  Result<void> read_folders(const ordered_json& value, Architecture& result) const {
    INGOT_TRY(result.folders, each<FolderRule>(value, folder_rule));
    return {};
  }

  Result<void> read_transforms(const ordered_json& value, Architecture& result) const {
    if (!value.is_array()) return wrong("a list of transforms");
    for (const ordered_json& element : value) {
      if (element.is_string()) {
        const auto shared = shared_["transforms"].find(element.get<std::string>());
        if (shared == shared_["transforms"].end())
          return wrong("shared transforms " + element.dump());
        INGOT_TRY_VOID(read_transforms(*shared, result));
      } else {
        INGOT_TRY(result.transforms.emplace_back(), transform_rule(element));
      }
    }
    return {};
  }

  static Result<RenameRule> rename_rule(const ordered_json& value) {
    RenameRule rule;
    if (!value.is_object() || value.size() != 2 || !value.contains("to")) return wrong("a rename");
    INGOT_TRY(rule.replacement, text_of(value["to"]));
    const std::string place = value.begin().key();
    rule.place = place == "prefix"   ? RenameRule::Place::prefix
                 : place == "suffix" ? RenameRule::Place::suffix
                                     : RenameRule::Place::anywhere;
    INGOT_TRY(rule.text, text_of(value.front()));
    return rule;
  }

  static Result<NamedVariant> named_variant(const ordered_json& value) {
    NamedVariant variant;
    if (!value.is_object() || !value.contains("named") || !value.contains("class")) {
      return wrong("named and class");
    }
    INGOT_TRY(variant.text, text_of(value["named"]));
    INGOT_TRY(variant.model_class, text_of(value["class"]));
    return variant;
  }

  static Result<ExtraTensorRule> extra_tensor_rule(const ordered_json& value) {
    ExtraTensorRule rule;
    if (!value.is_object() || !value.contains("tensor") || !value.contains("values")) {
      return wrong("tensor and values");
    }
    INGOT_TRY(rule.tensor, text_of(value["tensor"]));
    if (value.contains("when")) {
      INGOT_TRY(rule.when, expression_of(value["when"]));
    }
    rule.is_llama3_factors = value["values"] == "llama3_factors";
    rule.default_factor = value.value("default_factor", rule.default_factor);
    if (!rule.is_llama3_factors) {
      INGOT_TRY(rule.values, expression_of(value["values"]));
    }
    return rule;
  }

  static Result<TransformRule> transform_rule(const ordered_json& value) {
    TransformRule rule;
    if (!value.is_object()) return wrong("a transform");
    for (const auto& [name, content] : value.items()) {
      if (name == "names") {
        INGOT_TRY(rule.names, each<NamePattern>(content, pattern_of));
      } else if (name == "op") {
        INGOT_TRY(rule.operation, text_of(content));
      } else if (name == "parts") {
        INGOT_TRY(rule.parts, texts_of(content));
      } else if (name == "to") {
        INGOT_TRY(rule.to, texts_of(content));
      } else if (name == "tokens") {
        INGOT_TRY(rule.tokens, texts_of(content));
      } else if (name == "scales") {
        INGOT_TRY(rule.scales, text_of(content));
      } else if (name == "value" && content.is_number()) {
        rule.value = content.get<double>();
      } else if (name == "axis" && content.is_number_integer()) {
        rule.axis = content.get<std::int64_t>();
      } else if (name == "heads" && content.is_array()) {
        INGOT_TRY(rule.part_heads, each<Expression>(content, expression_of));
      } else {
        INGOT_TRY(rule.numbers[name], expression_of(content));
      }
    }
    return rule;
  }

  Result<std::vector<KeyRule>> key_rules(const ordered_json& list) const {
    std::vector<KeyRule> rules;
    if (!list.is_array()) return wrong("a list of keys");
    for (const ordered_json& element : list) {
      if (!element.is_string()) {
        INGOT_TRY(KeyRule rule, including_rule(element));
        rules.push_back(std::move(rule));
        continue;
      }
      const auto text = element.get<std::string>();
      if (const auto shared = shared_["keys"].find(text); shared != shared_["keys"].end()) {
        INGOT_TRY(std::vector<KeyRule> included, key_rules(*shared));
        std::move(included.begin(), included.end(), std::back_inserter(rules));
        continue;
      }
      INGOT_TRY(KeyRule rule, key_rule(text));
      rules.push_back(std::move(rule));
    }
    return rules;
  }

  /// {"include": LIST, "set": {NAME: EXPRESSION}, "without": [NAME]}
  Result<KeyRule> including_rule(const ordered_json& value) const {
    KeyRule rule;
    if (!value.is_object() || !value.contains("include")) return wrong("include");
    INGOT_TRY(rule.included, key_rules(ordered_json::array({value["include"]})));
    if (value.contains("without")) {
      INGOT_TRY(rule.without, texts_of(value["without"]));
    }
    if (!value.contains("set")) return rule;
    for (const auto& [name, content] : value["set"].items()) {
      INGOT_TRY(Expression expression, expression_of(content));
      rule.replaced.emplace_back(name, std::move(expression));
    }
    return rule;
  }

  /// "@GROUP" or "KEY: TYPE = VALUE when CONDITION"
  static Result<KeyRule> key_rule(std::string_view text) {
    KeyRule rule;
    if (text.starts_with('@')) {
      rule.group = text.substr(1);
      return rule;
    }
    const std::size_t colon = text.find(": ");
    const std::size_t equals = text.find(" = ");
    const std::size_t when = text.find(" when ");
    if (colon == text.npos || equals == text.npos || equals < colon) {
      return wrong("KEY: TYPE = VALUE instead of " + std::string(text));
    }
    rule.key = text.substr(0, colon);
    rule.type = text.substr(colon + 2, equals - colon - 2);
    const std::size_t end = when == text.npos ? text.size() : when;
    INGOT_TRY(rule.value, Expression::parse(text.substr(equals + 3, end - equals - 3)));
    if (when != text.npos) {
      INGOT_TRY(rule.when, Expression::parse(text.substr(when + 6)));
    }
    return rule;
  }

  static constexpr Member members[] = {
      {"architecture", &Reader::read_name},
      {"classes", &Reader::read_classes},
      {"variants", &Reader::read_variants},
      {"tokenizer", &Reader::read_tokenizer},
      {"keys", &Reader::read_keys},
      {"keys_after_tokenizer", &Reader::read_later_keys},
      {"keys_before_others", &Reader::read_first_keys},
      {"tensors", &Reader::read_tensors},
      {"rename", &Reader::read_renames},
      {"drop", &Reader::read_drops},
      {"transforms", &Reader::read_transforms},
      {"extra_tensors", &Reader::read_extra_tensors},
      {"folders", &Reader::read_folders},
  };

  ordered_json shared_;
};

Result<ordered_json> parse_object(const RuleText& file) {
  ordered_json parsed;
  if (!is_nested_too_deep(file.text)) parsed = ordered_json::parse(file.text, nullptr, false);
  if (!parsed.is_object()) return refuse(std::string(file.file), "not a JSON object");
  return parsed;
}

Result<std::vector<TensorKind>> read_tensor_kinds(const ordered_json& object) {
  std::vector<TensorKind> kinds;
  for (const auto& [kind, value] : object.items()) {
    if (!value.is_object() || !value.contains("name") || !value.contains("from")) {
      return wrong("name and from in " + kind);
    }
    INGOT_TRY(std::string name, text_of(value["name"]));
    INGOT_TRY(std::vector<std::string> from, texts_of(value["from"]));
    kinds.push_back({kind, std::move(name), std::move(from)});
  }
  return kinds;
}

/// The members of an entry over those of the entry that it is like.
Result<ordered_json> resolve_likeness(const ordered_json& entry, const ordered_json& entries) {
  if (!entry.is_object()) return wrong("an object for each class");
  const auto like = entry.find("like");
  if (like == entry.end()) return entry;
  const auto base = like->is_string() ? entries.find(like->get<std::string>()) : entries.end();
  if (base == entries.end() || !base->is_object() || base->contains("like")) {
    return wrong("another entry of the file instead of " + like->dump());
  }
  ordered_json merged = *base;
  for (const char* own : {"classes", "folders", "variants"}) merged.erase(own);
  for (const auto& [name, value] : entry.items()) {
    if (name != "like") merged[name] = value;
  }
  return merged;
}

}  // namespace

Result<RuleTable> RuleTable::parse(std::span<const RuleText> files) {
  RuleTable table;
  Reader reader;
  std::vector<std::pair<std::string, ordered_json>> families;
  for (const RuleText& file : files) {
    INGOT_TRY(ordered_json object, parse_object(file));
    if (file.file == "shared.json") {
      INGOT_TRY_VOID(reader.read_shared(object));
      INGOT_TRY(table.drops_, each<NamePattern>(object["drop_everywhere"], pattern_of));
      INGOT_TRY(table.late_drops_, each<NamePattern>(object["drop_after_renames"], pattern_of));
      INGOT_TRY(table.always_f32_, each<NamePattern>(object["always_f32"], pattern_of));
      if (object.contains("folders")) {
        INGOT_TRY(table.folder_, folder_rule(object["folders"]));
      }
    } else if (file.file.starts_with("tensor_names")) {
      INGOT_TRY(std::vector<TensorKind> kinds, read_tensor_kinds(object));
      std::move(kinds.begin(), kinds.end(), std::back_inserter(table.tensor_kinds_));
    } else {
      families.emplace_back(file.file, std::move(object));
    }
  }
  for (const auto& [file, entries] : families) {
    for (const auto& [model_class, entry] : entries.items()) {
      INGOT_TRY(const ordered_json whole, resolve_likeness(entry, entries));
      Result<Architecture> architecture = reader.architecture(whole);
      if (!architecture) {
        architecture.error().subject = file + ": " + model_class;
        return fail(std::move(architecture).error());
      }
      architecture->classes.insert(architecture->classes.begin(), model_class);
      for (const std::string& name : architecture->classes) {
        table.by_class_[name] = table.architectures_.size();
      }
      table.architectures_.push_back(*std::move(architecture));
    }
  }
  return table;
}

const Result<RuleTable>& RuleTable::builtin() {
  static const Result<RuleTable> table = parse(rule_texts());
  return table;
}

const Architecture* RuleTable::find(std::string_view model_class) const {
  const auto found = by_class_.find(model_class);
  return found == by_class_.end() ? nullptr : &architectures_[found->second];
}

std::vector<std::string> RuleTable::classes() const {
  std::vector<std::string> names;
  for (const auto& entry : by_class_) names.push_back(entry.first);
  return names;
}

bool fits_one(std::span<const NamePattern> patterns, std::string_view name) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [&](const NamePattern& pattern) { return pattern.match(name).has_value(); });
}

}  // namespace ingot::hf
