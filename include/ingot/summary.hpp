// SPDX-License-Identifier: MIT
// A model at a glance.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "ingot/describe.hpp"
#include "ingot/export.h"
#include "ingot/model.hpp"
#include "ingot/types.hpp"

namespace ingot {

/// A number that is one for the whole model or differs from layer to layer.
struct LayerNumber {
  std::uint64_t minimum = 0;
  std::uint64_t maximum = 0;
  bool is_per_layer = false;  ///< Stored as an array, one element a layer:
  Array layers = {};          ///< A view into the model.
};

/// The share of one tensor type in a model.
struct TypeShare {
  TensorType type = TensorType::f32;
  std::uint64_t tensor_count = 0;
  std::uint64_t element_count = 0;
  std::uint64_t size_bytes = 0;
};

template <class Visitor>
void describe(Visitor& visit, const TypeShare& share) {
  visit("type", share.type, "", "the tensor type");
  visit("tensors", share.tensor_count, "tensors", "of the type");
  visit("elements", share.element_count, "weights", "of these tensors");
  visit("bytes", share.size_bytes, "bytes", "of these tensors");
}

/// The encoders of a projector: what they take, and what they give to the text model. Widths of the
/// outputs are those of the tensors, not of the metadata.
struct ProjectorSummary {
  std::optional<std::string_view> vision_type;
  std::optional<std::uint64_t> image_size;
  std::optional<std::uint64_t> patch_size;
  std::optional<std::uint64_t> image_tokens;  ///< Of an image of image_size x image_size.
  std::optional<std::uint64_t> vision_layers;
  std::optional<std::uint64_t> vision_width;
  std::optional<std::uint64_t> vision_output;
  std::optional<std::string_view> audio_type;
  std::optional<std::uint64_t> mel_bins;
  std::optional<std::uint64_t> audio_tokens;  ///< Of 30 seconds.
  std::optional<std::uint64_t> audio_layers;
  std::optional<std::uint64_t> audio_width;
  std::optional<std::uint64_t> audio_output;
};

template <class Visitor>
void describe(Visitor& visit, const ProjectorSummary& projector) {
  visit("vision_type", projector.vision_type, "", "the type of the projector for images");
  visit("image_size", projector.image_size, "pixels", "a side of the image that it is made for");
  visit("patch_size", projector.patch_size, "pixels", "a side of a patch");
  visit("image_tokens", projector.image_tokens, "tokens", "of an image of that size");
  visit("vision_layers", projector.vision_layers, "layers", "of the encoder of images");
  visit("vision_width", projector.vision_width, "", "of its states");
  visit("vision_output", projector.vision_output, "",
        "width of what goes into the text model; null if the type is not described");
  visit("audio_type", projector.audio_type, "", "the type of the projector for sounds");
  visit("mel_bins", projector.mel_bins, "", "numbers of a frame of sound");
  visit("audio_tokens", projector.audio_tokens, "tokens", "of 30 seconds");
  visit("audio_layers", projector.audio_layers, "layers", "of the encoder of sounds");
  visit("audio_width", projector.audio_width, "", "of its states");
  visit("audio_output", projector.audio_output, "", "as for images");
}

/// Facts read from metadata and tensor table. A field is empty when the file lacks the fact, or has
/// it with a value of a type that makes no sense. Strings are views into the model, raw bytes.
struct Summary {
  std::optional<std::string_view> name;
  std::optional<std::string_view> architecture;
  std::uint64_t parameter_count = 0;  ///< Elements of all tensors.
  std::uint64_t tensor_bytes = 0;
  std::optional<double> bits_per_weight;   ///< Over all tensors; empty without elements.
  std::optional<std::uint64_t> file_type;  ///< `general.file_type`
  std::optional<std::uint64_t> context_length;
  std::optional<std::uint64_t> block_count;
  std::optional<std::uint64_t> embedding_length;
  std::optional<LayerNumber> feed_forward_length;
  std::optional<LayerNumber> head_count;
  std::optional<LayerNumber> head_count_kv;
  std::optional<std::uint64_t> expert_count;
  std::optional<std::uint64_t> expert_used_count;
  std::optional<std::uint64_t> vocab_size;  ///< `<arch>.vocab_size`, else the tokens' count.
  std::optional<std::string_view> tokenizer_model;
  std::optional<std::string_view> tokenizer_pre;
  std::optional<std::uint64_t> token_count;
  std::optional<std::uint64_t> merge_count;
  bool has_chat_template = false;
  std::optional<ProjectorSummary> projector;  ///< Of a projector, a file for `--mmproj`.
  std::vector<TypeShare> types;               ///< Largest size_bytes first.
};

/// The parts of a summary that are described each by itself. They borrow it.
struct SummaryOfModel {
  const Summary& all;
};
struct SummaryOfTokenizer {
  const Summary& all;
};

template <class Visitor>
void describe(Visitor& visit, const SummaryOfModel& model) {
  const Summary& all = model.all;
  const std::string_view label = file_type_name(all.file_type.value_or(~std::uint64_t{0}));
  visit("name", all.name, "", "`general.name`");
  visit("architecture", all.architecture, "", "`general.architecture`");
  visit("parameters", all.parameter_count, "weights", "elements of all tensors");
  visit("tensor_bytes", all.tensor_bytes, "bytes", "of all tensors");
  visit("bits_per_weight", all.bits_per_weight, "bits", "over all tensors; null without tensors");
  visit("file_type", label.empty() ? std::nullopt : std::optional(label), "",
        "what the file says of itself, such as Q4_K_M");
  visit("file_type_id", all.file_type, "", "the same as the number in the file");
  visit("context_length", all.context_length, "tokens", "that the model was trained for");
  visit("block_count", all.block_count, "layers", "of the model");
  visit("embedding_length", all.embedding_length, "", "width of the states");
  visit("feed_forward_length", all.feed_forward_length, "",
        "width of the feed-forward layers; a number for each layer if the file gives them so");
  visit("head_count", all.head_count, "", "heads of attention, likewise");
  visit("head_count_kv", all.head_count_kv, "", "heads of keys and values, likewise");
  visit("expert_count", all.expert_count, "", "experts of a layer");
  visit("expert_used_count", all.expert_used_count, "", "experts that a token uses");
  visit("vocab_size", all.vocab_size, "tokens", "as stored, else the number of tokens");
}

template <class Visitor>
void describe(Visitor& visit, const SummaryOfTokenizer& tokenizer) {
  const Summary& all = tokenizer.all;
  visit("model", all.tokenizer_model, "", "`tokenizer.ggml.model`");
  visit("pre", all.tokenizer_pre, "", "`tokenizer.ggml.pre`");
  visit("token_count", all.token_count, "tokens", "length of the array");
  visit("merge_count", all.merge_count, "merges", "length of the array");
  visit("chat_template", all.has_chat_template, "",
        "whether there is one; `ingot metadata FILE --raw tokenizer.chat_template` prints it");
}

template <class Visitor>
void describe(Visitor& visit, const Summary& summary) {
  visit("model", SummaryOfModel{summary}, "", "the model as a whole");
  visit("tokenizer", SummaryOfTokenizer{summary}, "", "its vocabulary");
  visit("projector", summary.projector, "",
        "encoders of a projector; of other files null, and no member in JSON");
  visit("types", summary.types, "", "the tensor types, most bytes first");
}

/// Linear in the tensors and in per-layer arrays; allocates only `types`.
[[nodiscard]] INGOT_EXPORT Summary summarize(const Model& model);

/// The key `<architecture>.<suffix>`; nullptr if there is no architecture or no such key.
[[nodiscard]] INGOT_EXPORT const Value* find_architecture_key(const Model& model,
                                                              std::string_view suffix);

}  // namespace ingot
