// SPDX-License-Identifier: MIT
// The rules that come nearest to a folder whose class has none.
#include <algorithm>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <variant>

#include "base/strings.hpp"
#include "huggingface/import/run/plan_parts.hpp"
#include "huggingface/import/tensors/tensor_name_map.hpp"

namespace ingot::huggingface {
namespace {

/// The most names that a message lists.
constexpr std::size_t max_listed = 6;

/// A name with `{layer}` in the place of the number of its layer, and of every other number.
std::string general_name(std::string_view name) {
  std::string general;
  bool is_first = true;
  while (!name.empty()) {
    const std::string_view part = take_part(name, '.');
    general += is_first ? "" : ".";
    general += number_of(part) ? std::string_view("{layer}") : part;
    is_first = false;
  }
  return general;
}

/// Whether an operation gives its tensors other names, by which they have a place.
bool renames(const TransformOperation& operation) {
  return std::visit(
      []<class Operation>(const Operation& one) {
        if constexpr (requires { one.to; }) return true;
        return false;
      },
      operation);
}

/// How well rules fit a folder.
struct Fit {
  const Architecture* rules = nullptr;
  std::size_t kinds = 0;                // of tensors
  std::set<std::string> homeless = {};  // kinds that have no place
  std::set<std::string> missing = {};   // messages on what config.json lacks
  std::size_t alike = 0;                // letters that the names of the classes begin with alike
  std::size_t unused = 0;               // kinds that the folder has not

  [[nodiscard]] auto rank() const {
    return std::tuple(homeless.size(), missing.size(), -static_cast<std::int64_t>(alike), unused);
  }
};

std::size_t common_letters(std::string_view a, std::string_view b) {
  return static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
}

void check_keys(std::span<const KeyRule> rules, const RuleContext& context,
                std::set<std::string>& missing) {
  for (const KeyRule& rule : rules) {
    if (!rule.included.empty()) {
      check_keys(rule.included, context, missing);
      continue;
    }
    const auto condition = rule.when.evaluate(context);
    if (rule.when.is_set() && condition && !is_truthy(*condition)) continue;
    const auto value = rule.value.evaluate(context);
    if (!value) missing.insert(value.error().detail);
  }
}

Fit measure(const RuleTable& table, const Architecture& rules, const Config& config,
            const std::vector<SourceTensor>& tensors, std::span<const NamedShape> shapes) {
  Fit fit{.rules = &rules};
  auto layered = settled_config(config, rules, shapes);
  const Config& used = layered ? *layered : config;
  if (!layered) fit.missing.insert(layered.error().detail);
  for (const std::string& name : rules.classes) {
    fit.alike = std::max(fit.alike, common_letters(name, config.model_class()));
  }
  std::vector<std::string> left_out;
  auto renamed = rename_tensors(table, rules, used, tensors, left_out);
  if (!renamed) return fit;
  const TensorNameMap map(table, rules, max_layers);
  std::set<std::string> used_names;
  for (const SourceTensor& tensor : *renamed) {
    if (const auto mapped = map.find(tensor.name)) {
      used_names.insert(general_name(*mapped));
      continue;
    }
    const bool is_transformed =
        std::ranges::any_of(rules.transforms, [&](const TransformRule& rule) {
          return std::ranges::any_of(rule.names, [&](const NamePattern& pattern) {
            return pattern.match(tensor.name, rule.parts).has_value() && renames(rule.operation);
          });
        });
    if (!is_transformed) fit.homeless.insert(general_name(tensor.name));
  }
  fit.kinds = renamed->size();
  fit.unused = rules.tensors.size() - std::min(rules.tensors.size(), used_names.size());
  check_keys(rules.keys, {.config = used, .tensors = shapes}, fit.missing);
  return fit;
}

std::string listed(const std::set<std::string>& texts) {
  std::vector<std::string> first(
      texts.begin(),
      std::next(texts.begin(), static_cast<std::ptrdiff_t>(std::min(texts.size(), max_listed))));
  std::string list = joined(first, ", ");
  if (texts.size() > max_listed) {
    list += " and " + std::to_string(texts.size() - max_listed) + " more";
  }
  return list;
}

}  // namespace

std::string describe_nearest(const RuleTable& table, const ModelFolder& folder,
                             const Config& config) {
  const auto tensors = list_tensors(folder);
  if (!tensors || tensors->empty()) return "known are " + joined(table.classes());
  const std::vector<NamedShape> shapes = shapes_of(*tensors);
  std::vector<SourceTensor> kinds;
  std::set<std::string> known;
  for (const SourceTensor& tensor : *tensors) {
    if (known.insert(general_name(tensor.name)).second) kinds.push_back(tensor);
  }
  Fit best;
  for (const Architecture& rules : table.architectures()) {
    if (rules.classes.front().find(':') != std::string::npos || rules.is_draft) continue;
    Fit fit = measure(table, rules, config, kinds, shapes);
    if (best.rules == nullptr || fit.rank() < best.rank()) best = std::move(fit);
  }
  if (best.rules == nullptr) return "no class is known";
  std::string_view model_class = best.rules->classes.front();
  for (const std::string& name : best.rules->classes) {
    const bool is_nearer = common_letters(name, config.model_class()) >
                           common_letters(model_class, config.model_class());
    if (is_nearer) model_class = name;
  }
  std::string text = "no rules are for this class; nearest are those of " +
                     std::string(model_class) + " (" + best.rules->name + ")";
  if (best.homeless.empty()) {
    text += ", where all " + std::to_string(best.kinds) + " kinds of its tensors have a place";
  } else {
    text += "; of " + std::to_string(best.kinds) +
            " kinds of tensors these have no place there: " + listed(best.homeless);
  }
  if (!best.missing.empty()) text += "; config.json: " + listed(best.missing);
  return text + "; --class " + std::string(model_class) + " imports by these rules, at your risk";
}

}  // namespace ingot::huggingface
