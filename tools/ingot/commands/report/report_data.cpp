// SPDX-License-Identifier: MIT
#include "commands/report/report_data.hpp"

#include <ingot/version.h>

#include <ingot/summary.hpp>

#include "commands/json_members.hpp"
#include "commands/report/check_panel.hpp"
#include "commands/report/template_panel.hpp"
#include "commands/report/vocabulary_panel.hpp"
#include "text/memory_facts.hpp"
#include "text/show_json.hpp"
#include "text/shown_keys.hpp"
#include "text/tensor_json.hpp"
#include "text/value_text.hpp"

namespace ingot::cli {
namespace {

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
