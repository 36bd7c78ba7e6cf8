// SPDX-License-Identifier: MIT
#include "huggingface/import/check/folder_inspection.hpp"

#include <utility>

#include "formats/safetensors/safetensors_reader.hpp"
#include "huggingface/import/tensors/source_tensors.hpp"
#include "ingot/limits.hpp"
#include "ingot/text.hpp"
#include "io/folder_file.hpp"

namespace ingot::huggingface {
namespace {

/// The error if the system failed: the folder is to blame for others.
Result<void> system_failure(const Error& error) {
  if (category_of(error.code) == ErrorCategory::system) return fail(error);
  return {};
}

}  // namespace

Result<void> FolderInspection::read(const Store& store, const std::string& path) {
  find_links(store, path);
  INGOT_TRY_VOID(read_config());
  INGOT_TRY_VOID(read_index());
  INGOT_TRY_VOID(read_headers());
  return plan(store, path);
}

/// Finds links in this folder and the folders below; does not follow a folder link that leads out.
void FolderInspection::find_links(const Store& store, const std::string& path) {
  constexpr std::size_t most_names = 10'000;  // a folder below may be a link to this one
  std::vector<std::string> names = folder_.files();
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string name = names[i];
    if (const Result<void> inside = io::check_in_folder(store, path, name); !inside) {
      if (name != "..") links_out_.emplace(name, inside.error().detail);
      continue;
    }
    for (const std::string& below : folder_.files_in(name)) {
      if (names.size() >= most_names) return;
      if (below != "." && below != "..") names.push_back(name + "/" + below);
    }
  }
}

Result<void> FolderInspection::read_config() {
  if (!folder_.has(folder_.config_file())) return {};
  auto config = Config::read(folder_);
  if (!config) return system_failure(config.error());
  config_ = *std::move(config);
  return {};
}

Result<void> FolderInspection::read_index() {
  if (folder_.has(folder_.index_file())) {
    const auto text = folder_.read_text(folder_.index_file(), max_table_bytes);
    if (!text) {
      index_error_ = text.error();
      return system_failure(text.error());
    }
    auto index = formats::parse_weight_map(*text);
    if (!index) {
      index_error_ = std::move(index).error();
      return {};
    }
    index_ = *std::move(index);
  }
  files_ = list_weight_files(folder_, index_);
  return {};
}

Result<void> FolderInspection::read_headers() {
  Limits limits;
  for (const std::string& name : files_) {
    if (!folder_.has(name)) continue;
    if (links_out_.contains(name)) continue;  // folder_link reports it
    INGOT_TRY(std::unique_ptr<Source> source, folder_.open_file(name));
    const auto opened = formats::open_safetensors_file(std::move(source), limits);
    if (!opened) {
      INGOT_TRY_VOID(system_failure(opened.error()));
      Finding refusal = explain_refusal({}, opened.error());
      refusal.file = folder_.locate(name);
      pass_on(std::move(refusal));
      continue;
    }
    for (const formats::SafetensorsTensor& tensor : opened->header.tensors) {
      tensors_.emplace(tensor.name, ListedTensor{name, tensor.shape});
    }
  }
  return {};
}

Result<void> FolderInspection::plan(const Store& store, const std::string& path) {
  ImportOptions options{.folder_name = folder_.name(), .thread_count = options_.thread_count};
  auto planned = plan_import(store, path, options);
  if (!planned) {
    refusal_ = planned.error();
    INGOT_TRY_VOID(system_failure(*refusal_));
    if (refusal_->code != Errc::pre_tokenizer_unknown) return {};
    // The other checks work with any name.
    options.pre = "default";
    planned = plan_import(store, path, options);
    if (!planned) return {};
  }
  import_ = *std::move(planned);
  return {};
}

void FolderInspection::report(std::string_view file, std::string message, std::string_view tensor) {
  ++rule_findings_;
  const std::uint64_t limit = options_.max_findings_per_rule;
  if (limit != 0 && rule_findings_ > limit) return;
  Finding finding;
  finding.rule = rule_;
  finding.message = std::move(message);
  finding.tensor = tensor;
  if (!file.empty()) finding.file = folder_.locate(file);
  pass_on(std::move(finding));
}

void FolderInspection::pass_on(Finding finding) {
  const bool is_about_import =
      finding.rule->category != RuleCategory::security || finding.rule->severity == Severity::error;
  if (is_about_import) is_explained_ = true;
  if (is_muted_) return;
  counts_.count(finding);
  sink_(finding);
}

void FolderInspection::run(const CheckRule& rule, void (*function)(FolderInspection&)) {
  rule_ = &rule;
  is_muted_ = options_.is_wanted && !options_.is_wanted(rule);
  rule_findings_ = 0;
  function(*this);
  const std::uint64_t limit = options_.max_findings_per_rule;
  if (limit != 0 && rule_findings_ > limit) {
    Finding rest;
    rest.rule = rule_;
    rest.message = format_digits(rule_findings_ - limit) + " more findings of this rule";
    pass_on(std::move(rest));
  }
  is_muted_ = false;
}

}  // namespace ingot::huggingface
