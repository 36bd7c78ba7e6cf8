// SPDX-License-Identifier: MIT
// Plans the import of a model folder, step by step.
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "base/ascii.hpp"
#include "base/strings.hpp"
#include "huggingface/folder/json_text.hpp"
#include "huggingface/folder/refusal.hpp"
#include "huggingface/import/general/general_keys.hpp"
#include "huggingface/import/keys/architecture_keys.hpp"
#include "huggingface/import/run/folder_import.hpp"
#include "huggingface/import/run/plan_parts.hpp"
#include "huggingface/import/run/plan_projector.hpp"
#include "huggingface/import/run/tensor_lookup.hpp"
#include "huggingface/import/tokenizer/tokenizer_keys.hpp"
#include "ingot/import.hpp"
#include "ingot/metadata_keys.hpp"
#include "io/folder_watch.hpp"

namespace ingot {
namespace huggingface {
namespace {

/// The type that `general.file_type` names: MXFP4 or NVFP4 if weights stay in it and the others are
/// no smaller.
TensorType main_type(TensorType type, bool keeps_types, const TensorPlan& plan) {
  const bool is_plain = find_type(type)->block_elements == 1;
  for (const TensorType kept : {TensorType::mxfp4, TensorType::nvfp4}) {
    const bool is_kept = std::ranges::any_of(
        plan.tensors, [&](const PlannedTensor& tensor) { return tensor.info.type == kept; });
    if (is_kept && (is_plain || keeps_types)) return kept;
  }
  return type;
}

/// The type that most of the weights got.
TensorType most_frequent_type(const TensorPlan& plan) {
  std::map<TensorType, double> elements;
  for (const PlannedTensor& tensor : plan.tensors) {
    const TensorTypeInfo& type = *find_type(tensor.info.type);
    elements[type.type] += static_cast<double>(tensor.info.size_bytes) / type.block_bytes *
                           static_cast<double>(type.block_elements);
  }
  const auto most =
      std::ranges::max_element(elements, {}, [](const auto& row) { return row.second; });
  return most == elements.end() ? TensorType::f32 : most->first;
}

/// The most bits of the integers that weights are computed from; 0 if none are.
std::uint64_t code_bits_of(const std::vector<SourceTensor>& tensors) {
  const auto coded = std::ranges::max_element(tensors, {}, &SourceTensor::code_bits);
  return coded == tensors.end() ? 0 : coded->code_bits;
}

/// The config with the method of quantization that ModelOpt states in a file of its own.
Result<Config> with_stated_quantization(const ModelFolder& folder, Config config) {
  constexpr std::string_view file = "hf_quant_config.json";
  if (config.find("quantization_config") != nullptr || !folder.has(file)) return config;
  INGOT_TRY(const nlohmann::json stated, read_json(folder, file));
  const nlohmann::json* const producer = find_member(stated, "producer");
  const nlohmann::json* const name = producer == nullptr ? nullptr : find_member(*producer, "name");
  if (name == nullptr || !name->is_string()) return config;
  return config.with(
      {{"quantization_config", {{"quant_method", lower_case(name->get<std::string>())}}}}, {});
}

/// Refuses what the rules of the class refuse.
Result<void> check_refusals(const Architecture& architecture, const Config& config) {
  for (const RefusalRule& rule : architecture.refusals) {
    INGOT_TRY(const nlohmann::json is_meant, rule.when.evaluate({.config = config}));
    if (is_truthy(is_meant)) return refuse("config.json", rule.because);
  }
  return {};
}

/// Plans one folder.
class ImportPlanner {
 public:
  ImportPlanner(ModelFolder folder, const ImportOptions& options)
      : folder_(std::move(folder)), options_(options) {}

