// SPDX-License-Identifier: MIT
#include "commands/sample/sample_model.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <ingot/metadata_keys.hpp>
#include <ingot/parallel.hpp>
#include <ingot/quantize.hpp>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "commands/sample/sample_vocabulary.hpp"
#include "commands/sample/sample_weights.hpp"

namespace ingot::cli {
namespace {

constexpr std::size_t piece_bytes = std::size_t{1} << 20;

// Both take a text, or a list whose first part is one.
constexpr std::string_view llama_chat_template =
    "{{ bos_token }}{% for m in messages %}{% set txt = (m.content[0]|d('')).text or m.content %}"
    "{{ '[INST] ' ~ txt ~ ' [/INST]' if m.role == 'user' else ' ' ~ txt ~ ' ' ~ eos_token }}"
    "{% endfor %}\n";

constexpr std::string_view qwen2_chat_template =
    "{% for m in messages %}{{ '<|im_start|>' ~ m.role ~ '\\n' ~"
    " ((m.content[0] | d('')).text or m.content) ~ '<|im_end|>\\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}\n";

/// "2.1M", "8.0B": as names of models write it.
std::string size_label(std::uint64_t parameters) {
  const double count = static_cast<double>(parameters);
  if (parameters >= 1'000'000'000) return fmt::format("{:.1f}B", count / 1e9);
  if (parameters >= 1'000'000) return fmt::format("{:.1f}M", count / 1e6);
  return fmt::format("{:.1f}K", count / 1e3);
}

/// The number of `general.file_type` for a file whose matrices are all of one type: the mixture of
/// that name, or the smallest one. Nothing for types that no mixture is made of.
std::optional<std::uint32_t> smallest_file_type_of(TensorType type) {
  const std::optional<std::uint32_t> usual = file_type_of(type);
  if (!usual || file_type_name(*usual) == find_type(type)->name) return usual;
  for (const FileTypeInfo& row : file_types) {
    if (row.weights == type) return row.number;
  }
  return usual;
}

bool is_made_directly(TensorType type) {
  return type == TensorType::f32 || type == TensorType::f16 || type == TensorType::bf16;
}

/// Weights of a type that has to be encoded: rows of floats are made and encoded.
DataProducer produce_encoded(WeightPattern pattern, std::uint64_t element_count,
                             std::uint64_t row_elements, unsigned threads) {
  const TensorTypeInfo& info = *find_type(pattern.type);
  const Endian byte_order = pattern.byte_order;
  pattern.type = TensorType::f32;
  pattern.byte_order = std::endian::native == std::endian::little ? Endian::little : Endian::big;
  // A row may not begin at a whole group of weights; a run of that many rows does.
  const std::uint64_t run_rows = weight_group;
  const std::uint64_t rows =
      std::max<std::uint64_t>(1, piece_bytes / (run_rows * row_elements)) * run_rows;
  const std::uint64_t piece_elements = rows * row_elements;
  return [=, &info](const DataSink& sink) -> Result<void> {
    std::vector<float> floats;
    std::vector<std::byte> blocks;
    const std::vector<float> ones(info.weights == ImportanceWeights::required ? row_elements : 0,
                                  1.0f);
    for (std::uint64_t done = 0; done < element_count; done += piece_elements) {
      const std::uint64_t wanted = std::min(piece_elements, element_count - done);
      floats.resize((wanted + weight_group - 1) / weight_group * weight_group);
      make_weights(pattern, done, std::as_writable_bytes(std::span(floats)));
      blocks.resize(info.bytes_of(wanted));
      INGOT_TRY_VOID(quantize_spread(info.type, std::span(floats).first(wanted), row_elements,
                                     blocks, threads,
                                     {.importance = ones, .byte_order = byte_order}));
      INGOT_TRY_VOID(sink(blocks));
    }
    return {};
  };
}

DataProducer produce_weights(const WeightPattern& pattern, std::uint64_t element_count) {
  const std::size_t element_bytes = pattern.type == TensorType::f32 ? 4 : 2;
  const std::size_t group_bytes = weight_group * element_bytes;
  const std::uint64_t size_bytes = element_count * element_bytes;
  return [=](const DataSink& sink) -> Result<void> {
    std::vector<std::byte> piece;
    for (std::uint64_t done = 0; done < size_bytes; done += piece_bytes) {
      const auto wanted =
          static_cast<std::size_t>(std::min<std::uint64_t>(piece_bytes, size_bytes - done));
      // A last group that is not needed in full is made in full and cut.
      piece.resize((wanted + group_bytes - 1) / group_bytes * group_bytes);
      make_weights(pattern, done / element_bytes, piece);
      INGOT_TRY_VOID(sink(std::span(piece).first(wanted)));
    }
    return {};
  };
}

/// The value around which the weights of a tensor lie, by a part of its name: norms and scales let
/// pass what comes, and the decay of a state is negative.
float center_of(std::string_view name) {
  constexpr std::pair<std::string_view, float> centers[] = {
      {"norm", 1.0f},   {"time_mix_ln", 1.0f}, {"ssm_alpha", 0.0f}, {"ssm_a", -1.0f},
      {"ssm_dt", 0.0f}, {"ssm_d", 1.0f},       {"rope_f", 1.0f},    {"scale", 1.0f}};
  if (name.ends_with(".bias")) return 0.0f;
  for (const auto& [part, center] : centers) {
    if (name.find(part) != name.npos) return center;
  }
  return 0.0f;
}

class SampleBuilder {
 public:
  explicit SampleBuilder(const SampleOptions& options)
      : options_(options),
        shape_(options.shape),
        arch_(options.architecture != nullptr ? std::string_view(options.architecture->name)
                                              : name_of(options.shape.arch)) {}

  Result<ModelWriter> build() {
    if (options_.architecture != nullptr) return build_of_row();
    set_general_keys(shape_.parameters());
    set_architecture_keys();
    set_tokenizer_keys();
    INGOT_TRY_VOID(add_tensors());
    return std::move(writer_);
  }

 private:
  void set_own(std::string_view suffix, std::uint32_t value) {
    writer_.set(fmt::format("{}.{}", arch_, suffix), value);
  }
  void set_own(std::string_view suffix, float value) {
    writer_.set(fmt::format("{}.{}", arch_, suffix), value);
  }

  Result<ModelWriter> build_of_row() {
    INGOT_TRY(const ArchitectureSample sample,
              plan_architecture_sample(*options_.architecture, options_.numbers, shape_.vocabulary,
                                       options_.variant));
    std::uint64_t parameters = 0;
    for (const SampleTensor& tensor : sample.tensors) parameters += element_count_of(tensor.shape);
    set_general_keys(parameters);
    for (const SampleKey& key : sample.keys) set_key(key);
    if (options_.architecture->file_kind == "model") set_tokenizer_keys();
    for (const SampleTensor& tensor : sample.tensors) {
      const bool is_whole = tensor.shape[0] % find_type(options_.type)->block_elements == 0;
      const TensorType type = tensor.is_precise || !is_whole ? TensorType::f32 : options_.type;
      INGOT_TRY_VOID(add_random(tensor.name, tensor.shape, type, center_of(tensor.name)));
    }
    return std::move(writer_);
  }

  static std::uint64_t element_count_of(std::span<const std::uint64_t> shape) {
    std::uint64_t count = 1;
    for (const std::uint64_t dimension : shape) count *= dimension;
    return count;
  }

  void set_key(const SampleKey& key) {
    if (key.type == ValueType::uint32) return set_values<std::uint32_t>(key);
    if (key.type == ValueType::uint64) return set_values<std::uint64_t>(key);
    if (key.type == ValueType::int32) return set_values<std::int32_t>(key);
    if (key.type == ValueType::float32) return set_values<float>(key);
    if (key.type == ValueType::boolean) return set_values<bool>(key);
    set_values<std::string>(key);
  }

  template <class T>
  void set_values(const SampleKey& key) {
    // A vector of bools is none of an array.
    const auto values = std::make_unique<T[]>(key.values.size());
    for (std::size_t i = 0; i < key.values.size(); ++i) {
      if constexpr (std::same_as<T, std::string>) {
        values[i] = std::get<std::string>(key.values[i]);
      } else if constexpr (std::same_as<T, float>) {
        values[i] = static_cast<T>(std::get<double>(key.values[i]));
      } else {
        values[i] = static_cast<T>(std::get<std::int64_t>(key.values[i]));
      }
    }
    if (key.is_array)
      return writer_.set_array(key.name, std::span<const T>(values.get(), key.values.size()));
    if constexpr (std::same_as<T, std::string>)
      writer_.set_string(key.name, values[0]);
    else if constexpr (std::same_as<T, bool>)
      writer_.set_bool(key.name, values[0]);
    else
      writer_.set(key.name, values[0]);
  }

  void set_general_keys(std::uint64_t parameters) {
    const std::string label = size_label(parameters);
    writer_.set_string(keys::general_architecture, arch_);
    writer_.set_string(keys::general_type, options_.architecture != nullptr
                                               ? std::string_view(options_.architecture->file_kind)
                                               : "model");
    // The engine wants tokens of their own of models that are called after their architecture.
    writer_.set_string(keys::general_name, options_.architecture != nullptr
                                               ? "Ingot sample " + label
                                               : fmt::format("Ingot sample {} {}", arch_, label));
    writer_.set_string(
        keys::general_description,
        fmt::format("Random weights (seed {}): for tests, not for talking", options_.seed));
    writer_.set_string(keys::general_size_label, label);
    writer_.set_string(keys::general_license, "mit");
    if (const auto number = smallest_file_type_of(options_.type)) {
      writer_.set(keys::general_file_type, *number);
    }
    writer_.set(keys::general_quantization_version, std::uint32_t{2});
  }

  void set_architecture_keys() {
    set_own(suffixes::vocab_size, shape_.vocabulary);
    set_own(suffixes::context_length, shape_.context);
    set_own(suffixes::embedding_length, shape_.embedding);
    set_own(suffixes::block_count, shape_.layers);
    set_own(suffixes::feed_forward_length, shape_.feed_forward);
    set_own(suffixes::attention_head_count, shape_.heads);
    set_own(suffixes::attention_head_count_kv, shape_.kv_heads);
    const bool is_llama = shape_.arch == SampleArch::llama;
    set_own(suffixes::attention_layer_norm_rms_epsilon, is_llama ? 1e-5f : 1e-6f);
    set_own(suffixes::rope_dimension_count, shape_.head_size());
    set_own(suffixes::rope_freq_base, is_llama ? 10000.0f : 1000000.0f);
    if (shape_.experts > 0) {
      set_own(suffixes::expert_count, shape_.experts);
      set_own(suffixes::expert_used_count, shape_.experts_used());
    }
  }

  void set_tokenizer_keys() {
    const SampleVocabulary vocabulary = make_vocabulary(shape_.arch, shape_.vocabulary);
    const bool is_llama = shape_.arch == SampleArch::llama;
    writer_.set_string(keys::tokenizer_ggml_model, is_llama ? "llama" : "gpt2");
    writer_.set_string(keys::tokenizer_ggml_pre, is_llama ? "default" : "qwen2");
    writer_.set_array(keys::tokenizer_ggml_tokens, std::span<const std::string>(vocabulary.tokens));
    if (is_llama) {
      writer_.set_array(keys::tokenizer_ggml_scores, std::span<const float>(vocabulary.scores));
    }
    writer_.set_array(keys::tokenizer_ggml_token_type,
                      std::span<const std::int32_t>(vocabulary.kinds));
    if (!is_llama) {
      writer_.set_array(keys::tokenizer_ggml_merges,
                        std::span<const std::string>(vocabulary.merges));
    }
    writer_.set(keys::tokenizer_ggml_bos_token_id, vocabulary.begin_id);
    writer_.set(keys::tokenizer_ggml_eos_token_id, vocabulary.end_id);
    // Two tokens have names of such that end a turn.
    if (!is_llama) writer_.set(keys::tokenizer_ggml_eot_token_id, vocabulary.end_id);
    if (is_llama) writer_.set(keys::tokenizer_ggml_unknown_token_id, std::uint32_t{0});
    writer_.set(keys::tokenizer_ggml_padding_token_id, vocabulary.padding_id);
    // The template writes it.
    writer_.set_bool(keys::tokenizer_ggml_add_bos_token, false);
    writer_.set_bool(keys::tokenizer_ggml_add_eos_token, false);
    writer_.set_string(keys::tokenizer_chat_template,
                       is_llama ? llama_chat_template : qwen2_chat_template);
  }

  Result<void> add_tensors() {
    INGOT_TRY_VOID(add_matrix("token_embd", {shape_.embedding, shape_.vocabulary}));
    for (std::uint32_t layer = 0; layer < shape_.layers; ++layer) {
      INGOT_TRY_VOID(add_layer(fmt::format("blk.{}.", layer)));
    }
    INGOT_TRY_VOID(add_norm("output_norm"));
    return add_matrix("output", {shape_.embedding, shape_.vocabulary});
  }

  Result<void> add_layer(const std::string& prefix) {
    const std::uint64_t width = shape_.embedding;
    const std::uint64_t kv_size = shape_.kv_size();
    INGOT_TRY_VOID(add_norm(prefix + "attn_norm"));
    INGOT_TRY_VOID(add_projection(prefix + "attn_q", width, width));
    INGOT_TRY_VOID(add_projection(prefix + "attn_k", width, kv_size));
    INGOT_TRY_VOID(add_projection(prefix + "attn_v", width, kv_size));
    INGOT_TRY_VOID(add_matrix(prefix + "attn_output", {width, width}));
    INGOT_TRY_VOID(add_norm(prefix + "ffn_norm"));
    const std::uint64_t inner = shape_.feed_forward;
    if (shape_.experts == 0) {
      INGOT_TRY_VOID(add_matrix(prefix + "ffn_gate", {width, inner}));
      INGOT_TRY_VOID(add_matrix(prefix + "ffn_up", {width, inner}));
      return add_matrix(prefix + "ffn_down", {inner, width});
    }
    const std::uint64_t experts = shape_.experts;
    // The router stays in full precision, as converters keep it.
    INGOT_TRY_VOID(add_random(prefix + "ffn_gate_inp.weight", {width, experts}, TensorType::f32));
    INGOT_TRY_VOID(add_matrix(prefix + "ffn_gate_exps", {width, inner, experts}));
    INGOT_TRY_VOID(add_matrix(prefix + "ffn_up_exps", {width, inner, experts}));
    return add_matrix(prefix + "ffn_down_exps", {inner, width, experts});
  }

  /// A matrix of the attention; qwen2 adds a bias to it.
  Result<void> add_projection(const std::string& name, std::uint64_t input, std::uint64_t output) {
    INGOT_TRY_VOID(add_matrix(name, {input, output}));
    if (shape_.arch != SampleArch::qwen2) return {};
    return add_random(name + ".bias", {output}, TensorType::f32);
  }

  Result<void> add_matrix(const std::string& name,
                          std::initializer_list<std::uint64_t> dimensions) {
    return add_random(name + ".weight", dimensions, options_.type);
  }

  Result<void> add_norm(const std::string& name) {
    return add(name + ".weight", std::array<std::uint64_t, 1>{shape_.embedding},
               {.type = TensorType::f32, .scale_bits = 21, .center = 1.0f});
  }

  Result<void> add_random(const std::string& name, std::initializer_list<std::uint64_t> dimensions,
                          TensorType type) {
    return add_random(name, std::span(dimensions.begin(), dimensions.size()), type, 0.0f);
  }

  Result<void> add_random(const std::string& name, std::span<const std::uint64_t> dimensions,
                          TensorType type, float center) {
    if (center != 0.0f)
      return add(name, dimensions, {.type = type, .scale_bits = 21, .center = center});
    // Deviation about one over the root of the inputs: what flows through keeps its size.
    const std::uint64_t inputs = dimensions.size() > 1 ? dimensions[0] : 1024;
    const auto root_bits = static_cast<std::uint32_t>(std::bit_width(inputs) / 2);
    // Integers of that size would all be 0.
    return add(name, dimensions,
               {.type = type, .scale_bits = is_integer(type) ? 10 : 15 + root_bits});
  }

  Result<void> add(const std::string& name, std::span<const std::uint64_t> shape,
                   WeightPattern pattern) {
    pattern.key = weight_key(options_.seed, name);
    pattern.byte_order = options_.byte_order;
    const std::uint64_t element_count = element_count_of(shape);
    return writer_.add_tensor(
        name, pattern.type, shape,
        is_made_directly(pattern.type)
            ? produce_weights(pattern, element_count)
            : produce_encoded(pattern, element_count, shape[0], options_.threads));
  }

  const SampleOptions& options_;
  const SampleShape& shape_;
  std::string_view arch_;
  ModelWriter writer_;
};

}  // namespace

Result<ModelWriter> make_sample(const SampleOptions& options) {
  return SampleBuilder(options).build();
}

}  // namespace ingot::cli
