// SPDX-License-Identifier: MIT
#include "ingot/check.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/ranges.hpp"
#include "check/data_scan.hpp"
#include "check/inspection.hpp"
#include "check/rules.hpp"

namespace ingot {
namespace {

constexpr bool is_refusal(ErrorCategory category) noexcept {
  return category == ErrorCategory::input || category == ErrorCategory::lenient;
}

constexpr std::size_t refusal_count = 0
#define INGOT_ERROR(number, name, constant, category, sentence) \
  +(is_refusal(ErrorCategory::category) ? 1 : 0)
#include "ingot/errors.def"
    ;

using RuleFunction = void (*)(check::Inspection&);

constexpr std::array rule_functions = {
#define INGOT_CHECK_RULE(name, severity, source, category, title, remedy) \
  RuleFunction{check::rules::name},
#include "ingot/check_rules.def"
};

constexpr std::size_t folder_rule_count = 0
#define INGOT_CHECK_FOLDER_RULE(name, severity, category, title, remedy) +1
#include "ingot/check_rules.def"
    ;

/// The columns of check_rules.def for an error.
struct RefusalRow {
  Errc code;
  RuleCategory category;
  std::string_view remedy;
};

constexpr std::array refusal_rows = {
#define INGOT_CHECK_REFUSAL(error, category, remedy) \
  RefusalRow{Errc::error, RuleCategory::category, remedy},
#include "ingot/check_rules.def"
};

constexpr CheckRule make_refusal(Errc code, std::string_view name, std::string_view sentence) {
  CheckRule rule{.name = name, .is_refusal = true, .title = sentence, .remedy = {}};
  for (const RefusalRow& row : refusal_rows) {
    if (row.code != code) continue;
    rule.category = row.category;
    rule.remedy = row.remedy;
  }
  return rule;
}

constexpr auto make_rules() noexcept {
  std::array<CheckRule, refusal_count + rule_functions.size() + folder_rule_count> rules;
  std::size_t next = 0;
#define INGOT_ERROR(number, name, constant, category, sentence) \
  if (is_refusal(ErrorCategory::category)) {                    \
    rules[next++] = make_refusal(Errc::name, #name, sentence);  \
  }
#include "ingot/errors.def"
  const auto add = [&](std::string_view name, Severity severity, RuleSource source,
                       RuleCategory category, std::string_view title, std::string_view remedy) {
    rules[next++] = {name, severity, source, category, false, title, remedy};
  };
#define INGOT_CHECK_RULE(name, severity, source, category, title, remedy) \
  add(#name, Severity::severity, RuleSource::source, RuleCategory::category, title, remedy);
#include "ingot/check_rules.def"
#define INGOT_CHECK_FOLDER_RULE(name, severity, category, title, remedy) \
  add(#name, Severity::severity, RuleSource::folder, RuleCategory::category, title, remedy);
#include "ingot/check_rules.def"
  return rules;
}

constexpr auto all_rules = make_rules();

}  // namespace

std::string_view name_of(Severity severity) noexcept {
  constexpr std::array<std::string_view, 3> names = {"note", "warning", "error"};
  return name_at(names, severity);
}

std::string_view name_of(RuleSource source) noexcept {
  constexpr std::array<std::string_view, 6> names = {"format",   "convention", "loader",
                                                     "security", "data",       "folder"};
  return name_at(names, source);
}

std::string_view name_of(RuleCategory category) noexcept {
  constexpr std::array<std::string_view, 2> names = {"conformance", "security"};
  return name_at(names, category);
}

std::span<const CheckRule> check_rules() noexcept { return all_rules; }

const CheckRule* find_check_rule(std::string_view name) noexcept {
  return find_row(all_rules, &CheckRule::name, name);
}

void CheckSummary::count(const Finding& finding) noexcept {
  if (finding.rule->is_refusal) is_refused = true;
  if (finding.rule->category == RuleCategory::security) ++security;
  std::uint64_t* const counts[] = {&notes, &warnings, &errors};  // in the order of Severity
  ++*counts[static_cast<std::size_t>(finding.rule->severity)];
}

Result<CheckSummary> check_model(const Model& model, const CheckOptions& options,
                                 const FindingSink& sink) {
  if (!model.is_verified()) {
    return fail(Errc::invalid_argument, std::string(layout_index_key),
                "the model was read through its index; a check reads all of it");
  }
  check::Inspection inspection(model, options, sink);
  Result<void> scanned;
  if (options.with_data) scanned = check::scan_data(inspection, options);
  for (std::size_t i = 0; i < rule_functions.size(); ++i) {
    const CheckRule& rule = all_rules[refusal_count + i];
    // The others are about what only GGUF has: its keys, its layout, its loaders.
    const bool is_of_any_format =
        rule.source == RuleSource::data || rule_functions[i] == check::rules::foreign_format;
    if (options.is_foreign && !is_of_any_format) continue;
    // What is known from the header is told, too, where the weights cannot be read to their end.
    if (!scanned && rule.source == RuleSource::data) continue;
    if (options.is_wanted && !options.is_wanted(rule)) continue;
    inspection.run(rule, rule_functions[i]);
  }
  if (!scanned) return fail(std::move(scanned).error());
  if (inspection.failure()) return fail(*inspection.failure());
  return inspection.counts();
}

Result<CheckSummary> check_file(const std::string& path, const OpenOptions& open_options,
                                const CheckOptions& options, const FindingSink& sink) {
  const Result<Model> model = Model::open(path, open_options);
  if (model) return check_model(*model, options, sink);
  const ErrorCategory category = category_of(model.error().code);
  if (!is_refusal(category)) return fail(model.error());
  const Finding refusal = explain_refusal(path, model.error());
  sink(refusal);
  CheckSummary summary;
  if (category == ErrorCategory::lenient) {
    OpenOptions lenient = open_options;
    lenient.is_lenient = true;
    if (const Result<Model> opened = Model::open(path, lenient)) {
      INGOT_TRY(summary, check_model(*opened, options, sink));
    }
  }
  summary.count(refusal);
  return summary;
}

}  // namespace ingot
