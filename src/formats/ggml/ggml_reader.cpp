// SPDX-License-Identifier: MIT
// Old LLaMA files as a model: their numbers become keys, their tensors get the names of GGUF.
#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "base/hexadecimal.hpp"
#include "base/strings.hpp"
#include "formats/foreign/foreign_model.hpp"
#include "formats/foreign/reader.hpp"
#include "formats/ggml/ggml_header.hpp"
#include "ingot/metadata_keys.hpp"

namespace ingot::formats {
namespace {

struct NamePair {
  std::string_view ggml;
  std::string_view gguf;
};

constexpr std::array model_names = {
    NamePair{"tok_embeddings.weight", "token_embd.weight"},
    NamePair{"norm.weight", "output_norm.weight"},
    NamePair{"output.weight", "output.weight"},
};

/// The names after "layers.N." and "blk.N.".
constexpr std::array layer_names = {
    NamePair{"attention.wq.weight", "attn_q.weight"},
    NamePair{"attention.wk.weight", "attn_k.weight"},
    NamePair{"attention.wv.weight", "attn_v.weight"},
    NamePair{"attention.wo.weight", "attn_output.weight"},
    NamePair{"attention_norm.weight", "attn_norm.weight"},
    NamePair{"feed_forward.w1.weight", "ffn_gate.weight"},
    NamePair{"feed_forward.w2.weight", "ffn_down.weight"},
    NamePair{"feed_forward.w3.weight", "ffn_up.weight"},
    NamePair{"ffn_norm.weight", "ffn_norm.weight"},
};

template <std::size_t N>
std::optional<std::string> find_name(const std::array<NamePair, N>& names, std::string_view ggml) {
  const auto found = std::ranges::find(names, ggml, &NamePair::ggml);
  if (found == names.end()) return std::nullopt;
  return std::string(found->gguf);
}

/// The name in GGUF; nothing for a tensor that no LLaMA model has.
std::optional<std::string> gguf_name(std::string_view name, std::uint32_t layers) {
  constexpr std::string_view prefix = "layers.";
  if (!name.starts_with(prefix)) return find_name(model_names, name);
  name.remove_prefix(prefix.size());
  std::uint32_t layer = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), layer);
  const auto digits = static_cast<std::size_t>(end - name.data());
  if (error != std::errc() || layer >= layers || !name.substr(digits).starts_with('.')) {
    return std::nullopt;
  }
  const auto rest = find_name(layer_names, name.substr(digits + 1));
  if (!rest) return std::nullopt;
  return "blk." + std::to_string(layer) + "." + *rest;
}

Result<std::vector<ForeignTensor>> name_tensors(const GgmlHeader& header) {
  std::vector<ForeignTensor> tensors;
  for (const GgmlTensor& tensor : header.tensors) {
    std::optional<std::string> name = gguf_name(tensor.name, header.layers);
    if (!name) {
      return fail(Errc::ggml_invalid, tensor.file_offset, tensor.name,
                  "no tensor of a LLaMA model of " + std::to_string(header.layers) + " layers");
    }
    tensors.push_back({.name = *std::move(name),
                       .type = tensor.type,
                       .shape = tensor.shape,
                       .file_offset = tensor.file_offset});
  }
  return tensors;
}

/// "MOSTLY_Q4_0": the names of the old enum, which are those of today with a prefix.
std::string old_type_name(std::uint32_t file_type) {
  if (file_type == 0) return "ALL_F32";
  const FileTypeInfo* info = find_file_type(file_type);
  return info != nullptr ? "MOSTLY_" + std::string(info->name) : std::to_string(file_type);
}

std::string key(std::string_view suffix) { return "llama." + std::string(suffix); }

/// The width of the feed-forward part: the second dimension of its first matrix.
Result<std::uint32_t> feed_forward_of(std::span<const ForeignTensor> tensors) {
  const auto found = std::ranges::find(tensors, "blk.0.ffn_gate.weight", &ForeignTensor::name);
  if (found == tensors.end() || found->shape.size() != 2) {
    return fail(Errc::ggml_invalid, "layers.0.feed_forward.w1.weight",
                "it is missing or no matrix, and the width of the feed-forward part is its");
  }
  return static_cast<std::uint32_t>(found->shape[1]);
}