  Result<std::unique_ptr<Import>> plan() {
    const RuleTable& table = RuleTable::builtin();
    INGOT_TRY(Config config, Config::read(folder_));
    INGOT_TRY(const Architecture* const architecture,
              find_rules(table, folder_, config, options_.as_class));
    INGOT_TRY_VOID(check_refusals(*architecture, config));

    std::vector<Error> remarks;
    INGOT_TRY(std::vector<SourceTensor> tensors, list_all_tensors(*architecture, remarks));
    const std::vector<NamedShape> shapes = shapes_of(tensors);
    const TensorLookup lookup(folder_, tensors);
    INGOT_TRY(config, settled_config(config, *architecture, shapes));
    INGOT_TRY_VOID(open_target(*architecture));
    INGOT_TRY(config, with_stated_quantization(folder_, std::move(config)));
    INGOT_TRY_VOID(undo_quantization(config, tensors));
    std::vector<std::string> left_out;
    INGOT_TRY(tensors, rename_tensors(table, *architecture, config, std::move(tensors), left_out));
    std::optional<std::uint64_t> first_layer;
    INGOT_TRY(config, choose_layers(*architecture, std::move(config), tensors, first_layer));
    TensorType type = options_.type ? *options_.type : guess_type(tensors);
    INGOT_TRY_VOID(check_type(type));
    const std::uint64_t code_bits = code_bits_of(tensors);

    KeyPlan tokenizer;
    INGOT_TRY_VOID(add_tokenizer_keys(
        architecture->is_draft ? *target_folder_ : folder_, config, architecture->name,
        target_architecture_ == nullptr ? architecture->tokenizer : target_architecture_->tokenizer,
        options_, tokenizer, remarks));
    const auto tokens = tokenizer.find(keys::tokenizer_ggml_tokens);
    INGOT_TRY(TensorPlan plan, plan_tensors({.config = config,
                                             .table = table,
                                             .architecture = *architecture,
                                             .tensors = std::move(tensors),
                                             .type = type,
                                             .is_exact = options_.exact,
                                             .as_reference = options_.as_reference,
                                             .fp8_as_q8_0 = options_.fp8_as_q8_0,
                                             .fuses_experts = options_.fuse_experts,
                                             .first_layer = first_layer,
                                             .shapes = shapes,
                                             .target = target(),
                                             .tokens = tokens ? tokens->as_array() : Array(),
                                             .thread_count = options_.thread_count}));
    plan.code_bits = code_bits;
    if (options_.exact) type = most_frequent_type(plan);
    plan.remarks.insert(plan.remarks.begin(), remarks.begin(), remarks.end());
    plan.left_out = std::move(left_out);
    if (options_.as_class && *options_.as_class != config.model_class()) {
      plan.remarks.push_back(
          {Errc::engine_may_misread, Error::no_offset, config.model_class(),
           "imported by the rules of " + *options_.as_class +
               ", as wanted; whether an engine computes with it what the model does is not known"});
    }

    const TensorType main = main_type(type, architecture->keeps_types, plan);
    const std::uint32_t file_type = ingot::file_type_of(main).value_or(0);
    INGOT_TRY(const nlohmann::json generation, read_generation_config());
    const KeySource source{folder_, config,  *architecture, file_type,  options_.as_reference,
                           shapes,  &lookup, target(),      &generation};
    INGOT_TRY(KeyPlan all, make_keys(source, plan, tokenizer));
    return FolderImport::make(std::move(all), std::move(plan), type, options_,
                              main == type ? find_type(type)->name : file_type_name(file_type));
  }

 private:
  /// Leaves layers that predict further tokens out, or finds the first of them, as the options
  /// want.
  Result<Config> choose_layers(const Architecture& architecture, Config config,
                               std::vector<SourceTensor>& tensors,
                               std::optional<std::uint64_t>& first_layer) const {
    const bool is_apart = !architecture.shared_with_draft.empty();
    if (!options_.next_layers_only && !options_.without_next_layers && !is_apart) return config;
    if (!architecture.extra_layers.is_set() ||
        (options_.next_layers_only && options_.without_next_layers)) {
      return refuse(config.model_class(),
                    "--mtp or --no-mtp is for classes with layers that predict further tokens");
    }
    INGOT_TRY(const std::uint64_t all_layers, config.layer_count());
    const std::uint64_t layers = all_layers - config.extra_layers();
    if (options_.next_layers_only) {
      if (all_layers == layers) {
        return refuse(folder_.locate({}), "it has no layers that predict further tokens");
      }
      first_layer = layers;
      if (is_apart) {
        std::erase_if(tensors, [&](const SourceTensor& tensor) {
          return layer_of(tensor.name).value_or(0) < layers &&
                 !fits_one(architecture.shared_with_draft, tensor.name);
        });
      }
      return config;
    }
    std::erase_if(tensors, [&](const SourceTensor& tensor) {
      return tensor.name.starts_with("mtp.") || layer_of(tensor.name).value_or(0) >= layers;
    });
    return config.with({{"mtp_num_hidden_layers", 0}, {"num_nextn_predict_layers", 0}}, {})
        .with_extra_layers(0);
  }

  /// Opens the folder of the model that a draft belongs to.
  Result<void> open_target(const Architecture& architecture) {
    if (!architecture.is_draft) return {};
    if (!options_.target_folder) {
      return refuse(folder_.locate({}),
                    "a draft needs the folder of the model that it belongs to: --target-model-dir");
    }
    INGOT_TRY(target_folder_, ModelFolder::open(file_system(), *options_.target_folder));
    INGOT_TRY(target_config_, Config::read(*target_folder_));
    if (!architecture.tokenizer.empty()) return {};
    INGOT_TRY(target_architecture_,
              find_rules(RuleTable::builtin(), *target_folder_, *target_config_, std::nullopt));
    return {};
  }

