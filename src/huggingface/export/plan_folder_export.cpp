// SPDX-License-Identifier: MIT
// Plans the files of a folder, step by step, and writes them.
#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>

#include "base/strings.hpp"
#include "huggingface/export/check_return.hpp"
#include "huggingface/export/config_members.hpp"
#include "huggingface/export/folder_output.hpp"
#include "huggingface/export/folder_tensors.hpp"
#include "huggingface/export/general_files.hpp"
#include "huggingface/export/special_tokens_plan.hpp"
#include "huggingface/export/tokenizer_files_text.hpp"
#include "huggingface/folder/json_values.hpp"
#include "huggingface/folder/refusal.hpp"
#include "huggingface/import/tokenizer/tokenizer_files.hpp"
#include "ingot/folder_export.hpp"
#include "ingot/metadata_keys.hpp"
#include "ingot/summary.hpp"

namespace ingot {
namespace huggingface {
namespace {

using nlohmann::ordered_json;

/// The types that a folder can have, with the names that config.json has for them.
constexpr std::array<std::pair<TensorType, const char*>, 3> folder_types = {{
    {TensorType::f32, "float32"},
    {TensorType::f16, "float16"},
    {TensorType::bf16, "bfloat16"},
}};

const char* torch_name(TensorType type) {
  const auto found =
      std::ranges::find_if(folder_types, [&](const auto& row) { return row.first == type; });
  return found == folder_types.end() ? nullptr : found->second;
}

/// The flag of sentence-transformers for each `pooling_type`, the way to make one vector of a text.
constexpr std::array<std::pair<std::uint32_t, const char*>, 3> pooling_modes = {{
    {1, "pooling_mode_mean_tokens"},
    {2, "pooling_mode_cls_token"},
    {3, "pooling_mode_lasttoken"},
}};

constexpr const char* modules_text = R"([
  {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
  {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"}
]
)";

/// An entry of an architecture that has a rule for a model, and what it makes of config.json.
struct ExportRules {
  const Architecture& architecture;
  FolderConfig config;
};

/// The first such entry of those of the architecture; nothing if none has rules of folders.
Result<std::optional<ExportRules>> find_export_rules(const RuleTable& table, const Model& model,
                                                     std::string_view name) {
  std::optional<Error> error;
  for (const Architecture& candidate : table.architectures()) {
    if (candidate.name != name || candidate.folders.empty()) continue;
    auto config = make_config({model, table, candidate});
    if (config) return ExportRules{candidate, *std::move(config)};
    if (!error) error = config.error();
  }
  if (error) return fail(std::move(*error));
  return std::nullopt;
}

class ExportPlanner {
 public:
  ExportPlanner(const FolderFacts& facts, const std::string& folder,
                const FolderExportOptions& options)
      : facts_(facts), folder_(folder), options_(options) {}

  Result<FolderContent> plan(const FolderConfig& config) {
    INGOT_TRY(const FolderVocabulary vocabulary, read_folder_vocabulary(facts_));
    INGOT_TRY(const Vocabulary tokens, Vocabulary::make(facts_.model));
    const SpecialTokensPlan special = plan_special_tokens(facts_, vocabulary);
    INGOT_TRY_VOID(plan_tensors(config));
    add_configs(config, special);
    add_pooling();
    content_.texts["README.md"] = make_model_card(facts_.model);
    // What the form does not express is found by the check of the way back.
    std::vector<std::string> warnings;
    add_text(file_names::tokenizer,
             write_document({facts_.model, tokens, vocabulary.tokens, vocabulary.ids,
                             vocabulary.listed, special.frame},
                            warnings));
    if (vocabulary.form == FolderVocabulary::Form::sentencepiece) {
      add_text(file_names::sentencepiece, make_sentencepiece(facts_, vocabulary));
    }
    const std::string added = make_added_tokens(vocabulary);
    if (!added.empty()) add_text(file_names::added_tokens, added);
    add_tokenizer_config(config, tokens, vocabulary, special, "");
    ReturnCheck check = check_files();
    if (check.loses_pre) {
      const auto pre = facts_.model.get_or<std::string_view>(keys::tokenizer_ggml_pre, "");
      add_tokenizer_config(config, tokens, vocabulary, special, pre);
      check = check_files();
    }
    std::move(check.lost.begin(), check.lost.end(), std::back_inserter(content_.lost));
    return std::move(content_);
  }

 private:
  void add_text(std::string_view name, std::string text) {
    content_.texts[std::string(name)] = std::move(text);
  }

  void add_tokenizer_config(const FolderConfig& config, const Vocabulary& tokens,
                            const FolderVocabulary& vocabulary, const SpecialTokensPlan& special,
                            std::string_view pre) {
    add_text(file_names::tokenizer_config,
             make_tokenizer_config(facts_, *config.rule, tokens, vocabulary, special, pre));
  }