Result<void> set_shape(const GgmlHeader& header, std::uint32_t feed_forward,
                       const GgmlOptions& options, ModelWriter& keys) {
  if (options.heads_per_group == 0 || header.heads % options.heads_per_group != 0) {
    return fail(Errc::invalid_argument, "heads per group",
                std::to_string(options.heads_per_group) + " does not divide the " +
                    std::to_string(header.heads) + " heads");
  }
  keys.set(key(suffixes::context_length), options.context);
  keys.set(key(suffixes::embedding_length), header.embedding);
  keys.set(key(suffixes::block_count), header.layers);
  keys.set(key(suffixes::feed_forward_length), feed_forward);
  keys.set(key(suffixes::rope_dimension_count), header.embedding / header.heads);
  keys.set(key(suffixes::attention_head_count), header.heads);
  keys.set(key(suffixes::attention_head_count_kv), header.heads / options.heads_per_group);
  keys.set(key(suffixes::attention_layer_norm_rms_epsilon), options.rms_epsilon);
  return {};
}

/// The kinds of tokens that these files can have, as in `tokenizer.ggml.token_type`.
enum TokenKind : std::int32_t { normal = 1, unknown = 2, control = 3, byte = 6 };

constexpr std::uint32_t unknown_id = 0;
constexpr std::uint32_t begin_id = 1;
constexpr std::uint32_t end_id = 2;
constexpr std::uint32_t last_byte_id = 258;

/// The text of a token in a SentencePiece vocabulary, and its kind.
TokenKind resolve_token(std::uint32_t id, std::string& text) {
  constexpr std::array special = {"<unk>", "<s>", "</s>"};
  if (id < special.size()) {
    text = special[id];
    return id == unknown_id ? unknown : control;
  }
  if (text.empty()) return control;
  if (id <= last_byte_id && text.size() == 1) {
    text = "<0x" + hexadecimal_byte(text[0], upper_hexadecimal_digits) + ">";
    return byte;
  }
  replace_all(text, " ", "\xE2\x96\x81");  // U+2581
  return normal;
}

void set_vocabulary(std::vector<GgmlToken> tokens, ModelWriter& keys) {
  std::vector<std::string> texts;
  std::vector<float> scores;
  std::vector<std::int32_t> kinds;
  for (GgmlToken& token : tokens) {
    kinds.push_back(resolve_token(static_cast<std::uint32_t>(texts.size()), token.text));
    scores.push_back(token.score);
    texts.push_back(std::move(token.text));
  }
  keys.set_string(keys::tokenizer_ggml_model, "llama");
  keys.set_string(keys::tokenizer_ggml_pre, "default");
  keys.set_array(keys::tokenizer_ggml_tokens, std::span<const std::string>(texts));
  keys.set_array(keys::tokenizer_ggml_scores, std::span<const float>(scores));
  keys.set_array(keys::tokenizer_ggml_token_type, std::span<const std::int32_t>(kinds));
  keys.set(keys::tokenizer_ggml_unknown_token_id, unknown_id);
  keys.set(keys::tokenizer_ggml_bos_token_id, begin_id);
  keys.set(keys::tokenizer_ggml_eos_token_id, end_id);
}

bool is_ggml(const Probe& probe) { return find_ggml_format(probe.first_bytes) != nullptr; }

Result<OpenedModel> open_ggml(const Store& store, const std::string& name,
                              const OpenAnyOptions& options) {
  INGOT_TRY(std::unique_ptr<Source> source, store.open(name));
  INGOT_TRY(GgmlHeader header, read_ggml_header(*source, options.gguf.limits));
  INGOT_TRY(const std::vector<ForeignTensor> tensors, name_tensors(header));
  INGOT_TRY(const std::uint32_t feed_forward, feed_forward_of(tensors));
  const std::string dialect =
      header.format->name + std::string("v") + std::to_string(header.version);
  ModelWriter keys;
  keys.set_string(keys::general_architecture, "llama");
  keys.set_string(keys::general_name, name.substr(name.rfind('/') + 1));
  keys.set_string(keys::general_description, "converted from legacy " + dialect + " " +
                                                 old_type_name(header.file_type) + " format");
  keys.set(keys::general_file_type, header.file_type);
  INGOT_TRY_VOID(set_shape(header, feed_forward, options.ggml, keys));
  set_vocabulary(std::move(header.tokens), keys);
  const std::uint64_t file_bytes = source->size_bytes();
  const std::uint64_t data_offset = tensors.front().file_offset;
  std::vector<std::unique_ptr<Source>> sources;
  sources.push_back(std::move(source));
  INGOT_TRY(Model model,
            make_foreign_model(std::move(keys), tensors, std::move(sources), options.gguf));
  return OpenedModel{.model = std::move(model),
                     .format = FileFormat::ggml,
                     .file_bytes = file_bytes,
                     .facts = {{"dialect", dialect}},
                     .paths = {store.locate(name)},
                     .data_offsets = {data_offset}};
}

}  // namespace

constinit const FormatReader ggml_reader{is_ggml, open_ggml};

}  // namespace ingot::formats