  [[nodiscard]] Result<nlohmann::json> read_generation_config() const {
    constexpr std::string_view file = "generation_config.json";
    return folder_.has(file) ? read_json(folder_, file) : nlohmann::json::object();
  }

  [[nodiscard]] const Config* target() const { return target_config_ ? &*target_config_ : nullptr; }

  /// The tensors of other files come before all others. Dense modules are read only if that is
  /// wanted.
  Result<std::vector<SourceTensor>> list_all_tensors(const Architecture& architecture,
                                                     std::vector<Error>& remarks) {
    std::vector<SourceTensor> all;
    bool has_dense_modules = false;
    for (const OtherFileRule& rule : architecture.other_files) {
      if (!folder_.has(rule.file)) continue;
      has_dense_modules |= rule.is_dense_module;
      if (rule.is_dense_module && !options_.dense_modules) {
        remarks.push_back({Errc::left_out, Error::no_offset, folder_.locate(rule.file),
                           "vectors of texts lack what this layer makes of them; "
                           "--sentence-transformers-dense-modules imports it"});
        continue;
      }
      INGOT_TRY(std::vector<SourceTensor> tensors, list_tensors_of(folder_, {rule.file}));
      for (SourceTensor& tensor : tensors) {
        tensor.name.insert(0, rule.prefix);
        all.push_back(std::move(tensor));
      }
    }
    if (options_.dense_modules && !has_dense_modules) {
      return refuse(folder_.locate({}), "it has no dense modules that are known");
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
    if (options_.without_next_layers) all.remove(architecture.name + ".nextn_predict_layers");
    all.from("rule");
    all.set(keys::general_quantization_version, quantization_version);
    all.add(tokenizer);
    INGOT_TRY_VOID(add_keys(source, architecture.keys_after_tokenizer, all));
    if (options_.as_class && *options_.as_class != source.config.model_class()) {
      all.from("--class");
      all.set_string("ingot.import.class", source.config.model_class());
      all.set_string("ingot.import.as_class", *options_.as_class);
    }
    return all;
  }

  ModelFolder folder_;
  ImportOptions options_;
  std::optional<ModelFolder> target_folder_;
  std::optional<Config> target_config_;
  const Architecture* target_architecture_ = nullptr;  // whose tokenizer a draft has
};

}  // namespace

Result<const Architecture*> find_rules(const RuleTable& table, const ModelFolder& folder,
                                       const Config& config,
                                       const std::optional<std::string>& as_class) {
  const Architecture* const rules = table.find(as_class.value_or(config.model_class()));
  if (rules == nullptr && as_class) {
    return fail(Errc::architecture_unsupported, *as_class, "known are " + joined(table.classes()));
  }
  if (rules == nullptr && table.find_projector(config.model_class()) != nullptr) {
    return fail(Errc::architecture_unsupported, config.model_class(),
                "it is known as a projector alone, which --mmproj imports; the folder of its text "
                "model is another one");
  }
  if (rules == nullptr) {
    return fail(Errc::architecture_unsupported, config.model_class(),
                describe_nearest(table, folder, config));
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

}  // namespace huggingface

Result<std::unique_ptr<Import>> plan_import(const Store& store, const std::string& folder,
                                            const ImportOptions& options) {
  const auto plan = [&]() -> Result<std::unique_ptr<Import>> {
    INGOT_TRY(huggingface::ModelFolder opened,
              huggingface::ModelFolder::open(store, folder, options.folder_name.value_or("")));
    if (options.mistral_format) INGOT_TRY_VOID(opened.read_as_mistral());
    if (options.mmproj) return huggingface::plan_projector(opened, options);
    const std::string file(opened.config_file());
    auto import = huggingface::ImportPlanner(std::move(opened), options).plan();
    // Rules speak of config.json, whatever file stands for it.
    if (!import && import.error().subject == "config.json") import.error().subject = file;
    return import;
  };
  const auto not_known = [](const auto&) { return false; };
  return &store == &file_system() ? io::open_settled(folder, plan, not_known) : plan();
}

std::optional<std::string> find_importable_class(const Store& store, const std::string& folder) {
  const auto opened = huggingface::ModelFolder::open(store, folder);
  if (!opened || !opened->has(opened->config_file())) return std::nullopt;
  const auto config = huggingface::Config::read(*opened);
  if (!config || huggingface::RuleTable::builtin().find(config->model_class()) == nullptr) {
    return std::nullopt;
  }
  return config->model_class();
}

}  // namespace ingot
