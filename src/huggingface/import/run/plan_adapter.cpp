// SPDX-License-Identifier: MIT
// Plans the import of a LoRA adapter: its own tensors, by the rules of its base.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <utility>

#include "huggingface/import/general/general_keys.hpp"
#include "huggingface/import/lora/adapter_folder.hpp"
#include "huggingface/import/run/folder_import.hpp"
#include "huggingface/import/run/plan_parts.hpp"
#include "huggingface/import/tokenizer/tokenizer_keys.hpp"
#include "ingot/import.hpp"
#include "ingot/metadata_keys.hpp"

namespace ingot {
namespace huggingface {
namespace {

/// Counts as gguf-py does: a product counts as the matrix that it changes. The sum is negative, so
/// that the rules on names do not take it for the size of a model.
ParameterCounts count_changed(const TensorPlan& plan) {
  ParameterCounts counts;
  std::int64_t row = 0;
  bool has_halves = false;
  for (const PlannedTensor& tensor : plan.tensors) {
    const std::vector<std::uint64_t>& shape = tensor.info.shape;
    if (tensor.info.name.ends_with(".lora_a")) {
      row = static_cast<std::int64_t>(shape[0]);
      has_halves = true;
      continue;
    }
    const bool is_half = tensor.info.name.ends_with(".lora_b");
    std::int64_t size = is_half ? row : static_cast<std::int64_t>(shape[0]);
    for (std::size_t i = 1; i < shape.size(); ++i) size *= static_cast<std::int64_t>(shape[i]);
    counts.total += size;
  }
  if (has_halves) counts.total = -counts.total;
  return counts;
}

/// Engines multiply by alpha / rank.
Result<float> alpha_for_engines(const AdapterConfig& config, const AdapterTensors& tensors) {
  if (!config.is_rank_stabilized) return static_cast<float>(config.alpha);
  if (tensors.rank == 0) {
    return fail(Errc::adapter_invalid, "use_rslora",
                "its ranks differ, so no one alpha scales all tensors as it demands");
  }
  return static_cast<float>(config.alpha * std::sqrt(static_cast<double>(tensors.rank)));
}

class AdapterPlanner {
 public:
  AdapterPlanner(ModelFolder folder, ModelFolder base, const ImportOptions& options)
      : folder_(std::move(folder)), base_(std::move(base)), options_(options) {}

  Result<std::unique_ptr<Import>> plan() {
    const RuleTable& table = RuleTable::builtin();
    INGOT_TRY(const AdapterConfig adapter, read_adapter_config(folder_));
    INGOT_TRY(Config config, Config::read(base_));
    INGOT_TRY(const Architecture* const architecture, find_rules(table, base_, config));
    INGOT_TRY(AdapterTensors stored, list_adapter_tensors(folder_, adapter));
    INGOT_TRY(config, settled_config(config, *architecture, shapes_of(stored.tensors)));
    INGOT_TRY(const float alpha, alpha_for_engines(adapter, stored));
    const TensorType type = options_.type.value_or(stored.type);
    INGOT_TRY_VOID(check_type(type));
    INGOT_TRY(TensorTask task, make_task(table, *architecture, config, std::move(stored.tensors)));
    task.type = type;
    task.is_exact = options_.exact;
    task.thread_count = options_.thread_count;
    INGOT_TRY(TensorPlan plan, plan_tensors(std::move(task)));
    plan.remarks.insert(plan.remarks.begin(), remarks_.begin(), remarks_.end());
    INGOT_TRY(KeyPlan keys, make_keys(*architecture, adapter, alpha, plan));
    return FolderImport::make(std::move(keys), std::move(plan), type, options_);
  }

 private:
  /// The tensors under the names by which the rules know them; those that no import takes, such as
  /// those of an image encoder, are left out.
  Result<TensorTask> make_task(const RuleTable& table, const Architecture& architecture,
                               const Config& config, std::vector<SourceTensor> tensors) {
    TensorTask task{.config = config, .table = table, .architecture = architecture, .tensors = {}};
    task.is_adapter = true;
    task.as_reference = options_.as_reference;
    std::vector<std::string> left_out;
    for (SourceTensor& tensor : tensors) {
      const std::string name = tensor.name;
      std::vector<SourceTensor> one;
      one.push_back(std::move(tensor));
      INGOT_TRY(one, rename_tensors(table, architecture, config, std::move(one), left_out));
      if (!one.empty()) {
        task.tensors.push_back(std::move(one.front()));
      } else if (name == "lm_head.weight") {
        return fail(Errc::adapter_mismatch, name,
                    "the base shares this tensor with its embeddings, which the adapter would "
                    "not change alike");
      } else {
        remarks_.push_back({.code = Errc::left_out, .subject = name, .detail = {}});
      }
    }
    if (needs_tokens(task)) {
      INGOT_TRY_VOID(add_tokenizer_keys(base_, config, architecture.name, architecture.tokenizer,
                                        options_, tokenizer_, remarks_));
      const auto tokens = tokenizer_.find(keys::tokenizer_ggml_tokens);
      if (tokens) task.tokens = tokens->as_array();
    }
    return task;
  }

  /// Whether embeddings are cut to the tokens of the base.
  static bool needs_tokens(const TensorTask& task) {
    const auto& rules = task.architecture.transforms;
    return std::ranges::any_of(rules, [&](const TransformRule& rule) {
      return std::holds_alternative<CutRowsToVocab>(rule.operation) &&
             std::ranges::any_of(task.tensors, [&](const SourceTensor& tensor) {
               return fits_one(rule.names, tensor.name);
             });
    });
  }

  Result<KeyPlan> make_keys(const Architecture& architecture, const AdapterConfig& adapter,
                            float alpha, const TensorPlan& plan) {
    KeyPlan all;
    all.from("rule");
    all.set_string(keys::general_architecture, architecture.name);
    all.set_string(keys::general_type, "adapter");
    all.set_string("adapter.type", "lora");
    INGOT_TRY_VOID(add_general_keys(folder_, count_changed(plan), options_, all));
    all.from("adapter_config.json");
    all.set("adapter.lora.alpha", alpha);
    if (!adapter.invocation_tokens.empty()) {
      all.set_array("adapter.alora.invocation_tokens",
                    std::span<const std::uint32_t>(adapter.invocation_tokens));
    }
    all.from("rule");
    all.set(keys::general_quantization_version, quantization_version);
    return all;
  }

  ModelFolder folder_;
  ModelFolder base_;
  ImportOptions options_;
  KeyPlan tokenizer_;  // tokenizer keys of the base, if its tokens count
  std::vector<Error> remarks_;
};

}  // namespace
}  // namespace huggingface

Result<std::unique_ptr<Import>> plan_adapter_import(const Store& store, const std::string& folder,
                                                    const Store& base_store,
                                                    const std::string& base_folder,
                                                    const ImportOptions& options) {
  INGOT_TRY(huggingface::ModelFolder opened,
            huggingface::ModelFolder::open(store, folder, options.folder_name.value_or("")));
  INGOT_TRY(huggingface::ModelFolder base, huggingface::ModelFolder::open(base_store, base_folder));
  return huggingface::AdapterPlanner(std::move(opened), std::move(base), options).plan();
}

std::optional<std::string> find_adapter_base(const Store& store, const std::string& folder) {
  const auto opened = huggingface::ModelFolder::open(store, folder);
  if (!opened || !huggingface::is_adapter_folder(*opened)) return std::nullopt;
  const auto config = huggingface::read_adapter_config(*opened);
  return config ? config->base : std::string();
}

}  // namespace ingot
