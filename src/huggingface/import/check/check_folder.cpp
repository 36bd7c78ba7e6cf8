// SPDX-License-Identifier: MIT
#include "ingot/check_folder.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "huggingface/import/check/folder_inspection.hpp"
#include "huggingface/import/check/folder_rules.hpp"
#include "huggingface/import/tensors/source_tensors.hpp"

namespace ingot {
namespace huggingface {
namespace {

struct FolderRuleRow {
  std::string_view name;
  void (*run)(FolderInspection&);
};

constexpr std::array folder_rules = {
#define INGOT_CHECK_FOLDER_RULE(name, severity, category, title, remedy) \
  FolderRuleRow{#name, rules::name},
#include "ingot/check_rules.def"
};

/// The model as the import would write it, by the rules for GGUF.
Result<CheckSummary> check_import(const Import& import, const CheckOptions& options,
                                  const FindingSink& sink) {
  INGOT_TRY(const Model model, import.open_model());
  return check_model(model, options, sink);
}

void add_counts(const CheckSummary& other, CheckSummary& summary) {
  summary.errors += other.errors;
  summary.warnings += other.warnings;
  summary.notes += other.notes;
  summary.security += other.security;
  summary.is_refused |= other.is_refused;
}

}  // namespace
}  // namespace huggingface

bool has_model_to_import(const Store& store, const std::string& folder) {
  // Of a store the empty name is all of it, but of the system the folder of the process.
  if (folder.empty() && &store == &file_system()) return false;
  const auto opened = huggingface::ModelFolder::open(store, folder);
  if (!opened) return false;
  const auto ends_with = [&](std::string_view ending) {
    return std::ranges::any_of(opened->files(),
                               [&](const std::string& name) { return name.ends_with(ending); });
  };
  if (opened->has(opened->index_file())) return true;
  if (!opened->has(opened->config_file())) return false;
  // Configurations of other things than models name no class.
  return ends_with(".safetensors") ||
         (!ends_with(".gguf") && huggingface::Config::read(*opened).has_value());
}

Result<CheckSummary> check_folder(const Store& store, const std::string& folder,
                                  const CheckOptions& options, const FindingSink& sink) {
  INGOT_TRY(const huggingface::ModelFolder opened, huggingface::ModelFolder::open(store, folder));
  huggingface::FolderInspection inspection(opened, options, sink);
  INGOT_TRY_VOID(inspection.read(store, folder));
  for (const huggingface::FolderRuleRow& rule : huggingface::folder_rules) {
    inspection.run(*find_check_rule(rule.name), rule.run);
  }
  if (inspection.import() == nullptr && inspection.refusal() && !inspection.is_explained()) {
    Finding refusal = explain_refusal({}, *inspection.refusal());
    refusal.message = inspection.refusal()->message();
    inspection.pass_on(std::move(refusal));
  }
  CheckSummary summary = inspection.counts();
  if (inspection.import() != nullptr) {
    INGOT_TRY(const CheckSummary made,
              huggingface::check_import(*inspection.import(), options, sink));
    huggingface::add_counts(made, summary);
  }
  return summary;
}

}  // namespace ingot
