// SPDX-License-Identifier: MIT
#include "ingot/summary.hpp"

#include <algorithm>
#include <map>
#include <string>

#include "base/ranges.hpp"
#include "ingot/metadata_keys.hpp"
#include "ingot/projectors.hpp"
#include "model/open/model_header.hpp"

namespace ingot {
namespace {

template <class T>
std::optional<T> get_optional(const Value* value) {
  if (value == nullptr) return std::nullopt;
  const Result<T> result = value->get<T>();
  return result ? std::optional<T>(*result) : std::nullopt;
}

/// The length of an array key; nothing if it is not an array.
std::optional<std::uint64_t> array_size(const Value* value) {
  if (value == nullptr || !value->is_array()) return std::nullopt;
  return value->as_array().size();
}

std::optional<LayerNumber> get_layer_number(const Value* value) {
  if (const auto number = get_optional<std::uint64_t>(value)) {
    return LayerNumber{.minimum = *number, .maximum = *number};
  }
  if (value == nullptr || !value->is_array() || value->as_array().empty()) return std::nullopt;
  LayerNumber range{
      .minimum = ~std::uint64_t{0}, .is_per_layer = true, .layers = value->as_array()};
  for (const Value& layer : value->as_array()) {
    const Result<std::uint64_t> number = layer.get<std::uint64_t>();
    if (!number) return std::nullopt;
    range.minimum = std::min(range.minimum, *number);
    range.maximum = std::max(range.maximum, *number);
  }
  return range;
}

std::vector<TypeShare> count_types(std::span<const TensorInfo> tensors) {
  // Ordered: a file that opened leniently chooses its type ids, and could make a hash collide.
  std::map<TensorType, TypeShare> by_type;
  for (const TensorInfo& tensor : tensors) {
    TypeShare& share = by_type[tensor.type];
    share.type = tensor.type;
    ++share.tensor_count;
    share.element_count += tensor.element_count;
    share.size_bytes += tensor.size_bytes;
  }
  std::vector<TypeShare> shares;
  shares.reserve(by_type.size());
  for (const auto& [type, share] : by_type) shares.push_back(share);
  std::sort(shares.begin(), shares.end(), [](const TypeShare& a, const TypeShare& b) {
    if (a.size_bytes != b.size_bytes) return a.size_bytes > b.size_bytes;
    return a.type < b.type;
  });
  return shares;
}

struct ProjectorNumber {
  std::string_view fact;
  std::optional<std::uint64_t> ProjectorSummary::*member;
};
constexpr ProjectorNumber projector_numbers[] = {
    {"image_size", &ProjectorSummary::image_size},
    {"patch_size", &ProjectorSummary::patch_size},
    {"vision_layers", &ProjectorSummary::vision_layers},
    {"vision_width", &ProjectorSummary::vision_width},
    {"vision_output", &ProjectorSummary::vision_output},
    {"mel_bins", &ProjectorSummary::mel_bins},
    {"audio_tokens", &ProjectorSummary::audio_tokens},
    {"audio_layers", &ProjectorSummary::audio_layers},
    {"audio_width", &ProjectorSummary::audio_width},
    {"audio_output", &ProjectorSummary::audio_output}};

/// What the row of the architecture tells of a projector; nothing for other files.
std::optional<ProjectorSummary> summarize_projector(const Model& model,
                                                    std::string_view architecture) {
  const Architecture* row = find_architecture(architecture);
  if (row == nullptr || row->file_kind != "mmproj") return {};
  ProjectorSummary result;
  for (const ArchitectureFact& fact : facts_of(*row, ModelHeader(model))) {
    if (const auto* text = std::get_if<std::string_view>(&fact.value)) {
      (fact.name == "vision_type" ? result.vision_type : result.audio_type) = *text;
      continue;
    }
    const auto* known = find_row(projector_numbers, &ProjectorNumber::fact, fact.name);
    const std::int64_t number = std::get<std::int64_t>(fact.value);
    if (known != nullptr && number > 0) result.*known->member = static_cast<std::uint64_t>(number);
  }
  if (result.image_size.value_or(max_image_side + 1) > max_image_side) return result;
  const auto side = static_cast<std::uint32_t>(*result.image_size);
  if (const auto images = ProjectorImages::read(model)) {
    if (const auto image = images->count(side, side)) result.image_tokens = image->tokens;
  }
  return result;
}

}  // namespace

const Value* find_architecture_key(const Model& model, std::string_view suffix) {
  const auto architecture = get_optional<std::string_view>(model.find(keys::general_architecture));
  if (!architecture) return nullptr;
  return model.find(std::string(*architecture) + "." + std::string(suffix));
}

Summary summarize(const Model& model) {
  const auto own = [&](std::string_view suffix) { return find_architecture_key(model, suffix); };
  const auto own_number = [&](std::string_view suffix) {
    return get_optional<std::uint64_t>(own(suffix));
  };
  Summary summary;
  summary.name = get_optional<std::string_view>(model.find(keys::general_name));
  summary.architecture = get_optional<std::string_view>(model.find(keys::general_architecture));
  summary.file_type = get_optional<std::uint64_t>(model.find(keys::general_file_type));
  summary.context_length = own_number(suffixes::context_length);
  summary.block_count = own_number(suffixes::block_count);
  summary.embedding_length = own_number(suffixes::embedding_length);
  summary.feed_forward_length = get_layer_number(own(suffixes::feed_forward_length));
  summary.head_count = get_layer_number(own(suffixes::attention_head_count));
  summary.head_count_kv = get_layer_number(own(suffixes::attention_head_count_kv));
  summary.expert_count = own_number(suffixes::expert_count);
  summary.expert_used_count = own_number(suffixes::expert_used_count);
  summary.tokenizer_model = get_optional<std::string_view>(model.find(keys::tokenizer_ggml_model));
  summary.tokenizer_pre = get_optional<std::string_view>(model.find(keys::tokenizer_ggml_pre));
  summary.token_count = array_size(model.find(keys::tokenizer_ggml_tokens));
  summary.merge_count = array_size(model.find(keys::tokenizer_ggml_merges));
  summary.vocab_size = own_number(suffixes::vocab_size);
  if (!summary.vocab_size) summary.vocab_size = summary.token_count;
  summary.has_chat_template = model.find(keys::tokenizer_chat_template) != nullptr;

  summary.projector = summarize_projector(model, summary.architecture.value_or(""));
  summary.types = count_types(model.tensors());
  for (const TypeShare& share : summary.types) {
    summary.parameter_count += share.element_count;
    summary.tensor_bytes += share.size_bytes;
  }
  if (summary.parameter_count != 0) {
    summary.bits_per_weight = 8.0 * static_cast<double>(summary.tensor_bytes) /
                              static_cast<double>(summary.parameter_count);
  }
  return summary;
}

}  // namespace ingot
