// SPDX-License-Identifier: MIT
// Plans the import of a model folder, step by step.
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>

#include "base/ascii.hpp"
#include "base/strings.hpp"
#include "huggingface/folder/refusal.hpp"
#include "huggingface/import/general/general_keys.hpp"
#include "huggingface/import/keys/architecture_keys.hpp"
#include "huggingface/import/run/folder_import.hpp"
#include "huggingface/import/run/plan_parts.hpp"
#include "huggingface/import/tensors/import_types.hpp"
#include "huggingface/import/tokenizer/tokenizer_keys.hpp"
#include "ingot/import.hpp"
#include "ingot/metadata_keys.hpp"
#include "io/folder_watch.hpp"

namespace ingot {
namespace huggingface {
namespace {

/// `general.file_type`: that of MXFP4 if experts stay in it and the other weights are no smaller.
std::uint32_t file_type_of(TensorType type, const TensorPlan& plan) {
  const bool has_mxfp4 = std::ranges::any_of(plan.tensors, [](const PlannedTensor& tensor) {
    return tensor.info.type == TensorType::mxfp4;
  });
  const bool is_plain = find_type(type)->block_elements == 1;
  return ingot::file_type_of(has_mxfp4 && is_plain ? TensorType::mxfp4 : type).value_or(0);
}

/// Counts as gguf-py does: an expert counts once in `expert`, everything else in `shared`.
ParameterCounts count_parameters(const TensorPlan& plan) {
  ParameterCounts counts;
  std::int64_t expert_sum = 0;
  std::int64_t expert_tensors = 0;
  for (const PlannedTensor& tensor : plan.tensors) {
    std::int64_t size = 1;
    for (const std::uint64_t dimension : tensor.info.shape) {
      size *= static_cast<std::int64_t>(dimension);
    }
    counts.total += size;
    const bool is_experts =
        tensor.info.name.find("_exps.") != std::string::npos && tensor.info.shape.size() >= 3;
    if (is_experts) {
      const auto experts = static_cast<std::int64_t>(tensor.info.shape[2]);
      counts.expert += size / experts;
      expert_sum += experts;
      ++expert_tensors;
    } else {
      counts.shared += size;
    }
  }
  counts.expert_count = expert_tensors > 0 ? expert_sum / expert_tensors : 0;
  return counts;
}

/// Plans one folder.
class ImportPlanner {
 public:
  ImportPlanner(ModelFolder folder, const ImportOptions& options)
      : folder_(std::move(folder)), options_(options) {}

  Result<std::unique_ptr<Import>> plan() {
    const RuleTable& table = RuleTable::builtin();
    INGOT_TRY(Config config, Config::read(folder_));
    INGOT_TRY(const Architecture* const architecture, find_rules(table, folder_, config));

    INGOT_TRY(std::vector<SourceTensor> tensors, list_all_tensors(*architecture));
    const std::vector<NamedShape> shapes = shapes_of(tensors);
    INGOT_TRY(config, with_extra_layers(config, *architecture, shapes));
    INGOT_TRY_VOID(undo_quantization(config, tensors));
    INGOT_TRY(tensors, rename_tensors(table, *architecture, config, std::move(tensors)));
    const TensorType type = options_.type ? *options_.type : guess_type(tensors);
    INGOT_TRY_VOID(check_type(type));

    KeyPlan tokenizer;
    std::vector<Error> remarks;
    INGOT_TRY_VOID(
        add_tokenizer_keys(folder_, config, architecture->tokenizer, options_, tokenizer, remarks));
    const auto tokens = tokenizer.find(keys::tokenizer_ggml_tokens);
    INGOT_TRY(TensorPlan plan, plan_tensors({.config = config,
                                             .table = table,
                                             .architecture = *architecture,
                                             .tensors = std::move(tensors),
                                             .type = type,
                                             .as_reference = options_.as_reference,
                                             .tokens = tokens ? tokens->as_array() : Array()}));
    plan.remarks.insert(plan.remarks.begin(), remarks.begin(), remarks.end());

    const std::uint32_t file_type = file_type_of(type, plan);
    const KeySource source{folder_, config, *architecture, file_type, options_.as_reference,
                           shapes};
    INGOT_TRY(KeyPlan all, make_keys(source, plan, tokenizer));
    return FolderImport::make(std::move(all), std::move(plan), type, options_);
  }