  Result<void> plan_tensors(const FolderConfig& config) {
    INGOT_TRY(FolderTensors tensors, plan_folder_tensors(facts_, config, options_));
    content_.lost = std::move(tensors.lost);
    // The import takes the tensors file by file, so an order that is not that of the names needs
    // more files than their sizes do; only a strict export is worth that.
    if (!options_.is_strict && !tensors.files.empty()) {
      for (auto file = std::next(tensors.files.begin()); file != tensors.files.end(); ++file) {
        std::move(file->begin(), file->end(), std::back_inserter(tensors.files.front()));
      }
      tensors.files.resize(1);
    }
    std::vector<std::vector<OutputTensor>> parts;
    const std::string metadata = options_.packing == FolderPacking::mlx
                                     ? R"({"__metadata__":{"format":"mlx"})"
                                     : formats::safetensors_metadata_text({});
    group_ = tensors.group;
    for (std::vector<FolderTensor>& file : tensors.files) {
      std::vector<OutputTensor> outputs;
      for (FolderTensor& tensor : file) {
        if (tensor.packing) {
          add_packed(tensor, outputs);
          continue;
        }
        has_mxfp4_ = has_mxfp4_ || tensor.output.is_unsigned;
        if (!tensor.output.is_unsigned) note_rounding(tensor.output);
        note_plain_matrix(tensor.output);
        if (tensor.make) content_.made[tensor.output.name] = std::move(tensor.make);
        if (tensor.number) {
          content_.made[tensor.output.name] =
              change_each_number(tensor.output, std::move(tensor.number));
        }
        outputs.push_back(std::move(tensor.output));
      }
      auto shards = formats::distribute_over_shards(std::move(outputs), metadata.size(),
                                                    options_.max_file_bytes, content_.remarks);
      std::move(shards.begin(), shards.end(), std::back_inserter(parts));
    }
    if (parts.empty())
      return refuse("tensors", "the model has none, so that no loader could use it");
    const std::string path = folder_ + "/model.safetensors";
    for (std::size_t i = 0; i < parts.size(); ++i) {
      INGOT_TRY_VOID(formats::check_safetensors_names(parts[i]));
      INGOT_TRY(
          content_.shards.emplace_back(),
          formats::make_safetensors_shard(formats::safetensors_shard_path(path, i, parts.size()),
                                          std::move(parts[i]), metadata));
    }
    add_text("model.safetensors.index.json", formats::safetensors_index_text(content_.shards));
    if (rounded_ > 0) {
      content_.lost.push_back({Errc::left_out, Error::no_offset, "the weights",
                               std::to_string(rounded_) + " tensors are rounded to " +
                                   std::string(find_type(*options_.type)->name)});
    }
    return {};
  }

  /// Loaders of GPTQ expect codes for every matrix of a layer that is not excepted.
  void note_plain_matrix(const OutputTensor& tensor) {
    const std::string_view name = tensor.source->name;
    const bool is_table = name == "token_embd.weight" || name == "output.weight";
    if (options_.packing != FolderPacking::gptq || is_table || tensor.shape.size() != 2 ||
        !tensor.name.ends_with(".weight")) {
      return;
    }
    packed_weights_.push_back({tensor.name.substr(0, tensor.name.rfind('.')), std::nullopt});
  }

  void add_packed(const FolderTensor& tensor, std::vector<OutputTensor>& outputs) {
    for (MadeTensor& part : pack(tensor.output, *tensor.packing, group_)) {
      content_.made[part.output.name] = std::move(part.make);
      outputs.push_back(std::move(part.output));
    }
    const std::string& name = tensor.output.name;
    packed_weights_.push_back({name.substr(0, name.rfind('.')), tensor.packing});
  }

  /// F32 holds the values of all types; F16 and BF16 hold their own alone. Codes are not rounded.
  void note_rounding(const OutputTensor& tensor) {
    const bool is_exact = tensor.type == tensor.source->type || tensor.type == TensorType::f32;
    if (!is_exact) ++rounded_;
  }

  /// The type of most loaders' interest: that of the embeddings, else of the first tensor.
  TensorType weight_type() const {
    const OutputTensor* chosen = nullptr;
    for (const formats::SafetensorsShard& shard : content_.shards) {
      for (const OutputTensor& tensor : shard.tensors) {
        if (chosen == nullptr || tensor.source->name == "token_embd.weight") chosen = &tensor;
      }
    }
    return chosen == nullptr ? TensorType::f32 : chosen->type;
  }

