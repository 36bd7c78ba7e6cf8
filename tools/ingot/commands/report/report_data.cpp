// SPDX-License-Identifier: MIT
#include "commands/report/report_data.hpp"

#include <ingot/version.h>

#include <algorithm>
#include <array>
#include <functional>
#include <ingot/chat_profile.hpp>
#include <ingot/check.hpp>
#include <ingot/model.hpp>
#include <ingot/summary.hpp>
#include <ingot/tensor_profile.hpp>
#include <ingot/text.hpp>
#include <ingot/tokenizer.hpp>
#include <ingot/vocabulary_statistics.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "cli/json_stream.hpp"
#include "commands/json_members.hpp"
#include "text/memory_facts.hpp"
#include "text/show_json.hpp"
#include "text/shown_keys.hpp"
#include "text/tensor_json.hpp"
#include "text/value_text.hpp"

namespace ingot::cli {
namespace {

/// An array of the findings of the wanted rules, without reading weights.
void write_findings(JsonStream& json, const Model& model,
                    const std::function<bool(const CheckRule&)>& is_wanted) {
  const auto array = json.array();
  CheckOptions options;
  options.is_wanted = is_wanted;
  // Without data the check reads only some padding; the page leaves out checks that cannot be read.
  (void)check_model(model, options, [&](const Finding& finding) {
    const auto object = json.object(Layout::line);
    json.member("rule", finding.rule->name);
    json.member("severity", name_of(finding.rule->severity));
    json.member("key", finding.key);
    json.member("tensor", finding.tensor);
    json.member("message", finding.message);
    json.member("remedy", finding.rule->remedy);
  });
}

/// The member "findings": those of all rules but the ones about chat templates, which are beside
/// the template. null for a model of another format.
void write_check_panel(JsonStream& json, const Model& model, bool is_foreign) {
  json.key("findings");
  if (is_foreign) return json.null();
  write_findings(json, model,
                 [](const CheckRule& rule) { return !rule.name.starts_with("template_"); });
}

/// Models rarely have more templates; each takes a millisecond.
constexpr std::size_t max_templates = 8;
/// Longer messages are cut.
constexpr std::size_t message_columns = 240;

struct Feature {
  ChatFeature feature;
  std::string_view description;
};

constexpr std::array features = {
#define INGOT_CHAT_FEATURE(enumerator, name, description) \
  Feature{ChatFeature::enumerator, description},
#include <ingot/chat_features.def>
#undef INGOT_CHAT_FEATURE
};

/// Why no conversation can be rendered; empty if one can.
std::string problem_of(const Error& error) {
  const std::string place =
      error.line == 0 ? std::string() : "line " + std::to_string(error.line) + ": ";
  return place + escape_shortened(error.detail, message_columns);
}

void write_features(JsonStream& json, const ChatProfile& profile) {
  json.objects("features", features, [&](const Feature& row) {
    json.member("name", name_of(row.feature));
    json.member("supported", profile.supports(row.feature));
    json.member("description", row.description);
  });
}

void write_template(JsonStream& json, const Model& model, const std::string& name) {
  const auto object = json.object();
  json.member("name", name);
  const Result<ChatTemplate> chat = ChatTemplate::make(model, name);
  const ChatProfile profile = chat ? profile_chat(*chat) : ChatProfile();
  const Error* error = chat ? nullptr : &chat.error();
  if (profile.failure && !profile.reached_limit) error = &*profile.failure;
  json.key("problem");
  error == nullptr ? json.null() : json.value(problem_of(*error));
  json.member("reached_limit", profile.reached_limit);
  write_features(json, profile);
}

/// Writes the member "chat_template": the features of each template, found by rendering
/// conversations, and the findings of `ingot check`. Null for a model without a template. Takes
/// some milliseconds.
void write_template_panel(JsonStream& json, const Model& model) {
  const std::vector<std::string> names = chat_template_names(model);
  json.key("chat_template");
  if (names.empty()) return json.null();
  const auto panel = json.object();
  json.begin_array("templates");
  for (std::size_t i = 0; i < std::min(names.size(), max_templates); ++i) {
    write_template(json, model, names[i]);
  }
  json.end();
  json.key("findings");
  write_findings(json, model,
                 [](const CheckRule& rule) { return rule.name.starts_with("template_"); });
}

/// Longer texts are cut.
constexpr std::size_t token_columns = 60;

/// Writes the member "vocabulary": the output of `ingot vocab --stats --json`, and the texts of the
/// tokens with a special role. null without a readable vocabulary.
void write_vocabulary_panel(JsonStream& json, const Model& model) {
  json.key("vocabulary");
  const Result<Vocabulary> vocabulary = Vocabulary::make(model);
  if (!vocabulary) return json.null();
  const auto panel = json.object();
  json.begin_object("statistics");
  write_members(json, compute_statistics(*vocabulary));
  json.end();
  const auto tokens = json.array("special_tokens");
  for (std::size_t i = 0; i < special_token_count; ++i) {
    const TokenId id = vocabulary->special(static_cast<SpecialToken>(i));
    if (!vocabulary->contains(id)) continue;
    const auto object = json.object(Layout::line);
    json.member("name", name_of(static_cast<SpecialToken>(i)));
    json.member("id", id);
    json.member("text", escape_shortened(vocabulary->text(id), token_columns));
  }
}

/// Longer values are cut: a page is no place for a vocabulary.
constexpr std::size_t value_columns = 240;

void write_reference(JsonStream& json, const ReportData& report) {
  json.key("reference");
  if (report.reference == nullptr) return json.null();
  const Summary summary = summarize(*report.reference);
  const auto object = json.object();
  json.member("file", *report.reference_file);
  json.member("name", summary.name);
  json.member("bits_per_weight", summary.bits_per_weight);
}

/// Writes the memory of the whole model on one device, for some contexts.
void write_memory_runs(JsonStream& json, const Model& model) {
  json.objects("memory_runs", memory_runs(model), [&](const MemoryRun& run) {
    json.member("context", run.context);
    json.member("weights_bytes", run.weights_bytes);
    json.member("cache_bytes", run.cache_bytes);
    json.member("compute_bytes", run.compute_bytes);
    json.member("smallest_card_bytes", run.smallest_card);
  });
}

void write_metadata(JsonStream& json, const Model& model, bool shows_all) {
  const auto array = json.array("metadata");
  for (const KeyValue& pair : model.metadata()) {
    if (!is_shown_key(pair.key, shows_all)) continue;
    const auto object = json.object(Layout::line);
    json.member("key", pair.key);
    json.member("type", name_of(pair.value.type()));
    json.member("value", short_value_text(pair.value, value_columns));
  }
}

void write_histogram(JsonStream& json, const Histogram& histogram) {
  json.key("histogram");
  if (histogram.counts.empty()) return json.null();
  const auto object = json.object();
  json.member("low", histogram.low);
  json.member("high", histogram.high);
  json.values("counts", histogram.counts);
}

void write_error(JsonStream& json, const ReportData& report, const TensorInfo& tensor,
                 const TensorProfile& profile) {
  json.key("error");
  if (!profile.error) return json.null();
  const auto object = json.object();
  write_members(json, *profile.error);
  json.member("reference_type", type_text(find_counterpart(*report.reference, tensor)->type));
}

void write_profile(JsonStream& json, const ReportData& report, const TensorInfo& tensor,
                   const TensorProfile* profile) {
  if (profile == nullptr) {
    for (const std::string_view name : {"stats", "histogram", "error"}) {
      json.member(name, nullptr);
    }
    return;
  }
  json.begin_object("stats");
  write_members(json, profile->statistics);
  json.end();
  write_histogram(json, profile->histogram);
  write_error(json, report, tensor, *profile);
}

void write_tensors(JsonStream& json, const ReportData& report) {
  const Model& model = report.model;
  json.objects("tensors", model.tensors().size(), [&](std::size_t i) {
    const TensorInfo& tensor = model.tensors()[i];
    write_tensor_members(json, model, report.foreign, tensor);
    write_profile(json, report, tensor, report.profiles[i]);
    std::optional<WeightGrid> grid;
    if (report.profiles[i] != nullptr && is_float(tensor.type) && tensor.shape.size() > 1) {
      grid = find_grid(model, tensor).value_or(std::nullopt);
    }
    write_optional(json, "lattice", grid);
  });
}

}  // namespace

void write_report_data(JsonStream& json, const ReportData& report) {
  const auto object = json.object();
  json.member("ingot", INGOT_VERSION_STRING);
  json.member("file", report.file);
  json.key("summary");
  write_show_json(json, report.file, report.model, report.foreign);
  write_reference(json, report);
  write_memory_runs(json, report.model);
  write_check_panel(json, report.model, report.foreign != nullptr);
  write_template_panel(json, report.model);
  write_vocabulary_panel(json, report.model);
  json.values("notices", report.notices);
  write_metadata(json, report.model, report.shows_all_keys);
  write_tensors(json, report);
}

std::string json_for_html(std::string_view json) {
  std::string result;
  result.reserve(json.size());
  for (const char c : json) {
    c == '<' ? void(result += "\\u003c") : void(result += c);
  }
  return result;
}

}  // namespace ingot::cli
