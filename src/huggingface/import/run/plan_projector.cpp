// SPDX-License-Identifier: MIT
#include "huggingface/import/run/plan_projector.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/strings.hpp"
#include "huggingface/folder/projector_config.hpp"
#include "huggingface/folder/refusal.hpp"
#include "huggingface/import/general/general_keys.hpp"
#include "huggingface/import/keys/architecture_keys.hpp"
#include "huggingface/import/run/folder_import.hpp"
#include "huggingface/import/run/plan_parts.hpp"
#include "huggingface/import/tensors/layer_check.hpp"
#include "huggingface/import/tokenizer/tokenizer_keys.hpp"
#include "ingot/metadata_keys.hpp"

namespace ingot::huggingface {
namespace {

Result<const Architecture*> find_projector_rules(const RuleTable& table, const Config& config) {
  if (const Architecture* const rules = table.find_projector(config.model_class())) return rules;
  return fail(Errc::architecture_unsupported, config.model_class(),
              "projectors are known of " + joined(table.projector_classes()));
}

/// The config with the number that numbers in names of tensors stay below.
Result<Config> with_layers(const Config& config, const Architecture& rules) {
  if (!rules.layers.is_set()) return config;
  INGOT_TRY(const nlohmann::json layers, rules.layers.evaluate({.config = config}));
  return config.with({{"num_hidden_layers", layers}}, nlohmann::json::object());
}

/// The tensors of encoders that have a folder of their own come before all others.
Result<std::vector<SourceTensor>> list_all_tensors(const ModelFolder& folder,
                                                   const Architecture& rules) {
  std::vector<SourceTensor> all;
  for (const OtherFileRule& rule : rules.other_files) {
    INGOT_TRY(all, list_tensors_of(folder, {rule.file}));
  }
  INGOT_TRY(std::vector<SourceTensor> tensors, list_tensors(folder));
  std::ranges::move(tensors, std::back_inserter(all));
  return all;
}

/// The keys of the tokenizer, where rows of the embeddings of some tokens belong to the projector.
/// The reference converter leaves such rows out, which the engine needs.
Result<KeyPlan> find_tokens(const ModelFolder& folder, const Architecture& rules,
                            const ImportOptions& options) {
  KeyPlan tokenizer;
  if (options.as_reference || rules.tokenizer.empty()) return tokenizer;
  INGOT_TRY(const Config config, Config::read(folder));
  std::vector<Error> remarks;
  INGOT_TRY_VOID(
      add_tokenizer_keys(folder, config, rules.name, rules.tokenizer, options, tokenizer, remarks));
  return tokenizer;
}

Result<KeyPlan> make_projector_keys(const KeySource& source, const TensorPlan& plan,
                                    const ImportOptions& options) {
  KeyPlan all;
  all.from("rule");
  all.set_string(keys::general_architecture, source.architecture.name);
  all.set_string(keys::general_type, "mmproj");
  INGOT_TRY_VOID(add_general_keys(source.folder, count_parameters(plan), options, all));
  INGOT_TRY_VOID(add_keys(source, source.architecture.keys, all));
  all.from("rule");
  all.set(keys::general_quantization_version, quantization_version);
  return all;
}

std::optional<std::uint64_t> find_count(const KeyPlan& keys, std::string_view key) {
  const auto value = keys.find(key);
  const auto count = value ? value->get<std::uint32_t>() : Result<std::uint32_t>(0u);
  return value && count ? std::optional<std::uint64_t>(*count) : std::nullopt;
}

/// Refuses a result that no engine could use: of a kind that has no name, of which layers are
/// missing, or without tensors, where a folder names them in another way.
Result<void> check_projector(const KeyPlan& keys, const TensorPlan& plan,
                             const Architecture& rules) {
  constexpr std::string_view types[] = {"clip.projector_type", "clip.vision.projector_type",
                                        "clip.audio.projector_type"};
  const bool has_type =
      std::ranges::any_of(types, [&](std::string_view key) { return keys.find(key).has_value(); });
  if (!has_type) {
    return refuse("config.json", "no projector is known for the encoder that it describes");
  }
  if (rules.has_empty_layers) return {};
  for (const auto& [key, encoder] :
       {std::pair("clip.vision.block_count", "v."), std::pair("clip.audio.block_count", "a.")}) {
    const auto layers = find_count(keys, key);
    if (layers) INGOT_TRY_VOID(check_layers(plan.tensors, *layers, rules.layers_differ, encoder));
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<Import>> plan_projector(const ModelFolder& folder,
                                               const ImportOptions& options) {
  const RuleTable& table = RuleTable::builtin();
  INGOT_TRY(Config config, read_projector_config(folder));
  INGOT_TRY(const Architecture* const rules, find_projector_rules(table, config));
  INGOT_TRY(config, with_layers(config, *rules));

  INGOT_TRY(std::vector<SourceTensor> tensors, list_all_tensors(folder, *rules));
  const std::vector<NamedShape> shapes = shapes_of(tensors);
  INGOT_TRY_VOID(undo_quantization(config, tensors));
  std::vector<std::string> left_out;
  INGOT_TRY(tensors, rename_tensors(table, *rules, config, std::move(tensors), left_out));
  if (tensors.empty()) {
    return refuse(config.model_class(), "the folder has no tensors of an encoder or a projector");
  }
  const TensorType type = options.type ? *options.type : guess_type(tensors);
  INGOT_TRY_VOID(check_type(type));
  INGOT_TRY(const KeyPlan tokenizer, find_tokens(folder, *rules, options));
  const auto tokens = tokenizer.find(keys::tokenizer_ggml_tokens);
  INGOT_TRY(TensorPlan plan, plan_tensors({.config = config,
                                           .table = table,
                                           .architecture = *rules,
                                           .tensors = std::move(tensors),
                                           .type = type,
                                           .is_exact = options.exact,
                                           .as_reference = options.as_reference,
                                           .shapes = shapes,
                                           .tokens = tokens ? tokens->as_array() : Array(),
                                           .is_projector = true,
                                           .thread_count = options.thread_count}));
  plan.left_out = std::move(left_out);
  const KeySource source{
      folder, config, *rules, file_type_of(type).value_or(0), options.as_reference, shapes};
  INGOT_TRY(KeyPlan all, make_projector_keys(source, plan, options));
  INGOT_TRY_VOID(check_projector(all, plan, *rules));
  return FolderImport::make(std::move(all), std::move(plan), type, options);
}

}  // namespace ingot::huggingface
