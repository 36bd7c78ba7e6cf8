// SPDX-License-Identifier: MIT
#include "check/dominant_type.hpp"

#include <algorithm>
#include <string_view>

namespace ingot::check {
namespace {

/// Rows of quantized types are whole blocks of at most this many elements.
constexpr std::uint64_t largest_block = 256;
/// The embeddings and the output have types of their own.
bool is_apart(const TensorInfo& tensor) noexcept {
  return tensor.name == "token_embd.weight" || tensor.name == "output.weight";
}

bool is_matrix_of_recipe(const TensorInfo& tensor) noexcept {
  return tensor.shape.size() >= 2 && tensor.name.ends_with("weight") && !is_apart(tensor);
}

/// The largest power of two that divides the rows, at most `largest_block`: blocks of all types
/// have a power of two of elements.
std::uint32_t widest_block_of(std::span<const std::uint64_t> shape) noexcept {
  const std::uint64_t row = shape.empty() ? 1 : shape[0];
  return static_cast<std::uint32_t>(std::min(row & (~row + 1), largest_block));
}

}  // namespace

RecipeWeights::RecipeWeights(const Model& model) {
  for (const TensorInfo& tensor : model.tensors()) add(tensor);
}

void RecipeWeights::add(const TensorInfo& tensor) {
  if (tensor.element_count == 0 || (!is_float(tensor.type) && !is_quantized(tensor.type))) return;
  Groups& groups = is_matrix_of_recipe(tensor) ? matrices_ : others_;
  groups[{tensor.type, widest_block_of(tensor.shape), tensor.shape.size() > 2, is_apart(tensor)}] +=
      tensor.element_count;
}

std::uint64_t RecipeWeights::of(TensorType type) const {
  std::uint64_t elements = 0;
  for (const auto& [group, count] : groups()) elements += group.type == type ? count : 0;
  return elements;
}

std::optional<TensorType> RecipeWeights::most() const {
  std::optional<TensorType> found;
  for (const auto& [group, count] : groups()) {
    if (!found || of(group.type) > of(*found)) found = group.type;
  }
  return found;
}

bool RecipeWeights::bear(const FileTypeInfo& file_type, const Group& group) {
  if (group.type == file_type.weights) return true;
  // What a quantizer takes where rows are too narrow for the type.
  const bool is_narrow = group.widest_block < find_type(file_type.weights)->block_elements;
  if (is_narrow && group.type == fallback_type(file_type.weights, group.widest_block)) return true;
  if (!is_quantized(group.type)) return is_narrow && group.type == TensorType::f16;
  // Of a mixture named after its experts, other matrices have other types; so have embeddings.
  return group.is_apart || (file_type.name.ends_with("_MOE") && !group.is_stacked);
}

bool RecipeWeights::has_quantized(const Groups& groups) {
  return std::any_of(groups.begin(), groups.end(),
                     [](const auto& entry) { return is_quantized(entry.first.type); });
}

bool RecipeWeights::contradict(std::uint64_t file_type) const {
  const FileTypeInfo* info = find_file_type(file_type);
  if (info == nullptr || groups().empty()) return false;
  if (is_quantized(info->weights)) {
    if (!has_quantized(matrices_) && !has_quantized(others_)) return true;
    return std::none_of(groups().begin(), groups().end(),
                        [&](const auto& entry) { return bear(*info, entry.first); });
  }
  std::uint64_t all = 0;
  std::uint64_t quantized = 0;
  for (const auto& [group, count] : groups()) {
    all += count;
    quantized += is_quantized(group.type) ? count : 0;
  }
  return of(info->weights) == 0 || quantized > all / 2;
}

}  // namespace ingot::check
