// SPDX-License-Identifier: MIT
// Reads the rules of the architectures from their JSON files.
#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <type_traits>
#include <utility>

#include "huggingface/folder/json_text.hpp"
#include "huggingface/folder/refusal.hpp"
#include "huggingface/rules/architecture_rules.hpp"
#include "huggingface/rules/rule_values.hpp"

namespace ingot::huggingface {

using nlohmann::ordered_json;

static Result<void> read_value(const ordered_json& value, RenameRule& rule) {
  if (!value.is_object() || value.size() != 2 || !value.contains("to")) return wrong("a rename");
  const std::string place = value.begin().key();
  rule.place = place == "prefix"     ? RenameRule::Place::prefix
               : place == "suffix"   ? RenameRule::Place::suffix
               : place == "numbered" ? RenameRule::Place::numbered
                                     : RenameRule::Place::anywhere;
  INGOT_TRY_VOID(read_value(value.front(), rule.text));
  return read_value(value["to"], rule.replacement);
}

static Result<void> read_value(const ordered_json& value, VariantRule& variant) {
  static constexpr RuleMember<VariantRule> members[] = {
      {"named", read_into<&VariantRule::text>},
      {"when", read_into<&VariantRule::when>},
      {"class", read_into<&VariantRule::model_class>},
  };
  return read_members(value, members, variant);
}

static Result<void> read_value(const ordered_json& value, RefusalRule& rule) {
  static constexpr RuleMember<RefusalRule> members[] = {
      {"when", read_into<&RefusalRule::when>},
      {"because", read_into<&RefusalRule::because>},
  };
  return read_members(value, members, rule);
}

static Result<void> read_value(const ordered_json& value, OtherFileRule& rule) {
  static constexpr RuleMember<OtherFileRule> members[] = {
      {"file", read_into<&OtherFileRule::file>},
      {"prefix", read_into<&OtherFileRule::prefix>},
      {"dense_module", read_into<&OtherFileRule::is_dense_module>},
  };
  return read_members(value, members, rule);
}

static Result<void> read_value(const ordered_json& value, FolderRule& rule) {
  static constexpr RuleMember<FolderRule> members[] = {
      {"when", read_into<&FolderRule::when>},
      {"class", read_into<&FolderRule::model_class>},
      {"tokenizer", read_into<&FolderRule::tokenizer_class>},
      {"members", read_into<&FolderRule::preferred>},
      {"names", read_into<&FolderRule::names_by_kind>},
      {"set", read_into<&FolderRule::members>},
  };
  return read_members(value, members, rule);
}

/// "llama3_factors", or an expression.
static Result<void> read_extra_values(const ordered_json& value, ExtraTensorRule& rule) {
  rule.is_llama3_factors = value == "llama3_factors";
  if (rule.is_llama3_factors) return {};
  return read_value(value, rule.values);
}

static Result<void> read_value(const ordered_json& value, ExtraTensorRule& rule) {
  static constexpr RuleMember<ExtraTensorRule> members[] = {
      {"tensor", read_into<&ExtraTensorRule::tensor>},
      {"values", read_extra_values},
      {"sines", read_into<&ExtraTensorRule::sines>},
      {"when", read_into<&ExtraTensorRule::when>},
      {"default_factor", read_into<&ExtraTensorRule::default_factor>},
      {"size", read_into<&ExtraTensorRule::size>},
  };
  return read_members(value, members, rule);
}

/// "F32", "F16", "Q8_0", "F16 or F32": F16 where that is asked for, else F32; "as weights".
static Result<void> read_rule_type(const ordered_json& value, TypeRule& rule) {
  rule.is_half_if_asked = value == "F16 or F32";
  rule.is_as_weights = value == "as weights";
  if (rule.is_half_if_asked || rule.is_as_weights || value == "F32") return {};
  if (value != "F16" && value != "Q8_0") {
    return wrong("F32, F16, Q8_0, F16 or F32, or as weights", value);
  }
  rule.type = value == "F16" ? TensorType::f16 : TensorType::q8_0;
  return {};
}

static Result<void> read_value(const ordered_json& value, TypeRule& rule) {
  static constexpr RuleMember<TypeRule> members[] = {
      {"names", read_into<&TypeRule::names>},
      {"type", read_rule_type},
  };
  return read_members(value, members, rule);
}

/// Reads the members of an operation; those of every rule are read elsewhere.
template <class Operation>
static Result<void> read_operation(const ordered_json& value, Operation& operation) {
  const auto read_member = [&](const auto& member) -> Result<void> {
    const auto found = value.find(member.name);
    if (found != value.end()) return read_value(*found, operation.*member.place);
    if (!member.is_needed) return {};
    return wrong("the member " + std::string(member.name) + " of " + std::string(Operation::name));
  };
  const auto read_all = [&](const auto&... member) {
    Result<void> read;
    static_cast<void>(((read = read_member(member)).has_value() && ...));
    return read;
  };
  const auto has = [](std::string_view name) {
    return std::apply([&](const auto&... member) { return ((member.name == name) || ...); },
                      Operation::members);
  };
  static constexpr std::string_view shared[] = {"op", "names", "parts", "when"};
  for (const auto& [name, content] : value.items()) {
    if (std::ranges::count(shared, name) == 0 && !has(name)) {
      return wrong("a member of " + std::string(Operation::name) + " instead of " + name);
    }
  }
  INGOT_TRY_VOID(std::apply(read_all, Operation::members));
  if constexpr (std::is_same_v<Operation, SplitRows>) {
    if (operation.sizes.size() != operation.to.size()) return wrong("a name for each size");
  }
  if constexpr (std::is_same_v<Operation, RegroupHeads>) {
    if (operation.sizes.size() < 2) return wrong("the sizes of two axes at least");
  }
  return {};
}

template <std::size_t... index>
static Result<void> read_operation(const ordered_json& value, TransformOperation& operation,
                                   std::index_sequence<index...>) {
  std::string wanted;
  INGOT_TRY_VOID(read_value(value.value("op", ordered_json()), wanted));
  Result<void> read = wrong("a known operation instead of " + wanted);
  const auto read_if_named = [&]<class Operation>(std::type_identity<Operation>) {
    if (Operation::name != wanted) return false;
    read = read_operation(value, operation.emplace<Operation>());
    return true;
  };
  static_cast<void>(
      (read_if_named(std::type_identity<std::variant_alternative_t<index, TransformOperation>>()) ||
       ...));
  return read;
}

static Result<void> read_value(const ordered_json& value, TransformRule& rule) {
  if (!value.is_object()) return wrong("a transform", value);
  INGOT_TRY_VOID(read_value(value.value("names", ordered_json()), rule.names));
  INGOT_TRY_VOID(read_value(value.value("parts", ordered_json::array()), rule.parts));
  INGOT_TRY_VOID(read_value(value.value("when", ordered_json()), rule.when));
  return read_operation(value, rule.operation,
                        std::make_index_sequence<std::variant_size_v<TransformOperation>>());
}

/// "@GROUP" or "KEY: TYPE = VALUE when CONDITION"
static Result<void> read_key_text(std::string_view text, KeyRule& rule) {
  if (text.starts_with('@')) {
    rule.group = text.substr(1);
    return {};
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
  if (when == text.npos) return {};
  INGOT_TRY(rule.when, Expression::parse(text.substr(when + 6)));
  return {};
}

/// A text, or {"include": LIST, "set": {NAME: EXPRESSION}, "without": [NAME], "when": CONDITION}.
static Result<void> read_value(const ordered_json& value, KeyRule& rule) {
  static constexpr RuleMember<KeyRule> members[] = {
      {"include", read_into<&KeyRule::included>},
      {"set", read_into<&KeyRule::replaced>},
      {"without", read_into<&KeyRule::without>},
      {"when", read_into<&KeyRule::when>},
  };
  if (value.is_string()) return read_key_text(value.get_ref<const std::string&>(), rule);
  return read_members(value, members, rule);
}

static Result<void> read_value(const ordered_json& value, Architecture& architecture) {
  static constexpr RuleMember<Architecture> members[] = {
      {"architecture", read_into<&Architecture::name>},
      {"classes", read_into<&Architecture::classes>},
      {"variants", read_into<&Architecture::variants>},
      {"refuse", read_into<&Architecture::refusals>},
      {"tokenizer", read_into<&Architecture::tokenizer>},
      {"keys", read_into<&Architecture::keys>},
      {"keys_after_tokenizer", read_into<&Architecture::keys_after_tokenizer>},
      {"keys_before_others", read_into<&Architecture::keys_before_others>},
      {"tensors", read_into<&Architecture::tensors>},
      {"config", read_into<&Architecture::config>},
      {"extra_layers", read_into<&Architecture::extra_layers>},
      {"layers", read_into<&Architecture::layers>},
      {"shared_with_draft", read_into<&Architecture::shared_with_draft>},
      {"layers_differ", read_into<&Architecture::layers_differ>},
      {"empty_layers", read_into<&Architecture::has_empty_layers>},
      {"keeps_types", read_into<&Architecture::keeps_types>},
      {"draft", read_into<&Architecture::is_draft>},
      {"other_files", read_into<&Architecture::other_files>},
      {"rename", read_into<&Architecture::renames>},
      {"drop", read_into<&Architecture::drops>},
      {"keep", read_into<&Architecture::keeps>},
      {"types", read_into<&Architecture::types>},
      {"transforms", read_into<&Architecture::transforms>},
      {"extra_tensors", read_into<&Architecture::extra_tensors>},
      {"folders", read_into<&Architecture::folders>},
      {"folder_names", read_into<&Architecture::has_folder_names>},
  };
  INGOT_TRY_VOID(read_members(value, members, architecture));
  if (architecture.name.empty()) return wrong("architecture");
  return {};
}

static Result<void> read_value(const ordered_json& value, TensorKind& kind) {
  static constexpr RuleMember<TensorKind> members[] = {
      {"name", read_into<&TensorKind::name>},
      {"from", read_into<&TensorKind::from>},
  };
  return read_members(value, members, kind);
}

namespace {

/// A list of rules with the content of shared lists in the place of their names.
ordered_json expanded(const ordered_json& list, const ordered_json& shared) {
  ordered_json whole = ordered_json::array();
  for (ordered_json element : list) {
    const auto named = element.is_string() ? shared.find(element.get<std::string>()) : shared.end();
    if (named != shared.end()) {
      for (ordered_json& inner : expanded(*named, shared)) whole.push_back(std::move(inner));
      continue;
    }
    if (element.is_object() && element.contains("include")) {
      element["include"] = expanded(ordered_json::array({element["include"]}), shared);
    }
    whole.push_back(std::move(element));
  }
  return whole;
}

/// The lists of an entry whose elements may be names of lists of shared.json, and where there.
constexpr std::pair<const char*, const char*> lists_with_names[] = {
    {"keys", "keys"},     {"keys_after_tokenizer", "keys"}, {"keys_before_others", "keys"},
    {"rename", "rename"}, {"transforms", "transforms"},     {"types", "types"},
};

Result<ordered_json> parse_object(const RuleText& file) {
  ordered_json parsed;
  if (!is_nested_too_deep(file.text)) parsed = ordered_json::parse(file.text, nullptr, false);
  if (!parsed.is_object()) return refuse(std::string(file.file), "not a JSON object");
  return parsed;
}

/// The members of an entry over those of the entry that it is like, which may be like one more.
Result<ordered_json> resolve_likeness(const ordered_json& entry, const ordered_json& entries,
                                      bool may_be_like = true) {
  if (!entry.is_object()) return wrong("an object for each class");
  const auto like = entry.find("like");
  if (like == entry.end()) return entry;
  const auto base = like->is_string() ? entries.find(like->get<std::string>()) : entries.end();
  if (base == entries.end() || (!may_be_like && base->contains("like"))) {
    return wrong("another entry of the file instead of " + like->dump());
  }
  INGOT_TRY(ordered_json merged, resolve_likeness(*base, entries, false));
  for (const char* own : {"classes", "folders", "folder_names", "variants"}) merged.erase(own);
  for (const auto& [name, value] : entry.items()) {
    if (name != "like") merged[name] = value;
  }
  return merged;
}

/// The lists of another file of shared ones beside those that are there.
void add_shared(const ordered_json& more, ordered_json& shared) {
  for (const auto& [names, lists] : more.items()) {
    for (const auto& [name, list] : lists.items()) shared[names][name] = list;
  }
}

}  // namespace

Result<RuleTable> RuleTable::parse(std::span<const RuleText> files) {
  RuleTable table;
  ordered_json shared;
  std::vector<std::string> projector_kinds;
  std::vector<std::pair<std::string, ordered_json>> families;
  for (const RuleText& file : files) {
    INGOT_TRY(ordered_json object, parse_object(file));
    const bool is_of_projectors = file.file.starts_with("projectors/names_");
    if (file.file == "shared.json") {
      shared = std::move(object);
      INGOT_TRY_VOID(read_value(shared["drop_everywhere"], table.drops_));
      INGOT_TRY_VOID(read_value(shared["drop_after_renames"], table.late_drops_));
      INGOT_TRY_VOID(read_value(shared["always_f32"], table.always_f32_));
    } else if (file.file == "names/folders.json") {
      INGOT_TRY_VOID(read_value(object, table.folder_));
    } else if (file.file == "projectors/shared.json") {
      add_shared(object, shared);
    } else if (file.file.starts_with("names/tensors") || is_of_projectors) {
      for (const auto& [kind, names] : object.items()) {
        TensorKind& added = table.tensor_kinds_.emplace_back();
        added.kind = kind;
        INGOT_TRY_VOID(read_value(names, added));
        if (is_of_projectors) projector_kinds.push_back(kind);
      }
    } else {
      families.emplace_back(file.file, std::move(object));
    }
  }
  for (const auto& [file, entries] : families) {
    for (const auto& [model_class, entry] : entries.items()) {
      INGOT_TRY(ordered_json whole, resolve_likeness(entry, entries));
      for (const auto& [list, names] : lists_with_names) {
        if (whole.contains(list)) whole[list] = expanded(whole[list], shared[names]);
      }
      Architecture architecture;
      auto read = read_value(whole, architecture);
      if (!read) {
        read.error().subject = file + ": " + model_class;
        return fail(std::move(read).error());
      }
      architecture.classes.insert(architecture.classes.begin(), model_class);
      if (file.starts_with("projectors/")) {
        architecture.tensors = projector_kinds;
        for (const std::string& name : architecture.classes) {
          table.projectors_[name] = architecture;
        }
        continue;
      }
      for (const std::string& name : architecture.classes) {
        table.by_class_[name] = table.architectures_.size();
      }
      table.architectures_.push_back(std::move(architecture));
    }
  }
  return table;
}

const RuleTable& RuleTable::builtin() {
  static const RuleTable table = parse(rule_texts()).value_or(RuleTable());
  return table;
}

const Architecture* RuleTable::find(std::string_view model_class) const {
  const auto found = by_class_.find(model_class);
  return found == by_class_.end() ? nullptr : &architectures_[found->second];
}

const Architecture* RuleTable::find_projector(std::string_view model_class) const {
  const auto found = projectors_.find(model_class);
  return found == projectors_.end() ? nullptr : &found->second;
}

std::vector<std::string> RuleTable::projector_classes() const {
  std::vector<std::string> names;
  for (const auto& [name, projector] : projectors_) names.push_back(name);
  return names;
}

std::vector<std::string> RuleTable::classes() const {
  std::vector<std::string> names;
  for (const auto& [name, place] : by_class_) {
    if (name.find(':') == name.npos) names.push_back(name);
  }
  return names;
}

}  // namespace ingot::huggingface