 private:
  /// The tensors of other files come before all others.
  Result<std::vector<SourceTensor>> list_all_tensors(const Architecture& architecture) {
    std::vector<SourceTensor> all;
    for (const OtherFileRule& rule : architecture.other_files) {
      if (!folder_.has(rule.file)) continue;
      INGOT_TRY(std::vector<SourceTensor> tensors, list_tensors_of(folder_, {rule.file}));
      for (SourceTensor& tensor : tensors) {
        tensor.name.insert(0, rule.prefix);
        all.push_back(std::move(tensor));
      }
    }
    INGOT_TRY(std::vector<SourceTensor> tensors, list_tensors(folder_));
    std::ranges::move(tensors, std::back_inserter(all));
    return all;
  }

  Result<KeyPlan> make_keys(const KeySource& source, const TensorPlan& plan,
                            const KeyPlan& tokenizer) {
    const Architecture& architecture = source.architecture;
    KeyPlan all;
    all.from("rule");
    all.set_string(keys::general_architecture, architecture.name);
    INGOT_TRY_VOID(add_keys(source, architecture.keys_before_others, all));
    all.from("rule");
    all.set_string(keys::general_type, "model");
    INGOT_TRY_VOID(add_general_keys(folder_, count_parameters(plan), options_, all));
    INGOT_TRY_VOID(add_keys(source, architecture.keys, all));
    all.from("rule");
    all.set(keys::general_quantization_version, quantization_version);
    all.add(tokenizer);
    INGOT_TRY_VOID(add_keys(source, architecture.keys_after_tokenizer, all));
    return all;
  }

  ModelFolder folder_;
  ImportOptions options_;
};

}  // namespace

Result<const Architecture*> find_rules(const RuleTable& table, const ModelFolder& folder,
                                       const Config& config) {
  const Architecture* const rules = table.find(config.model_class());
  if (rules == nullptr) {
    return fail(Errc::architecture_unsupported, config.model_class(),
                "known are " + joined(table.classes()));
  }
  if (rules->variants.empty()) return rules;
  const std::string name = lower_case(folder.name());
  const std::string card = lower_case(folder.read_text("README.md").value_or(std::string()));
  for (const VariantRule& variant : rules->variants) {
    const bool is_named =
        !variant.text.empty() && (name.find(variant.text) != std::string::npos ||
                                  card.find("# " + variant.text) != std::string::npos);
    INGOT_TRY(const nlohmann::json is_meant, variant.when.evaluate({.config = config}));
    if (is_named || is_truthy(is_meant)) return table.find(variant.model_class);
  }
  return rules;
}

Result<void> check_type(TensorType type) {
  if (is_import_type(type)) return {};
  return fail(Errc::unsupported_type, std::string(find_type(type)->name),
              "an import makes F32, F16, BF16, Q8_0, TQ1_0 and TQ2_0; quantize makes the others");
}

std::vector<NamedShape> shapes_of(const std::vector<SourceTensor>& tensors) {
  std::vector<NamedShape> shapes;
  for (const SourceTensor& tensor : tensors) shapes.push_back({tensor.name, tensor.shape});
  return shapes;
}

Result<Config> with_extra_layers(const Config& config, const Architecture& architecture,
                                 std::span<const NamedShape> tensors) {
  if (!architecture.extra_layers.is_set()) return config;
  INGOT_TRY(const nlohmann::json extra,
            architecture.extra_layers.evaluate({.config = config, .tensors = tensors}));
  INGOT_TRY(const std::uint64_t count, count_of(extra, "the number of extra layers"));
  return config.with_extra_layers(count);
}

}  // namespace huggingface

Result<std::unique_ptr<Import>> plan_import(const Store& store, const std::string& folder,
                                            const ImportOptions& options) {
  const auto plan = [&]() -> Result<std::unique_ptr<Import>> {
    INGOT_TRY(huggingface::ModelFolder opened,
              huggingface::ModelFolder::open(store, folder, options.folder_name.value_or("")));
    return huggingface::ImportPlanner(std::move(opened), options).plan();
  };
  const auto not_known = [](const auto&) { return false; };
  return &store == &file_system() ? io::open_settled(folder, plan, not_known) : plan();
}

std::optional<std::string> find_importable_class(const Store& store, const std::string& folder) {
  const auto opened = huggingface::ModelFolder::open(store, folder);
  if (!opened || !opened->has("config.json")) return std::nullopt;
  const auto config = huggingface::Config::read(*opened);
  if (!config || huggingface::RuleTable::builtin().find(config->model_class()) == nullptr) {
    return std::nullopt;
  }
  return config->model_class();
}

}  // namespace ingot