  void add_configs(const FolderConfig& folder, const SpecialTokensPlan& special) {
    ordered_json config = folder.values;
    // Packed weights are computed with in the type of their scales.
    const TensorType type = packed_weights_.empty() ? weight_type() : TensorType::f16;
    if (const char* const name = torch_name(type)) config["torch_dtype"] = name;
    add_packing(options_.packing, group_, packed_weights_, config);
    if (has_mxfp4_) config["quantization_config"] = {{"quant_method", "mxfp4"}};
    config["use_cache"] = true;
    ordered_json generation = {{"_from_model_config", true}};
    for (const auto& [name, id] : special.model_ids.items()) {
      config[name] = id;
      if (name == "bos_token_id" || name == "eos_token_id" || name == "pad_token_id") {
        generation[name] = id;
      }
    }
    if (special.first_end && generation.contains("eos_token_id")) {
      generation["eos_token_id"] =
          ordered_json::array({*special.first_end, generation["eos_token_id"]});
    }
    generation.update(make_generation_config(facts_.model));
    add_text(file_names::model_config, json_text(config, json_indent) + "\n");
    add_text("generation_config.json", json_text(generation, json_indent) + "\n");
  }

  void add_pooling() {
    const Value* const type = find_architecture_key(facts_.model, "pooling_type");
    const auto number = type == nullptr ? 0u : type->get<std::uint32_t>().value_or(0);
    for (const auto& [mode, flag] : pooling_modes) {
      if (mode != number) continue;
      const auto width = find_architecture_key(facts_.model, suffixes::embedding_length);
      ordered_json config = {
          {"word_embedding_dimension", width == nullptr ? ordered_json() : json_of(*width)}};
      for (const auto& row : pooling_modes) config[row.second] = row.first == number;
      add_text("modules.json", modules_text);
      add_text("1_Pooling/config.json", json_text(config, json_indent) + "\n");
    }
  }

  ReturnCheck check_files() const {
    const std::string name = folder_.substr(folder_.rfind('/') + 1);
    return check_return(facts_.model, {.name = name.empty() ? "model" : name,
                                       .texts = content_.texts,
                                       .shards = content_.shards,
                                       .is_packed = options_.packing != FolderPacking::none,
                                       .keeps_order = options_.is_strict});
  }

  const FolderFacts& facts_;
  std::string folder_;
  const FolderExportOptions& options_;
  FolderContent content_;
  std::size_t rounded_ = 0;
  bool has_mxfp4_ = false;  // codes and scales of experts
  std::uint64_t group_ = 0;
  std::vector<PackedWeight> packed_weights_;
};

Result<void> check_options(const Model& model, const std::string& folder,
                           const FolderExportOptions& options) {
  if (folder.empty()) return fail(Errc::invalid_argument, "folder", "it is empty");
  if (options.type && torch_name(*options.type) == nullptr) {
    return fail(Errc::invalid_argument, "type", "folders have F32, F16 and BF16");
  }
  if (model.files().size() < model.shard_count()) {
    return fail(Errc::shard_mismatch, {}, "a shard is missing; a part of a model is not converted");
  }
  return {};
}

/// The path without a slash at its end.
std::string plain_path(std::string folder) {
  while (folder.size() > 1 && folder.back() == '/') folder.pop_back();
  return folder;
}

}  // namespace
}  // namespace huggingface

Result<std::vector<std::string>> exportable_architectures() {
  std::set<std::string> names;
  for (const huggingface::Architecture& architecture :
       huggingface::RuleTable::builtin().architectures()) {
    if (!architecture.folders.empty()) names.insert(architecture.name);
  }
  return std::vector<std::string>(names.begin(), names.end());
}

Result<std::unique_ptr<Conversion>> plan_folder_export(const Model& model,
                                                       const std::string& folder,
                                                       const FolderExportOptions& options) {
  INGOT_TRY_VOID(huggingface::check_options(model, folder, options));
  const huggingface::RuleTable& table = huggingface::RuleTable::builtin();
  const std::string name(summarize(model).architecture.value_or(""));
  INGOT_TRY(const auto rules, huggingface::find_export_rules(table, model, name));
  if (!rules) {
    INGOT_TRY(const std::vector<std::string> known, exportable_architectures());
    return fail(Errc::architecture_unsupported, name, "folders are written for " + joined(known));
  }
  const std::string path = huggingface::plain_path(folder);
  const huggingface::FolderFacts facts{model, table, rules->architecture};
  INGOT_TRY(huggingface::FolderContent content,
            huggingface::ExportPlanner(facts, path, options).plan(rules->config));
  if (options.is_strict && !content.lost.empty()) {
    const Error& first = content.lost.front();
    const std::size_t others = content.lost.size() - 1;
    return fail(
        {.code = Errc::would_be_lost,
         .subject = first.subject,
         .detail = first.detail + (others == 0 ? "" : "; " + std::to_string(others) + " more"),
         .remedy = Remedy::allow_loss});
  }
  auto output = std::make_unique<huggingface::FolderOutput>(model, std::move(content), options);
  INGOT_TRY_VOID(output->choose_folder(path));
  return std::unique_ptr<Conversion>(std::move(output));
}

}  // namespace ingot
