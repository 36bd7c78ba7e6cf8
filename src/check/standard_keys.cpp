// SPDX-License-Identifier: MIT
// Sources: docs/gguf.md of ggml ("Standardized key-value pairs") and gguf-py's constants.
#include "check/standard_keys.hpp"

#include <algorithm>
#include <array>

namespace ingot::check {
namespace {

struct StandardKey {
  std::string_view key;
  Form form;
};

constexpr std::array common_keys = {
    StandardKey{"general.architecture", Form::text},
    StandardKey{"general.type", Form::text},
    StandardKey{"general.name", Form::text},
    StandardKey{"general.author", Form::text},
    StandardKey{"general.version", Form::text},
    StandardKey{"general.organization", Form::text},
    StandardKey{"general.basename", Form::text},
    StandardKey{"general.finetune", Form::text},
    StandardKey{"general.description", Form::text},
    StandardKey{"general.quantized_by", Form::text},
    StandardKey{"general.size_label", Form::text},
    StandardKey{"general.license", Form::text},
    StandardKey{"general.license.name", Form::text},
    StandardKey{"general.license.link", Form::text},
    StandardKey{"general.url", Form::text},
    StandardKey{"general.doi", Form::text},
    StandardKey{"general.uuid", Form::text},
    StandardKey{"general.repo_url", Form::text},
    StandardKey{"general.source.url", Form::text},
    StandardKey{"general.tags", Form::texts},
    StandardKey{"general.languages", Form::texts},
    StandardKey{"general.base_model.count", Form::number},
    StandardKey{"general.quantization_version", Form::number32},
    StandardKey{"general.file_type", Form::number},
    StandardKey{"split.no", Form::number},
    StandardKey{"split.count", Form::number},
    StandardKey{"split.tensors.count", Form::number},
    StandardKey{"tokenizer.ggml.model", Form::text},
    StandardKey{"tokenizer.ggml.pre", Form::text},
    StandardKey{"tokenizer.ggml.tokens", Form::texts},
    StandardKey{"tokenizer.ggml.scores", Form::reals},
    StandardKey{"tokenizer.ggml.token_type", Form::numbers32},
    StandardKey{"tokenizer.ggml.token_type_count", Form::number},
    StandardKey{"tokenizer.ggml.merges", Form::texts},
    StandardKey{"tokenizer.ggml.added_tokens", Form::texts},
    StandardKey{"tokenizer.ggml.bos_token_id", Form::number},
    StandardKey{"tokenizer.ggml.eos_token_id", Form::number},
    StandardKey{"tokenizer.ggml.eot_token_id", Form::number},
    StandardKey{"tokenizer.ggml.eom_token_id", Form::number},
    StandardKey{"tokenizer.ggml.unknown_token_id", Form::number},
    StandardKey{"tokenizer.ggml.seperator_token_id", Form::number},
    StandardKey{"tokenizer.ggml.padding_token_id", Form::number},
    StandardKey{"tokenizer.ggml.cls_token_id", Form::number},
    StandardKey{"tokenizer.ggml.mask_token_id", Form::number},
    StandardKey{"tokenizer.ggml.add_bos_token", Form::flag},
    StandardKey{"tokenizer.ggml.add_eos_token", Form::flag},
    StandardKey{"tokenizer.ggml.add_space_prefix", Form::flag},
    StandardKey{"tokenizer.ggml.remove_extra_whitespaces", Form::flag},
    StandardKey{"tokenizer.huggingface.json", Form::text},
    StandardKey{"tokenizer.chat_template", Form::text},
    StandardKey{"tokenizer.chat_templates", Form::texts},
};

/// After `<architecture>.`.
constexpr std::array own_keys = {
    StandardKey{"vocab_size", Form::number},
    StandardKey{"context_length", Form::number},
    StandardKey{"embedding_length", Form::number},
    StandardKey{"block_count", Form::number},
    StandardKey{"feed_forward_length", Form::number_or_list},
    StandardKey{"expert_feed_forward_length", Form::number},
    StandardKey{"expert_shared_feed_forward_length", Form::number},
    StandardKey{"use_parallel_residual", Form::flag},
    StandardKey{"tensor_data_layout", Form::text},
    StandardKey{"expert_count", Form::number},
    StandardKey{"expert_used_count", Form::number},
    StandardKey{"attention.head_count", Form::number_or_list},
    StandardKey{"attention.head_count_kv", Form::number_or_list},
    StandardKey{"attention.key_length", Form::number},
    StandardKey{"attention.value_length", Form::number},
    StandardKey{"attention.causal", Form::flag},
    StandardKey{"attention.max_alibi_bias", Form::real},
    StandardKey{"attention.clamp_kqv", Form::real},
    StandardKey{"attention.layer_norm_epsilon", Form::real},
    StandardKey{"attention.layer_norm_rms_epsilon", Form::real},
    StandardKey{"rope.dimension_count", Form::number},
    StandardKey{"rope.freq_base", Form::real},
    StandardKey{"rope.scale_linear", Form::real},
    StandardKey{"rope.scaling.type", Form::text},
    StandardKey{"rope.scaling.factor", Form::real},
    StandardKey{"rope.scaling.original_context_length", Form::number},
    StandardKey{"rope.scaling.finetuned", Form::flag},
    StandardKey{"ssm.conv_kernel", Form::number},
    StandardKey{"ssm.inner_size", Form::number},
    StandardKey{"ssm.state_size", Form::number},
    StandardKey{"ssm.time_step_rank", Form::number},
};

std::optional<Form> find(std::span<const StandardKey> keys, std::string_view key) noexcept {
  const auto found = std::find_if(keys.begin(), keys.end(),
                                  [&](const StandardKey& each) { return each.key == key; });
  return found == keys.end() ? std::nullopt : std::optional(found->form);
}

bool is_number(const Value& value) { return value.get<std::uint64_t>().has_value(); }

bool is_array_of(const Value& value, std::initializer_list<ValueType> types) {
  if (!value.is_array()) return false;
  const ValueType element = value.as_array().element_type();
  return std::find(types.begin(), types.end(), element) != types.end();
}

/// Models of some kinds have -1 for layers that have none.
bool is_list_of_integers(const Value& value) {
  return is_array_of(value,
                     {ValueType::uint8, ValueType::int8, ValueType::uint16, ValueType::int16,
                      ValueType::uint32, ValueType::int32, ValueType::uint64, ValueType::int64});
}

}  // namespace

std::optional<Form> form_of(std::string_view key, std::string_view architecture) noexcept {
  const bool is_own = !architecture.empty() && key.size() > architecture.size() &&
                      key.starts_with(architecture) && key[architecture.size()] == '.';
  if (is_own) return find(own_keys, key.substr(architecture.size() + 1));
  return find(common_keys, key);
}

bool has_form(const Value& value, Form form) {
  switch (form) {
    case Form::text:
      return value.type() == ValueType::string;
    case Form::number:
      return is_number(value);
    case Form::number_or_list:
      return is_number(value) || is_list_of_integers(value);
    case Form::number32:
      return value.type() == ValueType::uint32;
    case Form::real:
      return value.type() == ValueType::float32 || value.type() == ValueType::float64;
    case Form::flag:
      return value.type() == ValueType::boolean;
    case Form::texts:
      return is_array_of(value, {ValueType::string});
    case Form::reals:
      return is_array_of(value, {ValueType::float32});
    case Form::numbers32:
      return is_array_of(value, {ValueType::int32, ValueType::uint32});
  }
  return false;
}

std::string_view describe(Form form) noexcept {
  switch (form) {
    case Form::text:
      return "a string";
    case Form::number:
      return "an integer that is not negative";
    case Form::number_or_list:
      return "an integer that is not negative, or an array of integers";
    case Form::number32:
      return "a uint32";
    case Form::real:
      return "a float32";
    case Form::flag:
      return "a bool";
    case Form::texts:
      return "an array of strings";
    case Form::reals:
      return "an array of float32";
    case Form::numbers32:
      return "an array of int32";
  }
  return {};
}

}  // namespace ingot::check
