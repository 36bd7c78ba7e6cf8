// SPDX-License-Identifier: MIT
#include "text/model_facts.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <ingot/digest.hpp>
#include <ingot/metadata_keys.hpp>
#include <ingot/tensor_profile.hpp>
#include <ingot/text.hpp>

#include "text/value_text.hpp"

namespace ingot::cli {
namespace {

/// The sample of the weights: so many tensors, and so many bytes of the middle of each.
constexpr std::size_t sampled_tensors = 32;
constexpr std::size_t sampled_bytes = 1024;

std::optional<SpecialToken> as_special_token(const KeyValue& pair) {
  const std::string_view role = token_role(pair.key);
  if (role.empty()) return std::nullopt;
  const Result<std::uint64_t> id = pair.value.get<std::uint64_t>();
  if (!id) return std::nullopt;
  return SpecialToken{role, *id, std::nullopt};
}

/// The path of another shard of the set that `path` belongs to.
std::optional<std::string> shard_path(std::string_view path, std::uint32_t index,
                                      std::uint32_t count) {
  const std::string ending = fmt::format("-of-{:05}.gguf", count);
  constexpr std::size_t number_bytes = 6;  // "-00001"
  if (!path.ends_with(ending) || path.size() < ending.size() + number_bytes) return std::nullopt;
  path.remove_suffix(ending.size() + number_bytes);
  return fmt::format("{}-{:05}{}", path, index + 1, ending);
}

}  // namespace

std::string_view role_label(std::string_view role) noexcept {
  return role == "seperator" ? "separator" : role;
}

std::vector<SpecialToken> special_tokens(const Model& model) {
  std::vector<SpecialToken> tokens;
  for (const KeyValue& pair : model.metadata()) {
    if (const auto token = as_special_token(pair)) tokens.push_back(*token);
  }
  const Value* texts = model.find(keys::tokenizer_ggml_tokens);
  if (tokens.empty() || texts == nullptr) return tokens;
  const Array array = texts->as_array();
  if (array.element_type() != ValueType::string) return tokens;

  // One walk to the highest id is cheaper than the index that random access would build.
  std::vector<SpecialToken*> by_id;
  for (SpecialToken& token : tokens) {
    if (token.id < array.size()) by_id.push_back(&token);
  }
  std::sort(by_id.begin(), by_id.end(), [](const auto* a, const auto* b) { return a->id < b->id; });
  Array::Iterator element = array.begin();
  std::uint64_t position = 0;
  for (SpecialToken* token : by_id) {
    for (; position < token->id; ++position) ++element;
    token->text = (*element).get<std::string_view>().value_or(std::string_view{});
  }
  return tokens;
}

std::vector<ShardFact> shard_facts(const Model& model) {
  std::vector<ShardFact> shards;
  if (!model.is_split()) return shards;
  const ModelFile& known = model.files().front();
  for (std::uint32_t index = 0; index < model.shard_count(); ++index) {
    shards.push_back({shard_path(known.path, index, model.shard_count()), index, false, 0});
  }
  for (const ModelFile& file : model.files()) {
    if (file.index >= shards.size()) continue;
    shards[file.index] = {file.path, file.index, true, file.file_bytes};
  }
  return shards;
}

std::optional<std::string> sample_digest(const Model& model) {
  const std::span<const TensorInfo> tensors = model.tensors();
  if (tensors.empty()) return std::nullopt;
  std::string text;
  for (const TensorInfo& tensor : tensors) {
    text +=
        fmt::format("{}\n{} {}\n", tensor.name, type_text(tensor.type), shape_text(tensor.shape));
  }
  Digest digest(DigestAlgorithm::sha256);
  digest.update(std::as_bytes(std::span(text)));
  std::array<std::byte, sampled_bytes> buffer;
  const std::size_t count = std::min(sampled_tensors, tensors.size());
  for (std::size_t i = 0; i < count; ++i) {
    const TensorInfo& tensor = tensors[tensors.size() * i / count];
    const auto size =
        static_cast<std::size_t>(std::min<std::uint64_t>(tensor.size_bytes, buffer.size()));
    const std::uint64_t middle = (tensor.size_bytes - size) / 2;
    if (!model.read(tensor, middle, std::span(buffer).first(size))) return std::nullopt;
    digest.update(std::span(buffer).first(size));
  }
  return digest.finish();
}

std::optional<WeightGrid> usual_grid(const Model& model) {
  std::vector<const TensorInfo*> matrices;
  for (const TensorInfo& tensor : model.tensors()) {
    if (!is_float(tensor.type) || tensor.shape.size() < 2 || model.data(tensor).empty()) continue;
    matrices.push_back(&tensor);
  }
  // Some may be kept as they were: the first and the last ones, embeddings or a router.
  constexpr std::size_t looks = 8;
  std::vector<WeightGrid> found;
  const std::size_t count = std::min(looks, matrices.size());
  for (std::size_t i = 0; i < count; ++i) {
    const auto grid = find_grid(model, *matrices[i * matrices.size() / count]);
    if (grid && *grid) found.push_back(**grid);
  }
  const bool are_alike = std::ranges::adjacent_find(found, std::not_equal_to()) == found.end();
  if (found.empty() || !are_alike || 2 * found.size() < count) return std::nullopt;
  return found[0];
}

std::uint64_t total_file_bytes(const Model& model) {
  std::uint64_t bytes = 0;
  for (const ModelFile& file : model.files()) bytes += file.file_bytes;
  return bytes;
}

std::uint64_t trailing_bytes(const Model& model) {
  std::uint64_t bytes = 0;
  for (const ModelFile& file : model.files()) {
    std::uint64_t end = file.tensors.empty() ? file.header_bytes : file.data_offset;
    for (const TensorInfo& tensor : file.tensors) {
      end = std::max(end, file.data_offset + tensor.data_offset + tensor.size_bytes);
    }
    // The padding that rounds the last tensor up belongs to it.
    end = (end + file.alignment - 1) / file.alignment * file.alignment;
    if (file.file_bytes > end) bytes += file.file_bytes - end;
  }
  return bytes;
}

std::optional<std::string_view> find_text(const Model& model, std::string_view key) {
  const Value* value = model.find(key);
  if (value == nullptr) return std::nullopt;
  const Result<std::string_view> text = value->get<std::string_view>();
  return text && !text->empty() ? std::optional(*text) : std::nullopt;
}

std::optional<std::uint64_t> architecture_number(const Model& model, std::string_view suffix) {
  const Value* value = find_architecture_key(model, suffix);
  if (value == nullptr) return std::nullopt;
  const Result<std::uint64_t> number = value->get<std::uint64_t>();
  return number ? std::optional(*number) : std::nullopt;
}

std::optional<std::uint64_t> head_size(const Model& model, const Summary& summary) {
  if (const auto size = architecture_number(model, suffixes::attention_key_length)) return size;
  if (!summary.head_count || !summary.embedding_length) return std::nullopt;
  const std::uint64_t heads = summary.head_count->minimum;
  const bool is_same = heads != 0 && heads == summary.head_count->maximum;
  if (!is_same || *summary.embedding_length % heads != 0) return std::nullopt;
  return *summary.embedding_length / heads;
}

std::optional<std::string> architecture_float(const Model& model, std::string_view suffix) {
  const Value* value = find_architecture_key(model, suffix);
  if (value == nullptr) return std::nullopt;
  const Result<double> wide = value->get<double>();
  if (!wide) return std::nullopt;
  // "500,000" is easier to read than "5e+05".
  if (*wide >= 0 && *wide < 1e15 && *wide == std::floor(*wide)) {
    return format_digits(static_cast<std::uint64_t>(*wide));
  }
  const Result<float> narrow = value->get<float>();
  return narrow ? format_float(*narrow) : format_float(*wide);
}

}  // namespace ingot::cli
