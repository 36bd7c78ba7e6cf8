// SPDX-License-Identifier: MIT
#include "ingot/check.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/names.hpp"
#include "check/data_scan.hpp"
#include "check/inspection.hpp"
#include "check/rules.hpp"

namespace ingot {
namespace {

constexpr std::string_view refusal_remedy(Errc code) noexcept {
  switch (code) {
    case Errc::truncated:
    case Errc::tensor_outside_file:
      return "fetch the file again in full; `ingot repair --drop-broken` saves what is complete";
    case Errc::not_gguf:
      return "fetch the model again; this is another kind of file";
    case Errc::limit_exceeded:
      return "if the file is trusted, a program can raise ingot::Limits";
    case Errc::shard_mismatch:
      return "fetch the set again from one place";
    default:
      return "get the file again from its maker; `ingot repair` mends some of this";
  }
}

constexpr bool is_refusal(ErrorCategory category) noexcept {
  return category == ErrorCategory::input || category == ErrorCategory::lenient;
}

constexpr std::size_t refusal_count = 0
#define INGOT_ERROR(number, name, constant, category, sentence) \
  +(is_refusal(ErrorCategory::category) ? 1 : 0)
#include "ingot/errors.def"
#undef INGOT_ERROR
    ;

using RuleFunction = void (*)(check::Inspection&);

constexpr std::array rule_functions = {
#define INGOT_CHECK_RULE(name, severity, source, title, remedy) RuleFunction{check::rules::name},
#include "ingot/check_rules.def"
#undef INGOT_CHECK_RULE
};

constexpr auto make_rules() noexcept {
  std::array<CheckRule, refusal_count + rule_functions.size()> rules;
  std::size_t next = 0;
#define INGOT_ERROR(number, name, constant, category, sentence)           \
  if (is_refusal(ErrorCategory::category)) {                              \
    rules[next++] = {#name, Severity::error, RuleSource::format,          \
                     true,  sentence,        refusal_remedy(Errc::name)}; \
  }
#include "ingot/errors.def"
#undef INGOT_ERROR
#define INGOT_CHECK_RULE(name, severity, source, title, remedy) \
  rules[next++] = {#name, Severity::severity, RuleSource::source, false, title, remedy};
#include "ingot/check_rules.def"
#undef INGOT_CHECK_RULE
  return rules;
}

constexpr auto all_rules = make_rules();

}  // namespace

std::string_view name_of(Severity severity) noexcept {
  constexpr std::array<std::string_view, 3> names = {"note", "warning", "error"};
  return name_at(names, severity);
}

std::string_view name_of(RuleSource source) noexcept {
  constexpr std::array<std::string_view, 5> names = {"format", "convention", "loader", "security",
                                                     "data"};
  return name_at(names, source);
}

std::span<const CheckRule> check_rules() noexcept { return all_rules; }

const CheckRule* find_check_rule(std::string_view name) noexcept {
  const auto found = std::find_if(all_rules.begin(), all_rules.end(),
                                  [&](const CheckRule& rule) { return rule.name == name; });
  return found == all_rules.end() ? nullptr : &*found;
}

void CheckSummary::count(const Finding& finding) noexcept {
  if (finding.rule->is_refusal) is_refused = true;
  switch (finding.rule->severity) {
    case Severity::note:
      ++notes;
      break;
    case Severity::warning:
      ++warnings;
      break;
    case Severity::error:
      ++errors;
      break;
  }
}

Result<CheckSummary> check_model(const Model& model, const CheckOptions& options,
                                 const FindingSink& sink) {
  check::Inspection inspection(model, options, sink);
  if (options.with_data) INGOT_TRY_VOID(check::scan_data(inspection, options));
  for (std::size_t i = 0; i < rule_functions.size(); ++i) {
    const CheckRule& rule = all_rules[refusal_count + i];
    // The others are about what only GGUF has: its keys, its layout, its loaders.
    if (options.is_foreign && rule.source != RuleSource::data) continue;
    inspection.run(rule, rule_functions[i]);
  }
  if (inspection.failure()) return fail(*inspection.failure());
  return inspection.counts();
}

Result<CheckSummary> check_file(const std::string& path, const OpenOptions& open_options,
                                const CheckOptions& options, const FindingSink& sink) {
  Result<Model> model = Model::open(path, open_options);
  if (model) return check_model(*model, options, sink);
  const ErrorCategory category = category_of(model.error().code);
  if (!is_refusal(category)) return fail(std::move(model).error());
  const Finding refusal = explain_refusal(path, model.error());
  sink(refusal);
  CheckSummary summary;
  if (category == ErrorCategory::lenient) {
    OpenOptions lenient = open_options;
    lenient.is_lenient = true;
    model = Model::open(path, lenient);
    if (model) {
      INGOT_TRY(summary, check_model(*model, options, sink));
    }
  }
  summary.count(refusal);
  return summary;
}

}  // namespace ingot
